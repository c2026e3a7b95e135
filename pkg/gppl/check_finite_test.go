package gppl_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// broken is SE with NaN: in its covariances beyond a distance, or in its derivatives.
type broken struct {
	gppl.Kernel // an interface, so that what SE knows of itself does not show
	beyond      float64
	slopes      bool
}

func (k broken) WithParams(theta []float64) gppl.Kernel {
	return broken{k.Kernel.WithParams(theta), k.beyond, k.slopes}
}

func (k broken) Cov(c, r []float64) {
	r = append([]float64(nil), r...) // c may be r
	k.Kernel.Cov(c, r)
	for i, v := range r {
		if v > k.beyond {
			c[i] = math.NaN()
		}
	}
}

func (k broken) Contract(grad, w, r []float64) {
	k.Kernel.Contract(grad, w, r)
	if k.slopes {
		grad[1] = math.NaN()
	}
}

// TestKernelFaults wants an error that names the kernel's fault, from every loss.
func TestKernelFaults(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i)/3)+0.3*math.Sin(77*float64(i))
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	theta := []float64{1, 2, 0.1}
	for _, c := range []struct {
		kernel gppl.Kernel
		want   string
	}{
		{broken{gppl.SE{Variance: 1, Lengthscale: 2}, 20, false}, "returned NaN at distance"},
		{broken{gppl.SE{Variance: 1, Lengthscale: 2}, -1, false}, "NaN"},
		{broken{gppl.SE{Variance: 1, Lengthscale: 2}, 1e9, true}, "lengthscale"},
	} {
		m := gppl.Model{Kernel: c.kernel, Noise: 0.1}
		p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Spectral{}, d.X, 12, 1))(t)
		losses := []gppl.Loss{
			testkit.Must(gppl.NewExact(t.Context(), m, d))(t),
			testkit.Must(gppl.NewResidual(t.Context(), m, d, p))(t),
			testkit.Must(gppl.NewVFE(t.Context(), m, d, d.X.Slice(0, 5), gppl.VFEOptions{FixInducing: true}))(t),
			testkit.Must(gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}))(t),
		}
		for _, l := range losses {
			grad := make([]float64, len(l.Params()))
			at := append([]float64(nil), theta...)
			at = append(at, gppl.Values(l.Params()[3:])...)
			if _, err := l.ValueGrad(t.Context(), grad, at); err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "no engine") {
				t.Errorf("%v: %v, want an error with %q", l, err, c.want)
			}
		}
		if _, err := auto.Fit(context.Background(), gppl.Model{Kernel: c.kernel}, d, auto.Settings{}); err == nil ||
			!strings.Contains(err.Error(), "NaN") {
			t.Errorf("auto.Fit: %v, want an error that names NaN", err)
		}
	}
}

// TestVanishingVariance: where training lets the kernel vanish beside the noise, engines of waves, which have none left, refuse it,
// and the others take it. Where the noise vanishes too, the error says so before any engine tries.
func TestVanishingVariance(t *testing.T) {
	d := knownData(t, 30)
	d.Errors = nil
	for _, engine := range append(gppl.Engines(), "") {
		for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
			m := gppl.Model{Kernel: gppl.SE{Variance: 5e-324, Lengthscale: 10}, Noise: 1, Mean: mean}
			l := testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine)))(t)
			_, err := l.ValueGrad(t.Context(), make([]float64, 3), m.Values())
			if _, is := errors.AsType[*gppl.Refusal](err); engine == gppl.EngineSpectral && !is {
				t.Errorf("mean %v: without waves the error is %v", mean, err)
			}
			if engine != "" {
				continue
			}
			_, variances := testkit.Must2(testkit.Must(l.Posterior(t.Context(), m.Values()))(t).Latent(t.Context(), d.X))(t)
			if want := map[bool]float64{true: 0, false: 1. / 30}[mean == nil]; math.Abs(variances[3]-want) > 1e-12 {
				t.Errorf("mean %v: the variance is %v, want %v", mean, variances[3], want)
			}
			alpha := make([]float64, 30)
			testkit.Must(l.Residuals(t.Context(), alpha, make([]float64, 30), nil, m.Values()))(t)
			if want := d.Y[3]; mean == nil && alpha[3] != want {
				t.Errorf("the residual is %v, want %v", alpha[3], want)
			}
		}
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1e-310, Lengthscale: 10}, Noise: 1e-310}
	l := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
	if _, err := l.ValueGrad(t.Context(), nil, m.Values()); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("a variance and a noise of 1e-310: %v", err)
	}
}
