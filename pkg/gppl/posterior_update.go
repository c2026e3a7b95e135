package gppl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// Update returns the posterior given also the observations of d, one after another, none of them before the last one in p. p
// does not change. The parameters, the standardisation of regressors and everything else of the model are p's: the answer
// equals NewPosterior for all observations, up to the error bounds of both.
//
// A state space processes each observation in O(D³ + hD²), where D is the size of its state and h the number of columns of the
// mean, for any number of observations: microseconds. Predictions from the last observation on then cost as much. The first
// prediction before it conditions on all observations, once, in O(n).
//
// If another engine made p, as the automatic choice does for few observations, the first Update conditions the same
// observations by a state space, in O(n), once for all updates of p: the answer's Engine and Inexact are the state space's.
//
// Update returns an error if d is not valid, if an observation is older than the last of p, or if no state space of the kernel
// is known (SE, RQ): other engines factorise all observations together, and NewPosterior with the longer data costs as much as
// for p (n³/3 flops densely). Sums process an observation by Sums.Add in O(1), and NewPosterior of SumsData then costs as much
// as before.
func (p *Posterior) Update(ctx context.Context, d Data) (post *Posterior, err error) {
	defer parallel.Stopped(&err)
	if err := p.checkUpdate(d); err != nil {
		return nil, err
	}
	if p.dim == 0 { // before any data
		return NewPosterior(ctx, p.model, d, WithMemory(p.memory))
	}
	if !p.takesMore() && p.inOrder != nil {
		of, err := p.inOrder.get(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("gppl: Posterior.Update: interrupted: %w", ctx.Err())
		case err != nil:
			return nil, fmt.Errorf("gppl: Posterior.Update: the %s engine factorises all observations together, and takes no further"+
				" one: NewPosterior conditions on all of them. No state space does so in order: %w", p.engine, err)
		}
		p = of
	}
	u, err := p.updated()
	if err != nil {
		return nil, err
	}
	for i := range d.Y {
		parallel.Look(ctx)
		if u, err = u.next(p.model.Mean, d, i); err != nil {
			return nil, err
		}
	}
	return u.posterior(p, d)
}

// errOlder says that an observation precedes the last one in a posterior.
var errOlder = errors.New("it is before the last observation: condition anew on all of them (NewPosterior)")

func (p *Posterior) checkUpdate(d Data) error {
	if err := p.checkPlain("Posterior.Update"); err != nil {
		return err
	}
	if p.part != nil {
		return errors.New("gppl: a posterior of some terms cannot be updated: observations depend on all terms")
	}
	if d.isViewed() {
		return errors.New("gppl: Posterior.Update does not take channels or exposures")
	}
	if err := d.Check(); err != nil {
		return err
	}
	p.checkDim(d.X)
	return nil
}

var _ solver = (*updated)(nil)

// updated is a posterior of a state space after later observations.
type updated struct {
	base  *stateSpacePosterior
	mean  *regress.Regression // nil for a mean of zero
	tail  *statespace.Tail
	added *addedRow // nil without later observations
	whole *whole
}

// whole is the posterior of all observations, computed at the first call by the holder of turn.
type whole struct {
	turn chan struct{} // holds one
	of   *stateSpacePosterior
}

func newUpdated(base *stateSpacePosterior, mean *regress.Regression, tail *statespace.Tail, added *addedRow) *updated {
	return &updated{base: base, mean: mean, tail: tail, added: added, whole: &whole{turn: make(chan struct{}, 1)}}
}

// addedRow is a later observation, linked to its predecessors.
type addedRow struct {
	before       *addedRow
	count        int
	at           float64
	columns      []float64
	share, known float64
}

// takesMore reports whether the predictor of p accepts further observations.
func (p *Posterior) takesMore() bool {
	switch p.predictor.(type) {
	case *updated, *stateSpacePosterior:
		return true
	}
	return false
}

// updated returns the predictor of p in a form that accepts further observations.
func (p *Posterior) updated() (*updated, error) {
	switch of := p.predictor.(type) {
	case *updated:
		return of, nil
	case *stateSpacePosterior:
		var tail *statespace.Tail
		of.read(context.Background(), func(f *statespace.Filter) { tail = f.Tail() })
		return newUpdated(of, p.mean.Of(), tail, nil), nil
	}
	return nil, fmt.Errorf("gppl: Posterior.Update: the %s engine factorises all observations together, and takes no further"+
		" one: NewPosterior conditions on all of them", p.engine)
}

