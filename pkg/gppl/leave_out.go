package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/leaveout"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/toeplitz"
)

// LeaveOut predicts from one factorisation of all the data (internal/leaveout): by a root of A, by rows of A⁻¹, or from the
// two sides of a block by a state space (statespace.LeaveOut). Any other posterior gives A⁻¹ by its predictions at the data,
// Cᵢ − (σ²A⁻¹C)ᵢ with the variance σ² − σ⁴(A⁻¹)ᵢᵢ, where σ² includes the known error of yᵢ.
//
// Each way estimates the effect of rounding on its predictions, and returns an error where that is a large share of a standard
// deviation.

// LeaveOut returns the mean and variance of each observation y_i given all observations outside its block under the model m,
// including the noise and known error of y_i. blocks holds indices into d; nil means n blocks of one observation each. mean[i]
// and variances[i] are NaN for an observation in no block. The parameters are not learned again. (Rasmussen and Williams 2006,
// eq. 5.12; Dubrule 1983 with a mean.)
//
// One factorisation serves all: for blocks of one, it costs as much as a posterior and its prediction at the n inputs. A block of
// b observations costs O(nb² + b³) more with most engines; with the state space it costs as much as filtering from its first to
// its last observation.
//
// LeaveOut returns an error if m or d is not valid, and the errors of NewPosterior; if an index is out of range or occurs twice;
// if the observations outside a block do not determine a coefficient of the mean with a flat prior; or if rounding may shift a
// prediction by a hundredth of its standard deviation, or its variance by a hundredth. Rounding can be that large where the noise
// is below about 1e-10 of the variance: no engine, or not the one that WithEngine names, then has enough digits.
func LeaveOut(ctx context.Context, m Model, d Data, blocks [][]int, opts ...Option) (mean, variances []float64, err error) {
	if blocks == nil {
		blocks = slices.Collect(slices.Chunk(timeline.Range(0, d.Len()), 1))
	}
	if err := m.CheckPlain("leaving out", d); err != nil {
		return nil, nil, err
	}
	defer parallel.Stopped(&err)
	if err := checkBlocks(blocks, d.Len()); err != nil {
		return nil, nil, err
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, nil, err
	}
	mean, variances, err = leaveOut(ctx, m, d, blocks, opts)
	var lost *lostError
	if o.Engine != "" || !errors.As(err, &lost) {
		return mean, variances, err
	}
	for _, engine := range [...]string{EngineStateSpace, EngineDense} {
		if engine == lost.engine || engine == EngineDense && d.Len() > maxLeaveOutAgain {
			continue
		}
		if mean, variances, again := leaveOut(ctx, m, d, blocks, append(slices.Clone(opts), WithEngine(engine))); again == nil {
			return mean, variances, nil
		}
		if ended := ctx.Err(); ended != nil {
			return nil, nil, ended
		}
	}
	return nil, nil, err
}

// maxLeaveOutAgain is the largest number of observations for which the dense engine, in some ten seconds, replaces an engine
// that fails.
const maxLeaveOutAgain = 4000

// leaveOut is LeaveOut with one engine.
func leaveOut(ctx context.Context, m Model, d Data, blocks [][]int, opts []Option) (mean, variances []float64, err error) {
	p, err := NewPosterior(ctx, m, d, opts...)
	if err != nil {
		return nil, nil, err
	}
	return p.leaveOut(ctx, m, d, blocks)
}

// leaveOut is LeaveOut by the posterior of m and d.
func (p *Posterior) leaveOut(ctx context.Context, m Model, d Data, blocks [][]int) (mean, variances []float64, err error) {
	_, columns, err := dataColumns(ctx, m, d)
	if err != nil {
		return nil, nil, err
	}
	largest := 0
	for _, block := range blocks {
		largest = max(largest, len(block))
	}
	if _, smoothed := p.predictor.(*stateSpacePosterior); !smoothed {
		// Rows of L⁻¹ or of A⁻¹, their transforms, and two matrices of the block.
		b := float64(largest)
		if err := p.roomFor(largest, 8*b*(3*float64(d.Len())+2*b), "leaving out"); err != nil {
			return nil, nil, err
		}
	}
	l := p.leaver(ctx, d, columns)
	mean, variances = make([]float64, d.Len()), make([]float64, d.Len())
	for i := range mean {
		mean[i], variances[i] = math.NaN(), math.NaN()
	}
	for _, block := range blocks {
		if l.p.mean == nil || len(block) == 0 {
			continue
		}
		if j, lost := l.p.mean.Basis.Lost(block); lost {
			return nil, nil, fmt.Errorf("gppl: %s cannot be left out: the others do not determine column %q of the mean: give it a"+
				" prior (GaussianBeta)", observations(block), m.Mean.Columns()[j].Name)
		}
	}
	switch engine := p.predictor.(type) {
	case *stateSpacePosterior:
		err = l.bySmoothing(engine, mean, variances, blocks)
	case exactPosterior:
		err = l.byRoot(engine, mean, variances, blocks)
	case *bandedPosterior:
		err = l.byRoot(engine.exactPosterior, mean, variances, blocks)
	case *toeplitzPosterior:
		err = l.byRows(engine, mean, variances, blocks)
	default:
		err = l.byInverse(mean, variances, blocks)
	}
	if err != nil {
		return nil, nil, err
	}
	return mean, variances, nil
}

