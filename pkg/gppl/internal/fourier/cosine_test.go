package fourier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// series evaluates Σ_m c_m cos(2πmj/N) for all j, by its definition.
func series(c []float64) []float64 {
	size := 2 * (len(c) - 1)
	return fill(len(c), func(j int) float64 {
		var s compensated
		for m, v := range c {
			s.add(v * math.Cos(2*math.Pi*float64(m*j%size)/float64(size)))
		}
		return s.value()
	})
}

func TestCosine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 2 * rapid.OneOf(rapid.IntRange(1, 70), rapid.SampledFrom([]int{128, 135, 240, 256, 500})).Draw(t, "half")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		normal := func(int) float64 { return rnd.NormFloat64() }
		plan := NewCosine(size)
		want := fill(plan.Len(), normal)
		g, got := series(want), make([]float64, plan.Len())
		plan.Coefficients(got, g)
		if d := floats.Distance(got, want, math.Inf(1)); !(d < 1e-13) {
			t.Errorf("size %d: coefficients differ by %g", size, d)
		}
		plan.Values(got, want)
		if d := floats.Distance(got, g, math.Inf(1)); !(d < 1e-14*floats.Norm(want, 1)+1e-14) {
			t.Errorf("size %d: values differ by %g", size, d)
		}
		// The map is its own adjoint: ⟨q, Cg⟩ = ⟨Cq, g⟩.
		q, adjoint := fill(plan.Len(), normal), make([]float64, plan.Len())
		plan.Coefficients(got, g)
		plan.Coefficients(adjoint, q)
		a, b := floats.Dot(q, got), floats.Dot(adjoint, g)
		if scale := floats.Norm(q, 2) * floats.Norm(got, 2); math.Abs(a-b) > 1e-13*scale {
			t.Errorf("size %d: ⟨q, Cg⟩ = %v, ⟨Cq, g⟩ = %v", size, a, b)
		}
		plan.Coefficients(g, g) // in place
		if !floats.Same(g, got) {
			t.Errorf("size %d: another result in place", size)
		}
	})
}

// The coefficients of a Gaussian, known in closed form: the error must stay
// near rounding, at any size of the grid.
func TestCosineAccuracy(t *testing.T) {
	for _, size := range []int{200, 1000, 2048, 4096, 65536} {
		const l = 0.03 // share of the period
		plan := NewCosine(size)
		g := fill(plan.Len(), func(j int) float64 {
			d := float64(j) / float64(size) / l
			return math.Exp(-d * d / 2)
		})
		c := make([]float64, plan.Len())
		plan.Coefficients(c, g)
		var worst float64
		for m, v := range c {
			a := 2 * math.Pi * float64(m) * l
			want := 2 * l * math.Sqrt(2*math.Pi) * math.Exp(-a*a/2)
			if m == 0 {
				want /= 2
			}
			if m == size/2 {
				continue
			}
			worst = max(worst, math.Abs(v-want))
		}
		t.Logf("N=%d: error %.2g of c_1", size, worst/c[1])
		if !(worst < 1e-15*c[1]) {
			t.Errorf("N=%d: error %.3g of c_1", size, worst/c[1])
		}
	}
}

