package gppl

import (
	"math"
	"sort"
)

// A Band is a range of frequencies, From and To included, in multiples of 1/P.
type Band struct{ From, To int }

// A Waver is a Kernel that few cosines represent at the distances that a series has:
//
//	k(r) = Σ_m c_m·cos(2πmr/P),  0 ≤ r ≤ span,  c_m ≥ 0.
//
// A periodic kernel has the multiples of 1/p alone, a quasi-periodic one those near them. It gets the mixed engine, whose
// time grows with the number of these frequencies, however high they are. If the sum is not k, the engine's checks fail
// and another takes over.
type Waver interface {
	Kernel
	// Bands appends the ranges of the m, ascending and apart, outside which Σ c_m is at most eps·k(0), to dst. It returns
	// none if there are too many to count.
	Bands(dst []Band, span, eps float64) (period float64, bands []Band)
	// Coefficients sets dst to c_m for the m of all bands, in order.
	Coefficients(dst []float64, period float64, bands []Band)
	// ContractCoefficients adds Σ_m w_m·∂c_m/∂log θ_p to grad[p], for each p, at constant P. It leaves out what the
	// representation does not depend on: where P is no parameter, any P that is long enough gives the same k.
	ContractCoefficients(grad, w []float64, period float64, bands []Band)
	// PeriodParam returns the index of the parameter that P is, −1 if P is none.
	PeriodParam() int
}

var (
	_ Waver = Periodic{}
	_ Waver = SE{}
	_ Waver = LocPer{}
	_ Waver = SpectralMixture{}
)

// maxWave bounds m: up to it, phases keep their digits (see internal/fourier).
const maxWave = 1 << 46

