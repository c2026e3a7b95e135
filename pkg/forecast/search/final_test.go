package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestWeekOfWeather draws 1300 days of weather: a year, and what lasts for days. The latest 400 of them seem to have a week,
// which the search leaves out again once it learns from all. A week that is there stays.
func TestWeekOfWeather(t *testing.T) {
	const n, friday = 1300, 1.5
	var at []time.Time
	for i := range n {
		at = append(at, time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i))
	}
	seeds := testkit.Size(1, 3, 20)
	for _, effect := range []float64{0, friday} {
		found := 0
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(65, seed))
			level := 0.0
			s := testseries.Dated(t, at, func(at time.Time) float64 {
				level = 0.6*level + 2*r.NormFloat64()
				y := 15 + level + 8*math.Sin(2*math.Pi*float64(at.YearDay())/365)
				if at.Weekday() == time.Friday {
					y += effect
				}
				return y
			})
			o := testkit.Must(Find(t.Context(), s, Options{Log: "never"}))(t)
			if slices.Contains(o.Candidates[0].Seasons, "week") {
				found++
			}
		}
		if least := float64(seeds) * 0.8; effect == 0 && found > seeds/20 || effect > 0 && float64(found) < least {
			t.Errorf("with %v more on Fridays, %d of %d series have a week", effect, found, seeds)
		}
	}
}
