package gppl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// A columnCase is an engine on the line, and kernels that it takes.
type columnCase struct {
	name    string
	of      func(l *observed.Line) exactEngine
	kernels []Kernel
	regular bool // the engine wants a constant step
	known   bool // the engine takes known errors
	scaled  bool // the engine takes errors that are known up to their scale
}

var columnCases = []columnCase{
	{EngineStateSpace, func(l *observed.Line) exactEngine { return newStateSpaceExact(l) },
		[]Kernel{Laplace{1, 5}, Matern32{0.7, 8}, Matern52{1.2, 6}, Add(Matern32{1, 50}, Laplace{0.3, 2}, White{0.1}),
			Add(Matern52{1, 20}, Matern52{0.4, 3})}, false, true, true},
	{EngineBanded, func(l *observed.Line) exactEngine { return newBandedExact(l) },
		[]Kernel{SE{1, 3}, Matern32{0.7, 2}, Add(SE{1, 2}, Mul(SE{0.5, 4}, Periodic{1, 1, 5}), White{0.1})}, false, true, true},
	{EngineToeplitz, func(l *observed.Line) exactEngine {
		return newToeplitzExact(l, options{Limits: choice.Limits{Memory: choice.DefaultMemory}})
	},
		[]Kernel{SE{1, 3}, RQ{0.7, 4, 0.8}, Add(Laplace{1, 9}, Periodic{0.5, 1, 12}, White{0.1})}, true, false, false},
	{EngineMixed, func(l *observed.Line) exactEngine { return newMixedExact(l, options{tolerance: 1e-12}) },
		[]Kernel{Periodic{1, 1, 7}, LocPer{1, 90, 5, 1}, Add(SE{1, 60}, Periodic{0.5, 1, 3.7}, White{0.1}),
			Add(Laplace{1, 9}, Periodic{0.5, 1, 3.7})}, false, true, true},
	{EngineSpectral, func(l *observed.Line) exactEngine { return newSpectralExact(l, options{tolerance: 1e-12}) },
		[]Kernel{SE{1, 12}, Add(SE{1, 15}, Mul(SE{0.5, 40}, Periodic{1, 1, 30}), White{0.1})}, false, true, true},
	{EngineGridded, func(l *observed.Line) exactEngine { return newGriddedExact(l) },
		[]Kernel{SE{1, 3}, Add(SE{0.7, 9}, White{0.1})}, false, false, true},
	{EngineMixed, newOnGrid,
		[]Kernel{Add(SE{1, 0.7}, Periodic{0.5, 1, 3.7}), Add(SE{1, 60}, SE{0.5, 0.6}, White{0.1})}, false, false, false},
}

// TestColumnCases: every engine of series has a case of several columns.
func TestColumnCases(t *testing.T) {
	for _, e := range seriesEngines {
		if !slices.ContainsFunc(columnCases, func(c columnCase) bool { return c.name == e.name }) {
			t.Errorf("the %s engine has no case in columnCases", e.name)
		}
	}
}

// onGrid is a mixed engine whose base is on a grid, however few data there are.
type onGrid struct{ *mixedExact }

func newOnGrid(l *observed.Line) exactEngine {
	e := newMixedExact(l, options{tolerance: 1e-12, posterior: true})
	e.favour = math.Inf(1)
	return onGrid{e}
}

func (e onGrid) factor(m *compiled) (exactFactor, error) {
	f, err := e.mixedExact.factor(m)
	if err == nil && f.(*mixedFactor).which != gridBase {
		return nil, fmt.Errorf("%v is not on a grid", m.kernel)
	}
	return f, err
}

// columnSeries is n inputs, not sorted, with y, a constant, a trend and known errors.
func columnSeries(n int, regular bool) (x Inputs, columns blas64.General, known []float64) {
	rnd := rand.New(rand.NewPCG(uint64(n), 77))
	at, columns, known := make([]float64, n), dense.New(n, 3), make([]float64, n)
	for i := range at {
		at[i] = float64(n) * rnd.Float64()
		if regular {
			at[i] = float64(i + i/50) // a place in fifty is missing
		}
		copy(columns.Data[3*i:], []float64{rnd.NormFloat64(), 1, at[i]/float64(n) - 0.5})
		known[i] = 0.3 * rnd.ExpFloat64()
	}
	return Scalars(at), columns, known
}