// lastHarmonic returns the least J for which Σ a_j over j > J is at most eps, with a_j the weights of exp(−2 sin²(πr/p)/l²):
// a_j/2 is the probability of j in a Skellam distribution with both means z/2, z = 1/l², and this is Chernoff's bound on
// its tail. It returns −1 if it is beyond counting.
func lastHarmonic(l, eps float64) int {
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

// besselStart is how far beyond the last harmonic the recurrence of ratios begins: its error falls by the square of a
// ratio at each step.
func besselStart(l float64, last int) int { return last + 24 + int(8/max(l, 1e-3)) }

// besselRatio continues r_j = I_j(z)/I_{j−1}(z) downwards, stably: r_j = 1/(2j/z + r_{j+1}).
func besselRatio(j int, z, next float64) float64 { return z / (2*float64(j) + z*next) }

// harmonicWeights sets dst to a_j of exp(−2 sin²(πr/p)/l²) = Σ_j a_j·cos(2πjr/p): a_0 = e⁻ᶻI_0(z), a_j = 2e⁻ᶻI_j(z), z = 1/l².
// (Abramowitz and Stegun 1964, eq. 9.6.34.)
func harmonicWeights(dst []float64, l float64) {
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

// contractHarmonics returns Σ_j w_j·∂a_j/∂log l, with ∂a_j/∂log l = −2z·a_j·((I_{j−1} + I_{j+1})/2I_j − 1).
func contractHarmonics(w []float64, l float64) float64 {
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

func (k Periodic) Bands(dst []Band, _, eps float64) (float64, []Band) {
	last := lastHarmonic(k.Lengthscale, eps)
	if last < 0 {
		return 0, nil
	}
	return k.Period, append(dst, Band{0, last})
}

func (k Periodic) Coefficients(dst []float64, _ float64, _ []Band) {
	harmonicWeights(dst, k.Lengthscale)
	for j := range dst {
		dst[j] *= k.Variance
	}
}

func (k Periodic) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	c := make([]float64, len(w))
	k.Coefficients(c, period, bands)
	for j, v := range w {
		grad[0] += v * c[j]
	}
	grad[1] += k.Variance * contractHarmonics(w, k.Lengthscale)
}

func (k Periodic) PeriodParam() int { return 2 }

// carried is the kernel v·exp(−r²/2l²)·Σ_j a_j·cos(2πjr/p): lines of the weights a_j, widened by a Gaussian. On a period
// beyond which it has died out its coefficients are samples of its spectral density, which is where a_j is at j/p: with
// S(f) = v·l·√(2π)·exp(−2π²l²f²),
//
//	c_|m| = Σ_j (a_j/P)·S(m/P − j/p), both signs of m.
type carried struct {
	variance, lengthscale, period float64
	lines                         []float64 // a_j, which add to 1 or less
}

// bands is Bands. Half of eps is for the next image of the kernel, half for what lies outside the bands: for line j,
// where a_j·exp(−2π²l²f²) is small.
func (k carried) bands(dst []Band, span, eps float64) (float64, []Band) {
	eps *= min(1, span/k.lengthscale) // derivatives in a period grow with the lengthscale over it, and not with the range
	period := span + k.lengthscale*math.Sqrt(2*math.Log(4/eps))
	least := 0.25 * eps / float64(len(k.lines))
	if !(float64(len(k.lines))*period/k.period+period/k.lengthscale < maxWave) || span == 0 {
		return 0, nil
	}
	for j, a := range k.lines {
		if a <= least {
			continue
		}
		half := math.Sqrt(0.5*math.Log(a/least)) / (math.Pi * k.lengthscale) * period
		centre := float64(j) * period / k.period
		b := Band{int(math.Floor(max(0, centre-half))), int(math.Ceil(centre + half))}
		if last := len(dst) - 1; last >= 0 && b.From <= dst[last].To+1 {
			dst[last].To = max(dst[last].To, b.To)
			continue
		}
		dst = append(dst, b)
	}
	return period, dst
}

// each calls f for every line j and signed frequency m of it: with the index of |m| among the coefficients, the share
// a_j/P·S(u) of c_|m| over a_j, and u·l.
func (k carried) each(period float64, bands []Band, f func(j, at int, share, ul float64)) {
	scale := k.variance * k.lengthscale * math.Sqrt(2*math.Pi) / period
	ratio := period / k.period
	rest := math.FMA(-ratio, k.period, period) / k.period
	const digits = 60 // of exp: what is less does not count
	half := math.Sqrt(digits/2) / (math.Pi * k.lengthscale) * period
	for j, a := range k.lines {
		if a == 0 {
			continue
		}
		hi := float64(j) * ratio
		lo := math.FMA(float64(j), ratio, -hi) + float64(j)*rest
		first := 0
		for _, b := range bands {
			for _, sign := range [...]int{1, -1} {
				from, to := max(float64(b.From), math.Ceil(float64(sign)*hi-half)), min(float64(b.To), math.Floor(float64(sign)*hi+half))
				for m := int(from); float64(m) <= to; m++ {
					if sign < 0 && m == 0 {
						continue
					}
					u := ((float64(sign*m) - hi) - lo) / period * k.lengthscale
					f(j, first+m-b.From, scale*math.Exp(-2*math.Pi*math.Pi*u*u), u)
				}
			}
			first += b.To - b.From + 1
		}
	}
}

func (k carried) coefficients(dst []float64, period float64, bands []Band) {
	clear(dst)
	k.each(period, bands, func(j, at int, share, _ float64) { dst[at] += k.lines[j] * share })
}

// contract returns Σ w_m·∂c_m in log v, log l and log p, and sets lines to those in a_j.
func (k carried) contract(lines, w []float64, period float64, bands []Band) (v, l, p float64) {
	clear(lines)
	ratio := k.lengthscale / k.period
	k.each(period, bands, func(j, at int, share, u float64) {
		s := w[at] * share
		lines[j] += s
		s *= k.lines[j]
		v += s
		q := 4 * math.Pi * math.Pi * u
		l += s * (1 - q*u)
		p -= s * q * float64(j) * ratio
	})
	return v, l, p
}

// contractInto adds the derivatives in log v, log l and, if grad has a third, log p, of lines whose weights are no parameters.
func (k carried) contractInto(grad, w []float64, period float64, bands []Band) {
	var lines [2]float64
	v, l, p := k.contract(lines[:len(k.lines)], w, period, bands)
	for i, d := range []float64{v, l, p}[:len(grad)] {
		grad[i] += d
	}
}

func (k SE) carried() carried { return carried{k.Variance, k.Lengthscale, k.Lengthscale, []float64{1}} }

func (k SE) Bands(dst []Band, span, eps float64) (float64, []Band) {
	return k.carried().bands(dst, span, eps)
}

func (k SE) Coefficients(dst []float64, period float64, bands []Band) {
	k.carried().coefficients(dst, period, bands)
}

func (k SE) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	k.carried().contractInto(grad[:2], w, period, bands)
}

func (k SE) PeriodParam() int { return -1 }

// carried has the harmonics that are needed for the given eps.
func (k LocPer) carried(eps float64) carried {
	last := lastHarmonic(k.PeriodicLengthscale, 0.25*eps)
	c := carried{k.Variance, k.Lengthscale, k.Period, make([]float64, max(0, last)+1)}
	if last >= 0 {
		harmonicWeights(c.lines, k.PeriodicLengthscale)
	}
	return c
}

// leastWeight is the share of all weights that harmonics of coefficients may lack.
const leastWeight = 1e-22

func (k LocPer) Bands(dst []Band, span, eps float64) (float64, []Band) {
	if lastHarmonic(k.PeriodicLengthscale, 0.25*eps) < 0 {
		return 0, nil
	}
	return k.carried(eps).bands(dst, span, 0.75*eps)
}

func (k LocPer) Coefficients(dst []float64, period float64, bands []Band) {
	k.carried(leastWeight).coefficients(dst, period, bands)
}

func (k LocPer) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	c := k.carried(leastWeight)
	lines := make([]float64, len(c.lines))
	v, l, p := c.contract(lines, w, period, bands)
	grad[0] += v
	grad[1] += l
	grad[2] += p
	grad[3] += contractHarmonics(lines, k.PeriodicLengthscale)
}

