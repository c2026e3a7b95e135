package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// Posterior is the Gaussian process given the data. Latent mean and variance describe the function f, including the mean
// function and the uncertainty of its coefficients. Noisy mean and variance describe a new observation y = f(x) + ε, whose
// variance is larger by σ². A Posterior is safe for concurrent use, and its answers do not depend on earlier calls.
type Posterior struct {
	model     Model
	predictor predictor // nil before any data
	engine    string
	dim       int // 0 before any data
	jitter    float64
	inexact   float64 // nats
	bound     float64 // bound on the error of the likelihood, nats per observation
	form      float64 // (y − Hβ̂)ᵀA⁻¹(y − Hβ̂) + β̂ᵀB⁻¹β̂, see regress.Fit.Quad
	horizon   horizon
	nugget    float64              // white part of the kernel, which belongs to f
	mean      *regress.Conditioned // nil for a mean of zero
	viewed    *viewedPosterior     // replaces the predictor for channels or exposures; nil without
	part      *ofTerms             // the terms if only some are asked for; nil: all
	inOrder   *inOrder             // nil: there is no series
	memory    float64              // bytes that a joint prediction may take
	held      int                  // rows that each input of a joint prediction takes, beside the covariance
}

// String has the model and the engine.
func (p *Posterior) String() string {
	return fmt.Sprintf("posterior of %v by the engine %s", p.model, p.engine)
}

// NewPosterior conditions m on the data exactly (Rasmussen and Williams 2006, eq. 2.25 and 2.26; the paper's μ* and Σ*), by the
// engine that suits it as for NewExact: it is the Posterior of that loss at the parameters of m. Densely that takes n³/3 flops
// and memory for n²/2 numbers, and n² flops per new input; with a state space it is linear in n.
//
// Given Data{}, no data at all, it is the prior, at inputs of any dimension: predictions before the first observation. The
// coefficients of a mean then need priors.
func NewPosterior(ctx context.Context, m Model, d Data, opts ...Option) (*Posterior, error) {
	if d.isEmpty() {
		return newPrior(m, opts)
	}
	l, err := NewExact(ctx, m, d, append(slices.Clone(opts), forPosterior)...)
	if err != nil {
		return nil, err
	}
	return l.Posterior(ctx, m.Values())
}

// Posterior conditions the model at theta on the data of the loss, as NewPosterior does.
func (l *Exact) Posterior(ctx context.Context, theta []float64) (post *Posterior, err error) {
	defer parallel.Stopped(&err)
	if l.viewed != nil {
		return l.viewed.posterior(ctx, theta)
	}
	of := l.sharp()
	_, f, err := of.evaluate(ctx, nil, theta, true)
	if err != nil {
		return nil, err
	}
	return of.posteriorBy(f, l.model.WithParams(theta), of.extent)
}

// Posterior conditions the model at theta on all n observations, exactly (NewPosterior): the projections serve to learn theta.
func (l *Projected) Posterior(ctx context.Context, theta []float64) (*Posterior, error) {
	return NewPosterior(ctx, l.model.WithParams(theta), l.conditioned, WithMemory(l.memory))
}

// Posterior conditions the model at theta on the data exactly (NewPosterior): the periodogram serves to learn theta.
func (l *Whittle) Posterior(ctx context.Context, theta []float64) (*Posterior, error) {
	return NewPosterior(ctx, l.model.WithParams(theta), l.data)
}

// Posterior returns the posterior of the wrapped loss.
func (m *MAP) Posterior(ctx context.Context, theta []float64) (*Posterior, error) {
	return posteriorWithin(ctx, m, theta)
}

// Posterior returns the posterior of the wrapped loss.
func (t *Tied) Posterior(ctx context.Context, theta []float64) (*Posterior, error) {
	return posteriorWithin(ctx, t, theta)
}

