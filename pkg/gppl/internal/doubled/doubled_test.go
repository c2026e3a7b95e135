package doubled

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const precision = 300

func wide(x Float) *big.Float {
	return new(big.Float).SetPrec(precision).Add(new(big.Float).SetPrec(precision).SetFloat64(x.Hi), new(big.Float).SetFloat64(x.Lo))
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// offBy returns |got − want| over max(|want|, floor).
func offBy(got Float, want *big.Float, floor float64) float64 {
	d := new(big.Float).SetPrec(precision).Sub(wide(got), want)
	w, _ := want.Float64()
	f, _ := d.Float64()
	return math.Abs(f) / max(math.Abs(w), floor)
}

// series returns Σ x^i/i! over i = first, first+step, …, with alternating signs
// if asked to: exp, sin and cos.
func series(x *big.Float, first, step int, alternate bool) *big.Float {
	sum, term := number(0), number(1)
	for i := range 400 {
		if i > 0 {
			term = new(big.Float).SetPrec(precision).Quo(new(big.Float).SetPrec(precision).Mul(term, x), number(float64(i)))
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

func bigExp(x *big.Float) *big.Float {
	// exp(x) = exp(x/2^11)^(2^11): the series converges at once.
	r := new(big.Float).SetPrec(precision).Quo(x, number(2048))
	e := series(r, 0, 1, false)
	for range 11 {
		e.Mul(e, e)
	}
	return e
}

func randomFloat(rnd *rand.Rand, scale float64) Float {
	hi := scale * (2*rnd.Float64() - 1)
	return quickTwoSum(hi, hi*0x1p-54*(2*rnd.Float64()-1))
}

// TestArithmetic holds the operations to big.Float.
func TestArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	worst := map[string]float64{}
	note := func(name string, e float64) { worst[name] = max(worst[name], e) }
	for range 20000 {
		a := randomFloat(rnd, math.Exp(40*rnd.Float64()-20))
		b := randomFloat(rnd, math.Exp(40*rnd.Float64()-20))
		z := func() *big.Float { return new(big.Float).SetPrec(precision) }
		note("add", offBy(a.Add(b), z().Add(wide(a), wide(b)), 0))
		note("sub", offBy(a.Sub(b), z().Sub(wide(a), wide(b)), 0))
		note("mul", offBy(a.Mul(b), z().Mul(wide(a), wide(b)), 0))
		note("times", offBy(a.Times(b.Hi), z().Mul(wide(a), number(b.Hi)), 0))
		note("div", offBy(a.Div(b), z().Quo(wide(a), wide(b)), 0))
		note("sqrt", offBy(a.Abs().Sqrt(), z().Sqrt(wide(a.Abs())), 0))
		note("difference", offBy(Difference(a.Hi, b.Hi), z().Sub(number(a.Hi), number(b.Hi)), 0))
	}
	for name, e := range worst {
		if e > 0x1p-101 {
			t.Errorf("%s errs by %.3g", name, e)
		}
	}
}

// TestFunctions holds exp, log, sin and cos to their series in big.Float.
func TestFunctions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 0))
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651", 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if e := offBy(Pi, pi, 0); e > 0x1p-105 {
		t.Errorf("π errs by %.3g", e)
	}
	if e := offBy(Exp(Log2π), new(big.Float).SetPrec(precision).Mul(pi, number(2)), 0); e > 1e-30 {
		t.Errorf("exp(log 2π) errs by %.3g", e)
	}
	for range 300 {
		x := randomFloat(rnd, math.Exp(13*rnd.Float64()-6.6))
		want := bigExp(wide(x))
		if e := offBy(Exp(x), want, 0); e > 1e-31*max(1, math.Abs(x.Hi)) {
			t.Errorf("exp(%v) errs by %.3g", x, e)
		}
		// log is the inverse of a function that is known to be right.
		p := randomFloat(rnd, math.Exp(60*rnd.Float64()-30)).Abs()
		if e := offBy(p, bigExp(wide(Log(p))), 0); e > 1e-31*max(1, math.Abs(math.Log(p.Hi))) {
			t.Errorf("log(%v) errs by %.3g", p, e)
		}
		// t up to 10^12 turns, reduced in big.Float by itself.
		turns := randomFloat(rnd, math.Exp(29*rnd.Float64()))
		whole := math.Round(turns.Hi/2) * 2
		f := new(big.Float).SetPrec(precision).Sub(wide(turns), number(whole))
		f.Mul(f, pi)
		sin, cos := SinCosPi(turns)
		if e := offBy(sin, series(f, 1, 2, true), 1); e > 1e-31 {
			t.Errorf("sin(π·%v) errs by %.3g", turns, e)
		}
		if e := offBy(cos, series(f, 0, 2, true), 1); e > 1e-31 {
			t.Errorf("cos(π·%v) errs by %.3g", turns, e)
		}
	}
	// Sines keep their relative digits next to whole turns.
	if s, _ := SinCosPi(Float{1e6, 1e-12}); math.Abs(s.Hi/(math.Pi*1e-12)-1) > 1e-15 {
		t.Errorf("sin(π·(10⁶ + 10⁻¹²)) = %v", s)
	}
}

