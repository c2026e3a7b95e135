package mixed

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// TestPacketsBetweenTimes: what a packet leaves of waves is below the limit everywhere on the stretch, not only at the times that
// it is made from, for stretches up to the whole period.
func TestPacketsBetweenTimes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 7))
	const limit = 1e-14
	var worst float64
	for range testkit.Size(40, 100, 1000) {
		c := make([]float64, 1+rnd.IntN(200))
		decay := 3 * rnd.Float64()
		for m := range c {
			c[m] = math.Exp(-decay * float64(m*m) / float64(len(c)*len(c)))
		}
		kind, turn, shift := rnd.IntN(3), math.Pi*rnd.Float64(), 0.0
		if kind == 2 {
			shift = -0.5 * float64(len(c)-1)
		}
		var s spanning
		s.span(c, turn, shift, kind != 1, kind != 0, limit)
		left := func(wave func(angle float64) float64) (square float64) {
			v := make([]float64, len(c))
			for m := range v {
				v[m] = math.Sqrt(c[m]) * wave(float64(m)+shift)
			}
			for k := range s.u.Cols {
				u := blas64.Vector{N: len(c), Inc: s.u.Stride, Data: s.u.Data[k:]}
				blas64.Axpy(-blas64.Dot(u, dense.Vec(v)), u, dense.Vec(v))
			}
			return blas64.Dot(dense.Vec(v), dense.Vec(v))
		}
		for range 50 {
			at := turn * rnd.Float64()
			var off float64
			if kind != 1 {
				off = left(func(m float64) float64 { return math.Cos(at * m) })
			}
			if kind != 0 {
				off = max(off, left(func(m float64) float64 { return math.Sin(at * m) }))
			}
			if worst = max(worst, off/limit); off > 2*limit {
				t.Fatalf("%d waves, kind %d, turn %.3g of π: %.2g is left at %.3g of the stretch, the limit is %g",
					len(c), kind, turn/math.Pi, off, at/turn, limit)
			}
		}
	}
	t.Logf("at most %.2g of the limit", worst)
}

// TestLines: the sine of any frequency, and its product with the time, are what their lines on a circle add up to, anywhere on
// the stretch.
func TestLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 3))
	for range 200 {
		share := 0.2 + 0.3*rnd.Float64()
		var w Term
		w.Reset(math.Pow(10, -3*rnd.Float64()), []waves.Band{{To: 1 + rnd.IntN(30)}}, 0)
		w.SetLines(1, share)
		at := share * (rnd.Float64() - 0.5)
		for j := range w.Coef {
			wave, moved := w.lineAt(j, at, 1)
			want := math.Sin(2 * math.Pi * float64(j) * at / w.Period)
			if limit := 1e-12 * (1 + float64(j)/w.Period); math.Abs(wave-want) > limit || math.Abs(moved-at*want) > 100*limit {
				t.Fatalf("harmonic %d of the period %v at %v: %v and %v, want %v and %v", j, w.Period, at, wave, moved, want, at*want)
			}
		}
	}
}
