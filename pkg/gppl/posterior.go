package gppl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// Posterior is the Gaussian process given the data. Its latent mean and
// variance are those of the function f; its noisy ones are those of a new
// observation y = f(x) + ε, whose variance is larger by σ². A Posterior is
// safe for concurrent use.
type Posterior struct {
	model     Model
	predictor predictor
	engine    string
	dim       int
	jitter    float64
}

// predictor is what the posteriors of different engines differ in.
type predictor interface {
	// latent sets the posterior mean and variance of f at each of x.
	latent(mean, variances []float64, x Inputs) error
	// joint sets the mean at x, and cov, a symmetric len(x)×len(x) matrix, to
	// the covariance.
	joint(mean []float64, cov *dense.Lower, x Inputs) error
}

// NewPosterior conditions m on the data exactly (Rasmussen and Williams 2006,
// eq. 2.25 and 2.26; the paper's μ* and Σ*), by the engine that suits it as for
// NewExact. Densely that takes n³/3 flops and memory for n²/2 numbers, and n²
// flops per new input; with a state space it is linear in n.
func NewPosterior(m Model, d Data, opts ...Option) (*Posterior, error) {
	l, err := NewExact(m, d, opts...)
	if err != nil {
		return nil, err
	}
	if _, err := l.ValueGrad(nil, values(l.params)); err != nil {
		return nil, err
	}
	e := l.engines[l.choice.chosen]
	return &Posterior{m, e.posterior(), e.name(), d.X.Dim(), l.report.Jitter}, nil
}

// NewVFEPosterior conditions m on the data through the inducing inputs z, as
// the variational posterior of VFE does (Titsias 2009, eq. 6), in O(nm²).
// Predictions take 2m² flops per new input.
func NewVFEPosterior(m Model, d Data, z Inputs) (*Posterior, error) {
	l, err := NewVFE(m, d, z, VFEOptions{})
	if err != nil {
		return nil, err
	}
	w := &l.work
	jitter, err := l.factorise(m.Kernel, m.Noise, z)
	if err != nil {
		return nil, err
	}
	weights := append([]float64(nil), w.bInvC...)
	blas64.Scal(1/math.Sqrt(m.Noise), vec(weights))
	c := conditioner{m.Kernel, &vfeFactors{z: z, kernel: m.Kernel, luu: w.luu, lb: w.lb, weights: weights}}
	return &Posterior{m, c, EngineDense, d.X.Dim(), jitter}, nil
}

// Jitter returns what had to be added to a diagonal to factorise, usually 0.
func (p *Posterior) Jitter() float64 { return p.jitter }

// Model returns the model that was conditioned.
func (p *Posterior) Model() Model { return p.model }

// Engine returns the name of the engine that computes the posterior.
func (p *Posterior) Engine() string { return p.engine }

// Latent returns the posterior mean and variance of f at each x.
func (p *Posterior) Latent(x Inputs) (mean, variances []float64) {
	p.checkDim(x)
	n := x.Len()
	mean, variances = make([]float64, n), make([]float64, n)
	if n == 0 {
		return mean, variances
	}
	if err := p.predictor.latent(mean, variances, x); err != nil {
		// What could fail did not when the posterior was made.
		panic(fmt.Sprintf("gppl: Posterior: %v", err))
	}
	for i := range variances {
		variances[i] = max(variances[i], 0) // rounding, where the data determine f
	}
	return mean, variances
}

// Noisy returns the posterior mean and variance of a new observation at each x.
func (p *Posterior) Noisy(x Inputs) (mean, variances []float64) {
	mean, variances = p.Latent(x)
	for i := range variances {
		variances[i] += p.model.Noise
	}
	return mean, variances
}

func (p *Posterior) checkDim(x Inputs) {
	if x.Dim() != p.dim {
		panic(fmt.Sprintf("gppl: Posterior: x has dimension %d, the data have %d", x.Dim(), p.dim))
	}
	if err := x.check("x"); err != nil && x.Len() > 0 {
		panic(err.Error())
	}
}