// next returns u after observation i of d; m is the mean of the model.
func (u *updated) next(m Mean, d Data, i int) (*updated, error) {
	at := d.X.At(i)[0]
	if at < u.tail.At() {
		return nil, fmt.Errorf("gppl: Posterior.Update: observation %d at x = %v, after %v: %w", i, at, u.tail.At(), errOlder)
	}
	row := &addedRow{before: u.added, count: 1, at: at, share: 1}
	if u.added != nil {
		row.count += u.added.count
	}
	if d.Errors != nil {
		row.known = d.Errors[i] * d.Errors[i]
	}
	if d.Relative != nil {
		row.share = d.Relative[i] * d.Relative[i]
	}
	if row.columns = []float64{d.Y[i]}; m != nil {
		h, err := basisAt(m, d.X.Slice(i, i+1))
		if err != nil {
			return nil, err
		}
		row.columns = u.mean.Row(h, d.Y[i])
	}
	var tail *statespace.Tail
	var err error
	u.base.read(context.Background(), func(f *statespace.Filter) {
		tail, err = f.Extend(u.tail, at, row.columns, row.share, row.known)
	})
	if err != nil {
		return nil, fmt.Errorf("gppl: Posterior.Update: %w", err)
	}
	return newUpdated(u.base, u.mean, tail, row), nil
}

// posterior returns the posterior of u, which began as p and took the observations of d.
func (u *updated) posterior(p *Posterior, d Data) (*Posterior, error) {
	next := *p
	next.predictor = u
	g := dense.New(p.columns(), p.columns())
	u.tail.Gram(g)
	var err error
	if next.mean, err = u.mean.Given(g); err != nil {
		return nil, fmt.Errorf("gppl: Posterior.Update: %w (%v)", err, p.model)
	}
	next.form = next.mean.Quad(g)
	next.horizon = p.horizon.with(d.X)
	return &next, nil
}

// with returns the horizon with further inputs in its box. Its reach still assumes the earlier number of observations: twice
// as many move it by no more than rounding does.
func (h horizon) with(x Inputs) horizon {
	lo, hi := make([]float64, len(h.lo)), make([]float64, len(h.hi))
	for j := range lo {
		a, b := x.Range(j)
		lo[j], hi[j] = min(h.lo[j], a), max(h.hi[j], b)
	}
	h.lo, h.hi = lo, hi
	return h
}

// latent predicts from the last observation on by the tail, and before it from all observations.
func (u *updated) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, at := range x.at {
		if at < u.tail.At() {
			whole, err := u.condition(ctx)
			if err != nil {
				return err
			}
			return whole.latent(ctx, means, variances, x)
		}
	}
	u.base.read(ctx, func(f *statespace.Filter) {
		for i, at := range x.at {
			parallel.Look(ctx)
			v := f.Ahead(means.Data[i*means.Stride:][:means.Cols], u.tail, at)
			if variances != nil {
				variances[i] = v
			}
		}
	})
	return nil
}

// joint predicts from the last observation on by the tail too, if x is ascending.
func (u *updated) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.at[0] >= u.tail.At() && slices.IsSorted(x.at) {
		u.base.read(ctx, func(f *statespace.Filter) { f.AheadJointly(means, u.tail, x.at, cov.SetEntry) })
		return nil
	}
	whole, err := u.condition(ctx)
	if err != nil {
		return err
	}
	return whole.joint(ctx, means, cov, x)
}

