package forecast

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// endedSeries draws a curve with noise that ends at bounds.
func endedSeries(t *testing.T, n int, lo, hi float64, f func(i int) float64, noise float64, seed uint64) *series.Series {
	t.Helper()
	r := rand.New(rand.NewPCG(65, seed))
	s := testseries.Steps(t, n, 0, func(i int) float64 { return min(max(f(i)+noise*r.NormFloat64(), lo), hi) })
	if err := s.Bound(lo, hi); err != nil {
		t.Fatal(err)
	}
	return s
}

// endedTruth is the mean of a normal value that ends at 0 above.
func endedTruth(mu, sd float64) (mean, zero float64) {
	z := mu / sd
	zero = 0.5 * math.Erfc(z/math.Sqrt2)
	return mu*(1-zero) + sd*math.Exp(-0.5*z*z)/math.Sqrt(2*math.Pi), zero
}

// TestCensoredPercent draws percentages, several of them 100, with seeds 1, 3, 5 and 7. Forecasts have the true means and the
// true probabilities of 100, and quantiles at exactly 100. The same holds after they are saved and read.
func TestCensoredPercent(t *testing.T) {
	const n, noise = 96, 5
	level := func(i int) float64 { return 92 + 9*math.Sin(2*math.Pi*float64(i)/12) }
	for _, seed := range []uint64{1, 3, 5, 7}[:testkit.Size(1, 4, 4)] {
		s := endedSeries(t, n, 0, 100, level, noise, seed)
		if !s.Censored() {
			t.Fatalf("seed %d: %+v", seed, s.Bounds)
		}
		a := testkit.Must(Fit(t.Context(), s, Options{Budget: time.Second}))(t)
		f := testkit.Must(a.Forecast(t.Context(), 12))(t)
		bounds := f.AtBounds()
		if len(bounds) != 2 || bounds[0].Name != "p_zero" || bounds[1].Name != "p_highest" {
			t.Fatalf("%+v", bounds)
		}
		for i := range f.X {
			below, full := endedTruth(100-level(n+i), noise)
			if p := bounds[1].P[i]; math.Abs(p-full) > 0.2 {
				t.Errorf("seed %d, step %d: the probability of 100 is %.2f, want %.2f", seed, i, p, full)
			}
			if math.Abs(f.Point()[i]-(100-below)) > noise {
				t.Errorf("seed %d, step %d: %.1f, want %.1f", seed, i, f.Point()[i], 100-below)
			}
			if f.Upper[i] != 100 && full > 0.1 || f.Upper[i] > 100 || f.Lower[i] < 0 {
				t.Errorf("seed %d, step %d: the band from %v to %v", seed, i, f.Lower[i], f.Upper[i])
			}
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := a.Save(path); err != nil {
			t.Fatal(err)
		}
		again := testkit.Must(Load(path))(t)
		g := testkit.Must(again.Forecast(t.Context(), 12))(t)
		for i := range f.X {
			if math.Abs(g.Point()[i]-f.Point()[i]) > 1e-6 || g.Upper[i] != f.Upper[i] {
				t.Errorf("seed %d, step %d: %v to %v, and %v to %v when read", seed, i, f.Point()[i], f.Upper[i], g.Point()[i], g.Upper[i])
			}
		}
	}
}

// TestCensoredNights draws power that is 0 at night, seeds 1, 3, 5 and 7: forecasts of nights are 0, and of days as good as
// the truth.
func TestCensoredNights(t *testing.T) {
	const day, n, noise = 12, 12 * 16, 8
	sun := func(i int) float64 { return 100*math.Sin(2*math.Pi*(float64(i%day)+0.5)/day) - 10 }
	for _, seed := range []uint64{1, 3, 5, 7}[:testkit.Size(1, 4, 4)] {
		s := endedSeries(t, n, 0, math.Inf(1), sun, noise, seed)
		a := testkit.Must(Fit(t.Context(), s, Options{Budget: time.Second}))(t)
		f := testkit.Must(a.Forecast(t.Context(), day))(t)
		var off float64
		for i := range f.X {
			mean, zero := endedTruth(sun(n+i), noise)
			off += math.Abs(f.Point()[i]-mean) / day
			if zero > 0.999 && f.Upper[i] > 0.5*noise {
				t.Errorf("seed %d, step %d: the night goes up to %.1f", seed, i, f.Upper[i])
			}
		}
		if off > 0.4*noise {
			t.Errorf("seed %d: the forecast is off by %.1f on average", seed, off)
		}
	}
}
