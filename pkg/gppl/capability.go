package gppl

import (
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// What engines may know of a kernel is asked here and nowhere else: how it
// splits into signal and white noise, how far it reaches, whether it has a
// state-space form, whether it is one shape at one scale.

// split is a kernel as signal + white noise: White terms of a sum add to the
// noise variance, and the rest is what an engine has to work on.
type split struct {
	signal        []Kernel // the terms that are not White
	offset        []int    // of each term's first parameter in the whole kernel
	white         []int    // indices of the White variances in the whole kernel
	whites        []float64
	whiteVariance float64
}

// of splits k, reusing memory. It reports false for what only the dense engine
// can do: White as a factor of a product, or no signal at all.
func (s *split) of(k Kernel) bool {
	s.signal, s.offset, s.white, s.whites = s.signal[:0], s.offset[:0], s.white[:0], s.whites[:0]
	s.whiteVariance = 0
	return s.add(k, 0) && len(s.signal) > 0
}

func (s *split) add(k Kernel, offset int) bool {
	switch k := k.(type) {
	case White:
		s.white = append(s.white, offset)
		s.whites = append(s.whites, k.Variance)
		s.whiteVariance += k.Variance
		return true
	case Sum:
		for i, p := range k.parts {
			if !s.add(p, offset+k.offset[i]) {
				return false
			}
		}
		return true
	case Product:
		if slices.ContainsFunc(k.parts, hasWhite) {
			return false
		}
	}
	s.signal = append(s.signal, k)
	s.offset = append(s.offset, offset)
	return true
}

// shareNoise divides the derivative in the log of the total noise variance
// among the White terms and, last in grad, the model's own noise.
func (s *split) shareNoise(grad []float64, total, noise float64) {
	all := noise + s.whiteVariance
	for i, p := range s.white {
		grad[p] = total * s.whites[i] / all
	}
	grad[len(grad)-1] = total * noise / all
}

func hasWhite(k Kernel) bool {
	switch k := k.(type) {
	case White:
		return true
	case Sum:
		return slices.ContainsFunc(k.parts, hasWhite)
	case Product:
		return slices.ContainsFunc(k.parts, hasWhite)
	}
	return false
}

// reach returns a distance beyond which |k| stays below eps times its variance,
// +Inf if there is none that is known.
func reach(k Kernel, eps float64) float64 {
	switch k := k.(type) {
	case SE:
		return k.Lengthscale * math.Sqrt(-2*math.Log(eps))
	case LocPer:
		return k.Lengthscale * math.Sqrt(-2*math.Log(eps))
	case Laplace:
		return -k.Lengthscale * math.Log(eps)
	case Matern32:
		return k.Lengthscale / sqrt3 * tail(eps, func(a float64) float64 { return 1 + a })
	case Matern52:
		return k.Lengthscale / sqrt5 * tail(eps, func(a float64) float64 { return 1 + a + a*a/3 })
	case RQ:
		// (1 + r²/2αl²)^−α = eps
		return k.Lengthscale * math.Sqrt(2*k.Alpha*math.Expm1(-math.Log(eps)/k.Alpha))
	case White:
		return 0
	case Sum:
		r := 0.0
		for _, p := range k.parts {
			r = max(r, reach(p, eps))
		}
		return r
	case Product: // one factor that has died out is enough
		r := math.Inf(1)
		for _, p := range k.parts {
			r = min(r, reach(p, eps))
		}
		return r
	}
	return math.Inf(1)
}

// tail solves poly(a)·exp(−a) = eps for a by fixed-point iteration, which
// contracts since log poly grows slowly.
func tail(eps float64, poly func(float64) float64) float64 {
	a := -math.Log(eps)
	for range 30 {
		a = math.Log(poly(a)) - math.Log(eps)
	}
	return a
}

// maternComponents returns the state-space form of every signal term, and
// whether all have one.
func (s *split) maternComponents(dst []statespace.Component) ([]statespace.Component, bool) {
	dst = dst[:0]
	for _, k := range s.signal {
		var c statespace.Component
		switch k := k.(type) {
		case Laplace:
			c = statespace.Component{Order: 0, Variance: k.Variance, Lengthscale: k.Lengthscale}
		case Matern32:
			c = statespace.Component{Order: 1, Variance: k.Variance, Lengthscale: k.Lengthscale}
		case Matern52:
			c = statespace.Component{Order: 2, Variance: k.Variance, Lengthscale: k.Lengthscale}
		default:
			return dst, false
		}
		dst = append(dst, c)
	}
	return dst, true
}

// scaled returns the variance and lengthscale of a kernel v·φ(r/l), and whether
// it is of that form: one shape φ at one scale.
func scaled(k Kernel) (variance, lengthscale float64, ok bool) {
	switch k := k.(type) {
	case SE:
		return k.Variance, k.Lengthscale, true
	case Laplace:
		return k.Variance, k.Lengthscale, true
	case Matern32:
		return k.Variance, k.Lengthscale, true
	case Matern52:
		return k.Variance, k.Lengthscale, true
	}
	return 0, 0, false
}

// bandwidth estimates the frequency, in cycles per unit of x, beyond which what
// is left of the kernel's spectrum is below eps times its variance; +Inf where
// it is not known. Costs are predicted from it; what is promised is measured on
// the coefficients themselves.
func bandwidth(k Kernel, eps float64) float64 {
	digits := -math.Log(eps)
	switch k := k.(type) {
	case SE:
		return math.Sqrt(2*digits) / (2 * math.Pi * k.Lengthscale)
	case RQ:
		return digits / (2 * math.Pi * k.Lengthscale * math.Sqrt(2*k.Alpha))
	case Matern52:
		return sqrt5 * math.Pow(eps, -1./5) / (2 * math.Pi * k.Lengthscale)
	case Matern32:
		return sqrt3 * math.Pow(eps, -1./3) / (2 * math.Pi * k.Lengthscale)
	case Periodic:
		return harmonics(k.Lengthscale, digits) / k.Period
	case LocPer:
		return math.Sqrt(2*digits)/(2*math.Pi*k.Lengthscale) + harmonics(k.PeriodicLengthscale, digits)/k.Period
	case White:
		return 0
	case Sum:
		var b float64
		for _, p := range k.parts {
			b = max(b, bandwidth(p, eps))
		}
		return b
	case Product:
		var b float64
		for _, p := range k.parts {
			b += bandwidth(p, eps)
		}
		return b
	}
	return math.Inf(1)
}

// harmonics estimates how many harmonics exp(−2 sin²/l²) has: its coefficients
// are Bessel functions I_j(1/l²), which fall like a Gaussian and then faster.
func harmonics(l, digits float64) float64 {
	return 3 + math.Sqrt(2*digits)/l + digits/8
}

// steepness bounds r·|k′(r)| for 0 ≤ r ≤ span, relative to the variance: what a
// relative error of the distance, or of a period, does to the covariance.
func steepness(k Kernel, span float64) float64 {
	// exp(−c·sin²a) turns at most by min(c, √(2c/e)) for each unit of a = πr/p.
	periodic := func(l, period float64) float64 {
		c := 2 / (l * l)
		return math.Pi / period * min(c, math.Sqrt(2*c/math.E))
	}
	switch k := k.(type) {
	case White:
		return 0
	case Periodic:
		return span * periodic(k.Lengthscale, k.Period)
	case LocPer: // r·exp(−r²/2l²) is at most 0.61·l
		return 1 + min(span, 0.61*k.Lengthscale)*periodic(k.PeriodicLengthscale, k.Period)
	case Sum:
		var s, all float64
		for _, p := range k.parts {
			v := variance(p)
			s, all = s+v*steepness(p, span), all+v
		}
		return s / all
	case Product: // where one factor has died out, no other is steep
		span = min(span, reach(k, 0.01))
		var s float64
		for _, p := range k.parts {
			s += steepness(p, span)
		}
		return s
	}
	return 1 // of one shape at one scale
}

// scaleDerivative returns the sum of those derivatives, in logs, that scale the
// kernel as a whole, Σ ∂/∂log v; ok is false if it is not known which they are.
func scaleDerivative(grad []float64, k Kernel) (sum float64, ok bool) {
	switch k := k.(type) {
	case SE, Laplace, Matern32, Matern52, RQ, Periodic, LocPer, White:
		return grad[0], true
	case Sum:
		for i, p := range k.parts {
			part, ok := scaleDerivative(grad[k.offset[i]:], p)
			if !ok {
				return 0, false
			}
			sum += part
		}
		return sum, true
	case Product: // any one factor
		return scaleDerivative(grad, k.parts[0])
	}
	return 0, false
}
