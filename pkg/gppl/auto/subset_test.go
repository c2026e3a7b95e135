package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func searchData(n int) gppl.Data {
	rnd := rand.New(rand.NewPCG(4, 4))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.3*rnd.Float64()
		y[i] = math.Sin(x[i]/5) + math.Sin(x[i]) + 0.2*rnd.NormFloat64()
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}
}

func TestBlocks(t *testing.T) {
	d := searchData(500)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}
	b, err := newBlocks(t.Context(), m, d, 400, 64)
	if err != nil {
		t.Fatal(err)
	}
	if b.whole() || b.n != 3*64 {
		t.Fatalf("%d parts, n = %d", len(b.parts), b.n)
	}
	theta := m.Values()
	grad := make([]float64, len(theta))
	if _, err := b.ValueGrad(t.Context(), grad, theta); err != nil {
		t.Fatal(err)
	}
	for i := range theta {
		const h = 1e-5
		var side [2]float64
		for j, s := range []float64{h, -h} {
			at := append([]float64(nil), theta...)
			at[i] += s * theta[i]
			side[j] = testkit.Must(b.ValueGrad(t.Context(), nil, at))(t)
		}
		if want := (side[0] - side[1]) / (2 * h * theta[i]); math.Abs(grad[i]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("derivative %d: %v, by differences %v", i, grad[i], want)
		}
	}
}

func TestInterval(t *testing.T) {
	b := interval{2, 90}
	for _, u := range []float64{-700, -3, 0, 0.5, 4, 700} {
		theta := b.Natural(u)
		if !(theta >= 2 && theta <= 90.0000001) {
			t.Errorf("θ(%v) = %v", u, theta)
		}
		const h = 1e-6
		if want := (b.Natural(u+h) - b.Natural(u-h)) / (2 * h); math.Abs(b.Slope(u)-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("slope at %v: %v, by differences %v", u, b.Slope(u), want)
		}
		if math.Abs(u) < 10 && math.Abs(b.Raw(theta)-u) > 1e-9*(1+math.Abs(u)) {
			t.Errorf("u(θ(%v)) = %v", u, b.Raw(theta))
		}
	}
	for _, theta := range []float64{1e-9, 2, 90, 1e9} {
		if u := b.Raw(b.inside(theta)); !numeric.IsFinite(u) || !atEnd(gppl.Param{Value: theta, Transform: b}) {
			t.Errorf("%v: inside at %v, u = %v", theta, b.inside(theta), u)
		}
	}
}
