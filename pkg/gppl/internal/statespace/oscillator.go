package statespace

import "math"

// An Oscillator is the process of a stochastically driven damped harmonic oscillator (Foreman-Mackey, Agol, Ambikasaran and
// Angus 2017, eq. 20 and 23), of unit variance: in the unit of time 1/ω₀, ω₀ = 2π/period, with β = 1/(2·quality), its state is
// (f, f′) and
//
//	F = (0 1; −1 −2β),  P∞ = I,  Φ = (c + βs, s; −s, c − βs),
//	c = e⁻ᵝᵘ·cos ηu,  s = e⁻ᵝᵘ·sin(ηu)/η,  η² = 1 − β²,
//
// cosh and sinh where η² < 0, and series where η²u² is small, through quality ½. Its parameters are period and quality, or the
// parameters of Parted. No entry of Q = 4β∫(φ₁₂ φ₂₂)ᵀ(φ₁₂ φ₂₂) is a difference of larger numbers over a short gap.
type Oscillator struct {
	omega, beta, eta2 float64
	slow, fast        float64 // decay rates of an overdamped process: β ∓ κ, κ² = −η²
	ratio             float64 // slow/fast = slow², for a parted process
	parted            bool
	kappa, eta        float64 // η or κ; the other is 0
	bend              float64 // β²/η²
	rate              float64 // ν: the series for short gaps use u·ν
	// near holds s and ∂s/∂log quality from uν on, φ₂₂, Q₁₁ and ∂Q₁₁/∂log quality from (uν)³ on.
	near struct{ s, second, q11, ds, dq11 taylor }
}

// oscillator is the number of coefficients that give a step to rounding up to nearby.
const oscillator = 12

// nearZero is the η²u² below which series replace sines and cosines.
const nearZero = 0.25

// nearby is the largest uν for which series give a step.
const nearby = 0.25

// NewOscillator prepares an oscillator of a positive period and quality.
func NewOscillator(period, quality float64) Oscillator {
	p := Oscillator{omega: 2 * math.Pi / period, beta: 0.5 / quality}
	p.eta2 = (1 - p.beta) * (1 + p.beta)
	if p.eta2 < 0 {
		p.kappa = p.beta * math.Sqrt((1-1/p.beta)*(1+1/p.beta)) // β² may overflow float64
		p.fast = p.beta + p.kappa
		p.slow = 1 / p.fast
		p.ratio = p.slow * p.slow
		p.parted = p.beta*p.beta >= 2
	} else {
		p.eta = math.Sqrt(p.eta2)
	}
	p.bend = p.beta * p.beta / p.eta2 // used only away from η = 0
	p.rate = max(1, 2*p.beta)
	// s = Σ a_k·(uν)ᵏ by s″ = −2βs′ − s.
	const n = oscillator + 2
	var a, da [n]float64 // da is ∂a in the log of the second parameter
	a[1] = 1 / p.rate
	b, c := 2*p.beta/p.rate, 1/(p.rate*p.rate)
	for k := range n - 2 {
		j := float64(k + 1)
		a[k+2] = -(b*j*a[k+1] + c*a[k]) / (j * (j + 1))
		da[k+2] = -(b*j*(da[k+1]-a[k+1]) + c*da[k]) / (j * (j + 1))
	}
	if p.parted { // a term in uᵏ has the derivative −k in the log of the period, which is the unit of u
		for k := range da {
			da[k] = 0.5 * (da[k]/p.sharpness() - float64(k)*a[k])
		}
	}
	log := p.intensitySlope() // slope of 4β∫s²du for a given s
	if p.parted {
		log -= 0.5
	}
	for i := range oscillator {
		var sum, slope float64
		for k := 1; k <= i+1; k++ {
			sum += a[k] * a[i+2-k]
			slope += 2 * a[k] * da[i+2-k]
		}
		w := 4 * p.beta / p.rate / float64(i+3)
		p.near.q11[i], p.near.dq11[i] = w*sum, w*(slope+log*sum)
		p.near.s[i], p.near.ds[i], p.near.second[i] = a[i+1], da[i+1], p.rate*float64(i+1)*a[i+1]
	}
	return p
}

func (p *Oscillator) Dim() int { return 2 }

// Parted reports whether the process is so strongly overdamped (β² ≥ 2) that its two decay rates are its parameters: the time
// 1/(ω₀·slow) of the slow one, and M = slow/fast. A quality of Q has M ≈ Q², and contributes as little to a derivative: in log
// period and log quality this contribution would be a difference of larger numbers. In the logs of time and M,
//
//	∂log time = ∂log period + h·(−∂log quality),  ∂log M = 2h·∂log quality,  h = (1 + M)/(1 − M).
func (p *Oscillator) Parted() (h float64, ok bool) {
	if !p.parted {
		return 0, false
	}
	return p.sharpness(), true
}

// sharpness returns h, see Parted.
func (p *Oscillator) sharpness() float64 { return p.beta / p.kappa }

