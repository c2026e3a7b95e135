package gppl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestGriddedPromise takes the bound of the engine at its word, over noise,
// lengthscales and inputs: clustered, coinciding, one far away, far from zero.
func TestGriddedPromise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	inputs := map[string]func(i int) float64{
		"uniform":    func(int) float64 { return 100 * rnd.Float64() },
		"clustered":  func(i int) float64 { return float64(10*(i%5)) + 0.01*rnd.Float64() },
		"coinciding": func(i int) float64 { return float64(i % 20) },
		"one far":    func(i int) float64 { return float64(i/149) * 900 * rnd.Float64() },
		"offset":     func(int) float64 { return 1.7e9 + 100*rnd.Float64() },
	}
	for name, at := range inputs {
		x, y := make([]float64, 150), make([]float64, 150)
		for i := range x {
			x[i], y[i] = at(i), rnd.NormFloat64()
		}
		d, err := NewData(Scalars(x), y)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range []float64{0.3, 3, 70} {
			for j, noise := range []float64{1e-6, 1e-3, 1} {
				if testkit.Quick() && i != j {
					continue
				}
				for _, k := range []Kernel{SE{1, l}, Add(SE{2, l}, White{0.1})} {
					m := Model{Kernel: k, Noise: noise}
					got, grad, bound := evaluated(t, m, d, EngineGridded)
					want, wantGrad, rounding := evaluated(t, m, d, EngineDense)
					what := fmt.Sprintf("%s, %v", name, m)
					if off := math.Abs(got - want); off > bound+rounding {
						t.Errorf("%s: value off by %g, promised %g (dense %g)", what, off, bound, rounding)
					}
					for p := range grad {
						if off := math.Abs(grad[p] - wantGrad[p]); off > 10*(bound+rounding) {
							t.Errorf("%s: derivative %d = %g, dense %g, promised %g", what, p, grad[p], wantGrad[p], bound)
						}
					}
				}
			}
		}
	}
}

// TestGriddedWalk evaluates one loss along a walk in θ and compares with fresh
// ones: the sums that are kept do not change the answer.
func TestGriddedWalk(t *testing.T) {
	t.Parallel()
	d := benchData(t, 400)
	rnd := rand.New(rand.NewPCG(5, 5))
	m := Model{Kernel: SE{1, 5}, Noise: 0.1}
	kept, err := NewExact(t.Context(), m, d, WithEngine(EngineGridded))
	if err != nil {
		t.Fatal(err)
	}
	for l := 4.5; l < 5.5; l *= 1.003 { // a lengthscale that grows by little
		if _, err := kept.ValueGrad(t.Context(), nil, []float64{1, l, 0.1}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range testkit.Size(20, 40, 40) {
		far := []float64{1, 1e12, 1e100}[i%20/18*(1+i%2)] // now and then, a lengthscale that nobody wants
		m := Model{Kernel: SE{math.Exp(rnd.NormFloat64()), 5 * far * math.Exp(1.5*rnd.NormFloat64())},
			Noise: 0.1 * math.Exp(rnd.NormFloat64())}
		fresh, grad, bound := evaluated(t, m, d, EngineGridded)
		got := make([]float64, len(grad))
		theta := Values(m.Params())
		value, err := kept.ValueGrad(t.Context(), got, theta)
		if err != nil {
			t.Fatal(err)
		}
		for p := range got {
			if off := math.Abs(got[p]*theta[p] - grad[p]); off > 10*bound {
				t.Errorf("%v: derivative %d differs by %g, promised %g", m, p, off, bound)
			}
		}
		if math.Abs(value-fresh) > bound {
			t.Errorf("%v: the value differs by %g, promised %g", m, value-fresh, bound)
		}
	}
}
