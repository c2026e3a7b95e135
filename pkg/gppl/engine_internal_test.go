package gppl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// These tests compare every engine with the dense one: values, gradients, and
// the error that each engine promised. They see the promise and the predicted
// cost, which users do not, so they are within the package; what users see is
// in engine_test.go.

// TestEngines: Engines lists the engines of the losses of a time series, no more and no fewer.
func TestEngines(t *testing.T) {
	d := benchData(t, 30)
	p, err := NewProjection(t.Context(), Sphere{}, d.X, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, p := range []*Projection{nil, p} {
		l, err := buildLoss(Model{Kernel: SE{1, 9}, Noise: 0.1}, d, p)
		if err != nil {
			t.Fatal(err)
		}
		switch l := l.(type) {
		case *Exact:
			for _, e := range l.engines {
				all[e.name()] = true
			}
		case *Projected:
			for _, e := range l.terms[0].engines {
				all[e.name()] = true
			}
		}
	}
	grid := Vectors([]float64{0, 0, 0, 1, 1, 0, 1, 1}, 2)
	onGrid, err := NewExact(t.Context(), Model{Kernel: Mul(On(SE{1, 1}, 0), On(SE{1, 1}, 1)), Noise: 0.1}, Data{X: grid, Y: make([]float64, 4)})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range onGrid.engines {
		all[e.name()] = true
	}
	if want, got := slices.Sorted(maps.Keys(all)), slices.Sorted(slices.Values(Engines())); !slices.Equal(want, got) {
		t.Errorf("Engines() are %v, those of the losses %v", got, want)
	}
}

// engineKernels is one of each kernel and combinations of them, at variance v
// (some of them 2v) and about the lengthscale l.
func engineKernels(v, l float64) []Kernel {
	se, laplace := SE{v, l}, Laplace{v, l}
	m32, m52 := Matern32{v, l}, Matern52{v, l}
	rq := RQ{v, l, 1.5}
	periodic := Periodic{v, 0.9, l}
	return []Kernel{
		se, laplace, m32, m52, rq, periodic,
		RQ{v, l, 20},
		LocPer{v, 2 * l, l, 0.7},
		Add(SE{v, 3 * l}, periodic),
		Add(laplace, Matern52{v, 5 * l}),
		Add(se, White{0.3 * v}),
		Add(White{0.01 * v}, laplace, White{0.02 * v}, SE{v, 0.4 * l}),
		Add(m52, rq),
		Mul(m32, Periodic{1, 1.2, l}),
		Mul(se, RQ{1, 2 * l, 0.8}),
		Add(Mul(SE{v, 4 * l}, Periodic{1, 0.8, l}), Mul(laplace, Laplace{1, 3 * l})),
		Mul(Add(se, White{0.1}), Add(laplace, Periodic{0.5, 1, l})),
	}
}

var inputKinds = []string{"irregular", "clustered", "duplicated", "unsorted", "regular", "open", "unix"}

// engineInputs returns n times that span about 100.
func engineInputs(kind string, n int, rnd *rand.Rand) Inputs {
	x := make([]float64, n)
	for i := range x {
		x[i] = 100 * rnd.Float64()
	}
	slices.Sort(x)
	switch kind {
	case "clustered": // five clusters, a millionth of the range wide
		for i := range x {
			x[i] = 25*float64(i*5/n) + 1e-4*rnd.Float64()
		}
		slices.Sort(x)
	case "duplicated": // each time thrice
		for i := range x {
			x[i] = x[i/3*3]
		}
	case "unsorted":
		rnd.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
	case "regular":
		for i := range x {
			x[i] = 100 * float64(i) / float64(n)
		}
	case "open": // five places of seven, without the last of some
		for i := range x {
			x[i] = 70 * float64((i+i/29)/5*7+(i+i/29)%5) / float64(n)
		}
	case "unix":
		for i := range x {
			x[i] += 1.7e9
		}
	}
	return Scalars(x)
}

// drawFrom returns observations that the model may well have made.
func drawFrom(t fataler, m Model, x Inputs, rnd *rand.Rand) Data {
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	f, err := newDenseExact(x, dense.AsColumn(y), observed.Noise{}).factor(compiledAt(m.Kernel, m.Noise))
	if err != nil {
		t.Fatal(err)
	}
	f.(*denseFactor).l.MulL(dense.AsColumn(y))
	return Data{X: x, Y: y}
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// mistake is how far an engine was from the dense one.
type mistake struct {
	value   float64 // |difference|, relative to max(|value|, terms)
	grad    float64 // ‖difference in logs‖, relative to max(‖gradient‖, terms)
	promise float64 // |difference| over what the two promised and rounding
}

// promised is the error that a loss promised at its last evaluation.
func promised(l Loss) (nats float64, kept bool) {
	r := l.Report()
	return r.LastBound, r.LastInexact == 0
}

// What an engine may differ from the dense one, relative to the value and to the
// norm of the gradient in logs, or to the number of terms where those are less:
// at v/σ² = 1e6 the dense engine's own rounding, 16·2⁻⁵³·v/σ² per term, is 2e-9,
// so that no slack is needed for it.
const gradientTolerance, valueTolerance = 1e-6, 1e-8

// against evaluates a loss and compares it with the dense one at the same
// parameters. A loss of the given number of terms (observations or projections)
// has a value and gradients of that order.
func against(t fataler, got, dense Loss, theta []float64, terms int) (m mistake, err error) {
	t.Helper()
	grad, want := make([]float64, len(theta)), make([]float64, len(theta))
	v, err := got.ValueGrad(context.Background(), grad, theta)
	if err != nil {
		return m, err
	}
	w, err := dense.ValueGrad(context.Background(), want, theta)
	if err != nil {
		t.Fatalf("dense: %v", err)
	}
	var diff, norm float64
	for i, p := range theta {
		diff = math.Hypot(diff, (grad[i]-want[i])*p)
		norm = math.Hypot(norm, want[i]*p)
	}
	m.value = math.Abs(v-w) / max(math.Abs(w), float64(terms))
	m.grad = diff / max(norm, float64(terms))
	a, _ := promised(got)
	b, _ := promised(dense)
	m.promise = math.Abs(v-w) / (a + b)
	if math.IsNaN(m.value) || math.IsNaN(m.grad) {
		t.Fatalf("%v at %v: %v %v, dense %v %v", got, theta, v, grad, w, want)
	}
	return m, nil
}

// conditionOf returns the condition of ΩᵀΩ.
func conditionOf(p *Projection) float64 {
	var s mat.SymDense
	s.SymOuterK(1, p.formed(context.Background()).T())
	var e mat.EigenSym
	if !e.Factorize(&s, false) {
		return math.Inf(1)
	}
	v := e.Values(nil)
	return v[len(v)-1] / max(v[0], 1e-300)
}

// worst keeps the largest mistakes of each engine and where they were made.
type worst map[string]*[3]record

type record struct {
	size  float64
	where string
}

func (w worst) note(engine string, m mistake, where string) {
	if w[engine] == nil {
		w[engine] = new([3]record)
	}
	for i, s := range []float64{m.value, m.grad, m.promise} {
		if s >= w[engine][i].size {
			w[engine][i] = record{s, where}
		}
	}
}

func (w worst) log(t *testing.T) {
	for _, e := range slices.Sorted(maps.Keys(w)) {
		for i, what := range []string{"value", "gradient", "of promise"} {
			t.Logf("%-24s %-10s %.2g at %s", e, what, w[e][i].size, w[e][i].where)
		}
	}
}

// expensive reports whether forcing an engine would take longer than a test
// has, by its own prediction.
func expensive(l Loss, engine string, theta []float64) bool {
	limit := 0.05
	if testkit.Long() {
		limit = 0.5
	}
	last := len(theta) - 1
	noise := theta[last]
	switch l := l.(type) {
	case *Exact:
		k := l.model.Kernel.WithParams(theta[:last])
		for _, e := range l.engines {
			if e.name() == engine {
				f := e.estimate(compiledAt(k, noise))
				return f.Seconds+f.Setup > limit
			}
		}
	case *Projected:
		if !l.apart {
			return false
		}
		c := l.calls.Get()
		defer l.done(c)
		if err := l.begin(c, theta); err != nil {
			return false
		}
		for i := range c.terms {
			t := &c.terms[i]
			for j, e := range t.engines {
				if e.name() != engine {
					continue
				}
				f := t.Candidates[j]
				if in, ok := e.(*interpolated); ok {
					var s choice.Selection
					in.base.estimate(&s, &t.compiledTerm)
					b := in.base.best(&s)
					f.Seconds, f.Setup = f.Seconds+nodes*b.Seconds, 3*b.Setup
				}
				if f.Seconds+f.Setup > limit {
					return true
				}
			}
		}
	}
	return false
}

// conform compares all engines with the dense one for one model and data set,
// exact (p nil) or projected, each engine in a loss of its own.
func conform(t *testing.T, w worst, m Model, d Data, p *Projection, where string) {
	t.Helper()
	build := func(opts ...Option) Loss {
		l, err := buildLoss(m, d, p, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	terms, condition := d.Len(), 1.0
	if p != nil {
		_, terms = p.Dims()
		if !p.Orthonormal {
			// S is as badly conditioned as ΩᵀΩ times v/σ², which no engine's
			// promise knows; beyond a thousand the dense value is none to test by.
			if condition = conditionOf(p); condition > 1e3 {
				return
			}
		}
	}
	theta := Values(m.Params())
	dense := build(WithEngine(EngineDense))
	for _, engine := range append(Engines(), "") {
		l := build(WithEngine(engine))
		if engine != "" && expensive(l, engine, theta) {
			continue
		}
		mis, err := against(t, l, dense, theta, terms)
		if err != nil {
			if engine == "" {
				t.Errorf("%s: %v", where, err)
			}
			if !strings.Contains(err.Error(), "cannot take") && !strings.Contains(err.Error(), "there are") &&
				!strings.Contains(err.Error(), "engine: ") && !strings.Contains(err.Error(), "frequencies for") {
				t.Errorf("%s: %s refuses with %q", where, engine, err)
			}
			continue
		}
		name := engine
		if engine == "" {
			name = "auto"
			if bound, kept := promised(l); !kept && l.Report().Inexact < bound/2 {
				t.Errorf("%s: auto does not say that it may err by %v: %+v", where, bound, l.Report())
			}
		}
		if l.Report().Jitter > 0 || dense.Report().Jitter > 0 {
			t.Logf("%s: %s jitter %v, dense %v", where, name, l.Report().Jitter, dense.Report().Jitter)
			continue
		}
		if p != nil {
			name += " (PL)"
		}
		w.note(name, mis, where)
		inexact := l.Report().Inexact > 0 // a forced engine may err, if it says so
		if !inexact && (mis.value > valueTolerance || mis.grad > gradientTolerance) || mis.promise > condition {
			t.Errorf("%s: %s errs by %.2g, gradient %.2g, %.2g of its promise", where, name, mis.value, mis.grad, mis.promise)
		}
	}
}

func buildLoss(m Model, d Data, p *Projection, opts ...Option) (Loss, error) {
	if p == nil {
		return NewExact(context.Background(), m, d, opts...)
	}
	return NewProjected(context.Background(), m, d, p, opts...)
}

// TestEngineGrid compares the engines over kernels, lengthscales and noise, with
// inputs, sizes and designs by turns.
func TestEngineGrid(t *testing.T) {
	t.Parallel()
	w := worst{}
	defer func() { w.log(t) }()
	sizes := []int{65, 1, 40, 2, 130, 3, 64, 17, 200}
	designs := []Design{Sphere{}, OneHot{}, Spectral{}, Raw{Sphere{}}, Raw{Spectral{}}}
	turn := 0
	for _, rel := range []float64{1e-3, 1e-2, 0.1, 1, 30, 1e3} {
		for _, ratio := range []float64{1e-6, 1e-3, 0.1, 10} {
			for i, k := range engineKernels(2, 100*rel) {
				for _, kind := range inputKinds {
					turn++
					if !testkit.Long() && (turn%8 != (i+turn/8)%8 || turn/8%2 != 0) || turn%testkit.Size(11, 3, 1) != 0 {
						continue
					}
					rnd := rand.New(rand.NewPCG(uint64(turn), 1))
					n := sizes[rnd.IntN(len(sizes))]
					m := Model{Kernel: k, Noise: ratio * 2}
					d := drawFrom(t, m, engineInputs(kind, n, rnd), rnd)
					where := fmt.Sprintf("%v, noise %v, n=%d %s", k, m.Noise, n, kind)
					conform(t, w, m, d, nil, where)
					design := designs[rnd.IntN(len(designs))]
					cols := 1 + rnd.IntN(min(n, 70))
					p, err := NewProjection(t.Context(), design, d.X, cols, uint64(turn))
					if err != nil {
						continue // Spectral needs a range
					}
					conform(t, w, m, d, p, fmt.Sprintf("%s, %v k=%d", where, design, cols))
				}
			}
		}
	}
}

// TestEngineLarge compares the engines at sizes where they pay.
func TestEngineLarge(t *testing.T) {
	if testkit.Quick() {
		t.Skip("large")
	}
	t.Parallel()
	w := worst{}
	defer func() { w.log(t) }()
	for i, c := range []struct {
		n    int
		kind string
		k    Kernel
	}{
		{1200, "irregular", SE{1, 0.6}},
		{900, "unix", Add(Laplace{1, 3}, Matern52{0.5, 20}, White{0.1})},
		{700, "duplicated", LocPer{1, 30, 8, 1}},
	} {
		rnd := rand.New(rand.NewPCG(uint64(i), 2))
		m := Model{Kernel: c.k, Noise: 0.1}
		d := drawFrom(t, m, engineInputs(c.kind, c.n, rnd), rnd)
		where := fmt.Sprintf("%v, n=%d %s", c.k, c.n, c.kind)
		conform(t, w, m, d, nil, where)
		p, err := NewProjection(t.Context(), Sphere{}, d.X, 60, 1)
		if err != nil {
			t.Fatal(err)
		}
		conform(t, w, m, d, p, where)
	}
}

// TestEngineWalk moves the parameters of one loss about, as training does, and
// a good deal further: what an engine keeps from call to call must not show.
func TestEngineWalk(t *testing.T) {
	t.Parallel()
	w := worst{}
	defer func() { w.log(t) }()
	for i, k := range engineKernels(1, 10) {
		if testkit.Quick() && i%2 == 1 {
			continue
		}
		rnd := rand.New(rand.NewPCG(uint64(i), 3))
		m := Model{Kernel: k, Noise: 0.1}
		d := drawFrom(t, m, engineInputs(inputKinds[i%len(inputKinds)], 90, rnd), rnd)
		p, err := NewProjection(t.Context(), Sphere{}, d.X, 20, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Projection{nil, p} {
			terms, label := 90, ""
			if p != nil {
				terms, label = 20, " (PL)"
			}
			dense, err := buildLoss(m, d, p, WithEngine(EngineDense))
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range append(Engines(), "") {
				l, err := buildLoss(m, d, p, WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				theta := Values(m.Params())
				start := slices.Clone(theta)
				steps := 12
				if testkit.Quick() {
					steps = 3
				}
				for range steps {
					for j := range theta {
						theta[j] *= math.Exp(0.6 * rnd.NormFloat64())
						theta[j] = min(max(theta[j], start[j]/5), 5*start[j])
					}
					if engine != "" && expensive(l, engine, theta) {
						continue
					}
					mis, err := against(t, l, dense, theta, terms)
					if err != nil {
						if engine == "" {
							t.Errorf("%v: %v", k, err)
						}
						break
					}
					w.note("walk "+engine+label, mis, fmt.Sprintf("%v at %.3g", k, theta))
					if _, kept := promised(l); kept && (mis.value > valueTolerance || mis.grad > gradientTolerance) {
						t.Errorf("%v%s at %v: %s errs by %.2g, gradient %.2g", k, label, theta, engine, mis.value, mis.grad)
					}
				}
			}
		}
	}
}

// TestEngineProperty draws kernel, parameters, inputs and design at random.
func TestEngineProperty(t *testing.T) {
	t.Parallel()
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		if count++; testkit.Quick() && count > 8 {
			return
		}
		logUniform := func(what string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(rt, what))
		}
		v, l := logUniform("v", 1e-3, 1e3), logUniform("l", 0.1, 1e5)
		kernels := engineKernels(v, l)
		k := kernels[rapid.IntRange(0, len(kernels)-1).Draw(rt, "kernel")]
		m := Model{Kernel: k, Noise: v * logUniform("noise", 1e-6, 10)}
		n := rapid.IntRange(1, 150).Draw(rt, "n")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 4))
		x := engineInputs(rapid.SampledFrom(inputKinds).Draw(rt, "inputs"), n, rnd)
		d := drawFrom(rt, m, x, rnd)
		if rapid.Bool().Draw(rt, "misfit") { // not what the model would make
			for i := range d.Y {
				d.Y[i] = 3*math.Sqrt(v)*math.Sin(float64(i)) + 0.1
			}
		}
		where := fmt.Sprintf("%v, noise %v, n=%d", k, m.Noise, n)
		conform(t, worst{}, m, d, nil, where)
		design := rapid.SampledFrom([]Design{Sphere{}, OneHot{}, Spectral{}, Raw{Sphere{}}}).Draw(rt, "design")
		p, err := NewProjection(t.Context(), design, x, rapid.IntRange(1, min(n, 40)).Draw(rt, "k"), 1)
		if err == nil {
			conform(t, worst{}, m, d, p, where)
		}
		if t.Failed() {
			rt.Fatal("engines differ")
		}
	})
}

// TestEnginePromise takes promises at their word.
func TestEnginePromise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{1, 3, 64} {
		for _, engine := range []string{EngineSpectral, EngineInterpolated} {
			for _, noise := range []float64{0.1, 20} {
				m := Model{Kernel: SE{2, 1}, Noise: noise}
				d := drawFrom(t, m, engineInputs("irregular", n, rnd), rnd)
				p, err := NewProjection(t.Context(), OneHot{}, d.X, (n+1)/2, 1)
				if err != nil {
					t.Fatal(err)
				}
				l := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(engine)))(t)
				dense := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineDense)))(t)
				if mis, err := against(t, l, dense, Values(m.Params()), (n+1)/2); err != nil || mis.promise > 1 {
					t.Errorf("%s, n=%d, noise %v: %.3g of its promise, %v", engine, n, noise, mis.promise, err)
				}
			}
		}
	}
}

