package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestBudgetShares: the predicted time of looking, checking, all candidates and the last training is within the budget, or a
// candidate is refused, but only if its least training does not fit.
func TestBudgetShares(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 0))
	log := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	refused := 0
	for range 2000 {
		budget := log(0.01, 1e4)
		tr := trainer{progress: &progress{count: 1 + rnd.IntN(6)}, beside: log(1e-3, 1) * budget,
			options: Options{Budget: time.Duration(budget * 1e9), RandomStarts: rnd.IntN(50)}}
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

// TestLimitUnits: without a budget, evaluations are counted in units of the fastest at any start, so that a training that leaves
// an expensive start for a cheap place has as many as the time allows there; with a budget, in units of the first.
func TestLimitUnits(t *testing.T) {
	var x, y []float64
	for i := range 2000 {
		x, y = append(x, float64(i)*math.Phi), append(y, math.Sin(float64(i)))
		x[i] += 0.3 * math.Sin(float64(i)*1.7)
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	at := func(lengthscale, harmonics float64) gppl.Model {
		return gppl.Model{Kernel: gppl.LocPer{Variance: 1, Lengthscale: lengthscale, Period: 100, PeriodicLengthscale: harmonics},
			Noise: 0.1}
	}
	expensive, cheap := at(100, 0.3), at(3000, 3)
	for _, budget := range []time.Duration{0, time.Hour} {
		tr := trainer{data: d, memory: gppl.WithMemory(1e9), progress: &progress{count: 1}, options: Options{Budget: budget}}
		var s gppl.Settings
		if err := tr.limit(&s, []gppl.Model{expensive, cheap}, 1); err != nil {
			t.Fatal(err)
		}
		most, err := tr.cost(expensive)
		if err != nil {
			t.Fatal(err)
		}
		least, err := tr.cost(cheap)
		if err != nil || least > most/3 {
			t.Fatalf("costs are %v and %v s: %v", most, least, err)
		}
		unit := most
		if budget == 0 {
			unit = least
		}
		count, err := tr.afforded(most)
		if err != nil || s.EvaluationSeconds != unit || math.Abs(float64(s.MaxEvaluations)*unit/(float64(count)*most)-1) > 0.1 {
			t.Errorf("budget %v: %d evaluations of %v s, want as long as %d of %v: %v",
				budget, s.MaxEvaluations, s.EvaluationSeconds, count, most, err)
		}
	}
}