// leaver returns the leaver of the data with the columns of C and the posterior p.
func (p *Posterior) leaver(ctx context.Context, d Data, columns blas64.General) leaver {
	l := leaver{ctx: ctx, p: p, x: d.X, Observations: leaveout.Observations{Y: d.Y, Noise: make([]float64, d.Len()),
		Columns: columns, Length: math.Sqrt(p.form), Eta: p.bound}}
	if p.mean != nil {
		l.Fit = p.mean.Fit
	}
	rows := d.rowNoise()
	rows.Set(l.Noise, d.Len(), p.model.Noise+capability.Nugget(p.model.Kernel))
	floats.AddConst(p.jitter, l.Noise)
	return l
}

// A lostError says that rounding is large compared with the standard deviation of a prediction.
type lostError struct {
	engine string
	block  []int
	off    float64 // error in standard deviations
}

func (e *lostError) Error() string {
	return fmt.Sprintf("gppl: %s cannot be left out: rounding errors of the %s engine may shift the prediction by %.2g of its"+
		" standard deviation", observations(e.block), e.engine, e.off)
}

// lost turns an error of leaveout into one that names observations.
func (l *leaver) lost(err error, blocks [][]int) error {
	if lost, ok := errors.AsType[*leaveout.LostError](err); ok {
		return &lostError{l.p.engine, blocks[lost.Block], lost.Off}
	}
	return err
}

func checkBlocks(blocks [][]int, n int) error {
	seen := make([]bool, n)
	for b, block := range blocks {
		for _, i := range block {
			if i < 0 || i >= n {
				return fmt.Errorf("gppl: block %d has the index %d, but there are %d observations", b, i, n)
			}
			if seen[i] {
				return fmt.Errorf("gppl: observation %d is in block %d and in one before it, or twice", i, b)
			}
			seen[i] = true
		}
	}
	return nil
}

// observations names the observations of a block.
func observations(block []int) string {
	if len(block) == 1 {
		return fmt.Sprintf("observation %d", block[0])
	}
	return fmt.Sprintf("%d observations from %d on", len(block), block[0])
}

// leaver leaves observations out of a posterior.
type leaver struct {
	leaveout.Observations
	ctx context.Context
	p   *Posterior
	x   Inputs
}

// byInverse leaves out by P_BB = A⁻¹_BB minus the part of the mean.
func (l *leaver) byInverse(mean, variances []float64, blocks [][]int) error {
	if !slices.ContainsFunc(blocks, func(block []int) bool { return len(block) > 1 }) {
		return l.ones(mean, variances, blocks)
	}
	for b, at := range blocks {
		parallel.Look(l.ctx)
		if len(at) == 0 {
			continue
		}
		means, cov := dense.New(len(at), l.Columns.Cols), dense.NewLower(len(at))
		cov.Ctx = l.ctx
		if err := l.p.predictor.joint(l.ctx, means, cov, l.x.Pick(at)); err != nil {
			return err
		}
		if err := l.Block(mean, variances, means, cov, b, at); err != nil {
			return l.lost(err, blocks)
		}
	}
	return nil
}

// ones leaves out one observation at a time.
func (l *leaver) ones(mean, variances []float64, blocks [][]int) error {
	var at []int
	for _, b := range blocks {
		at = append(at, b...)
	}
	if len(at) == 0 {
		return nil
	}
	solved, precisions := dense.New(len(at), l.Columns.Cols), make([]float64, len(at))
	if err := l.diagonal(solved, precisions, at); err != nil {
		return err
	}
	for j, i := range at {
		if err := l.One(mean, variances, dense.Row(solved, j).Data, precisions[j], i); err != nil {
			return l.lost(err, [][]int{{i}})
		}
	}
	return nil
}

