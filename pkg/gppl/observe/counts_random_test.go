package observe

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// betaShape is a likelihood of g as a power of odds: log p = a·ℓ − (a + b)·log(1 + eˡ) + constant, ℓ = g − shift. An infinite b
// is a Poisson rate: a·ℓ − eˡ. Nothing of it is taken from the package.
type betaShape struct{ a, b, shift float64 }

// peak is the ℓ at which log p is largest, ±Inf if it only falls or rises.
func (s betaShape) peak() float64 {
	if math.IsInf(s.b, 1) {
		return math.Log(s.a)
	}
	return math.Log(s.a / s.b)
}

// fall returns log p less its largest value.
func (s betaShape) fall(g float64) float64 {
	l := g - s.shift
	switch x := l - s.peak(); {
	case s.a == 0 && math.IsInf(s.b, 1):
		return -math.Exp(l)
	case s.a == 0:
		return -s.b * math.Log1p(math.Exp(l))
	case s.b == 0:
		return -s.a * math.Log1p(math.Exp(-l))
	case math.IsInf(s.b, 1):
		return s.a*x - s.a*math.Expm1(x)
	case s.a > s.b:
		return powerFall(s.b, s.a, -x)
	default:
		return powerFall(s.a, s.b, x)
	}
}

// powerFall returns a·x − (a + b)·log(1 + (eˣ − 1)·a/(a + b)) for a ≤ b: the terms of a larger a would cancel.
func powerFall(a, b, x float64) float64 {
	share := a / (a + b)
	if x > 30 { // eˣ may overflow
		return a*x - (a+b)*(x+math.Log(share+math.Exp(-x)*(1-share)))
	}
	return a*x - (a+b)*math.Log1p(share*math.Expm1(x))
}

// slope and curvature are the first derivative of fall, and the second with its sign turned.
func (s betaShape) slope(g float64) (slope, curvature float64) {
	l := g - s.shift
	if math.IsInf(s.b, 1) {
		return s.a - math.Exp(l), math.Exp(l)
	}
	p := 1 / (1 + math.Exp(-l))
	return s.a - (s.a+s.b)*p, (s.a + s.b) * p * (1 - p)
}

// countCase is a count y at g ~ N(mean, sd²).
type countCase struct {
	l                 Likelihood
	shape             float64 // NegBinomial's
	size, mean, sd, y float64
}

// of returns log p(y | g) as a function of g for a = y, and of dP(Y > y | g)/dg for a = y + 1.
func (c countCase) of(a float64) betaShape {
	switch c.l.(type) {
	case Poisson:
		return betaShape{a, math.Inf(1), -math.Log(c.size)}
	case NegBinomial:
		return betaShape{a, c.shape, math.Log(c.shape / c.size)}
	}
	if a > c.y {
		return betaShape{a, c.size - c.y, 0}
	}
	return betaShape{a, c.size - a, 0}
}

// largest returns the largest log p(y | g) in g: that probability is 1 over the sum of the ratios of all others to it or, where
// these are too many, the product of y factors.
func (c countCase) largest() float64 {
	if s := c.of(c.y); s.a == 0 || s.b == 0 {
		return 0
	}
	y, r := c.y, c.shape
	if _, ok := c.l.(NegBinomial); ok && r < 1000 {
		var log, rest float64
		for k := range int(y) {
			term := math.Log1p((r-1)/float64(k+1)) - rest
			next := log + term
			log, rest = next, next-log-term
		}
		return log + y*math.Log1p(-r/(y+r)) - r*math.Log1p(y/r)
	}
	up := func(k float64) float64 { return y / (k + 1) } // p(k + 1)/p(k)
	switch c.l.(type) {
	case NegBinomial:
		up = func(k float64) float64 { return (k + r) / (k + 1) * (y / (y + r)) }
	case Binomial:
		up = func(k float64) float64 { return (c.size - k) / (k + 1) * (y / (c.size - y)) }
	}
	sum := 1.0
	for k, term := y, 1.0; term > 1e-18*sum; k++ {
		term *= up(k)
		sum += term
	}
	for k, term := y, 1.0; k > 0 && term > 1e-18*sum; k-- {
		term /= up(k - 1)
		sum += term
	}
	return -math.Log(sum)
}