// answers is all that a factor says of its columns.
type answers struct {
	logDet    float64
	gram      blas64.General
	grad      []float64
	means     blas64.General
	variances []float64
	cov       *dense.Lower
}

// answersOf asks one factor for all but the posterior, and another for that.
func answersOf(e exactEngine, m *compiled, c int, r blas64.General, at Inputs) (a answers, err error) {
	if why := e.estimate(m).Reason; why.Given() {
		return a, fmt.Errorf("%s: %v", e.name(), why)
	}
	f, err := e.factor(m)
	if err != nil {
		return a, err
	}
	a.logDet, a.gram, a.grad = f.logDet(), dense.New(c, c), make([]float64, len(m.kernel.Params())+1)
	f.gram(a.gram)
	err = f.gradient(a.grad, r)
	f.release()
	if err != nil {
		return a, fmt.Errorf("%s, %v: %w", e.name(), m.kernel, err)
	}
	if f, err = e.factor(m); err != nil {
		return a, err
	}
	f.gram(dense.New(c, c))
	p := f.posterior()
	a.means, a.variances, a.cov = dense.New(at.Len(), c), make([]float64, at.Len()), dense.NewLower(at.Len())
	if err := p.latent(context.Background(), a.means, a.variances, at); err != nil {
		return a, err
	}
	means := dense.New(at.Len(), c)
	if err := p.joint(context.Background(), means, a.cov, at); err != nil {
		return a, err
	}
	for i, v := range means.Data {
		if math.Abs(v-a.means.Data[i]) > 1e-9*(1+math.Abs(v)) {
			return a, fmt.Errorf("%s: mean %d is %v, jointly %v", e.name(), i, a.means.Data[i], v)
		}
	}
	return a, nil
}

// TestSeveralColumns compares each engine with the dense one: y and the basis of a
// mean, any combination of them in the gradient, with and without known errors.
func TestSeveralColumns(t *testing.T) {
	t.Parallel()
	n := testkit.Size(100, 230, 230)
	for _, c := range columnCases {
		for i, k := range c.kernels {
			x, columns, known := columnSeries(n, c.regular)
			scale := make([]float64, n)
			for i := range scale {
				scale[i] = math.Exp(math.Sin(float64(i)))
			}
			for _, rows := range []observed.Noise{{}, observed.NewNoise(nil, known), observed.NewNoise(scale, nil),
				observed.NewNoise(scale, known)} {
				if rows.Known != nil && !c.known || rows.Scale != nil && !c.scaled {
					continue
				}
				l, reference := observed.Sorted(x.at), newDenseExact(x, columns, rows)
				l.SetColumns(columns)
				l.SetNoise(rows)
				engine, m := c.of(l), compiledAt(k, 0.2)
				rnd := rand.New(rand.NewPCG(uint64(i), 78))
				far := 30
				if c.name == EngineMixed && !c.known { // on a grid as long
					far = 3
				}
				at := Scalars([]float64{-40, x.at[3], x.at[7] + 1e-3, 0.4 * float64(n), 0.71 * float64(n), float64(n + 2), float64(far * n)})
				for _, cols := range []int{1, 2, 3} {
					r := dense.New(3, cols)
					for j := range r.Data {
						r.Data[j] = rnd.NormFloat64()
					}
					name := fmt.Sprintf("%s, %v, R 3×%d, errors %v, scaled %v", c.name, k, cols, rows.Known != nil, rows.Scale != nil)
					got, err := answersOf(engine, m, 3, r, at)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					want, err := answersOf(reference, m, 3, r, at)
					if err != nil {
						t.Fatal(err)
					}
					within := func(what string, got, want []float64) {
						var size float64
						for _, v := range want {
							size = max(size, math.Abs(v))
						}
						for j, v := range got {
							if !(math.Abs(v-want[j]) <= 1e-8*(1+size)) {
								t.Errorf("%s: %s is %v, dense %v", name, what, got, want)
								return
							}
						}
					}
					within("log|A|", []float64{got.logDet}, []float64{want.logDet})
					within("CᵀA⁻¹C", got.gram.Data, want.gram.Data)
					within("the gradient", got.grad, want.grad)
					within("the posterior mean", got.means.Data, want.means.Data)
					within("the posterior variance", got.variances, want.variances)
					within("the posterior covariance", got.cov.At(0, 0).Data, want.cov.At(0, 0).Data)
				}
			}
		}
	}
}

