package observe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

func warped(w observe.Warp, mu, sd float64) observe.Warped {
	return observe.Warped{Of: &draws.Mixture{Weights: []float64{1}, Means: [][]float64{{mu}}, Variances: [][]float64{{sd * sd}}}, Warp: w}
}

// boxCoxMean is (λ·sd)^p·∫ d^p·φ(a + d) dd, p = 1/λ: closed for p = 1 and 2, otherwise by Gauss–Legendre on pieces,
// with d = s⁸, which makes a polynomial of the power at the end.
func boxCoxMean(lambda, mu, sd float64) float64 {
	a := -(1/lambda + mu) / sd
	phi, above := distuv.UnitNormal.Prob(a), 0.5*math.Erfc(a/math.Sqrt2)
	switch lambda {
	case 1:
		return sd * (phi - a*above)
	case 0.5:
		return 0.25 * sd * sd * ((1+a*a)*above - a*phi)
	}
	f := func(s float64) float64 {
		d := math.Pow(s, 8)
		return math.Exp(math.Log(lambda*sd*d)/lambda-0.5*(a+d)*(a+d)) * 8 * math.Pow(s, 7) / math.Sqrt(2*math.Pi)
	}
	end := max(0, -a) + 12 + 4/lambda
	var sum float64
	const pieces = 400
	at := func(i int) float64 { return math.Pow(end*float64(i)/pieces, 1.0/8) }
	for i := range pieces {
		sum += quad.Fixed(f, at(i), at(i+1), 40, nil, 0)
	}
	return sum
}

// TestBoxCoxMean: the mean with all of the probability beyond the end of the range at the end of the domain, from none to nearly all.
func TestBoxCoxMean(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for i := range 120 {
		lambda := []float64{1, 0.5, 2, 1.0 / 3, 0.25, 0.9, 3.7, 10}[i%8]
		sd := math.Exp(3*rnd.Float64() - 2)
		mu := -1/lambda + sd*(12*rnd.Float64()-5) // the end is 5 standard deviations above to 7 below
		want := boxCoxMean(lambda, mu, sd)
		got := warped(observe.BoxCoxWarp{Lambda: lambda, Offset: 0}, mu, sd).Mean()[0]
		off := math.Abs(got/want - 1)
		if worst = max(worst, off); !(off < 1e-10) {
			t.Errorf("λ = %v, z ~ N(%v, %v²): mean %v, want %v: off by %.2g", lambda, mu, sd, got, want, off)
		}
	}
	t.Logf("off by %.2g at most", worst)
	for _, c := range []struct{ lambda, mu, sd float64 }{{1e-14, 0.4, 0.8}, {1e-6, 0.4, 0.8}, {0.5, 3, 0}, {0.5, -3, 0}, {0.3, 1, 1e-9}} {
		w := observe.BoxCoxWarp{Lambda: c.lambda, Offset: 1}
		want := w.Inverse(c.mu)
		if c.sd > 0.1 {
			want = math.Exp(c.mu+c.sd*c.sd/2) - 1
		}
		if got := warped(w, c.mu, c.sd).Mean()[0]; math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("λ = %v, z ~ N(%v, %v²): mean %v, want about %v", c.lambda, c.mu, c.sd, got, want)
		}
	}
}

// TestWarpedMeanDraws: the means of all warps are those of draws.
func TestWarpedMeanDraws(t *testing.T) {
	for _, w := range []observe.Warp{observe.BoxCoxWarp{Lambda: 0.5, Offset: 2}, observe.BoxCoxWarp{Lambda: 1.7}, observe.LogitWarp{Lo: -1, Hi: 3}, observe.LogWarp{Offset: 1}} {
		for _, z := range [][2]float64{{0.3, 0.2}, {-0.5, 1}, {-3, 2}, {1, 1.5}, {-1, 0.01}} {
			t.Run(fmt.Sprint(w, z), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(1, 2))
				const draws = 100000
				var sum, squares float64
				for range draws {
					y := w.Inverse(z[0] + z[1]*rnd.NormFloat64())
					sum += y
					squares += y * y
				}
				mean := sum / draws
				sd := math.Sqrt((squares/draws - mean*mean) / draws)
				if got := warped(w, z[0], z[1]).Mean()[0]; math.Abs(got-mean) > 5*sd+1e-9 {
					t.Errorf("mean %v, of draws %v ± %v", got, mean, sd)
				}
			})
		}
	}
}

// TestLogitMean: symmetric about the middle, and exact where a spread of any size makes a step of the logit.
func TestLogitMean(t *testing.T) {
	for _, sd := range []float64{1e-3, 0.1, 1, 10, 1e3, 1e6} {
		w := observe.LogitWarp{Lo: 2, Hi: 6}
		near(t, "the middle", warped(w, 0, sd).Mean()[0], 4, 1e-14)
		up, down := warped(w, 1.3, sd).Mean()[0], warped(w, -1.3, sd).Mean()[0]
		near(t, "both sides", up+down, 8, 1e-14)
		if sd < 1e3 {
			var want float64
			for i := range 4000 {
				lo := -10 + 20*float64(i)/4000
				want += quad.Fixed(func(u float64) float64 { return w.Inverse(1.3+sd*u) * distuv.UnitNormal.Prob(u) }, lo, lo+20.0/4000, 10, nil, 0)
			}
			near(t, "by quadrature", up, want, 1e-11)
		}
	}
}

// TestBoxCoxEnd: median, quantiles and density with probability at the end of the domain.
func TestBoxCoxEnd(t *testing.T) {
	w := observe.BoxCoxWarp{Lambda: 0.5, Offset: 1} // z > −2
	f := warped(w, -1.5, 1)
	end := distuv.UnitNormal.CDF(-0.5)
	for _, p := range []float64{0.01, 0.3, 0.5, 0.9, 0.999} {
		want := w.Inverse(-1.5 + distuv.UnitNormal.Quantile(p))
		if p < end {
			want = -1
		}
		near(t, fmt.Sprint("quantile ", p), f.Quantile(p)[0], want, 1e-9)
	}
	var all float64
	const pieces = 200
	for i := range pieces { // y + 1 = s², where the density is smooth in s
		lo := 4 * float64(i) / pieces
		all += quad.Fixed(func(s float64) float64 { return math.Exp(f.LogDensity([]float64{s*s - 1})[0]) * 2 * s }, lo, lo+4.0/pieces, 10, nil, 0)
	}
	near(t, "density", all, 1-end, 1e-9)
	for _, y := range []float64{-1, -1.5} {
		if v := f.LogDensity([]float64{y})[0]; !math.IsInf(v, -1) {
			t.Errorf("log density at %v: %v", y, v)
		}
	}
}
