package gppl_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// TestExposuresWithoutChannels compares averages over exposures under a plain model with a dense Cholesky factor and, with an
// intercept, with one channel of Value 1.
func TestExposuresWithoutChannels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 1))
	kernels := append(channelKernels(), gppl.Laplace{Variance: 1, Lengthscale: 1.5})
	for _, k := range kernels {
		c := randomExposures(rnd, k)
		noise := 0.05 + 0.1*rnd.Float64()
		d := viewed(c.data, nil, c.exposure)
		d.Errors, d.Relative = nil, nil
		m := gppl.Model{Kernel: k, Noise: noise}
		loss := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
		theta := m.Values()
		grad := make([]float64, len(theta))
		got := testkit.Must(loss.ValueGrad(t.Context(), grad, theta))(t)
		n := d.Len()
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				v := averaged(k, d.X.At(i)[0], c.exposure[i], d.X.At(j)[0], c.exposure[j])
				if i == j {
					v = averaged(k, 0, c.exposure[i], 0, c.exposure[i]) + noise
				}
				a.SetSym(i, j, v)
			}
		}
		var root mat.Cholesky
		if !root.Factorize(a) {
			t.Fatal("A is not positive definite")
		}
		y, alpha := mat.NewVecDense(n, d.Y), mat.NewVecDense(n, nil)
		if err := root.SolveVecTo(alpha, y); err != nil {
			t.Fatal(err)
		}
		want := 0.5 * (mat.Dot(y, alpha) + root.LogDet() + float64(n)*math.Log(2*math.Pi))
		if !(math.Abs(got-want) <= 1e-8*(float64(n)+math.Abs(want))) {
			t.Errorf("%v: value %v, want %v", k, got, want)
		}
		post := testkit.Must(loss.Posterior(t.Context(), theta))(t)
		z := []float64{-3, 1.7, 40}
		means, variances := testkit.Must2(post.Latent(t.Context(), gppl.Scalars(z)))(t)
		_, noisy := testkit.Must2(post.Noisy(t.Context(), gppl.Scalars(z)))(t)
		for i, s := range z {
			cross, u := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
			for j := range n {
				cross.SetVec(j, averaged(k, s, 0, d.X.At(j)[0], c.exposure[j]))
			}
			if err := root.SolveVecTo(u, cross); err != nil {
				t.Fatal(err)
			}
			prior := jet(k, 0)[0]
			mean, variance := mat.Dot(cross, alpha), prior-mat.Dot(cross, u)
			if math.Abs(means[i]-mean) > 1e-6*(1+math.Abs(mean)) || math.Abs(variances[i]-variance) > 1e-6*prior ||
				noisy[i] != variances[i]+noise {
				t.Errorf("%v: f at %v: %v ± %v, want %v ± %v", k, s, means[i], variances[i], mean, variance)
			}
		}
		m.Mean = gppl.Intercept{}
		loss = testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
		got = testkit.Must(loss.ValueGrad(t.Context(), grad, theta))(t)
		one := gppl.Model{Kernel: k, Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: noise}}}
		other := testkit.Must(gppl.NewExact(t.Context(), one, d))(t)
		wide := make([]float64, len(other.Params()))
		want = testkit.Must(other.ValueGrad(t.Context(), wide, one.Values()))(t)
		if !(math.Abs(got-want) <= 1e-9*(float64(n)+math.Abs(want))) {
			t.Errorf("%v with an intercept: value %v, as a channel %v", k, got, want)
		}
		for i := range grad {
			if !(math.Abs(grad[i]-wide[i]) <= 1e-7*(1+math.Abs(wide[i])+float64(n))) {
				t.Errorf("%v with an intercept: derivative %d is %v, as a channel %v", k, i, grad[i], wide[i])
			}
		}
		post = testkit.Must(loss.Posterior(t.Context(), theta))(t)
		channel := testkit.Must(other.Posterior(t.Context(), one.Values()))(t)
		means, _ = testkit.Must2(post.Latent(t.Context(), gppl.Scalars(z)))(t)
		wants, _ := testkit.Must2(channel.Channel(t.Context(), 0, gppl.Scalars(z)))(t)
		for i := range z {
			if !(math.Abs(means[i]-wants[i]) <= 1e-6*(1+math.Abs(wants[i]))) {
				t.Errorf("%v with an intercept: f at %v: %v, as a channel %v", k, z[i], means[i], wants[i])
			}
		}
	}
}