// intensitySlope returns the derivative of log β in the log of the second parameter.
func (p *Oscillator) intensitySlope() float64 {
	if p.parted { // β = (1 + M)/2√M
		return -0.5 / p.sharpness()
	}
	return -1
}

// waves returns c and s at u = ω₀Δ; both are 0 once the state is forgotten.
func (p *Oscillator) waves(u float64) (c, s float64) {
	w := p.eta2 * u * u
	switch {
	case p.left(u) > far:
		return 0, 0
	case math.Abs(w) < nearZero:
		e := math.Exp(-p.beta * u)
		return e * (1 - w*(1./2-w*(1./24-w*(1./720-w*(1./40320-w*(1./3628800-w*(1./479001600-w*(1./87178291200)))))))),
			e * u * (1 - w*(1./6-w*(1./120-w*(1./5040-w*(1./362880-w*(1./39916800-w*(1./6227020800)))))))
	case w > 0:
		e := math.Exp(-p.beta * u)
		sin, cos := math.Sincos(p.eta * u)
		return e * cos, e * sin / p.eta
	}
	slow, fast := math.Exp(-p.slow*u), math.Exp(-p.fast*u)
	return 0.5 * (slow + fast), 0.5 * (slow - fast) / p.kappa
}

// left returns the number of factors of e by which the state has decayed at u.
func (p *Oscillator) left(u float64) float64 {
	if p.eta2 < 0 {
		return p.slow * u
	}
	return p.beta * u
}

// A parting is an overdamped process (Parted) over a gap u, with the decays A = e⁻ᵃ and B = e⁻ᵇ of its two rates, a = slow·u and
// b = fast·u, and M = slow/fast:
//
//	φ₁₁ = (A − MB)/(1 − M),  φ₁₂ = √M·(A − B)/(1 − M),  φ₂₂ = (B − MA)/(1 − M).
type parting struct {
	a, slow, fast float64 // a, A and B
	left          float64 // bB
	apart         float64 // A − B
}

func (p *Oscillator) part(u float64) (d parting) {
	d.a = p.slow * u
	b := p.fast * u
	d.slow = math.Exp(-d.a)
	if b < 800 {
		d.fast = math.Exp(-b)
		d.left = b * d.fast
	}
	if d.apart = d.slow - d.fast; b < 1 {
		d.apart = -d.slow * math.Expm1(d.a-b)
	}
	return d
}

// partedCov is Cov for a parted process.
func (p *Oscillator) partedCov(u float64) (k, slope, time, ratio float64) {
	if p.left(u) > far {
		return 0, 0, 0, 0
	}
	d, rest := p.part(u), 1-p.ratio
	return (d.slow - p.ratio*d.fast) / rest, -p.omega * p.slow * d.apart / rest, d.a * d.apart / rest,
		p.ratio * (d.apart/rest - d.left) / rest
}

// diagonal returns φ₁₁ and φ₂₂.
func (p *Oscillator) diagonal(u, c, s float64) (first, second float64) {
	if p.eta2*u*u <= -nearZero && c != 0 { // c − βs would cancel
		slow, fast := c+p.kappa*s, math.Exp(-p.fast*u)
		return (p.fast*slow - p.slow*fast) / (2 * p.kappa), (p.fast*fast - p.slow*slow) / (2 * p.kappa)
	}
	return c + p.beta*s, c - p.beta*s
}

// Cov returns the covariance at a distance r, and its derivatives in r and in the logs of the two parameters.
func (p *Oscillator) Cov(r float64) (k, slope, first, second float64) {
	u := p.omega * r
	if p.parted {
		return p.partedCov(u)
	}
	c, s := p.waves(u)
	if c == 0 && s == 0 {
		return 0, 0, 0, 0
	}
	k, _ = p.diagonal(u, c, s)
	return k, -p.omega * s, u * s, p.beta * (u*(c-p.beta*s) + p.damp(u, c, s) - s)
}

func (p *Oscillator) Transition(phi, noise []float64, gap float64) {
	u := p.omega * gap
	if gap == 0 {
		u = 0
	}
	if p.rate*u < nearby {
		p.step(phi, noise, p.rate*u)
		return
	}
	c, s := p.waves(u)
	phi[0], phi[3] = p.diagonal(u, c, s)
	phi[1], phi[2] = s, -s
	if c == 0 && s == 0 {
		phi[0], phi[3] = 0, 0
		phi[2] = 0
		noise[0], noise[1], noise[2], noise[3] = 1, 0, 0, 1
		return
	}
	double := -math.Expm1(-2 * p.beta * u)
	noise[1] = 2 * p.beta * s * s
	noise[2] = noise[1]
	noise[3] = double + 2*p.beta*s*phi[3]
	if noise[0] = double - 2*p.beta*s*phi[0]; p.parted {
		decayed := func(rate float64) float64 { return -math.Expm1(-2*rate*u) / (2 * rate) }
		noise[0] = p.beta / p.kappa * (decayed(p.slow) - 2*decayed(p.beta) + decayed(p.fast)) / p.kappa
	}
}

