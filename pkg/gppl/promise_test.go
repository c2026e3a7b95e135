package gppl

import (
	"fmt"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestPromiseOffScale: the promised error holds where y is large for the model,
// as line searches visit, whether the model explains it or not, and where it has
// frequencies that the series leaves out.
func TestPromiseOffScale(t *testing.T) {
	t.Parallel()
	const n = 100
	d := benchData(t, n)
	signals := map[string]func(x float64) float64{
		"smooth": func(x float64) float64 { return math.Sin(x / 60) },
		"fast":   func(x float64) float64 { return math.Sin(x / 1.7) },
		"noise":  func(x float64) float64 { return math.Sin(1e5 * x) },
	}
	worst := map[string]float64{}
	for name, signal := range signals {
		for i, scale := range []float64{1e3, 1, 1e6} {
			if testkit.Quick() && i > 0 {
				continue
			}
			for i, x := range d.X.at {
				d.Y[i] = scale * signal(x)
			}
			for _, k := range []Kernel{SE{1, 50}, SE{1, 8}, RQ{1, 30, 1}, LocPer{1, 150, 40, 1}, Periodic{1, 1, 60}, Matern52{1, 60},
				Periodic{1, 1, 0.03}, Laplace{1, 50}} {
				for _, noise := range []float64{0.1, 1e-3} {
					m := Model{Kernel: k, Noise: noise}
					theta := Values(m.Params())
					dense, err := NewExact(t.Context(), m, d, WithEngine(EngineDense))
					if err != nil {
						t.Fatal(err)
					}
					want, err := dense.ValueGrad(t.Context(), nil, theta)
					if err != nil {
						t.Fatal(err)
					}
					p, err := NewProjection(t.Context(), Sphere{}, d.X, 40, 1)
					if err != nil {
						t.Fatal(err)
					}
					denseProjected, err := NewProjected(t.Context(), m, d, p, WithEngine(EngineDense))
					if err != nil {
						t.Fatal(err)
					}
					wantProjected, err := denseProjected.ValueGrad(t.Context(), nil, theta)
					if err != nil {
						t.Fatal(err)
					}
					check := func(l, reference Loss, want float64, engine string) {
						t.Helper()
						if expensive(l, engine, theta) {
							return
						}
						got, err := l.ValueGrad(t.Context(), nil, theta)
						if err != nil {
							return
						}
						bound := l.Report().LastBound + reference.Report().LastBound
						ratio := math.Abs(got-want) / bound
						what := fmt.Sprintf("%T %s", l, engine)
						worst[what] = max(worst[what], ratio)
						if !(ratio <= 1) {
							t.Errorf("%s of %v, %v, noise %v, y = %v·%s: errs by %.2g and promises %.2g",
								engine, l, k, noise, scale, name, math.Abs(got-want), bound)
						}
					}
					for _, engine := range append(Engines(), "") {
						l, err := NewExact(t.Context(), m, d, WithEngine(engine))
						if err != nil {
							t.Fatal(err)
						}
						check(l, dense, want, engine)
						lp, err := NewProjected(t.Context(), m, d, p, WithEngine(engine))
						if err != nil {
							t.Fatal(err)
						}
						check(lp, denseProjected, wantProjected, engine)
					}
				}
			}
		}
	}
	t.Log(fmt.Sprint(worst))
}

// TestLastInexact: a poor start does not affect the report about the last
// evaluation.
func TestLastInexact(t *testing.T) {
	d := benchData(t, 100)
	l, err := NewExact(t.Context(), Model{Kernel: SE{1, 50}, Noise: 0.1}, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, noise := range []float64{1e-13, 0.1} {
		if _, err := l.ValueGrad(t.Context(), nil, []float64{1, 50, noise}); err != nil {
			t.Log(err)
		}
		r := l.Report()
		if inexact := noise < 1e-9; (r.LastInexact > 0) != inexact || r.Inexact == 0 || r.LastBound == 0 {
			t.Errorf("noise %v: %+v", noise, r)
		}
	}
}
