package gppl_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// knownData is a series all of whose observations have known errors.
func knownData(t *testing.T, n int) gppl.Data {
	t.Helper()
	x, y, errs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.3*math.Sin(float64(3*i))
		y[i], errs[i] = math.Sin(x[i]/3)+0.1*math.Cos(float64(7*i)), 0.1+0.05*float64(i%3)
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	return testkit.Must(d.WithErrors(errs))(t)
}

// noiseless are kernels that all engines meet.
var noiseless = []gppl.Kernel{
	gppl.SE{Variance: 1, Lengthscale: 6}, gppl.Matern32{Variance: 1, Lengthscale: 3}, gppl.Laplace{Variance: 0.5, Lengthscale: 2},
	gppl.SHO{Variance: 1, Period: 9, Quality: 2}, gppl.RQ{Variance: 1, Lengthscale: 4, Alpha: 1},
	gppl.Add(gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 7}, gppl.Matern52{Variance: 0.3, Lengthscale: 4}),
}

// TestNoNoise: where every observation has a known error, a noise variance of 0 is taken, A = K + diag(s²), and 1e-300 costs no
// digit of the bound.
func TestNoNoise(t *testing.T) {
	d := knownData(t, 30)
	x := d.X.Coordinate(0)
	took := map[string]int{}
	for _, k := range noiseless {
		gram := newWideGram(k, x)
		truth := testkit.Must(gram.exact(1e-40, d.Errors, d.Y))(t)
		for _, engine := range append(gppl.Engines(), "") {
			for _, noise := range []float64{0, 1e-300} {
				l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: k, Noise: noise}, d, gppl.WithEngine(engine)))(t)
				theta := gppl.Values(l.Params())
				grad := make([]float64, len(theta))
				value, err := l.ValueGrad(t.Context(), grad, theta)
				if err != nil {
					continue
				}
				took[engine]++
				bound := l.Report().LastBound
				if !(bound < 1e-6) {
					t.Errorf("%q, %v, noise %g: bound %g", engine, k, noise, bound)
				}
				if off := math.Abs(value - truth.value.Hi); !(off <= bound+1e-13*truth.size) {
					t.Errorf("%q, %v, noise %g: %v, want %v within %g", engine, k, noise, value, truth.value.Hi, bound)
				}
				for p, g := range grad {
					want, scale := truth.grad[p].Hi, theta[p]
					if p == len(grad)-1 {
						want, scale = want/1e-40, 1
					}
					if off := math.Abs(g*scale - want); !(off <= 1e-6*(1+math.Abs(want))) {
						t.Errorf("%q, %v, noise %g: derivative %d is %v, want %v", engine, k, noise, p, g*scale, want)
					}
				}
				if _, seconds := l.Cost(theta); !(seconds < 10) {
					t.Errorf("%q, %v, noise %g: %v seconds", engine, k, noise, seconds)
				}
			}
		}
	}
	for _, engine := range []string{"", gppl.EngineDense, gppl.EngineBanded, gppl.EngineStateSpace, gppl.EngineSpectral, gppl.EngineMixed} {
		if took[engine] == 0 {
			t.Errorf("%q took %d", engine, took[engine])
		}
	}
}

// TestNoNoiseLosses: the other losses, posteriors, leaving out, updates and training take it too, and say what they do with a
// noise variance that vanishes beside the errors.
func TestNoNoiseLosses(t *testing.T) {
	d := knownData(t, 30)
	proj := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 9, 1))(t)
	raw := testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: gppl.Sphere{}}, d.X, 9, 1))(t)
	z := gppl.Scalars([]float64{1, 5.3, 10.1, 15.7, 18, 25})
	at := gppl.Scalars([]float64{-3, 4.2, 17, 40})
	for _, k := range noiseless {
		zero, tiny, some := gppl.Model{Kernel: k}, gppl.Model{Kernel: k, Noise: 1e-300}, gppl.Model{Kernel: k, Noise: 1e-17}
		for name, of := range map[string]func(m gppl.Model) (gppl.Loss, error){
			"PL":       func(m gppl.Model) (gppl.Loss, error) { return gppl.NewProjected(t.Context(), m, d, proj) },
			"PL, raw":  func(m gppl.Model) (gppl.Loss, error) { return gppl.NewProjected(t.Context(), m, d, raw) },
			"residual": func(m gppl.Model) (gppl.Loss, error) { return gppl.NewResidual(t.Context(), m, d, proj) },
			"VFE":      func(m gppl.Model) (gppl.Loss, error) { return gppl.NewVFE(t.Context(), m, d, z, gppl.VFEOptions{}) },
		} {
			want := testkit.Must(testkit.Must(of(some))(t).ValueGrad(t.Context(), nil, append(some.Values(), extra(of, some)...)))(t)
			for _, m := range []gppl.Model{zero, tiny} {
				l := testkit.Must(of(m))(t)
				theta := gppl.Values(l.Params())
				grad := make([]float64, len(theta))
				got, err := l.ValueGrad(t.Context(), grad, theta)
				report := l.(interface{ Report() gppl.LossReport }).Report()
				if err != nil || !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) || !(report.LastBound < 1e-5) {
					t.Errorf("%s, %v: %v (%v), want %v; bound %v", name, m, got, err, want, report.LastBound)
				}
			}
		}
		p := testkit.Must(gppl.NewPosterior(t.Context(), zero, d))(t)
		q := testkit.Must(gppl.NewPosterior(t.Context(), some, d, gppl.WithEngine(gppl.EngineDense)))(t)
		mean, variances := testkit.Must2(p.Noisy(t.Context(), at))(t)
		wantMean, wantVariances := testkit.Must2(q.Noisy(t.Context(), at))(t)
		alike(t, k.String()+": posterior", mean, wantMean)
		alike(t, k.String()+": variance", variances, wantVariances)
		blocks := [][]int{{0}, {4, 5}, {29}}
		out, spread, err := gppl.LeaveOut(t.Context(), zero, d, blocks)
		want, wantSpread, wantErr := gppl.LeaveOut(t.Context(), some, d, blocks)
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		alike(t, k.String()+": left out", out, want)
		alike(t, k.String()+": spread", spread, wantSpread)
		if d, err := zero.Sample(t.Context(), at, 1); err != nil || d.Y[2] != d.F[2] {
			t.Errorf("%v: draws %v and %v, %v", k, d.F, d.Y, err)
		}
	}
	l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 3}}, d))(t)
	r, err := gppl.Fit(context.Background(), l, l.Params(), gppl.Settings{})
	if err != nil || r.Model.Noise != 0 || !(r.Value < testkit.Must(l.ValueGrad(t.Context(), nil, gppl.Values(l.Params())))(t)) {
		t.Errorf("training: %v, %v", r, err)
	}
}

