package waves

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestHarmonics: the weights add up to exp(−2 sin²(πr/p)/l²), and their derivatives to its derivative, for a single harmonic and
// for hundreds of them.
func TestHarmonics(t *testing.T) {
	for _, l := range []float64{0.02, 0.3, 1, 7, 1e3} {
		last := LastHarmonic(l, 1e-14)
		if last < 0 {
			t.Fatalf("l = %v: no last harmonic", l)
		}
		a := make([]float64, last+1)
		Harmonics(a, l)
		for _, phase := range []float64{0, 0.01, 0.2, 0.5} {
			w := make([]float64, len(a))
			var sum float64
			for j := range w {
				w[j] = math.Cos(2 * math.Pi * float64(j) * phase)
				sum += a[j] * w[j]
			}
			u := 2 * math.Pow(math.Sin(math.Pi*phase)/l, 2)
			if want := math.Exp(-u); !(math.Abs(sum-want) <= 1e-12) {
				t.Errorf("l = %v, phase %v: %v, want %v", l, phase, sum, want)
			}
			if got, want := ContractHarmonics(w, l), 2*u*math.Exp(-u); !(math.Abs(got-want) <= 1e-11*(1+1/l)) {
				t.Errorf("l = %v, phase %v: derivative %v, want %v", l, phase, got, want)
			}
		}
	}
	if last := LastHarmonic(1e-7, 1e-14); last >= 0 {
		t.Errorf("%d harmonics of a tiny lengthscale, want them beyond counting", last)
	}
}

// TestLines: the waves of widened lines add up to the function up to the span, and their derivatives to its derivatives, for
// lines that lie apart and for those that run into one another.
func TestLines(t *testing.T) {
	const span = 30.0
	for _, k := range []Lines{
		{1.3, 4, 4, []float64{1}}, {1, 300, 0.7, []float64{0.5, 0.3, 0, 0.2}}, {0.7, 2, 3, []float64{0.1, 0.9}},
		{1, 1e4, 500, []float64{0, 1}},
	} {
		period, bands := BandsOf(k, []Band(nil), span, 1e-13)
		if bands == nil || !(period >= span) {
			t.Fatalf("%v: no bands", k)
		}
		c := make([]float64, Count(bands))
		Coefficients(k, c, period, bands)
		for _, r := range []float64{0, 0.3, 4, 11, span} {
			var sum float64
			w, at := make([]float64, len(c)), 0
			for _, b := range bands {
				for m := b.From; m <= b.To; m++ {
					w[at] = math.Cos(2 * math.Pi * float64(m) * r / period)
					sum += c[at] * w[at]
					at++
				}
			}
			value := func(k Lines) (v float64) {
				for j, a := range k.Weights {
					v += a * math.Cos(2*math.Pi*float64(j)*r/k.Period)
				}
				return v * k.Variance * math.Exp(-0.5*r*r/(k.Lengthscale*k.Lengthscale))
			}
			if want := value(k); !(math.Abs(sum-want) <= 1e-11) {
				t.Errorf("%v, r = %v: %v, want %v", k, r, sum, want)
			}
			lines := make([]float64, len(k.Weights))
			v, l, p := Contract(k, lines, w, period, bands)
			const h = 1e-5
			difference := func(move func(k *Lines, factor float64)) float64 {
				a, b := k, k
				move(&a, math.Exp(h))
				move(&b, math.Exp(-h))
				return (value(a) - value(b)) / (2 * h)
			}
			for name, c := range map[string][2]float64{
				"variance":    {v, difference(func(k *Lines, f float64) { k.Variance *= f })},
				"lengthscale": {l, difference(func(k *Lines, f float64) { k.Lengthscale *= f })},
				"period":      {p, difference(func(k *Lines, f float64) { k.Period *= f })},
			} {
				if steep := 1 + 2*math.Pi*r/k.Period; !(math.Abs(c[0]-c[1]) <= 1e-7*steep*steep*steep) {
					t.Errorf("%v, r = %v: derivative in the %s %v, want %v", k, r, name, c[0], c[1])
				}
			}
		}
	}
}

// TestScales: the terms of a rational quadratic function add up to it, and so do their derivatives, whatever α is. It fails if
// the rule has a step too many, or ends too early.
func TestScales(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 3))
	for range testkit.Size(300, 1000, 10000) {
		const v, l = 1.3, 0.7
		alpha := LeastAlpha * math.Pow(MostAlpha/LeastAlpha, rnd.Float64())
		m, ok := NewScales(v, l, alpha)
		if !ok {
			t.Fatal(alpha)
		}
		r := []float64{l * math.Pow(10, 6*rnd.Float64()-3)}
		var got float64
		grad := make([]float64, 3)
		cut := l * math.Pow(10, rnd.Float64()-0.5)
		for _, part := range []Scales{m.Between(0, cut, false), m.Between(cut, math.Inf(1), false)} {
			cov, slope := make([]float64, 1), make([]float64, 1)
			part.Cov(cov, r)
			got += cov[0]
			part.Contract(grad, []float64{1}, r)
			part.Slope(slope, r)
			const h = 1e-6
			near := []float64{r[0] * (1 - h), r[0] * (1 + h)}
			part.Cov(near, near)
			if want := (near[1] - near[0]) / (2 * h * r[0]); !(math.Abs(slope[0]-want) <= 1e-8/r[0]) {
				t.Errorf("α = %v, r = %v: slope %v, by differences %v", alpha, r[0], slope[0], want)
			}
		}
		u := r[0] * r[0] / (2 * alpha * l * l)
		want := v * math.Exp(-alpha*math.Log1p(u))
		if off := math.Abs(got - want); !(off <= ScaleRounding) {
			t.Errorf("α = %v, r = %v: the terms add up to %v, want %v, off by %.2g", alpha, r[0], got, want, off)
		}
		for p, want := range []float64{want, want * 2 * alpha * u / (1 + u), want * alpha * (u/(1+u) - math.Log1p(u))} {
			if off := math.Abs(grad[p] - want); !(off <= 1e-12*(1+alpha)) {
				t.Errorf("α = %v, r = %v: derivative %d is %v, want %v, off by %.2g", alpha, r[0], p, grad[p], want, off)
			}
		}
	}
	if _, ok := NewScales(1, 1, 2*MostAlpha); ok {
		t.Error("α beyond its bound is taken")
	}
}
