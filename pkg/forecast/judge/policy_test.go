package judge

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestPolicyGrowth: a season that grows with its level is multiplicative, and the forecast continues it. The test uses the
// observations after those that the model learnt from.
func TestPolicyGrowth(t *testing.T) {
	f := func(i int) float64 {
		return math.Exp(0.02*float64(i)) * (1 + 0.3*math.Sin(2*math.Pi*float64(i)/12))
	}
	s := testseries.Steps(t, 96, 0, func(i int) float64 { return 100 * f(i) * math.Exp(0.03*math.Sin(float64(i*i))) })
	a := automatic(t, s, forecast.Options{Periods: []float64{12}})
	if !a.Log || !strings.Contains(a.Kernel(), "LocPer") {
		t.Errorf("%s was chosen", a.Name())
	}
	future, err := a.Forecast(t.Context(), 24)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, 24)
	for i := range y {
		y[i] = 100 * f(96+i)
	}
	if c, e := Coverage(y, future.Lower, future.Upper), SMAPE(y, future.Median); c < 0.9 || e > 10 {
		t.Errorf("the bands hold %.2f, the error is %.1f %%", c, e)
	}
	for i := range y { // the bands suit a quantity that is positive and skewed
		if up, down := future.Upper[i]-future.Median[i], future.Median[i]-future.Lower[i]; future.Lower[i] <= 0 || up <= down {
			t.Fatalf("step %d: %v in [%v, %v]", i, future.Median[i], future.Lower[i], future.Upper[i])
		}
	}
	if b := automatic(t, s, forecast.Options{Periods: []float64{12}, Log: "never"}); b.Log {
		t.Error("the logarithm was taken although it was not to be")
	}

	t.Run("saved and loaded", func(t *testing.T) {
		(&Trust{Widen: 1.3}).Calibrate(a)
		var file bytes.Buffer
		if err := a.Encode(&file); err != nil {
			t.Fatal(err)
		}
		want, err := a.Forecast(t.Context(), 24)
		if err != nil {
			t.Fatal(err)
		}
		b, err := decoded(t, file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Forecast(t.Context(), 24)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, ofParts, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Error(diff)
		}
		if got.Upper[5]-got.Lower[5] < 1.2*(future.Upper[5]-future.Lower[5]) {
			t.Error("the bands were not widened")
		}
		for _, bad := range []string{
			strings.Replace(file.String(), `"widen":1.3`, `"widen":-1`, 1),
			strings.Replace(file.String(), `"members":[{"weight":`, `"members":[{"weight":7`, 1),
		} {
			if _, err := decoded(t, []byte(bad)); err == nil {
				t.Error("no error for a file that is out of range")
			}
		}
	})
}

// TestBacktest: the forecast of a season that goes on is good; the forecast of a level that jumps is not, and the verdict says
// so.
func TestBacktest(t *testing.T) {
	season := func(i int) float64 { return 3 * math.Sin(2*math.Pi*float64(i)/12) }
	o := forecast.Options{Periods: []float64{12}}
	a := automatic(t, testseries.Steps(t, 96, 0.5, season), o)
	good, err := TestPast(context.Background(), a, BacktestOptions{Horizon: 12, Origins: 5})
	if err != nil {
		t.Fatal(err)
	}
	if good.Word != Use || good.Origins != 5 || good.Season != 12 || good.Relative > 0.95 || !strings.HasPrefix(good.Verdict,
		"Tested five times, 12 steps ahead: 97 % of the values fell inside the 95 % band, and the error was ") {
		t.Errorf("%+v", good)
	}
	few, err := TestPast(context.Background(), a, BacktestOptions{Horizon: 12})
	if err != nil || few.Origins != 2 || few.Known != 72 {
		t.Errorf("%+v, %v", few, err)
	}
	named, err := TestPast(context.Background(), automatic(t, testseries.Steps(t, 96, 0.5, season), forecast.Options{Kernels: []string{"SE"}}),
		BacktestOptions{Horizon: 12})
	if err != nil {
		t.Fatal(err)
	}
	if good.Past[0].Reused != "" || named.Past[0].Reused != "" || good.Knew != "" || named.Knew != "" || named.Effort != few.Effort {
		t.Errorf("%+v and %+v", good, named)
	}
	// The level rests, and then jumps once a season.
	jump := func(i int) float64 { return season(i) + 8*math.Floor(max(0, float64(i-60))/12) }
	a = automatic(t, testseries.Steps(t, 120, 0.5, jump), o)
	bad, err := TestPast(context.Background(), a, BacktestOptions{Horizon: 12})
	if err != nil {
		t.Fatal(err)
	}
	if bad.Widen <= good.Widen {
		t.Errorf("bands are widened by %v and %v", good.Widen, bad.Widen)
	}
	short, err := TestPast(context.Background(), automatic(t, testseries.Steps(t, 20, 0.5, season), forecast.Options{}), BacktestOptions{Horizon: 12})
	if err != nil {
		t.Fatal(err)
	}
	if short.Word != Untested || !strings.Contains(short.Verdict, "20 observations are too few") {
		t.Errorf("%+v", short)
	}
	held, err := TestPast(context.Background(), a, BacktestOptions{Holdout: 18})
	if err != nil || held.Origins != 1 || held.N != 18 || held.Word != Untested {
		t.Errorf("%+v, %v", held, err)
	}
	if _, err := TestPast(context.Background(), a, BacktestOptions{Holdout: 118}); err == nil {
		t.Error("118 of 120 observations were held out")
	}
}