// condition conditions on all observations, once; if ctx interrupts it, the next call begins anew.
func (u *updated) condition(ctx context.Context) (*stateSpacePosterior, error) {
	if u.added == nil {
		return u.base, nil
	}
	select {
	case u.whole.turn <- struct{}{}:
		defer func() { <-u.whole.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if u.whole.of != nil {
		return u.whole.of, nil
	}
	old, n, m := u.base.line, len(u.base.line.T), u.added.count
	all := &observed.Line{T: append(old.T[:n:n], make([]float64, m)...), Columns: dense.New(n+m, old.Columns.Cols)}
	for i := range n {
		copy(all.Columns.Data[i*all.Columns.Stride:][:all.Columns.Cols], old.Columns.Data[i*old.Columns.Stride:])
	}
	known, scale := longer(old.Noise.Known, n, m, 0), longer(old.Noise.Scale, n, m, 1)
	for row := u.added; row != nil; row = row.before {
		i := n + row.count - 1
		all.T[i], known[i], scale[i] = row.at, row.known, row.share
		copy(all.Columns.Data[i*all.Columns.Stride:], row.columns)
	}
	all.Noise = observed.NewNoise(scale, known)
	filter, err := u.base.filter.Over(ctx, all.T, all.Columns, known, scale)
	if err != nil {
		return nil, fmt.Errorf("gppl: Posterior.Update: conditioning on all observations: %w", err)
	}
	u.whole.of = &stateSpacePosterior{line: all, kernel: u.base.kernel, filter: filter, lost: u.base.lost,
		noise: u.base.noise}
	return u.whole.of, nil
}

func (u *updated) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	whole, err := u.condition(ctx)
	if err != nil {
		return err
	}
	return whole.given(ctx, means, cov, of)
}

func (u *updated) observations(ctx context.Context) (*conditions, error) {
	whole, err := u.condition(ctx)
	if err != nil {
		return nil, err
	}
	return whole.observations(ctx)
}

// longer returns a copy of x with capacity for m more numbers; a nil x becomes n times missing.
func longer(x []float64, n, m int, missing float64) []float64 {
	out := make([]float64, n+m)
	for i := range n {
		if out[i] = missing; x != nil {
			out[i] = x[i]
		}
	}
	return out
}

// OneStep returns the one-step-ahead prediction of each observation of d: its mean and variance, noise included, given the
// data of p and the earlier observations of d. The standardised errors (y − mean)/√variance are independent and N(0, 1) if the
// model holds.
//
// With a state space and observations in order, none before the last of p, it takes O(D³) for each. Otherwise the m
// observations of d are predicted jointly, and the Cholesky factor of their covariance makes them independent: O(m³), and
// memory for m² numbers. OneStep returns an error if d is not valid, the errors of Sample, or ctx's. If the errors of the data
// are relative, so is all of the noise, a White term of the kernel included.
func (p *Posterior) OneStep(ctx context.Context, d Data) (mean, variances []float64, err error) {
	defer parallel.Stopped(&err)
	if err := p.checkUpdate(d); err != nil {
		return nil, nil, err
	}
	noise := make([]float64, d.Len())
	rows := d.rowNoise()
	rows.Set(noise, d.Len(), p.model.Noise+p.nugget)
	if mean, variances, err = p.stepByStep(ctx, d, noise); err == nil {
		return mean, variances, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return p.stepsJointly(ctx, d, noise)
}

// stepByStep is OneStep by updates.
func (p *Posterior) stepByStep(ctx context.Context, d Data, noise []float64) (mean, variances []float64, err error) {
	for i := range d.Y {
		if i > 0 {
			if p, err = p.Update(ctx, d.Pick([]int{i - 1})); err != nil {
				return nil, nil, err
			}
		} else if _, err := p.updated(); err != nil || d.X.At(0)[0] < p.horizon.hi[0] {
			return nil, nil, errOlder
		}
		m, v, err := p.Latent(ctx, d.X.Slice(i, i+1))
		if err != nil {
			return nil, nil, err
		}
		mean, variances = append(mean, m[0]), append(variances, v[0]-p.nugget+noise[i])
	}
	return mean, variances, nil
}

// stepsJointly is OneStep by the joint prediction: with its covariance LLᵀ and e = L⁻¹(y − μ), the errors are L_ii·e_i, and the
// variances L_ii².
func (p *Posterior) stepsJointly(ctx context.Context, d Data, noise []float64) (mean, variances []float64, err error) {
	if err := p.roomFor(d.Len(), 0, "predicting"); err != nil {
		return nil, nil, err
	}
	mean, cov, err := p.joint(ctx, d.X)
	if err != nil {
		return nil, nil, err
	}
	cov.AddDiagonals(noise)
	if err := cov.Cholesky(); err != nil {
		return nil, nil, notFactorised(p.model.Kernel, p.model.Noise, err,
			"gppl: the covariance of %d predictions cannot be factorised: %v", d.Len(), err)
	}
	e := floats.SubTo(make([]float64, d.Len()), d.Y, mean)
	cov.SolveL(dense.AsColumn(e))
	variances = make([]float64, d.Len())
	for i := range e {
		l := cov.Entry(i, i)
		mean[i], variances[i] = d.Y[i]-l*e[i], l*l
	}
	return mean, variances, nil
}