// step is Transition over a short gap, x = uν. With P∞ = I, Q₂₂ − Q₁₁ = φ₁₁² − φ₂₂² = 4βsc, which loses no digit.
func (p *Oscillator) step(phi, noise []float64, x float64) {
	s, second, q11 := x*p.near.s.at(x), p.near.second.at(x), x*x*x*p.near.q11.at(x)
	turn := p.beta * s
	q12 := 2 * turn * s
	phi[0], phi[1], phi[2], phi[3] = second+2*turn, s, -s, second
	noise[0], noise[1], noise[2], noise[3] = q11, q12, q12, q11+4*turn*(second+turn)
}

// A taylor holds the coefficients of a series up to nearby.
type taylor [oscillator]float64

// at returns the sum at x, of even and odd terms side by side.
func (c *taylor) at(x float64) float64 {
	y := x * x
	return (((((c[10]*y+c[8])*y+c[6])*y+c[4])*y+c[2])*y + c[0]) + x*(((((c[11]*y+c[9])*y+c[7])*y+c[5])*y+c[3])*y+c[1])
}

// damp returns the derivative of s in log quality.
func (p *Oscillator) damp(u, c, s float64) float64 {
	ds := p.beta * u * s
	if w := p.eta2 * u * u; math.Abs(w) < nearZero {
		// dσ/dw of σ = sin √w/√w
		slope := -(1./6 - w*(2./120-w*(3./5040-w*(4./362880-w*(5./39916800-w*(6./6227020800))))))
		decay := math.Sqrt(c*c + p.eta2*s*s) // e⁻ᵝᵘ
		return ds + 2*decay*u*u*u*p.beta*p.beta*slope
	}
	return ds + (u*c-s)*p.bend
}

func (p *Oscillator) Slopes(dPhi, dNoise, phi, _ []float64, gap float64) {
	dPhi, dNoise = dPhi[:8], dNoise[:8]
	first, s, second := phi[0], phi[1], phi[3]
	u := p.omega * gap
	if p.over(first, s, gap) {
		clear(dPhi)
		clear(dNoise)
		return
	}
	dPhi[0], dPhi[1], dPhi[2], dPhi[3] = u*s, -u*second, u*second, p.slide(u, first, s, second)
	q := -4 * p.beta * u
	dNoise[0], dNoise[1], dNoise[2], dNoise[3] = q*s*s, q*s*second, q*s*second, q*second*second

	ds, d11, d22, q11, q12, q22 := p.sharpen(u, first, s, second)
	dPhi[4], dPhi[5], dPhi[6], dPhi[7] = d11, ds, -ds, d22
	dNoise[4], dNoise[5], dNoise[6], dNoise[7] = q11, q12, q12, q22
}

// slide returns the derivative of φ₂₂ in the log of the first parameter.
func (p *Oscillator) slide(u, first, s, second float64) float64 {
	if !p.parted {
		return u * (s + 2*p.beta*second)
	}
	d := p.part(u)
	return (d.left - p.ratio*d.a*d.slow) / (1 - p.ratio)
}

// over reports whether a step has no derivatives: its length is 0, or the state is forgotten after it.
func (p *Oscillator) over(first, s, gap float64) bool { return gap == 0 || first == 0 && s == 0 }

// sharpen returns the derivatives of φ₁₂, φ₁₁, φ₂₂ and of Q in the log of the second parameter.
func (p *Oscillator) sharpen(u, first, s, second float64) (ds, d11, d22, q11, q12, q22 float64) {
	x := p.rate * u
	near := x < nearby
	if near {
		ds, q11 = x*p.near.ds.at(x), x*x*x*p.near.dq11.at(x)
	}
	if p.parted {
		d, rest := p.part(u), 1-p.ratio
		if !near {
			ds = 0.5*p.sharpness()*s - p.slow*d.left/rest
		}
		d11, d22 = (p.slow*s-p.ratio*d.left)/rest, (d.left-p.slow*s)/rest
	} else {
		c := 0.5 * (first + second)
		if !near {
			ds = p.damp(u, c, s)
		}
		dc, turn := p.beta*u*(c-p.beta*s), p.beta*(ds-s)
		d11, d22 = dc+turn, dc-turn
	}
	if !near {
		q11 = -2 * (first*d11 + s*ds)
	}
	return ds, d11, d22, q11, 2 * p.beta * s * (2*ds + p.intensitySlope()*s), -2 * (s*ds + second*d22)
}

// contract returns the sum of Slopes, with weights z for Φ and w for Q₁₁, Q₁₂ and Q₂₂, without storing them.
func (p *Oscillator) contract(first, s, second, z11, z12, z21, z22, w11, w12, w22, gap float64) (inFirst, inSecond float64) {
	if p.over(first, s, gap) {
		return 0, 0
	}
	u := p.omega * gap
	inFirst = z11*s + (z21-z12)*second - 4*p.beta*(w11*s*s+w12*s*second+w22*second*second)
	ds, d11, d22, q11, q12, q22 := p.sharpen(u, first, s, second)
	return u*inFirst + z22*p.slide(u, first, s, second), z11*d11 + (z12-z21)*ds + z22*d22 + w11*q11 + w12*q12 + w22*q22
}