// TestSpectralExactWindowed: long lengthscales, little noise, automatic choice.
func TestSpectralExactWindowed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 6))
	for _, noise := range []float64{1e-4, 1e-5} {
		m := Model{Kernel: SE{1, 1000}, Noise: noise}
		d := drawFrom(t, m, engineInputs("irregular", 800, rnd), rnd)
		l := testkit.Must(NewExact(t.Context(), m, d))(t)
		dense := testkit.Must(NewExact(t.Context(), m, d, WithEngine(EngineDense)))(t)
		mis, err := against(t, l, dense, Values(m.Params()), 800)
		if err != nil || mis.value > valueTolerance && l.Report().Inexact == 0 {
			t.Errorf("noise %v: %s errs by %.3g, %.3g of its promise, without saying so: %+v %v",
				noise, l.Report().Engine, mis.value, mis.promise, l.Report(), err)
		}
	}
}

// TestSpectralExactWindowStays: a series that was made for a long lengthscale
// keeps its window when the lengthscale falls, and observations that the model
// would not have made lose most by it.
func TestSpectralExactWindowStays(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 10))
	m := Model{Kernel: SE{1, 20}, Noise: 1e-5}
	n := testkit.Size(400, 800, 800)
	d := drawFrom(t, m, engineInputs("irregular", n, rnd), rnd)
	l := testkit.Must(NewExact(t.Context(), m, d, WithEngine(EngineSpectral)))(t)
	dense := testkit.Must(NewExact(t.Context(), m, d, WithEngine(EngineDense)))(t)
	if _, err := l.ValueGrad(t.Context(), nil, []float64{1, 1000, 0.1}); err != nil {
		t.Fatal(err)
	}
	for _, lengthscale := range []float64{20, 40, 60, 92, 110, 200, 1000} {
		mis, err := against(t, l, dense, []float64{1, lengthscale, 1e-5}, n)
		if err != nil || mis.promise > 1 {
			t.Errorf("lengthscale %v: errs by %.3g, %.3g of its promise: %+v %v", lengthscale, mis.value, mis.promise, l.Report(), err)
		}
	}
}

