package banded

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// TestCheckHolds: the discrepancy of a correct inverse is no more than its
// error may be.
func TestCheckHolds(t *testing.T) {
	const n = 300
	rnd := rand.New(rand.NewPCG(1, 2))
	var check Check
	var a Matrix
	worst := map[float64]float64{}
	turn := 0
	for _, kind := range []string{"regular", "irregular", "clustered", "duplicated", "dense in the middle"} {
		for _, c := range []covariance{seOf(0.1), seOf(0.3), seOf(4), seOf(12), seOf(100), seOf(1e4), locPerOf(8, 12, 1),
			locPerOf(25, 12, 1), matern52Of(5)} {
			for _, noise := range []float64{1e3, 1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-9, 1e-10} {
				if turn++; turn%testkit.Size(4, 3, 1) != 0 {
					continue
				}
				for _, cut := range []bool{false, true} {
					x := series(kind, n, rnd)
					first := profileOf(x, c.reach)
					if cut {
						split(&a, first)
					} else {
						a.Reset(first)
					}
					setCovariance(&a, x, c, noise)
					if err := a.Cholesky(); err != nil {
						t.Fatal(err)
					}
					check.Solve(&a)
					a.Inverse(&a)
					size := roundings(check.Discrepancy(&a), noise)
					worst[noise] = max(worst[noise], size)
					if !(size < most(noise)) {
						t.Errorf("%s, %s, reach %.3g, noise %.0e, halves %v: a discrepancy of %.3g roundings",
							kind, c.name, c.reach, noise, cut, size)
					}
					if lo, hi := a.DiagonalRange(); !(lo > 0.99/(1+noise) && hi < 1.01/noise) {
						t.Errorf("%s, %s, noise %.0e: the diagonal of the inverse goes from %v to %v", kind, c.name, noise, lo, hi)
					}
				}
			}
		}
	}
	t.Log(worst)
}

// TestCheckCatches: faults in the recursion, and in its result, are seen.
func TestCheckCatches(t *testing.T) {
	scale := func(t blas64.General, f float64) { blas64.Scal(f, dense.Vec(t.Data)) }
	afterEach := func(f func(z *block)) func(a, z *Matrix) {
		return func(a, z *Matrix) {
			outward(a, z, func(a, z *Matrix, j int) {
				invert(a, z, j)
				f(&z.blocks[j])
			})
		}
	}
	atBlock := func(which func(z *Matrix) int) func(a, z *Matrix) {
		return func(a, z *Matrix) {
			a.Inverse(z)
			scale(z.blocks[which(z)].diag, 1.001)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 3))
	x := series("irregular", 1200, rnd)
	var check Check
	for _, fault := range []struct {
		name    string
		invert  func(a, z *Matrix)
		halves  bool // the fault is in something that only halves have
		rounded bool // the fault is rounding, amplified
	}{
		{"asymmetric squares", func(a, z *Matrix) { outward(a, z, recur) }, false, true},
		{"wrong sign beside the diagonal", afterEach(func(z *block) { scale(z.off, -1) }), false, false},
		{"factor beside the diagonal", afterEach(func(z *block) { scale(z.off, 1.001) }), false, false},
		{"factor on the diagonal", afterEach(func(z *block) { scale(z.diag, 1.001) }), false, false},
		{"nothing beside the diagonal", afterEach(func(z *block) { clear(z.off.Data) }), false, false},
		{"not a number", afterEach(func(z *block) { z.diag.Data[0] = math.NaN() }), false, false},
		{"no WZWᵀ", func(a, z *Matrix) {
			outward(a, z, func(a, z *Matrix, j int) {
				invert(a, z, j)
				d := z.blocks[j].diag
				inv := like(d, make([]float64, side*side))
				clear(inv.Data)
				for i := range inv.Rows {
					inv.Data[i*(inv.Stride+1)] = 1
				}
				blas64.Trsm(blas.Left, blas.NoTrans, 1, upper(a.blocks[j].diag), inv)
				blas64.Gemm(blas.NoTrans, blas.Trans, 1, inv, inv, 0, d)
			})
		}, false, false},
		{"the first block", atBlock(func(*Matrix) int { return 0 }), false, false},
		{"the last block", atBlock(func(z *Matrix) int { return len(z.blocks) - 1 }), true, false},
		{"the first block of the middle", atBlock(func(z *Matrix) int { return z.m }), true, false},
		{"of another matrix", func(a, z *Matrix) {
			for j := range a.blocks {
				scale(a.blocks[j].diag, 1.001)
			}
			a.Inverse(z)
		}, false, false},
	} {
		for _, c := range []covariance{seOf(3), seOf(12), locPerOf(12, 12, 1)} {
			for _, noise := range []float64{1, 1e-2, 1e-7} {
				for _, cut := range []bool{false, true} {
					if fault.halves && !cut || fault.rounded && (c.name != "SE" || c.reach < 100 || noise > 1e-6) {
						continue
					}
					first := profileOf(x, c.reach)
					var a Matrix
					small := tooSmall
					if tooSmall = 1e300; cut {
						tooSmall = 0
					}
					a.Reset(first)
					z := New(first)
					tooSmall = small
					if cut != (a.m > 0) {
						t.Fatal("not cut in halves")
					}
					setCovariance(&a, x, c, noise)
					if err := a.Cholesky(); err != nil {
						t.Fatal(err)
					}
					check.Solve(&a)
					fault.invert(&a, z)
					// NaN is caught too.
					if d := check.Discrepancy(z); roundings(d, noise) < 4*most(noise) {
						t.Errorf("%s, %s, reach %.3g, noise %.0e, halves %v: a discrepancy of %.2g only",
							fault.name, c.name, c.reach, noise, cut, d)
					}
				}
			}
		}
	}
}
