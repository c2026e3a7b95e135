package observe

import (
	"math"
)

// latent is a latent value g ~ N(mean, sd²).
type latent struct {
	likelihood Likelihood
	mean, sd   float64
}

const (
	// wide is the number of standard deviations from the mean beyond which a bounded function is left out: the probability
	// there is 2e-17.
	wide = 8.5
	// agreement is the largest difference of two sums of the trapezoidal rule, the second with half the step: for a smooth
	// function that decays on both sides, halving the step squares the error.
	agreement = 1e-7
	// mostNodes is the largest number of nodes of a rule; some 40 are usual.
	mostNodes = 1 << 13
	// nothing is the size of a term relative to the sum at which a function counts as vanished.
	nothing = 1e-17
)

// density returns the density of the latent value at g.
func (n latent) density(g float64) float64 {
	z := (g - n.mean) / n.sd
	return math.Exp(-0.5*z*z) / (n.sd * math.Sqrt(2*math.Pi))
}

// average returns E f(g), for an f that changes over units of g, such as eᵍ and 1/(1 + e⁻ᵍ).
func (n latent) average(f func(g float64) float64) float64 {
	if n.sd == 0 {
		return f(n.mean)
	}
	return trapezoid(n.mean, min(1.1*n.sd, 1.2), math.Inf(-1), math.Inf(1), 0, func(g float64) (term, curvature float64) {
		p := n.density(g)
		if p == 0 { // true also where f overflows
			return 0, 0
		}
		return p * f(g), 0
	})
}

// cdf returns E P(Y ≤ y | g). As a function of g this probability is a step: about the normal distribution function at the
// guess c with the width w of the likelihood, whose average has a closed form. The rest is smooth, and lies near c.
func (n latent) cdf(y, size float64) float64 {
	at := func(g float64) float64 { return n.likelihood.CDF(y, size, g) }
	if n.sd == 0 {
		return at(n.mean)
	}
	lo, hi := n.mean-wide*n.sd, n.mean+wide*n.sd
	left, right := at(lo), at(hi)
	if left == right && (left == 0 || left == 1) {
		return left
	}
	c := n.likelihood.Guess(y, size)
	w := 1 / math.Sqrt(-n.likelihood.LogDensity(y, size, c).D2)
	if !(math.Abs(c) < 1e300 && w > 0 && w < 1e300) {
		c, w = n.mean, n.sd
	}
	step := func(z float64) float64 { return right + (left-right)*0.5*math.Erfc(z/math.Sqrt2) }
	rest := trapezoid(min(max(c, lo), hi), 0.9/math.Hypot(1/w, 1/n.sd), lo, hi, 1e-9, func(g float64) (term, curvature float64) {
		return n.density(g) * (at(g) - step((g-c)/w)), 0
	})
	return min(1, max(0, step((n.mean-c)/math.Hypot(w, n.sd))+rest))
}

// logDensity returns log E p(y | g): the integrand is log-concave, and its nodes are set by its mode and its curvature.
func (n latent) logDensity(y, size float64) float64 {
	at := func(g float64) Derivatives { return n.likelihood.LogDensity(y, size, g) }
	if n.sd == 0 {
		return at(n.mean).Value
	}
	precision := 1 / (n.sd * n.sd)
	mode, scale := n.mode(at, n.likelihood.Guess(y, size))
	value := func(d Derivatives, g float64) float64 { return d.Value - 0.5*precision*(g-n.mean)*(g-n.mean) }
	peak := value(at(mode), mode)
	if math.IsInf(peak, -1) || math.IsNaN(peak) {
		return peak
	}
	sum := trapezoid(mode, 1.1*scale, math.Inf(-1), math.Inf(1), 0, func(g float64) (term, curvature float64) {
		d := at(g)
		if term = math.Exp(value(d, g) - peak); !(term > 0) {
			return 0, 0
		}
		return term, precision - d.D2
	})
	return peak + math.Log(sum) - math.Log(n.sd) - 0.5*math.Log(2*math.Pi)
}

