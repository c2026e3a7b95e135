package periodogram

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Slepian returns the discrete prolate spheroidal sequence of order 0 of n entries with the time–half-bandwidth product nw
// (Slepian 1978). It has the most energy within the frequencies ±nw/n among all sequences with Σ h² = 1. It is the eigenvector
// of the largest eigenvalue of a tridiagonal matrix, by inverse iteration in O(n).
func Slepian(n int, nw float64) []float64 {
	d, off := make([]float64, n), make([]float64, n) // off_t is between t−1 and t
	scale := 4 / float64(n*n)
	cos := math.Cos(2 * math.Pi * nw / float64(n))
	for t := range d {
		u := 0.5 * float64(n-1-2*t)
		d[t] = scale * u * u * cos
		off[t] = scale * 0.5 * float64(t) * float64(n-t)
	}
	lo, hi := 0., 4.
	for range 60 { // bisects for the largest eigenvalue, by Sturm's count of eigenvalues above
		mid := 0.5 * (lo + hi)
		if anyAbove(d, off, mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	h := make([]float64, n)
	for t := range h {
		u := (2*float64(t) - float64(n-1)) / float64(n)
		h[t] = math.Exp(-0.5 * math.Pi * nw * u * u)
	}
	shifted := make([]float64, n)
	for range 4 {
		// (hi − T)x = h is positive definite up to rounding: no pivots are needed.
		for t := range d {
			shifted[t] = hi*(1+4e-16) - d[t]
			if t > 0 {
				f := off[t] / shifted[t-1]
				shifted[t] -= f * off[t]
				h[t] += f * h[t-1]
			}
			if !(shifted[t] > 1e-30) {
				shifted[t] = 1e-30
			}
		}
		for t := n - 1; t >= 0; t-- {
			if t+1 < n {
				h[t] += off[t+1] * h[t+1]
			}
			h[t] /= shifted[t]
		}
		floats.Scale(1/floats.Norm(h, 2), h)
	}
	return h
}

// anyAbove reports whether the symmetric tridiagonal matrix has an eigenvalue above x.
func anyAbove(d, off []float64, x float64) bool {
	q := 1.
	for t := range d {
		v := x - d[t]
		if t > 0 {
			v -= off[t] * off[t] / q
		}
		if v < 0 {
			return true
		}
		q = max(v, 1e-300)
	}
	return false
}
