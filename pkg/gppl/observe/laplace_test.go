package observe

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// drawn returns n observations of a likelihood at irregular times, with latent values drawn from the model.
func drawn(t *testing.T, m gppl.Model, l Likelihood, n int, seed uint64) (gppl.Data, []float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 9))
	x, sizes, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 10 * rnd.Float64()
		sizes[i] = float64(1 + rnd.IntN(6))
	}
	draw, err := m.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	g := draw.Y
	for i := range y {
		u := rnd.Float64()
		for l.CDF(y[i], sizes[i], g[i]) < u {
			y[i]++
		}
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	return d, sizes
}

var laplaceCases = []struct {
	kernel     gppl.Kernel
	likelihood Likelihood
}{
	{gppl.SE{Variance: 1.2, Lengthscale: 1.5}, Poisson{}},
	{gppl.Matern32{Variance: 0.8, Lengthscale: 2}, NegBinomial{Shape: 3}},
	{gppl.Matern52{Variance: 2, Lengthscale: 1}, Binomial{}},
	{gppl.Add(gppl.Matern32{Variance: 0.5, Lengthscale: 4}, gppl.Periodic{Variance: 0.4, Lengthscale: 1, Period: 2.5}), Poisson{}},
	{gppl.Laplace{Variance: 0.7, Lengthscale: 1}, Poisson{}},
}

// TestLaplaceGradient compares every derivative with central differences, with and without a mean.
func TestLaplaceGradient(t *testing.T) {
	for _, mean := range []gppl.Mean{nil, gppl.Intercept{}, gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})} {
		for k, c := range laplaceCases {
			m := gppl.Model{Kernel: c.kernel, Noise: 0.05}
			d, sizes := drawn(t, m, c.likelihood, 50, uint64(10+k))
			m.Mean = mean
			loss, err := NewLaplace(t.Context(), m, d, c.likelihood, sizes)
			if err != nil {
				t.Fatal(err)
			}
			theta := gppl.Values(loss.Params())
			grad := make([]float64, len(theta))
			if _, err := loss.ValueGrad(t.Context(), grad, theta); err != nil {
				t.Fatal(err)
			}
			for p, param := range loss.Params() {
				h := 1e-4 * theta[p]
				at := func(share float64) float64 {
					moved := append([]float64(nil), theta...)
					moved[p] += share * h
					v, err := loss.ValueGrad(t.Context(), nil, moved)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
				if math.Abs(grad[p]-want) > 1e-6*(math.Abs(want)+1/theta[p]) {
					t.Errorf("%v, %v, mean %v: ∂/∂%s = %v, by differences %v", c.kernel, c.likelihood, mean, param.Name, grad[p], want)
				}
			}
		}
	}
}

// TestLaplaceOfGaussian wants Laplace's approximation of a Gaussian likelihood to be the exact one.
func TestLaplaceOfGaussian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	x, y, errs := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	for i := range x {
		x[i], y[i], errs[i] = float64(i)+rnd.Float64(), rnd.NormFloat64(), 0.5+rnd.Float64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
		m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 3}, Noise: 0.1, Mean: mean}
		loss, err := NewLaplace(t.Context(), m, d, gaussianErrors{}, errs)
		if err != nil {
			t.Fatal(err)
		}
		known, err := d.WithErrors(errs)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := gppl.NewExact(t.Context(), m, known)
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float64, 3), make([]float64, 3)
		a, err := loss.ValueGrad(t.Context(), got, m.Values())
		if err != nil {
			t.Fatal(err)
		}
		b, err := exact.ValueGrad(t.Context(), want, m.Values())
		if err != nil {
			t.Fatal(err)
		}
		if !scalar.EqualWithinRel(a, b, 1e-12) {
			t.Errorf("%v, exactly %v", a, b)
		}
		for p := range got {
			if !scalar.EqualWithinAbsOrRel(got[p], want[p], 1e-10, 1e-10) {
				t.Errorf("gradient %v, exactly %v", got, want)
			}
		}
	}
}

// gaussianErrors is a Gaussian likelihood whose sizes are standard deviations.
type gaussianErrors struct{ Poisson }

func (gaussianErrors) Check(y, size float64) error   { return nil }
func (gaussianErrors) Guess(y, size float64) float64 { return 0 }
func (gaussianErrors) LogDensity(y, s, g float64) Derivatives {
	z := (y - g) / s
	return Derivatives{-0.5*z*z - math.Log(s) - 0.5*math.Log(2*math.Pi), z / s, -1 / (s * s), 0}
}

// TestPoisson compares with gonum.
func TestPoisson(t *testing.T) {
	for _, c := range []struct{ y, size, g float64 }{{0, 1, -3}, {3, 7, -0.8}} {
		got, want := (Poisson{}).LogDensity(c.y, c.size, c.g).Value, (distuv.Poisson{Lambda: c.size * math.Exp(c.g)}).LogProb(c.y)
		equal(t, "log density", got, want, 1e-12)
	}
}