// posteriorWithin returns the posterior of a wrapped loss.
func posteriorWithin(ctx context.Context, l wrapping, theta []float64) (*Posterior, error) {
	within, at := l.within(theta)
	of, ok := within.(interface {
		Posterior(ctx context.Context, theta []float64) (*Posterior, error)
	})
	if !ok {
		return nil, fmt.Errorf("gppl: %v has no posterior", within)
	}
	return of.Posterior(ctx, at)
}

// sharp returns the loss as a posterior needs it, with engines that keep more digits.
func (l *Exact) sharp() *Exact {
	if l.options.posterior {
		return l
	}
	of := *l
	of.options.posterior = true
	of.prepare()
	of.chooser.LeftOut, of.chooser.Seconds = l.chooser.LeftOut, l.chooser.Seconds
	return &of
}

// posteriorBy is the posterior by a factor, which it keeps, of the model m.
func (l *Exact) posteriorBy(f exactFactor, m Model, x Inputs) (post *Posterior, err error) {
	p := &Posterior{model: m, engine: l.chooser.Engines(), dim: x.Dim(), jitter: f.jitter(), inexact: l.Report().LastInexact,
		bound: l.Report().LastBound / float64(l.n), horizon: newHorizon(m, l.rows.Least(m.Noise), l.n, x),
		nugget: capability.Nugget(m.Kernel),
		memory: l.options.Memory}
	if p.mean, p.form, err = l.given(f); err != nil {
		return nil, fmt.Errorf("gppl: %w (%v)", err, m)
	}
	p.predictor = f.posterior()
	p.held = heldRows(p.predictor, l.n)
	if l.series != nil {
		p.inOrder = &inOrder{make: func(ctx context.Context) (*Posterior, error) { return l.inOrder(ctx, m, x) }}
	}
	return p, nil
}

// inOrder is the posterior of m by a state space, whatever engine the loss has chosen.
func (l *Exact) inOrder(ctx context.Context, m Model, x Inputs) (post *Posterior, err error) {
	defer parallel.Stopped(&err)
	of := *l
	of.only, of.options.Engine, of.options.posterior = EngineStateSpace, "", true
	of.setEngines([]exactEngine{newStateSpaceExact(l.series).within(of.options)})
	_, f, err := of.evaluate(ctx, nil, Values(m.Params()), true)
	if err != nil {
		return nil, err
	}
	return of.posteriorBy(f, m, x)
}

// inOrder is a posterior by a state space beside one by another engine, made when Update first asks for it.
type inOrder struct {
	make func(ctx context.Context) (*Posterior, error)
	mu   sync.Mutex
	of   *Posterior
}

// get returns the posterior, which it makes once; an error is not kept.
func (o *inOrder) get(ctx context.Context) (of *Posterior, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of, err = o.make(ctx)
	}
	return o.of, err
}

// heldRows returns how many numbers a joint prediction holds for each input, beside the covariance, by a posterior of n
// observations: the covariances with what it is conditioned on, and what they are solved to.
func heldRows(p predictor, n int) int {
	switch p := p.(type) {
	case conditioner:
		less, more := p.factors.rows()
		return less + more
	case exactPosterior, *bandedPosterior:
		return n
	case *stateSpacePosterior, *toeplitzPosterior:
		return 2 * n
	case *spectralPosterior:
		return 3 * len(p.Features)
	case *griddedPosterior:
		return p.factor.Size()
	case *mixedPosterior:
		return 2 * p.Columns()
	case *basedPosterior:
		return 2*p.Columns() + heldRows(p.of, n)
	}
	return 0
}

// Jitter returns the jitter that factorising needed on the diagonal, usually 0.
func (p *Posterior) Jitter() float64 { return p.jitter }

// Inexact returns 0 if the engine keeps the tolerance. If no engine could, or the one that WithEngine names does not, it returns
// the error bound, in nats, of the likelihood of the data by the same factor (LossReport.LastInexact). Means and variances may
// then be off by much more than rounding: use another engine.
func (p *Posterior) Inexact() float64 { return p.inexact }

