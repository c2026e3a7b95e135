// Package gammas computes densities and distribution functions that involve Γ, without the cancellation of its large
// logarithms.
package gammas

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

const (
	halfLog2Pi = 0.9189385332046727417803297364056176
	// asymptotic is the argument from which the six terms of the series in Rest and psiRest give all digits.
	asymptotic = 12
)

// Rest returns log Γ(x) − (x − ½)·log x + x − ½·log 2π for x > 0: the remainder of Stirling's formula, about 1/(12x) (DLMF
// 5.11.1).
func Rest(x float64) float64 {
	if x < asymptotic {
		v, _ := math.Lgamma(x)
		return v - (x-0.5)*math.Log(x) + x - halfLog2Pi
	}
	s := 1 / (x * x)
	return (1./12 - s*(1./360-s*(1./1260-s*(1./1680-s*(1./1188-s*691/360360))))) / x
}

// psiRest returns ψ(x) − log x for x > 0, about −1/(2x) (DLMF 5.11.2): for a large x, both are far larger than their difference.
func psiRest(x float64) (sum float64) {
	from := x
	for ; x < asymptotic; x++ {
		sum -= 1 / x
	}
	if x > from {
		sum += math.Log(x / from)
	}
	s := 1 / (x * x)
	return sum - 0.5/x - s*(1./12-s*(1./120-s*(1./252-s*(1./240-s*(1./132-s*691/32760)))))
}

// PsiStep returns ψ(x + by) − ψ(x) − log(1 + by/x) for x > 0 and by ≥ 0, about by/2x².
func PsiStep(x, by float64) float64 {
	if x < asymptotic {
		return psiRest(x+by) - psiRest(x)
	}
	a, b := 1/x, 1/(x+by)
	fourth := func(a float64) float64 {
		s := a * a
		return s * s * (1./120 - s*(1./252-s*(1./240-s*(1./132-s*691/32760))))
	}
	return by*a*b*(0.5+(a+b)/12) + fourth(b) - fourth(a)
}

// Log1pLess returns log(1 + x) − x for x > −1, about −½x².
func Log1pLess(x float64) float64 {
	if math.Abs(x) > 0.1 {
		return math.Log1p(x) - x
	}
	// With t = x/(2 + x), log(1 + x) = 2·artanh t and x = 2t + xt.
	t := x / (2 + x)
	s := t * t
	return 2*t*s*(1./3+s*(1./5+s*(1./7+s*(1./9+s*(1./11+s/13))))) - x*t
}

// expm1Less returns eˣ − 1 − x, about ½x².
func expm1Less(x float64) float64 {
	if math.Abs(x) > 0.1 {
		return math.Expm1(x) - x
	}
	sum := 1.0
	for k := 11.0; k > 2; k-- {
		sum = 1 + x/k*sum
	}
	return 0.5 * x * x * sum
}

// HalfStep returns log Γ(x + ½) − log Γ(x) − ½·log x for x > 0, about −1/(8x).
func HalfStep(x float64) float64 {
	return x*Log1pLess(0.5/x) + Rest(x+0.5) - Rest(x)
}

// LogGamma returns log xᵃe⁻ˣ/Γ(a) at x = a·eᵈ, the log density of log x where x has the gamma distribution of shape a.
func LogGamma(a, d float64) float64 {
	return gammaFall(a, d) + 0.5*math.Log(a) - halfLog2Pi - Rest(a)
}

// gammaFall returns LogGamma(a, d) − LogGamma(a, 0): at most 0.
func gammaFall(a, d float64) float64 { return -a * expm1Less(d) }

// LogBeta returns log xᵃ(1 − x)ᵇ/B(a, b) at x/(1 − x) = eᵈ·a/b, the log density of the logit of x where x has the beta
// distribution. For large b it is LogGamma(a, d).
func LogBeta(a, b, d float64) float64 {
	if a > b {
		a, b, d = b, a, -d
	}
	if math.IsInf(b, 1) {
		return LogGamma(a, d)
	}
	return betaFall(a, b, d) + 0.5*math.Log(a/(1+a/b)) - halfLog2Pi + Rest(a+b) - Rest(a) - Rest(b)
}

// betaFall returns LogBeta(a, b, d) − LogBeta(a, b, 0), for a ≤ b.
func betaFall(a, b, d float64) float64 {
	n := a + b
	share := a / n
	switch {
	case d > 700: // eᵈ may overflow, and dominates 1
		log := d + math.Log(share)
		return a*d - n*(max(log, 0)+math.Log1p(math.Exp(-math.Abs(log))))
	case math.Abs(d) > 1:
		return a*d - n*math.Log1p(share*math.Expm1(d))
	}
	return -n*Log1pLess(share*math.Expm1(d)) - a*expm1Less(d)
}

