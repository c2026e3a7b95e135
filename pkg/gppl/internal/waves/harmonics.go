package waves

import (
	"math"
	"sort"
)

// LastHarmonic returns the least J for which Σ a_j over j > J is at most eps, with a_j the weights of exp(−2 sin²(πr/p)/l²):
// a_j/2 is the probability of j in a Skellam distribution with both means z/2, z = 1/l², and this is Chernoff's bound on its
// tail. It returns −1 if J is too large to count.
func LastHarmonic(l, eps float64) int {
	z := 1 / (l * l)
	tail := func(j float64) float64 { // the log of a bound on Σ a_i over i ≥ j
		q := j / z
		if math.IsInf(q, 0) || q > 1e9 {
			return j - z - j*(math.Log(2*j)-math.Log(z)) + math.Ln2
		}
		return j*j/(z*(1+math.Hypot(1, q))) - j*math.Asinh(q) + math.Ln2
	}
	const most = 1 << 20
	limit := math.Log(eps)
	if !(tail(most) <= limit) {
		return -1
	}
	return sort.Search(most, func(j int) bool { return tail(float64(j+1)) <= limit })
}

// besselStart is the harmonic beyond the last one at which the recurrence of ratios begins: its error falls by the square of a
// ratio at each step.
func besselStart(l float64, last int) int { return last + 24 + int(8/max(l, 1e-3)) }

// besselRatio continues r_j = I_j(z)/I_{j−1}(z) downwards, stably: r_j = 1/(2j/z + r_{j+1}).
func besselRatio(j int, z, next float64) float64 { return z / (2*float64(j) + z*next) }

// Harmonics sets dst to a_j of exp(−2 sin²(πr/p)/l²) = Σ_j a_j·cos(2πjr/p): a_0 = e⁻ᶻI_0(z), a_j = 2e⁻ᶻI_j(z), z = 1/l².
// (Abramowitz and Stegun 1964, eq. 9.6.34.)
func Harmonics(dst []float64, l float64) {
	z, last := 1/(l*l), len(dst)-1
	var r, sum float64 // r_{j+1}; Σ_{i>j} I_i/I_j
	for j := besselStart(l, last); j > 0; j-- {
		r = besselRatio(j, z, r)
		sum = r * (1 + sum)
		if j <= last {
			dst[j] = r
		}
	}
	a := 1 / (1 + 2*sum)
	dst[0] = a
	a *= 2
	for j := 1; j <= last; j++ {
		a *= dst[j]
		dst[j] = a
	}
}

// ContractHarmonics returns Σ_j w_j·∂a_j/∂log l, with ∂a_j/∂log l = −2z·a_j·((I_{j−1} + I_{j+1})/2I_j − 1).
func ContractHarmonics(w []float64, l float64) float64 {
	z, last := 1/(l*l), len(w)-1
	var r, sum, slope float64
	for j := besselStart(l, last); j > 0; j-- {
		next := r
		r = besselRatio(j, z, next)
		sum = r * (1 + sum)
		if j <= last {
			// r·w_j·(2z − z/r − z·r_{j+1}), without 1/r.
			slope = w[j]*(r*(2*z-z*next)-z) + r*slope
		}
	}
	a := 1 / (1 + 2*sum)
	return a * (w[0]*2*z*(1-r) + 2*slope)
}