// TestCholesky factorises a Hilbert matrix, whose condition (1e16 for n = 12)
// float64 cannot bear, and multiplies it out again; its determinant and inverse
// are known.
func TestCholesky(t *testing.T) {
	const n = 12
	a, l := NewLower(n), NewLower(n)
	for i := range n {
		for j := range i + 1 {
			a[i][j] = Of(1).Div(Of(float64(i + j + 1)))
		}
		copy(l[i], a[i])
	}
	if err := l.Cholesky(); err != nil {
		t.Fatal(err)
	}
	// det H_n = c_n⁴/c_2n, c_n = Π_{i<n} i!
	c := func(n int) (sum Float) {
		f := Of(1)
		for i := 1; i < n; i++ {
			f = f.Times(float64(i))
			sum = sum.Add(Log(f))
		}
		return sum
	}
	if want := c(n).Times(4).Sub(c(2 * n)); math.Abs(l.LogDet().Sub(want).Hi) > 1e-14 {
		t.Errorf("log det = %v, want %v", l.LogDet(), want)
	}
	inv := l.Invert()
	// The first entry of the inverse is n².
	if d := inv.Inverse(0, 0).Sub(Of(n * n)).Hi; math.Abs(d) > 1e-13*n*n {
		t.Errorf("H⁻¹[0][0] errs by %v", d)
	}
	b := make([]Float, n)
	for i := range b {
		for j := range i + 1 {
			b[i] = b[i].Add(a[i][j])
		}
		for j := i + 1; j < n; j++ {
			b[i] = b[i].Add(a[j][i])
		}
	}
	for i, x := range inv.MulTrans(l.Solve(b)) { // H·1 = b
		if math.Abs(x.Sub(Of(1)).Hi) > 1e-13 {
			t.Errorf("x[%d] = %v, want 1", i, x)
		}
	}
	if err := NewLower(2).Cholesky(); err == nil {
		t.Error("the zero matrix was factorised")
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]Float, 1000), make([]Float, 1000)
	for i := range x {
		x[i], y[i] = Of(1).Div(Of(float64(i+1))), Of(float64(i)).Sqrt()
	}
	var s Float
	for b.Loop() {
		s = s.Add(Dot(x, y))
	}
	_ = s
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/term")
}

func BenchmarkExp(b *testing.B) {
	x := Of(-3.3)
	for b.Loop() {
		Exp(x)
	}
}

func BenchmarkSinCosPi(b *testing.B) {
	x := Of(1).Div(Of(7))
	for b.Loop() {
		SinCosPi(x)
	}
}
