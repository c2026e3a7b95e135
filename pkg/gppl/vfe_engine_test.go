package gppl

import (
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

// TestVFEEngines compares the spectral VFE with the dense one, and where K_uu is
// so ill-conditioned that it cannot be as exact, checks that it says so.
func TestVFEEngines(t *testing.T) {
	d := benchData(t, 300)
	compared, told := 0, 0
	for _, k := range []Kernel{
		SE{1.2, 15}, SE{0.9, 200}, RQ{1, 30, 0.8}, LocPer{1, 100, 60, 1}, Periodic{1, 1, 200},
		Add(SE{1, 30}, White{0.3}), Mul(SE{1, 80}, RQ{1, 60, 1}),
	} {
		for _, count := range []int{9, 70} {
			z, err := d.X.KMeans(t.Context(), count, 1)
			if err != nil {
				t.Fatal(err)
			}
			m := Model{Kernel: k, Noise: 0.1}
			want, err := NewVFE(t.Context(), m, d, z, VFEOptions{}, WithEngine(EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			got, err := NewVFE(t.Context(), m, d, z, VFEOptions{}, WithEngine(EngineSpectral))
			if err != nil {
				t.Fatal(err)
			}
			h := len(m.Params())
			if _, err := got.ValueGrad(t.Context(), nil, Values(got.Params())); err != nil {
				t.Fatal(err)
			}
			if last := got.chooser.Last(); !last.WithinTolerance() {
				bound := last.Nats
				if got.Report().Inexact < bound {
					t.Errorf("%v, m = %d: the bound of %v nats is not told", k, count, bound)
				}
				told++
				continue
			}
			compared++
			wv, wg := logGrad(t, want, h)
			gv, gg := logGrad(t, got, h)
			if math.Abs(gv-wv) > 1e-8*math.Abs(wv) {
				t.Errorf("%v, m = %d: %v, dense %v", k, count, gv, wv)
			}
			var diff, norm float64
			for i := range gg {
				diff, norm = math.Hypot(diff, gg[i]-wg[i]), math.Hypot(norm, wg[i])
			}
			if diff > 1e-6*norm {
				t.Errorf("%v, m = %d: gradient %v, dense %v: relative error %.2g", k, count, gg, wg, diff/norm)
			}
		}
	}
	if compared < 8 || told == 0 {
		t.Errorf("%d cases compared, %d told to be inexact", compared, told)
	}
	m := Model{Kernel: Laplace{1, 10}, Noise: 0.1}
	l, err := NewVFE(t.Context(), m, d, Scalars([]float64{100, 500}), VFEOptions{}, WithEngine(EngineSpectral))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ValueGrad(t.Context(), nil, Values(l.Params())); err == nil {
		t.Error("the spectral engine took Laplace")
	}
	// Inducing inputs that leave the data are dense again.
	m.Kernel = SE{1, 30}
	l, err = NewVFE(t.Context(), m, d, Scalars([]float64{-50, 500}), VFEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ValueGrad(t.Context(), nil, Values(l.Params())); err != nil || l.Report().Engine != EngineDense {
		t.Errorf("beyond the data: %v by %s", err, l.Report().Engine)
	}
}

// TestConcurrentVFE is the same with inducing inputs, by either engine.
func TestConcurrentVFE(t *testing.T) {
	d := benchData(t, 200)
	z, err := d.X.KMeans(t.Context(), 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{EngineDense, EngineSpectral, ""} {
		walkConcurrently(t, func() Loss {
			l, err := NewVFE(t.Context(), Model{Kernel: SE{1, 90}, Noise: 0.3}, d, z, VFEOptions{}, WithEngine(engine))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}, 8, 0.3)
	}
}

// TestVFEFrequencies: VFE takes more frequencies than the exact likelihood, for what it leaves out is divided by a small
// eigenvalue. It counts its own before it makes a matrix of them.
func TestVFEFrequencies(t *testing.T) {
	x := make([]float64, 20)
	y := make([]float64, len(x))
	for i := range x {
		x[i], y[i] = 50*float64(i), math.Sin(float64(i))
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewVFE(t.Context(), Model{Kernel: SE{1, 0.18}, Noise: 1}, d, Scalars([]float64{10, 500, 900}), VFEOptions{},
		WithEngine(EngineSpectral))
	if err != nil {
		t.Fatal(err)
	}
	if count, _, why := l.engines[0].(*spectralVFE).exact.Frequencies(decay{SE{1, 0.18}}, 1e-9); why.Given() ||
		2*count-1 > spectral.MostFeatures {
		t.Fatalf("%v frequencies are too many for the exact likelihood: %v", count, why)
	}
	if _, err := l.ValueGrad(t.Context(), nil, Values(l.Params())); err == nil || !strings.Contains(err.Error(), "frequencies") {
		t.Errorf("%v, want an error about frequencies", err)
	}
}
