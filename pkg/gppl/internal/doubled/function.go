package doubled

import "math"

// Constants to 107 bits.
var (
	Pi    = Float{3.141592653589793116e+00, 1.224646799147353207e-16}
	ln2   = Float{6.931471805599452862e-01, 2.319046813846299558e-17}
	Log2π = Float{1.8378770664093456e+00, -7.756588316134483e-17}
)

// terms is the length of the Taylor series: enough for sin and cos up to π/4.
const terms = 31

// inverseFactorial[i] is 1/i!.
var inverseFactorial = func() (f [terms]Float) {
	f[0] = Of(1)
	for i := 1; i < terms; i++ {
		f[i] = f[i-1].Div(Of(float64(i)))
	}
	return f
}()

// Exp returns exp(x); 0 for x below −690, where digits would be lost.
func Exp(x Float) Float {
	if x.Hi < -690 {
		return Float{}
	}
	if !(x.Hi < 709) {
		return Of(math.Exp(x.Hi))
	}
	// x = k·ln 2 + 512r; expm1(r) by Taylor, then squared nine times as
	// expm1(2r) = 2·expm1(r) + expm1(r)².
	k := math.Round(x.Hi / ln2.Hi)
	r := x.Sub(ln2.Times(k)).Scale(1. / 512)
	e := inverseFactorial[9]
	for i := 8; i >= 1; i-- {
		e = e.Mul(r).Add(inverseFactorial[i])
	}
	e = e.Mul(r)
	for range 9 {
		e = e.Scale(2).Add(e.Mul(e))
	}
	e = e.Add(Of(1))
	return Float{math.Ldexp(e.Hi, int(k)), math.Ldexp(e.Lo, int(k))}
}

// Log returns the natural logarithm of x > 0, to about 2^−104 absolutely or
// relatively, whichever is more: one Newton step on exp from float64.
func Log(x Float) Float {
	_, k := math.Frexp(x.Hi)
	m := Float{math.Ldexp(x.Hi, -k), math.Ldexp(x.Lo, -k)} // in [½, 1)
	y := Of(math.Log(m.Hi))
	y = y.Add(m.Mul(Exp(y.Neg())).Sub(Of(1)))
	return y.Add(ln2.Times(float64(k)))
}

// SinCosPi returns sin πt and cos πt. Whole turns are taken off exactly.
func SinCosPi(t Float) (sin, cos Float) {
	f := Of(math.Mod(t.Hi, 2)).Add(Of(math.Mod(t.Lo, 2)))
	quarter := math.Round(2 * f.Hi)
	a := Pi.Mul(f.Sub(Of(quarter / 2))) // in [−π/4, π/4]
	a2 := a.Mul(a)
	sin, cos = inverseFactorial[29], inverseFactorial[28]
	for i := 27; i >= 1; i -= 2 {
		sin = inverseFactorial[i].Sub(sin.Mul(a2))
		cos = inverseFactorial[i-1].Sub(cos.Mul(a2))
	}
	sin = sin.Mul(a)
	switch (int(quarter)%4 + 4) % 4 {
	case 1:
		return cos, sin.Neg()
	case 2:
		return sin.Neg(), cos.Neg()
	case 3:
		return cos.Neg(), sin
	}
	return sin, cos
}
