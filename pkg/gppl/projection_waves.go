package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// lattice is the number of frequencies per cycle over the range of x on which both
// the directions of Spectral and the series of a kernel lie: waves on one circle of
// lattice times the range, so that all of their products follow from one row of
// sums. As few as 16 leave the condition of 101 directions what it is unrounded.
const lattice = 16

// At conditionLimit, waves err by half of the default tolerance of 160 projections.
// The condition of the list of frequencies is 500 at k = 101, 6000 at k = 151 and
// 50 000 at k = 201, whatever n is, and larger where x has gaps: up to commonWaves
// directions pass where it has none, more than maxWaves need not be tried.
const (
	conditionLimit = 2e4
	maxWaves       = 256
	commonWaves    = 150
)

// newWaves returns the Ω of Spectral without a matrix, its first count directions for x, or nil if moments do not distinguish them well
// enough. It reuses known moments.
func newWaves(x Inputs, count int, known fourier.Moments) *fourier.Waves {
	if x.d != 1 || count > maxWaves || count > x.Len() {
		return nil
	}
	lo, hi := x.Range(0)
	if !(hi-lo > 0) || math.IsInf(lattice*(hi-lo), 1) {
		return nil
	}
	features := make([]fourier.Feature, count)
	for c := range features {
		m := wave(c)
		if features[c] = fourier.Cos(m); c%2 == 0 && c > 0 {
			features[c] = fourier.Sin(m)
		}
	}
	return fourier.NewWaves(x.at, lo, lattice*(hi-lo), features, known, conditionLimit)
}

// wave returns the frequency of column c of Spectral, in waves of the circle.
func wave(c int) int { return int(lattice * Spectral{}.frequency(float64((c+1)/2))) }

// ofWaves returns waves as a projection.
func ofWaves(w *fourier.Waves, design string, seed uint64) *Projection {
	return &Projection{Orthonormal: true, Design: design, Seed: seed, n: len(w.X), k: w.Len(), waves: w, moment: w.Moments}
}

// form returns the Ω of waves, orthonormal to rounding: the columns of the
// projection that it was extended from, and what the others add.
func (p *Projection) form() *mat.Dense {
	omega := mat.NewDense(p.n, p.k, nil)
	var old blas64.General
	if p.from != nil {
		old = p.from.Omega().RawMatrix()
		left := omega.RawMatrix()
		left.Cols = old.Cols
		dense.Copy(left, old)
	}
	w := dense.New(p.n, p.k)
	p.waves.Columns(w)
	w.Cols, w.Data = p.k-old.Cols, w.Data[old.Cols:]
	added := dense.Complement(w, old)
	right := omega.RawMatrix()
	right.Cols, right.Data = added.Cols, right.Data[old.Cols:]
	dense.Copy(right, added)
	return omega
}

// directions are a projection as a loss uses it: without Ω, by waves, or by Ω.
type directions struct {
	n, k  int
	mass  float64        // n or, from Sums, the sum of weights: Σ_i K_ii/k(0)
	waves *fourier.Waves // nil: by Ω
	proj  *Projection
}

// directionsOf returns p for data at x: by waves if these are what x is, and if
// their error fits the tolerance, of nats for all projections together.
func directionsOf(p *Projection, x Inputs, o options) directions {
	d := directions{n: p.n, k: p.k, mass: float64(p.n), proj: p}
	needsOmega := o.Engine != "" && o.Engine != EngineSpectral && o.Engine != EngineInterpolated
	const share = 0.5 // of the tolerance, the rest being for the engine
	if w := p.waves; w != nil && !needsOmega && w.Bound() < share*o.tolerance*float64(p.k) && slices.Equal(w.X, x.at) {
		d.waves = w
	}
	return d
}

// project returns z = Ωᵀy.
func (d directions) project(y []float64) []float64 {
	if d.waves != nil {
		return d.waves.Project(y)
	}
	z := make([]float64, d.k)
	blas64.Gemv(blas.Trans, 1, d.proj.Omega().RawMatrix(), dense.Vec(y), 0, dense.Vec(z))
	return z
}

// projectColumns returns ΩᵀC, k×c.
func (d directions) projectColumns(c blas64.General) blas64.General {
	z := dense.New(d.k, c.Cols)
	for j := range c.Cols {
		blas64.Copy(dense.Vec(d.project(dense.Slice(dense.Column(c, j)))), dense.Column(z, j))
	}
	return z
}

// rest returns y − Ωz, in O(nk).
func (d directions) rest(y, z []float64) []float64 {
	rest := slices.Clone(y)
	if d.waves != nil {
		d.waves.Basis.Subtract(rest, z, d.waves.Points())
	} else {
		blas64.Gemv(blas.NoTrans, -1, d.proj.Omega().RawMatrix(), dense.Vec(z), 1, dense.Vec(rest))
	}
	return rest
}

// matrix returns Ω, formed if need be. That of waves is what moments make of it,
// orthonormal within bound, so that z and S agree whatever engine makes them.
func (d directions) matrix() blas64.General {
	if d.waves == nil {
		return d.proj.Omega().RawMatrix()
	}
	return d.proj.columns.get(func() *mat.Dense {
		q := mat.NewDense(d.n, d.k, nil)
		d.waves.Columns(q.RawMatrix())
		return q
	}).RawMatrix()
}

// forming returns the seconds that matrix is expected to take, for a forecast.
func (d directions) forming() float64 {
	if d.waves == nil {
		return 0
	}
	n, k := float64(d.n), float64(d.k)
	return n * k * (k/flopRate + 15e-9) / 2
}

// formed returns the bytes of the matrix, if it is still to be formed.
func (d directions) formed() float64 {
	if d.waves == nil {
		return 0
	}
	return 8 * float64(d.n) * float64(d.k)
}

// bound is on what PL errs by since ΩᵀΩ is I but for rounding, E, for a form zᵀS⁻¹z of one per projection:
// ½tr(S⁻¹σ²E) + ½σ²βᵀEβ, where σ²S⁻¹ ≤ I. It is 0 for an Ω that is not by waves.
func (d directions) bound() float64 {
	if d.waves == nil {
		return 0
	}
	return d.waves.Bound()
}
