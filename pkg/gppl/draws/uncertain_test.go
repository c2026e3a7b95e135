package draws_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

func TestMixture(t *testing.T) {
	m := &draws.Mixture{
		Weights:   []float64{0.5, 0.3, 0.2},
		Means:     [][]float64{{0, 1, 2}, {3, 1, 2}, {-1, 1, 4}},
		Variances: [][]float64{{1, 4, 0}, {0.25, 4, 0}, {9, 4, 0}},
	}
	y := []float64{0.7, -2, 3}
	// By draws.
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 200000
	var sum, square [3]float64
	sample := make([][]float64, 3)
	for range n {
		u, c := rnd.Float64(), 0
		for u > m.Weights[c] && c < 2 {
			u -= m.Weights[c]
			c++
		}
		for i := range 3 {
			v := m.Means[c][i] + math.Sqrt(m.Variances[c][i])*rnd.NormFloat64()
			sum[i] += v / n
			square[i] += v * v / n
			sample[i] = append(sample[i], v)
		}
	}
	mean, variance, crps := m.Mean(), m.Variance(), testkit.Must(m.CRPS(t.Context(), y))(t)
	for i := range 3 {
		near(t, "mean", mean[i], sum[i], 0.02)
		near(t, "variance", variance[i], square[i]-sum[i]*sum[i], 0.06)
		near(t, "CRPS", crps[i], crpsOfSample(y[i], sample[i]), 0.01)
	}
	for _, p := range []float64{1e-6, 0.025, 0.5, 0.9} {
		q := testkit.Must(m.Quantile(t.Context(), p))(t)
		near(t, "quantile of equal components", q[1], 1+2*distuv.UnitNormal.Quantile(p), 1e-9)
		var below float64
		for c, w := range m.Weights {
			below += w * distuv.UnitNormal.CDF((q[0]-m.Means[c][0])/math.Sqrt(m.Variances[c][0]))
		}
		near(t, "level of the quantile", below, p, 1e-9)
	}
	near(t, "quantile of points", testkit.Must(m.Quantile(t.Context(), 0.5))(t)[2], 2, 1e-9)
	near(t, "quantile of points", testkit.Must(m.Quantile(t.Context(), 0.9))(t)[2], 4, 1e-9)
	log := testkit.Must(m.LogDensity(t.Context(), y))(t)
	var density float64
	for c, w := range m.Weights {
		density += w * distuv.Normal{Mu: m.Means[c][0], Sigma: math.Sqrt(m.Variances[c][0])}.Prob(y[0])
	}
	near(t, "log density", log[0], math.Log(density), 1e-12)
	near(t, "log density", log[1], distuv.Normal{Mu: 1, Sigma: 2}.LogProb(-2), 1e-12)
	one := &draws.Mixture{Weights: []float64{1}, Means: [][]float64{{1}}, Variances: [][]float64{{4}}}
	z := 0.75 // standard score of 2.5 under N(1, 4)
	want := 2 * (z*(2*distuv.UnitNormal.CDF(z)-1) + 2*distuv.UnitNormal.Prob(z) - 1/math.Sqrt(math.Pi))
	near(t, "CRPS of one component", testkit.Must(one.CRPS(t.Context(), []float64{2.5}))(t)[0], want, 1e-14)
}

// crpsOfSample returns the CRPS of y under the empirical distribution of m values, mean |x_i − y| − ½·mean |x_i − x_j| over all
// pairs (Gneiting and Raftery 2007, eq. 20). Σ_ij |x_i − x_j| = 2·Σ_i (2i + 1 − m)·x_i of the sorted values.
func crpsOfSample(y float64, values []float64) (score float64) {
	x, m := slices.Sorted(slices.Values(values)), float64(len(values))
	for i, v := range x {
		score += math.Abs(v-y)/m - (2*float64(i)+1-m)/(m*m)*v
	}
	return score
}

// halved has half of log y, for y > 0.
type halved struct{}

func (halved) Forward(y float64) float64  { return 0.5 * math.Log(y) }
func (halved) Inverse(z float64) float64  { return math.Exp(2 * z) }
func (halved) LogSlope(y float64) float64 { return -math.Log(2 * y) }

