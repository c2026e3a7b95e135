package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// TestFactorRows: the products of the rows are the inverse of the covariance, and below the diagonal are zeros.
func TestFactorRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 64, 65, 131, 300} {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, math.Exp(-float64(j-i)/9)+0.01*rnd.Float64())
			}
			a.SetSym(i, i, a.At(i, i)+0.3)
		}
		f := &factor{l: dense.NewLower(n)}
		f.l.Set(mat.DenseCopyOf(a).RawMatrix())
		if err := f.l.Cholesky(); err != nil {
			t.Fatal(err)
		}
		var chol mat.Cholesky
		var want mat.SymDense
		if !chol.Factorize(a) {
			t.Fatal("singular")
		}
		if err := chol.InverseTo(&want); err != nil {
			t.Fatal(err)
		}
		v := f.rows()
		for i := range n {
			row := v.Data[i*v.Stride:][:n]
			if floats.Norm(row[:i], 1) != 0 {
				t.Fatalf("n = %d: row %d begins with %v", n, i, row[:i])
			}
			for j := range n {
				if got := floats.Dot(row, v.Data[j*v.Stride:][:n]); math.Abs(got-want.At(i, j)) > 1e-12 {
					t.Fatalf("n = %d: (%d, %d) of the inverse is %v, want %v", n, i, j, got, want.At(i, j))
				}
			}
		}
	}
}
