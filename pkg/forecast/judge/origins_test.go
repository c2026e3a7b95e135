package judge

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestNothingLeaks: observations after an origin change nothing of the forecast from there: neither structure and parameters, nor
// the step, the standardisation of regressors, or the effects of holidays.
func TestNothingLeaks(t *testing.T) {
	const n, known, horizon = 160, 120, 40
	y := func(after func(i int) float64) func(i int) float64 {
		return func(i int) float64 {
			v := 20 + math.Sin(float64(i)*math.Pi/6) + 0.1*math.Sin(float64(i*i))
			if i >= known {
				v += after(i)
			}
			return v
		}
	}
	var past []*forecast.Analysis
	for _, after := range []func(i int) float64{
		func(int) float64 { return 0 },
		func(i int) float64 { return 100 + 50*math.Sin(float64(i)) + float64(i) }, // this series has another structure and scale
	} {
		rows := "x,y,r\n"
		for i, v := range testseries.Steps(t, n, 0, y(after)).Y {
			r := math.Cos(float64(i))
			if i >= known {
				r = float64(i) + 5*after(i)
			}
			rows += fmt.Sprintf("%d,%v,%v\n", i, v, r)
		}
		s, err := series.Read(t.Context(), testdraws.File(t, rows), series.ReadOptions{Regressors: []string{"r"}})
		if err != nil {
			t.Fatal(err)
		}
		a := automatic(t, s, forecast.Options{})
		r, err := relearningOf(t.Context(), a, BacktestOptions{Horizon: horizon, Origins: 1})
		if err != nil {
			t.Fatal(err)
		}
		of, reused, err := r.asOf(context.Background(), a, Window{0, known})
		if err != nil || reused != "" {
			t.Fatal(reused, err)
		}
		past = append(past, of)
	}
	if past[0].Name() != past[1].Name() || !floats.Equal(past[0].Result.Model.Values(), past[1].Result.Model.Values()) ||
		past[0].Series.Known.Scale[0] != past[1].Series.Known.Scale[0] {
		t.Errorf("%s %v and %s %v", past[0].Name(), past[0].Result.Model, past[1].Name(), past[1].Result.Model)
	}
	x := past[0].Series.X[:known]
	one, two := testkit.Must(past[0].Predict(t.Context(), x))(t), testkit.Must(past[1].Predict(t.Context(), x))(t)
	if !floats.Equal(one.Median, two.Median) || !floats.Equal(one.NoisyVar, two.NoisyVar) || len(one.Parts) != len(two.Parts) {
		t.Errorf("they predict\n%v and\n%v", one.Median, two.Median)
	}
}

// TestOriginPlans: the search at the origins is narrower the longer the series, and a short series has fewer origins unless their
// number is given.
func TestOriginPlans(t *testing.T) {
	for _, test := range []struct {
		n, asked, origins int
		effort            string
	}{{100, 0, 2, "quick"}, {100, 5, 5, "quick"}, {100, 1, 1, "standard"}, {200, 0, 5, "short"}, {2000, 0, 5, "short"},
		{2000, 1, 1, "standard"}} {
		s := testseries.Steps(t, test.n, 1, func(i int) float64 { return math.Sin(float64(i)) })
		told := ""
		progress := func(p forecast.Progress) { told += fmt.Sprintf("%s %d/%d ", p.Stage, p.Index, p.Count) }
		a := &forecast.Analysis{Series: s, Effort: "standard", Options: &forecast.Options{Progress: progress}}
		r, err := relearningOf(t.Context(), a, BacktestOptions{Horizon: 12, Origins: test.asked})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.plan.origins(test.n)); got != test.origins || r.effort != test.effort {
			t.Errorf("%+v: %d origins, %s", test, got, r.effort)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, _, err := r.asOf(ended, a, Window{0, 50}); err == nil {
			t.Error("no error of a context that has ended")
		}
		if want := fmt.Sprintf("%[1]s 0/%[2]d %[1]s 1/%[2]d ", search.TestOfPast, test.origins); told != want {
			t.Errorf("%+v: told %q, want %q", test, told, want)
		}
	}
}