// TestMixtureCRPS compares scores with ∫ (F(v) − 1[v ≥ y])² dv, for random mixtures, some of whose components are far apart, of
// variances that differ by 10⁶, or Gaussian on another scale.
func TestMixtureCRPS(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2006, 1))
	for range 40 {
		m, scaled := new(draws.Mixture), rnd.IntN(2) == 0
		var sum float64
		y, lo, hi, least := 3*rnd.NormFloat64(), math.Inf(1), math.Inf(-1), math.Inf(1)
		for range 1 + rnd.IntN(6) {
			w, mu, sd := rnd.Float64(), 3*rnd.NormFloat64(), math.Pow(10, 3*rnd.Float64()-2)
			sum += w
			from, to := mu-9*sd, mu+9*sd
			if scaled {
				m.Scales = append(m.Scales, nil)
			}
			if scaled && rnd.IntN(2) == 0 {
				mu, sd = 0.3*mu, min(0.5*sd, 0.3)
				from, to = math.Exp(2*(mu-9*sd)), math.Exp(2*(mu+9*sd))
				m.Scales[len(m.Scales)-1] = halved{}
				sd2 := 4 * sd * sd
				one := draws.Mixture{Weights: []float64{1}, Means: [][]float64{{mu}}, Variances: [][]float64{{sd * sd}},
					Scales: []draws.Scale{halved{}}}
				mean := math.Exp(2*mu + 0.5*sd2)
				near(t, "mean", one.Mean()[0], mean, 1e-12*mean)
				near(t, "variance", one.Variance()[0], mean*mean*math.Expm1(sd2), 1e-11*mean*mean)
				least = min(least, 2*sd*math.Exp(2*mu-4*sd))
			} else {
				least = min(least, sd)
			}
			m.Weights, m.Means, m.Variances = append(m.Weights, w), append(m.Means, []float64{mu}), append(m.Variances, []float64{sd * sd})
			lo, hi = min(lo, from, y), max(hi, to, y)
		}
		for c := range m.Weights {
			m.Weights[c] /= sum
		}
		below := func(v float64) (p float64) {
			for c, w := range m.Weights {
				at := v
				if m.Scales != nil && m.Scales[c] != nil {
					if at = math.Inf(-1); v > 0 {
						at = 0.5 * math.Log(v)
					}
				}
				p += w * distuv.UnitNormal.CDF((at-m.Means[c][0])/math.Sqrt(m.Variances[c][0]))
			}
			return p
		}
		integral := func(a, b float64, f func(v float64) float64) (sum float64) { // Simpson's rule
			steps := 2 * min(500_000, 10+int(4*(b-a)/least))
			h := (b - a) / float64(steps)
			for i := range steps + 1 {
				weight := 2.0
				if i%2 == 1 {
					weight = 4
				}
				if i == 0 || i == steps {
					weight = 1
				}
				sum += weight * h / 3 * f(a+h*float64(i))
			}
			return sum
		}
		want := integral(lo, y, func(v float64) float64 { return below(v) * below(v) }) +
			integral(y, hi, func(v float64) float64 { return (1 - below(v)) * (1 - below(v)) })
		got := testkit.Must(m.CRPS(t.Context(), []float64{y}))(t)[0]
		near(t, "CRPS", got, want, 1e-5*want)
		p := 0.01 + 0.98*rnd.Float64()
		v := testkit.Must(m.Quantile(t.Context(), p))(t)[0]
		near(t, "level of the quantile", below(v), p, 1e-9)
		h := 1e-4 * least
		density := (below(v+h) - below(v-h)) / (2 * h)
		near(t, "density", math.Exp(testkit.Must(m.LogDensity(t.Context(), []float64{v}))(t)[0]), density, 1e-4*density)
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// noiseOnly is white noise of an unknown variance, for which everything is known.
func noiseOnly(t *testing.T, n int) (gppl.Model, gppl.Data, float64) {
	data := randomData(t, n, 3)
	var square float64
	for _, y := range data.Y {
		square += y * y
	}
	return gppl.Model{Kernel: gppl.SE{Variance: 1e-14, Lengthscale: 1}, Noise: square / float64(n)}.Fix("variance",
		"lengthscale"), data, square
}

// TestUncertainNoise: with σ² uniform in its log, a new observation is Student-t with n
// degrees of freedom and the scale yᵀy/n; with an inverse gamma prior (a, b), one in σ²,
// with 2a + n and (2b + yᵀy)/(2a + n).
func TestUncertainNoise(t *testing.T) {
	const n, a, b = 8, 2.5, 3.0
	m, data, square := noiseOnly(t, n)
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	for name, c := range map[string]struct {
		loss           gppl.Loss
		degrees, scale float64
	}{
		"uniform in log σ²": {exact, n, square / n},
		"inverse gamma": {testkit.Must(gppl.NewMAP(exact, gppl.ParamPrior{Name: gppl.NoiseName,
			Prior: prior.InverseGamma{Shape: a, Scale: b}}))(t),
			2*a + n, (2*b + square) / (2*a + n)},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			r := testkit.Must(gppl.Fit(ctx, c.loss, nil, gppl.Settings{}))(t)
			u := testkit.Must(draws.NewUncertain(ctx, c.loss, r, draws.UncertainSettings{Draws: 4000, Models: 1000, Seed: 1}))(t)
			if u.Fallback != "" || !(u.K < 0.7) || u.Failed != 0 || len(u.Models) != 1000 || !strings.Contains(u.String(), "k̂") {
				t.Fatalf("%v: %+v", u, u.Fallback)
			}
			condition := func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(ctx, m, data) }
			f := testkit.Must(u.Predict(ctx, gppl.Scalars([]float64{100, 200}), condition))(t)
			want := distuv.StudentsT{Sigma: math.Sqrt(c.scale), Nu: c.degrees}
			for _, p := range []float64{0.75, 0.975, 0.995} {
				got, _ := f.Quantile(ctx, p)
				if math.Abs(got[1]/want.Quantile(p)-1) > 0.02 {
					t.Errorf("quantile at %v: %v, Student-t %v", p, got[1], want.Quantile(p))
				}
			}
			near(t, "log density", testkit.Must(f.LogDensity(ctx, []float64{2, 2}))(t)[0], want.LogProb(2), 0.06)
			// Known parameters have thinner tails.
			if plug := math.Sqrt(r.Model.Noise) * distuv.UnitNormal.Quantile(0.995); plug > 0.9*testkit.Must(f.Quantile(ctx, 0.995))(t)[0] {
				t.Errorf("99 %% band of known parameters %v, of uncertain ones %v", plug, testkit.Must(f.Quantile(ctx, 0.995))(t)[0])
			}
			again := testkit.Must(draws.NewUncertain(ctx, c.loss, r, draws.UncertainSettings{Draws: 4000, Models: 1000, Seed: 1}))(t)
			if again.Models[7].Noise != u.Models[7].Noise || again.K != u.K {
				t.Error("the same seed gives other draws")
			}
		})
	}
}

