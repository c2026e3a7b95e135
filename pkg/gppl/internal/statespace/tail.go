package statespace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// A Tail is the state of a Filter after its last input: it suffices for all later inputs, whatever the number of earlier ones.
// It is immutable.
type Tail struct {
	at   float64   // the last input
	mean []float64 // mean of the state after the last observation, D for each column
	cov  []float64 // P after the last observation; with blocks P before it,
	gain []float64 // Ph
	inv  float64   // and 1/s, with blocks
	gram []float64 // CᵀA⁻¹C, c×c
}

// Tail returns the state after the last input.
func (f *Filter) Tail() *Tail {
	t := f.newTail()
	last := len(f.t) - 1
	t.at = f.t[last]
	size := len(t.cov)
	f.recall(last)
	if len(f.system.blocks) > 0 {
		copy(t.cov, f.cov[last*size:])
		copy(t.gain, f.system.gain[last*f.dim:])
		t.inv = f.inv[last]
		f.gainBlocks(last)
	} else {
		f.update(t.cov, last)
	}
	for c := range f.cols {
		mean, e := f.observed(c, last)
		f.move(t.mean[c*f.dim:][:f.dim], mean, e)
	}
	f.Gram(blas64.General{Rows: f.cols, Cols: f.cols, Stride: max(1, f.cols), Data: t.gram})
	return t
}

func (f *Filter) newTail() *Tail {
	size, gain := f.dim*f.dim, 0
	if len(f.system.blocks) > 0 {
		size, gain = f.system.rows[len(f.system.units)], f.dim
	}
	free := make([]float64, f.cols*f.dim+size+gain+f.cols*f.cols)
	take := func(n int) (x []float64) {
		x, free = free[:n:n], free[n:]
		return x
	}
	return &Tail{mean: take(f.cols * f.dim), cov: take(size), gain: take(gain), gram: take(f.cols * f.cols)}
}

// At returns the last input.
func (t *Tail) At() float64 { return t.at }

// Gram sets g, c×c, to CᵀA⁻¹C of all observations.
func (t *Tail) Gram(g blas64.General) {
	for i := range g.Rows {
		copy(g.Data[i*g.Stride:][:g.Cols], t.gram[i*g.Cols:])
	}
}

// Ahead sets means to the prediction of each column at an input no earlier than the last, and returns the variance of the
// latent process there, like Posterior, in O(D³ + cD²).
func (f *Filter) Ahead(means []float64, t *Tail, at float64) (variance float64) {
	if len(means) != f.cols {
		panic(fmt.Sprintf("statespace: room for %d means of %d columns", len(means), f.cols))
	}
	variance = f.reach(t, at)
	x := f.ahead()
	for c := range means {
		means[c] = f.carry(x, t.mean[c*f.dim:][:f.dim])
	}
	return max(0, variance)
}

// ahead returns the memory for the mean of a state carried to the next input.
func (f *Filter) ahead() []float64 {
	if len(f.system.blocks) > 0 {
		return f.blockWork.q
	}
	return f.x[:f.dim]
}

// reach sets the transitions from a tail to an input and the covariance there (for blocks blockWork.ahead, and Ph in blockWork.u;
// else p), and returns hᵀPh.
func (f *Filter) reach(t *Tail, at float64) float64 {
	if !(at >= t.at) {
		panic(fmt.Sprintf("statespace: an input %v before the last, %v", at, t.at))
	}
	f.next(at, at-t.at)
	if len(f.system.blocks) == 0 {
		f.spread(f.p, t.cov)
		return f.p[0]
	}
	f.advance(f.blockWork.ahead, f.blockWork.u, t.cov, t.gain, t.inv, f.blockWork.observed, -1)
	return f.system.see(f.blockWork.observed, f.blockWork.u)
}

