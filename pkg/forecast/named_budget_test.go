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
		few, all, starts := log(1e-4, 1), log(1e-4, 10), 1+rnd.IntN(3)
		if rnd.IntN(3) == 0 {
			few = 0
		}
		p, err := tr.plan("SE", starts, few, all)
		allowed := tr.allowance()
		if total := float64(tr.count+1)*allowed + tr.beside; total > budget*(1+1e-6) {
			t.Fatalf("shares of %v s add up to %v s", budget, total)
		}
		least := fewestEvaluations * (float64(starts)*few + all)
		if few == 0 {
			least = fewestEvaluations * float64(starts) * all
		}
		if over := (*BudgetError)(nil); errors.As(err, &over) != (least > allowed) {
			t.Fatalf("%d starts of %v and %v s in %v s: %v", starts, few, all, allowed, err)
		}
		if err != nil {
			refused++
			continue
		}
		first, last := float64(starts*(1+p.random)*p.few)*few*typicalShare, float64(p.all)*all*typicalShare
		if few == 0 {
			first, last = float64(starts*(1+p.random)*p.few)*all*typicalShare, 0
		}
		if first+last > allowed*(1+1e-9) {
			t.Errorf("%d starts of %v and %v s: %+v takes %v of %v s", starts, few, all, p, first+last, allowed)
		}
	}
	if refused < 100 || refused > 1900 {
		t.Errorf("%d of 2000 were refused", refused)
	}
}
