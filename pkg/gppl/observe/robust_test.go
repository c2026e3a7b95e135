package observe_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// planted is a sine of n observations with noise of variance 0.01. Every 17th observation is
// off by 3, up or down; where lists them.
func planted(n int) (d gppl.Data, truth []float64, where []int) {
	rnd := rand.New(rand.NewPCG(9, uint64(n)))
	x, y := make([]float64, n), make([]float64, n)
	truth = make([]float64, n)
	for i := range x {
		x[i] = 0.1 * (float64(i) + 0.5*rnd.Float64())
		truth[i] = math.Sin(x[i])
		y[i] = truth[i] + 0.1*rnd.NormFloat64()
		if i%17 == 5 {
			y[i] += 3 * float64(1-2*(i%2))
			where = append(where, i)
		}
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}, truth, where
}

func learnt(t *testing.T, m gppl.Model, d gppl.Data) *gppl.Result {
	t.Helper()
	l, err := gppl.NewExact(t.Context(), testkit.Must(auto.StartFrom(t.Context(), m, d))(t), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gppl.Fit(context.Background(), l, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFitRobust: planted outliers get small weights, f is nearer to the truth than with
// Gaussian noise, the bound falls in every round and says that Student-t noise is better.
func TestFitRobust(t *testing.T) {
	t.Parallel()
	d, truth, where := planted(170)
	for i, m := range []gppl.Model{
		{Kernel: gppl.SE{}}, {Kernel: gppl.Matern32{}}, {Kernel: gppl.SE{}, Mean: gppl.Intercept{}},
	} {
		if testkit.Quick() && i == 0 {
			continue
		}
		gaussian := learnt(t, m, d)
		test, err := observe.FindOutliers(t.Context(), gaussian.Model, d)
		if err != nil {
			t.Fatal(err)
		}
		if !test.Proposed() || test.P > 1e-10 {
			t.Errorf("%v: Student-t noise is not proposed: %v", m.Kernel, test)
		}
		r, err := observe.FitRobust(context.Background(), gaussian.Model, d, observe.RobustSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != gppl.Converged {
			t.Errorf("%v", r)
		}
		for i := 1; i < len(r.Trace); i++ {
			if r.Trace[i] > r.Trace[i-1]+1e-7 {
				t.Errorf("round %d raises the bound from %v to %v", i, r.Trace[i-1], r.Trace[i])
			}
		}
		if !(r.Bound < gaussian.Value-50) {
			t.Errorf("bound %v, with Gaussian noise %v", r.Bound, gaussian.Value)
		}
		for i, w := range r.Weights {
			if off := slices.Contains(where, i); off != (w < 0.05) {
				t.Errorf("%v: observation %d has the weight %.3g; planted: %v", m.Kernel, i, w, off)
			}
		}
		if s := math.Sqrt(r.Model.Noise); s < 0.06 || s > 0.14 {
			t.Errorf("scale %.3g, drawn with 0.1", s)
		}
		robust, err := r.Posterior(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		plain, err := gppl.NewPosterior(t.Context(), gaussian.Model, d)
		if err != nil {
			t.Fatal(err)
		}
		rms := func(p *gppl.Posterior) (sum float64) {
			mean, _ := testkit.Must2(p.Latent(t.Context(), d.X))(t)
			for i, f := range mean {
				sum += (f - truth[i]) * (f - truth[i]) / float64(len(mean))
			}
			return math.Sqrt(sum)
		}
		if with, without := rms(robust), rms(plain); !(with < 0.5*without) {
			t.Errorf("%v: f is off by %.3g with Student-t noise, by %.3g with Gaussian", m.Kernel, with, without)
		}
	}
}

// TestFitRobustGaussian: where the noise is Gaussian, ν is large, the bound equals the bound of
// Gaussian noise, and Student-t noise is proposed no more often than it claims.
func TestFitRobustGaussian(t *testing.T) {
	const series = 60
	proposed := 0
	for seed := range uint64(series) {
		x := make([]float64, 80)
		for i := range x {
			x[i] = float64(i) / 4
		}
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.05}
		draw, err := m.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		y := draw.Y
		d := gppl.Data{X: gppl.Scalars(x), Y: y}
		test, err := observe.FindOutliers(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		if test.Proposed() {
			proposed++
		} else if seed < 3 {
			g := learnt(t, m, d)
			r, err := observe.FitRobust(context.Background(), g.Model, d, observe.RobustSettings{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Nu > 50 && math.Abs(r.Bound-g.Value) > 0.5 {
				t.Errorf("seed %d: bound %.6g with ν = %.3g, Gaussian %.6g", seed, r.Bound, r.Nu, g.Value)
			}
		}
	}
	if proposed > 4 { // 0.6 expected
		t.Errorf("Student-t noise was proposed for %d of %d series with Gaussian noise", proposed, series)
	}
}

// TestFitRobustNu: of Student-t noise, ν and σ are learnt about right.
func TestFitRobustNu(t *testing.T) {
	const n, nu, sigma = 1500, 3, 0.3
	rnd := rand.New(rand.NewPCG(2, 2))
	noise := distuv.StudentsT{Sigma: sigma, Nu: nu, Src: rnd}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 20
		y[i] = 2*math.Sin(x[i]/2) + noise.Rand()
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	start := gppl.Model{Kernel: gppl.Matern52{Variance: 2, Lengthscale: 4}, Noise: 0.2}
	r, err := observe.FitRobust(context.Background(), start, d, observe.RobustSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(math.Log(r.Nu/nu)) > 0.35 || math.Abs(math.Log(r.Model.Noise/(sigma*sigma))) > 0.25 {
		t.Errorf("ν = %.3g and σ = %.3g, drawn with %v and %v", r.Nu, math.Sqrt(r.Model.Noise), nu, sigma)
	}

	// Over uncertain parameters of the kernel, bands are no narrower.
	ahead := gppl.Scalars([]float64{x[n-1] + 3})
	u, _, err := r.PredictUncertain(context.Background(), ahead, draws.UncertainSettings{Draws: 64, Models: 16})
	if err != nil {
		t.Fatal(err)
	}
	known, err := r.Predict(context.Background(), ahead)
	if err != nil {
		t.Fatal(err)
	}
	if wide, narrow := u.Variance()[0], known.Variance()[0]; !(wide > 0.97*narrow) {
		t.Errorf("variance %.4g with uncertain parameters, %.4g with known ones", wide, narrow)
	}

	// The predictive distribution far off: f has its prior there, y − f Student's.
	at := gppl.Scalars([]float64{1e4})
	p, err := r.Predict(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Model.Kernel.Params()[0].Value
	draws := make([]float64, 200_000)
	student := distuv.StudentsT{Sigma: math.Sqrt(r.Model.Noise), Nu: r.Nu, Src: rnd}
	for i := range draws {
		draws[i] = math.Sqrt(f)*rnd.NormFloat64() + student.Rand()
	}
	slices.Sort(draws)
	for _, level := range []float64{0.005, 0.25, 0.5, 0.975, 0.995} {
		want := stat.Quantile(level, stat.Empirical, draws, nil)
		if got := testkit.Must(p.Quantile(t.Context(), level))(t)[0]; math.Abs(got-want) > 0.03*math.Sqrt(f) {
			t.Errorf("quantile %v: %.4g, of draws %.4g", level, got, want)
		}
	}
}

// TestFitRobustRefuses what it cannot do.
func TestFitRobustRefuses(t *testing.T) {
	d, _, _ := planted(40)
	white := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.White{Variance: 0.1}), Noise: 0.1}
	if _, err := observe.FitRobust(context.Background(), white, d, observe.RobustSettings{}); err == nil {
		t.Error("a kernel with white noise is taken")
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	mostly := d
	mostly.Y = make([]float64, d.Len())
	copy(mostly.Y, d.Y[:d.Len()/2-1]) // the others are 0
	if _, err := observe.FitRobust(context.Background(), m, mostly, observe.RobustSettings{}); err == nil ||
		!strings.Contains(err.Error(), "have one value") {
		t.Errorf("more than half of y are 0: %v", err)
	}
}

// TestFitRobustSpikes: a start that has taken the outliers for signal does not end there.
func TestFitRobustSpikes(t *testing.T) {
	d, _, where := planted(170)
	spiky := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 0.05}, Noise: 1e-3}
	r, err := observe.FitRobust(context.Background(), spiky, d, observe.RobustSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range r.Weights {
		if off := slices.Contains(where, i); off != (w < 0.05) {
			t.Errorf("observation %d has the weight %.3g; planted: %v", i, w, off)
		}
	}
}

// TestKnownErrors: Student-t noise does not lose known errors without a word.
func TestKnownErrors(t *testing.T) {
	d, _, _ := planted(40)
	errs := slices.Repeat([]float64{0.1, 0.3}, 20)
	known, err := d.WithErrors(errs)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := d.WithRelativeErrors(errs)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []gppl.Data{known, relative} {
		if _, err := observe.FitRobust(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}, d,
			observe.RobustSettings{}); err == nil || !strings.Contains(err.Error(), "known errors") {
			t.Errorf("Student-t noise with known errors: %v", err)
		}
	}
}
