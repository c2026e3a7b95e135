package gppl

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
)

// At conditionLimit, the error of waves is half of the default tolerance of 160 projections. The condition of the list of
// frequencies is 500 at k = 101, 6000 at k = 151 and 50 000 at k = 201, for any n, and larger where x has gaps: without gaps
// up to commonWaves directions pass. More than maxWaves never do.
const (
	conditionLimit = 2e4
	maxWaves       = 256
	commonWaves    = 150
)

// newWaves returns the Ω of Spectral without a matrix, its first count directions for x, or nil if moments do not distinguish
// them well. It reuses known moments, and runs until ctx ends (parallel.Look).
func newWaves(ctx context.Context, x Inputs, count int, known fourier.Moments) *fourier.Waves {
	if x.d != 1 || count > maxWaves || count > x.Len() {
		return nil
	}
	lo, hi := x.Range(0)
	if !(hi-lo > 0) || math.IsInf(projected.Lattice*(hi-lo), 1) {
		return nil
	}
	features := make([]fourier.Feature, count)
	for c := range features {
		m := wave(c)
		if features[c] = fourier.Cos(m); c%2 == 0 && c > 0 {
			features[c] = fourier.Sin(m)
		}
	}
	return fourier.NewWaves(ctx, x.at, lo, projected.Lattice*(hi-lo), features, known, conditionLimit)
}

// wave returns the frequency of column c of Spectral as a frequency of the circle.
func wave(c int) int { return int(projected.Lattice * Spectral{}.frequency(float64((c+1)/2))) }

// ofWaves returns waves as a projection.
func ofWaves(w *fourier.Waves, design string, seed uint64) *Projection {
	return &Projection{Orthonormal: true, Design: design, Seed: seed, n: len(w.X), k: w.Len(), waves: w, moment: w.Moments}
}

// form returns the Ω of waves, orthonormal to rounding: the columns of the projection that it extends, and the additional
// ones. It runs until ctx ends (parallel.Look).
func (p *Projection) form(ctx context.Context) *mat.Dense {
	omega := mat.NewDense(p.n, p.k, nil)
	var old blas64.General
	if p.from != nil {
		old = p.from.formed(ctx).RawMatrix()
		left := omega.RawMatrix()
		left.Cols = old.Cols
		dense.Copy(left, old)
	}
	w := dense.New(p.n, p.k)
	p.waves.Columns(ctx, w)
	w.Cols, w.Data = p.k-old.Cols, w.Data[old.Cols:]
	added := dense.Complement(ctx, w, old)
	right := omega.RawMatrix()
	right.Cols, right.Data = added.Cols, right.Data[old.Cols:]
	dense.Copy(right, added)
	return omega
}

// directionsOf returns p for data at x: by waves if p has waves for this x, and if their error is within the tolerance, which
// is nats for all projections together.
func directionsOf(p *Projection, x Inputs, o options) projected.Directions {
	d := projected.Directions{N: p.n, K: p.k, Mass: float64(p.n), Omega: p.matrix}
	needsOmega := o.Engine != "" && o.Engine != EngineSpectral && o.Engine != EngineInterpolated
	const share = 0.5 // share of the tolerance; the rest is for the engine
	if w := p.waves; w != nil && !needsOmega && w.Bound() < share*o.tolerance*float64(p.k) && slices.Equal(w.X, x.at) {
		d.Waves = w
	}
	return d
}

// matrix is Omega.
func (p *Projection) matrix() blas64.General { return p.formed(context.Background()).RawMatrix() }

// estimateWaves estimates the seconds for k directions by waves at n inputs, with their products with m frequencies of a
// kernel's series, over at most twice the range.
func estimateWaves(n, k, m int) float64 {
	kk := float64(k)
	sums := fourier.Predict(n, 1, 0, projected.Lattice/2*m+wave(k-1)+1, fourier.Tolerance).Seconds
	return 3*sums/2 + float64(m)*kk*(kk/choice.FlopRate+2e-9) // moments twice, and the sums of y
}
