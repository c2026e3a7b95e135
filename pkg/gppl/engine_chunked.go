package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

var (
	_ exactEngine = (*chunkedExact)(nil)
	_ exactFactor = (*chunkedFactor)(nil)
)

// chunkedExact is the state-space engine on a series that is read from the beginning to the
// end, one segment after another.
type chunkedExact struct {
	series  *Chunked
	centre  float64
	factors pool[chunkedFactor]
}

func (e *chunkedExact) name() string { return EngineStateSpace }

// mergeRounding is the number of observations of a filter whose rounding an element has when
// it is merged: measured, with segments of one observation, it is 6.
const mergeRounding = 32

func (e *chunkedExact) forecast(m *compiled) forecast {
	if !m.isMarkov {
		return cannot("the likelihood of chunks is for sums of Laplace, Matérn 3/2 and 5/2 kernels: for smoother ones add the series up (Sums)")
	}
	n, merged := float64(e.series.n), float64(e.series.count())
	return forecast{
		seconds: 2 * n * stateSeconds(stateDim(m.markov.components)), // there, and there and back; see BenchmarkChunked
		err:     (n + mergeRounding*merged) * 0x1p-50 * math.Sqrt(1+m.variance/m.noise),
	}
}

// segmentSolver filters the segments at one θ, each by itself once states and adjoints are
// known.
type segmentSolver struct {
	engine   *chunkedExact
	kernel   Kernel
	noise    float64
	states   []statespace.State   // before each segment
	adjoints []statespace.Adjoint // after each segment, once asked for
	workers  []segmentWorker
}

// chunkedFactor has the elements of all segments at one θ.
type chunkedFactor struct {
	segmentSolver
	model    *compiled
	elements []statespace.Element
	total    statespace.Element // of all segments, but for its value
	form     longSum            // yᵀA⁻¹y
	log      longSum            // log|A|
	merger   statespace.Merger
	ends     []float64   // the last time of each segment
	parts    [][]float64 // of the gradient, by segment
	grad     []float64
	known    bool // whether the adjoints are those of this θ
}