// TestUncertainLengthscale compares the mean of a parameter with quadrature.
func TestUncertainLengthscale(t *testing.T) {
	data := randomData(t, 40, 9)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.5}.Fix("variance", gppl.NoiseName)
	exact := testkit.Must(gppl.NewExact(t.Context(), m, data))(t)
	loss := testkit.Must(gppl.NewMAP(exact, gppl.ParamPrior{Name: "lengthscale", Prior: prior.InverseGamma{Shape: 4, Scale: 4}}))(t)
	ctx := context.Background()
	r := testkit.Must(gppl.Fit(ctx, loss, nil, gppl.Settings{}))(t)
	u := testkit.Must(draws.NewUncertain(ctx, loss, r, draws.UncertainSettings{Draws: 2000, Models: 2000}))(t)
	if u.Fallback != "" {
		t.Fatal(u)
	}
	density := func(l float64) float64 {
		v, err := loss.ValueGrad(ctx, nil, []float64{1, l, 0.5})
		if err != nil {
			t.Fatal(err)
		}
		return math.Exp(r.Value - v)
	}
	best := r.Model.Kernel.(gppl.SE).Lengthscale
	all := quad.Fixed(density, 0.05*best, 20*best, 400, nil, 0)
	want := quad.Fixed(func(l float64) float64 { return l * density(l) }, 0.05*best, 20*best, 400, nil, 0) / all
	var got float64
	for _, m := range u.Models {
		got += m.Kernel.(gppl.SE).Lengthscale / float64(len(u.Models))
	}
	if math.Abs(got/want-1) > 0.02 {
		t.Errorf("mean lengthscale %v, by quadrature %v (the best is %v)", got, want, best)
	}
}

