package fourier

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// TestBands: sums of few points at many frequencies keep their tolerance, for numbers of frequencies that bands do not
// divide, and those that begin above 0.
func TestBands(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct{ n, k, m0, m int }{{1, 1, 0, leastBand}, {40, 2, 0, 5000}, {300, 1, 77, 20_001},
		{3000, 2, 100_000, 70_003}} {
		x := fill(c.n, func(int) float64 { return 1000 * rnd.Float64() })
		w := randomGeneral(c.n, c.k, c.k+1, rnd)
		phases, p := exactPhases(x, 1.1, 1080), NewPoints(x, 1.1, 1080)
		dst := dense.New(2*c.m, c.k)
		for _, tol := range []float64{roughTolerance, 1e-8, 1e-5, 1e-2} {
			if !inBands(c.n, c.m, tol) {
				t.Fatalf("%+v is not for bands", c)
			}
			p.NUFFT(dst, w, c.m0, tol)
			if err := worst(dst, w, phases, c.m0, rnd); !(err <= tol) {
				t.Errorf("%+v, tolerance %g: errs by %.3g", c, tol, err)
			}
		}
	}
}

// BenchmarkBands beside the one grid that serves all frequencies.
func BenchmarkBands(b *testing.B) {
	for _, n := range []int{500, 2000, 20_000} {
		for _, tol := range []float64{1e-9, 0.9 * roughTolerance} {
			const m = 1 << 18
			b.Run(fmt.Sprintf("n=%d/M=%d/tol=%g", n, m, tol), func(b *testing.B) {
				benchSums(b, n, 2, m, func(p *Points, dst, w blas64.General) { p.NUFFT(dst, w, 0, tol) })
			})
		}
	}
}
