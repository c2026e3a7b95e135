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
