package forecast

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestBudgetShares: what looking, checking, all candidates and the last training take by the forecast is within the budget, or a candidate
// is refused, which it is not if the least fits.
func TestBudgetShares(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 0))
	log := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	refused := 0
	for range 2000 {
		budget := log(0.01, 1e4)
		tr := trainer{progress: progress{count: 1 + rnd.IntN(6)}, beside: log(1e-3, 1) * budget, options: Options{Budget: time.Duration(budget * 1e9), RandomStarts: rnd.IntN(50)}}
		seconds := log(1e-4, 10)
		tr.searched = searchShare * rnd.Float64() * tr.allowance()
		count, err := tr.afforded(seconds)
		allowed := tr.allowance()
		if total := float64(tr.count+1)*allowed + tr.beside; total > budget*(1+1e-6) {
			t.Fatalf("shares of %v s add up to %v s", budget, total)
		}
		if over := (*BudgetError)(nil); errors.As(err, &over) != (fewestEvaluations*seconds > allowed-tr.searched) {
			t.Fatalf("%v s in %v s less %v s: %v", seconds, allowed, tr.searched, err)
		}
		if err != nil {
			refused++
			continue
		}
		if takes := tr.searched + float64(count)*seconds; takes > allowed*(1+1e-9) {
			t.Errorf("%d evaluations of %v s take %v of %v s", count, seconds, takes, allowed)
		}
	}
	if refused < 100 || refused > 1900 {
		t.Errorf("%d of 2000 were refused", refused)
	}
}
