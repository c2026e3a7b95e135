package toeplitz

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/parallel"
	nufft "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// An Embedding is a circulant matrix that contains a Toeplitz covariance of n places as a block. Its eigenvalues are the
// Fourier transform of its first column, and a draw is the transform of independent normals with these variances (Dietrich and
// Newsam 1997). It is immutable.
type Embedding struct {
	n, size int
	root    []float64 // standard deviation of each eigenvalue's part of a draw
	// Clipped is the relative excess of a draw's variance, because rounding made some eigenvalues negative.
	Clipped float64
}

const (
	// mostEmbedding is the largest ratio of the circulant to the number of places: a covariance that does not decay has none.
	mostEmbedding = 64
	// clippable is the share of a variance in negative eigenvalues that counts as rounding.
	clippable = 1e-12
)

var errNotEmbedded = errors.New("no circulant matrix of a size that is tried has the covariance as a block and is positive")

// Embed returns the smallest circulant without negative eigenvalues among the sizes it tries: twice the places, doubled
// repeatedly. cov sets dst[i] to the covariance at from + i steps. Embed returns an error if there is none.
func Embed(ctx context.Context, n int, cov func(dst []float64, from int)) (*Embedding, error) {
	for size := nufft.Smooth(max(8, 2*(n-1))); size <= mostEmbedding*max(n, 8); size = nufft.Smooth(2 * size) {
		parallel.Look(ctx)
		c := make([]float64, size)
		cov(c[:size/2+1], 0)
		for j := size/2 + 1; j < size; j++ {
			c[j] = c[size-j]
		}
		parallel.Look(ctx)
		values := fourier.NewFFT(size).Coefficients(nil, c)
		e := &Embedding{n: n, size: size, root: make([]float64, len(values))}
		var negative float64
		for j, v := range values {
			twice := 2.0
			if j == 0 || 2*j == size {
				twice = 1
			}
			if l := real(v); l >= 0 {
				e.root[j] = math.Sqrt(l / float64(size) / twice)
			} else {
				negative -= twice * l / float64(size)
			}
		}
		if e.Clipped = negative / c[0]; e.Clipped <= clippable {
			return e, nil
		}
		if math.Abs(c[size/2]) > 0.5*c[0] { // far from decayed
			break
		}
	}
	return nil, errNotEmbedded
}

// Draw sets dst to a draw at all n places, in memory for the circulant.
func (e *Embedding) Draw(dst []float64, rnd *rand.Rand) {
	coef := make([]complex128, len(e.root))
	for j, r := range e.root {
		if j == 0 || 2*j == e.size {
			coef[j] = complex(r*rnd.NormFloat64(), 0)
			continue
		}
		coef[j] = complex(r*rnd.NormFloat64(), r*rnd.NormFloat64())
	}
	copy(dst[:e.n], fourier.NewFFT(e.size).Sequence(nil, coef))
}
