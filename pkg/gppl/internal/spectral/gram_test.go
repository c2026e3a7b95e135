package spectral

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// TestGram compares ΩᵀKΩ and its derivative in the variance with sums over all pairs of points, for coefficients of both signs (a
// window) and of one.
func TestGram(t *testing.T) {
	const n, k, span = 60, 5, 20.0
	rnd := rand.New(rand.NewPCG(5, 6))
	at, omega := make([]float64, n), dense.New(n, k)
	for i := range at {
		at[i] = span * rnd.Float64()
	}
	for i := range omega.Data {
		omega.Data[i] = rnd.NormFloat64() / math.Sqrt(n)
	}
	for _, windowed := range []bool{false, true} {
		period := 31.0
		if windowed {
			period = 2.1 * span
		}
		g := NewGram(k)
		g.Series = fourier.NewSeries(span, period, windowed)
		m, err := g.Series.Expand(gaussian(1.7), 1, 1e-13)
		if err != nil {
			t.Fatal(err)
		}
		g.Features = dense.New(2*m, k)
		fourier.NewPoints(at, 0, period).Sums(g.Features, omega, 0, 1e-15)
		s := make([]float64, k*k)
		g.Keep(s, m, 0)
		want := make([]float64, k*k)
		for i := range n {
			for j := range n {
				r := [1]float64{at[i] - at[j]}
				gaussian(1.7).Cov(r[:], r[:])
				for a := range k {
					for b := range k {
						want[a*k+b] += omega.Data[i*k+a] * r[0] * omega.Data[j*k+b]
					}
				}
			}
		}
		v := make([]float64, k*k)
		var form float64
		for a := range k {
			for b := range k {
				v[a*k+b] = 1 / float64(1+a+b)
				form += v[a*k+b] * want[a*k+b]
				near(t, "an entry", s[a*k+b], want[a*k+b], 1e-11)
			}
		}
		z := []float64{1, -1, 1, 1, -1}
		var zsz float64
		for a := range k {
			for b := range k {
				zsz += z[a] * want[a*k+b] * z[b]
			}
		}
		got, _ := g.Form(z)
		near(t, "a form", got, zsz, 1e-11)
		var grad [1]float64
		q := g.Quadratic(v)
		g.Series.Adjoint(q)
		g.Series.Contract(grad[:], q, gaussian(1.7))
		near(t, "the derivative in the variance", grad[0], form, 1e-10)
		again := make([]float64, k*k)
		g.Sum(again, g.Series.C)
		for i, w := range want {
			near(t, "an entry of a sum with given coefficients", again[i], w, 1e-11)
		}
		if left := g.LeftOut(dense.Vec(z)); !(left >= 0 && left <= 1e-10) {
			t.Errorf("%v is left out", left)
		}
	}
}