func (k LocPer) PeriodParam() int { return -1 }

func (k SpectralMixture) carried() carried {
	return carried{k.Variance, k.Lengthscale, k.Period, []float64{0, 1}}
}

func (k SpectralMixture) Bands(dst []Band, span, eps float64) (float64, []Band) {
	return k.carried().bands(dst, span, eps)
}

func (k SpectralMixture) Coefficients(dst []float64, period float64, bands []Band) {
	k.carried().coefficients(dst, period, bands)
}

func (k SpectralMixture) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	k.carried().contractInto(grad[:3], w, period, bands)
}

func (k SpectralMixture) PeriodParam() int { return -1 }

// waverOf returns the kernel as waves: a Waver itself, or SE times Periodic, which is a LocPer with parameters in another order.
func waverOf(k Kernel) (Waver, bool) {
	if w, ok := k.(Waver); ok {
		return w, true
	}
	p, ok := k.(Product)
	if !ok || len(p.parts) != 2 {
		return nil, false
	}
	for i, part := range p.parts {
		se, smooth := part.(SE)
		periodic, turns := p.parts[1-i].(Periodic)
		if smooth && turns {
			return carriedPeriodic{
				Product: p, as: LocPer{se.Variance * periodic.Variance, se.Lengthscale, periodic.Period, periodic.Lengthscale},
				smooth: p.offset[i], turns: p.offset[1-i],
			}, true
		}
	}
	return nil, false
}

// carriedPeriodic is SE times Periodic.
type carriedPeriodic struct {
	Product
	as            LocPer
	smooth, turns int // of the first parameters of SE and Periodic
}

func (k carriedPeriodic) Bands(dst []Band, span, eps float64) (float64, []Band) {
	return k.as.Bands(dst, span, eps)
}

func (k carriedPeriodic) Coefficients(dst []float64, period float64, bands []Band) {
	k.as.Coefficients(dst, period, bands)
}

func (k carriedPeriodic) ContractCoefficients(grad, w []float64, period float64, bands []Band) {
	var own [4]float64 // variance, lengthscale, period, periodic lengthscale
	k.as.ContractCoefficients(own[:], w, period, bands)
	grad[k.smooth] += own[0]
	grad[k.smooth+1] += own[1]
	grad[k.turns] += own[0]
	grad[k.turns+1] += own[3]
	grad[k.turns+2] += own[2]
}

func (k carriedPeriodic) PeriodParam() int { return -1 }
