package forecast

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// share is a series of per cent that comes close to 100, with some values there if full is set.
func share(t *testing.T, full bool) *series.Series {
	t.Helper()
	rnd := rand.New(rand.NewPCG(9, 9))
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = float64(i)
		y[i] = 100 / (1 + math.Exp(-2.5-1.5*math.Sin(float64(i)/6)-0.4*rnd.NormFloat64()))
		if full && i%17 == 5 {
			y[i] = 100
		}
	}
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBounds forecasts per cent with and without bounds: bands do not leave 0 to 100, nor do those of a saved model, and without bounds they do.
func TestBounds(t *testing.T) {
	for _, full := range []bool{false, true} {
		s := share(t, full)
		free, err := Fit(t.Context(), s, Options{Budget: 1, Log: "never"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Bound(0, 100); err != nil {
			t.Fatal(err)
		}
		if (s.Bounds.Beyond > 0) != full {
			t.Errorf("the log odds are infinite %v beyond the bounds", s.Bounds.Beyond)
		}
		a, err := Fit(t.Context(), s, Options{Budget: 1})
		if err != nil {
			t.Fatal(err)
		}
		if name := a.Name(); !strings.HasSuffix(name, ", of the log odds") {
			t.Error(name)
		}
		trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 10})
		if err != nil {
			t.Fatal(err)
		}
		if trust.Coverage < 0.7 {
			t.Errorf("full %v: %+v", full, trust)
		}
		var b bytes.Buffer
		if err := a.Encode(&b); err != nil {
			t.Fatal(err)
		}
		loaded, err := decoded(t, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		leaves := 0
		for k, a := range []*Analysis{free, a, loaded} {
			f, err := a.Forecast(20)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []float64{1e-6, 0.025, 0.5, 0.975, 1 - 1e-6} {
				for _, q := range f.Quantile(p) {
					if k == 0 && q > 100 {
						leaves++
					}
					if k > 0 && !(q >= 0 && q <= 100) {
						t.Errorf("full %v: the quantile %v is %v", full, p, q)
					}
				}
			}
			for i, d := range PredictiveOf(f).LogDensity(f.Mean) {
				if math.IsNaN(d) || d < -20 {
					t.Errorf("the log density of the median of step %d is %v", i, d)
				}
			}
		}
		if leaves == 0 {
			t.Error("a series that needs no bounds tests none")
		}
	}
}

// TestBoundedDistribution integrates the density between bounds: it is that of the distribution.
func TestBoundedDistribution(t *testing.T) {
	s := share(t, false)
	if err := s.Bound(0, 100); err != nil {
		t.Fatal(err)
	}
	m := mixture{{0.4, s.Warp(), 1, 0.8}, {0.6, s.Warp(), -2, 0.3}}
	const steps = 20000
	var sum float64
	for k := range steps {
		_, density := m.distribution(60 * (float64(k) + 0.5) / steps)
		sum += density * 60 / steps
	}
	if below, _ := m.distribution(60); math.Abs(below-sum) > 1e-6 {
		t.Errorf("P(y < 60) = %v, the integral of the density is %v", below, sum)
	}
	for at, want := range map[float64]float64{-1: 0, 0: 0, 100: 1, 101: 1} {
		if below, density := m.distribution(at); math.Abs(below-want) > 1e-12 || density != 0 {
			t.Errorf("P(y < %v) = %v with density %v", at, below, density)
		}
	}
}
