package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// drawOf returns a draw of a kernel at 150 times from 0 to 100, and the model that drew it.
func drawOf(t testing.TB, k gppl.Kernel, even bool, seed uint64) (*series.Series, gppl.Model) {
	t.Helper()
	const n = 150
	rnd := rand.New(rand.NewPCG(seed, n))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) * 2 / 3
		if !even {
			x[i] = 100 * rnd.Float64()
		}
	}
	slices.Sort(x)
	m := gppl.Model{Kernel: k, Noise: 0.01}
	draw, err := m.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	return &series.Series{X: x, Y: y, Step: 100. / n}, m
}

// TestFitFindsDraws: a named kernel finds the parameters of its own draw, or likelier ones. Training from the start values alone
// ended more than a hundred nats above for every draw but the last, and was called converged.
func TestFitFindsDraws(t *testing.T) {
	slow := gppl.SE{Variance: 1, Lengthscale: 30}
	for i, c := range []struct {
		name   string
		kernel gppl.Kernel
		even   bool
		seed   uint64
	}{
		{"LocPer", gppl.LocPer{Variance: 1, Lengthscale: 300, Period: 17, PeriodicLengthscale: 0.3}, true, 4},
		{"Periodic", gppl.Periodic{Variance: 1, Period: 13, Lengthscale: 0.25}, true, 3},
		{"SE + Periodic", gppl.Add(slow, gppl.Periodic{Variance: 1, Period: 5.3, Lengthscale: 0.4}), false, 1},
		{"SE + LocPer", gppl.Add(slow, gppl.LocPer{Variance: 1, Lengthscale: 80, Period: 4.1, PeriodicLengthscale: 0.5}), true, 3},
		{"SE + Periodic", gppl.Add(slow, gppl.Periodic{Variance: 1, Period: 5.3, Lengthscale: 0.4}), true, 2},
	} {
		if testkit.Quick() && i > 1 && i != 4 {
			continue
		}
		s, truth := drawOf(t, c.kernel, c.even, c.seed)
		a, err := Fit(t.Context(), s, Options{Kernels: []string{c.name}, Trend: "none", Log: "never"})
		if err != nil {
			t.Fatal(err)
		}
		v, err := search.NewYScale(s, 0, len(s.X), false)
		if err != nil {
			t.Fatal(err)
		}
		at := rescaled(truth, 1/(v.Scaling.Scale*v.Scaling.Scale))
		exact, err := gppl.NewExact(t.Context(), at, v.Data)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := exact.ValueGrad(t.Context(), nil, at.Values())
		if err != nil {
			t.Fatal(err)
		}
		drawn += float64(len(s.X)) * math.Log(v.Scaling.Scale) // the density of y, not of the standardised y
		best := a.Candidates[0]
		if a.NLL() > drawn+2 { // weak priors take a nat or so
			t.Errorf("%s, draw %d: %.2f nats (%s), the model that drew it has %.2f", c.name, c.seed, a.NLL(), best.Status, drawn)
		}
	}
}

// TestFitTrendsAnew: if a trend left only the season to a kernel, the kernel is searched again without the trend.
func TestFitTrendsAnew(t *testing.T) {
	s := &series.Series{}
	rnd := rand.New(rand.NewPCG(4, 0))
	for x := 0.0; len(s.X) < 100; x += 0.5 + rnd.Float64() {
		s.X = append(s.X, x)
		s.Y = append(s.Y, 0.02*x+math.Sin(2*math.Pi*x/12.5)+0.3*rnd.NormFloat64())
	}
	s.Step = 1
	values := map[string]float64{}
	for _, trend := range []string{"auto", "none"} {
		a, err := Fit(t.Context(), s, Options{Kernels: []string{"SE + Periodic"}, Log: "never", Trend: trend})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Candidates {
			if c.Trend == "none" {
				values[trend] = c.NLL
			}
		}
	}
	if values["auto"] > values["none"]+0.5 {
		t.Errorf("without a trend SE + Periodic has %.2f nats beside other trends, %.2f alone", values["auto"], values["none"])
	}
}