func TestUncertainFallbacks(t *testing.T) {
	ctx := context.Background()
	m, data, _ := noiseOnly(t, 20)
	exact := testkit.Must(gppl.NewExact(ctx, m, data))(t)
	r := testkit.Must(gppl.Fit(ctx, exact, nil, gppl.Settings{}))(t)

	fixed := testkit.Must(gppl.NewExact(ctx, m.Fix(gppl.NoiseName), data))(t)
	rf := testkit.Must(gppl.Fit(ctx, fixed, nil, gppl.Settings{}))(t)
	if u := testkit.Must(draws.NewUncertain(ctx, fixed, rf, draws.UncertainSettings{}))(t); len(u.Models) != 1 ||
		!strings.Contains(u.Fallback, "no parameter was trained") {
		t.Errorf("nothing trained: %v", u)
	}
	// A posterior that has next to nothing where the curvature was taken.
	heavy := testkit.Must(draws.NewUncertain(ctx, spike{exact, r.Model.Noise}, r, draws.UncertainSettings{Draws: 1000}))(t)
	if len(heavy.Models) != 1 || !strings.Contains(heavy.Fallback, "cannot be trusted: k̂ stays above 0.7 (") || !(heavy.K > 0.7) {
		t.Errorf("a narrow minimum: k̂ = %v, %v", heavy.K, heavy)
	}
	f := testkit.Must(heavy.Predict(ctx, gppl.Scalars([]float64{9}),
		func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(ctx, m, data) }))(t)
	_, v, _ := testkit.Must(gppl.NewPosterior(ctx, r.Model, data))(t).Noisy(ctx, gppl.Scalars([]float64{9}))
	if math.Abs(f.Variance()[0]-v[0]) > 1e-12 || len(f.Weights) != 1 {
		t.Errorf("the fallback forecasts a variance of %v, the learnt model %v", f.Variance()[0], v[0])
	}
	// A maximum.
	upside := testkit.Must(draws.NewUncertain(ctx, negative{exact}, r, draws.UncertainSettings{}))(t)
	if !strings.Contains(upside.Fallback, "curvature") {
		t.Errorf("at a maximum: %v", upside)
	}

	if _, err := draws.NewUncertain(ctx, exact, nil, draws.UncertainSettings{}); err == nil {
		t.Error("no result: no error")
	}
	other := testkit.Must(gppl.NewExact(ctx, gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}, Noise: 1}, data))(t)
	if _, err := draws.NewUncertain(ctx, other, r, draws.UncertainSettings{}); err == nil ||
		!strings.Contains(err.Error(), "3 parameters") {
		t.Errorf("the result of another loss: %v", err)
	}
	if _, err := draws.NewUncertain(ctx, exact, r, draws.UncertainSettings{Draws: -1}); err == nil {
		t.Error("−1 draws: no error")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := draws.NewUncertain(cancelled, exact, r, draws.UncertainSettings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	u := testkit.Must(draws.NewUncertain(ctx, exact, r, draws.UncertainSettings{}))(t)
	if len(u.Models) != 64 {
		t.Errorf("%d models by default", len(u.Models))
	}
	broken := errors.New("broken")
	if _, err := u.Predict(ctx, data.X, func(gppl.Model) (*gppl.Posterior, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("no posterior: %v", err)
	}
}

// spike is a loss with a narrow minimum, beyond which it falls far lower.
type spike struct {
	gppl.Loss
	at float64
}

func (l spike) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	u := math.Log(theta[2] / l.at)
	const c, depth, steep = 1e6, 40, 30
	th := math.Tanh(steep * u)
	if grad != nil {
		clear(grad)
		grad[2] = (0.1*c*u/(1+c*u*u) - 2*depth*steep*th*(1-th*th)) / theta[2]
	}
	return 0.05*math.Log1p(c*u*u) - depth*th*th, nil
}

// TestUncertainSkewed: posteriors that fall to the right far more slowly than to the left,
// which the curvature does not know. Normal draws failed here, with k̂ = 0.54 and 0.61.
func TestUncertainSkewed(t *testing.T) {
	ctx := context.Background()
	m, data, _ := noiseOnly(t, 20)
	exact := testkit.Must(gppl.NewExact(ctx, m, data))(t)
	r := testkit.Must(gppl.Fit(ctx, exact, nil, gppl.Settings{}))(t)
	for right, adapted := range map[float64]bool{1: false, 4: false, 40: true} {
		u := testkit.Must(draws.NewUncertain(ctx, skewed{exact, r.Model.Noise, right}, r,
			draws.UncertainSettings{Draws: 2000, Models: 2000}))(t)
		if u.Fallback != "" || (u.Adapted > 0) != adapted || strings.Contains(u.String(), "adapted") != adapted {
			t.Errorf("%v times as slowly: %v; adapted is to be %v", right, u, adapted)
		}
		var mean float64
		for _, m := range u.Models {
			mean += math.Log(m.Noise/r.Model.Noise) / 0.1 / float64(len(u.Models))
		}
		// Two halves of normals.
		if want := math.Sqrt(2/math.Pi) * (right*right - 1) / (right + 1); math.Abs(mean-want) > 0.1*(1+right) {
			t.Errorf("%v times as slowly: mean %v, want %v", right, mean, want)
		}
	}
}

// skewed is the density of u = log(σ²/at) with a standard deviation of 0.1 to the left and
// right times that to the right.
type skewed struct {
	gppl.Loss
	at, right float64
}

func (l skewed) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	u, sd := math.Log(theta[2]/l.at), 0.1
	if u > 0 {
		sd *= l.right
	}
	if grad != nil {
		clear(grad)
		grad[2] = u / (sd * sd) / theta[2]
	}
	return 0.5 * u * u / (sd * sd), nil
}

