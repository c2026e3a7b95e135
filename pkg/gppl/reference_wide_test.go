package gppl_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Functions and triangular matrices of numbers of 106 bits, by which the references are computed.

// Constants to 107 bits.
var (
	widePi    = wide{Hi: 3.141592653589793116e+00, Lo: 1.224646799147353207e-16}
	wideLn2   = wide{Hi: 6.931471805599452862e-01, Lo: 2.319046813846299558e-17}
	wideLog2π = wide{Hi: 1.8378770664093456e+00, Lo: -7.756588316134483e-17}
)

// wideTerms is the length of the Taylor series: enough for sin and cos up to π/4.
const wideTerms = 31

// inverseFactorial[i] is 1/i!.
var inverseFactorial = func() (f [wideTerms]wide) {
	f[0] = doubled.Of(1)
	for i := 1; i < wideTerms; i++ {
		f[i] = f[i-1].Div(doubled.Of(float64(i)))
	}
	return f
}()

// wideExp returns exp(x); 0 for x below −690, where digits would be lost.
func wideExp(x wide) wide {
	if x.Hi < -690 {
		return wide{}
	}
	if !(x.Hi < 709) {
		return doubled.Of(math.Exp(x.Hi))
	}
	// x = k·ln 2 + 512r; expm1(r) by Taylor, then squared nine times as
	// expm1(2r) = 2·expm1(r) + expm1(r)².
	k := math.Round(x.Hi / wideLn2.Hi)
	r := x.Sub(wideLn2.Times(k)).Scale(1. / 512)
	e := inverseFactorial[9]
	for i := 8; i >= 1; i-- {
		e = e.Mul(r).Add(inverseFactorial[i])
	}
	e = e.Mul(r)
	for range 9 {
		e = e.Scale(2).Add(e.Mul(e))
	}
	e = e.Add(doubled.Of(1))
	return wide{Hi: math.Ldexp(e.Hi, int(k)), Lo: math.Ldexp(e.Lo, int(k))}
}

// wideLog returns the natural logarithm of x > 0, to about 2^−104 absolutely or
// relatively, whichever is more: one Newton step on exp from float64.
func wideLog(x wide) wide {
	_, k := math.Frexp(x.Hi)
	m := wide{Hi: math.Ldexp(x.Hi, -k), Lo: math.Ldexp(x.Lo, -k)} // in [½, 1)
	y := doubled.Of(math.Log(m.Hi))
	y = y.Add(m.Mul(wideExp(y.Neg())).Sub(doubled.Of(1)))
	return y.Add(wideLn2.Times(float64(k)))
}

