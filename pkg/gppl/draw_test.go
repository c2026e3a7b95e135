package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// priorCovariance is K and noise at x.
func priorCovariance(t *testing.T, k gppl.Kernel, x gppl.Inputs, noise float64) *mat.SymDense {
	n := x.Len()
	c := make([]float64, n*n)
	if err := gppl.Covariance(t.Context(), c, k, x, x); err != nil {
		t.Fatal(err)
	}
	s := mat.NewSymDense(n, c)
	for i := range n {
		s.SetSym(i, i, s.At(i, i)+noise+capability.Nugget(k))
	}
	return s
}

// drawnInputs are times with repeats, in no order, and times on a grid with places that are missing.
func drawnInputs() map[string][]float64 {
	return map[string][]float64{
		"uneven":   {3.1, 0.2, 5.7, 0.2, 1.9, 1.900001, -2.5, 8.3, 3.1},
		"grid":     {4, 0, 0.5, 1, 1.5, 2.5, 3, 5.5},
		"one":      {7},
		"repeated": {7, 7, 7},
	}
}

var drawEngines = []string{gppl.EngineDense, gppl.EngineStateSpace, gppl.EngineToeplitz, gppl.EngineSpectral, ""}

// TestDraws: prior draws of every kernel, by every engine that can draw it, have the mean, the covariance and the tails of the
// model. GPPL_LONG=1 takes 100 000 draws for each. The engine that is chosen automatically is not tested again where it draws the
// same.
func TestDraws(t *testing.T) {
	const same = 20 // the seed of the draw that is compared
	count := testkit.Size(400, 5000, 100000)
	taken, least := map[string]int{}, 1.
	for i, k := range append(kernels(), changeCases()["change"]) {
		for name, x := range drawnInputs() {
			m, at := gppl.Model{Kernel: k, Noise: 0.003}, gppl.Scalars(x)
			cov := priorCovariance(t, k, at, m.Noise)
			first := map[string]gppl.Draw{}
			for _, engine := range drawEngines {
				if testkit.Quick() && engine == gppl.EngineDense && i%4 != 0 {
					continue
				}
				if testkit.Long() && engine == gppl.EngineSpectral && (name == "uneven") == (i%2 == 0) {
					continue // each kernel at one of two inputs: a draw by waves takes a hundred times as long as others
				}
				draw, err := m.Sampler(t.Context(), at, gppl.WithEngine(engine))
				if err != nil {
					if !errors.As(err, new(*gppl.Refusal)) && !strings.Contains(err.Error(), "circulant") || engine == "" {
						t.Errorf("%v at %s by %s: %v", k, name, engine, err)
					}
					continue
				}
				d := testkit.Must(draw(same))(t)
				if engine != "" && d.Engine != engine && d.Engine != "" || !(d.Bound < 1e-10) {
					t.Fatalf("%v at %s by %q: %s, bound %.2g", k, name, engine, d.Engine, d.Bound)
				}
				if alone := testkit.Must(m.Sample(t.Context(), at, same, gppl.WithEngine(engine)))(t); !slices.Equal(d.Y, alone.Y) {
					t.Errorf("%v at %s by %q: another draw among many", k, name, engine)
				}
				taken[engine]++
				if first[engine] = d; engine == "" && slices.Equal(d.Y, first[d.Engine].Y) {
					continue
				}
				draws, errs := make([][]float64, count), make([]error, count)
				parallel.For(count, func(s int) {
					var d gppl.Draw
					d, errs[s] = draw(uint64(s))
					draws[s] = d.Y
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				least = min(least, gppl.CheckDraws(t, fmt.Sprintf("%v at %s by %q", k, name, engine), draws, make([]float64, len(x)), cov))
			}
		}
	}
	t.Logf("the least level of a test is %.2g", least)
	for _, engine := range drawEngines {
		if t.Logf("%q: %d cases of %d draws", engine, taken[engine], count); taken[engine] < 10 {
			t.Errorf("%q draws %d cases only", engine, taken[engine])
		}
	}
}

// TestDrawsAlong: the covariances of a draw over many inputs, at lags from a step to the range, equal the kernel's. With
// 3000 inputs there is more than one chunk of everything.
func TestDrawsAlong(t *testing.T) {
	n, count := 3000, testkit.Size(60, 300, 2000)
	rnd := rand.New(rand.NewPCG(5, 5))
	uneven, grid := make([]float64, n), make([]float64, n)
	for i := range n {
		uneven[i], grid[i] = 300*rnd.Float64(), 0.1*float64(i)
	}
	slices.Sort(uneven)
	for _, k := range []gppl.Kernel{
		gppl.Matern32{Variance: 0.9, Lengthscale: 4}, gppl.SE{Variance: 1.3, Lengthscale: 2}, gppl.RQ{Variance: 1, Lengthscale: 2, Alpha: 0.7},
		gppl.LocPer{Variance: 1.5, Lengthscale: 30, Period: 3, PeriodicLengthscale: 0.6}, gppl.SHO{Variance: 1.2, Period: 5, Quality: 8},
		gppl.Mul(gppl.Matern52{Variance: 1, Lengthscale: 30}, gppl.Periodic{Variance: 1, Lengthscale: 0.8, Period: 7}),
	} {
		for where, x := range map[string][]float64{"uneven": uneven, "grid": grid} {
			for _, engine := range drawEngines[1:4] {
				m := gppl.Model{Kernel: k}
				lags := []int{0, 1, 7, 100, 900, n - 1}
				sums, squares := make([]float64, len(lags)), make([]float64, len(lags))
				drawn := 0
				for s := range count {
					d, err := m.Sample(t.Context(), gppl.Scalars(x), uint64(s), gppl.WithEngine(engine))
					if err != nil {
						break
					}
					drawn++
					for j, lag := range lags { // from the middle outwards, or from the ends
						a := min(n-1-lag, n/2)
						v := d.F[a] * d.F[a+lag]
						sums[j] += v
						squares[j] += v * v
					}
				}
				if drawn == 0 {
					continue
				}
				for j, lag := range lags {
					a := min(n-1-lag, n/2)
					var want [1]float64
					k.Cov(want[:], []float64{x[a+lag] - x[a]})
					c := float64(count)
					mean := sums[j] / c
					se := math.Sqrt((squares[j]/c - mean*mean) / c)
					if !(math.Abs(mean-want[0]) < 6*se) {
						t.Errorf("%v, %s, %s: covariance at %d steps %.3f ± %.3f, want %.3f", k, where, engine, lag, mean, se, want[0])
					}
				}
			}
		}
	}
}

// TestDrawChoice: what draws, at which sizes; and the same draw whatever the number of processors.
func TestDrawChoice(t *testing.T) {
	grid, uneven := make([]float64, 5000), make([]float64, 5000)
	rnd := rand.New(rand.NewPCG(2, 2))
	for i := range grid {
		grid[i], uneven[i] = float64(i), 5000*rnd.Float64()
	}
	add := gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 20}, gppl.SE{Variance: 1, Lengthscale: 30}, gppl.White{Variance: 0.1})
	own := gppl.Mul(gppl.RQ{Variance: 1, Lengthscale: 9, Alpha: 2}, gppl.Laplace{Variance: 1, Lengthscale: 50})
	for _, c := range []struct {
		k    gppl.Kernel
		x    []float64
		want string
	}{
		{gppl.Matern32{Variance: 1, Lengthscale: 20}, uneven, "statespace"},
		{gppl.Matern52{Variance: 1, Lengthscale: 20}, grid, "statespace"},
		{gppl.SE{Variance: 1, Lengthscale: 20}, uneven, "spectral"},
		{gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 30}, uneven, "spectral"},
		{gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 0.5}, uneven, "spectral"},
		{add, uneven, "statespace + spectral"},
		{own, grid, "toeplitz"},
		{own, uneven[:300], "dense"},
		{gppl.White{Variance: 1}, uneven, ""},
	} {
		m := gppl.Model{Kernel: c.k, Noise: 0.1}
		d, err := m.Sample(t.Context(), gppl.Scalars(c.x), 1)
		if err != nil || d.Engine != c.want {
			t.Errorf("%v: by %q, want %q, %v", c.k, d.Engine, c.want, err)
		}
		before := runtime.GOMAXPROCS(1)
		again := testkit.Must(m.Sample(t.Context(), gppl.Scalars(c.x), 1))(t)
		runtime.GOMAXPROCS(before)
		if !slices.Equal(again.Y, d.Y) {
			t.Errorf("%v: another draw on one processor", c.k)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (gppl.Model{Kernel: add, Noise: 1}).Sample(ended, gppl.Scalars(uneven), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := (gppl.Model{Kernel: own, Noise: 1}).Sample(t.Context(), gppl.Scalars(uneven), 1,
		gppl.WithMemory(1e6)); !errors.As(err, new(*gppl.MemoryError)) {
		t.Errorf("a dense draw in 1 MB: %v", err)
	}
}

// BenchmarkDraws is a prior draw, by size and by what made it.
func BenchmarkDraws(b *testing.B) {
	for _, n := range []int{1000, 3319, 10000, 100000} {
		rnd := rand.New(rand.NewPCG(1, 1))
		uneven, grid := make([]float64, n), make([]float64, n)
		for i := range n {
			uneven[i], grid[i] = 0.1*float64(n)*rnd.Float64(), 0.1*float64(i)
		}
		slices.Sort(uneven)
		for _, k := range []gppl.Kernel{gppl.Matern32{Variance: 1, Lengthscale: 2}, gppl.SHO{Variance: 1, Period: 3, Quality: 4},
			gppl.SE{Variance: 1, Lengthscale: 2}, gppl.RQ{Variance: 1, Lengthscale: 2, Alpha: 1}} {
			for where, x := range map[string][]float64{"uneven": uneven, "grid": grid} {
				for _, engine := range drawEngines[:4] {
					m := gppl.Model{Kernel: k, Noise: 0.1}
					if engine == gppl.EngineDense && (n > 3319 || where == "grid") {
						continue
					}
					if _, err := m.Sample(b.Context(), gppl.Scalars(x), 1, gppl.WithEngine(engine)); err != nil {
						continue
					}
					name, _, _ := strings.Cut(k.String(), "(")
					b.Run(fmt.Sprintf("%s/%s/engine=%s/n=%d", name, where, engine, n), func(b *testing.B) {
						for s := range b.N {
							testkit.Must(m.Sample(b.Context(), gppl.Scalars(x), uint64(s), gppl.WithEngine(engine)))(b)
						}
					})
				}
			}
		}
	}
}
