package gridded

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	nufft "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Predictor evaluates the vectors b(t) of the package comment, and b(t)ᵀG·b(t). It does
// not change, and does not refer to the factor that it came from: its methods may run at
// the same time.
//
// Only Q consecutive entries of b(t) are not zero. There, r equals a function of a short
// period of Q grid points, which takes about Q/2 frequencies. So b(t) is a Q×Q matrix
// times the cosines and sines of t: 2Q² flops, Q = 48 for a Gaussian k, and as much for
// the variance.
type Predictor struct {
	p      int
	q      int // grid points of the short period
	waves  int // frequencies of the short period, 0 among them
	series blas64.General
	square float64 // k(0)
	noise  float64
	g      blas64.General // G_g,g+d, d = 0 … q−1
}

// Predictor returns the predictor of f. It inverts H within a band of Q, wider than the
// factor's by a half, once, and keeps pQ numbers.
func (f *Factor) Predictor(w *Workspace) (*Predictor, error) {
	f.h.Ctx = nil // of the evaluation, not of predictions
	w.reset(f.p)
	z := &Predictor{p: f.p, noise: f.noise}
	z.expand(f)

	first := profile(nil, f.p, z.q-1)
	var h banded.Matrix
	f.fill(&h, first, w)
	if err := h.Cholesky(); err != nil {
		return nil, err
	}
	h.Inverse(&h)
	z.g = dense.Reshape(z.g, f.p, z.q)
	for j := range h.Blocks() {
		h.Block(j, func(row, col int, t blas64.General) {
			for a := range t.Rows {
				for b, v := range t.Data[a*t.Stride:][:t.Cols] {
					if i, k := min(row+a, col+b), max(row+a, col+b); k-i < z.q {
						z.g.Data[i*z.g.Stride+k-i] = v
					}
				}
			}
		})
	}
	return z, nil
}

// expand sets series: r over the short period as a sum of waves.
func (z *Predictor) expand(f *Factor) {
	z.q = nufft.Smooth(f.reach + 2) // 2q places, r on the inner 2·reach + 1
	samples := make([]float64, 2*z.q)
	for a, v := range f.r {
		samples[a] = v
		if a > 0 {
			samples[2*z.q-a] = v
		}
	}
	hat := fourier.NewFFT(2*z.q).Coefficients(nil, samples)
	// r has frequencies up to half of the highest one. Those that the cut at its reach adds
	// are below the tolerance.
	z.waves = min(z.q/2+3, z.q)
	z.series = dense.Reshape(z.series, z.q, 2*z.waves)
	for k := range z.q {
		row := z.series.Data[k*z.series.Stride:]
		for j := range z.waves {
			c := real(hat[j]) / float64(2*z.q)
			if j > 0 {
				c *= 2
			}
			sin, cos := math.Sincos(2 * math.Pi * float64(j*k%z.q) / float64(z.q))
			row[2*j], row[2*j+1] = c*cos, c*sin
		}
	}
	z.square = f.r[0] * f.r[0]
	for a := 2; a <= f.reach; a += 2 {
		z.square += 2 * f.r[a] * f.r[a]
	}
}

// Width returns Q, the number of entries of b(t) that are not zero.
func (z *Predictor) Width() int { return z.q }

// Basis sets dst, of Width entries, to the entries first … first+Q−1 of b(t), where t is
// in periods; all others are zero. Near the ends of the period and outside of it, some or
// all of them do not belong to the grid, 0 … p−1. These stand for grid points that no
// data reach: there G is the identity and h zero.
func (z *Predictor) Basis(dst []float64, t float64) (first int) {
	if len(dst) != z.q {
		panic("gridded: b has another width")
	}
	place := t * float64(2*z.p)
	first = int(math.Ceil((place - float64(z.q)) / 2))
	theta := math.Pi * (place - float64(2*first)) / float64(z.q)
	var waves [2 * 256]float64
	x := waves[:]
	if 2*z.waves > len(x) {
		x = make([]float64, 2*z.waves)
	}
	x = x[:2*z.waves]
	for j := range z.waves {
		x[2*j+1], x[2*j] = math.Sincos(float64(j) * theta)
	}
	blas64.Gemv(blas.NoTrans, 1, z.series, dense.Vec(x), 0, dense.Vec(dst))
	return first
}

// Means sets dst[j] to b(t)ᵀh_j/σ² for each column of h, t in periods: k(t, ·)A⁻¹y where
// h = H⁻¹Bᵀy. work has Width entries.
func (z *Predictor) Means(dst []float64, t float64, h blas64.General, work []float64) {
	first := z.Basis(work, t)
	from, to := z.inside(first)
	for j := range dst {
		if dst[j] = 0; from < to {
			at := blas64.Vector{N: to - from, Inc: h.Stride, Data: h.Data[(first+from)*h.Stride+j:]}
			dst[j] = blas64.Dot(dense.Vec(work[from:to]), at) / z.noise
		}
	}
}

// Variance returns b(t)ᵀG·b(t) = k(0) − k(t, ·)A⁻¹k(·, t), t in periods. work has Width
// entries.
func (z *Predictor) Variance(t float64, work []float64) float64 {
	first := z.Basis(work, t)
	from, to := z.inside(first)
	if from >= to {
		return z.square
	}
	var sum float64
	for i, v := range work {
		if i < from || i >= to {
			sum += v * v
		}
	}
	for i := from; i < to; i++ {
		row := z.g.Data[(first+i)*z.g.Stride:]
		v := row[0] * work[i]
		if i+1 < to {
			v += 2 * blas64.Dot(dense.Vec(row[1:to-i]), dense.Vec(work[i+1:to]))
		}
		sum += v * work[i]
	}
	return sum
}

// inside returns which of the entries of b from first on belong to the grid.
func (z *Predictor) inside(first int) (from, to int) {
	return max(0, -first), min(z.q, z.p-first)
}
