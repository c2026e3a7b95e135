package forecast

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// dated returns a series of values from 2020 on.
func dated(t *testing.T, every time.Duration, n int, y func(at time.Time) float64) *series.Series {
	t.Helper()
	from := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	seconds, values := make([]float64, n), make([]float64, n)
	for i := range seconds {
		at := from.Add(time.Duration(i) * every)
		seconds[i], values[i] = float64(at.Unix()), y(at)
	}
	axis, x := series.DateAxis("date", seconds), make([]float64, n)
	for i, s := range seconds {
		x[i] = axis.X(time.Unix(int64(s), 0).UTC())
	}
	return testkit.Must(series.NewSeries(axis, x, values))(t)
}

// TestNoiseSeason: the band of a forecast is as wide as the scatter of its month, weekday or hour, and a saved model keeps it.
func TestNoiseSeason(t *testing.T) {
	winter := func(at time.Time) bool { return at.Month() <= 3 || at.Month() >= 10 }
	for name, c := range map[string]struct {
		of    string
		every time.Duration
		n     int
		quiet func(at time.Time) bool
	}{
		"winters": {"month", 24 * time.Hour, 1400, winter},
		"Sundays": {"weekday", 24 * time.Hour, 400, func(at time.Time) bool { return at.Weekday() == time.Sunday }},
		"nights":  {"hour", time.Hour, 1000, func(at time.Time) bool { return at.Hour() < 6 }},
	} {
		r := rand.New(rand.NewPCG(65, 11))
		s := dated(t, c.every, c.n, func(at time.Time) float64 {
			if c.quiet(at) {
				return 2*r.NormFloat64() - 50
			}
			return 10*r.NormFloat64() - 50
		})
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		if a.Noise == nil || a.Noise.Of != c.of {
			t.Errorf("%s: the noise is that of %+v, want a %s", name, a.Noise, c.of)
			continue
		}
		f := testkit.Must(a.Forecast(t.Context(), 48))(t)
		for i, x := range f.X {
			want := 10.0
			if c.quiet(s.Axis.Time(x)) {
				want = 2
			}
			if lo, hi := f.Lower[i], f.Upper[i]; (hi-lo)/(2*Quantile95) < 0.6*want || (hi-lo)/(2*Quantile95) > 1.7*want {
				t.Errorf("%s: the band at %s is %.1f standard deviations of %v", name, f.When[i], (hi-lo)/(2*Quantile95)/want, want)
			}
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := a.Save(path); err != nil {
			t.Fatal(err)
		}
		g := testkit.Must(testkit.Must(Load(path))(t).Forecast(t.Context(), 48))(t)
		if diff := cmp.Diff(f.Upper, g.Upper); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestNoNoiseSeason: of 200 series of white, heavy-tailed and clustered noise, in days and in hours, at most six have a season of
// the noise.
func TestNoNoiseSeason(t *testing.T) {
	const draws, most = 200, 6
	found := 0
	for seed := range uint64(draws) {
		r, volatility := rand.New(rand.NewPCG(seed, 68)), 1.0
		every := []time.Duration{24 * time.Hour, time.Hour}[seed%2]
		var e []float64
		s := dated(t, every, []int{200, 700, 1500}[seed%3], func(time.Time) float64 {
			z := r.NormFloat64()
			switch seed / 2 % 3 {
			case 1: // Student's t of three degrees
				z /= math.Sqrt((math.Pow(r.NormFloat64(), 2) + math.Pow(r.NormFloat64(), 2) + math.Pow(r.NormFloat64(), 2)) / 3)
			case 2: // GARCH(1, 1), as of prices
				z *= math.Sqrt(volatility)
				volatility = 0.02 + 0.1*z*z + 0.88*volatility
			}
			e = append(e, z)
			return z
		})
		for _, c := range noiseCycles {
			if c.chance(s, s.X, e) < noiseChance/float64(len(noiseCycles)) {
				found++
				break
			}
		}
	}
	if found > most {
		t.Errorf("%d of %d series of noise have a season of it", found, draws)
	}
}
