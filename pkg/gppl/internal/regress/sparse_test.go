package regress

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// days are n rows of a constant, a trend and indicators of two rows each, and their prior variances.
func days(n, indicators int, constant, trend float64) (*mat.Dense, []float64) {
	rnd := rand.New(rand.NewPCG(uint64(n), 5))
	h, variance := mat.NewDense(n, 2+indicators, nil), []float64{constant, trend}
	for i := range n {
		h.Set(i, 0, 1)
		h.Set(i, 1, float64(i)/float64(n))
	}
	for j := range indicators {
		variance = append(variance, 0.05+0.2*rnd.Float64())
		for range 2 {
			h.Set(rnd.IntN(n), 2+j, 1)
		}
	}
	return h, variance
}

// TestSparse: [D, S]·Mix is Q, whatever the priors of the full columns, and S has the entries of H alone.
func TestSparse(t *testing.T) {
	flat := math.Inf(1)
	for _, priors := range [][2]float64{{flat, flat}, {flat, 4}, {100, 4}, {1e4, flat}} {
		h, variance := days(300, 20, priors[0], priors[1])
		b, err := NewBasis(t.Context(), h, variance)
		if err != nil {
			t.Fatal(err)
		}
		s := b.Sparse
		if s == nil || s.Dense != 2 {
			t.Fatalf("priors %v: %+v, want two full columns", priors, s)
		}
		q, filled := dense.ProductWithin(t.Context(), blas.NoTrans, s.Columns, s.Mix), 0
		for i := range q.Rows {
			for j := range q.Cols {
				if off := math.Abs(q.Data[i*q.Stride+j] - b.Q.At(i, j)); off > 1e-14*math.Sqrt(columnNorm(b.Q, j)+1) {
					t.Fatalf("priors %v: entry %d, %d is %g off", priors, i, j, off)
				}
				if j >= s.Dense && s.Columns.Data[i*s.Columns.Stride+j] != 0 {
					filled++
				}
			}
		}
		if filled > 40 {
			t.Errorf("priors %v: %d entries are filled, want at most 2 for each of 20 columns", priors, filled)
		}
	}
}

// TestNotSparse: few indicators, and columns that nearly depend on one another, are left as they are.
func TestNotSparse(t *testing.T) {
	h, variance := days(300, fewSparse-1, 1, 1)
	b, err := NewBasis(t.Context(), h, variance)
	if err != nil || b.Sparse != nil {
		t.Errorf("few: %v, %v", b.Sparse, err)
	}
	h, variance = days(300, 20, 1, 1)
	for i := range 300 { // the last two indicators are nearly the same
		h.Set(i, 21, h.At(i, 20)*(1+1e-9*float64(i)))
	}
	if b, err = NewBasis(t.Context(), h, variance); err != nil || b.Sparse != nil {
		t.Errorf("dependent: %v, %v", b.Sparse, err)
	}
}