// negative is a loss upside down.
type negative struct{ gppl.Loss }

func (l negative) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	v, err := l.Loss.ValueGrad(context.Background(), grad, theta)
	for i := range grad {
		grad[i] = -grad[i]
	}
	return -v, err
}

// TestMixtureWithoutVariance: a component without variance has the density of the limit of small variances.
func TestMixtureWithoutVariance(t *testing.T) {
	inf := math.Inf(1)
	m := draws.Mixture{Weights: []float64{0.5, 0.5, 0}, Means: [][]float64{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}},
		Variances: [][]float64{{0, 0, 0}, {1, 0, 1}, {0, 0, 0}}}
	got := testkit.Must(m.LogDensity(t.Context(), []float64{1, 1.5, 3}))(t)
	if got[0] != inf || got[1] != -inf || math.Abs(got[2]-(math.Log(0.5)-0.5*math.Log(2*math.Pi)-0.5)) > 1e-15 {
		t.Errorf("log densities %v", got)
	}
}

// randomData returns a noisy sine at random places.
func randomData(tb testing.TB, n int, seed uint64) gppl.Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 0.3 * float64(n) * rnd.Float64()
	}
	x[n-1] = x[0]
	for i := range y {
		y[i] = math.Sin(x[i]) + 0.4*rnd.NormFloat64()
	}
	return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(tb)
}

// TestNilLoss: a loss that is nil is named in the panic.
func TestNilLoss(t *testing.T) {
	for want, f := range map[string]func(){
		"draws: NewUncertain: the loss is nil": func() {
			draws.NewUncertain(context.Background(), nil, nil,
				draws.UncertainSettings{})
		},
		"draws: Sample: the loss is nil": func() { draws.Sample(context.Background(), nil, nil, draws.SampleSettings{}) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("the panic says %v, want %q", got, want)
				}
			}()
			f()
		}()
	}
}
