package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// farKernels are kernels that the spectral engine takes: with reach and without,
// positive weights and a window's.
var farKernels = []Kernel{
	SE{1.2, 50}, SE{0.9, 700}, RQ{1, 20, 0.8}, Periodic{0.7, 1, 90}, LocPer{1, 100, 30, 1},
	Add(SE{1, 30}, White{0.3}), Add(SE{1, 60}, Periodic{0.5, 1, 70}), Mul(SE{1, 50}, Periodic{1, 1, 200}),
}

// farAway is where a posterior is asked for: within the data, just beyond what
// the engine's features were made for, further and further.
func farAway() []float64 {
	x := []float64{-3, 0, 17, 500, 1000, 1001}
	for r := 10.0; r < 2e4; r *= 1.7 {
		x = append(x, 1000+r, -r)
	}
	return x
}

// TestPosteriorFarAway: the spectral posterior is the dense one beyond the data,
// too, and is not changed by being asked.
func TestPosteriorFarAway(t *testing.T) {
	t.Parallel()
	d := benchData(t, testkit.Size(100, 150, 150))
	for i, x := range d.X.at {
		d.Y[i] = 0.3*d.Y[i] + math.Sin(x/40)
	}
	x := Scalars(farAway())
	for i, k := range farKernels {
		for j, noise := range []float64{0.1, 1e-4} {
			if testkit.Quick() && (i+j)%3 != 0 {
				continue
			}
			m := Model{Kernel: k, Noise: noise}
			want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			got, err := NewPosterior(t.Context(), m, d, WithEngine(EngineSpectral))
			if err != nil {
				t.Logf("%v: %v", k, err)
				continue
			}
			// A window's weights of both signs lose digits, and the loss says so:
			// only a forced engine does this.
			loss, err := NewExact(t.Context(), m, d, WithEngine(EngineSpectral))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := loss.ValueGrad(t.Context(), nil, Values(m.Params())); err != nil {
				t.Fatal(err)
			}
			limit := 1e-7
			if loss.Report().Inexact > 0 {
				limit = 1e-5
			}
			before, vBefore := testkit.Must2(got.Latent(t.Context(), x))(t)
			wm, wv := testkit.Must2(want.Latent(t.Context(), x))(t)
			for i := range wm {
				if math.Abs(before[i]-wm[i]) > limit*max(1, math.Abs(wm[i])) || math.Abs(vBefore[i]-wv[i]) > limit*max(wv[i], 1e-3) {
					t.Errorf("%v, noise %v, at %v: mean %v, variance %v; dense %v, %v", k, noise, x.at[i], before[i], vBefore[i], wm[i], wv[i])
				}
			}
			if _, _, err := got.Latent(t.Context(), Scalars([]float64{1e5, 500, 1e6, -1e5})); err != nil {
				t.Fatal(err)
			}
			if _, err := got.Sample(t.Context(), Scalars([]float64{500, 1100, 1500, 4000}), 1, 1); err != nil {
				t.Errorf("%v: %v", k, err)
			}
			after, vAfter := testkit.Must2(got.Latent(t.Context(), x))(t)
			if fmt.Sprintf("%x %x", before, vBefore) != fmt.Sprintf("%x %x", after, vAfter) {
				t.Errorf("%v, noise %v: the posterior changed by being asked", k, noise)
			}
			// One input alone has the digits that it has among others to rounding.
			for _, at := range []float64{500, 1100, 3000} {
				alone, _ := testkit.Must2(got.Latent(t.Context(), Scalars([]float64{at})))(t)
				among, _ := testkit.Must2(got.Latent(t.Context(), Scalars([]float64{-50, at, 2000, 7})))(t)
				if math.Abs(alone[0]-among[1]) > 1e-11 {
					t.Errorf("%v at %v: %v alone, %v among others", k, at, alone[0], among[1])
				}
			}
		}
	}
}