func (e *chunkedExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.get()
	f.engine, f.model, f.kernel, f.noise, f.known = e, m, m.kernel, m.noise, false
	if err := f.reduce(); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// each has work called for every segment, with a worker that has taken it.
func (f *segmentSolver) each(work func(w *segmentWorker, s *segment) error) error {
	series := f.engine.series
	workers := series.workers()
	for len(f.workers) < workers {
		f.workers = append(f.workers, segmentWorker{})
	}
	return series.segments(workers, func(worker int, s *segment) error {
		w := &f.workers[worker]
		w.take(s, f.engine.centre)
		err := work(w, s)
		var bad statespace.NotPositive
		if errors.As(err, &bad) {
			bad.Row += s.first
			err = bad
		}
		if err != nil {
			return fmt.Errorf("gppl: statespace engine: %w (kernel %v, noise variance %.4g)", err, f.kernel, f.noise)
		}
		return nil
	})
}

// reduce makes the element of every segment, and combines them from the left.
func (f *chunkedFactor) reduce() error {
	count := f.engine.series.count()
	f.elements = slices.Grow(f.elements[:0], count)[:count]
	f.ends = dense.Resize(f.ends, count)
	err := f.each(func(w *segmentWorker, s *segment) error {
		f.ends[s.index] = s.t[len(s.t)-1]
		return w.filter.Reduce(&f.elements[s.index], s.before, w.rest, f.model.markov.components, f.noise)
	})
	if err != nil {
		return err
	}
	f.states = append(f.states[:0], statespace.State{At: math.Inf(-1)})
	f.total = *statespace.Nothing(stateDim(f.model.markov.components))
	f.form, f.log = longSum{}, longSum{}
	for i := range f.elements {
		f.merger.Merge(&f.total, &f.total, &f.elements[i])
		f.form.add(f.total.Form)
		f.log.add(f.total.LogDet)
		f.total.Form, f.total.LogDet = 0, 0
		if i+1 < count {
			f.states = append(f.states, f.total.Left(f.ends[i]))
		}
	}
	return nil
}

// longSum is a sum of many terms that has the rounding of a few (Neumaier 1974).
type longSum struct{ sum, rest float64 }

func (s *longSum) add(v float64) {
	t := s.sum + v
	if math.Abs(s.sum) >= math.Abs(v) {
		s.rest += s.sum - t + v
	} else {
		s.rest += v - t + s.sum
	}
	s.sum = t
}

func (s *longSum) value() float64 { return s.sum + s.rest }

// lookBack sets the adjoints, combining elements from the right.
func (f *chunkedFactor) lookBack() {
	if f.known {
		return
	}
	count := len(f.elements)
	f.adjoints = slices.Grow(f.adjoints[:0], count)[:count]
	f.adjoints[count-1] = statespace.Adjoint{}
	var later statespace.Element
	for i := count - 1; i > 0; i-- {
		if i == count-1 {
			f.merger.Merge(&later, &f.elements[i], statespace.Nothing(stateDim(f.model.markov.components)))
		} else {
			f.merger.Merge(&later, &f.elements[i], &later)
		}
		f.adjoints[i-1] = f.merger.Adjoint(f.states[i], &later)
	}
	f.known = true
}

func (f *chunkedFactor) release()                           { f.engine.factors.put(f) }
func (f *chunkedFactor) jitter() float64                    { return 0 }
func (f *chunkedFactor) uncertainty(blas64.General) float64 { return 0 }
func (f *chunkedFactor) logDet() float64                    { return f.log.value() }
func (f *chunkedFactor) gram(g blas64.General)              { g.Data[0] = f.form.value() }

// gradient reads the series again, and adds the part of each segment, given the elements
// before and after it.
func (f *chunkedFactor) gradient(grad []float64, r blas64.General) error {
	f.lookBack()
	cs := f.model.markov.components
	count, size := len(f.elements), 2*len(cs)+1
	f.parts = slices.Grow(f.parts[:0], count)[:count]
	err := f.each(func(w *segmentWorker, s *segment) error {
		if err := f.solve(w, s, cs); err != nil {
			return err
		}
		f.parts[s.index] = dense.Resize(f.parts[s.index], size)
		w.filter.Gradient(f.parts[s.index], r)
		return nil
	})
	if err != nil {
		return err
	}
	f.grad = dense.Resize(f.grad, size)
	clear(f.grad)
	for _, part := range f.parts {
		add(f.grad, part)
	}
	last := size - 1
	if err := f.check(); err != nil {
		return err
	}
	clear(grad)
	f.model.markov.contract(grad, f.grad[:last])
	grad[len(grad)-1] = f.grad[last]
	return nil
}

// solve filters a segment between what is known on both sides.
func (f *segmentSolver) solve(w *segmentWorker, s *segment, cs []statespace.Component) error {
	if !math.IsInf(s.before, -1) && s.before != f.states[s.index].At {
		return fmt.Errorf("the series has changed while it was read: t = %v was %v", s.before, f.states[s.index].At)
	}
	w.filter.Between(f.states[s.index], f.adjoints[s.index])
	return w.filter.Factorise(columnOf(w.rest), cs, f.noise)
}

// check compares the derivatives in the log of all variances, which scale A, with their sum
// ½(n − yᵀA⁻¹y).
func (f *chunkedFactor) check() error {
	n, form := float64(f.engine.series.n), f.form.value()
	sum := f.grad[len(f.grad)-1]
	for i := 0; i < len(f.grad)-1; i += 2 {
		sum += f.grad[i]
	}
	rounding := 0x1p-49 * math.Sqrt(1+f.model.variance/f.noise)
	return verify("the sum of the derivatives in the variances", sum, 0.5*(n-form), (n+form)*(1e-9+rounding))
}

// chunkedPosterior smooths segment by segment.
type chunkedPosterior struct {
	solver     segmentSolver // without workers: each call has its own
	components []statespace.Component
	ends       []float64
}

func (f *chunkedFactor) posterior() predictor {
	f.lookBack()
	solver := f.segmentSolver
	solver.workers = nil
	return &chunkedPosterior{solver, slices.Clone(f.model.markov.components), f.ends}
}

func (p *chunkedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	of := make([][]int, len(p.ends)) // the inputs of each segment: up to its last time, or beyond the last
	for i, at := range x.at {
		s, _ := slices.BinarySearch(p.ends, at)
		s = min(s, len(p.ends)-1)
		of[s] = append(of[s], i)
	}
	solver := p.solver
	return solver.each(func(w *segmentWorker, s *segment) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		mine := of[s.index]
		if len(mine) == 0 {
			return nil
		}
		if err := solver.solve(w, s, p.components); err != nil {
			return err
		}
		at, m := make([]float64, len(mine)), make([]float64, len(mine))
		var v []float64
		if variances != nil {
			v = make([]float64, len(mine))
		}
		for j, i := range mine {
			at[j] = x.at[i]
		}
		w.filter.Posterior(columnOf(m), v, at)
		for j, i := range mine {
			means.Data[i*means.Stride] = m[j]
			if v != nil {
				variances[i] = v[j]
			}
		}
		return nil
	})
}

func (p *chunkedPosterior) joint(context.Context, blas64.General, *dense.Lower, Inputs) error {
	return errors.New("gppl: a posterior from chunks has means and variances, and no covariances between inputs")
}