// TestPosteriorOfEveryLoss: every loss conditions its model at θ on its data, as the constructors do.
func TestPosteriorOfEveryLoss(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 2))
	const n = 120
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i)+0.3*rnd.Float64(), math.Sin(float64(i)/9)+0.3*rnd.NormFloat64()
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	start := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.3, Mean: gppl.Intercept{}}
	theta := []float64{0.8, 9, 0.1}
	m := start.WithParams(theta)
	exact := testkit.Must(gppl.NewExact(t.Context(), start, d))(t)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 20, 1))(t)
	pl := testkit.Must(gppl.NewProjected(t.Context(), start, d, p))(t)
	prior := testkit.Must(gppl.NewMAP(exact, gppl.ParamPrior{Role: gppl.RoleVariance, Prior: prior.HalfNormal{Scale: 1}}))(t)
	z := gppl.Scalars([]float64{10, 40, 70, 100})
	vfe := testkit.Must(gppl.NewVFE(t.Context(), start, d, z, gppl.VFEOptions{}))(t)
	s := testkit.Must(sums.New(testkit.Must(sums.NewPlan(testkit.Must(sums.SampleRange(x, y, 0, 3))(t)))(t).Header))(t)
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	known := gppl.SumsData(s, 0)
	fromSums := testkit.Must(gppl.NewExact(t.Context(), start, known))(t)
	waves := testkit.Must(known.Projection(t.Context(), 30))(t)
	residual := testkit.Must(gppl.NewResidual(t.Context(), start, known, waves))(t)
	regular := d
	regular.X = gppl.Scalars(timeline.Steps(n))
	whittle := testkit.Must(gppl.NewWhittle(t.Context(), start, regular, gppl.WhittleOptions{}))(t)
	at := gppl.Scalars([]float64{0.5, 33, 90.2})
	answers := func(p *gppl.Posterior, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		mean, v := testkit.Must2(p.Latent(t.Context(), at))(t)
		return append(append(mean, v...), p.Model().Values()...)
	}
	want := answers(gppl.NewPosterior(t.Context(), m, d))
	wantSums := answers(gppl.NewPosterior(t.Context(), m, known))
	for _, c := range []struct {
		name string
		loss interface {
			Posterior(ctx context.Context, theta []float64) (*gppl.Posterior, error)
		}
		theta, want []float64
	}{
		{"exact", exact, theta, want}, {"PL", pl, theta, want}, {"MAP", prior, theta, want},
		{"Whittle", whittle, theta, answers(gppl.NewPosterior(t.Context(), m, regular))},
		{"sums", fromSums, theta, wantSums}, {"residual of sums", residual, theta, wantSums},
		{"VFE", vfe, append(slices.Clone(theta), z.Coordinate(0)...), answers(gppl.VFEPosterior(t, m, d, z))},
	} {
		before := c.loss.(gppl.Loss).Report()
		if got := answers(c.loss.Posterior(t.Context(), c.theta)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if after := c.loss.(gppl.Loss).Report(); after != before {
			t.Errorf("%s: the report changes from %+v to %+v", c.name, before, after)
		}
	}
}