// diagonal sets precisions to the entries of the diagonal of A⁻¹ at the observations, and solved to their rows of A⁻¹C.
func (l *leaver) diagonal(solved blas64.General, precisions []float64, at []int) error {
	if err := l.p.predictor.latent(l.ctx, solved, precisions, l.x.Pick(at)); err != nil {
		return err
	}
	l.Precisions(precisions, at)
	l.Solve(solved, at)
	return nil
}

// bySmoothing leaves out by the state space: single observations by the posterior at their inputs, in a few times the time of
// a filter; blocks, and single observations where that loses too many digits, by predicting each from its two sides.
func (l *leaver) bySmoothing(p *stateSpacePosterior, mean, variances []float64, blocks [][]int) error {
	if !slices.ContainsFunc(blocks, func(block []int) bool { return len(block) > 1 }) {
		// P − PNP has a few roundings of v, which count by σ⁻² in (A⁻¹)_ii = σ⁻² − σ⁻⁴(P − PNP).
		l.Eta += 16 * 0x1p-53 * (1 + variance(l.p.model.Kernel)/slices.Min(l.Noise))
		var lost *lostError
		if err := l.ones(mean, variances, blocks); !errors.As(err, &lost) {
			return err
		}
	}
	if off := l.Smoothed(variance(l.p.model.Kernel)) + l.Missing(p.lost); off > leaveout.Trust {
		return &lostError{l.p.engine, blocks[0], off}
	}
	return l.placed(mean, variances, blocks, p.line.Ranks(), len(l.Y), func(m, v []float64, blocks [][]int) error {
		var err error
		p.read(l.ctx, func(f *statespace.Filter) { err = f.LeaveOut(m, v, p.line.Columns, l.p.mean.PriorMeans(), blocks) })
		if err != nil {
			return fmt.Errorf("gppl: leaving out by the state space: %w", err)
		}
		return nil
	})
}

// placed leaves out observation i at place[i] of count places: leave sets the predictions at the places for the first column
// of C.
func (l *leaver) placed(mean, variances []float64, blocks [][]int, place []int, count int,
	leave func(m, v []float64, blocks [][]int) error) error {
	var at [][]int
	for _, block := range blocks {
		at = append(at, timeline.Pick(place, block))
	}
	m, v := make([]float64, count), make([]float64, count)
	if err := leave(m, v, at); err != nil {
		return l.lost(err, blocks)
	}
	for b, block := range blocks {
		for j, i := range block {
			mean[i], variances[i] = m[at[b][j]]+(l.Y[i]-l.Columns.Data[i*l.Columns.Stride]), v[at[b][j]]
		}
	}
	return nil
}

// rootNoise is the size, in units of 2⁻⁵³, of the change of A by rounding in the factorisation and the covariances, relative
// to √(A_ii·A_jj) and √n (TestRandomLeaveOut).
const rootNoise = 8

// covarianceNoise returns the size of that change relative to √(A_ii·A_jj).
func covarianceNoise(k Kernel, x Inputs) float64 {
	factorised := rootNoise * math.Sqrt(float64(x.Len())) * 0x1p-53
	if v := variance(k); v > 0 { // white noise alone has no covariances
		return factorised + phases(k, extent(x), 1, 1)/v
	}
	return factorised
}

// byRoot leaves out by a factor of A.
func (l *leaver) byRoot(of exactPosterior, mean, variances []float64, blocks [][]int) error {
	k, n := l.p.model.Kernel, len(l.Y)
	root := leaveout.Root{Factor: until(l.ctx, of.of.factor), Variance: variance(k), Noise: make([]float64, n), Jitter: l.p.jitter,
		Epsilon: covarianceNoise(k, l.x)}
	columns := dense.New(n, l.Columns.Cols)
	for i, at := range of.rows {
		blas64.Copy(dense.Row(l.Columns, i), dense.Row(columns, at))
		root.Noise[at] = l.Noise[i]
	}
	return l.placed(mean, variances, blocks, of.rows, n, func(m, v []float64, blocks [][]int) error {
		return root.Leave(l.ctx, m, v, columns, l.p.mean.PriorMeans(), blocks)
	})
}

