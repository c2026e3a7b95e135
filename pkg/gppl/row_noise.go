package gppl

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// rowNoise describes the noise of each observation, whose variance is
//
//	λ_i = σ²·scale_i + known_i.
type rowNoise struct {
	scale []float64 // e_i²; nil: all are 1
	known []float64 // s_i²; nil: there are none
}

// rowNoise returns that of the data, in their order.
func (d Data) rowNoise() rowNoise {
	return rowNoise{scale: squaresOf(d.Relative), known: d.knownVariances()}
}

// even reports whether all observations have the noise variance σ².
func (r *rowNoise) even() bool { return r.scale == nil && r.known == nil }

// weight returns ∂λ_i/∂σ².
func (r *rowNoise) weight(i int) float64 {
	if r.scale == nil {
		return 1
	}
	return r.scale[i]
}

// set sets dst to λ, in the memory of dst where it does.
func (r *rowNoise) set(dst []float64, n int, noise float64) []float64 {
	dst = dense.Resize(dst, n)
	for i := range dst {
		dst[i] = noise * r.weight(i)
		if r.known != nil {
			dst[i] += r.known[i]
		}
	}
	return dst
}

// least returns a number that no λ_i is below.
func (r *rowNoise) least(noise float64) float64 {
	if r.scale == nil {
		return noise
	}
	return noise * slices.Min(r.scale)
}

// most returns a number that no λ_i is above.
func (r *rowNoise) most(noise float64) float64 {
	if r.scale != nil {
		noise *= slices.Max(r.scale)
	}
	if r.known != nil {
		noise += slices.Max(r.known)
	}
	return noise
}

// diagonal is a matrix in the making.
type diagonal interface{ AddDiagonals(d []float64) }

// matrixNoise is what belongs on the whole diagonal of K before add: σ², unless each
// observation has its own share of it.
func (r *rowNoise) matrixNoise(noise float64) float64 {
	if r.scale != nil {
		return 0
	}
	return noise
}

// add completes the diagonal of K, to which matrixNoise was added. It returns work, in
// which it may work.
func (r *rowNoise) add(a diagonal, work []float64, n int, noise float64) []float64 {
	switch {
	case r.scale != nil:
		work = r.set(work, n, noise)
		a.AddDiagonals(work)
	case r.known != nil:
		a.AddDiagonals(r.known)
	}
	return work
}

// setNoise sets what is known of the noise of each observation, given in the order of x.
func (l *line) setNoise(r rowNoise) {
	l.noise, l.weights = rowNoise{}, nil
	if r.known != nil {
		l.noise.known = l.sortRows(columnOf(r.known)).Data
	}
	if r.scale != nil {
		l.noise.scale = l.sortRows(columnOf(r.scale)).Data
		l.weights = make([]float64, len(l.t))
		for i, e := range l.noise.scale {
			l.weights[i] = 1 / e
		}
	}
}
