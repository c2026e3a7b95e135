package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestFaint finds a rhythm of a tenth of the amplitude of what a model explains at irregular times, whatever the order of its
// terms: in the periodogram of y it does not stand out.
func TestFaint(t *testing.T) {
	const n, period = 2500, 7.1
	rnd := rand.New(rand.NewPCG(3, 21))
	x, y := make([]float64, n), make([]float64, n)
	var slow [40]struct{ frequency, phase float64 }
	for i := range slow {
		slow[i].frequency, slow[i].phase = rnd.NormFloat64()/60, 2*math.Pi*rnd.Float64()
	}
	for i := range x {
		x[i] = n * rnd.Float64()
		for _, w := range slow {
			y[i] += math.Sqrt(2./40) * math.Cos(w.frequency*x[i]+w.phase)
		}
		y[i] += 0.1*math.Sin(2*math.Pi*x[i]/period) + 0.25*rnd.NormFloat64()
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	se, rhythm := gppl.SE{Variance: 1, Lengthscale: 60}, gppl.Periodic{Variance: 0.01, Lengthscale: 1, Period: 500}
	for _, k := range []gppl.Kernel{gppl.Add(se, rhythm), gppl.Add(rhythm, se)} {
		m := gppl.Model{Kernel: k, Noise: 0.0625}
		a := &fitting{ctx: context.Background()}
		s := &searcher{model: m, params: m.Params(), scales: scales{shortest: 2, longest: n}}
		found := a.faint(s, m, d)
		if !slices.ContainsFunc(found, func(m gppl.Model) bool {
			return slices.ContainsFunc(m.Params(), func(p gppl.Param) bool { return isPeriod(p) && math.Abs(p.Value/period-1) < 2e-3 })
		}) {
			t.Errorf("of %v there are the starts %v, want one at %v", m, found, period)
		}
		for _, f := range found {
			if got := variance(f.Kernel); !(got > 1.005 && got < 1.1) {
				t.Errorf("%v: the variance of %v is %v", m, f, got)
			}
		}
	}
}
