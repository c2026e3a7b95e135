package numeric

import "math"

// Integral returns ∫ f between a and b by Simpson's rule, on halves of halves until they change the sum by less than the
// tolerance.
func Integral(a, b, tolerance float64, f func(x float64) float64) float64 {
	const deepest = 40
	var within func(a, b, fa, fm, fb, whole, tolerance float64, depth int) float64
	within = func(a, b, fa, fm, fb, whole, tolerance float64, depth int) float64 {
		m := a + 0.5*(b-a)
		fl, fr := f(a+0.25*(b-a)), f(a+0.75*(b-a))
		left, right := (m-a)/6*(fa+4*fl+fm), (b-m)/6*(fm+4*fr+fb)
		more := left + right - whole
		if depth == 0 || !(math.Abs(more) > 15*tolerance) {
			return left + right + more/15
		}
		return within(a, m, fa, fl, fm, left, 0.5*tolerance, depth-1) + within(m, b, fm, fr, fb, right, 0.5*tolerance, depth-1)
	}
	fa, fm, fb := f(a), f(a+0.5*(b-a)), f(b)
	return within(a, b, fa, fm, fb, (b-a)/6*(fa+4*fm+fb), tolerance, deepest)
}
