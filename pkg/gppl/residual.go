package gppl

import (
	"context"
	"fmt"
	"time"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
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
// Known errors with variances D add (ΣD − tr ΩᵀDΩ)/(n−k) to τ. For errors known up to their scale, the same expression of
// their squares multiplies the σ² in τ. If errors differ much, the remainder is not white.
//
// For sums (SumsData), use a projection from Data.Projection.
//
// It costs as much as PL, plus O(nk) once. The directions must be orthonormal: NewResidual returns an error if they are Raw.
// It panics if p is nil.
func NewResidual(ctx context.Context, m Model, d Data, p *Projection, opts ...Option) (*Projected, error) {
	start := time.Now()
	notNil("NewResidual", "the projection p", p)
	if !p.Orthonormal {
		return nil, fmt.Errorf("gppl: the residual energy needs orthonormal directions, and %s has none", p.Design)
	}
	if d.sums != nil {
		return newSumsResidual(m, d, p, opts)
	}
	l, err := NewProjected(ctx, m, d, p, opts...)
	if err != nil {
		return nil, err
	}
	n, k := p.Dims()
	if n > k {
		if err := l.keepResidual(ctx, m, d); err != nil {
			return nil, err
		}
	}
	l.tally.report.Setup = time.Since(start)
	return l, nil
}

// keepResidual gives l all of y, and of the basis of the mean, in the coordinates in which the basis is orthonormal on the
// data rather than on their projections.
func (l *Projected) keepResidual(ctx context.Context, m Model, d Data) (err error) {
	defer parallel.Stopped(&err)
	mean, columns, err := dataColumns(ctx, m, d)
	if err != nil {
		return err
	}
	l.mean, l.data.Z, l.data.Sizes = mean, l.data.ProjectColumns(ctx, columns), dense.Lengths(columns)
	l.data.Residual = projected.NewResidual(ctx, l.data.Directions, columns, l.data.Z)
	l.data.Residual.SetNoise(&l.data, d.rowNoise().Scale, d.knownVariances())
	return nil
}

// Coloured searches for bands of frequencies beyond the projections at which the remainder y − ΩΩᵀy, observed at x, has more
// than its mean power: a model with b frequencies at p times the mean power would gain b·(p − 1 − log p) nats (Whittle 1953).
// It returns the number of columns of SpectralProjection that cover the highest band whose gain exceeds chance, and the
// largest gain; 0 if there is none, or if l is not NewResidual on a SpectralProjection of x. It takes O(n log n), and panics
// if the length of x is wrong.
func (l *Projected) Coloured(x Inputs) (columns int, nats float64) {
	if l.data.Residual == nil || l.data.Residual.Rest == nil || l.proj.drawn == 0 {
		return 0, 0
	}
	if x.Len() != l.data.N {
		panic(fmt.Sprintf("gppl: Coloured: x has %d points, the loss %d observations", x.Len(), l.data.N))
	}
	lo, hi := x.Range(0)
	first := int(Spectral{}.frequency(float64(l.proj.drawn / 2)))
	last, nats := periodogram.Coloured(x.at, l.data.Residual.Rest, lo, hi-lo, first)
	if last == 0 {
		return 0, 0
	}
	return Spectral{}.columns(float64(last)), nats
}