// mode returns approximately the g at which log p(y | g) plus the log density of g is largest, and the width of the maximum.
// It uses Newton's method between the mean, the mode of the prior, and the place where the slope changes its sign.
func (n latent) mode(at func(g float64) Derivatives, guess float64) (mode, scale float64) {
	precision := 1 / (n.sd * n.sd)
	bounds := [2]float64{math.Inf(-1), math.Inf(1)}
	mode, scale = n.mean, n.sd
	if d := at(guess); d.D2 < 0 && !math.IsInf(d.D2, 0) {
		mode = n.mean + (guess-n.mean)*d.D2/(d.D2-precision)
	}
	for range 60 {
		d := at(mode)
		slope, curvature := d.D1-precision*(mode-n.mean), precision-d.D2
		if math.IsNaN(slope) || !(curvature > 0) {
			return n.mean, n.sd
		}
		scale = 1 / math.Sqrt(curvature)
		if math.Abs(slope)*scale < 0.1 {
			break
		}
		if slope > 0 {
			bounds[0] = mode
		} else {
			bounds[1] = mode
		}
		next := mode + slope/curvature
		if !(next > bounds[0] && next < bounds[1]) {
			next = 0.5*bounds[0] + 0.5*bounds[1]
		}
		mode = next
	}
	return mode, scale
}

// trapezoid integrates a smooth function that decays on both sides of from and vanishes below lo and above hi. The step is
// halved until the curvature of the logarithm of f is at most 4 over a step, and two sums agree, absolutely to least or
// relatively.
func trapezoid(from, step, lo, hi, least float64, f func(g float64) (term, curvature float64)) float64 {
	var sum, size, bend float64
	visit := func(g float64) float64 {
		term, curvature := f(g)
		sum += term
		size += math.Abs(term)
		if math.Abs(term) > agreement*size {
			bend = max(bend, curvature)
		}
		return math.Abs(term)
	}
	visit(from)
	ends := [2]int{}
	for side, sign := range []float64{-1, 1} {
		for k, small := 1, 0; small < 3 && k < mostNodes; k++ {
			g := from + sign*float64(k)*step
			if g < lo || g > hi {
				break
			}
			ends[side] = k
			if visit(g) <= nothing*max(size, least/step) {
				small++
			} else {
				small = 0
			}
		}
	}
	for nodes := ends[0] + ends[1] + 1; ; nodes *= 2 {
		before, rough := sum*step, step*step*bend > 4
		for k := -ends[0] - 1; k <= ends[1]; k++ {
			if g := from + (float64(k)+0.5)*step; g >= lo && g <= hi {
				visit(g)
			}
		}
		ends[0], ends[1], step = 2*ends[0]+1, 2*ends[1]+1, 0.5*step
		after := sum * step
		agree := !rough && math.Abs(after-before) <= max(least, agreement*size*step)
		if agree || nodes >= mostNodes || math.IsInf(sum, 0) || math.IsNaN(sum) {
			return after
		}
	}
}

// least returns the least number y, whole or real, with at(y) ≥ p, where at rises. lo and hi are two numbers with their
// values, one below p and one not. The logit of a distribution function is close to a line, or bends slowly, so its inverse is
// interpolated quadratically where that is safe, else the bracket is halved (Chandrupatla 1997, Advances in Engineering
// Software 28, 145–149). Each step moves by at least the spacing of numbers, so its end differs from its start.
func least(at func(y float64) float64, p float64, lo, hi [2]float64, whole bool) float64 {
	apart := func(y float64) float64 { return math.Nextafter(math.Abs(y), math.Inf(1)) - math.Abs(y) }
	logit := func(q float64) float64 { return min(max(math.Log(q)-math.Log1p(-q), -800), 800) }
	target := logit(p)
	beyond := func(q float64) float64 {
		v := logit(q) - target
		if q >= p != (v >= 0) { // possible by rounding
			v = -v
		}
		return v
	}
	a, b := hi[0], lo[0] // the newest, and the other side of the bracket
	fa, fb := beyond(hi[1]), beyond(lo[1])
	var c, fc float64 // the previous one
	share := 0.5
	for {
		low, high := min(a, b), max(a, b)
		gap := apart(max(math.Abs(low), math.Abs(high)))
		x := a + share*(b-a)
		if whole {
			gap = max(gap, 1)
			x = math.Floor(x)
		}
		if x = min(max(x, low+gap), high-gap); !(x > low && x < high) {
			return high
		}
		fx := beyond(at(x))
		if fx >= 0 == (fa >= 0) {
			c, fc = a, fa
		} else {
			c, fc, b, fb = b, fb, a, fa
		}
		a, fa = x, fx
		share = 0.5
		if along, up := (a-b)/(c-b), (fa-fb)/(fc-fb); up*up < along && (1-up)*(1-up) < 1-along {
			share = fa/(fb-fa)*(fc/(fb-fc)) + (c-a)/(b-a)*(fa/(fc-fa))*(fb/(fc-fb))
		}
	}
}