// Model returns the model that was conditioned.
func (p *Posterior) Model() Model { return p.model }

// Engine returns the name of the engine that computes the posterior.
func (p *Posterior) Engine() string { return p.engine }

// Latent returns the posterior mean and variance of f at each x. Where the kernel has decayed to zero between x and all of the
// data, the answer is the prior. It is an error, with the index, if an input is not finite, or so far from the data that their
// distance lacks the digits that the kernel needs (1e300 for a Periodic): mean and variance are NaN there, and correct elsewhere.
// If ctx ends, its error is returned and no value is valid. It panics if x has another dimension than the data.
//
// For a model with channels f is the process itself: Channel adds the offset of a channel.
func (p *Posterior) Latent(ctx context.Context, x Inputs) (mean, variances []float64, err error) {
	if p.viewed != nil {
		return p.function(ctx, x)
	}
	defer parallel.Stopped(&err)
	p.checkDim(x)
	n := x.Len()
	mean, variances = make([]float64, n), make([]float64, n)
	near, prior, err := p.horizon.divide(x)
	for i := range n {
		mean[i], variances[i] = math.NaN(), math.NaN()
	}
	beyond, v := dense.New(len(prior), p.columns()), make([]float64, len(prior))
	variancesAt(v, p.model.Kernel, x.Pick(prior))
	if e := p.setMeans(mean, variances, x, prior, beyond); e != nil {
		return mean, variances, e
	}
	for j, i := range prior {
		variances[i] += v[j] + p.nugget
	}
	if e := ctx.Err(); e != nil {
		return mean, variances, e
	}
	if len(near) == 0 {
		return mean, variances, err
	}
	means, nearVariances := dense.New(len(near), p.columns()), make([]float64, len(near))
	e := p.predictor.latent(ctx, means, nearVariances, x.Pick(near))
	if far := (*farError)(nil); errors.As(e, &far) {
		i := near[far.index]
		err = cmp.Or(err, fmt.Errorf("gppl: the posterior at x[%d] = %v: %w", i, x.At(i), far.err))
	} else if e != nil {
		return mean, variances, e
	}
	if e := p.setMeans(mean, variances, x, near, means); e != nil {
		return mean, variances, e
	}
	for j, i := range near {
		variances[i] += max(nearVariances[j], 0) + p.nugget // rounding, where the data determine f
		if math.IsNaN(variances[i]) {
			mean[i] = math.NaN()
		}
		if bad := math.IsNaN(mean[i]) || math.IsNaN(variances[i]); bad && err == nil {
			err = fmt.Errorf("gppl: the posterior at x[%d] = %v is not a number: the parameters of %v are out of the range of float64",
				i, x.At(i), p.model)
		}
	}
	return mean, variances, err
}

// Noisy returns the posterior mean and variance of a new observation of f(x) itself at each x, with the errors of Latent. It is
// an error for a model with channels: use Channel.
func (p *Posterior) Noisy(ctx context.Context, x Inputs) (mean, variances []float64, err error) {
	if len(p.model.Channels) > 0 {
		return nil, nil, errors.New("gppl: Posterior.Noisy: a new observation is of a channel: use Channel, and add its noise variance")
	}
	mean, variances, err = p.Latent(ctx, x)
	floats.AddConst(p.model.Noise, variances)
	return mean, variances, err
}

// columns returns c, the number of columns of the predictor's means.
func (p *Posterior) columns() int { return p.mean.Of().Len() }

// basisOf returns the basis of the mean at x in the coordinates of the regression.
func (p *Posterior) basisOf(x Inputs) (*mat.Dense, error) {
	h, err := p.part.basis(p.model.Mean, x)
	if err != nil {
		return nil, err
	}
	return p.mean.Basis.Apply(h), nil
}

