// Package doubled computes with unevaluated sums of two float64, about 31 decimal digits. Tests compare the float64 engines
// with it, and internal/regress uses it to make nearly collinear columns orthogonal.
//
// The algorithms are Dekker's and Knuth's error-free transformations with a fused multiply-add (Hida, Li and Bailey 2001,
// "Algorithms for quad-double precision floating point arithmetic"). The relative error of an operation is a few units of 2^−104.
// The exponents are float64's: below about 1e−290 digits are lost.
package doubled

import "math"

// Float is the number Hi + Lo, with |Lo| at most half a unit in the last place of Hi.
type Float struct{ Hi, Lo float64 }

// Of returns x, exactly.
func Of(x float64) Float { return Float{x, 0} }

// twoSum returns a + b as rounded, and its rounding error.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// quickTwoSum is twoSum for |a| ≥ |b| or a = 0.
func quickTwoSum(a, b float64) Float {
	s := a + b
	return Float{s, b - (s - a)}
}

// twoProd returns a·b as rounded, and its rounding error.
func twoProd(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// Difference returns a − b, exactly.
func Difference(a, b float64) Float {
	s, e := twoSum(a, -b)
	return Float{s, e}
}

// Neg returns −a.
func (a Float) Neg() Float { return Float{-a.Hi, -a.Lo} }

// Abs returns |a|.
func (a Float) Abs() Float {
	if a.Hi < 0 {
		return a.Neg()
	}
	return a
}

// Add returns a + b.
func (a Float) Add(b Float) Float {
	s, e := twoSum(a.Hi, b.Hi)
	t, f := twoSum(a.Lo, b.Lo)
	c := quickTwoSum(s, e+t)
	return quickTwoSum(c.Hi, c.Lo+f)
}

// Sub returns a − b.
func (a Float) Sub(b Float) Float { return a.Add(b.Neg()) }

// Mul returns a·b.
func (a Float) Mul(b Float) Float {
	p, e := twoProd(a.Hi, b.Hi)
	return quickTwoSum(p, e+(float64(a.Hi*b.Lo)+float64(a.Lo*b.Hi)))
}

// Times returns a·b for a float64 b.
func (a Float) Times(b float64) Float {
	p, e := twoProd(a.Hi, b)
	return quickTwoSum(p, e+float64(a.Lo*b))
}

// Scale returns a·b for b a power of two, exactly.
func (a Float) Scale(b float64) Float { return Float{a.Hi * b, a.Lo * b} }

// Div returns a/b, by long division.
func (a Float) Div(b Float) Float {
	q1 := a.Hi / b.Hi
	r := a.Sub(b.Times(q1))
	q2 := r.Hi / b.Hi
	r = r.Sub(b.Times(q2))
	q3 := r.Hi / b.Hi
	return quickTwoSum(q1, q2).Add(Of(q3))
}

// Sqrt returns the root of a ≥ 0, NaN below.
func (a Float) Sqrt() Float {
	if a.Hi <= 0 {
		return Of(math.Sqrt(a.Hi))
	}
	// One Newton step from the root in float64 doubles its digits; a second one removes the rounding of the first.
	x := Of(math.Sqrt(a.Hi))
	for range 2 {
		x = x.Add(a.Sub(x.Mul(x)).Div(x.Scale(2)))
	}
	return x
}

// Dot returns Σ a[i]·b[i] to about n·2^−104 of Σ |a[i]·b[i]|. It panics if b is the shorter.
func Dot(a, b []Float) Float {
	b = b[:len(a)]
	var s, c float64
	for i := range a {
		x, y := &a[i], &b[i]
		p := float64(x.Hi * y.Hi)
		e := math.FMA(x.Hi, y.Hi, -p) + (float64(x.Hi*y.Lo) + float64(x.Lo*y.Hi))
		t := s + p
		d := t - s
		c += ((s - (t - d)) + (p - d)) + e
		s = t
	}
	return quickTwoSum(s, c)
}

// DotTimes returns Σ w[i]·x[i], as Dot does.
func DotTimes(w []float64, x []Float) Float {
	x = x[:len(w)]
	var s, c float64
	for i, v := range w {
		y := &x[i]
		p := float64(v * y.Hi)
		e := math.FMA(v, y.Hi, -p) + float64(v*y.Lo)
		t := s + p
		d := t - s
		c += ((s - (t - d)) + (p - d)) + e
		s = t
	}
	return quickTwoSum(s, c)
}
