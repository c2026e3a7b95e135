package gppl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// trendColumns returns y beside the basis of a mean: a constant, a slope, a wave.
func trendColumns(d Data) blas64.General {
	c := dense.New(d.Len(), 4)
	lo, hi := d.X.Range(0)
	for i, x := range d.X.at {
		u := (x - lo) / (hi - lo)
		copy(c.Data[4*i:], []float64{d.Y[i], 1, u - 0.5, math.Sin(5 * u)})
	}
	return c
}

// checkColumns compares an engine for several columns with the dense one: CᵀA⁻¹C,
// log|A|, the gradient for a random R and the means, to what both promise. It reports
// false if the engine does not take the model.
func checkColumns(t *testing.T, e exactEngine, d Data, c blas64.General, k Kernel, noise float64, rnd *rand.Rand) bool {
	t.Helper()
	m := compiledAt(k, noise)
	estimate := e.estimate(m)
	if estimate.Reason.Given() {
		return false
	}
	reference := newDenseExact(d.X, c, observed.Noise{})
	err := estimate.Err + reference.estimate(m).Err + float64(d.Len())*phases(k, extent(d.X), noise, 1)
	got, e1 := e.factor(m)
	want, e2 := reference.factor(m)
	if e1 != nil || e2 != nil {
		t.Fatal(k, e1, e2)
	}
	n, cols := float64(d.Len()), c.Cols
	g, h := dense.New(cols, cols), dense.New(cols, cols)
	got.gram(g)
	want.gram(h)
	off := 0.0 // largest error, as a share of the allowed one
	check := func(what string, a, b, limit float64) {
		t.Helper()
		off = max(off, math.Abs(a-b)/limit)
		if !(math.Abs(a-b) <= limit) {
			t.Errorf("%s of %v, noise %v: %s is %v, dense %v: off by %.2g, allowed %.2g",
				e.name(), k, noise, what, a, b, math.Abs(a-b), limit)
		}
	}
	each := dense.New(cols, cols) // R = I: what the forms err by, added up
	dense.AddDiagonal(each, 1)
	extra := got.uncertainty(each)
	check("log|A|", got.logDet(), want.logDet(), err)
	for i := range cols {
		for j := range cols {
			scale := math.Sqrt(h.Data[i*(cols+1)] * h.Data[j*(cols+1)])
			check("CᵀA⁻¹C", g.Data[i*cols+j], h.Data[i*cols+j], err*scale/n+2*extra)
		}
	}
	r := dense.New(cols, 2)
	for i := range r.Data {
		r.Data[i] = rnd.NormFloat64()
	}
	form := dense.Form(h, r)
	slope, wantSlope := make([]float64, len(m.theta)+1), make([]float64, len(m.theta)+1)
	for range 2 { // a factor is a value
		if err := got.gradient(slope, r); err != nil {
			t.Fatal(k, noise, err)
		}
	}
	if err := want.gradient(wantSlope, r); err != nil {
		t.Fatal(err)
	}
	for p := range slope {
		check("the gradient", slope[p], wantSlope[p], 20*(err*(1+form/n)+extra*(1+form)))
	}
	lo, hi := d.X.Range(0)
	at := []float64{lo, 0.3*lo + 0.7*hi, hi, hi + 0.001*(hi-lo), hi + 0.3*(hi-lo)}
	means, wantMeans := dense.New(len(at), cols), dense.New(len(at), cols)
	v, wantV := make([]float64, len(at)), make([]float64, len(at))
	fresh, e3 := reference.factor(m)
	if e3 != nil {
		t.Fatal(e3)
	}
	fresh.gram(h)
	p, q := got.posterior(), fresh.posterior()
	if err := p.latent(context.Background(), means, v, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	if err := q.latent(context.Background(), wantMeans, wantV, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	sd := math.Sqrt(variance(k))
	for i := range at {
		check("a variance", v[i], wantV[i], 1e-9*sd*sd)
		for j := range cols {
			check("a mean", means.Data[i*cols+j], wantMeans.Data[i*cols+j], 1e-9*sd*math.Sqrt(h.Data[j*(cols+1)]))
		}
	}
	joint, cov := dense.New(len(at), cols), dense.NewLower(len(at))
	if err := p.joint(context.Background(), joint, cov, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	for i := range joint.Data {
		check("a mean of joint", joint.Data[i], wantMeans.Data[i], 1e-9*sd*math.Sqrt(h.Data[i%cols*(cols+1)]))
	}
	t.Logf("%s of %v, noise %v: at most %.2g of what is allowed", e.name(), k, noise, off)
	return true
}

// TestSpectralManyColumns: several columns at once, by images and by windows.
func TestSpectralManyColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	d := benchData(t, 150)
	c := trendColumns(d)
	series := observed.Sorted(d.X.at)
	series.SetColumns(c)
	e := newSpectralExact(series, options{tolerance: defaultTolerance})
	for _, k := range []Kernel{SE{1, 40}, RQ{2, 60, 1}, LocPer{1, 300, 130, 1}, Periodic{1, 1, 300}, Add(SE{1, 900}, White{0.1}),
		SE{1, 50}} {
		for _, noise := range []float64{0.01, 1} {
			if !checkColumns(t, e, d, c, k, noise, rnd) {
				t.Errorf("%v is not taken", k)
			}
		}
	}
}

// TestGriddedManyColumns: several columns at once.
func TestGriddedManyColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 2))
	d := benchData(t, 150)
	c := trendColumns(d)
	series := observed.Sorted(d.X.at)
	series.SetColumns(c)
	e := newGriddedExact(series)
	for _, k := range []Kernel{SE{1, 40}, SE{2, 5}, Add(SE{1, 900}, White{0.1}), SE{1, 50}} {
		for _, noise := range []float64{0.01, 1} {
			if !checkColumns(t, e, d, c, k, noise, rnd) {
				t.Errorf("%v is not taken", k)
			}
		}
	}
}