// wideSinCosPi returns sin πt and cos πt. Whole turns are taken off exactly.
func wideSinCosPi(t wide) (sin, cos wide) {
	f := doubled.Of(math.Mod(t.Hi, 2)).Add(doubled.Of(math.Mod(t.Lo, 2)))
	quarter := math.Round(2 * f.Hi)
	a := widePi.Mul(f.Sub(doubled.Of(quarter / 2))) // in [−π/4, π/4]
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

// wideLower is a lower triangle, row by row: wideLower[i] has i+1 entries. It holds a
// symmetric matrix, or a triangular one.
type wideLower [][]wide

// newWideLower returns a triangle of n rows, all zero.
func newWideLower(n int) wideLower {
	all := make([]wide, n*(n+1)/2)
	l := make(wideLower, n)
	for i := range l {
		l[i], all = all[:i+1:i+1], all[i+1:]
	}
	return l
}

// Cholesky replaces a symmetric matrix A by its factor L, A = LLᵀ, in n³/6
// multiply-adds. It is an error if a pivot is not positive.
func (l wideLower) Cholesky() error {
	for i, row := range l {
		for j := range i {
			row[j] = row[j].Sub(doubled.Dot(row[:j], l[j])).Div(l[j][j])
		}
		pivot := row[i].Sub(doubled.Dot(row[:i], row))
		if !(pivot.Hi > 0) || math.IsInf(pivot.Hi, 1) {
			return fmt.Errorf("pivot %d of %d is %.3g", i, len(l), pivot.Hi)
		}
		row[i] = pivot.Sqrt()
	}
	return nil
}

// LogDet returns log|LLᵀ|.
func (l wideLower) LogDet() (sum wide) {
	for i, row := range l {
		sum = sum.Add(wideLog(row[i]))
	}
	return sum.Scale(2)
}

// Solve returns x with Lx = b.
func (l wideLower) Solve(b []wide) []wide {
	x := make([]wide, len(b))
	for i, row := range l {
		x[i] = b[i].Sub(doubled.Dot(row[:i], x)).Div(row[i])
	}
	return x
}

// wideUpper is the transpose of a lower triangle: wideUpper[j][k−j] is entry (k, j) of
// it, so that its columns are contiguous.
type wideUpper [][]wide

// Invert returns L⁻¹, by columns, in n³/6 multiply-adds.
func (l wideLower) Invert() wideUpper {
	n := len(l)
	inv := make(wideUpper, n)
	for j := range inv {
		col := make([]wide, n-j)
		col[0] = doubled.Of(1).Div(l[j][j])
		for i := j + 1; i < n; i++ {
			col[i-j] = doubled.Dot(l[i][j:i], col).Div(l[i][i]).Neg()
		}
		inv[j] = col
	}
	return inv
}

// MulTrans returns L⁻ᵀx.
func (u wideUpper) MulTrans(x []wide) []wide {
	y := make([]wide, len(x))
	for j, col := range u {
		y[j] = doubled.Dot(col, x[j:])
	}
	return y
}

// Inverse returns entry (i, j), i ≥ j, of A⁻¹ = L⁻ᵀL⁻¹. All of them take n³/6
// multiply-adds.
func (u wideUpper) Inverse(i, j int) wide { return doubled.Dot(u[i], u[j][i-j:]) }

func bigOfWide(x wide) *big.Float {
	return new(big.Float).SetPrec(bits).Add(new(big.Float).SetPrec(bits).SetFloat64(x.Hi), new(big.Float).SetFloat64(x.Lo))
}

// offBy returns |got − want| over max(|want|, floor).
func offBy(got wide, want *big.Float, floor float64) float64 {
	d := new(big.Float).SetPrec(bits).Sub(bigOfWide(got), want)
	w, _ := want.Float64()
	f, _ := d.Float64()
	return math.Abs(f) / max(math.Abs(w), floor)
}

func randomWide(rnd *rand.Rand, scale float64) wide {
	hi := scale * (2*rnd.Float64() - 1)
	return doubled.Of(hi).Add(doubled.Of(hi * 0x1p-54 * (2*rnd.Float64() - 1)))
}

// bigSeries returns Σ x^i/i! over i = first, first+step, …, with alternating signs
// if asked to: exp, sin and cos.
func bigSeries(x *big.Float, first, step int, alternate bool) *big.Float {
	sum, term := bigOf(0), bigOf(1)
	for i := range 400 {
		if i > 0 {
			term = new(big.Float).SetPrec(bits).Quo(new(big.Float).SetPrec(bits).Mul(term, x), bigOf(float64(i)))
		}
		if i < first || (i-first)%step != 0 {
			continue
		}
		if alternate && (i-first)/step%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	return sum
}

func TestWideFunctions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 0))
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620"+
		"899862803482534211706798214808651", 10, bits, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if e := offBy(widePi, pi, 0); e > 0x1p-105 {
		t.Errorf("π errs by %.3g", e)
	}
	if e := offBy(wideExp(wideLog2π), new(big.Float).SetPrec(bits).Mul(pi, bigOf(2)), 0); e > 1e-30 {
		t.Errorf("exp(log 2π) errs by %.3g", e)
	}
	for range 300 {
		x := randomWide(rnd, math.Exp(13*rnd.Float64()-6.6))
		want := bigExp(bigOfWide(x))
		if e := offBy(wideExp(x), want, 0); e > 1e-31*max(1, math.Abs(x.Hi)) {
			t.Errorf("exp(%v) errs by %.3g", x, e)
		}
		// log is the inverse of a function that is known to be right.
		p := randomWide(rnd, math.Exp(60*rnd.Float64()-30)).Abs()
		if e := offBy(p, bigExp(bigOfWide(wideLog(p))), 0); e > 1e-31*max(1, math.Abs(math.Log(p.Hi))) {
			t.Errorf("log(%v) errs by %.3g", p, e)
		}
		// t up to 10^12 turns, reduced in big.Float by itself.
		turns := randomWide(rnd, math.Exp(29*rnd.Float64()))
		whole := math.Round(turns.Hi/2) * 2
		f := new(big.Float).SetPrec(bits).Sub(bigOfWide(turns), bigOf(whole))
		f.Mul(f, pi)
		sin, cos := wideSinCosPi(turns)
		if e := offBy(sin, bigSeries(f, 1, 2, true), 1); e > 1e-31 {
			t.Errorf("sin(π·%v) errs by %.3g", turns, e)
		}
		if e := offBy(cos, bigSeries(f, 0, 2, true), 1); e > 1e-31 {
			t.Errorf("cos(π·%v) errs by %.3g", turns, e)
		}
	}
	// Sines keep their relative digits next to whole turns.
	if s, _ := wideSinCosPi(wide{Hi: 1e6, Lo: 1e-12}); math.Abs(s.Hi/(math.Pi*1e-12)-1) > 1e-15 {
		t.Errorf("sin(π·(10⁶ + 10⁻¹²)) = %v", s)
	}
}

