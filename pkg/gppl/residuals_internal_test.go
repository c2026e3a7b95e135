package gppl

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestResidualFactors compares the residuals that factors give without a posterior, before a gradient and after it, with those
// of the dense engine's posterior.
func TestResidualFactors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 4))
	const n = 150 // two tiles of the dense engine
	x, y, errs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], errs[i] = 10*rnd.Float64(), 3+rnd.NormFloat64(), 0.2+rnd.Float64()
	}
	data, err := NewData(Scalars(x), y)
	if err == nil {
		data, err = data.WithErrors(errs)
	}
	if err != nil {
		t.Fatal(err)
	}
	season := Periodic{Variance: 1, Lengthscale: 1, Period: 3}
	for _, c := range []struct {
		name, engine string
		kernel       Kernel
		base         string // engine of the base of a mixed one
	}{
		{"dense", EngineDense, Matern52{Variance: 1, Lengthscale: 2}, ""},
		{"banded", EngineBanded, SE{Variance: 1, Lengthscale: 0.1}, ""},
		{"state space", EngineStateSpace, Matern32{Variance: 1, Lengthscale: 2}, ""},
		{"mixed", EngineMixed, season, ""},
		{"mixed with a state space", EngineMixed, Add(season, Laplace{Variance: 0.5, Lengthscale: 1}), EngineStateSpace},
		{"mixed with a band", EngineMixed, Add(season, SE{Variance: 0.5, Lengthscale: 0.01}), EngineBanded},
	} {
		for _, mean := range []Mean{nil, Linear{}} {
			m := Model{Kernel: c.kernel, Noise: 0.05, Mean: mean}
			exact, err := NewExact(t.Context(), m, data, WithEngine(c.engine))
			if err != nil {
				t.Fatal(err)
			}
			dense, err := NewExact(t.Context(), m, data, WithEngine(EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			factor := func(l *Exact, call *exactCall) exactFactor {
				call.ctx = t.Context()
				_, f, err := l.evaluateIn(call, nil, m.Values(), true)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				return f
			}
			var call, denseCall exactCall
			want, wantPrecisions := make([]float64, n), make([]float64, n)
			if err := dense.residuals(&denseCall, factor(dense, &denseCall), want, wantPrecisions); err != nil {
				t.Fatal(err)
			}
			f := factor(exact, &call)
			if f, ok := f.(*mixedFactor); ok && c.base != "" && f.base.engine.name() != c.base {
				t.Fatalf("%s: the base is factorised by %s", c.name, f.base.engine.name())
			}
			check := func(when string, precisions []float64) {
				t.Helper()
				alpha := make([]float64, n)
				if !f.(residualFactor).residuals(alpha, precisions, call.r) {
					t.Fatalf("%s: no residuals", c.name)
				}
				for i, a := range alpha {
					if math.Abs(a-want[i]) > 1e-9*(1+math.Abs(want[i])) {
						t.Fatalf("%s, mean %v, %s: α[%d] = %v, want %v", c.name, mean, when, i, a, want[i])
					}
					if precisions != nil && math.Abs(precisions[i]-wantPrecisions[i]) > 1e-9*wantPrecisions[i] {
						t.Fatalf("%s, mean %v, %s: P[%d] = %v, want %v", c.name, mean, when, i, precisions[i], wantPrecisions[i])
					}
				}
			}
			check("before a gradient", nil)
			if err := f.gradient(make([]float64, len(m.Params())), call.r); err != nil {
				t.Fatal(err)
			}
			check("after a gradient", make([]float64, n))
			check("after a gradient, α alone", nil)
			f.release()
		}
	}
}