// walkConcurrently evaluates l at random θ around its start, first on one goroutine
// and then on two at once, each in an order of its own: values and gradients must have
// the same digits, whatever sums and factors are kept.
func walkConcurrently(t *testing.T, build func() Loss, steps int, spread float64) {
	t.Helper()
	alone := build()
	start := Values(alone.Params())
	type step struct {
		theta, grad []float64
		value       float64
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	var walk []step
	for range steps {
		s := step{theta: append([]float64(nil), start...), grad: make([]float64, len(start))}
		for p, q := range alone.Params() {
			if q.Role != RoleInput {
				s.theta[p] *= math.Exp(spread * rnd.NormFloat64())
			}
		}
		var err error
		if s.value, err = alone.ValueGrad(t.Context(), s.grad, s.theta); err != nil {
			t.Fatal(err)
		}
		walk = append(walk, s)
	}
	shared := build()
	var group sync.WaitGroup
	for worker := range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			grad := make([]float64, len(start))
			for i := range 2 * steps {
				s := walk[(i*(2*worker+1)+worker*steps/2)%steps]
				value, err := shared.ValueGrad(t.Context(), grad, s.theta)
				if err != nil {
					t.Error(err)
					return
				}
				if value != s.value || !slices.Equal(grad, s.grad) {
					t.Errorf("%v at %v: %v, alone %v; gradient %v, alone %v", shared, s.theta, value, s.value, grad, s.grad)
				}
			}
		}()
	}
	group.Wait()
}

// TestConcurrentSpectral: one loss on two goroutines, whose kernels take different
// circles and numbers of waves.
func TestConcurrentSpectral(t *testing.T) {
	t.Parallel()
	d := benchData(t, testkit.Size(80, 200, 200))
	for i, k := range []Kernel{SE{1, 60}, RQ{1, 100, 1}, LocPer{1, 300, 130, 1}} {
		if testkit.Quick() && i == 1 {
			continue
		}
		walkConcurrently(t, func() Loss {
			l, err := NewExact(t.Context(), Model{Kernel: k, Noise: 0.3}, d, WithEngine(EngineSpectral))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}, testkit.Size(4, 8, 8), 0.5)
	}
}

// TestConcurrentGridded is the same by grids.
func TestConcurrentGridded(t *testing.T) {
	d := benchData(t, 200)
	walkConcurrently(t, func() Loss {
		l, err := NewExact(t.Context(), Model{Kernel: SE{1, 20}, Noise: 0.3}, d, WithEngine(EngineGridded))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}, 20, 0.5)
}

// TestWavesAllocateNothing: value and gradient, in the steady state.
func TestWavesAllocateNothing(t *testing.T) {
	d := benchData(t, 300)
	for _, engine := range []string{EngineSpectral, EngineGridded} {
		l, err := NewExact(t.Context(), Model{Kernel: SE{1, 40}, Noise: 0.1}, d, WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		theta, grad := Values(l.Params()), make([]float64, 3)
		evaluate := func() {
			if _, err := l.ValueGrad(t.Context(), grad, theta); err != nil {
				t.Fatal(err)
			}
		}
		evaluate()
		if a := testing.AllocsPerRun(100, evaluate); a > 0 {
			t.Errorf("%s: %v allocations", engine, a)
		}
	}
}
