package observe

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func TestCountsBeyondWholeNumbers(t *testing.T) {
	c := NewCounts(NegBinomial{Shape: 0.5}, []float64{45}, []float64{1}, nil)
	for _, mean := range []float64{45, 600} { // the second has quantiles beyond float64
		wide := NewCounts(NegBinomial{Shape: 0.5}, []float64{mean}, []float64{1e4}, nil)
		if score := testkit.Must(wide.CRPS(t.Context(), []float64{3}))(t)[0]; !(score > 0) || math.IsInf(score, 0) {
			t.Errorf("the score is %v", score)
		}
	}
	if q := testkit.Must(c.Quantile(t.Context(), 0.9))(t)[0]; !(q > 1e19 && q < 1e21) || math.Abs(c.CDF(0, q)-0.9) > 1e-6 {
		t.Errorf("the quantile is %v, of probability %v", q, c.CDF(0, q))
	}
}

// TestManyCounts compares distribution functions of large counts with the normal distribution.
func TestManyCounts(t *testing.T) {
	for _, n := range []float64{1e6, 1e9, 1e12, 1e15} {
		for _, z := range []float64{-2, 0, 1.5} {
			want := distuv.UnitNormal.CDF(z)
			if got := (Binomial{}).CDF(math.Floor(0.3*n+z*math.Sqrt(0.21*n)), n, math.Log(0.3/0.7)); !(math.Abs(got-want) < 1e-3) {
				t.Errorf("binomial, %v trials, %v standard deviations: %v, want %v", n, z, got, want)
			}
			if got := (Poisson{}).CDF(math.Floor(n+z*math.Sqrt(n)), n, 0); !(math.Abs(got-want) < 1e-3) {
				t.Errorf("Poisson, mean %v, %v standard deviations: %v, want %v", n, z, got, want)
			}
		}
	}
}

// TestCounts compares a forecast's mean, variance, distribution, quantiles and scores with sums over its probabilities.
func TestCounts(t *testing.T) {
	for _, l := range []Likelihood{Poisson{}, NegBinomial{Shape: 2}, Binomial{}} {
		c := &Counts{Mean: []float64{0.4, -1}, Variance: []float64{0.3, 1e-6}, Sizes: []float64{9, 4}, Likelihood: l}
		mean, variances := testkit.Must2(c.Expected(t.Context()))(t)
		for i := range c.Len() {
			var p []float64
			for y := 0.0; y < 4000 && l.Check(y, c.Sizes[i]) == nil; y++ {
				at := []float64{0, 0}
				at[i] = y
				p = append(p, math.Exp(testkit.Must(c.LogDensity(t.Context(), at))(t)[i]))
			}
			var m, v, cumulated float64
			for y, p := range p {
				m += float64(y) * p
			}
			for y, p := range p {
				v += p * (float64(y) - m) * (float64(y) - m)
			}
			if !scalar.EqualWithinAbs(floats.Sum(p), 1, 1e-9) || !scalar.EqualWithinRel(mean[i], m, 1e-8) ||
				!scalar.EqualWithinRel(variances[i], v, 1e-7) {
				t.Errorf("%v: probabilities sum to %v, mean %v, want %v, variance %v, want %v", l, floats.Sum(p), mean[i], m, variances[i], v)
			}
			for y, each := range p[:min(len(p), 60)] {
				cumulated += each
				if got := c.CDF(i, float64(y)); !scalar.EqualWithinAbs(got, cumulated, 1e-9) {
					t.Errorf("%v: P(Y ≤ %d) = %v, want %v", l, y, got, cumulated)
				}
				if q := testkit.Must(c.Quantile(t.Context(), cumulated-1e-7))(t)[i]; each > 1e-6 && q != float64(y) {
					t.Errorf("%v: quantile %v is %v, want %d", l, cumulated, q, y)
				}
			}
			want, f, seen := 0.0, 0.0, []float64{2, 2}
			for y, p := range p {
				f += p
				if float64(y) >= seen[i] {
					want += (1 - f) * (1 - f)
				} else {
					want += f * f
				}
			}
			if got := testkit.Must(c.CRPS(t.Context(), seen))(t)[i]; !scalar.EqualWithinAbsOrRel(got, want, 1e-7, 1e-6) {
				t.Errorf("%v: CRPS %v, want %v", l, got, want)
			}
		}
	}
}