// byRows leaves out by the Toeplitz engine. Its factor belongs to a slightly different A, and it measures the change.
func (l *leaver) byRows(of *toeplitzPosterior, mean, variances []float64, blocks [][]int) error {
	e, factor, k := of.factor.engine, &of.factor.factor, l.p.model.Kernel
	n, most := e.grid.N, variance(k)+l.Noise[0]
	const margin = 16 // Backward measures the change of A in one direction
	slopes := e.slopes(k)
	epsilon := margin*(covarianceNoise(k, l.x)+factor.Backward()/most) + 4*e.grid.Off*slopes/most
	solved := of.solved
	rows := leaveout.Rows{Y: dense.Row(e.columns, 0).Data, Alpha: make([]float64, n), Weight: math.Sqrt(epsilon * most),
		Epsilon: epsilon, Length: l.Length}
	copy(rows.Alpha, dense.Row(solved, 0).Data)
	if c := l.p.mean; c != nil {
		clear(rows.Alpha)
		for j, v := range c.Fit.Contrast() {
			blas64.Axpy(v, dense.Row(solved, j), dense.Vec(rows.Alpha))
		}
		rows.Basis = dense.New(solved.Rows-1, n) // M^(−½)QᵀA⁻¹
		dense.Copy(rows.Basis, dense.Rows(solved, 1, solved.Rows-1))
		c.Fit.Whiten(rows.Basis)
	}
	rows.Read = func() leaveout.RowReader {
		read := factor.NewRows(new(toeplitz.Workspace))
		return func(dst []float64, i int, alone bool) (off float64) { return margin * most * read.Read(dst, i, alone) }
	}
	return l.placed(mean, variances, blocks, timeline.Pick(e.grid.Place, of.rows), n, func(m, v []float64, blocks [][]int) error {
		return rows.Leave(l.ctx, m, v, blocks)
	})
}

// Residuals is ValueGrad that also sets alpha and, unless nil, precisions to
//
//	α = Py,  diag P,  P = A⁻¹ − A⁻¹Q(QᵀA⁻¹Q)⁻¹QᵀA⁻¹
//
// (P = A⁻¹ without a mean; priors of coefficients enter as in likelihoods), all of length n. The noise of y_i, of variance λ_i =
// σ²e_i² + s_i², has the posterior mean λ_iα_i and variance λ_i − λ_i²P_ii; its part of variance s_i² has s_i²α_i and s_i² −
// s_i⁴P_ii. Given all other observations, y_i is N(y_i − α_i/P_ii, 1/P_ii). With the dense, banded, state-space and mixed engines
// α costs less than the value, and precisions nothing beside a gradient; with other engines they cost a posterior at the inputs.
func (l *Exact) Residuals(ctx context.Context, alpha, precisions, grad, theta []float64) (value float64, err error) {
	if err := l.model.CheckPlain("Exact.Residuals", l.data); err != nil {
		return 0, err
	}
	defer parallel.Stopped(&err)
	if len(alpha) != l.n || precisions != nil && len(precisions) != l.n {
		panic(fmt.Sprintf("gppl: Residuals: room for %d and %d, want %d", len(alpha), len(precisions), l.n))
	}
	theta = l.rows.Positive(theta, len(l.params)-1)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	value, f, err := l.evaluateIn(c, grad, theta, true)
	if _, ok := f.(residualFactor); ok && grad == nil && precisions != nil { // its precisions are a part of the gradient
		grad = make([]float64, len(theta))
		if f.gradient(grad, c.r) != nil { // another engine may give one that holds
			f.release()
			value, f, err = l.evaluateIn(c, grad, theta, true)
		}
	}
	if s, ok := f.(residualFactor); ok && s.residuals(alpha, precisions, c.r) {
		f.release()
	} else if err == nil {
		if grad != nil { // some factors are used up by a gradient
			f.release()
			_, f, err = l.evaluateIn(c, nil, theta, true)
		}
		if err == nil {
			err = l.residuals(c, f, alpha, precisions)
		}
	}
	l.calls.Put(c)
	if err == nil {
		err = checkAnswer(l.params, value, grad, theta)
	}
	return value, err
}

// residuals sets them by the posterior of a factor, which it keeps.
func (l *Exact) residuals(c *exactCall, f exactFactor, alpha, precisions []float64) error {
	p, err := l.posteriorBy(f, Model{Kernel: c.kernel, Noise: c.own, Mean: l.model.Mean}, l.data.X)
	if err != nil {
		return err
	}
	_, columns, err := dataColumns(c.ctx, l.model, l.data)
	if err != nil {
		return err
	}
	leave := p.leaver(c.ctx, l.data, columns)
	return leave.residuals(alpha, precisions)
}

// residuals is Exact.Residuals by a posterior.
func (l *leaver) residuals(alpha, precisions []float64) error {
	all := timeline.Range(0, len(alpha))
	solved, inverse := dense.New(len(alpha), l.Columns.Cols), make([]float64, len(alpha))
	if err := l.diagonal(solved, inverse, all); err != nil {
		return err
	}
	for i := range alpha {
		alpha[i], inverse[i] = l.Contrast(dense.Row(solved, i).Data, inverse[i])
	}
	copy(precisions, inverse)
	return nil
}
