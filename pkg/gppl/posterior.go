package gppl

import (
	"fmt"
	"math"
	"math/rand/v2"

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
	jitter    float64
}

// predictor is what exact and VFE posteriors differ in. For the cross
// covariances c (one row per conditioning point, one column per new input) it
// returns the mean, and matrices whose squared columns are subtracted from and
// added to the prior variance: cov = K** − lessᵀless + moreᵀmore.
type predictor interface {
	condition(mean []float64, x Inputs) (less, more blas64.General)
	dim() int
}

// NewPosterior conditions m on the data exactly (Rasmussen and Williams 2006,
// eq. 2.25 and 2.26; the paper's μ* and Σ*), in n³/3 flops and memory for n²/2
// numbers. Predictions take n² flops per new input.
func NewPosterior(m Model, d Data) (*Posterior, error) {
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	e := newDenseExact(d)
	_, jitter, err := e.nll(nil, m.Kernel, m.Noise)
	if err != nil {
		return nil, err
	}
	return &Posterior{m, &exactPredictor{x: d.X, kernel: m.Kernel, factor: e.factor, alpha: e.alpha}, jitter}, nil
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
	jitter, err := w.factorise(m.Kernel, m.Noise, d, z)
	if err != nil {
		return nil, err
	}
	weights := append([]float64(nil), w.bInvC...)
	blas64.Scal(1/math.Sqrt(m.Noise), vec(weights))
	return &Posterior{m, &vfePredictor{z: z, kernel: m.Kernel, luu: w.luu, lb: w.lb, weights: weights}, jitter}, nil
}

// Jitter returns what had to be added to a diagonal to factorise, usually 0.
func (p *Posterior) Jitter() float64 { return p.jitter }

// Model returns the model that was conditioned.
func (p *Posterior) Model() Model { return p.model }

// Latent returns the posterior mean and variance of f at each x.
func (p *Posterior) Latent(x Inputs) (mean, variances []float64) {
	p.checkDim(x)
	n := x.Len()
	mean, variances = make([]float64, n), make([]float64, n)
	prior := variance(p.model.Kernel)
	const batch = dense.Tile
	parallel.For((n+batch-1)/batch, func(b int) {
		from, to := b*batch, min(n, (b+1)*batch)
		less, more := p.predictor.condition(mean[from:to], x.Slice(from, to))
		v := variances[from:to]
		for i := range v {
			v[i] = prior
		}
		addSquares(v, -1, less)
		addSquares(v, 1, more)
		for i := range v {
			v[i] = max(v[i], 0) // rounding, where the data determine f
		}
	})
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

// addSquares adds sign times the squared length of each column of a to v.
func addSquares(v []float64, sign float64, a blas64.General) {
	for i := range a.Rows {
		for j, w := range a.Data[i*a.Stride:][:a.Cols] {
			v[j] += sign * w * w
		}
	}
}

func (p *Posterior) checkDim(x Inputs) {
	if x.Dim() != p.predictor.dim() {
		panic(fmt.Sprintf("gppl: Posterior: x has dimension %d, the data have %d", x.Dim(), p.predictor.dim()))
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
	mean := make([]float64, n)
	less, more := p.predictor.condition(mean, x)
	cov := dense.NewLower(n)
	jitter, err = choleskyWithJitter(cov, variance(p.model.Kernel), func() {
		fillGram(cov, x, p.model.Kernel, 0)
		cov.EachTile(func(i, j int, t blas64.General) {
			dense.Gemm(blas.Trans, blas.NoTrans, -1, columnsOf(less, i), columnsOf(less, j), 1, t)
			if more.Rows > 0 {
				dense.Gemm(blas.Trans, blas.NoTrans, 1, columnsOf(more, i), columnsOf(more, j), 1, t)
			}
		})
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

// exactPredictor conditions on all observations.
type exactPredictor struct {
	x      Inputs
	kernel Kernel
	factor *dense.Lower // of A = K + σ²I
	alpha  []float64    // A⁻¹y
}

func (p *exactPredictor) dim() int { return p.x.d }

func (p *exactPredictor) condition(mean []float64, x Inputs) (less, more blas64.General) {
	less = crossCovariance(p.x, x, p.kernel)
	blas64.Gemv(blas.Trans, 1, less, vec(p.alpha), 0, vec(mean))
	p.factor.SolveL(less) // L⁻¹K_x*
	return less, more
}

// crossCovariance returns k(a, b), len(a) by len(b).
func crossCovariance(a, b Inputs, k Kernel) blas64.General {
	c := newGeneral(a.Len(), b.Len())
	distances(c.Data, a, b)
	k.Cov(c.Data, c.Data)
	return c
}

// vfePredictor conditions on the inducing variables.
type vfePredictor struct {
	z       Inputs
	kernel  Kernel
	luu, lb *dense.Lower
	weights []float64 // B⁻¹Φᵀy/σ
}

func (p *vfePredictor) dim() int { return p.z.d }

func (p *vfePredictor) condition(mean []float64, x Inputs) (less, more blas64.General) {
	less = crossCovariance(p.z, x, p.kernel)
	p.luu.SolveL(less) // L⁻¹K_u*
	blas64.Gemv(blas.Trans, 1, less, vec(p.weights), 0, vec(mean))
	more = newGeneral(less.Rows, less.Cols)
	copy(more.Data, less.Data)
	p.lb.SolveL(more) // L_B⁻¹L⁻¹K_u*
	return less, more
}