// TestInterpolatedNoiseFalls: a panel built while the noise is large, used when
// it is small.
func TestInterpolatedNoiseFalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 7))
	m := Model{Kernel: SE{1, 10}, Noise: 10}
	d := drawFrom(t, m, engineInputs("irregular", 800, rnd), rnd)
	p, err := NewProjection(t.Context(), Sphere{}, d.X, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := testkit.Must(NewProjected(t.Context(), m, d, p))(t)
	dense := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineDense)))(t)
	for i := range 70 {
		if _, err := l.ValueGrad(t.Context(), nil, []float64{1, 10 + 0.01*float64(i%7), 10}); err != nil {
			t.Fatal(err)
		}
	}
	for _, noise := range []float64{1, 0.1, 0.01, 1e-3, 1e-4} {
		mis, err := against(t, l, dense, []float64{1, 10.3, noise}, 20)
		if err != nil || mis.value > valueTolerance || mis.promise > 1 {
			t.Errorf("noise %v: errs by %.3g, %.3g of its promise, without saying so: %+v %v",
				noise, mis.value, mis.promise, l.Report(), err)
		}
	}
}

// TestSpectralAliases: the samples taken for a long period do not see a short
// one.
func TestSpectralAliases(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 8))
	m := Model{Kernel: Periodic{1, 1, 50}, Noise: 0.1}
	d := drawFrom(t, m, engineInputs("irregular", 60, rnd), rnd)
	p, err := NewProjection(t.Context(), Sphere{}, d.X, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	dense := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineDense)))(t)
	for period := 0.15; period < 1; period *= 1 + 0.01*float64(testkit.Size(6, 1, 1)) {
		l := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineSpectral)))(t)
		if _, err := l.ValueGrad(t.Context(), nil, []float64{1, 20, 50, 0.1}); err != nil {
			t.Fatal(err)
		}
		if mis, err := against(t, l, dense, []float64{1, 20, period, 0.1}, 20); err != nil || mis.value > valueTolerance {
			t.Errorf("period %v: errs by %.3g, %v", period, mis.value, err)
		}
	}
}

