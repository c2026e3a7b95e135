package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestProfile compares the profiled likelihood of two parts of a series with the exact ones at the variances that it names, and
// wants that to be the least over their common factor.
func TestProfile(t *testing.T) {
	const n = 70
	rnd := rand.New(rand.NewPCG(4, 4))
	x, y, relative := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.3*rnd.Float64()
		y[i] = math.Sin(x[i]/5) + math.Sin(x[i]) + 0.2*rnd.NormFloat64()
		relative[i] = 0.5 + rnd.Float64()
	}
	uneven, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithRelativeErrors(relative)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []gppl.Data{{X: gppl.Scalars(x), Y: y}, uneven} {
		for _, k := range []gppl.Kernel{
			gppl.SE{Variance: 2, Lengthscale: 3}, gppl.Matern32{Variance: 1, Lengthscale: 4},
			gppl.RQ{Variance: 1, Lengthscale: 2, Alpha: 0.5},
			gppl.Add(gppl.SE{Variance: 1, Lengthscale: 20}, gppl.Periodic{Variance: 0.5, Lengthscale: 6, Period: 1}),
			gppl.Add(gppl.SE{Variance: 1, Lengthscale: 3}, gppl.White{Variance: 0.2}),
		} {
			m := gppl.Model{Kernel: k, Noise: 1}
			var parts []*gppl.Exact
			for _, idx := range [][]int{{0, 1, 2, 3, 5, 8, 13, 21, 34, 55}, {4, 6, 7, 9, 10, 11, 12, 14, 15, 60, 61, 69}} {
				parts = append(parts, testkit.Must(gppl.NewExact(t.Context(), m, d.Pick(idx)))(t))
			}
			checkProfile(t, m, parts)
		}
	}
}

func checkProfile(t *testing.T, m gppl.Model, parts []*gppl.Exact) {
	t.Helper()
	p := profile{parts: parts, n: 22}
	noises, nll, factors := []float64{0.01, 0.3}, make([]float64, 2), make([]float64, 2)
	for _, free := range []bool{true, false} {
		if err := p.NLL(t.Context(), nll, factors, m, noises, free); err != nil {
			t.Fatal(err)
		}
		for i, noise := range noises {
			at := func(c float64) (sum float64) {
				theta := m.Values()
				theta[len(theta)-1] = noise
				for j, q := range m.Params() {
					if q.Unit == gppl.UnitY2 {
						theta[j] *= c * factors[i]
					}
				}
				for _, l := range parts {
					v, err := l.ValueGrad(t.Context(), nil, theta)
					if err != nil {
						t.Fatal(err)
					}
					sum += v
				}
				return sum
			}
			if v := at(1); math.Abs(v-nll[i]) > 1e-6*math.Abs(v) || !free && factors[i] != 1 {
				t.Errorf("%v, noise %v, free %v: profiled %v, exact %v", m.Kernel, noise, free, nll[i], v)
			} else if free && (at(1.01) < v || at(0.99) < v) {
				t.Errorf("%v, noise %v: %v is not the least: %v, %v", m.Kernel, noise, v, at(0.99), at(1.01))
			}
		}
	}
}
