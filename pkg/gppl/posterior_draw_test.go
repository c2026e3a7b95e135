package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// drawnPosteriors calls f with posteriors of each engine, of kernels that it takes, with a mean and errors and without.
func drawnPosteriors(t *testing.T, f func(name string, p *Posterior, d Data)) {
	se, laplace := SE{1.1, 2}, Laplace{0.8, 3}
	for i, k := range []Kernel{se, laplace, Matern52{1.2, 4}, Add(Matern32{0.9, 4}, White{0.2}), Add(se, Periodic{0.5, 0.9, 7}),
		LocPer{1, 9, 6, 0.8}, SHO{0.8, 5, 2}, Add(laplace, Cosine{0.3, 6}), Mul(Matern32{1, 12}, Periodic{1, 1, 7}), RQ{1, 2, 1.5},
		Add(se, laplace, White{0.1})} {
		for _, engine := range []string{EngineDense, EngineStateSpace, EngineSpectral, EngineBanded, EngineGridded, EngineToeplitz,
			EngineMixed} {
			rnd := rand.New(rand.NewPCG(uint64(i), 9))
			n := 40
			x, y, e := make([]float64, n), make([]float64, n), make([]float64, n)
			for j := range x {
				if x[j] = 30 * rnd.Float64(); engine == EngineToeplitz {
					x[j] = float64((j * 7) % n)
				}
				y[j], e[j] = 3+math.Sin(x[j])+0.3*rnd.NormFloat64(), 0.1+0.4*rnd.Float64()
			}
			m, d := Model{Kernel: k, Noise: 0.09}, testkit.Must(NewData(Scalars(x), y))(t)
			name := fmt.Sprintf("%v by %s", k, engine)
			if i%2 == 0 {
				m.Mean, name = AddMeans(Intercept{}, GaussianBeta{Of: Linear{}, Variances: []float64{0.3}}), name+" with a mean"
			}
			if i%3 == 1 && engine != EngineToeplitz {
				d, name = testkit.Must(d.WithErrors(e))(t), name+" with errors"
			}
			p, err := NewPosterior(t.Context(), m, d, WithEngine(engine))
			if errors.As(err, new(*Refusal)) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			f(name, p, d)
		}
	}
}

// TestPosteriorDraws: draws by correcting a prior draw have the mean, the covariance and the tails of the posterior, by every
// engine, in the data and beyond, and are the same on one processor. GPPL_LONG=1 takes 100 000 draws for each, and 5000 of kernels
// of many waves by the spectral engine: one of them takes as long as a thousand by others.
func TestPosteriorDraws(t *testing.T) {
	all := testkit.Size(300, 3000, 100000)
	taken, least := map[string]int{}, 1.
	drawnPosteriors(t, func(name string, p *Posterior, d Data) {
		count := all
		if _, few := p.model.Kernel.(SE); p.Engine() == EngineSpectral && !few {
			count = min(all, 5000)
		}
		x := Scalars([]float64{31.5, 4.2, d.X.At(3)[0], 4.2, 17, 45, 800})
		by, estimate := p.corrected(t.Context(), x, count)
		if by == nil {
			t.Errorf("%s: %v", name, estimate.Reason)
			return
		}
		taken[p.Engine()]++
		draws, err := by.draw(t.Context(), count, 7)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if d := draws[0]; d.Engine != p.Engine() || !(d.Bound < 1e-10) || d.Jitter > 1e-9 {
			t.Errorf("%s: by %s, bound %.2g, jitter %.2g", name, d.Engine, d.Bound, d.Jitter)
		}
		mean, cov, err := p.joint(t.Context(), x)
		if err != nil {
			t.Fatal(name, err)
		}
		const white = 1e-3 // so that the covariance of repeated inputs has a factor
		all := mat.NewSymDense(x.Len(), nil)
		for i := range x.Len() {
			for j := range i + 1 {
				all.SetSym(i, j, cov.Entry(i, j))
			}
			all.SetSym(i, i, all.At(i, i)+p.nugget+white)
		}
		values := make([][]float64, count)
		for i := range draws {
			values[i] = withNoise(draws[i].F, white, 1, i)
		}
		least = min(least, CheckDraws(t, name, values, mean, all))
		before := runtime.GOMAXPROCS(1)
		again := testkit.Must(by.draw(t.Context(), 2, 7))(t)
		runtime.GOMAXPROCS(before)
		few := testkit.Must(by.draw(t.Context(), 2, 7))(t)
		if !slices.Equal(few[1].F, again[1].F) {
			t.Errorf("%s: another draw on one processor", name)
		}
	})
	t.Logf("the least level of a test is %.2g", least)
	for _, engine := range []string{EngineDense, EngineStateSpace, EngineSpectral, EngineBanded, EngineGridded, EngineToeplitz, EngineMixed} {
		if t.Logf("%s: %d cases of up to %d draws", engine, taken[engine], all); taken[engine] == 0 {
			t.Errorf("no case of %s", engine)
		}
	}
}