// TestCountsCalibrated fits simulated counts and requires the randomised PIT of the following counts to be uniform, by Kolmogorov
// and Smirnov's test at a level of one in ten thousand.
func TestCountsCalibrated(t *testing.T) {
	series := testkit.Size(30, 60, 200)
	for _, c := range []struct {
		l    Likelihood
		size float64
	}{{Poisson{}, 5}, {NegBinomial{Shape: 2}, 5}, {Binomial{}, 5}, {Binomial{}, 1}} {
		l := c.l
		var pit []float64
		for seed := range uint64(series) {
			m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.7, Lengthscale: 8}, Noise: 1e-4}
			const n, ahead = 80, 4
			x, sizes, y := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], sizes[i] = float64(i), c.size
			}
			draw, err := m.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			g := draw.Y
			rnd := rand.New(rand.NewPCG(seed, 5))
			for i := range y {
				for u := rnd.Float64(); l.CDF(y[i], sizes[i], g[i]) < u; y[i]++ {
				}
			}
			d, err := gppl.NewData(gppl.Scalars(x[:n-ahead]), y[:n-ahead])
			if err != nil {
				t.Fatal(err)
			}
			fit, err := FitLaplace(context.Background(), m.Fix(gppl.NoiseName), d, l, sizes[:n-ahead],
				gppl.Settings{NoStandardErrors: true})
			if err != nil {
				t.Fatal(err)
			}
			forecast, err := fit.Predict(context.Background(), gppl.Scalars(x[n-ahead:]), sizes[n-ahead:])
			if err != nil {
				t.Fatal(err)
			}
			u := make([]float64, ahead)
			for i := range u {
				u[i] = rnd.Float64()
			}
			pit = append(pit, testkit.Must(forecast.PIT(t.Context(), y[n-ahead:], u))(t)[ahead-1]) // one a series: they are independent
		}
		slices.Sort(pit)
		uniform := make([]float64, 2000)
		for i := range uniform {
			uniform[i] = (float64(i) + 0.5) / 2000
		}
		distance := stat.KolmogorovSmirnov(pit, nil, uniform, nil)
		if limit := math.Sqrt(-0.5*math.Log(0.5e-4)) / math.Sqrt(float64(len(pit))); distance > limit {
			t.Errorf("%v of size %v: the PIT is %v away from uniform, at most %v by chance", l, c.size, distance, limit)
		} else {
			t.Logf("%v of size %v: %d series, the PIT is %.3f away from uniform (%.3f at one in ten thousand)",
				l, c.size, len(pit), distance, limit)
		}
	}
}

