package gppl

import (
	"math"
)

var (
	_ Kernel      = Periodic{}
	_ Kernel      = LocPer{}
	_ Bandlimited = Periodic{}
	_ Bandlimited = LocPer{}
	_ Reacher     = LocPer{}
)

// Periodic is the kernel v·exp(−2 sin²(πr/p)/l²) (MacKay 1998; Rasmussen and
// Williams 2006, eq. 4.31): exactly periodic functions of period p. Its lengthscale is
// a pure number: the phase over which f varies. In d = 1 it is positive definite; for d
// > 1, where it takes the Euclidean distance, it need not be.
type Periodic struct{ Variance, Lengthscale, Period float64 }

func (k Periodic) Params() []Param {
	return []Param{
		{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: UnitY2, Role: RoleVariance},
		{Name: "lengthscale", Value: k.Lengthscale, Transform: Log{}, Role: RoleShape},
		{Name: "period", Value: k.Period, Transform: Log{}, Unit: UnitX, Role: RolePeriod},
	}
}
func (k Periodic) WithParams(theta []float64) Kernel {
	want(theta, 3, "Periodic")
	return Periodic{theta[0], theta[1], theta[2]}
}
func (k Periodic) String() string { return describe("Periodic", k.Params()) }

func (k Periodic) Bandwidth(eps float64) float64 {
	return harmonics(k.Lengthscale, -math.Log(eps)) / k.Period
}

func (k Periodic) Steepness(span float64) float64 {
	return span * periodicSteepness(k.Lengthscale, k.Period)
}

func (k Periodic) Cov(dst, r []float64) {
	c := -2 / (k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		s := math.Sin(math.Pi * ri / k.Period)
		dst[i] = c * s * s
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k Periodic) Contract(grad, w, r []float64) {
	c := 2 / (k.Lengthscale * k.Lengthscale)
	var gv, gp, gl float64
	for i, ri := range r {
		a := math.Pi * ri / k.Period
		s, cs := math.Sincos(a)
		e := w[i] * math.Exp(-c*s*s)
		gv += e
		gp += e * a * s * cs
		gl += e * s * s
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * c * k.Variance * gl
	grad[2] += 2 * c * k.Variance * gp
}

func (k Periodic) Slope(dst, r []float64) {
	c := 2 / (k.Lengthscale * k.Lengthscale)
	f := math.Pi / k.Period
	for i, ri := range r {
		s, cs := math.Sincos(f * ri)
		dst[i] = -2 * c * f * k.Variance * s * cs * math.Exp(-c*s*s)
	}
}

// LocPer is the locally periodic kernel v·exp(−r²/2l² − 2 sin²(πr/p)/l_p²): a
// periodic pattern that drifts over the lengthscale l. It is SE × Periodic
// with one variance.
type LocPer struct{ Variance, Lengthscale, Period, PeriodicLengthscale float64 }

func (k LocPer) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale),
		Param{Name: "period", Value: k.Period, Transform: Log{}, Unit: UnitX, Role: RolePeriod},
		Param{Name: "periodic lengthscale", Value: k.PeriodicLengthscale, Transform: Log{}, Role: RoleShape})
}
func (k LocPer) WithParams(theta []float64) Kernel {
	want(theta, 4, "LocPer")
	return LocPer{theta[0], theta[1], theta[2], theta[3]}
}
func (k LocPer) String() string { return describe("LocPer", k.Params()) }

// Reach is that of the SE factor.
func (k LocPer) Reach(eps float64) float64 { return k.Lengthscale * math.Sqrt(-2*math.Log(eps)) }

// Bandwidth is the sum of those of the two factors.
func (k LocPer) Bandwidth(eps float64) float64 {
	digits := -math.Log(eps)
	return math.Sqrt(2*digits)/(2*math.Pi*k.Lengthscale) + harmonics(k.PeriodicLengthscale, digits)/k.Period
}

// Steepness: r·exp(−r²/2l²) is at most 0.61·l.
func (k LocPer) Steepness(span float64) float64 {
	return 1 + min(span, 0.61*k.Lengthscale)*periodicSteepness(k.PeriodicLengthscale, k.Period)
}

func (k LocPer) Cov(dst, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	for i, ri := range r {
		s := math.Sin(math.Pi * ri / k.Period)
		dst[i] = -cl*ri*ri - cp*s*s
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k LocPer) Contract(grad, w, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	var gv, gl, gp, glp float64
	for i, ri := range r {
		q := cl * ri * ri
		a := math.Pi * ri / k.Period
		s, cs := math.Sincos(a)
		e := w[i] * math.Exp(-q-cp*s*s)
		gv += e
		gl += e * q
		gp += e * a * s * cs
		glp += e * s * s
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * k.Variance * gl
	grad[2] += 2 * cp * k.Variance * gp
	grad[3] += 2 * cp * k.Variance * glp
}

func (k LocPer) Slope(dst, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	f := math.Pi / k.Period
	for i, ri := range r {
		s, cs := math.Sincos(f * ri)
		dst[i] = -k.Variance * (2*cl*ri + 2*cp*f*s*cs) * math.Exp(-cl*ri*ri-cp*s*s)
	}
}

// harmonics estimates how many harmonics exp(−2 sin²/l²) has: its coefficients
// are Bessel functions I_j(1/l²), which fall like a Gaussian and then faster.
func harmonics(l, digits float64) float64 {
	return 3 + math.Sqrt(2*digits)/l + digits/8
}

// periodicSteepness bounds the slope of exp(−2 sin²(πr/p)/l²): exp(−c·sin²a)
// turns at most by min(c, √(2c/e)) for each unit of a = πr/p.
func periodicSteepness(l, period float64) float64 {
	c := 2 / (l * l)
	return math.Pi / period * min(c, math.Sqrt(2*c/math.E))
}