// TestSolver: what an engine solves with is A, as its kernel and its Λ have it.
func TestSolver(t *testing.T) {
	drawnPosteriors(t, func(name string, p *Posterior, d Data) {
		c := testkit.Must(p.predictor.(solver).observations(t.Context()))(t)
		n := c.x.Len()
		rnd := rand.New(rand.NewPCG(4, 4))
		b := make([]float64, n*2)
		for i := range b {
			b[i] = rnd.NormFloat64()
		}
		solved := generalOf(slices.Clone(b), n, 2)
		if err := c.solve(t.Context(), solved); err != nil {
			t.Fatal(name, err)
		}
		back := testkit.Must(covarianceProduct(t.Context(), p.model.Kernel, c.x, c.x, solved))(t)
		k := crossCovariance(c.x, c.x, p.model.Kernel)
		for i := range n {
			for j := range 2 {
				var want float64
				for l := range n {
					want += k.Data[i*n+l] * solved.Data[l*2+j]
				}
				if got := back.Data[i*2+j]; !(math.Abs(got-want) < 1e-9) {
					t.Fatalf("%s: K·α is %v, want %v", name, got, want)
				}
				if got := want + c.lambda[i]*solved.Data[i*2+j]; !(math.Abs(got-b[i*2+j]) < 1e-8) {
					t.Fatalf("%s: A·A⁻¹b is %v, want %v", name, got, b[i*2+j])
				}
			}
		}
	})
}

// TestCovarianceProduct: k(x, t)·α by the state space and by waves equals the product with the covariances.
func TestCovarianceProduct(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	x, at := make([]float64, 50), make([]float64, 70)
	for i := range x {
		x[i] = 30 * rnd.Float64()
	}
	for i := range at {
		if at[i] = 30 * rnd.Float64(); i%9 == 0 {
			at[i] = x[i/9]
		}
	}
	alpha := generalOf(make([]float64, 140), 70, 2)
	for i := range alpha.Data {
		alpha.Data[i] = rnd.NormFloat64()
	}
	for _, k := range []Kernel{Laplace{1, 3}, Matern52{1, 4}, SHO{1, 4, 3}, Rotation{1, 5, 0.8, 0.5, 0.3}, DampedTrend{1, 9, 0.2},
		Mul(Matern32{1, 9}, Periodic{1, 1, 4}), Mul(Laplace{1, 4}, Cosine{2, 3}), SE{1, 2}, RQ{1, 2, 0.5}, LocPer{1, 9, 4, 0.8}} {
		want := generalOf(make([]float64, 100), 50, 2)
		if err := addProduct(t.Context(), want, k, Scalars(x), Scalars(at), alpha); err != nil {
			t.Fatal(err)
		}
		got := generalOf(make([]float64, 100), 50, 2)
		var err error
		if !estimateStates(k, 100).Reason.Given() {
			err = addStates(t.Context(), got, k, Scalars(x), Scalars(at), alpha)
		} else {
			err = addWaves(t.Context(), got, k, 30, Scalars(x), Scalars(at), alpha)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Data {
			if !(math.Abs(v-want.Data[i]) < 1e-10) {
				t.Errorf("%v: entry %d is %v, want %v", k, i, v, want.Data[i])
				break
			}
		}
	}
}

// TestPosteriorDrawChoice: few inputs are drawn by their joint covariance, many by the engine.
func TestPosteriorDrawChoice(t *testing.T) {
	n := 2000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(0.1*float64(i))
	}
	d := testkit.Must(NewData(Scalars(x), y))(t)
	for _, k := range []Kernel{Matern32{1, 20}, SE{1, 20}} {
		p := testkit.Must(NewPosterior(t.Context(), Model{Kernel: k, Noise: 0.1}, d))(t)
		few := testkit.Must(p.Sample(t.Context(), Scalars([]float64{4, 9.5}), 1, 1))(t)
		many := testkit.Must(p.Sample(t.Context(), d.X, 2, 1))(t)
		if few[0].Engine != EngineDense || many[1].Engine != p.Engine() || len(many[1].Y) != n {
			t.Errorf("%v: few by %s, many by %s", k, few[0].Engine, many[0].Engine)
		}
	}
	p := testkit.Must(NewPosterior(t.Context(), Model{Kernel: Matern32{1, 20}, Noise: 0.1}, d, WithMemory(1e6)))(t)
	if _, err := p.Sample(t.Context(), d.X, 1, 1); err != nil {
		t.Errorf("in 1 MB: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Sample(ended, d.X, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// BenchmarkPosteriorDraws is a posterior draw at the data, by size and by what made it.
func BenchmarkPosteriorDraws(b *testing.B) {
	for _, n := range []int{1000, 3319, 10000, 100000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = 0.1*float64(i), math.Sin(0.01*float64(i))
		}
		d := testkit.Must(NewData(Scalars(x), y))(b)
		for _, k := range []Kernel{Matern32{1, 2}, SE{1, 20}} {
			p := testkit.Must(NewPosterior(b.Context(), Model{Kernel: k, Noise: 0.1}, d))(b)
			b.Run(fmt.Sprintf("%T/engine=%s/n=%d", k, p.Engine(), n), func(b *testing.B) {
				by, f := p.corrected(b.Context(), d.X, 1)
				b.ReportMetric(1e3*f.Seconds, "predicted-ms")
				for s := range b.N {
					testkit.Must(by.draw(b.Context(), 1, uint64(s)))(b)
				}
			})
			if n <= 3319 {
				b.Run(fmt.Sprintf("%T/engine=dense/n=%d", k, n), func(b *testing.B) {
					for s := range b.N {
						testkit.Must(p.drawJointly(b.Context(), d.X, 1, uint64(s)))(b)
					}
				})
			}
		}
	}
}