// setMeans sets the posterior mean at the x with the given indices (row j of means belongs to the jth index), and the variance to
// the part that comes from the uncertainty of the coefficients.
func (p *Posterior) setMeans(mean, variances []float64, x Inputs, at []int, means blas64.General) error {
	if len(at) == 0 {
		return nil
	}
	if p.mean == nil {
		for j, i := range at {
			mean[i], variances[i] = means.Data[j], 0
		}
		return p.addPriorMean(variances, x, at)
	}
	q, err := p.basisOf(x.Pick(at))
	if err != nil {
		return err
	}
	for j, i := range at {
		mean[i], variances[i] = p.mean.Predict(q.RawRowView(j), means.Data[j*means.Stride:][:means.Cols])
	}
	return nil
}

func (p *Posterior) checkDim(x Inputs) {
	if x.Dim() != p.dim && p.dim != 0 {
		panic(fmt.Sprintf("gppl: Posterior: x has dimension %d, the data have %d", x.Dim(), p.dim))
	}
	if p.dim == 0 && x.Len() > 0 { // a prior
		if err := p.model.CheckAxes(x); err != nil {
			panic("gppl: Posterior: " + err.Error())
		}
	}
}

// checkPlain returns an error if p is of channels or exposures.
func (p *Posterior) checkPlain(what string) error {
	if p.viewed != nil {
		return fmt.Errorf("gppl: %s does not take a posterior of channels or exposures", what)
	}
	return nil
}

// roomFor returns a MemoryError if a joint prediction at n inputs, and further bytes, would take more than is allowed.
func (p *Posterior) roomFor(n int, further float64, what string) error {
	needed := 8*triangle(n) + 8*float64(n)*float64(p.held) + further
	if needed > p.memory {
		return &MemoryError{What: fmt.Sprintf("%s at n = %d inputs jointly", what, n), Needed: needed, Limit: p.memory}
	}
	return nil
}