// deepest is the largest number of halvings of a block: from the range of float64 to its first numbers.
const deepest = 1100

// addUp returns Σ f(first + j·direction) over j from 0, or for real numbers the integral from first on, up to count, for an f
// that falls from first on. Blocks are halved until their sums by five terms agree with the sums over both halves.
func addUp(first, direction, count float64, whole bool, f func(k float64) float64) (sum float64) {
	if !(count > 0) {
		return 0
	}
	quarter := count / 4
	if whole { // a power of two; the terms beyond count are negligible
		_, exponent := math.Frexp(max(1, math.Ceil(quarter)) - 0.5)
		quarter = math.Ldexp(1, max(0, exponent))
	}
	at := func(j float64) float64 { return f(first + direction*j) }
	var floor float64 // f falls, so the sum up to j is at least j·f(j)
	for j := count; j > floor && (j >= 1 || !whole); j /= 8 {
		floor = max(floor, j*at(j))
	}
	var add func(from, quarter float64, f [5]float64, depth int)
	add = func(from, quarter float64, f [5]float64, depth int) {
		own := five(f, quarter, whole)
		if whole && quarter <= 1 || depth == 0 {
			sum += own
			return
		}
		half := 0.5 * quarter
		var more [4]float64
		for k := range more {
			more[k] = at(from + (2*float64(k)+1)*half)
		}
		left, right := [5]float64{f[0], more[0], f[1], more[1], f[2]}, [5]float64{f[2], more[2], f[3], more[3], f[4]}
		halves := five(left, half, whole) + five(right, half, whole)
		if whole {
			halves -= f[2]
		}
		if !(math.Abs(halves-own) > crpsAgreement*max(floor, sum+halves)) {
			sum += halves
			return
		}
		add(from, half, left, depth-1)
		if whole {
			sum -= f[2] // both halves contain it
		}
		add(from+2*quarter, half, right, depth-1)
	}
	var ends [5]float64
	for k := range ends {
		ends[k] = at(float64(k) * quarter)
	}
	add(0, quarter, ends, deepest)
	return sum
}

// five returns the sum of a function over 4·quarter + 1 numbers, or its integral, from its values at each quarter: exact for
// polynomials of the fifth degree.
func five(f [5]float64, quarter float64, whole bool) float64 {
	if !whole {
		return quarter * (14*(f[0]+f[4]) + 64*(f[1]+f[3]) + 24*f[2]) / 45
	}
	if quarter == 1 {
		return f[0] + f[1] + f[2] + f[3] + f[4]
	}
	n, e := 2*quarter, 1/quarter
	squares := 2 * (e * (n + 1)) * (2*n + 1) / 6  // Σ j² over the half, in squares of quarters
	fourth := squares * (3*2*2 + 3*2*e - e*e) / 5 // Σ j⁴, in fourth powers of quarters
	outer := (fourth - squares) / 12              // solves 4·outer + inner = squares
	inner := squares - 4*outer                    // and 16·outer + inner = fourth
	middle := 2*n + 1 - 2*outer - 2*inner
	return outer*(f[0]+f[4]) + inner*(f[1]+f[3]) + middle*f[2]
}
