package fourier

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSynthesise: the waves at points, by the fine grid, equal their formula within the tolerance.
func TestSynthesise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct{ n, m int }{{1, 1}, {5, 1}, {300, 7}, {40, 900}, {700, 333}} {
		x, got := make([]float64, c.n), make([]float64, c.n)
		for i := range x {
			x[i], got[i] = -3+10*rnd.Float64(), 1
		}
		cos, sin := make([]float64, c.m), make([]float64, c.m)
		var size float64
		for m := range cos {
			cos[m], sin[m] = rnd.NormFloat64(), rnd.NormFloat64()
			size += math.Abs(cos[m]) + math.Abs(sin[m])
		}
		const tol = 1e-14
		NewPoints(x, -3, 11).Synthesise(got, cos, sin, tol)
		for i, v := range x {
			want := 1.0
			for m := range cos {
				s, c := math.Sincos(2 * math.Pi * math.Mod(float64(m)*(v+3)/11, 1))
				want += cos[m]*c + sin[m]*s
			}
			if !(math.Abs(got[i]-want) <= 2*tol*size+1e-13*float64(c.m)) { // the formula itself loses digits of the phase
				t.Errorf("%d points, %d frequencies: %v, want %v", c.n, c.m, got[i], want)
			}
		}
	}
}