// TestNoNoiseRefused: without known errors, or with one that is 0, a noise variance of 0 is an error that says so.
func TestNoNoiseRefused(t *testing.T) {
	d := knownData(t, 30)
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 3}}
	if _, err := gppl.NewExact(t.Context(), m, gppl.Data{X: d.X, Y: d.Y}); err == nil || !strings.Contains(err.Error(), "noise variance") {
		t.Error(err)
	}
	d.Errors[7] = 0
	if _, err := gppl.NewExact(t.Context(), m, d); err == nil || !strings.Contains(err.Error(), "observation 7") {
		t.Error(err)
	}
}

// extra are the values of the parameters of a loss beyond the model's.
func extra(of func(m gppl.Model) (gppl.Loss, error), m gppl.Model) []float64 {
	l, err := of(m)
	if err != nil {
		return nil
	}
	return gppl.Values(l.Params())[len(m.Values()):]
}

func alike(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.IsNaN(got[i]) && math.IsNaN(want[i]) { // not asked for
			continue
		}
		if !(math.Abs(got[i]-want[i]) <= 1e-7*(1+math.Abs(want[i]))) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// TestNoNoiseChannels: a channel all of whose observations have known errors takes a noise variance of 0, whatever others have, with
// exposures and without: values, gradients and predictions equal those with a noise far below the errors.
func TestNoNoiseChannels(t *testing.T) {
	d := knownData(t, 30)
	channel, exposure := make([]int, 30), make([]float64, 30)
	for i := range channel {
		if channel[i], exposure[i] = i%2, 0.2; i%2 == 1 {
			d.Errors[i] = 0
		}
	}
	at := []float64{-3, 4.2, 17, 40}
	for _, k := range channelKernels() {
		with := func(noise float64) gppl.Model {
			return gppl.Model{Kernel: k, Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: noise},
				{Name: "B", Value: -0.5, Noise: 0.04}}}
		}
		for what, d := range map[string]gppl.Data{"channels": viewed(d, channel, nil), "exposures": viewed(d, channel, exposure)} {
			of := func(m gppl.Model) (*gppl.Exact, *gppl.Posterior, error) {
				l, err := gppl.NewExact(t.Context(), m, d)
				if err != nil {
					return nil, nil, err
				}
				p, err := l.Posterior(t.Context(), m.Values())
				return l, p, err
			}
			want, posterior, err := of(with(1e-17))
			if err != nil {
				t.Fatal(err)
			}
			theta := gppl.Values(want.Params())
			grad := make([]float64, len(theta))
			value := testkit.Must(want.ValueGrad(t.Context(), grad, theta))(t)
			means, variances := testkit.Must2(posterior.Latent(t.Context(), gppl.Scalars(at)))(t)
			for _, noise := range []float64{0, 1e-300} {
				l, p, err := of(with(noise))
				if err != nil {
					t.Errorf("%s, %v, noise %g: %v", what, k, noise, err)
					continue
				}
				theta := gppl.Values(l.Params())
				own := make([]float64, len(theta))
				got, err := l.ValueGrad(t.Context(), own, theta)
				if err != nil || !(math.Abs(got-value) <= 1e-10*(1+math.Abs(value))) || !(l.Report().LastBound < 1e-6) {
					t.Errorf("%s, %v, noise %g: %v (%v), want %v; bound %v", what, k, noise, got, err, value, l.Report().LastBound)
				}
				alike(t, what+": gradient", own, grad)
				m, v := testkit.Must2(p.Latent(t.Context(), gppl.Scalars(at)))(t)
				alike(t, what+": means", m, means)
				alike(t, what+": variances", v, variances)
				if kernel := len(k.Params()); noise == 0 && !l.Params()[kernel].IsFixed() {
					t.Errorf("%s: %+v", what, l.Params()[kernel])
				}
			}
			m := with(0)
			m.Channels[1].Noise = 0
			if _, _, err := of(m); err == nil || !strings.Contains(err.Error(), "observation 1") {
				t.Errorf("%s, a channel without known errors: %v", what, err)
			}
			start := testkit.Must(gppl.NewExact(t.Context(), with(0), d))(t)
			before := testkit.Must(start.ValueGrad(t.Context(), nil, gppl.Values(start.Params())))(t)
			r, err := gppl.Fit(context.Background(), start, start.Params(), gppl.Settings{MaxIterations: 3})
			if err != nil || !(r.Value < before) || start.Model(gppl.Values(start.Params())).Channels[0].Noise != 0 {
				t.Errorf("%s, %v: training: %v, %v", what, k, r, err)
			}
		}
	}
}
