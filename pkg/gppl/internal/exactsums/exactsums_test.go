package exactsums

import (
	"encoding/binary"
	"hash/crc64"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

func mustPlan(t testing.TB, highest int, units Units) *Plan {
	t.Helper()
	p, err := NewPlan(-0.58, 2.16, highest, 0, 1, units)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// points returns n points on [0, 1], clustered if asked to, values within ±3 of 5, and
// weights in (0, 1].
func points(rnd *rand.Rand, n int) (t, y, w []float64) {
	clusters := rnd.IntN(3) == 0
	for range n {
		v := rnd.Float64()
		if clusters {
			v = 0.1*float64(rnd.IntN(5)) + 1e-6*v
		}
		t, y, w = append(t, v), append(y, 5+max(-3, min(3, rnd.NormFloat64()))), append(w, 1-rnd.Float64())
	}
	return t, y, w
}

var plainUnits, weightUnits = Units{5, 4, 0}, Units{5, 4, 1}

// TestAgainstDirect compares with sums term by term, of 4e-16 each.
func TestAgainstDirect(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var worst float64
	for trial := range 60 {
		n := 1 + rnd.IntN(3000)
		m := 12 + rnd.IntN(400)
		x, y, w := points(rnd, n)
		units := weightUnits
		if trial%2 == 0 {
			w, units = nil, plainUnits
		}
		p := mustPlan(t, m, units)
		s := p.New()
		p.Add(s, x, y, w)

		columns := blas64.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float64, 2*n)}
		var absE, absF float64
		yy, logW := new(big.Float).SetPrec(200), 0.0
		for i := range n {
			u := 1.0
			if w != nil {
				u = w[i]
				logW += math.Log(u)
			}
			v := y[i] - 5
			columns.Data[2*i], columns.Data[2*i+1] = u, u*v
			absE += u
			absF += math.Abs(u * v)
			term := new(big.Float).SetPrec(200).SetFloat64(v)
			term.Mul(term, term).Mul(term, big.NewFloat(u))
			yy.Add(yy, term)
		}
		want := blas64.General{Rows: 2 * (2*m + 1), Cols: 2, Stride: 2, Data: make([]float64, 4*(2*m+1))}
		fourier.NewPoints(x, -0.58, 2.16).Direct(want, columns, 0)
		e, f := p.Moments(s), p.Values(s)
		if len(e) != 2*(2*m+1) || len(f) != 2*(m+1) {
			t.Fatalf("%d moments, %d sums for M = %d", len(e), len(f), m)
		}
		for j, v := range e {
			d := math.Abs(v-want.Data[2*j]) / absE
			if worst = max(worst, d); !(d <= 3e-15) {
				t.Fatalf("n=%d M=%d: E[%d] = %v, want %v: off by %.2g", n, m, j, v, want.Data[2*j], d)
			}
		}
		for j, v := range f {
			d := math.Abs(v-want.Data[2*j+1]) / absF
			if worst = max(worst, d); !(d <= 3e-15) {
				t.Fatalf("n=%d M=%d: F[%d] = %v, want %v: off by %.2g", n, m, j, v, want.Data[2*j+1], d)
			}
		}
		if e0, f0 := p.Totals(s); !(math.Abs(e0-want.Data[0]) <= 3e-15*absE) || !(math.Abs(f0-want.Data[1]) <= 3e-15*absF) {
			t.Errorf("n=%d M=%d: totals %v and %v, want %v and %v", n, m, e0, f0, want.Data[0], want.Data[1])
		}
		exact, _ := yy.Float64()
		if got := p.Squares(s); math.Abs(got-exact) > 3e-16*exact {
			t.Errorf("n=%d: Σw·y² = %v, want %v", n, got, exact)
		}
		if got := p.LogWeights(s); math.Abs(got-logW) > 1e-15*float64(n)+1e-14*math.Abs(logW) {
			t.Errorf("n=%d: Σ log w = %v, want %v", n, got, logW)
		}
	}
	t.Logf("sums are off by at most %.2g of the sum of absolute values", worst)
}

// TestLog compares logarithms over all exponents.
func TestLog(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	p := mustPlan(t, 12, Units{0, 1, 1})
	for range 10000 {
		w := math.Ldexp(1-0.5*rnd.Float64(), -rnd.IntN(1000))
		var s Sum
		s.log(w)
		if got, want := p.LogWeights(&s), math.Log(w); math.Abs(got-want) > 3e-16+3e-16*math.Abs(want) {
			t.Fatalf("log %v = %v, want %v", w, got, want)
		}
	}
}

