package numeric

// Minimum returns where in [lo, hi] a function with one minimum is least, to within tolerance (Kiefer 1953).
func Minimum(f func(x float64) float64, lo, hi, tolerance float64) float64 {
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for hi-lo > tolerance {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	if fb < fa {
		return b
	}
	return a
}
