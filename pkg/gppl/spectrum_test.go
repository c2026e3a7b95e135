package gppl_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// evenNoise returns n even times with white noise and f.
func evenNoise(n int, noise float64, seed uint64, f func(x float64) float64) gppl.Data {
	rnd := rand.New(rand.NewPCG(seed, 31))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
		y[i] = f(x[i]) + noise*rnd.NormFloat64()
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}
}

// TestSpectralCost compares the estimate without a loss with the loss's own.
func TestSpectralCost(t *testing.T) {
	d := evenNoise(2000, 0.3, 1, func(x float64) float64 { return math.Sin(x / 20) })
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}
	for _, k := range []int{60, 120} {
		p := testkit.Must(gppl.SpectralProjection(t.Context(), d.X, k))(t)
		_, want := testkit.Must(gppl.NewResidual(t.Context(), m, d, p))(t).Cost(m.Values())
		if got := m.SpectralCost(d.X, k); !(got < 5*want && got > want/5) {
			t.Errorf("%d columns: %v s, the loss predicts %v s", k, got, want)
		}
	}
	if s := (gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 20}, Noise: 1e-6}).SpectralCost(d.X, 60); !math.IsInf(s,
		1) {
		t.Errorf("Laplace below a small noise: %v s", s)
	}
}

// TestColoured wants the columns that cover a wave beyond the projections, and none where the remainder is white.
func TestColoured(t *testing.T) {
	const period = 4.0
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}
	for _, height := range []float64{0, 0.5} {
		d := evenNoise(1000, 0.3, 2, func(x float64) float64 { return math.Sin(x/20) + height*math.Sin(2*math.Pi*x/period) })
		l := testkit.Must(gppl.NewResidual(t.Context(), m, d, testkit.Must(gppl.SpectralProjection(t.Context(), d.X, 100))(t)))(t)
		columns, nats := l.Coloured(d.X)
		if least := int(2 * 1000 / period); height > 0 && (columns < least || nats < 8) || height == 0 && (columns != 0 || nats != 0) {
			t.Errorf("a wave of height %v: %d columns, %v nats", height, columns, nats)
		}
		if columns, _ := testkit.Must(gppl.NewProjected(t.Context(), m, d, testkit.Must(gppl.SpectralProjection(t.Context(), d.X,
			100))(t)))(t).Coloured(d.X); columns != 0 {
			t.Errorf("without the residual: %d columns", columns)
		}
	}
}

// TestSpectralColumnsOfSums wants as many columns from sums as from the observations, and an error from none.
func TestSpectralColumnsOfSums(t *testing.T) {
	d := evenNoise(500, 0.3, 3, func(x float64) float64 { return math.Sin(x / 20) })
	s := sumsOf(t, sums.Range{Lo: 0, Hi: 499, Shortest: 2, Largest: 8}, d)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 10}, Noise: 0.1}
	got, want := testkit.Must(m.SpectralColumns(gppl.SumsData(s, 0), 0.1))(t), testkit.Must(m.SpectralColumns(gppl.Data{X: d.X}, 0.1))(t)
	if s.Weight() != 500 || got != want {
		t.Errorf("%d columns from sums of %v, %d from the observations", got, s.Weight(), want)
	}
	if _, err := m.SpectralColumns(gppl.SumsData(testkit.Must(sums.New(s.Header()))(t), 0), 0.1); err == nil {
		t.Error("columns of no observations: no error")
	}
}

// TestOneValue distinguishes sums dominated by one value from sums of noise and of a signal.
func TestOneValue(t *testing.T) {
	for what, c := range map[string]struct {
		f    func(x float64) float64
		want bool
	}{
		"noise":    {func(float64) float64 { return 0 }, false},
		"a signal": {func(x float64) float64 { return math.Sin(x / 5) }, false},
		"a spike": {func(x float64) float64 {
			if x == 117 {
				return 100
			}
			return 0
		}, true},
	} {
		s := sumsOf(t, sums.Range{Lo: 0, Hi: 499, Shortest: 2, Largest: 200}, evenNoise(500, 0.3, 4, c.f))
		if s.OneValue() != c.want {
			t.Errorf("%s: one value is %v", what, !c.want)
		}
	}
}
