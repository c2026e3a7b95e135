package gppl

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/toeplitz"
)

// toeplitzExact takes any stationary kernel on a series with a constant step,
// of which a few places may be missing. A_ij = k(|i−j|·step) + σ²δ_ij is Toeplitz:
// with s_d the sums along the diagonals of A⁻¹ − ααᵀ,
//
//	∂NLL = ½s_0·∂c_0 + Σ_d s_d·∂c_d,  c_d = k(d·step),
//
// so that n covariances and n derivatives do where a dense matrix has n². About
// 4n² flops for the factor, in memory for O(n) numbers; the derivation is in
// internal/toeplitz.
type toeplitzExact struct {
	line   *line
	grid   regular
	ok     bool
	split  split
	y      []float64 // at the places, 0 where missing
	lag    []float64 // d·step
	c      []float64 // first column of A
	wave   []float64 // of a check
	w      []float64 // s_d, and what Cov and Slope work in
	alpha  []float64
	form   float64 // yᵀA⁻¹y
	rest   []float64
	factor toeplitz.Factor
	work   toeplitz.Workspace
	kernel Kernel
	noise  float64
}

func newToeplitzExact(l *line) *toeplitzExact {
	e := &toeplitzExact{line: l}
	if e.grid, e.ok = regularOf(l.t); !e.ok {
		return e
	}
	n := e.grid.n
	e.y, e.lag, e.c, e.w = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	e.alpha, e.rest, e.wave = make([]float64, n), make([]float64, n), make([]float64, n)
	for i, p := range e.grid.place {
		e.y[p] = l.y[i]
	}
	for d := range e.lag {
		e.lag[d] = float64(d) * e.grid.step
	}
	return e
}

func (e *toeplitzExact) name() string { return EngineToeplitz }

// What the factor takes, measured: seconds a place squared, and for every missing
// place seconds a place (its solve) and a place and missing place.
const (
	toeplitzStage   = 0.75e-9
	toeplitzOnce    = 3e-7
	toeplitzSolve   = 3e-7
	toeplitzMissing = 4e-9
)

func (e *toeplitzExact) forecast(k Kernel, noise float64) forecast {
	if !e.ok {
		return cannot("the inputs have no constant step")
	}
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	n, m := float64(e.grid.n), float64(len(e.grid.missing))
	if bytes := 8 * n * (20 + m); bytes > maxMemory {
		return tooLarge(bytes)
	}
	size, slopes := e.count(k)
	norm := noise + 2*size // ‖A‖, by its rows
	// A change of A by ΔA moves NLL by at most ½‖ΔA‖(tr A⁻¹ + |α|²), where tr A⁻¹ is
	// at most n/σ² and |α|², where the model is right, about as large.
	perturbed := 0x1p-52*norm + 4*e.grid.off*slopes
	return forecast{
		seconds: n*n*toeplitzStage + n*toeplitzOnce + m*n*(toeplitzSolve+m*toeplitzMissing),
		err:     n / noise * perturbed,
	}
}

// A forecast looks at the first nearLags lags, where kernels are steep, and at about
// as many of the others, with a margin.
const nearLags = 128

// count returns Σ_d |k(d·step)| and Σ_d |k′(d·step)|, the second only where some
// input is off its place.
func (e *toeplitzExact) count(k Kernel) (size, slopes float64) {
	near := min(nearLags, e.grid.n)
	stride := (e.grid.n-near)/nearLags + 1
	lags := append(e.rest[:0], e.lag[:near]...)
	for d := near; d < e.grid.n; d += stride {
		lags = append(lags, e.lag[d])
	}
	w := e.w[:len(lags)]
	sum := func() (total float64) {
		for i, v := range w {
			if v = math.Abs(v); i >= near && stride > 1 {
				v *= 2 * float64(stride)
			}
			total += v
		}
		return total
	}
	k.Cov(w, lags)
	size = sum()
	if e.grid.off > 0 {
		k.Slope(w, lags)
		slopes = sum()
	}
	return size, slopes
}

func (e *toeplitzExact) nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error) {
	e.split.of(k)
	e.kernel, e.noise = k, noise
	clear(e.c)
	for _, term := range e.split.signal {
		term.Cov(e.w, e.lag)
		add(e.c, e.w)
	}
	e.c[0] += e.noise
	if err := e.factor.Factorise(e.c, e.grid.missing, &e.work); err != nil {
		return 0, 0, fmt.Errorf("gppl: toeplitz engine: %w (kernel %v, noise variance %.4g)", err, k, noise)
	}
	n := len(e.line.t)
	e.factor.Solve(e.alpha, e.y, &e.work)
	e.factor.Residual(e.rest, e.y, e.alpha, &e.work)
	e.form = blas64.Dot(vec(e.alpha), vec(e.y)) + blas64.Dot(vec(e.alpha), vec(e.rest))
	value = 0.5 * (e.form + e.factor.LogDet() + float64(n)*log2Pi)
	if grad == nil {
		return value, 0, e.checkFactor()
	}
	e.factor.DiagonalSums(e.w, e.alpha, &e.work)
	trace := e.w[0]
	if err := e.checkFactor(); err != nil {
		return 0, 0, err
	}
	if err := e.checkSums(); err != nil {
		return 0, 0, err
	}
	clear(grad)
	e.w[0] *= 0.5
	for i, term := range e.split.signal {
		term.Contract(e.split.own(grad, i), e.w, e.lag)
	}
	grad[len(grad)-1] = 0.5 * noise * trace
	return value, 0, nil
}

