package gppltest

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Observation is an observation Y of a Size at a latent value G.
type Observation struct{ Y, Size, G float64 }

// CheckLikelihood checks a likelihood at observations that it allows. Its three derivatives in g, and the derivatives in its
// parameters if it has any, must equal central differences to 1e-5. It must be concave. Its probabilities, over the whole
// numbers from 0 that Check accepts, must add up to its CDF and to 1, and give its mean and its variance. The guess must be a
// number.
func CheckLikelihood(t *testing.T, l observe.Likelihood, at ...Observation) {
	t.Helper()
	for _, o := range at {
		if err := l.Check(o.Y, o.Size); err != nil {
			t.Errorf("%v does not allow %+v: %v", l, o, err)
			continue
		}
		checkDerivatives(t, l, o)
		checkDistribution(t, l, o)
		if shaped, ok := l.(observe.Shaped); ok {
			checkSlopes(t, shaped, o)
		}
		if g := l.Guess(o.Y, o.Size); !numeric.IsFinite(g) {
			t.Errorf("%v at %+v: the guess is %v", l, o, g)
		}
	}
}

func checkDerivatives(t *testing.T, l observe.Likelihood, o Observation) {
	t.Helper()
	const h = 1e-4
	d, up, down := l.LogDensity(o.Y, o.Size, o.G), l.LogDensity(o.Y, o.Size, o.G+h), l.LogDensity(o.Y, o.Size, o.G-h)
	if !(d.D2 < 0) {
		t.Errorf("%v at %+v: the second derivative is %v: want it negative", l, o, d.D2)
	}
	got := []float64{d.D1, d.D2, d.D3}
	for i, want := range centralDifferences(up, down, h) {
		if !about(got[i], want, 1e-6, 1e-5) {
			t.Errorf("%v at %+v: derivative %d is %v, by differences %v", l, o, i+1, got[i], want)
		}
	}
}

// centralDifferences returns the differences of a value and its first two derivatives, at g + h (up) and g − h (down).
func centralDifferences(up, down observe.Derivatives, h float64) []float64 {
	return []float64{(up.Value - down.Value) / (2 * h), (up.D1 - down.D1) / (2 * h), (up.D2 - down.D2) / (2 * h)}
}

func checkSlopes(t *testing.T, l observe.Shaped, o Observation) {
	t.Helper()
	theta := gppl.Values(l.Params())
	for p, v := range theta {
		e := 1e-4 * v
		moved := func(by float64) observe.Derivatives {
			other := slices.Clone(theta)
			other[p] += by
			return l.WithParams(other).LogDensity(o.Y, o.Size, o.G)
		}
		more, less, slope := moved(e), moved(-e), l.Slopes(p, o.Y, o.Size, o.G)
		got := []float64{slope.Value, slope.D1, slope.D2}
		for i, want := range centralDifferences(more, less, e) {
			if !about(got[i], want, 1e-7/v, 1e-5) {
				t.Errorf("%v at %+v: the slope of derivative %d in %s is %v, by differences %v", l, o, i, l.Params()[p].Name, got[i], want)
			}
		}
	}
}

// checkDistribution sums the probabilities of whole numbers.
func checkDistribution(t *testing.T, l observe.Likelihood, o Observation) {
	t.Helper()
	if c, ok := l.(observe.Continuous); ok {
		checkContinuous(t, c, o)
		return
	}
	const most = 2000
	var sum, mean, square float64
	for y := 0.0; y <= most; y++ {
		if l.Check(y, o.Size) != nil {
			continue
		}
		p := math.Exp(l.LogDensity(y, o.Size, o.G).Value)
		sum, mean, square = sum+p, mean+y*p, square+y*y*p
		if cdf := l.CDF(y, o.Size, o.G); !about(cdf, sum, 1e-9, 0) {
			t.Errorf("%v at %+v: P(Y ≤ %v) = %v, the sum is %v", l, o, y, cdf, sum)
			return
		}
	}
	if !about(sum, 1, 1e-9, 0) || !about(l.Mean(o.Size, o.G), mean, 0, 1e-8) ||
		!about(l.Variance(o.Size, o.G), square-mean*mean, 1e-12, 1e-7) {
		t.Errorf("%v at %+v: probabilities up to %d add up to %v; mean %v, of the sum %v; variance %v, of the sum %v", l, o, most,
			sum, l.Mean(o.Size, o.G), mean, l.Variance(o.Size, o.G), square-mean*mean)
	}
}

func about(got, want, absolute, relative float64) bool {
	return math.Abs(got-want) <= absolute+relative*math.Abs(want)
}

// checkContinuous integrates the density over quantiles of an even grid, with the mean and the variance.
func checkContinuous(t *testing.T, l observe.Continuous, o Observation) {
	t.Helper()
	one := observe.NewCounts(l, []float64{o.G}, []float64{0}, []float64{o.Size})
	const steps = 20000
	from, to := testkit.Must(one.Quantile(t.Context(), 1e-9))(t)[0], testkit.Must(one.Quantile(t.Context(), 1-1e-9))(t)[0]
	step := (to - from) / steps
	sum, mean, square := l.CDF(from, o.Size, o.G), 0.0, 0.0
	for j := range steps {
		y := from + (float64(j)+0.5)*step
		p := step * math.Exp(l.LogDensity(y, o.Size, o.G).Value)
		sum, mean, square = sum+p, mean+y*p, square+y*y*p
		if cdf := l.CDF(y+0.5*step, o.Size, o.G); !about(cdf, sum, 1e-3, 0) {
			t.Errorf("%v at %+v: P(Y ≤ %v) = %v, the integral of the density is %v", l, o, y+0.5*step, cdf, sum)
			return
		}
	}
	if m := l.Mean(o.Size, o.G); !about(m, mean, 1e-3, 1e-3) {
		t.Errorf("%v at %+v: the mean is %v, by the density %v", l, o, m, mean)
	}
	if v := l.Variance(o.Size, o.G); !about(v, square-mean*mean, 1e-3, 1e-2) {
		t.Errorf("%v at %+v: the variance is %v, by the density %v", l, o, v, square-mean*mean)
	}
}
