package gppl

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// NewResidual returns the projected likelihood that keeps one more statistic: the
// energy r = |y − Ωz|² of the remainder of y outside the projections, modelled as white
// noise with its expected variance τ,
//
//	L  = PL + ½[(n−k)·log τ + r/τ + (n−k)·log 2π]
//	τ  = σ² + (n·k(0) − tr ΩᵀKΩ)/(n−k)
//	∂L = ∂PL + ½((n−k)/τ − r/τ²)∂τ
//
// Like the exact likelihood it is a likelihood of all of y. The two are equal where
// the remainder is white under the model, and at k = n. The score is unbiased for any
// remainder. Projections on the whole spectrum of the signal leave a white remainder
// (Spectral). With fewer, L is a quasi-likelihood, and its curvature understates the
// standard errors.
//
// Known errors with variances D add (ΣD − tr ΩᵀDΩ)/(n−k) to τ. Errors known up to their scale
// multiply the σ² in τ by the same expression of their squares. If errors differ much, the
// remainder is not white.
//
// It costs what PL costs, plus O(nk) once. The directions must be orthonormal: it is
// an error if they are Raw. It panics if p is nil.
func NewResidual(m Model, d Data, p *Projection, opts ...Option) (*Projected, error) {
	start := time.Now()
	notNil("NewResidual", "the projection p", p)
	if !p.Orthonormal {
		return nil, fmt.Errorf("gppl: the residual energy needs orthonormal directions, and %s has none", p.Design)
	}
	l, err := NewProjected(m, d, p, opts...)
	if err != nil {
		return nil, err
	}
	n, k := p.Dims()
	if n > k {
		if err := l.keepResidual(m, d); err != nil {
			return nil, err
		}
	}
	l.tally.report.Setup = time.Since(start)
	return l, nil
}

// keepResidual makes l see all of y, and of the basis of the mean: in the coordinates
// in which the basis is orthonormal on the data, not on their projections.
func (l *Projected) keepResidual(m Model, d Data) error {
	mean, columns, err := dataColumns(m, d)
	if err != nil {
		return err
	}
	l.mean, l.z, l.sizes = mean, l.directions.projectColumns(columns), dense.Lengths(columns)
	l.residual = newResidual(l.directions, columns, l.z)
	if d.Relative != nil {
		scale := d.rowNoise().Scale
		l.residual.share, l.residual.spread = l.residual.average(scale, l.oto), floats.Sum(scale)/l.residual.dof
	}
	if l.known != nil {
		known := d.knownVariances()
		l.residual.known, l.residual.spreadKnown = l.residual.average(known, l.known), floats.Sum(known)/l.residual.dof
	}
	return nil
}

// average returns (ΣD − tr ΩᵀDΩ)/(n−k), given D and ΩᵀDΩ.
func (r *residual) average(d, seen []float64) (mean float64) {
	for _, v := range d {
		mean += v
	}
	k := int(r.n - r.dof)
	for i := range k {
		mean -= seen[i*(k+1)]
	}
	return mean / r.dof
}

// residual is the remainder of y, and of the columns beside it, outside the
// projections.
type residual struct {
	n, dof              float64        // n, or the sum of weights, and n−k
	known               float64        // (ΣD − tr ΩᵀDΩ)/(n−k), of the variances D of known errors
	share               float64        // the same of the squares of relative errors, or 1
	spread, spreadKnown float64        // ΣE/(n−k) and ΣD/(n−k), of which these are what projections leave; 0 without
	rest                []float64      // y − Ωz; nil from Sums
	energy              blas64.General // RᵀR of what is left of all columns, c×c

	logWeights float64 // Σ log w, from Sums
	rounding   float64 // what the energy errs by, from Sums
}

// newResidual returns that of columns (n×c), y first, whose projections are z (k×c).
func newResidual(d directions, columns, z blas64.General) *residual {
	r := &residual{n: float64(d.n), dof: float64(d.n - d.k), share: 1, energy: dense.New(z.Cols, z.Cols)}
	all := dense.New(columns.Rows, columns.Cols)
	for j := range columns.Cols {
		rest := d.rest(dense.Slice(dense.Column(columns, j)), dense.Slice(dense.Column(z, j)))
		blas64.Copy(dense.Vec(rest), dense.Column(all, j))
		if j == 0 {
			r.rest = rest
		}
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, all, all, 0, r.energy)
	return r
}

// remainder returns τ of a call that has computed S₀.
func (l *Projected) remainder(c *projectedCall) (float64, error) {
	var signal float64
	for _, t := range c.use {
		signal += l.residual.n * t.variance
	}
	k := l.z.Rows
	for i := range k {
		signal -= c.s0[i*(k+1)]
	}
	tau := l.residual.share*c.noise + l.residual.known + signal/l.residual.dof
	if !(tau > 0) {
		return 0, fmt.Errorf("gppl: the variance of what %d projections leave is %.4g by rounding (noise variance %.4g)", k, tau, c.noise)
	}
	return tau, nil
}

// addRemainder prepares grad and v so that ½(grad + ⟨v, ∂S₀⟩) includes
// slope·∂(n·k(0) − tr S₀)/(n−k).
func (l *Projected) addRemainder(grad []float64, c *projectedCall, slope float64) {
	r := l.residual
	w := 2 * slope / r.dof
	k := l.z.Rows
	for i := range k {
		c.v.Data[i*(k+1)] -= w
	}
	for _, t := range c.use {
		contractVariance(t.own(grad), t.kernel, r.n*w)
	}
}

// Coloured looks for bands of frequencies beyond the projections at which the remainder y − ΩΩᵀy, observed at x,
// has more than its mean power: a model with b frequencies at p times the mean power
// would gain b·(p − 1 − log p) nats (Whittle 1953). It returns the columns of SpectralProjection that
// cover the highest band whose gain exceeds what chance explains, and the largest gain; 0 if there is
// none, or if l is not NewResidual on a SpectralProjection of x. It takes O(n log n), and panics if the length of x is wrong.
func (l *Projected) Coloured(x Inputs) (columns int, nats float64) {
	if l.residual == nil || l.residual.rest == nil || l.proj.drawn == 0 {
		return 0, 0
	}
	if x.Len() != l.directions.n {
		panic(fmt.Sprintf("gppl: Coloured: x has %d points, the loss %d observations", x.Len(), l.directions.n))
	}
	const band = 12
	const chance = 8 // nats, beside the log of the number of bands
	n := l.directions.n
	lo, hi := x.Range(0)
	first := int(Spectral{}.frequency(float64(l.proj.drawn / 2)))
	bands := (n/2 - first) / band
	if bands < 2 {
		return 0, 0
	}
	sums := dense.New(2*band*bands, 1)
	rest := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: l.residual.rest}
	fourier.NewPoints(x.at, lo, hi-lo).Sums(sums, rest, first+1, fourier.Tolerance)
	power := make([]float64, bands)
	for i, c := range sums.Data {
		power[i/(2*band)] += c * c / band
	}
	sorted := slices.Clone(power)
	slices.Sort(sorted)
	mean := sorted[bands/2]
	for i, v := range power {
		p := v / mean
		if worth := band * (p - 1 - math.Log(p)); p > 1 && worth > chance+math.Log(float64(bands)) {
			columns, nats = Spectral{}.columns(float64(first+(i+1)*band)), max(nats, worth)
		}
	}
	return columns, nats
}