// TestBits wants the same integers from any split in any order, merged in any tree, and
// the empty sum from what is subtracted again.
func TestBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		x, y, w := points(rnd, 1+rnd.IntN(2000))
		units := weightUnits
		if trial%2 == 0 {
			w, units = nil, plainUnits
		}
		p := mustPlan(t, 12+rnd.IntN(300), units)
		whole := p.New()
		p.Add(whole, x, y, w)

		order := rnd.Perm(len(x))
		pick := func(v []float64, idx []int) (out []float64) {
			if v == nil {
				return nil
			}
			for _, i := range idx {
				out = append(out, v[i])
			}
			return out
		}
		parts := make([]*Sum, 1+rnd.IntN(20))
		for k := range parts {
			parts[k] = p.New()
			idx := order[len(order)*k/len(parts) : len(order)*(k+1)/len(parts)]
			for len(idx) > 0 {
				c := 1 + rnd.IntN(len(idx))
				p.Add(parts[k], pick(x, idx[:c]), pick(y, idx[:c]), pick(w, idx[:c]))
				idx = idx[c:]
			}
		}
		total := p.New()
		for _, k := range rnd.Perm(len(parts)) {
			total.Merge(parts[k])
		}
		same := func(a, b *Sum) bool {
			return a.N == b.N && reflect.DeepEqual(a.Cells, b.Cells) && a.YY == b.YY && a.LogW == b.LogW
		}
		if !same(whole, total) {
			t.Fatalf("trial %d: %d points in %d parts: other bits", trial, len(x), len(parts))
		}
		for k, part := range parts {
			if !total.Holds(part) {
				t.Fatalf("part %d is not held", k)
			}
			total.Subtract(part)
		}
		if !same(total, p.New()) {
			t.Fatalf("trial %d: something is left of nothing", trial)
		}
		if other := p.New(); len(x) > 1 {
			p.Add(other, x[:1], y[1:2], pick(w, []int{0}))
			first := p.New()
			p.Add(first, x[:1], y[:1], pick(w, []int{0}))
			if first.Holds(other) {
				t.Fatal("one point holds another")
			}
		}
	}
}

// TestGolden pins the bits, which files depend on. They must not change without a new
// version of the format, on any processor.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		units Units
		want  uint64
	}{{plainUnits, 0x4b61dc445ab3350b}, {weightUnits, 0x77d2a15cf0352f0a}} {
		p := mustPlan(t, 37, c.units)
		s := p.New()
		var x, y, w []float64
		for i := range 500 {
			x, y, w = append(x, math.Mod(float64(i)*0.6180339887498949, 1)), append(y, 2+math.Mod(float64(i*i)*0.7548776662466927, 6)),
				append(w, 1/float64(i+1))
		}
		if c.units.Weight == 0 {
			w = nil
		}
		p.Add(s, x, y, w)
		h := crc64.New(crc64.MakeTable(crc64.ECMA))
		for _, part := range [][]uint64{{s.N}, s.Cells, s.YY[:], s.LogW[:]} {
			if err := binary.Write(h, binary.LittleEndian, part); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.Sum64(); got != c.want {
			t.Errorf("units %v: %#x, want %#x", c.units, got, c.want)
		}
	}
}

func TestExtent(t *testing.T) {
	p := mustPlan(t, 200, plainUnits)
	s := p.New()
	if _, _, ok := p.Extent(s); ok {
		t.Error("no points have an extent")
	}
	p.Add(s, []float64{0.25, 0.5}, []float64{5, 5}, nil)
	first, last, _ := p.Extent(s)
	step := 1 / float64(p.Size())
	if a, b := (0.25+0.58)/2.16, (0.5+0.58)/2.16; !(first <= a && a-first < 3*step && last >= b && last-b < 3*step) {
		t.Errorf("extent %v … %v, points at %v and %v, step %v", first, last, a, b, step)
	}
}

func TestPlanErrors(t *testing.T) {
	if _, err := NewPlan(0, 1, 100, 0, 0.5, plainUnits); err == nil {
		t.Error("a range that begins with the period is no error")
	}
	if _, err := NewPlan(-0.2, 1.2, 100, 0, 1, plainUnits); err == nil {
		t.Error("a range that ends with the period is no error")
	}
}