// Sample draws count functions f from the posterior at the inputs x, jointly
// over x: row i of the result is one of them. It takes O(len(x)³). The jitter
// is what had to be added to the covariance of f.
func (p *Posterior) Sample(x Inputs, count int, seed uint64) (f [][]float64, jitter float64, err error) {
	p.checkDim(x)
	if err := x.check("x"); err != nil {
		return nil, 0, err
	}
	n := x.Len()
	mean, cov := make([]float64, n), dense.NewLower(n)
	jitter, err = choleskyWithJitter(cov, variance(p.model.Kernel), func() {
		if e := p.predictor.joint(mean, cov, x); e != nil {
			err = e
		}
	})
	if err != nil {
		return nil, jitter, fmt.Errorf("gppl: the posterior covariance at %d inputs cannot be factorised: %w", n, err)
	}
	return draw(cov, mean, count, seed), jitter, nil
}

// columnsOf returns block b of the columns of a.
func columnsOf(a blas64.General, b int) blas64.General {
	a.Data = a.Data[b*dense.Tile:]
	a.Cols = dense.Width(a.Cols, b)
	return a
}

// draw returns count draws from N(mean, LLᵀ).
func draw(factor *dense.Lower, mean []float64, count int, seed uint64) [][]float64 {
	rnd := rand.New(rand.NewPCG(seed, 2))
	f := make([][]float64, count)
	for i := range f {
		f[i] = make([]float64, factor.N())
		for j := range f[i] {
			f[i][j] = rnd.NormFloat64()
		}
		factor.MulL(columnOf(f[i]))
		if mean != nil {
			add(f[i], mean)
		}
	}
	return f
}

// Sample draws one function f from the prior at the inputs x, and noisy
// observations y = f + ε of it, from the given seed. It takes O(n³) and memory
// for n²/2 numbers. The jitter is what had to be added to K; smooth kernels on
// close inputs need some.
func (m Model) Sample(x Inputs, seed uint64) (f, y []float64, jitter float64, err error) {
	if err := m.Check(); err != nil {
		return nil, nil, 0, err
	}
	if err := x.check("x"); err != nil {
		return nil, nil, 0, err
	}
	n := x.Len()
	gram := dense.NewLower(n)
	jitter, err = choleskyWithJitter(gram, variance(m.Kernel), func() { fillGram(gram, x, m.Kernel, 0) })
	if err != nil {
		return nil, nil, jitter, fmt.Errorf("gppl: the prior covariance at %d inputs cannot be factorised: %w (kernel %v)", n, err, m.Kernel)
	}
	f = draw(gram, nil, 1, seed)[0]
	rnd := rand.New(rand.NewPCG(seed, 3))
	sigma := math.Sqrt(m.Noise)
	y = make([]float64, n)
	for i := range y {
		y[i] = f[i] + sigma*rnd.NormFloat64()
	}
	return f, y, jitter, nil
}

// conditioner predicts from matrices whose squared columns are subtracted from
// and added to the prior covariance: cov = K** − lessᵀless + moreᵀmore.
type conditioner struct {
	kernel  Kernel
	factors factors
}

// factors gives the mean at x and those matrices, a column for each of x. more
// may be empty.
type factors interface {
	condition(mean []float64, x Inputs) (less, more blas64.General)
}

func (c conditioner) latent(mean, variances []float64, x Inputs) error {
	n := x.Len()
	prior := variance(c.kernel)
	const batch = dense.Tile
	parallel.For((n+batch-1)/batch, func(b int) {
		from, to := b*batch, min(n, (b+1)*batch)
		less, more := c.factors.condition(mean[from:to], x.Slice(from, to))
		v := variances[from:to]
		for i := range v {
			v[i] = prior
		}
		addSquares(v, -1, less)
		addSquares(v, 1, more)
	})
	return nil
}

func (c conditioner) joint(mean []float64, cov *dense.Lower, x Inputs) error {
	less, more := c.factors.condition(mean, x)
	fillGram(cov, x, c.kernel, 0)
	addOuter(cov, -1, less)
	addOuter(cov, 1, more)
	return nil
}

// addSquares adds sign times the squared length of each column of a to v.
func addSquares(v []float64, sign float64, a blas64.General) {
	for i := range a.Rows {
		for j, w := range a.Data[i*a.Stride:][:a.Cols] {
			v[j] += sign * w * w
		}
	}
}

