package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// randomTriangle returns a well-conditioned triangle. The other half of its matrix is NaN, which must not be read.
func randomTriangle(rnd *rand.Rand, n, stride int, uplo blas.Uplo) blas64.Triangular {
	t := blas64.Triangular{Uplo: uplo, Diag: blas.NonUnit, N: n, Stride: stride, Data: make([]float64, n*stride)}
	for i := range n {
		for j := range stride {
			v := rnd.NormFloat64() / float64(n)
			switch {
			case i == j:
				v += 2
			case j >= n || (j > i) == (uplo == blas.Lower):
				v = math.NaN()
			}
			t.Data[i*stride+j] = v
		}
	}
	return t
}

// TestTrsm: the solution equals gonum's on every side of every triangle, and nothing beside b is written.
func TestTrsm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 7, 16, 17, 33, 64, 65, 100} {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, side := range []blas.Side{blas.Left, blas.Right} {
					for _, m := range []int{1, 3, 64} {
						rows, cols := n, m
						if side == blas.Right {
							rows, cols = m, n
						}
						tri := randomTriangle(rnd, n, n+2, uplo)
						whole := New(rows, cols+3)
						for i := range whole.Data {
							whole.Data[i] = rnd.NormFloat64()
						}
						want := New(rows, cols+3)
						Copy(want, whole)
						blas64.Trsm(side, trans, -1.5, tri, Sub(want, 0, rows, 1, 1+cols))
						Trsm(side, trans, -1.5, tri, Sub(whole, 0, rows, 1, 1+cols))
						for i, v := range whole.Data {
							if !(math.Abs(v-want.Data[i]) < 1e-13*float64(1+n)) {
								t.Fatalf("n %d, m %d, side %c, %c, %c: entry %d is %v, want %v", n, m, side, uplo, trans, i, v, want.Data[i])
							}
						}
					}
				}
			}
		}
	}
}

// BenchmarkTrsm solves with a tile for the columns or rows of another, with gonum and with this package.
func BenchmarkTrsm(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 4))
	tri := randomTriangle(rnd, 64, 64, blas.Lower)
	for _, of := range []struct {
		name  string
		solve func(blas.Side, blas.Transpose, float64, blas64.Triangular, blas64.General)
	}{{"gonum", blas64.Trsm}, {"this", Trsm}} {
		for _, side := range []blas.Side{blas.Left, blas.Right} {
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				b.Run(fmt.Sprintf("%s/%c/%c", of.name, side, trans), func(b *testing.B) {
					x := New(64, 64)
					for b.Loop() {
						for i := range x.Data {
							x.Data[i] = 1
						}
						of.solve(side, trans, 1, tri, x)
					}
				})
			}
		}
	}
}