// TestSpectralGradientLoose: gradients where the noise is large.
func TestSpectralGradientLoose(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	for range testkit.Size(6, 20, 20) {
		m := Model{Kernel: Periodic{2, 0.9, 0.1}, Noise: 20}
		d := drawFrom(t, m, engineInputs("clustered", 3, rnd), rnd)
		p, err := NewProjection(t.Context(), Sphere{}, d.X, 1, rnd.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		l := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineSpectral)))(t)
		dense := testkit.Must(NewProjected(t.Context(), m, d, p, WithEngine(EngineDense)))(t)
		if mis, err := against(t, l, dense, Values(m.Params()), 1); err != nil || mis.grad > gradientTolerance {
			t.Errorf("gradient errs by %.3g, %v", mis.grad, err)
		}
	}
}

// TestFallbacksOfSums: what each term fell back counts.
func TestFallbacksOfSums(t *testing.T) {
	l := &Projected{tally: new(tally), used: new(lastUse)}
	c := &projectedCall{terms: make([]termCall, 2)}
	for i := range c.terms {
		c.terms[i].projectedTerm = new(projectedTerm)
	}
	c.terms[0].reject(errors.New("off"))
	l.note(c)
	if r := l.Report(); r.Fallbacks != 1 {
		t.Errorf("%d fallbacks, want 1", r.Fallbacks)
	}
}