// addOuter adds sign·aᵀa to c.
func addOuter(c *dense.Lower, sign float64, a blas64.General) {
	if a.Rows == 0 {
		return
	}
	c.EachTile(func(i, j int, t blas64.General) {
		dense.Gemm(blas.Trans, blas.NoTrans, sign, columnsOf(a, i), columnsOf(a, j), 1, t)
	})
}

// crossCovariance returns k(a, b), len(a) by len(b).
func crossCovariance(a, b Inputs, k Kernel) blas64.General {
	c := newGeneral(a.Len(), b.Len())
	distances(c.Data, a, b)
	k.Cov(c.Data, c.Data)
	return c
}

// exactFactors condition on all observations, by any factor of A = LLᵀ.
type exactFactors struct {
	x      Inputs
	kernel Kernel
	factor interface{ SolveL(b blas64.General) }
	alpha  []float64 // A⁻¹y
}

func (p *exactFactors) condition(mean []float64, x Inputs) (less, more blas64.General) {
	less = crossCovariance(p.x, x, p.kernel)
	blas64.Gemv(blas.Trans, 1, less, vec(p.alpha), 0, vec(mean))
	p.factor.SolveL(less) // L⁻¹K_x*
	return less, more
}

func (e *denseExact) posterior() predictor {
	return conditioner{e.kernel, &exactFactors{x: e.x, kernel: e.kernel, factor: e.factor, alpha: e.alpha}}
}

func (e *bandedExact) posterior() predictor {
	alpha := append([]float64(nil), e.alpha...) // F⁻¹y
	e.band.gram.SolveLT(columnOf(alpha))
	return conditioner{e.kernel, &exactFactors{x: Inputs{1, e.band.line.t}, kernel: e.kernel, factor: &e.band.gram, alpha: alpha}}
}

// vfeFactors condition on the inducing variables.
type vfeFactors struct {
	z       Inputs
	kernel  Kernel
	luu, lb *dense.Lower
	weights []float64 // B⁻¹Φᵀy/σ
}

func (p *vfeFactors) condition(mean []float64, x Inputs) (less, more blas64.General) {
	less = crossCovariance(p.z, x, p.kernel)
	p.luu.SolveL(less) // L⁻¹K_u*
	blas64.Gemv(blas.Trans, 1, less, vec(p.weights), 0, vec(mean))
	more = newGeneral(less.Rows, less.Cols)
	copy(more.Data, less.Data)
	p.lb.SolveL(more) // L_B⁻¹L⁻¹K_u*
	return less, more
}

// stateSpacePosterior smooths: O(n + len(x)) for means and variances.
type stateSpacePosterior struct {
	sync.Mutex
	engine *stateSpaceExact
	kernel Kernel
	noise  float64 // White terms included
}

func (e *stateSpaceExact) posterior() predictor {
	return &stateSpacePosterior{engine: e, kernel: e.kernel, noise: e.noise}
}

func (p *stateSpacePosterior) latent(mean, variances []float64, x Inputs) error {
	p.Lock()
	defer p.Unlock()
	e := p.engine
	if err := e.filter.Posterior(mean, variances, x.at, e.line.y, e.components, p.noise); err != nil {
		return err
	}
	for i := range variances {
		variances[i] += e.split.whiteVariance
	}
	return nil
}

// joint solves for each column of K_x* in O(n): K** − K_*x A⁻¹ K_x*.
func (p *stateSpacePosterior) joint(mean []float64, cov *dense.Lower, x Inputs) error {
	if err := p.latent(mean, nil, x); err != nil {
		return err
	}
	p.Lock()
	defer p.Unlock()
	e := p.engine
	if err := e.filter.Factorise(e.components, p.noise); err != nil {
		return err
	}
	cross := crossCovariance(x, Inputs{1, e.line.t}, p.kernel)
	solved := newGeneral(cross.Rows, cross.Cols)
	for i := range cross.Rows {
		row := i * cross.Stride
		e.filter.Solve(solved.Data[row:row+cross.Cols], cross.Data[row:row+cross.Cols])
	}
	fillGram(cov, x, p.kernel, 0)
	cov.EachTile(func(i, j int, t blas64.General) {
		a, b := cross, solved
		a.Rows, a.Data = t.Rows, a.Data[i*dense.Tile*a.Stride:]
		b.Rows, b.Data = t.Cols, b.Data[j*dense.Tile*b.Stride:]
		dense.Gemm(blas.NoTrans, blas.Trans, -1, a, b, 1, t)
	})
	return nil
}

