package gppl_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// faulty is a loss whose gradient has a fault.
type faulty struct {
	gppl.Loss
	silent gppl.Loss // the same of y = 0: its gradient is that of the log-determinant
	spoil  func(grad, silent []float64)
}

func (l faulty) ValueGrad(grad, theta []float64) (float64, error) {
	value, err := l.Loss.ValueGrad(grad, theta)
	if err != nil || grad == nil {
		return value, err
	}
	silent := make([]float64, len(grad))
	if _, err := l.silent.ValueGrad(silent, theta); err != nil {
		return 0, err
	}
	l.spoil(grad, silent)
	return value, nil
}

// faults are what an engine's gradient may suffer from, of component p.
func faults(p int) map[string]func(grad, silent []float64) {
	return map[string]func(grad, silent []float64){
		"sign":                func(g, _ []float64) { g[p] = -g[p] },
		"factor":              func(g, _ []float64) { g[p] *= 1.001 },
		"without quadratic":   func(g, s []float64) { copy(g, s) },
		"without determinant": func(g, s []float64) { g[p] -= s[p] },
	}
}

// TestFitFindsFaults trains by faulty gradients: a result that says "converged"
// and has no warning has not noticed.
func TestFitFindsFaults(t *testing.T) {
	cases := 25 // of each engine and fault
	if testing.Short() {
		cases = 6
	}
	kernels := []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: 2}, gppl.Matern32{Variance: 1, Lengthscale: 2}, gppl.LocPer{Variance: 1, Lengthscale: 5, Period: 1.3, PeriodicLengthscale: 1}}
	for _, engine := range []string{gppl.EngineDense, gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineStateSpace} {
		for _, loss := range []string{"exact", "PL"} {
			caught, tried := map[string]int{}, map[string]int{}
			for i := range cases {
				rnd := rand.New(rand.NewPCG(uint64(i), 7))
				d := drawn(t, 60+rnd.IntN(60), uint64(i)+1)
				k := kernels[i%len(kernels)]
				if engine == gppl.EngineStateSpace {
					k = kernels[1]
				} else if engine == gppl.EngineSpectral && i%len(kernels) == 1 {
					k = kernels[0]
				}
				theta := make([]float64, len(k.Params()))
				for j, p := range k.Params() {
					theta[j] = p.Value * math.Exp(rnd.NormFloat64()/2)
				}
				m := gppl.Model{Kernel: k.WithParams(theta), Noise: 0.3 * math.Exp(rnd.NormFloat64()/2)}
				build := func(d gppl.Data) gppl.Loss {
					if loss == "exact" {
						return must[*gppl.Exact](t)(gppl.NewExact(m, d, gppl.WithEngine(engine)))
					}
					omega := must[*gppl.Projection](t)(gppl.NewProjection(gppl.Sphere{}, d.X, 20, 1))
					return must[*gppl.Projected](t)(gppl.NewProjected(m, d, omega, gppl.WithEngine(engine)))
				}
				nought := make([]float64, d.Len())
				for j := range nought {
					nought[j] = 1e-150 * d.Y[j]
				}
				silent := build(gppl.Data{X: d.X, Y: nought})
				for name, spoil := range faults(rnd.IntN(len(theta) + 1)) {
					r, err := gppl.Fit(context.Background(), faulty{build(d), silent, spoil}, gppl.Settings{})
					if err != nil {
						t.Fatalf("%s, %s, %s, case %d: %v", engine, loss, name, i, err)
					}
					tried[name]++
					if r.Status == gppl.Unconfirmed && strings.Contains(strings.Join(r.Warnings, " "), "slope") {
						caught[name]++
					}
				}
			}
			for name, n := range tried {
				t.Logf("%s, %s, %s: %d of %d caught", engine, loss, name, caught[name], n)
				if float64(caught[name]) < 0.95*float64(n) {
					t.Errorf("%s, %s, %s: %d of %d caught", engine, loss, name, caught[name], n)
				}
			}
		}
	}
}

// TestFitFindsLateFaults trains by gradients that are right at the start and lose
// a sign on the way.
func TestFitFindsLateFaults(t *testing.T) {
	caught, cases := 0, 20
	for i := range cases {
		d := drawn(t, 80, uint64(i)+1)
		m := gppl.Model{Kernel: gppl.SE{Variance: 3, Lengthscale: 1}, Noise: 0.5}
		loss := exactLoss(t, d)
		wrong := late{must[*gppl.Exact](t)(gppl.NewExact(m, d)), i % 3}
		right := must[*gppl.Result](t)(gppl.Fit(context.Background(), loss, gppl.Settings{}))
		r, err := gppl.Fit(context.Background(), wrong, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == gppl.Unconfirmed || r.Value < right.Value+0.02 {
			caught++
		} else {
			t.Logf("case %d: %v", i, r)
		}
	}
	if t.Logf("%d of %d caught or harmless", caught, cases); caught < cases {
		t.Errorf("%d of %d", caught, cases)
	}
}

// late is a loss whose derivative p has the wrong sign at lengthscales above 1.3.
type late struct {
	gppl.Loss
	p int
}

func (l late) ValueGrad(grad, theta []float64) (float64, error) {
	value, err := l.Loss.ValueGrad(grad, theta)
	if grad != nil && theta[1] > 1.3 {
		grad[l.p] = -grad[l.p]
	}
	return value, err
}

// TestFitAlarms trains by right gradients, over kernels, engines, starts far off
// and data off the model's scale: none is called wrong.
func TestFitAlarms(t *testing.T) {
	cases := 20
	if testing.Short() {
		cases = 4
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range cases {
		d := drawn(t, 20+rnd.IntN(80), uint64(i)+1)
		scale := math.Pow(10, float64(rnd.IntN(7)-3))
		for j := range d.Y {
			d.Y[j] *= scale
		}
		for _, k := range kernels() {
			params := k.Params()
			theta := make([]float64, len(params))
			for j := range params {
				theta[j] = math.Exp(2 * rnd.NormFloat64())
			}
			m := gppl.Model{Kernel: k.WithParams(theta), Noise: math.Exp(2 * rnd.NormFloat64())}
			l := must[*gppl.Exact](t)(gppl.NewExact(m, d))
			r, err := gppl.Fit(context.Background(), l, gppl.Settings{MaxEvaluations: 30, NoStandardErrors: i%2 == 0})
			if err != nil {
				continue // the start cannot be evaluated
			}
			if r.Status == gppl.Unconfirmed {
				t.Errorf("case %d, %v, scale %g: %v", i, m, scale, r)
			}
			if all := fmt.Sprint(r.Warnings); strings.Contains(all, "slope") {
				t.Errorf("case %d, %v, scale %g: %s", i, m, scale, all)
			}
		}
	}
}