// TestEnginesTogether: goroutines that share an engine and a posterior get the
// digits that one alone gets.
func TestEnginesTogether(t *testing.T) {
	const n, goroutines = 150, 3
	for _, c := range columnCases {
		x, columns, _ := columnSeries(n, c.regular)
		l := observed.Sorted(x.at)
		l.SetColumns(columns)
		engine, at := c.of(l), Scalars([]float64{-40, 0.4 * n, 0.71 * n, n + 2})
		r := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, -0.4, 2}}
		want := make([]answers, len(c.kernels))
		for i, k := range c.kernels {
			var err error
			if want[i], err = answersOf(c.of(l), compiledAt(k, 0.2), 3, r, at); err != nil {
				t.Fatal(err)
			}
		}
		f, err := engine.factor(compiledAt(c.kernels[0], 0.2))
		if err != nil {
			t.Fatal(err)
		}
		f.gram(dense.New(3, 3))
		shared := f.posterior()
		var wait sync.WaitGroup
		for g := range goroutines {
			wait.Go(func() {
				for turn := range 2 * len(c.kernels) {
					i := (g + turn) % len(c.kernels)
					got, err := answersOf(engine, compiledAt(c.kernels[i], 0.2), 3, r, at)
					if err != nil {
						t.Error(err)
						return
					}
					means, variances := dense.New(at.Len(), 3), make([]float64, at.Len())
					if err := shared.latent(context.Background(), means, variances, at); err != nil {
						t.Error(err)
					}
					for j, v := range got.grad {
						if v != want[i].grad[j] {
							t.Errorf("%s, %v: gradient %v, alone %v", c.name, c.kernels[i], got.grad, want[i].grad)
							break
						}
					}
					for j, v := range means.Data {
						if v != want[0].means.Data[j] {
							t.Errorf("%s: means %v, alone %v", c.name, means.Data, want[0].means.Data)
							break
						}
					}
				}
			})
		}
		wait.Wait()
	}
}

// TestHistory: engines on sums over the data give the digits that they have alone, whether the frequencies asked for before
// were higher or lower.
func TestHistory(t *testing.T) {
	const n = 300
	x, columns, _ := columnSeries(n, false)
	l := observed.Sorted(x.at)
	l.SetColumns(columns)
	r, at := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, -0.4, 2}}, Scalars([]float64{-40, 0.4 * n, n + 2})
	onSums := func(l *observed.Line) exactEngine {
		e := newMixedExact(l, options{tolerance: 1e-12})
		e.favour = math.Inf(1)
		return e
	}
	spectral := func(l *observed.Line) exactEngine { return newSpectralExact(l, options{tolerance: 1e-12}) }
	for _, c := range []struct {
		name string
		of   func(l *observed.Line) exactEngine
		at   func(short float64) Kernel
	}{
		{"spectral", spectral, func(s float64) Kernel { return SE{1, 60 * s} }},
		{"spectral with a window", spectral, func(s float64) Kernel { return Mul(SE{1, 900 * s}, Periodic{0.5, s, 70}) }},
		{"gridded", func(l *observed.Line) exactEngine { return newGriddedExact(l) },
			func(s float64) Kernel { return SE{1, 60 * s} }},
		{"waves", onSums, func(s float64) Kernel { return Add(SE{1, 60 * s}, Periodic{0.5, s, 30}) }},
		{"moving waves", onSums, func(s float64) Kernel { return LocPer{1, 90, s, 30} }},
		{"a base on a grid", newOnGrid, func(s float64) Kernel { return Add(SE{1, 0.7 * s}, Periodic{0.5, 1, 3.7}) }},
	} {
		answer := func(e exactEngine, short float64) []float64 {
			a := testkit.Must(answersOf(e, compiledAt(c.at(short), 0.2), 3, r, at))(t)
			return slices.Concat([]float64{a.logDet}, a.gram.Data, a.grad, a.means.Data, a.variances, a.cov.At(0, 0).Data)
		}
		shared := c.of(l)
		for _, short := range []float64{1, 0.6, 1, 0.3, 0.5, 0.9, 0.6, 0.3, 1} {
			if got, alone := answer(shared, short), answer(c.of(l), short); !slices.Equal(got, alone) {
				t.Errorf("%s at %v: %v, alone %v", c.name, short, got[:4], alone[:4])
			}
		}
	}
}