// TestWideCholesky factorises a Hilbert matrix, whose condition (1e16 for n = 12)
// float64 cannot bear, and multiplies it out again; its determinant and inverse
// are known.
func TestWideCholesky(t *testing.T) {
	const n = 12
	a, l := newWideLower(n), newWideLower(n)
	for i := range n {
		for j := range i + 1 {
			a[i][j] = doubled.Of(1).Div(doubled.Of(float64(i + j + 1)))
		}
		copy(l[i], a[i])
	}
	if err := l.Cholesky(); err != nil {
		t.Fatal(err)
	}
	// det H_n = c_n⁴/c_2n, c_n = Π_{i<n} i!
	c := func(n int) (sum wide) {
		f := doubled.Of(1)
		for i := 1; i < n; i++ {
			f = f.Times(float64(i))
			sum = sum.Add(wideLog(f))
		}
		return sum
	}
	if want := c(n).Times(4).Sub(c(2 * n)); math.Abs(l.LogDet().Sub(want).Hi) > 1e-14 {
		t.Errorf("log det = %v, want %v", l.LogDet(), want)
	}
	inv := l.Invert()
	// The first entry of the inverse is n².
	if d := inv.Inverse(0, 0).Sub(doubled.Of(n * n)).Hi; math.Abs(d) > 1e-13*n*n {
		t.Errorf("H⁻¹[0][0] errs by %v", d)
	}
	b := make([]wide, n)
	for i := range b {
		for j := range i + 1 {
			b[i] = b[i].Add(a[i][j])
		}
		for j := i + 1; j < n; j++ {
			b[i] = b[i].Add(a[j][i])
		}
	}
	for i, x := range inv.MulTrans(l.Solve(b)) { // H·1 = b
		if math.Abs(x.Sub(doubled.Of(1)).Hi) > 1e-13 {
			t.Errorf("x[%d] = %v, want 1", i, x)
		}
	}
	if err := newWideLower(2).Cholesky(); err == nil {
		t.Error("the zero matrix was factorised")
	}
}

func BenchmarkWideExp(b *testing.B) {
	x := doubled.Of(-3.3)
	for b.Loop() {
		wideExp(x)
	}
}

func BenchmarkWideSinCosPi(b *testing.B) {
	x := doubled.Of(1).Div(doubled.Of(7))
	for b.Loop() {
		wideSinCosPi(x)
	}
}
