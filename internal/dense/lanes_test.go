package dense_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// TestLanes: every column of tiles is visited once, with room for a tile, and gradients add up from zero each time.
func TestLanes(t *testing.T) {
	for _, n := range []int{1, dense.Tile, 3*dense.Tile + 5} {
		ls, nb := dense.NewLanes(n), dense.Blocks(n)
		var pairs float64
		for range 2 {
			ls.Begin(nb * nb)
			ls.EachColumn(n, func(l *dense.Lane, i int) {
				if size := dense.Width(n, i) * dense.Width(n, 0); len(l.R) < size || len(l.W) < size {
					t.Errorf("n = %d: column %d has room for %d and %d", n, i, len(l.R), len(l.W))
				}
				for j := i; j < nb; j++ {
					l.Grad[i*nb+j]++
				}
			})
			all := make([]float64, nb*nb)
			ls.AddTo(all)
			for i := range nb {
				for j := range nb {
					if want := map[bool]float64{true: 1}[j >= i]; all[i*nb+j] != want {
						t.Errorf("n = %d: tile (%d, %d) was visited %v times", n, i, j, all[i*nb+j])
					}
				}
			}
			pairs = blas64.Asum(dense.Vec(all))
		}
		if pairs != float64(nb*(nb+1)/2) {
			t.Errorf("n = %d: %v tiles", n, pairs)
		}
	}
}

// TestScatter: rows go where they belong, and back; a transposed matrix has them as columns.
func TestScatter(t *testing.T) {
	a, dst := dense.New(2, 3), dense.New(4, 3)
	for i := range a.Data {
		a.Data[i] = float64(1 + i)
	}
	dense.Scatter(dst, a, []int{3, 1})
	if want := []float64{0, 0, 0, 4, 5, 6, 0, 0, 0, 1, 2, 3}; !slices.Equal(dst.Data, want) {
		t.Errorf("scattered to %v, want %v", dst.Data, want)
	}
	if got := dense.Transposed(dense.Rows(dst, 1, 3)); got.Rows != 3 || !slices.Equal(got.Data, []float64{4, 0, 1, 5, 0, 2, 6, 0, 3}) {
		t.Errorf("transposed: %v", got)
	}
}

// TestDiagonals checks the lengths of columns, weighted squares, and the diagonal and eigenvalues of a matrix.
func TestDiagonals(t *testing.T) {
	a := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: []float64{3, 1, 0, 2, 4, 2}}
	if got := dense.Lengths(a); !slices.Equal(got, []float64{5, 3}) {
		t.Errorf("lengths %v", got)
	}
	w := dense.Weighted(t.Context(), a, []float64{1, 2, 0.5})
	if want := []float64{17, 7, 7, 11}; !slices.Equal(w.Data, want) {
		t.Fatalf("weighted squares %v, want %v", w.Data, want)
	}
	if got := dense.LargestOnDiagonal(w.Data, 2); got != 17 {
		t.Errorf("the largest on the diagonal is %v", got)
	}
	// The eigenvalues are 14 ± √58.
	least, cond := dense.LeastEigenvalue(t.Context(), w.Data, 2)
	if exact := 14 - math.Sqrt(58); !(least > exact/2 && least <= exact*(1+1e-12)) || !(cond >= (14+math.Sqrt(58))/exact) {
		t.Errorf("the least eigenvalue %v is put above %v, the condition at %v", exact, least, cond)
	}
	if least, cond := dense.LeastEigenvalue(t.Context(), []float64{1, 1, 1, 1}, 2); !(least < 1e-15) || !(cond > 1e15) {
		t.Errorf("a singular matrix: %v, %v", least, cond)
	}
	if least, cond := dense.LeastEigenvalue(t.Context(), nil, 2); least != 1 || cond != 1 {
		t.Errorf("I: %v, %v", least, cond)
	}
}