func TestCosineAllocates(t *testing.T) {
	plan := NewCosine(1000)
	g := make([]float64, plan.Len())
	if n := testing.AllocsPerRun(10, func() { plan.Coefficients(g, g); plan.Values(g, g) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestAlong compares the products with a run of features with the Gram matrix.
func TestAlong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	moments := NewPoints(fill(200, func(int) float64 { return 1000 * rnd.Float64() }), 3, 1080).Moments(2*60, 1e-13)
	var s Mirrored
	s.Set(moments)
	rows := make([]Feature, 2*61)
	for i := range rows {
		rows[i] = Feature(i)
	}
	for _, first := range []Feature{Cos(0), Sin(0), Cos(7), Sin(40)} {
		weights, cols := fill(20, func(int) float64 { return rnd.NormFloat64() }), make([]Feature, 20)
		for k := range cols {
			cols[k] = first + Feature(2*k)
		}
		gram, got := dense.New(len(rows), len(cols)), dense.New(len(rows), 3)
		moments.Gram(gram, rows, cols)
		s.Along(dense.Column(got, 1), rows, first, weights, 0.7)
		for i := range rows {
			want := 0.7 * blas64.Dot(dense.Vec(weights), dense.Row(gram, i))
			if d := math.Abs(got.Data[3*i+1] - want); !(d < 1e-11*200) {
				t.Errorf("feature %d with a run from %d: %v, want %v", i, first, got.Data[3*i+1], want)
			}
		}
	}
}

func TestGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		features := func(label string) []Feature {
			var fs []Feature
			for _, f := range rapid.SliceOfN(rapid.IntRange(0, 801), 1, 20).Draw(t, label) {
				fs = append(fs, Feature(f))
			}
			return fs
		}
		rows, cols := features("rows"), features("columns")
		x := fill(n, func(int) float64 { return 1000 * rnd.Float64() })
		value := func(f Feature, x float64) float64 {
			sin, cos := math.Sincos(2 * math.Pi * math.Mod(float64(f.Frequency())*((x-3)/1080), 1))
			if f.IsSin() {
				return sin
			}
			return cos
		}
		top := 0
		for _, f := range append(append([]Feature{}, rows...), cols...) {
			top = max(top, f.Frequency())
		}
		moments := NewPoints(x, 3, 1080).Moments(2*top, 1e-13)
		got := randomGeneral(len(rows), len(cols), len(cols)+1, rnd)
		moments.Gram(got, rows, cols)
		for i, a := range rows {
			for j, b := range cols {
				var want float64
				for _, v := range x {
					want += value(a, v) * value(b, v)
				}
				if d := math.Abs(got.Data[i*got.Stride+j] - want); !(d <= 1e-12*float64(n)) {
					t.Errorf("features %d and %d of %d points: %v, want %v", a, b, n, got.Data[i*got.Stride+j], want)
				}
			}
		}
	})
}

func TestFeature(t *testing.T) {
	if f := Cos(7); f != 14 || f.IsSin() || f.Frequency() != 7 {
		t.Errorf("cos 7: %d", f)
	}
	if f := Sin(7); f != 15 || !f.IsSin() || f.Frequency() != 7 {
		t.Errorf("sin 7: %d", f)
	}
	// Rows of Sums are features.
	p := NewPoints([]float64{0.1}, 0, 1)
	sums := dense.New(2*4, 1)
	p.Sums(sums, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}, 0, 1e-12)
	if d := sums.Data[Sin(3)] - math.Sin(2*math.Pi*0.3); math.Abs(d) > 1e-12 {
		t.Errorf("sin 3: off by %g", d)
	}
}

// Values sets dst to the samples g_j = Σ_m c_m cos(2πmj/N) of the series with
// coefficients coef: the inverse of Coefficients. dst may be coef.
func (c *Cosine) Values(dst, coef []float64) {
	// g = N·D⁻¹·Coefficients(D⁻¹c), D = diag(ε): both are D⁻¹ away from Σ cos.
	if len(dst) != c.n+1 || len(coef) != c.n+1 {
		panic(fmt.Sprintf("fourier: %d samples of %d coefficients by a plan for %d", len(dst), len(coef), c.n+1))
	}
	half := func(x []float64) {
		for i := 1; i < c.n; i++ {
			x[i] *= 0.5
		}
	}
	copy(dst, coef)
	half(dst)
	c.Coefficients(dst, dst)
	half(dst)
	for i := range dst {
		dst[i] *= 2 * float64(c.n)
	}
}

// Len returns N/2+1, the number of samples and of coefficients.
func (c *Cosine) Len() int { return c.n + 1 }