// summed returns Σ weight and Σ weight·f from a point on outwards, to where the weight is next to nothing.
func summed(from, step float64, weight, f func(g float64) float64) (all, of float64) {
	for _, h := range []float64{-step, step} {
		k := 0.
		if h > 0 {
			k = 1
		}
		for small := 0; small < 50; k++ {
			g := from + k*h
			w := weight(g)
			if all += w; w > 1e-22*all {
				of, small = of+w*f(g), 0
			} else {
				small++
			}
		}
	}
	return all, of
}

func one(float64) float64 { return 1 }

// density returns log p(y), a sum over a grid about the mode, with a step of an eighth of the width there.
func (c countCase) density() float64 {
	s := c.of(c.y)
	slope := func(g float64) float64 {
		d, _ := s.slope(g)
		return d - (g-c.mean)/(c.sd*c.sd)
	}
	lo, hi := c.mean-1, c.mean+1
	for step := 1.; slope(lo) < 0; step *= 2 {
		lo -= step
	}
	for step := 1.; slope(hi) > 0; step *= 2 {
		hi += step
	}
	for range 200 {
		if middle := 0.5 * (lo + hi); slope(middle) > 0 {
			lo = middle
		} else {
			hi = middle
		}
	}
	_, curvature := s.slope(lo)
	step := min(0.1, 0.125/math.Sqrt(curvature+1/(c.sd*c.sd)))
	value := func(g float64) float64 { return s.fall(g) - 0.5*(g-c.mean)*(g-c.mean)/(c.sd*c.sd) }
	top := value(lo)
	sum, _ := summed(lo, step, func(g float64) float64 { return math.Exp(value(g) - top) }, one)
	return c.largest() + top + math.Log(sum*step/c.sd) - 0.5*math.Log(2*math.Pi)
}

// below returns P(Y ≤ y) = ∫h(g)Φ((g − mean)/sd)dg, where h = −dP(Y ≤ y | g)/dg integrates to 1.
func (c countCase) below(y float64) float64 {
	if _, ok := c.l.(Binomial); ok && y >= c.size {
		return 1
	}
	if y < 0 {
		return 0
	}
	c.y = y
	s := c.of(y + 1)
	from := s.shift + s.peak()
	_, curvature := s.slope(from)
	step := min(0.1, 0.125/math.Sqrt(curvature), 0.2*c.sd)
	h := func(g float64) float64 { return math.Exp(s.fall(g)) }
	all, of := summed(from, step, h, func(g float64) float64 { return 0.5 * math.Erfc((c.mean-g)/c.sd/math.Sqrt2) })
	return of / all
}

// moments returns E y and Var y, and the variance of E(y | g).
func (c countCase) moments() (mean, variance, rates float64) {
	if _, ok := c.l.(Binomial); ok {
		average := func(f func(p float64) float64) float64 {
			step := min(0.05, 0.2*c.sd)
			normal := func(g float64) float64 { return math.Exp(-0.5 * (g - c.mean) * (g - c.mean) / (c.sd * c.sd)) }
			all, of := summed(c.mean, step, normal, func(g float64) float64 { return f(1 / (1 + math.Exp(-g))) })
			return of / all
		}
		p := average(func(p float64) float64 { return p })
		rates = c.size * c.size * average(func(v float64) float64 { return (v - p) * (v - p) })
		return c.size * p, rates + c.size*average(func(v float64) float64 { return v * (1 - v) }), rates
	}
	square := c.sd * c.sd
	mean = c.size * math.Exp(c.mean+0.5*square)
	rates = mean * mean * math.Expm1(square)
	variance = rates + mean
	if _, ok := c.l.(NegBinomial); ok {
		variance += mean * mean * math.Exp(square) / c.shape
	}
	return mean, variance, rates
}

