package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// lattice is the number of frequencies per cycle over the range of x on which both
// the directions of Spectral and the series of a kernel lie: waves on one circle of
// lattice times the range, so that all of their products follow from one row of
// sums. As few as 16 leave the condition of 101 directions what it is unrounded.
const lattice = 16

// waveBasis is the Ω of Spectral without a matrix: Ω = WL⁻ᵀ, W the waves at the
// inputs, of which moments are all that is known (fourier.Basis). From Sums there are
// no inputs, and moments are those on the circle of the sums.
type waveBasis struct {
	x        Inputs
	lo, span float64
	moment   fourier.Moments // up to twice the highest frequency
	basis    *fourier.Basis
}

// At conditionLimit, waves err by half of the default tolerance of 160 projections.
// The condition of the list of frequencies is 500 at k = 101, 6000 at k = 151 and
// 50 000 at k = 201, whatever n is, and larger where x has gaps: up to commonWaves
// directions pass where it has none, more than maxWaves need not be tried.
const (
	conditionLimit = 2e4
	maxWaves       = 256
	commonWaves    = 150
)

// newWaveBasis returns the first count directions of Spectral for x, or nil if moments
// do not distinguish them well enough. It reuses known moments.
func newWaveBasis(x Inputs, count int, known fourier.Moments) *waveBasis {
	if x.d != 1 || count > maxWaves || count > x.Len() {
		return nil
	}
	lo, hi := x.Range(0)
	w := &waveBasis{x: x.clone(), lo: lo, span: hi - lo, moment: known}
	if !(w.span > 0) || math.IsInf(lattice*w.span, 1) {
		return nil
	}
	features := make([]fourier.Feature, count)
	for c := range features {
		m := wave(c)
		if features[c] = fourier.Cos(m); c%2 == 0 && c > 0 {
			features[c] = fourier.Sin(m)
		}
	}
	w.moment = w.moments(2 * wave(count-1))
	w.basis = w.moment.Basis(features, conditionLimit)
	if len(w.basis.Features()) < count || w.basis.Condition() > conditionLimit {
		return nil
	}
	return w
}

// wave returns the frequency of column c of Spectral, in waves of the circle.
func wave(c int) int { return int(lattice * Spectral{}.frequency(float64((c+1)/2))) }

// points returns the inputs on the circle.
func (w *waveBasis) points() *fourier.Points {
	return fourier.NewPoints(w.x.at, w.lo, lattice*w.span)
}

// moments returns the moments up to frequency m at least, beginning with those of w.
func (w *waveBasis) moments(m int) fourier.Moments {
	if len(w.moment) >= 2*(m+1) {
		return w.moment
	}
	t := w.points().Moments(m, observed.Tolerance)
	copy(t, w.moment)
	return t
}

// projection returns w as a projection.
func (w *waveBasis) projection(design string, seed uint64) *Projection {
	return &Projection{Orthonormal: true, Design: design, Seed: seed, n: w.x.Len(), k: w.k(), waves: w, moment: w.moment}
}

func (w *waveBasis) k() int { return len(w.basis.Features()) }

// top returns the highest frequency of the directions, in waves of the circle.
func (w *waveBasis) top() int {
	f := w.basis.Features()
	return f[len(f)-1].Frequency()
}

// project returns Ωᵀy.
func (w *waveBasis) project(y []float64) []float64 {
	k := w.k()
	sums := dense.New(2*(w.top()+1), 1)
	w.points().Sums(sums, blas64.General{Rows: len(y), Cols: 1, Stride: 1, Data: y}, 0, observed.Tolerance)
	z := make([]float64, k)
	w.basis.Project(z, sums.Data)
	return z
}

// bound is on what PL errs by since ΩᵀΩ is I but for rounding, E, for a form
// zᵀS⁻¹z of one per projection: ½tr(S⁻¹σ²E) + ½σ²βᵀEβ, where σ²S⁻¹ ≤ I. The
// condition squared bounds the trace norm of E over the rounding of a moment.
func (w *waveBasis) bound() float64 {
	c := w.basis.Condition()
	return waveRounding * c * c
}

// waveRounding is the relative rounding of a moment, 4e-16, with a margin of five;
// see TestWavesAgainstOmega.
const waveRounding = 2e-15

// rounding bounds what Ωᵀy errs by for a y of the given length.
func (w *waveBasis) rounding(length float64) float64 {
	return fourier.Rounding * w.basis.Condition() * length
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
	p.waves.columns(w)
	w.Cols, w.Data = p.k-old.Cols, w.Data[old.Cols:]
	added := dense.Complement(w, old)
	right := omega.RawMatrix()
	right.Cols, right.Data = added.Cols, right.Data[old.Cols:]
	dense.Copy(right, added)
	return omega
}

// columns sets q (n×k) to the functions that are the columns of Ω, at the inputs.
func (w *waveBasis) columns(q blas64.General) { w.basis.At(q, w.points()) }

// directions are a projection as a loss uses it: without Ω, by waves, or by Ω.
type directions struct {
	n, k  int
	mass  float64    // n or, from Sums, the sum of weights: Σ_i K_ii/k(0)
	waves *waveBasis // nil: by Ω
	proj  *Projection
}

// directionsOf returns p for data at x: by waves if these are what x is, and if
// their error fits the tolerance, of nats for all projections together.
func directionsOf(p *Projection, x Inputs, o options) directions {
	d := directions{n: p.n, k: p.k, mass: float64(p.n), proj: p}
	needsOmega := o.Engine != "" && o.Engine != EngineSpectral && o.Engine != EngineInterpolated
	const share = 0.5 // of the tolerance, the rest being for the engine
	if w := p.waves; w != nil && !needsOmega && w.bound() < share*o.tolerance*float64(p.k) && slices.Equal(w.x.at, x.at) {
		d.waves = w
	}
	return d
}

// project returns z = Ωᵀy.
func (d directions) project(y []float64) []float64 {
	if d.waves != nil {
		return d.waves.project(y)
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
		d.waves.basis.Subtract(rest, z, d.waves.points())
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
		d.waves.columns(q.RawMatrix())
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

// bound is that of waves, or 0.
func (d directions) bound() float64 {
	if d.waves == nil {
		return 0
	}
	return d.waves.bound()
}