// measure returns yᵀA⁻¹y, and what the value errs by for the change of A that the
// computed factor belongs to: as for the forecast, but with what is known now.
func (e *toeplitzExact) measure() (form, extra float64) {
	return e.form, 0.5 * e.factor.Backward() * (float64(e.grid.n)/e.noise + blas64.Dot(vec(e.alpha), vec(e.alpha)))
}

// checkFactor verifies the factor by the products of A with what it says is the
// first column of A⁻¹, and with α.
func (e *toeplitzExact) checkFactor() error {
	norm := -e.c[0]
	for _, c := range e.c {
		norm += 2 * math.Abs(c)
	}
	if err := verify("the factor of the Toeplitz matrix", e.factor.Backward(), 0, toeplitzTolerance*norm); err != nil {
		return err
	}
	return verify("the solution by the Toeplitz factor", blas64.Nrm2(vec(e.rest)), 0, toeplitzTolerance*(blas64.Nrm2(vec(e.y))+norm*blas64.Nrm2(vec(e.alpha))))
}

// toeplitzTolerance is what the checks allow, relative: far above rounding. What
// remains below it is in the error bound, by measure.
const toeplitzTolerance = 1e-8

// checkSums verifies the sums along the diagonals, w = s: with u_i = exp(iωi),
//
//	s_0 + 2Σ_d s_d·cos ωd = Σ_ij (A⁻¹ − ααᵀ)_ij·cos ω(i−j) = uᴴA⁻¹u − |αᵀu|²,
//
// by two solves.
func (e *toeplitzExact) checkSums() error {
	const omega = 2.399963229728653 // the golden angle: no lag is at a node for long
	var sums, size, inverse, re, im float64
	for d, s := range e.w {
		term := 2 * s * math.Cos(omega*float64(d))
		if d == 0 {
			term = s
		}
		sums += term
		size += math.Abs(term)
	}
	for _, wave := range []func(float64) float64{math.Cos, math.Sin} {
		next := 0
		for i := range e.rest {
			e.rest[i] = wave(omega * float64(i))
			if next < len(e.grid.missing) && e.grid.missing[next] == i {
				e.rest[i], next = 0, next+1
			}
		}
		e.factor.Solve(e.wave, e.rest, &e.work)
		inverse += blas64.Dot(vec(e.rest), vec(e.wave))
	}
	for i, a := range e.alpha {
		s, c := math.Sincos(omega * float64(i))
		re, im = re+a*c, im+a*s
	}
	n := float64(e.grid.n)
	return verify("the sums along the diagonals of the inverse", sums, inverse-re*re-im*im, toeplitzTolerance*(size+inverse+re*re+im*im+n))
}

// toeplitzPosterior predicts by solves: O(n) for a mean and O(n log n) for a
// variance. It has a factor of its own, which does not change.
type toeplitzPosterior struct {
	factor *toeplitz.Factor
	alpha  []float64
	place  Inputs // the inputs of the observed places
	at     []int
	n      int
	kernel Kernel
	work   sync.Pool
}

func (e *toeplitzExact) posterior() predictor {
	factor := e.factor
	e.factor = toeplitz.Factor{}
	return &toeplitzPosterior{
		factor: &factor, alpha: append([]float64(nil), e.alpha...), kernel: e.kernel, n: e.grid.n,
		place: Scalars(e.line.t), at: e.grid.place, work: sync.Pool{New: func() any { return new(toeplitz.Workspace) }},
	}
}

// condition sets a row of cross to k(x, ·) at the places, and of solved to A⁻¹ of
// it, and returns the mean.
func (p *toeplitzPosterior) condition(cross, solved []float64, x Inputs) (mean float64) {
	row := crossCovariance(x, p.place, p.kernel).Data
	clear(cross)
	for i, at := range p.at {
		cross[at] = row[i]
		mean += row[i] * p.alpha[at]
	}
	if solved != nil {
		w := p.work.Get().(*toeplitz.Workspace)
		p.factor.Solve(solved, cross, w)
		p.work.Put(w)
	}
	return mean
}

func (p *toeplitzPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	mean := means.Data
	prior := variance(p.kernel)
	parallel.For(x.Len(), func(i int) {
		if ctx.Err() != nil {
			return
		}
		cross, solved := make([]float64, p.n), make([]float64, p.n)
		mean[i] = p.condition(cross, solved, x.Slice(i, i+1))
		variances[i] = prior - blas64.Dot(vec(cross), vec(solved))
	})
	return ctx.Err()
}

func (p *toeplitzPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	mean := means.Data
	cross, solved := newGeneral(x.Len(), p.n), newGeneral(x.Len(), p.n)
	parallel.For(x.Len(), func(i int) {
		if ctx.Err() == nil {
			mean[i] = p.condition(cross.Data[i*p.n:][:p.n], solved.Data[i*p.n:][:p.n], x.Slice(i, i+1))
		}
	})
	fillGram(cov, x, p.kernel, 0)
	subtractProduct(cov, cross, solved)
	return ctx.Err()
}