// GammaTails returns P(X ≤ x) and P(X > x) at x = a·eᵈ, where X has the gamma distribution of shape a > 0, to 1e-13.
func GammaTails(a, d float64) (below, above float64) {
	if math.IsInf(d, 0) {
		return ends(d)
	}
	var sum float64
	if a < least { // P(a, x) = P(a + 1, x) + xᵃe⁻ˣ/Γ(a + 1) (DLMF 8.8.5)
		x, from := min(a*math.Exp(d), 1e300), a // a larger x gives the same
		for term := math.Exp(LogGamma(a, d)) / a; a < least; term *= x / a {
			sum += term
			a++
		}
		d += math.Log(from / a)
	}
	w := 1 / math.Sqrt(a)
	tail := outward(d, w, a*math.Abs(math.Expm1(d)), LogGamma(a, 0), func(d float64) float64 { return gammaFall(a, d) })
	return sides(d, tail, sum)
}

// BetaTails returns P(X ≤ x) and P(X > x) at x/(1 − x) = eᵈ·a/b, where X has the beta distribution of a, b > 0, to 1e-13.
func BetaTails(a, b, d float64) (below, above float64) {
	if a > b {
		above, below = BetaTails(b, a, -d)
		return below, above
	}
	if math.IsInf(b, 1) {
		return GammaTails(a, d)
	}
	if math.IsInf(d, 0) {
		return ends(d)
	}
	var under, over float64
	if a < least { // I(a, b) = I(a + 1, b) + xᵃ(1 − x)ᵇ/(a·B(a, b)), and for b the same with 1 − x (DLMF 8.17.20)
		x, left := shares(d + math.Log(a/b))
		density, fromA, fromB := math.Exp(LogBeta(a, b, d)), a, b
		for term := density / a; a < least; {
			under += term
			term *= x * (a + b) / (a + 1)
			density *= x * (a + b) / a
			a++
		}
		for term := density / b; b < least; {
			over += term
			term *= left * (a + b) / (b + 1)
			b++
		}
		d += math.Log(fromA / a * (b / fromB))
	}
	n := a + b
	w := math.Sqrt((1 + a/b) / a)
	e := math.Expm1(min(d, 700))
	slope := a * math.Abs(e) * (b / n) / (1 + a/n*e)
	tail := outward(d, w, slope, LogBeta(a, b, 0), func(d float64) float64 { return betaFall(a, b, d) })
	return sides(d, tail, under-over)
}

// sides returns the probabilities on both sides, given the tail beyond d, and how much more probability is below than in the
// distribution of the tail.
func sides(d, tail, more float64) (below, above float64) {
	if d < 0 {
		below, above = tail, 1-tail
	} else {
		below, above = 1-tail, tail
	}
	return min(1, max(0, below+more)), min(1, max(0, above-more))
}

// ends returns the probabilities on both sides of an infinite d.
func ends(d float64) (below, above float64) {
	if d > 0 {
		return 1, 0
	}
	return 0, 1
}

// shares returns 1/(1 + e⁻ᶻ) and 1/(1 + eᶻ).
func shares(z float64) (p, left float64) {
	e := math.Exp(-math.Abs(z))
	if p, left = 1/(1+e), e/(1+e); z < 0 {
		return left, p
	}
	return p, left
}

const (
	// least is the shape from which the density of a logarithm is close enough to a normal one for outward.
	least = 16
	// A tail ends at near standard deviations if the density has fallen by more than e^fallen there, else at far, where the
	// density of shape 16 has fallen by as much on its heavier side.
	near, far, fallen = 9, 13, 37
)

// outward integrates a log-concave density from d away from its maximum at 0. The density has about the width w and falls by
// slope at d; its log is peak + fall.
func outward(d, w, slope, peak float64, fall func(d float64) float64) (sum float64) {
	start := fall(d)
	if peak+start < -745 {
		return 0
	}
	length := math.Copysign(w, d)
	if fall(d+near*length) < start-fallen {
		length *= near
	} else {
		length *= far
	}
	half := 0.5 * math.Copysign(min(math.Abs(length), fallen/slope), d)
	for _, node := range legendre {
		sum += node.weight * math.Exp(peak+fall(d+half*(1+node.at)))
	}
	return sum * math.Abs(half)
}

// legendre are the nodes of Gauss and Legendre on [−1, 1].
var legendre = func() (nodes [28]struct{ at, weight float64 }) {
	x, weights := make([]float64, len(nodes)), make([]float64, len(nodes))
	quad.Legendre{}.FixedLocations(x, weights, -1, 1)
	for k := range nodes {
		nodes[k].at, nodes[k].weight = x[k], weights[k]
	}
	return nodes
}()