// TestLaplaceErrors wants data that cannot be to be errors with their index.
func TestLaplaceErrors(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	for want, c := range map[string]struct {
		y, size float64
		l       Likelihood
	}{
		"observe: observation 1: 1.5 is no count: want 0, 1, 2, …":     {1.5, 1, Poisson{}},
		"observe: observation 1: -1 is no count: want 0, 1, 2, …":      {-1, 1, NegBinomial{Shape: 1}},
		"observe: observation 1: 3 successes in 2 trials":              {3, 2, Binomial{}},
		"observe: observation 1: 1.5 trials: want a whole number":      {1, 1.5, Binomial{}},
		"observe: observation 1: a size of 0: want a positive number":  {1, 0, Poisson{}},
		"observe: observation 1: a size of -2: want a positive number": {1, -2, Poisson{}},
	} {
		d, err := gppl.NewData(gppl.Scalars([]float64{0, 1}), []float64{1, c.y})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewLaplace(t.Context(), m, d, c.l, []float64{1, c.size}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d, sizes := drawn(t, m, Poisson{}, 30, 1)
	loss, err := NewLaplace(ctx, m, d, Poisson{}, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loss.ValueGrad(ctx, nil, gppl.Values(loss.Params())); err == nil {
		t.Error("an evaluation goes on after its context has ended")
	}
}

// TestCorrection compares the corrected likelihood of a single observation, and of two, with quadrature.
func TestCorrection(t *testing.T) {
	for _, c := range []struct {
		y []float64
		l Likelihood
	}{{[]float64{0}, Poisson{}}, {[]float64{1}, Binomial{}}, {[]float64{0, 2}, Poisson{}}} {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1.5, Lengthscale: 1}, Noise: 0.01}
		x := []float64{0, 50}[:len(c.y)] // independent
		d, err := gppl.NewData(gppl.Scalars(x), c.y)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := NewLaplace(t.Context(), m, d, c.l, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for _, y := range c.y {
			var p float64
			const h = 0.005
			for g := -15.0; g < 15; g += h {
				p += h * math.Exp(c.l.LogDensity(y, 1, g).Value) * distuv.Normal{Sigma: math.Sqrt(1.51)}.Prob(g)
			}
			want -= math.Log(p)
		}
		theta := gppl.Values(loss.Params())
		value, err := loss.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Fatal(err)
		}
		correction, err := loss.Correct(context.Background(), theta, 20000, 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v of %v: %.4f by Laplace, %.4f ± %.4f corrected, %.4f by quadrature, k̂ = %.2f",
			c.l, c.y, value, value+correction.Nats, correction.StdErr, want, correction.K)
		if math.Abs(value+correction.Nats-want) > 5*correction.StdErr+1e-4 ||
			math.Abs(value-want) < math.Abs(value+correction.Nats-want) {
			t.Errorf("%v of %v: %v by Laplace, %v corrected, want %v", c.l, c.y, value, value+correction.Nats, want)
		}
	}
}

func BenchmarkLaplace(b *testing.B) {
	for _, n := range []int{300, 3000} {
		b.Run(fmt.Sprintf("Poisson/n=%d/kernel=Matern32", n), func(b *testing.B) {
			m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 20}, Noise: 0.01}
			rnd := rand.New(rand.NewPCG(1, 1))
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = float64(i)
				y[i] = float64(rnd.IntN(5))
			}
			d, err := gppl.NewData(gppl.Scalars(x), y)
			if err != nil {
				b.Fatal(err)
			}
			loss, err := NewLaplace(b.Context(), m, d, Poisson{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			theta := gppl.Values(loss.Params())
			grad := make([]float64, len(theta))
			for b.Loop() {
				if _, err := loss.ValueGrad(b.Context(), grad, theta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNoMode: where every count is 0, or all trials succeed, the posterior rises for ever in a coefficient with a flat prior. With
// a prior it has a mode.
func TestNoMode(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 4, 5})}
	for _, c := range []struct {
		likelihood Likelihood
		y          float64
	}{{Poisson{}, 0}, {NegBinomial{Shape: 2}, 0}, {Binomial{}, 0}, {Binomial{}, 7}} {
		d.Y = slices.Repeat([]float64{c.y}, d.X.Len())
		m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 2}, Noise: 1e-3, Mean: gppl.Intercept{}}
		sizes := slices.Repeat([]float64{7}, d.Len())
		loss := testkit.Must(NewLaplace(t.Context(), m, d, c.likelihood, sizes))(t)
		value, err := loss.ValueGrad(t.Context(), nil, gppl.Values(loss.Params()))
		if err == nil || !strings.Contains(err.Error(), "GaussianBeta") {
			t.Errorf("%v, all %v: %v, %v", c.likelihood, c.y, value, err)
		}
		m.Mean = gppl.GaussianBeta{Of: gppl.Intercept{}, Variances: []float64{10}}
		loss = testkit.Must(NewLaplace(t.Context(), m, d, c.likelihood, sizes))(t)
		if _, err := loss.ValueGrad(t.Context(), nil, gppl.Values(loss.Params())); err != nil {
			t.Errorf("%v, all %v, with a prior: %v", c.likelihood, c.y, err)
		}
	}
}

// TestTinyWeights: the value keeps its digits where the W of an observation is tiny, and its pseudo-observation huge: here the
// model expects 9 of 9 successes where there are 5.
func TestTinyWeights(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{0, 3, 5, 8}), Y: []float64{5, 430000, 0, 130000}}
	m := gppl.Model{Kernel: gppl.Matern52{Variance: 16, Lengthscale: 15}, Noise: 7e-5, Mean: gppl.Intercept{}}
	const want = 1165.469
	for _, engine := range []string{"", gppl.EngineDense} {
		loss := testkit.Must(NewLaplace(t.Context(), m, d, Binomial{}, []float64{9, 490000, 256000, 180000}, gppl.WithEngine(engine)))(t)
		for _, grad := range [][]float64{nil, make([]float64, 3)} {
			if value := testkit.Must(loss.ValueGrad(t.Context(), grad, m.Values()))(t); !(math.Abs(value-want) < 2e-3) {
				t.Errorf("engine %q, gradient %v: %v, want %v", engine, grad, value, want)
			}
		}
	}
}