// TestPosteriorCovarianceFarAway compares joint covariances across the end of
// the features' range.
func TestPosteriorCovarianceFarAway(t *testing.T) {
	d := benchData(t, 120)
	x := Scalars([]float64{500, 990, 1010, 1100, 1180, 1300, 1500, 2500, 1e5, 1e5 + 3})
	for i, k := range farKernels {
		if testkit.Quick() && i%2 == 1 {
			continue
		}
		m := Model{Kernel: k, Noise: 0.05}
		want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewPosterior(t.Context(), m, d, WithEngine(EngineSpectral))
		if err != nil {
			continue
		}
		gm, gc, err := got.joint(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		wm, wc, err := want.joint(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		a, b := gc.At(0, 0), wc.At(0, 0)
		for i := range gm {
			if math.Abs(gm[i]-wm[i]) > 1e-7 {
				t.Errorf("%v at %v: mean %v, dense %v", k, x.at[i], gm[i], wm[i])
			}
			for j := range i + 1 {
				if e := i*a.Stride + j; math.Abs(a.Data[e]-b.Data[e]) > 1e-7 {
					t.Errorf("%v at %v and %v: covariance %v, dense %v", k, x.at[i], x.at[j], a.Data[e], b.Data[e])
				}
			}
		}
	}
}

// TestPosteriorAnywhere: no input makes a posterior panic, hang or err in
// silence. Where the kernel has died out it is the prior; where an input is so
// large that its distance to the data has no digits left, or is too far for the waves
// of the mixed engine, an error.
func TestPosteriorAnywhere(t *testing.T) {
	t.Parallel()
	d := benchData(t, 60)
	for _, engine := range Engines() {
		for i, k := range append(farKernels, Laplace{1, 20}, Matern32{1, 20}, Matern52{1, 20}) {
			if engine == EngineSpectral && i >= len(farKernels) && testkit.Quick() {
				continue // seconds
			}
			m := Model{Kernel: k, Noise: 0.1}
			p, err := NewPosterior(t.Context(), m, d, WithEngine(engine))
			if err != nil {
				continue
			}
			for _, x := range []float64{1e7, 1e15, 1e300, -1e300, math.MaxFloat64} {
				mean, v, err := p.Latent(context.Background(), Scalars([]float64{3, x}))
				if math.IsNaN(mean[0]) || math.IsNaN(v[0]) {
					t.Errorf("%s, %v: %v and %v at 3, asked with %v", engine, k, mean[0], v[0], x)
				}
				nan := math.IsNaN(mean[1]) && math.IsNaN(v[1])
				switch {
				case err == nil && (!(math.Abs(mean[1]) < 10) || !(v[1] >= 0) || !(v[1] <= (variance(k)+capability.Nugget(k))*(1+1e-12))):
					t.Errorf("%s, %v at %v: mean %v, variance %v and no error", engine, k, x, mean[1], v[1])
				case err != nil && (!nan || !strings.Contains(err.Error(), "x[1]")):
					t.Errorf("%s, %v at %v: mean %v, variance %v with %v", engine, k, x, mean[1], v[1], err)
				case err != nil && !math.IsInf(reach(k, 1e-40), 1) && !strings.Contains(err.Error(), "would have about"):
					t.Errorf("%s, %v at %v: %v, but the prior is known", engine, k, x, err)
				}
				if _, serr := p.Sample(t.Context(), Scalars([]float64{3, x}), 1, 1); (serr == nil) != (err == nil) {
					t.Errorf("%s, %v at %v: Sample says %v, Latent %v", engine, k, x, serr, err)
				}
			}
			for _, x := range []float64{math.NaN(), math.Inf(1)} {
				if mean, _, err := p.Latent(context.Background(), Scalars([]float64{3, x})); err == nil || !math.IsNaN(mean[1]) {
					t.Errorf("%s, %v at %v: %v, %v", engine, k, x, mean, err)
				}
			}
		}
	}
}

// TestPosteriorPriorAtOnce: far away is the prior, without work.
func TestPosteriorPriorAtOnce(t *testing.T) {
	d := benchData(t, 200)
	p, err := NewPosterior(t.Context(), Model{Kernel: SE{1.5, 50}, Noise: 0.1}, d, WithEngine(EngineSpectral))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{1e5, 1e6, 1e7, 1e300} {
		start := time.Now()
		mean, v := testkit.Must2(p.Latent(t.Context(), Scalars([]float64{x})))(t)
		t.Logf("x = %v: %v", x, time.Since(start))
		if mean[0] != 0 || v[0] != 1.5 {
			t.Errorf("at %v: %v, %v", x, mean[0], v[0])
		}
	}
}

// TestPosteriorCancelled: a cancelled context ends the work with its error.
func TestPosteriorCancelled(t *testing.T) {
	d := benchData(t, 300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := timeline.Steps(5000)
	for _, k := range []Kernel{SE{1, 50}, RQ{1, 50, 1}, Laplace{1, 20}} {
		for _, engine := range Engines() {
			p, err := NewPosterior(ctx, Model{Kernel: k, Noise: 0.1}, d, WithEngine(engine))
			if err != nil {
				continue
			}
			if _, _, err := p.Latent(ctx, Scalars(x)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %v: %v", engine, k, err)
			}
			if _, _, err := p.Noisy(ctx, Scalars(x)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %v: %v", engine, k, err)
			}
		}
	}
}