// TestFitLaplaceShape wants the shape of overdispersed counts to be learnt, and its standard error to hold it.
func TestFitLaplaceShape(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.5, Lengthscale: 30}, Noise: 1e-4}
	n := 400
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	draw, err := m.Sample(t.Context(), gppl.Scalars(x), 3, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	g := draw.Y
	truth := NegBinomial{Shape: 2}
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range y {
		for u := rnd.Float64(); truth.CDF(y[i], 20, g[i]) < u; y[i]++ {
		}
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := FitLaplace(context.Background(), m.Fix(gppl.NoiseName), d, NegBinomial{Shape: 20}, slices.Repeat([]float64{20}, n),
		gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	shape := fit.Params[len(fit.Params)-1]
	if off := math.Abs(math.Log(shape.Value / 2)); !(off < 4*shape.StdErrLog) || !(shape.StdErrLog < 0.5) {
		t.Errorf("a shape of %v, standard error of its logarithm %v, drawn with 2", shape.Value, shape.StdErrLog)
	}
	if fit.Status != gppl.Converged {
		t.Errorf("%v: %v", fit.Status, fit.Reason)
	}
}

func ExampleFitLaplace() {
	ctx := context.Background()
	// Counts whose rate rises and falls.
	x, y := make([]float64, 96), make([]float64, 96)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = float64(i)
		rate := math.Exp(1.5 + math.Sin(x[i]/10))
		for u := rnd.Float64(); (Poisson{}).CDF(y[i], 1, math.Log(rate)) < u; y[i]++ {
		}
	}
	counts, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	m := gppl.Model{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 10}, Noise: 1e-4, Mean: gppl.Intercept{}}
	fit, err := FitLaplace(ctx, m.Fix(gppl.NoiseName), counts, Poisson{}, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	next, err := fit.Predict(ctx, gppl.Scalars([]float64{50, 97}), nil)
	if err != nil {
		panic(err)
	}
	mean, _, err := next.Expected(ctx)
	if err != nil {
		panic(err)
	}
	most, err := next.Quantile(ctx, 0.95)
	if err != nil {
		panic(err)
	}
	fmt.Println(fit.Status)
	fmt.Printf("expected %.1f and %.1f, at most %v with a probability of 95 %%\n", mean[0], mean[1], most)
	// Output:
	// converged
	// expected 1.9 and 3.6, at most [4 8] with a probability of 95 %
}

// TestMixed compares a mixture with the weighted sums of its components.
func TestMixed(t *testing.T) {
	a := NewCounts(Poisson{}, []float64{0.5, 2}, []float64{0.2, 0.1}, nil)
	b := NewCounts(NegBinomial{Shape: 1.5}, []float64{1, -1}, []float64{0.4, 0.3}, nil)
	const w = 0.3
	m := Mixed([]float64{w, 1 - w}, []*Counts{a, b})
	meanA, varA := testkit.Must2(a.Expected(t.Context()))(t)
	meanB, varB := testkit.Must2(b.Expected(t.Context()))(t)
	mean, variances := testkit.Must2(m.Expected(t.Context()))(t)
	y := []float64{1, 3}
	logA, logB, logs := testkit.Must(a.LogDensity(t.Context(), y))(t), testkit.Must(b.LogDensity(t.Context(), y))(t), testkit.Must(m.LogDensity(t.Context(), y))(t)
	for i := range y {
		equal(t, "mean", mean[i], w*meanA[i]+(1-w)*meanB[i], 1e-12)
		by := meanA[i] - meanB[i]
		equal(t, "variance", variances[i], w*varA[i]+(1-w)*varB[i]+w*(1-w)*by*by, 1e-9)
		equal(t, "CDF", m.CDF(i, y[i]), w*a.CDF(i, y[i])+(1-w)*b.CDF(i, y[i]), 1e-12)
		equal(t, "log density", logs[i], math.Log(w*math.Exp(logA[i])+(1-w)*math.Exp(logB[i])), 1e-12)
	}
	if a.weight != 0 || a.more != nil {
		t.Error("a component was changed")
	}
}

// TestLaplaceGaussian conditions the Gaussian data of Laplace's method by hand, and begins Newton's method at a mode: neither
// changes the forecast.
func TestLaplaceGaussian(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.6, Lengthscale: 5}, Noise: 0.02}
	d, sizes := drawn(t, m, Poisson{}, 40, 3)
	loss := testkit.Must(NewLaplace(t.Context(), m, d, Poisson{}, sizes))(t)
	theta, ctx, x := gppl.Values(loss.Params()), t.Context(), gppl.Scalars([]float64{3, 41})
	model, data, err := loss.Gaussian(ctx, theta)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := gppl.NewPosterior(ctx, model, data)
	if err != nil {
		t.Fatal(err)
	}
	mean, variances, _ := posterior.Noisy(ctx, x)
	p := testkit.Must(loss.Predict(ctx, theta, x, nil))(t)
	other := slices.Clone(theta)
	other[1] *= 1.5
	started := testkit.Must(loss.StartAt(ctx, other))(t)
	value, again := testkit.Must(loss.ValueGrad(ctx, nil, theta))(t), testkit.Must(started.ValueGrad(ctx, nil, theta))(t)
	equal(t, "the loss from another start", again, value, 1e-8)
	for i := range mean {
		equal(t, "mean", mean[i], p.Mean[i], 1e-9)
		equal(t, "variance", variances[i], p.Variance[i], 1e-9)
	}
}

// TestLaplaceNugget gives white noise of the kernel the part of the noise of the model: the loss and the forecast stay.
func TestLaplaceNugget(t *testing.T) {
	k := gppl.Matern32{Variance: 0.6, Lengthscale: 5}
	m := gppl.Model{Kernel: k, Noise: 0.3}
	d, sizes := drawn(t, m, Poisson{}, 40, 4)
	white := gppl.Model{Kernel: gppl.Add(k, gppl.White{Variance: 0.2}), Noise: 0.1}
	a, b := testkit.Must(NewLaplace(t.Context(), m, d, Poisson{}, sizes))(t), testkit.Must(NewLaplace(t.Context(), white, d, Poisson{}, sizes))(t)
	gradA, gradB := make([]float64, 3), make([]float64, 4)
	valueA, valueB := testkit.Must(a.ValueGrad(t.Context(), gradA, m.Values()))(t), testkit.Must(b.ValueGrad(t.Context(), gradB, white.Values()))(t)
	equal(t, "the loss", valueB, valueA, 1e-7)
	equal(t, "its slope in the noise", gradB[3], gradA[2], 1e-4)
	equal(t, "and in the variance of the white noise", gradB[2], gradA[2], 1e-4)
}

// equal fails the test unless got is within tolerance of want, absolutely or relatively.
func equal(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !scalar.EqualWithinAbsOrRel(got, want, tolerance, tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