// TestSpectralExactForgets wants no more features of a short lengthscale after a long one than without: the period that the long
// one asks for multiplies them.
func TestSpectralExactForgets(t *testing.T) {
	d := benchData(t, 300)
	features := func(lengthscales ...float64) (count int) {
		e := newSpectralExact(lineOf(d.X.at, d.Y), options{tolerance: defaultTolerance})
		for _, l := range lengthscales {
			_, err := nllBy(e, nil, SE{1, l}, 0.1, d.Len(), func(f exactFactor) { count = len(f.(*spectralFactor).Features) })
			if err != nil {
				t.Fatal(err)
			}
		}
		return count
	}
	fresh, after := features(20), features(1000, 20)
	if float64(after) > 1.6*float64(fresh) {
		t.Errorf("%d features after a lengthscale of 1000, %d without", after, fresh)
	}
}

// An engine that would take longer than the loss allows is not chosen: the next one is, and without one the evaluation is
// refused.
func TestSecondsLimit(t *testing.T) {
	x := Scalars(linspace(0, 1, 3000))
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = math.Sin(float64(i) / 70)
	}
	m := Model{Kernel: SE{1, 1e-4}, Noise: 0.1}
	d := Data{X: x, Y: y}
	free, err := NewExact(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	want, err := free.ValueGrad(t.Context(), nil, m.Values())
	if err != nil {
		t.Fatal(err)
	}
	used := estimateOf(free).Cost()
	same, err := NewExact(t.Context(), m, d, WithSeconds(1.01*used))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := same.ValueGrad(t.Context(), nil, m.Values()); err != nil || got != want {
		t.Errorf("%v (%v) under a limit that holds, %v without", got, err, want)
	}
	least := math.Inf(1)
	for _, f := range free.chooser.Last().Candidates {
		if !f.Reason.Given() {
			least = min(least, f.Cost())
		}
	}
	short, err := NewExact(t.Context(), m, d, WithSeconds(0.99*least))
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range []*Exact{short, free.WithinSeconds(0.99 * least)} {
		refusal := (*Refusal)(nil)
		if _, err := loss.ValueGrad(t.Context(), nil, m.Values()); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "it would take") {
			t.Errorf("no engine is fast enough, and the error is %v", err)
		}
	}
	if got, err := short.WithinSeconds(math.Inf(1)).ValueGrad(t.Context(), nil, m.Values()); err != nil || got != want {
		t.Errorf("%v (%v) once the limit is lifted, %v without", got, err, want)
	}
	omega, err := SpectralProjection(t.Context(), d.X, 40)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := NewProjected(t.Context(), m, d, omega)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = projected.ValueGrad(t.Context(), nil, m.Values()); err != nil {
		t.Fatal(err)
	}
	hasty := projected.WithinSeconds(1e-9)
	if v, err := hasty.ValueGrad(t.Context(), nil, m.Values()); err == nil {
		t.Errorf("no engine of %v is fast enough, and it is %v", hasty, v)
	}
	if got, err := hasty.WithinSeconds(math.Inf(1)).ValueGrad(t.Context(), nil, m.Values()); err != nil || got != want {
		t.Errorf("%v (%v) once the limit of %v is lifted, %v without", got, err, hasty, want)
	}
	for _, bad := range []float64{0, -1, math.NaN()} {
		if _, err := NewExact(t.Context(), m, d, WithSeconds(bad)); err == nil {
			t.Errorf("a limit of %v seconds is taken", bad)
		}
	}
}

// TestBoundNaN: an error bound that cannot be computed is reported as +Inf, and not hidden by later ones.
func TestBoundNaN(t *testing.T) {
	var of tally
	of.promise(math.NaN(), false)
	of.promise(1, false)
	if r := of.get(); !math.IsInf(r.Inexact, 1) || r.LastInexact != 1 {
		t.Errorf("the largest bound is %v, the last %v", r.Inexact, r.LastInexact)
	}
}