// carry sets x to Φ·mean and returns hᵀx, after reach.
func (f *Filter) carry(x, mean []float64) float64 {
	if len(f.system.blocks) == 0 {
		f.forth(x, mean)
		return x[0]
	}
	f.turn(x, mean, -1)
	return f.system.see(f.blockWork.observed, x)
}

// Extend returns the tail after one more observation, at an input no earlier than the last. y has the value of each column;
// the noise variance is σ²·share + known. It takes O(D³ + cD² + c²), and allocates only the tail.
func (f *Filter) Extend(t *Tail, at float64, y []float64, share, known float64) (*Tail, error) {
	if len(y) != f.cols {
		panic(fmt.Sprintf("statespace: %d values of %d columns", len(y), f.cols))
	}
	noise := f.noise*share + known
	s := f.reach(t, at) + noise
	if !(s > 0) || math.IsInf(s, 1) {
		return nil, fmt.Errorf("statespace: the variance of an observation at %v is %v", at, s)
	}
	next := f.newTail()
	next.at = at
	if len(f.system.blocks) > 0 {
		next.inv = 1 / s
		copy(next.cov, f.blockWork.ahead)
		copy(next.gain, f.blockWork.u)
		for a, p := range next.gain {
			f.k[a] = p * next.inv
		}
	} else {
		for a := range f.k {
			f.k[a] = f.p[a*f.dim] / s
		}
		f.condition(next.cov, f.p, noise)
	}
	x := f.ahead()
	f.tailErrs = dense.Resize(f.tailErrs, f.cols)
	for c, v := range y {
		e := v - f.carry(x, t.mean[c*f.dim:][:f.dim])
		f.move(next.mean[c*f.dim:][:f.dim], x, e)
		f.tailErrs[c] = e
	}
	for a, e := range f.tailErrs {
		for b, v := range f.tailErrs {
			next.gram[a*f.cols+b] = t.gram[a*f.cols+b] + e*v/s
		}
	}
	return next, nil
}

// Over returns a filter of other inputs, columns, known variances and shares (nil as in NewFilter and SetScale), factorised
// with the parameters of f.
func (f *Filter) Over(ctx context.Context, t []float64, columns blas64.General, known, share []float64) (*Filter, error) {
	other := NewFilter(t, known)
	other.Ctx = ctx
	defer func() { other.Ctx = nil }()
	other.SetScale(share)
	if len(f.system.blocks) > 0 {
		return other, other.factorisePairs(columns, f.system.blocks, f.noise)
	}
	return other, other.factoriseSum(columns, f.cs, f.noise)
}

// AheadJointly sets row i of means, m×c, to the predictions of the columns at at[i], and calls cov(i, j, v) with the
// covariance v of the latent process at at[i] and at[j], once for each pair i ≥ j. The inputs ascend, and none precedes the
// last. It takes O(m·D³ + m²·D²).
func (f *Filter) AheadJointly(means blas64.General, t *Tail, at []float64, cov func(i, j int, v float64)) {
	x, c := make([]float64, f.dim), make([]float64, f.dim)
	for j, from := range at {
		v := f.Ahead(means.Data[j*means.Stride:][:means.Cols], t, from)
		cov(j, j, v)
		if len(f.system.blocks) > 0 {
			copy(c, f.blockWork.u)
		} else {
			for a := range c {
				c[a] = f.p[a*f.dim]
			}
		}
		for i := j + 1; i < len(at); i++ {
			f.lookAt(i)
			f.next(at[i], at[i]-at[i-1])
			v := f.carry(x, c)
			x, c = c, x
			cov(i, j, v)
		}
	}
}

// next sets the transitions over a gap to an input. There are no views and no exposures.
func (f *Filter) next(at, gap float64) {
	if len(f.system.blocks) == 0 {
		f.jump(gap)
		return
	}
	f.system.look(f.blockWork.observed, at)
	for b, block := range f.system.blocks {
		block.Process.Transition(f.blockWork.phi[b], f.blockWork.noise[b], gap)
	}
}
