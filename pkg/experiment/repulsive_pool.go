package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// PoolDesign names, in Designs, the Repulsive design of the authors' code: 400 vectors repel each other, and the first k are
// taken (gp.py, lines 306 and 307).
const PoolDesign = "Repulsive, k of 400"

// repulsivePool is the design named by PoolDesign. The repulsion multiplies the Gaussian n×400 matrix W from the right by a
// matrix that depends on WᵀW only. The first k columns therefore span a uniformly distributed subspace, as with Sphere. For
// the same seed it is another subspace than Sphere's; the two would be equal if only k vectors repelled each other.
type repulsivePool struct{}

// Settings of sphere_with_repulsion in the authors' code.
const (
	poolSize  = 400
	poolSteps = 200
	poolRate  = 0.1
)

func (repulsivePool) String() string { return PoolDesign }

// Directions implements gppl.Design. It works on WᵀW and on the coefficients of W, so a step takes O(400³) for any n. It stops
// once all vectors are orthogonal to rounding.
func (repulsivePool) Directions(_ context.Context, omega *mat.Dense, _ gppl.Inputs, rnd *rand.Rand) error {
	n, k := omega.Dims()
	p := min(poolSize, n)
	if k > p {
		return fmt.Errorf("experiment: %d directions of a pool of %d", k, p)
	}
	w := general(n, p)
	for i := range w.Data {
		w.Data[i] = rnd.NormFloat64()
	}
	gram, next, move, held := general(p, p), general(p, p), general(p, p), general(p, p)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, w, w, 0, gram)
	b, c := general(p, p), general(p, p) // the vectors are W·b
	for i := range p {
		b.Data[i*p+i] = 1
	}
	rescale(b, gram)
	for range poolSteps {
		most := 0.0
		for i := range p {
			for j := range p {
				g := gram.Data[i*p+j]
				if i == j {
					move.Data[i*p+j] = 1
					continue
				}
				move.Data[i*p+j] = -poolRate * g
				most = max(most, math.Abs(g))
			}
		}
		if most < 1e-15 {
			break
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, b, move, 0, c)
		b, c = c, b
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, gram, move, 0, held)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, move, held, 0, next)
		gram, next = next, gram
		rescale(b, gram)
	}
	first := blas64.General{Rows: p, Cols: k, Stride: p, Data: b.Data}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, w, first, 0, omega.RawMatrix())
	return nil
}

// rescale divides the vectors by their lengths; the diagonal of gram holds the squared lengths.
func rescale(b, gram blas64.General) {
	p := gram.Rows
	s := make([]float64, p)
	for i := range s {
		s[i] = 1 / math.Sqrt(gram.Data[i*p+i])
	}
	for i := range p {
		for j := range p {
			gram.Data[i*p+j] *= s[i] * s[j]
			b.Data[i*p+j] *= s[j]
		}
	}
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
