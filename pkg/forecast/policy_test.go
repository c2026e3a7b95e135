package forecast

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// steps returns the series of f at 0, 1, …, with noise.
func steps(t testing.TB, n int, noise float64, f func(i int) float64) *series.Series {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), f(i)+noise*rnd.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "step"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func automatic(t *testing.T, s *series.Series, o Options) *Analysis {
	t.Helper()
	a, err := Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decoded returns the analysis in the text of a file.
func decoded(t *testing.T, text []byte) (*Analysis, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "analysis.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

// reloaded returns the analysis as it is read after it was saved.
func reloaded(t *testing.T, a *Analysis) *Analysis {
	t.Helper()
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := decoded(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// TestPolicyExact: a series without noise is forecast to many digits. Its likelihood has no maximum, but the noise has a least
// value.
func TestPolicyExact(t *testing.T) {
	for name, f := range map[string]func(i int) float64{
		"line":   func(i int) float64 { return 2*float64(i) + 5 },
		"season": func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / 12) },
	} {
		s := steps(t, 60, 0, f)
		future, err := automatic(t, s, Options{}).Forecast(12)
		if err != nil {
			t.Fatal(err)
		}
		spread := slices.Max(s.Y) - slices.Min(s.Y)
		for i, m := range future.Mean {
			if want := f(60 + i); math.Abs(m-want) > 1e-4*spread || !(future.Lower[i] < want && want < future.Upper[i]) {
				t.Errorf("%s, %d ahead: %.10g, between %.10g and %.10g, want %.10g", name, i+1, m, future.Lower[i], future.Upper[i], want)
			}
		}
	}
}

// TestPolicyNoise: of white noise nothing is forecast but its mean, with bands that hold what they say.
func TestPolicyNoise(t *testing.T) {
	s := steps(t, 80, 1, func(int) float64 { return -5 })
	a := automatic(t, s, Options{})
	if a.Log {
		t.Error("the logarithm of values below zero")
	}
	f, err := a.Forecast(10)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range f.Mean {
		if w := f.Upper[i] - f.Lower[i]; math.Abs(m+5) > 0.5 || w < 3 || w > 6 {
			t.Errorf("step %d: %v with a band of %v, want about −5 and 4", i, m, w)
		}
	}
	white := false
	for _, c := range a.Candidates[:3] {
		white = white || strings.HasPrefix(c.Kernel, "White")
	}
	if !white {
		t.Errorf("noise alone is not among the best three: %+v", a.Candidates[:3])
	}
}

// TestPolicyShort: five observations are enough, and their bands are wide.
func TestPolicyShort(t *testing.T) {
	s := steps(t, 5, 0.1, func(i int) float64 { return float64(i % 3) })
	f, err := automatic(t, s, Options{}).Forecast(3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.X {
		if f.Upper[i]-f.Lower[i] < 1 {
			t.Errorf("step %d: [%v, %v] after five observations between 0 and 2", i, f.Lower[i], f.Upper[i])
		}
	}
}

// TestEvidence: of one parameter, the variance of noise, the evidence is an integral that quadrature can do.
func TestEvidence(t *testing.T) {
	s := steps(t, 200, 1, func(int) float64 { return 0 })
	v, err := newYScale(s, 0, len(s.X), false)
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.White{Variance: 1e-9}, Noise: 0.9}.Fix("variance")
	priors := beliefsOf(stationary{}, m, extent{1, 199}, nil, 1)
	r, _, err := trainWithPriors(context.Background(), v, m, priors, 199, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	loss, err := gppl.NewExact(t.Context(), m, v.data)
	if err != nil {
		t.Fatal(err)
	}
	theta := r.Model.Values()
	found, err := evidenceOf(t.Context(), loss, theta, priors, 200, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	p := priors.weak[len(priors.weak)-1]
	least := testkit.Must(loss.ValueGrad(t.Context(), nil, theta))(t)
	var sum float64
	const step = 0.002
	for u := math.Log(theta[1]) - 1; u < math.Log(theta[1])+1; u += step {
		value, err := loss.ValueGrad(t.Context(), nil, []float64{theta[0], math.Exp(u)})
		if err != nil {
			t.Fatal(err)
		}
		z := (u - p.Mu) / p.Sigma
		sum += step * math.Exp(least-value-0.5*z*z) / (p.Sigma * math.Sqrt(2*math.Pi))
	}
	if want := least - math.Log(sum); math.Abs(found.nats-want) > 0.01 {
		t.Errorf("evidence %v, by quadrature %v", found.nats, want)
	}
}

// curved is a loss ½Σ h u² in u = log θ, which cannot be computed where a u is beyond most.
type curved struct {
	gppl.Loss
	h    []float64
	most float64
}

func (c curved) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	for i, h := range c.h {
		u := math.Log(theta[i])
		if math.Abs(u) > c.most {
			return 0, errors.New("out of range")
		}
		value += 0.5 * h * u * u
		if grad != nil {
			grad[i] = h * u / theta[i]
		}
	}
	return value, nil
}

// TestEvidenceCurvature: the evidence is Laplace's where the curvature is positive definite, and says where it is BIC's.
func TestEvidenceCurvature(t *testing.T) {
	m := gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 1}
	loss, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars([]float64{0, 1}), Y: []float64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	weak := beliefs{weak: []gppl.LogNormal{{Sigma: 1}, {Sigma: 1}}, given: make([]gppl.Prior, 2)}
	for name, test := range map[string]struct {
		c       curved
		want    float64
		laplace bool
	}{
		"a minimum": {curved{loss, []float64{3, 8}, 1}, 0.5 * math.Log(4*9), true},
		"a saddle":  {curved{loss, []float64{-3, 8}, 1}, math.Log(n), false},
		"a corner":  {curved{loss, []float64{3, 8}, 0}, math.Log(n), false},
	} {
		got, err := evidenceOf(t.Context(), test.c, []float64{1, 1}, weak, n, math.Inf(1))
		if err != nil || math.Abs(got.nats-test.want) > 1e-5 || got.laplace != test.laplace {
			t.Errorf("%s: %v, %v, %v; want %v, %v", name, got.nats, got.laplace, err, test.want, test.laplace)
		}
	}
}

// TestStructure: a sum is the same whatever the order of its terms, and not with another period.
func TestStructure(t *testing.T) {
	season := func(period float64) gppl.Kernel {
		return gppl.LocPer{Variance: 0.3, Lengthscale: 96, Period: period, PeriodicLengthscale: 0.8}
	}
	a := structure(stationary{}, []gppl.Kernel{season(12), gppl.SE{Variance: 1, Lengthscale: 3}})
	if b := structure(stationary{}, []gppl.Kernel{gppl.SE{Variance: 2, Lengthscale: 50}, season(12.01)}); a != b {
		t.Errorf("%q and %q", a, b)
	}
	if b := structure(stationary{}, []gppl.Kernel{season(7), gppl.SE{Variance: 1, Lengthscale: 3}}); a == b {
		t.Errorf("both %q", a)
	}
}

// TestChosenPeriods: a period that the data chose pays for the frequencies from which it was chosen; a fixed one, or one with a
// given prior, does not.
func TestChosenPeriods(t *testing.T) {
	m := gppl.Model{Kernel: gppl.LocPer{Variance: 0.3, Lengthscale: 96, Period: 12, PeriodicLengthscale: 0.8}, Noise: 0.1}
	e := extent{step: 1, span: 100}
	prior, err := ParsePrior("period=within(10, 14)")
	if err != nil {
		t.Fatal(err)
	}
	two := gppl.Model{Kernel: gppl.Add(m.Kernel, gppl.LocPer{Variance: 0.3, Lengthscale: 40, Period: 5, PeriodicLengthscale: 0.8}),
		Noise: 0.1}
	for name, test := range map[string]struct {
		b    beliefs
		want float64
	}{
		"chosen":  {beliefsOf(stationary{}, m, e, nil, 1), math.Log(50)},
		"two":     {beliefsOf(stationary{}, two, e, nil, 1), 2 * math.Log(50)},
		"held":    {beliefsOf(stationary{}, m.Fix("period"), e, nil, 1), 0},
		"a prior": {beliefsOf(stationary{}, m, e, []gppl.ParamPrior{prior}, 1), 0},
	} {
		if math.Abs(test.b.chosen-test.want) > 1e-12 {
			t.Errorf("%s: %v nats, want %v", name, test.b.chosen, test.want)
		}
	}
	loss, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars([]float64{0, 1, 2}), Y: []float64{0, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	paid, free := beliefsOf(stationary{}, m, e, nil, 1), beliefsOf(stationary{}, m, e, nil, 1)
	free.chosen = 0
	with, err := evidenceOf(t.Context(), loss, m.Values(), paid, 3, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	without, err := evidenceOf(t.Context(), loss, m.Values(), free, 3, math.Inf(1))
	if err != nil || math.Abs(with.nats-without.nats-math.Log(50)) > 1e-9 {
		t.Errorf("the evidence is %v and %v (%v)", with.nats, without.nats, err)
	}
}

func TestQuantile(t *testing.T) {
	parts := []Part{{Weight: 1, warp: (&series.Series{}).Warp(), Mean: []float64{2}, LatentVar: []float64{0.01}, NoisyVar: []float64{0.25}}}
	if q := quantiles(parts, 0.975, false)[0]; math.Abs(math.Log(q)-2-Quantile95*0.5) > 1e-9 {
		t.Errorf("the quantile of a log-normal is exp %v", math.Log(q))
	}
	// Half at −1 and half at 1, narrow: the median of a mixture that is shifted a little lies where its larger part ends.
	two := []Part{
		{Weight: 0.5, Mean: []float64{-1}, LatentVar: []float64{1}, NoisyVar: []float64{1}},
		{Weight: 0.5, Mean: []float64{1}, LatentVar: []float64{1}, NoisyVar: []float64{1}},
	}
	if q := quantiles(two, 0.5, false)[0]; math.Abs(q) > 1e-9 {
		t.Errorf("the median of a symmetric mixture is %v", q)
	}
}

// TestPeriodGiven: a period that is given is not trained, with kernels that are named and without.
func TestPeriodGiven(t *testing.T) {
	s := steps(t, 60, 0.3, func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / 11.8) })
	for _, o := range []Options{{Kernels: []string{"SE + LocPer"}, Periods: []float64{12}}, {Periods: []float64{12}}} {
		a := automatic(t, s, o)
		for _, p := range a.Result.Params {
			if p.Role == gppl.RolePeriod && (p.Value != 12 || !math.IsNaN(p.StdErrLog)) {
				t.Errorf("%v: period %v ± %v", o.Kernels, p.Value, p.StdErrLog)
			}
		}
	}
}

// If working days have another shape than weekends, a term says so, and the forecast is better than by a season and noise: the
// latest four weeks show it.
func TestFitFindsTheWeekInTheDay(t *testing.T) {
	if testkit.Quick() {
		t.Skip("some seconds")
	}
	rng := rand.New(rand.NewPCG(3, 0))
	of := func(i int) float64 {
		if i/24%7 < 5 {
			return 3 * math.Sin(2*math.Pi*float64(i)/24)
		}
		return math.Cos(2 * math.Pi * float64(i) / 12)
	}
	const n, ahead = 700, 48
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), of(i)+0.3*rng.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "hour"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Periods: []float64{24, 168}, Log: "never", Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Kernel(), "LocPer * Periodic") {
		t.Errorf("%s was chosen", a.Name())
	}
	f, err := a.Forecast(ahead)
	if err != nil {
		t.Fatal(err)
	}
	var square float64
	for i, m := range f.Mean {
		square += (m - of(n+i)) * (m - of(n+i)) / ahead
	}
	if rms := math.Sqrt(square); rms > 0.35 {
		t.Errorf("the forecast errs by %.2f, want 0.35 at most", rms)
	}
}
