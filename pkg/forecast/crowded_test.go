package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// copiesAt returns x followed by count copies of each of some places, in order.
func copiesAt(x []float64, count int, at ...float64) []float64 {
	all := slices.Clone(x)
	for _, v := range at {
		for range count {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// line returns n places from a first, a step apart.
func line(first, step float64, n int) (x []float64) {
	for i := range n {
		x = append(x, first+step*float64(i))
	}
	return x
}

// TestCrowded fits series most of whose latest observations are at one place, at two, or far from all others: the fit uses the
// places before them, and predicts there to within the noise. Without places before them, such fits once ended in a panic.
func TestCrowded(t *testing.T) {
	cases := map[string][]float64{
		"many at the last":   copiesAt(line(0, 1, 99), 402, 99),
		"most at the last":   copiesAt(line(0, 1, 99), 1600, 99),
		"many at the first":  copiesAt(line(1, 1, 99), 402, 0),
		"many in the middle": copiesAt(line(0, 1, 99), 1600, 50),
		"two at the end":     copiesAt(line(0, 1, 99), 300, 99, 100),
		"three places":       copiesAt(nil, 300, 0, 1, 2),
		"one, then two":      copiesAt([]float64{0}, 300, 99, 100),
		"ten places":         copiesAt(nil, 100, line(0, 10, 10)...),
		"far from the rest":  append(line(0, 1, 300), 1e9),
		"a close end":        append(line(0, 1, 500), line(500, 1e-9, 500)...),
		"clusters of copies": copiesAt(nil, 1, slices.Repeat([]float64{0, 100, 200, 300, 400, 500, 600}, 100)...),
	}
	truth := func(x float64) float64 { return 10 + 3*math.Sin(min(x, 600)/40) }
	const noise = 0.5
	for name, x := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(1, 2))
			y := make([]float64, len(x))
			for i, v := range x {
				y[i] = truth(v) + noise*rnd.NormFloat64()
			}
			s, err := series.NewSeries(series.Axis{}, slices.Clone(x), y)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Fit(context.Background(), s, Options{Shifts: "report"}.WithEffort(search.Efforts[0]))
			if err != nil {
				t.Fatal(err)
			}
			if first := s.X[len(s.X)-a.TrainedOn()]; places(s.X[len(s.X)-a.TrainedOn():]) < min(places(s.X), 20) {
				t.Errorf("learnt from x = %v on, of %v", first, s.X[0])
			}
			at := slices.Compact(slices.Clone(x))
			f, err := a.Predict(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			var squares float64
			for i, v := range at {
				off := f.Median[i] - truth(v)
				squares += off * off
			}
			if rmse := math.Sqrt(squares / float64(len(at))); !(rmse < noise) {
				t.Errorf("predictions are off by %.2f, the noise is %.2f", rmse, noise)
			}
			if _, err := a.Forecast(t.Context(), 5); err != nil {
				t.Error(err)
			}
			if _, err := a.Shifts(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSeasonWithoutNoise: a season without noise has no outliers, one wrong value is an outlier, and changes of level are looked
// for. Leave-one-out predictions were once refused here, since rounding exceeds the noise.
func TestSeasonWithoutNoise(t *testing.T) {
	for name, season := range map[string]func(i int) float64{
		"sine of 12": func(i int) float64 { return 10 + 3*math.Sin(2*math.Pi*float64(i)/12) },
		"teeth of 7": func(i int) float64 { return float64(i % 7) },
	} {
		for _, wrong := range []bool{false, true} {
			n := 120
			y := make([]float64, n)
			for _, i := range timeline.Range(0, n) {
				y[i] = season(i)
			}
			const at = 61
			if wrong {
				y[at] += 1
			}
			s, err := series.NewSeries(series.Axis{}, line(0, 1, n), y)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Fit(context.Background(), s, Options{}.WithEffort(search.Efforts[0]))
			if err != nil {
				t.Fatal(err)
			}
			found, err := a.Outliers(context.Background())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !wrong && len(found.List) > 0 || wrong && !slices.ContainsFunc(found.List, func(o Outlier) bool { return o.Index == at }) {
				t.Errorf("%s, one wrong %v: outliers %v", name, wrong, found.List)
			}
			if _, err := a.Shifts(context.Background()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// places returns the number of different x, ascending.
func places(x []float64) int { return len(slices.Compact(slices.Clone(x))) }
