package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// onEach runs f as on this processor, on one without AVX-512, and on one without AVX.
func onEach(f func()) {
	avx, wide := cpu.X86.HasAVX, cpu.X86.HasAVX512F
	defer func() { cpu.X86.HasAVX, cpu.X86.HasAVX512F = avx, wide }()
	f()
	cpu.X86.HasAVX512F = false
	f()
	cpu.X86.HasAVX = false
	f()
}

// TestGemm compares with blas64.Gemm to the last bit on each processor, and checks that nothing beside c changes: a, b and c are
// parts of larger matrices.
func TestGemm(t *testing.T) { onEach(func() { compareGemm(t) }) }

func compareGemm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	inner := func(whole blas64.General) blas64.General {
		if whole.Cols == 1 {
			return Sub(whole, 1, whole.Rows-1, 0, 1)
		}
		return Sub(whole, 1, whole.Rows-1, 2, whole.Cols-1)
	}
	part := func(rows, cols int) (whole, part blas64.General) {
		if cols == 1 && rows > 30 { // a vector side by side
			whole = general(rows+2, 1, rnd)
		} else {
			whole = general(rows+2, cols+3, rnd)
		}
		return whole, inner(whole)
	}
	for _, size := range [][3]int{{1, 1, 30}, {1, 400, 30}, {64, 1, 30}, {3, 7, 40}, {4, 8, 64}, {5, 9, 65}, {64, 64, 64}, {66, 100, 130}, {130, 400, 1}, {13, 13, 200}, {9, 5, 7}, {8, 2, 3}, {4, 2, 2}, {5, 0, 7}, {7, 31, 7}, {12, 6, 2}, {64, 1, 64},
		{39, 1, 50}} {
		m, n, k := size[0], size[1], size[2]
		for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				_, a := part(m, k)
				if ta == blas.Trans {
					_, a = part(k, m)
				}
				_, b := part(k, n)
				if tb == blas.Trans {
					_, b = part(n, k)
				}
				if a.Rows > 1 {
					clear(a.Data[a.Stride:][:min(a.Cols, 3)]) // zeros are skipped
				}
				for _, scale := range [][2]float64{{0.7, 0}, {0.7, 1}, {0.7, -0.3}, {1, 1}, {-1, 1}} {
					alpha, beta := scale[0], scale[1]
					whole, c := part(m, n)
					want := clone(whole)
					pieces(ta, tb, alpha, a, b, beta, inner(want))
					Gemm(ta, tb, alpha, a, b, beta, c)
					if !mat.Equal(asDense(whole), asDense(want)) {
						t.Errorf("%d×%d, depth %d, %c%c, alpha %v, beta %v: not the bits of blas64.Gemm", m, n, k, ta, tb, alpha, beta)
					}
				}
			}
		}
	}
}

// BenchmarkGemm multiplies matrices of m×k and k×n, by Gemm and by gonum.
func BenchmarkGemm(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {6, 6, 6}, {8, 8, 8}, {12, 12, 12}, {17, 17, 17}, {31, 31, 31}, {64, 64, 64}, {192, 192, 192}, {64, 1, 64}, {64, 2, 64}, {64, 3, 64}, {1, 64, 64}, {64, 4, 64}, {64, 6, 64}, {64, 8, 64}, {2, 64, 2}, {2, 8, 2}, {64, 64, 2}} {
		m, n, k := size[0], size[1], size[2]
		for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			x, y, z := general(m, k, rnd), general(k, n, rnd), New(m, n)
			if tb == blas.Trans {
				y = general(n, k, rnd)
			}
			for _, of := range []struct {
				name     string
				multiply func(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General)
			}{{"own", Gemm}, {"gonum", pieces}} {
				b.Run(fmt.Sprintf("m=%d/n=%d/k=%d/%c/%s", m, n, k, tb, of.name), func(b *testing.B) {
					b.ReportAllocs()
					for range b.N {
						of.multiply(blas.NoTrans, tb, 1, x, y, 0, z)
					}
				})
			}
		}
	}
}
