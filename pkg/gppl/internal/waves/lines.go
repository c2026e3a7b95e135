// Package waves represents covariance functions as sums of few waves up to a distance,
//
//	k(r) = Σ_m c_m·cos(2πmr/P),  0 ≤ r ≤ span,  c_m ≥ 0,
//
// with coefficients and their derivatives in closed form, for exp(−2 sin²(πr/p)/l²), whose lines are at the multiples of 1/p
// (Harmonics); for such lines widened by a Gaussian (Lines); and for mixtures of Gaussians of many lengthscales (Scales).
package waves

import "math"

// A Band is a range of frequencies, From and To included, in multiples of 1/P.
type Band struct{ From, To int }

// BandLike is a Band of another package.
type BandLike interface{ ~struct{ From, To int } }

// Count returns the number of frequencies of a band.
func (b Band) Count() int { return b.To - b.From + 1 }

// Count returns the number of frequencies in bands.
func Count[B BandLike](bands []B) (count int) {
	for _, b := range bands {
		count += Band(b).Count()
	}
	return count
}

// Most bounds m: up to it, phases keep their digits (see internal/fourier).
const Most = 1 << 46

// Lines is the function v·exp(−r²/2l²)·Σ_j a_j·cos(2πjr/p): lines of the weights a_j at j/p, widened by a Gaussian. On a
// period beyond which it has decayed its coefficients are samples of its spectral density: with S(f) =
// v·l·√(2π)·exp(−2π²l²f²),
//
//	c_|m| = Σ_j (a_j/P)·S(m/P − j/p), both signs of m.
type Lines struct {
	Variance, Lengthscale, Period float64
	Weights                       []float64 // a_j, which add to 1 or less
}

// BandsOf appends to dst the ranges of frequencies outside which Σ c_m is at most eps·k(0), in multiples of one over the
// period; none if they are too many to count. Half of eps covers the next image of the kernel, half the frequencies outside
// the bands: for line j, where a_j·exp(−2π²l²f²) is small.
func BandsOf[B BandLike](k Lines, dst []B, span, eps float64) (float64, []B) {
	eps *= min(1, span/k.Lengthscale) // derivatives in a period grow with lengthscale over period, not with the range
	period := span + k.Lengthscale*math.Sqrt(2*math.Log(4/eps))
	least := 0.25 * eps / float64(len(k.Weights))
	if !(float64(len(k.Weights))*period/k.Period+period/k.Lengthscale < Most) || span == 0 {
		return 0, nil
	}
	for j, a := range k.Weights {
		if a <= least {
			continue
		}
		half := math.Sqrt(0.5*math.Log(a/least)) / (math.Pi * k.Lengthscale) * period
		centre := float64(j) * period / k.Period
		b := Band{int(math.Floor(max(0, centre-half))), int(math.Ceil(centre + half))}
		if last := len(dst) - 1; last >= 0 && b.From <= Band(dst[last]).To+1 {
			before := Band(dst[last])
			dst[last] = B{before.From, max(before.To, b.To)}
			continue
		}
		dst = append(dst, B(b))
	}
	return period, dst
}

// eachWave calls f for every line j and every signed frequency m near it, with the index of |m| among the coefficients, the
// share of c_|m| over a_j, S(u)/P, and u·l.
func eachWave[B BandLike](k Lines, period float64, bands []B, f func(j, at int, share, ul float64)) {
	scale := k.Variance * k.Lengthscale * math.Sqrt(2*math.Pi) / period
	ratio := period / k.Period
	rest := math.FMA(-ratio, k.Period, period) / k.Period
	const digits = 60 // digits of exp; smaller values do not count
	half := math.Sqrt(digits/2) / (math.Pi * k.Lengthscale) * period
	for j, a := range k.Weights {
		if a == 0 {
			continue
		}
		hi := float64(j) * ratio
		lo := math.FMA(float64(j), ratio, -hi) + float64(j)*rest
		first := 0
		for _, of := range bands {
			b := Band(of)
			for _, sign := range [...]int{1, -1} {
				from, to := max(float64(b.From), math.Ceil(float64(sign)*hi-half)), min(float64(b.To), math.Floor(float64(sign)*hi+half))
				for m := int(from); float64(m) <= to; m++ {
					if sign < 0 && m == 0 {
						continue
					}
					u := ((float64(sign*m) - hi) - lo) / period * k.Lengthscale
					f(j, first+m-b.From, scale*math.Exp(-2*math.Pi*math.Pi*u*u), u)
				}
			}
			first += b.To - b.From + 1
		}
	}
}

// Coefficients sets dst to the c_m of all bands, in order.
func Coefficients[B BandLike](k Lines, dst []float64, period float64, bands []B) {
	clear(dst)
	eachWave(k, period, bands, func(j, at int, share, _ float64) { dst[at] += k.Weights[j] * share })
}

// Contract returns Σ w_m·∂c_m in log v, log l and log p, and sets lines to the derivatives in a_j.
func Contract[B BandLike](k Lines, lines, w []float64, period float64, bands []B) (v, l, p float64) {
	clear(lines)
	ratio := k.Lengthscale / k.Period
	eachWave(k, period, bands, func(j, at int, share, u float64) {
		s := w[at] * share
		lines[j] += s
		s *= k.Weights[j]
		v += s
		q := 4 * math.Pi * math.Pi * u
		l += s * (1 - q*u)
		p -= s * q * float64(j) * ratio
	})
	return v, l, p
}
