package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func longSeries(t *testing.T, n int, jitter float64) *series.Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + jitter*rng.Float64()
		y[i] = seasonal(x[i]) + 0.3*rng.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestThinned: a week of five minutes is found in one in three observations, and the parameters are learnt from all of two weeks.
func TestThinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var at []time.Time
	for i := range 5003 {
		if i != 2000 && i != 3001 && i != 4002 {
			at = append(at, time.Date(2024, 1, 1, 0, 5*i, 0, 0, time.UTC))
		}
	}
	s := testseries.Dated(t, at, func(at time.Time) float64 {
		hour := float64(at.Hour()) + float64(at.Minute())/60
		height := 3.0
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			height = 1
		}
		return height*math.Exp(-math.Pow((hour-13)/4, 2)) + 0.1*rng.NormFloat64()
	})
	if coarse := s.Thinned(len(s.X)-4032, 3); !series.Regular(coarse.X) || len(coarse.X) < 1340 || coarse.X[len(coarse.X)-1] != s.X[len(s.X)-1] {
		t.Fatalf("%d observations of %d, which three missing ones make uneven", len(coarse.X), len(s.X))
	}
	a := automatic(t, s, Options{Log: "never", Trend: "none", Budget: 10 * time.Second})
	week := s.CalendarPeriods()[1]
	if !slices.ContainsFunc(series.PeriodsOf(a.Result.Model.Params()), func(p float64) bool { return math.Abs(p/week-1) < 0.01 }) {
		t.Errorf("%s has no week, by a %s search", a.Name(), a.Effort)
	}
	if a.trained != 4032 {
		t.Errorf("parameters are learnt from %d", a.trained)
	}
	noise := a.Scaling.Variance(a.Result.Model.Noise)
	if sd := math.Sqrt(noise); sd < 0.08 || sd > 0.12 {
		t.Errorf("the noise is %v, of 0.1", sd)
	}
}

// TestUnevenLearnsFromMore: if an engine takes an uneven series in the time of dense algebra for the plan's part, parameters are
// learnt from all of it, and a season that the part does not show is found.
func TestUnevenLearnsFromMore(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 1))
	x, y := make([]float64, 1500), make([]float64, 1500)
	for i := range x {
		x[i] = float64(i) + 0.8*rnd.Float64()
		y[i] = math.Sin(2*math.Pi*x[i]/70) + 0.5*rnd.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Budget: time.Millisecond}
	plan := testkit.Must(search.NewPlanner(t.Context(), s, o))(t).Plan()
	a, err := Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.TrainedOn(); got <= plan.Trained {
		t.Errorf("learnt from %d observations, the plan has %d", got, plan.Trained)
	}
	f, err := a.Forecast(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range f.X {
		if want := math.Sin(2 * math.Pi * at / 70); math.Abs(f.Median[i]-want) > 0.35 {
			t.Errorf("%s: at %.4g the mean is %.2f, the signal %.2f", a.Name(), at, f.Median[i], want)
		}
	}
	file := filepath.Join(t.TempDir(), "model.json")
	if err := a.Save(file); err != nil {
		t.Fatal(err)
	}
	if b, err := Load(file); err != nil || b.TrainedOn() != a.TrainedOn() {
		t.Errorf("saved and loaded: %v, %v", b, err)
	}
}