// spectralPosterior is Bayesian linear regression on the features: with
// g = Dφ(x) the mean is gᵀh/σ² and the covariance gᵀT⁻¹g′ (see spectralExact).
// It holds where the series of the kernel does: within the range that it was
// made for, which grows with the inputs asked for.
type spectralPosterior struct {
	sync.Mutex
	engine *spectralExact
	kernel Kernel
	noise  float64 // the model's own
}

func (e *spectralExact) posterior() predictor {
	return &spectralPosterior{engine: e, kernel: e.kernel, noise: e.noise}
}

// features returns gᵀ at the inputs, L⁻¹g, and J, which is −1 from row negative on.
func (p *spectralPosterior) features(x Inputs) (g, solved blas64.General, err error) {
	lo, hi := x.Range(0)
	l := p.engine.line
	if lo < l.lo || hi > l.lo+l.span {
		wider := *l
		wider.lo = min(lo, l.lo)
		wider.span = max(hi, l.lo+l.span) - wider.lo
		e := newSpectralExact(&wider)
		if _, _, err := e.nll(nil, p.kernel, p.noise); err != nil {
			return g, solved, err
		}
		p.engine = e
	}
	e := p.engine
	g = newGeneral(len(e.features), x.Len())
	w := 2 * math.Pi / e.series.period
	for i, f := range e.features {
		for j, xj := range x.at {
			sin, cos := math.Sincos(w * float64(f.Frequency()) * (xj - e.line.lo))
			if f.IsSin() {
				cos = sin
			}
			g.Data[i*g.Stride+j] = e.root[i] * cos
		}
	}
	solved = newGeneral(g.Rows, g.Cols)
	copy(solved.Data, g.Data)
	e.t.SolveL(solved)
	return g, solved, nil
}

// mean sets mean = gᵀh/σ².
func (p *spectralPosterior) mean(mean []float64, g blas64.General) {
	e := p.engine
	blas64.Gemv(blas.Trans, 1/(p.noise+e.split.whiteVariance), g, vec(e.h), 0, vec(mean))
}

// signed returns the rows of a whose sign in J is 1, and those where it is −1.
func (p *spectralPosterior) signed(a blas64.General) (plus, minus blas64.General) {
	plus, minus = a, a
	plus.Rows = min(p.engine.negative, a.Rows)
	minus.Rows = a.Rows - plus.Rows
	minus.Data = a.Data[plus.Rows*a.Stride:]
	return plus, minus
}

func (p *spectralPosterior) latent(mean, variances []float64, x Inputs) error {
	p.Lock()
	defer p.Unlock()
	const batch = 512
	lo, hi := x.Range(0)
	if _, _, err := p.features(Scalars([]float64{lo, hi})); err != nil { // the whole range at once
		return err
	}
	for from := 0; from < x.Len(); from += batch {
		to := min(x.Len(), from+batch)
		g, solved, err := p.features(x.Slice(from, to))
		if err != nil {
			return err
		}
		p.mean(mean[from:to], g)
		v := variances[from:to]
		for i := range v {
			v[i] = p.engine.split.whiteVariance
		}
		plus, minus := p.signed(solved)
		addSquares(v, 1, plus)
		addSquares(v, -1, minus)
	}
	return nil
}

func (p *spectralPosterior) joint(mean []float64, cov *dense.Lower, x Inputs) error {
	p.Lock()
	defer p.Unlock()
	g, solved, err := p.features(x)
	if err != nil {
		return err
	}
	p.mean(mean, g)
	plus, minus := p.signed(solved)
	cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
	addOuter(cov, 1, plus)
	addOuter(cov, -1, minus)
	cov.AddDiagonal(p.engine.split.whiteVariance)
	return nil
}
