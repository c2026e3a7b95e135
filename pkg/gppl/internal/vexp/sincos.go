package vexp

import "math"

// Coefficients of sin and cos up to π/4 (Cephes, as in package math).
const (
	s0, s1, s2 = 1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6
	s3, s4, s5 = -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1
	q0, q1, q2 = -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7
	q3, q4, q5 = 2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2
)

// SincosPi sets sin[i] = sin πx[i] and cos[i] = cos πx[i], within 2 units of 2⁻⁵³ and, for the sine of |x| < ¼, within 2 units in
// its last place: whole turns cost no digits, unlike the rounding of πx in math.Sincos(πx). sin or cos may be x. Like Exp it
// gives the same bits on every processor.
func SincosPi(sin, cos, x []float64) {
	sin, cos = sin[:len(x)], cos[:len(x)]
	for i, v := range x {
		if !(v > -1<<49 && v < 1<<49) {
			v = math.Mod(v, 2)
		}
		t := 2*v + shift
		n := math.Float64bits(t) // its low bits are the integer nearest to 2v
		a := math.Pi * (v - 0.5*(t-shift))
		z := float64(a * a)
		p := s1 + float64(z*s0)
		p = s2 + float64(z*p)
		p = s3 + float64(z*p)
		p = s4 + float64(z*p)
		p = s5 + float64(z*p)
		q := q1 + float64(z*q0)
		q = q2 + float64(z*q)
		q = q3 + float64(z*q)
		q = q4 + float64(z*q)
		q = q5 + float64(z*q)
		s := math.Float64bits(a + float64(float64(a*z)*p))
		c := math.Float64bits(1 - float64(0.5*z) + float64(float64(z*z)*q))
		swap := (s ^ c) & -(n & 1) // after an odd number of quarters, without an unpredictable branch
		sin[i] = math.Float64frombits(s ^ swap ^ n&2<<62)
		cos[i] = math.Float64frombits(c ^ swap ^ (n+1)&2<<62)
	}
}