// joint returns the posterior mean and covariance of f at x, without the nugget.
func (p *Posterior) joint(ctx context.Context, x Inputs) (mean []float64, cov *dense.Lower, err error) {
	means, cov, err := p.engineJoint(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	mean, spread, err := p.meanAndSpread(x, means)
	if err != nil {
		return nil, nil, err
	}
	cov.AddOuter(1, spread)
	return mean, cov, nil
}

// engineJoint returns what each column of C predicts at x, and the covariance if the mean were known.
func (p *Posterior) engineJoint(ctx context.Context, x Inputs) (means blas64.General, cov *dense.Lower, err error) {
	n := x.Len()
	near, prior, err := p.horizon.divide(x)
	if err != nil {
		return means, nil, err
	}
	if err := ctx.Err(); err != nil {
		return means, nil, err
	}
	means, cov = dense.New(n, p.columns()), dense.NewLower(n)
	cov.Ctx = ctx
	if len(prior) == 0 {
		return means, cov, p.predictor.joint(ctx, means, cov, x)
	}
	// Inputs beyond the horizon have their prior covariances, also with those that are not.
	fillGram(cov, x, p.model.Kernel, 0)
	cov.EachTile(func(_, _ int, t blas64.General) {
		for i, v := range t.Data {
			if math.IsNaN(v) { // a distance overflows; the kernel dies out before
				t.Data[i] = 0
			}
		}
	})
	if len(near) == 0 {
		return means, cov, nil
	}
	m, c := dense.New(len(near), p.columns()), dense.NewLower(len(near))
	c.Ctx = ctx
	if err := p.predictor.joint(ctx, m, c, x.Pick(near)); err != nil {
		return means, nil, err
	}
	dense.Scatter(means, m, near)
	for j, at := range near {
		for k, other := range near[:j+1] {
			cov.SetEntry(at, other, c.Entry(j, k))
		}
	}
	return means, cov, nil
}

// horizon knows the inputs at which a posterior equals the prior, since the kernel has decayed to zero between them and all of
// the data, and the inputs at which there is no answer.
type horizon struct {
	kernel   Kernel
	lo, hi   []float64 // the box around what was conditioned on, an entry per axis
	reach    float64   // beyond this distance from the box is the prior
	variance float64
}

// farCovariance is the covariance with a datum, relative to what would matter, below which an input is beyond the horizon. What n
// data of it add to the mean is below rounding: |α| ≤ |y|/σ², and n·σ²/(v + σ²) is divided out.
const farCovariance = 0x1p-53

func newHorizon(m Model, noise float64, n int, conditioned ...Inputs) horizon {
	v, d := variance(m.Kernel), conditioned[0].Dim()
	eps := max(farCovariance*noise/((v+noise)*float64(n)), 1e-250)
	h := horizon{m.Kernel, slices.Repeat([]float64{math.Inf(1)}, d), slices.Repeat([]float64{math.Inf(-1)}, d),
		reach(m.Kernel, eps), v}
	for _, x := range conditioned {
		h = h.with(x)
	}
	return h
}

// distance returns the distance of a point from the box of the data, or +Inf if it overflows.
func (h horizon) distance(x []float64) (d float64) {
	if h.lo == nil { // no data
		return math.Inf(1)
	}
	for j, v := range x {
		d = math.Hypot(d, max(h.lo[j]-v, v-h.hi[j], 0))
	}
	return d
}

// divide returns the indices of the inputs that an engine has to look at, and of those where the posterior is the prior. The
// error is about the first of the others: not finite, or so far away that there is no telling.
func (h horizon) divide(x Inputs) (near, prior []int, err error) {
	for i := range x.Len() {
		switch d := h.distance(x.At(i)); {
		case !numeric.AllFinite(x.At(i)...):
			if err == nil {
				err = x.check("x")
			}
		case d >= h.reach && d > 0:
			prior = append(prior, i)
		case d > 0 && h.blurred(d):
			if err == nil {
				err = fmt.Errorf("gppl: x[%d] = %v is too far from the data: their distance, to 16 digits, does not determine the"+
					" covariance of %v", i, x.At(i), h.kernel)
			}
		default:
			near = append(near, i)
		}
	}
	return near, prior, err
}

// blurred reports whether the rounding of distances of about d moves the covariance by more than a millionth of the variance:
// |k′(d)|·2⁻⁵²·d, at several distances, since k′ may be zero at one.
func (h horizon) blurred(d float64) bool {
	const rounding, most, several = 0x1p-52, 1e-6, 16
	var r, slope [several]float64
	for j := range r {
		r[j] = d * (1 + float64(j)/256)
	}
	h.kernel.Slope(slope[:], r[:])
	for j, s := range slope {
		if !(math.Abs(s)*r[j]*rounding <= most*h.variance) {
			return true
		}
	}
	return false
}

// Coefficients returns the learnt coefficient of each column of the model's mean, in order; nil if it has no mean.
func (p *Posterior) Coefficients() []Coefficient { return coefficients(p.mean) }

// checkDrawn is an error if the prior of a coefficient is flat.
func checkDrawn(m Mean) error {
	for _, c := range m.Columns() {
		if math.IsInf(c.Variance, 1) {
			return fmt.Errorf("gppl: the coefficient of column %q of the mean has a flat prior, which cannot be drawn from: give it a"+
				" prior (GaussianBeta)", c.Name)
		}
	}
	return nil
}

// drawMean adds a draw of the mean to f, of independent normals by next. It is an
// error if a prior is flat: there is no such distribution.
func (m Model) drawMean(f []float64, x Inputs, next func() float64) error {
	if err := checkDrawn(m.Mean); err != nil {
		return err
	}
	h, err := basisAt(m.Mean, x)
	if err != nil {
		return err
	}
	for j, c := range m.Mean.Columns() {
		beta := math.Sqrt(c.Variance) * next()
		for i := range f {
			f[i] += beta * h.At(i, j)
		}
	}
	return nil
}