// TestNoViewsElsewhere: what takes neither channels nor exposures says so, and names what does.
func TestNoViewsElsewhere(t *testing.T) {
	ctx := t.Context()
	plain := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 3, 4, 5}), Y: []float64{1, 2, 0, 1, 3, 1}}
	kernel := gppl.Matern32{Variance: 1, Lengthscale: 1}
	channels := gppl.Model{Kernel: kernel, Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: 1}, {Name: "B", Value: 2, Noise: 1}}}
	for name, c := range map[string]struct {
		m gppl.Model
		d gppl.Data
	}{
		"channels":  {channels, viewed(plain, []int{0, 1, 0, 1, 1, 0}, nil)},
		"exposures": {gppl.Model{Kernel: kernel, Noise: 1}, viewed(plain, nil, []float64{0.1, 0.1, 0, 0.1, 0.2, 0})},
	} {
		m, d := c.m, c.d
		p := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, d.X, 2, 1))(t)
		post := testkit.Must(gppl.NewPosterior(ctx, m, d))(t)
		for what, err := range map[string]error{
			"columns":        second(m.SpectralColumns(d, 0.1)),
			"PL":             second(gppl.NewProjected(ctx, m, d, p)),
			"residual":       second(gppl.NewResidual(ctx, m, d, p)),
			"VFE":            second(gppl.NewVFE(ctx, m, d, d.X.Slice(0, 2), gppl.VFEOptions{})),
			"Whittle":        second(gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{})),
			"periodogram":    second(m.Periodogram(ctx, d)),
			"auto":           second(auto.Fit(ctx, m, d, auto.Settings{})),
			"starts":         second(auto.FindStarts(ctx, m, d, auto.Settings{})),
			"robust":         second(observe.FitRobust(ctx, m, d, observe.RobustSettings{})),
			"Laplace":        second(observe.NewLaplace(ctx, m, d, observe.Poisson{}, nil)),
			"outliers":       second(observe.FindOutliers(ctx, m, d)),
			"update":         second(post.Update(ctx, plain)),
			"one step":       third(post.OneStep(ctx, plain)),
			"draw":           second(post.Sample(ctx, plain.X, 1, 1)),
			"leaving out":    third(gppl.LeaveOut(ctx, m, d, nil)),
			"another engine": second(gppl.NewExact(ctx, m, d, gppl.WithEngine(gppl.EngineDense))),
		} {
			if err == nil || !strings.Contains(err.Error(), "channels") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	post := testkit.Must(gppl.NewPosterior(ctx, channels, viewed(plain, []int{0, 1, 0, 1, 1, 0}, nil)))(t)
	if _, _, err := post.Noisy(ctx, plain.X); err == nil || !strings.Contains(err.Error(), "Channel") {
		t.Errorf("Noisy: %v", err)
	}
	if _, err := channels.Sample(ctx, plain.X, 1); err == nil {
		t.Error("Sample of a model with channels")
	}
	for want, d := range map[string]gppl.Data{
		"channel[1] = -1": viewed(plain, []int{0, -1, 0, 0, 0, 0}, nil), "5 of 6": viewed(plain, make([]int, 5), nil),
		"exposure[2] = +Inf": viewed(plain, nil, []float64{0, 0, math.Inf(1), 0, 0, 0}),
	} {
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := fisher.New(ctx, channels, plain.X); err == nil || !strings.Contains(err.Error(), "channels") {
		t.Errorf("information of a model with channels: %v", err)
	}
	if _, err := gppl.NewExact(ctx, channels, plain); err == nil || !strings.Contains(err.Error(), "which observation is of which") {
		t.Errorf("no channel is told: %v", err)
	}
}

// TestSumsElsewhere: what needs single observations refuses sums, and names what takes them.
func TestSumsElsewhere(t *testing.T) {
	ctx := t.Context()
	x, y, _ := testsums.Series(11, 60)
	s := testsums.New(t, testsums.Plain)
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	plain := gppl.Data{X: gppl.Scalars(x), Y: y}
	m, d := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 1}, gppl.SumsData(s, 0)
	p := testkit.Must(gppl.NewProjection(ctx, gppl.Sphere{}, plain.X, 4, 1))(t)
	post := testkit.Must(gppl.NewPosterior(ctx, m, plain))(t)
	for what, err := range map[string]error{
		"PL":            second(gppl.NewProjected(ctx, m, d, p)),
		"VFE":           second(gppl.NewVFE(ctx, m, d, plain.X.Slice(0, 2), gppl.VFEOptions{})),
		"Whittle":       second(gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{})),
		"auto":          second(auto.Fit(ctx, m, d, auto.Settings{})),
		"a start":       second(auto.StartFrom(ctx, m, d)),
		"robust":        second(observe.FitRobust(ctx, m, d, observe.RobustSettings{})),
		"Laplace":       second(observe.NewLaplace(ctx, m, d, observe.Poisson{}, nil)),
		"outliers":      second(observe.FindOutliers(ctx, m, d)),
		"priors":        second(m.DefaultPriors(ctx, d)),
		"a mean":        second(m.SubtractMean(ctx, d)),
		"update":        second(post.Update(ctx, d)),
		"one step":      third(post.OneStep(ctx, d)),
		"leaving out":   third(gppl.LeaveOut(ctx, m, d, nil)),
		"with errors":   second(d.WithErrors(make([]float64, 60))),
		"with channels": second(d.WithChannels(make([]int, 60))),
	} {
		if err == nil || !strings.Contains(err.Error(), "sums") || !strings.Contains(err.Error(), "NewResidual") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A posterior of sums is of what was there when its loss was made.
	waves := testkit.Must(d.Projection(ctx, 10))(t)
	exact, residual := testkit.Must(gppl.NewExact(ctx, m, d))(t), testkit.Must(gppl.NewResidual(ctx, m, d, waves))(t)
	at := plain.X.Slice(3, 5)
	for _, l := range []interface {
		Posterior(ctx context.Context, theta []float64) (*gppl.Posterior, error)
	}{exact, residual} {
		before, _ := testkit.Must2(testkit.Must(l.Posterior(ctx, m.Values()))(t).Latent(ctx, at))(t)
		if err := s.Add(x[:20], y[20:40]); err != nil {
			t.Fatal(err)
		}
		if after, _ := testkit.Must2(testkit.Must(l.Posterior(ctx, m.Values()))(t).Latent(ctx, at))(t); !slices.Equal(before, after) {
			t.Errorf("%T: the posterior moved from %v to %v when its sums changed", l, before, after)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }
