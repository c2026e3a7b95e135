package gppl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// benchData is n irregular times on [0, 1000] with a noisy smooth signal.
func benchData(tb testing.TB, n int) Data {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1000 * rnd.Float64()
		y[i] = rnd.NormFloat64()
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

var benchModel = Model{Kernel: SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}

// benchLoss times one value and gradient and reports its GF/s, flops being
// those of the matrix products and factorisations alone, beside the GF/s of
// Gemm at operands of a tile's size in the same run, and their ratio.
func benchLoss(b *testing.B, loss Loss, flops float64) {
	theta := Values(loss.Params())
	grad := make([]float64, len(theta))
	evaluate := func() {
		if _, err := loss.ValueGrad(b.Context(), grad, theta); err != nil {
			b.Fatal(err)
		}
	}
	// Engines settle, and compute what they need once: interpolation begins after
	// as many evaluations as it has nodes.
	for i, start := 0, time.Now(); i < 2*nodes && time.Since(start) < 4*time.Second || i == 0; i++ {
		evaluate()
	}
	gemm := gemmRate()
	b.ReportAllocs()
	for b.Loop() {
		evaluate()
	}
	rate := flops * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(rate, "GF/s")
	b.ReportMetric(gemm, "gemmGF/s")
	b.ReportMetric(rate/gemm, "ofGemm")
}

// gemmRate measures blas64.Gemm on all processors at once at the operands of
// the dense PL: a tile times 100 columns. It takes the best of several runs, so
// that the share reported beside it is not flattered by a hiccup.
func gemmRate() float64 {
	const t, k, reps = dense.Tile, 100, 4000
	workers := runtime.GOMAXPROCS(0)
	best := 0.0
	for range 10 {
		start := time.Now()
		parallel.For(workers, func(int) {
			a, x, c := dense.New(t, t), dense.New(t, k), dense.New(t, k)
			for i := range a.Data {
				a.Data[i] = float64(i%7) + 1
			}
			for i := range x.Data {
				x.Data[i] = float64(i%5) + 1
			}
			for range reps {
				blas64.Gemm(blas.NoTrans, blas.NoTrans, 1e-9, a, x, 1, c)
			}
		})
		best = max(best, float64(workers)*reps*2*t*t*k/time.Since(start).Seconds()/1e9)
	}
	return best
}

// BenchmarkPL evaluates PL, value and gradient, with SE l=5 on [0, 1000] and
// k = 100, densely and by the engine that is chosen; n=4000/kernel=Laplace is
// the same with a kernel that has no fast spectral decay.
func BenchmarkPL(b *testing.B) {
	const k = 100
	run := func(name string, n int, m Model, opts ...Option) {
		b.Run(name, func(b *testing.B) {
			d := benchData(b, n)
			p, err := NewProjection(b.Context(), OneHot{}, d.X, k, 1)
			if err != nil {
				b.Fatal(err)
			}
			// Dense numbers, as Sphere has, without its time to orthonormalise.
			rnd := rand.New(rand.NewPCG(1, 1))
			for i := range testkit.Must(p.Omega(b.Context()))(b).RawMatrix().Data {
				testkit.Must(p.Omega(b.Context()))(b).RawMatrix().Data[i] = rnd.NormFloat64() / math.Sqrt(float64(n))
			}
			p.Orthonormal = false
			loss, err := NewProjected(b.Context(), m, d, p, opts...)
			if err != nil {
				b.Fatal(err)
			}
			benchLoss(b, loss, plFlops(n, k))
		})
	}
	for _, n := range []int{1000, 4000, 8000} {
		run(fmt.Sprintf("engine=dense/n=%d", n), n, benchModel, WithEngine(EngineDense))
	}
	for _, n := range []int{1000, 4000, 8000, 100000} {
		run(fmt.Sprintf("engine=auto/n=%d", n), n, benchModel)
	}
	for _, n := range []int{1000, 4000, 8000} {
		run(fmt.Sprintf("engine=auto/n=%d/kernel=Laplace", n), n, Model{Kernel: Laplace{Variance: 1, Lengthscale: 5}, Noise: 0.1})
	}
}

// plFlops counts ½n² pairs, with a product of length k each for the value and
// for the gradient, and the products n×k by k×k around them.
func plFlops(n, k int) float64 {
	nn, kk := float64(n), float64(k)
	return 2*nn*nn*kk + 4*nn*kk*kk
}

// BenchmarkNLL evaluates the exact likelihood, value and gradient, densely and
// by the engine that is chosen: at n = 3319 on the sunspots, at the optimum.
func BenchmarkNLL(b *testing.B) {
	run := func(name string, d Data, m Model, opts ...Option) {
		b.Run(name, func(b *testing.B) {
			loss, err := NewExact(b.Context(), m, d, opts...)
			if err != nil {
				b.Fatal(err)
			}
			n := float64(d.Len())
			benchLoss(b, loss, n*n*n) // n³/3 each for L, L⁻¹ and A⁻¹
		})
	}
	run("engine=dense/n=1000", benchData(b, 1000), benchModel, WithEngine(EngineDense))
	// A range of 33 333 lengthscales, irregular.
	for _, n := range []int{100_000, 1_000_000} {
		run(fmt.Sprintf("engine=auto/n=%d/kernel=SE", n), benchData(b, n), Model{Kernel: SE{1, 0.03}, Noise: 0.1})
	}
	run("engine=toeplitz/n=20000", regularData(b, 20000, 0, 1), Model{Kernel: RQ{1, 20, 1}, Noise: 0.1}, WithEngine(EngineToeplitz))
	benchMixed(b, run)
	// A short SE beside a periodic term, on the grid.
	for _, n := range []int{20_000, 200_000} {
		m := Model{Kernel: Add(SE{1, float64(n) / 200}, Periodic{1, 1, 30}), Noise: 0.1}
		run(fmt.Sprintf("engine=auto/n=%d/irregular/kernel=SE+Periodic", n), benchData(b, n), m)
		run(fmt.Sprintf("engine=auto/n=%d/regular/kernel=SE+Periodic", n), regularData(b, n, 0, 1), m)
	}
	// On irregular times, where no engine but these two takes all of them.
	for _, n := range []int{3319, 4000, 20_000, 100_000} {
		d := benchData(b, n)
		for _, c := range []struct {
			name string
			k    Kernel
		}{
			{"Matern32", Matern32{1, 20}},
			{"SHO", SHO{1, 30, 3}},
			{"Rotation", Rotation{1, 30, 2, 1, 0.5}},
			{"Matern32*Periodic", Mul(Matern32{1, 100}, Periodic{1, 1, 30})},
		} {
			m := Model{Kernel: c.k, Noise: 0.1}
			run(fmt.Sprintf("engine=auto/n=%d/irregular/kernel=%s", n, c.name), d, m)
			if n == 4000 {
				run(fmt.Sprintf("engine=dense/n=%d/irregular/kernel=%s", n, c.name), d, m, WithEngine(EngineDense))
			}
		}
	}
	d := sunspotData(b)
	for _, c := range []struct {
		name string
		m    Model
	}{
		{"SE", Model{Kernel: SE{0.75016, 1.47809}, Noise: 0.11747}},
		{"RQ", Model{Kernel: RQ{0.91918, 1.62394, 0.91385}, Noise: 0.11251}},
		{"LocPer", Model{Kernel: LocPer{0.65126, 1.1595, 1.09749, 6.0013}, Noise: 0.09633}},
		{"Laplace", Model{Kernel: Laplace{0.92592, 3.69201}, Noise: 0.06485}},
		{"Matern32", Model{Kernel: Matern32{0.8, 2.5}, Noise: 0.117}},
		{"Matern52", Model{Kernel: Matern52{0.8, 2}, Noise: 0.117}},
	} {
		for _, engine := range []string{"auto", "dense"} {
			force := engine
			if engine == "auto" {
				force = ""
			}
			run(fmt.Sprintf("engine=%s/n=3319/kernel=%s", engine, c.name), d, c.m, WithEngine(force))
			regular := regularData(b, 3319, 1749, 1./12)
			run(fmt.Sprintf("engine=%s/n=3319/regular/kernel=%s", engine, c.name), regular, c.m, WithEngine(force))
		}
	}
}

// BenchmarkDense evaluates the exact likelihood, value and gradient, of inputs of two axes densely. The GF/s count n³ flops, as
// many as potrf and potri take: go run ./measure/dense compares with OpenBLAS, by turns.
//
//	go test ./pkg/gppl -run none -bench 'Dense$' -cpu 1,2
func BenchmarkDense(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		rnd := rand.New(rand.NewPCG(uint64(n), 5))
		x, y := make([]float64, 2*n), make([]float64, n)
		for i := range y {
			x[2*i], x[2*i+1], y[i] = 10*rnd.Float64(), 10*rnd.Float64(), rnd.NormFloat64()
		}
		for _, k := range []Kernel{SE{1, 1}, Matern32{1, 1}} {
			b.Run(fmt.Sprintf("n=%d/kernel=%s", n, typed.Name(k)), func(b *testing.B) {
				l, err := NewExact(b.Context(), Model{Kernel: k, Noise: 0.1}, Data{X: Vectors(x, 2), Y: y}, WithEngine(EngineDense))
				if err != nil {
					b.Fatal(err)
				}
				benchLoss(b, l, float64(n)*float64(n)*float64(n))
			})
		}
	}
}

// mixedCases are the sums of kernels of BenchmarkNLL on irregular times, on a range of n.
func mixedCases(n float64) map[string]Kernel {
	locper, smooth := LocPer{1, n, 30, 1}, SE{1, 0.1 * n}
	return map[string]Kernel{
		"Matern32+LocPer": Add(Matern32{1, 20}, locper), "Laplace+LocPer+SE": Add(Laplace{1, 20}, locper, smooth),
		"SE+LocPer": Add(smooth, locper),
		"SE+SE":     Add(SE{1, 5}, smooth), "Matern52+Periodic": Add(Matern52{1, 20}, Periodic{1, 1, 30}), "RQ": RQ{1, 20, 1},
		"SE*Periodic": Mul(SE{1, n}, Periodic{1, 1, 30}),
	}
}

// benchMixed evaluates mixedCases on irregular times.
func benchMixed(b *testing.B, run func(name string, d Data, m Model, opts ...Option)) {
	for _, n := range []int{4000, 20000} {
		d := irregularData(b, n)
		cases := mixedCases(float64(n))
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			run(fmt.Sprintf("engine=auto/n=%d/irregular/kernel=%s", n, name), d, Model{Kernel: cases[name], Noise: 0.1})
			if n == 4000 {
				run(fmt.Sprintf("engine=dense/n=%d/irregular/kernel=%s", n, name), d, Model{Kernel: cases[name], Noise: 0.1},
					WithEngine(EngineDense))
			}
		}
	}
}

// BenchmarkWorkdays evaluates kernels at 5000 working days, weekends left out: by the engine that is chosen, and
// Toeplitz on all 7000 calendar days with none missing, which a Toeplitz factor of the working days could at best be as fast as.
func BenchmarkWorkdays(b *testing.B) {
	const days = 7000
	var weekends []int
	for i := range days {
		if i%7 >= 5 {
			weekends = append(weekends, i)
		}
	}
	work, calendar := regularData(b, days, 0, 1, weekends...), regularData(b, days, 0, 1)
	year := LocPer{1, 2000, 365.25, 1}
	cases := map[string]Kernel{"SE+LocPer": Add(SE{1, 500}, year), "Matern32+LocPer": Add(Matern32{1, 50}, year), "RQ": RQ{1, 50, 1}}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		m := Model{Kernel: cases[name], Noise: 0.1}
		for _, c := range []struct {
			engine string
			d      Data
		}{{"", work}, {EngineToeplitz, calendar}} {
			b.Run(fmt.Sprintf("engine=%s/n=%d/kernel=%s", cmp.Or(c.engine, "auto"), c.d.Len(), name), func(b *testing.B) {
				loss, err := NewExact(b.Context(), m, c.d, WithEngine(c.engine))
				if err != nil {
					b.Fatal(err)
				}
				benchLoss(b, loss, 0)
			})
		}
	}
}

// irregularData is n irregular times on [0, n] with noise.
func irregularData(tb testing.TB, n int) Data {
	rnd := rand.New(rand.NewPCG(uint64(n), 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(n)*rnd.Float64(), rnd.NormFloat64()
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// BenchmarkNLLModel evaluates the exact likelihood, PL with the residual and VFE with a mean
// of five columns and with error bars, beside the plain one, by each engine.
func BenchmarkNLLModel(b *testing.B) {
	const n = 2000
	mean := func(x Inputs) Mean {
		return AddMeans(Intercept{}, NewTrend(2, x), Fourier{Period: 365, Harmonics: 1})
	}
	irregular, regular := benchData(b, n), regularData(b, n, 0, 0.5)
	se := Model{Kernel: SE{1, 5}, Noise: 0.1}
	for _, c := range []struct {
		engine string
		d      Data
		m      Model
		errors bool
		loss   func(m Model, d Data, opts ...Option) (Loss, error)
	}{
		{EngineDense, benchData(b, 1000), se, true, exactLoss},
		{EngineBanded, irregular, se, true, exactLoss},
		{EngineStateSpace, irregular, Model{Kernel: Laplace{1, 5}, Noise: 0.1}, true, exactLoss},
		{EngineStateSpace, irregular, Model{Kernel: Matern32{1, 5}, Noise: 0.1}, true, exactLoss},
		{EngineStateSpace, irregular, Model{Kernel: Matern52{1, 5}, Noise: 0.1}, true, exactLoss},
		{EngineStateSpace, irregular, Model{Kernel: Add(Matern32{1, 50}, Laplace{0.3, 5}), Noise: 0.1}, true, exactLoss},
		{EngineSpectral, irregular, Model{Kernel: SE{1, 20}, Noise: 0.1}, true, exactLoss},
		{EngineGridded, irregular, se, false, exactLoss},
		{EngineToeplitz, regular, Model{Kernel: RQ{1, 20, 1}, Noise: 0.1}, false, exactLoss},
		{"PL", irregular, Model{Kernel: SE{1, 20}, Noise: 0.1}, false, residualLoss},
		{"VFE", irregular, Model{Kernel: Matern32{1, 20}, Noise: 0.1}, false, vfeLoss},
	} {
		run := func(name string, m Model, d Data) {
			b.Run(fmt.Sprintf("engine=%s/n=%d/kernel=%s/%s", c.engine, d.Len(), typed.Name(c.m.Kernel), name), func(b *testing.B) {
				var opts []Option
				if c.engine != "PL" && c.engine != "VFE" {
					opts = append(opts, WithEngine(c.engine))
				}
				loss, err := c.loss(m, d, opts...)
				if err != nil {
					b.Fatal(err)
				}
				theta := Values(loss.Params())
				grad := make([]float64, len(theta))
				for b.Loop() {
					if _, err := loss.ValueGrad(b.Context(), grad, theta); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("plain", c.m, c.d)
		m, d := c.m, c.d
		m.Mean = mean(d.X)
		run("mean", m, d)
		if c.errors {
			s := make([]float64, d.Len())
			for i := range s {
				s[i] = 0.1 * float64(1+i%5)
			}
			d.Errors = s
			run("mean+errors", m, d)
		}
	}
}

func exactLoss(m Model, d Data, opts ...Option) (Loss, error) {
	return NewExact(context.Background(), m, d, opts...)
}

func residualLoss(m Model, d Data, opts ...Option) (Loss, error) {
	p, err := SpectralProjection(context.Background(), d.X, 120)
	if err != nil {
		return nil, err
	}
	return NewResidual(context.Background(), m, d, p, opts...)
}

func vfeLoss(m Model, d Data, opts ...Option) (Loss, error) {
	z, err := d.X.KMeans(context.Background(), 100, 1)
	if err != nil {
		return nil, err
	}
	return NewVFE(context.Background(), m, d, z, VFEOptions{}, opts...)
}

// sunspotData reads the file straight, since the readers of pkg/dataset import
// this package.
func sunspotData(b *testing.B) Data {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("GPPL_DATA"), "SN_m_tot_V2.0.csv"))
	if err != nil {
		b.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	var x, y []float64
	for _, row := range strings.Fields(strings.ReplaceAll(string(text), " ", "")) {
		f := strings.Split(row, ";")
		xi, _ := strconv.ParseFloat(f[2], 64)
		yi, _ := strconv.ParseFloat(f[3], 64)
		x, y = append(x, xi), append(y, yi)
	}
	x, y = x[:3319], y[:3319]
	mean, sd := stat.MeanStdDev(y, nil)
	for i := range y {
		y[i] = (y[i] - mean) / sd
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkFitSunspots trains from the paper's start, set-up included.
func BenchmarkFitSunspots(b *testing.B) {
	d := sunspotData(b)
	for _, k := range []Kernel{SE{}, Laplace{}, RQ{}, LocPer{}} {
		m := PaperModel(k)
		for _, loss := range []string{"PL", "NLL"} {
			b.Run("loss="+loss+"/kernel="+typed.Name(k), func(b *testing.B) {
				var r *Result
				for b.Loop() {
					var l Loss
					var err error
					if loss == "NLL" {
						l, err = NewExact(b.Context(), m, d)
					} else {
						var p *Projection
						if p, err = NewProjection(b.Context(), Sphere{}, d.X, 100, 1); err == nil {
							l, err = NewProjected(b.Context(), m, d, p)
						}
					}
					if err != nil {
						b.Fatal(err)
					}
					if r, err = Fit(context.Background(), l, nil, Settings{NoStandardErrors: true}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(r.Value, "nats")
				b.ReportMetric(float64(r.Evaluations), "evaluations")
			})
		}
	}
}

func BenchmarkVFE(b *testing.B) {
	const n, m = 4000, 100
	b.Run(fmt.Sprintf("n=%d/m=%d", n, m), func(b *testing.B) {
		d := benchData(b, n)
		z, err := d.X.KMeans(b.Context(), m, 1)
		if err != nil {
			b.Fatal(err)
		}
		loss, err := NewVFE(b.Context(), benchModel, d, z, VFEOptions{})
		if err != nil {
			b.Fatal(err)
		}
		benchLoss(b, loss, 5*float64(n)*m*m) // nm² for ΦLᵀ = K_xu, 2nm² each for ΦᵀΦ and the weights
	})
}