// randomCount returns a case of a mean from 1 to 1e6, up to 1e6 trials, standard deviations of g from 1e-3 to 3, and shapes from
// 0.1 to 1e15, with y about what is expected, far from it or at the end.
func randomCount(rnd *rand.Rand) (c countCase) {
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	for {
		c = countCase{sd: between(1e-3, 3), shape: between(0.1, 1e4)}
		if rnd.IntN(5) < 2 {
			c.shape = between(1e4, 1e15)
		}
		far := 1.
		if rnd.IntN(8) == 0 {
			far = 6
		}
		g := func() float64 { return c.mean + c.sd*far*rnd.NormFloat64() }
		scatter, most := 0., math.Inf(1)
		switch rnd.IntN(3) {
		case 0:
			c.l, c.size, c.mean, most = Binomial{}, math.Round(between(1, 1e6)), 2*rnd.NormFloat64(), 0
			p := 1 / (1 + math.Exp(-g()))
			c.y, scatter, most = c.size*p, c.size*p*(1-p), c.size
		case 1:
			c.l, c.size = Poisson{}, between(0.1, 100)
			c.mean = math.Log(between(1, 1e6) / c.size)
			c.y = c.size * math.Exp(g())
			scatter = c.y
		case 2:
			c.l, c.size = NegBinomial{c.shape}, between(0.1, 100)
			c.mean = math.Log(between(1, 1e6) / c.size)
			c.y = c.size * math.Exp(g())
			scatter = c.y + c.y*c.y/c.shape
		}
		c.y = min(most, max(0, math.Round(c.y+far*math.Sqrt(scatter)*rnd.NormFloat64())))
		if rnd.IntN(40) == 0 {
			c.y = 0
		}
		if c.y < 1e7 {
			return c
		}
	}
}

// TestCountsRandomly compares log densities, probabilities, quantiles, means and variances with sums over grids that know nothing
// of how the package places its nodes.
func TestCountsRandomly(t *testing.T) {
	var most struct{ density, below, moments float64 }
	cases := testkit.Size(60, 300, 2000)
	for trial := range cases {
		rnd := rand.New(rand.NewPCG(611, uint64(trial)))
		c := randomCount(rnd)
		of := NewCounts(c.l, []float64{c.mean}, []float64{c.sd * c.sd}, []float64{c.size})
		fail := func(what string, got, want float64) {
			t.Errorf("%d, %v of size %v, g ~ N(%v, %v²), y = %v: %s %v, want %v", trial, c.l, c.size, c.mean, c.sd, c.y, what, got, want)
		}
		check := func(what string, worst *float64, got, want, promised float64) {
			off := math.Abs(got-want) / promised
			if *worst = max(*worst, off); !(off <= 1) {
				fail(what, got, want)
			}
		}
		log := c.density()
		check("log p", &most.density, testkit.Must(of.LogDensity(t.Context(), []float64{c.y}))(t)[0], log, 1e-9*max(1, math.Abs(log)))
		check("P(Y ≤ y)", &most.below, of.CDF(0, c.y), c.below(c.y), 1e-10)
		mean, variance, rates := c.moments()
		m, v := testkit.Must2(of.Expected(t.Context()))(t)
		_, r := testkit.Must2(of.Rates(t.Context()))(t)
		check("E y", &most.moments, m[0], mean, 1e-9*mean)
		check("Var y", &most.moments, v[0], variance, 1e-9*variance)
		check("Var E(y | g)", &most.moments, r[0], rates, 1e-9*rates)
		p := 0.001 + 0.998*rnd.Float64()
		q := testkit.Must(of.Quantile(t.Context(), p))(t)[0]
		if at, before := c.below(q), c.below(q-1); !(at >= p-1e-10) || !(before < p+1e-10) {
			fail("P(Y ≤ quantile)", at, p)
		}
	}
	t.Logf("%d cases; the largest errors over what is promised: %+v", cases, most)
}