// TestSteadyStateAllocations: an evaluation allocates nothing that grows with n.
func TestSteadyStateAllocations(t *testing.T) {
	const n = 2000
	for _, c := range columnCases {
		if c.name == EngineMixed && !c.known { // on a grid it allocates 20 kB, whatever n
			continue
		}
		for _, cols := range []int{1, 3} {
			x, all, _ := columnSeries(n, c.regular)
			columns := dense.New(n, cols)
			for i := range n {
				copy(columns.Data[i*cols:][:cols], all.Data[i*all.Stride:])
			}
			l := observed.Sorted(x.at)
			l.SetColumns(columns)
			e, m := c.of(l), compiledAt(c.kernels[0], 0.2)
			g, r, grad := dense.New(cols, cols), dense.New(cols, 1), make([]float64, len(m.kernel.Params())+1)
			for i := range r.Data {
				r.Data[i] = 1
			}
			evaluate := func() {
				e.estimate(m)
				f, err := e.factor(m)
				if err != nil {
					t.Fatal(err)
				}
				f.gram(g)
				if err := f.gradient(grad, r); err != nil {
					t.Fatal(err)
				}
				f.release()
			}
			bytes := leastAllocated(evaluate)
			if t.Logf("%s: %d bytes an evaluation with %d columns", c.name, bytes, cols); bytes > 8*n/4 {
				t.Errorf("%s: %d bytes an evaluation with %d columns", c.name, bytes, cols)
			}
		}
	}
}

// leastAllocated returns the least number of bytes that a call of f allocates: some
// calls may allocate more, where a garbage collection emptied the pools of buffers.
func leastAllocated(f func()) (bytes uint64) {
	f()
	bytes = math.MaxUint64
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		bytes = min(bytes, after.TotalAlloc-before.TotalAlloc)
	}
	return bytes
}

// TestLossTogether: goroutines that share one loss get the digits that one alone
// gets, at parameters of their own.
func TestLossTogether(t *testing.T) {
	const n, points = 150, 4
	for _, c := range append([]columnCase{{name: EngineDense, kernels: []Kernel{SE{1, 3}}}}, columnCases...) {
		x, columns, _ := columnSeries(n, c.regular)
		y := make([]float64, n)
		for i := range y {
			y[i] = columns.Data[i*columns.Stride]
		}
		for _, k := range c.kernels {
			m := Model{Kernel: k, Noise: 0.2}
			build := func() *Exact {
				l, err := NewExact(t.Context(), m, Data{X: x, Y: y}, WithEngine(c.name))
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			at := func(p int) []float64 {
				theta := Values(m.Params())
				for i := range theta {
					theta[i] *= 1 + 0.1*float64(p)
				}
				return theta
			}
			evaluate := func(l *Exact, p int) []float64 {
				grad := make([]float64, len(m.Params()))
				value, err := l.ValueGrad(t.Context(), grad, at(p))
				if err != nil {
					t.Error(err)
				}
				return append(grad, value)
			}
			var want [points][]float64
			for p := range want {
				want[p] = evaluate(build(), p)
			}
			shared := build()
			var wait sync.WaitGroup
			for g := range 2 {
				wait.Go(func() {
					for turn := range 2 * points {
						if p := (turn + 2*g) % points; !slices.Equal(evaluate(shared, p), want[p]) {
							t.Errorf("%s, %v at %v: not the digits that it has alone", c.name, k, at(p))
						}
					}
				})
			}
			wait.Wait()
		}
	}
}

// lineOf is the series of y at x.
func lineOf(x, y []float64) *observed.Line {
	l := observed.Sorted(x)
	l.SetColumns(dense.AsColumn(y))
	return l
}
