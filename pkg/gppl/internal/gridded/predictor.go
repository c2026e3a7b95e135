package gridded

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	nufft "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Predictor evaluates the vectors b(t) of the package comment, and b(t)ᵀG·b(t). It is immutable, and does not refer to the
// factor that it came from.
//
// Only Q consecutive entries of b(t) are not zero. There, r equals a function of a short period of Q grid points, which takes
// about Q/2 frequencies. So b(t) is a Q×Q matrix times the cosines and sines of t: 2Q² flops, Q = 48 for a Gaussian k, and as
// much for the variance.
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
	f.h.Ctx = nil // predictions have their own context
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
	// r has frequencies up to half of the highest one. The cut at its reach adds frequencies below the tolerance.
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

// Point holds b(t) of one input t, and working memory for the next. Goroutines need one each.
type Point struct {
	of    *Predictor
	first int       // index of the first of the Q entries of b(t) that may be nonzero
	b     []float64 // these entries
	waves []float64
}

// Point returns an empty point: call Set.
func (z *Predictor) Point() *Point {
	return &Point{of: z, b: make([]float64, z.q), waves: make([]float64, 2*z.waves)}
}

// Set sets p to b(t), t in periods.
func (p *Point) Set(t float64) {
	z := p.of
	place := t * float64(2*z.p)
	p.first = int(math.Ceil((place - float64(z.q)) / 2))
	theta := math.Pi * (place - float64(2*p.first)) / float64(z.q)
	for j := range z.waves {
		p.waves[2*j+1], p.waves[2*j] = math.Sincos(float64(j) * theta)
	}
	blas64.Gemv(blas.NoTrans, 1, z.series, dense.Vec(p.waves), 0, dense.Vec(p.b))
}

// Entries returns the nonzero entries of b(t), and the index of the first of them. Near the ends of the period and outside of
// it, some or all of them lie outside the grid, 0 … Size−1. They belong to grid points without data: there G is the identity
// and h zero.
func (p *Point) Entries() (first int, b []float64) { return p.first, p.b }

// Means sets dst[j] to b(t)ᵀh_j/σ² for each column of h: k(t, ·)A⁻¹y where h = H⁻¹Bᵀy.
func (p *Point) Means(dst []float64, h blas64.General) {
	clear(dst)
	if from, to := p.inside(); from < to {
		blas64.Gemv(blas.Trans, 1/p.of.noise, dense.Rows(h, p.first+from, to-from), dense.Vec(p.b[from:to]), 0, dense.Vec(dst))
	}
}

// Variance returns b(t)ᵀG·b(t) = k(0) − k(t, ·)A⁻¹k(·, t).
func (p *Point) Variance() float64 {
	from, to := p.inside()
	if from >= to {
		return p.of.square
	}
	var sum float64
	for i, v := range p.b {
		if i < from || i >= to {
			sum += v * v
		}
	}
	for i := from; i < to; i++ {
		row := p.of.g.Data[(p.first+i)*p.of.g.Stride:]
		v := row[0] * p.b[i]
		if i+1 < to {
			v += 2 * floats.Dot(row[1:to-i], p.b[i+1:to])
		}
		sum += v * p.b[i]
	}
	return sum
}

// inside returns the range of the entries of b that belong to the grid.
func (p *Point) inside() (from, to int) {
	return max(0, -p.first), min(p.of.q, p.of.p-p.first)
}
