package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
)

// walk is a random walk with a season.
func walk(n int) []float64 {
	rnd := rand.New(rand.NewPCG(5, 6))
	y := make([]float64, n)
	var level float64
	for i := range y {
		level += rnd.NormFloat64()
		y[i] = level + 5*math.Sin(2*math.Pi*float64(i)/4)
	}
	return y
}

// naive is the seasonal naive forecast as a model, which counts its fits.
func naive(y []float64, season int, fits *[]judge.Window) judge.Forecaster {
	return func(_ context.Context, train, test judge.Window) (judge.Predictive, error) {
		*fits = append(*fits, train)
		return judge.SeasonalNaive(y[train.From:train.To], season, test.Len())
	}
}

func TestBacktest(t *testing.T) {
	y := walk(100)
	var fits []judge.Window
	plan := judge.BacktestPlan{First: 40, Horizon: 5, Season: 4, Window: 30}
	r, err := judge.Backtest(context.Background(), y, plan, naive(y, 4, &fits))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Origins) != 12 || r.Failed != 0 || r.Model.N != 60 {
		t.Fatalf("%d origins, %d failed, %d values; want 12, 0, 60", len(r.Origins), r.Failed, r.Model.N)
	}
	if want := []judge.Window{{10, 40}, {15, 45}, {20, 50}}; len(fits) != 12 || !reflect.DeepEqual(fits[:3], want) {
		t.Errorf("fits on %v, want 12 from %v", fits, want)
	}
	if !reflect.DeepEqual(r.Model, r.Naive) {
		t.Errorf("the seasonal naive model scores %v, the baseline %v", r.Model, r.Naive)
	}
	// By hand: all forecasts in a row.
	var all, f, v []float64
	var mase float64
	for at := 40; at < 100; at += 5 {
		train := y[at-30 : at]
		g, _ := judge.SeasonalNaive(train, 4, 5)
		all, f, v = append(all, y[at:at+5]...), append(f, g.Mu...), append(v, g.Variance...)
		mase += judge.MAE(y[at:at+5], g.Mu) / judge.Scale(train, 4) / 12
	}
	near(t, "MAE", r.Model.MAE, judge.MAE(all, f), 1e-12)
	near(t, "sMAPE", r.Model.SMAPE, judge.SMAPE(all, f), 1e-12)
	near(t, "MASE", r.Model.MASE, mase, 1e-12)
	g := judge.Gaussian{Mu: f, Variance: v}
	together, err := judge.ScoresOf(g, all, y[:40], 4, []float64{0.5, 0.95})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "RMSE", r.Model.RMSE, together.RMSE, 1e-12)
	near(t, "NLPD", r.Model.NLPD, together.NLPD, 1e-12)
	near(t, "CRPS", r.Model.CRPS, together.CRPS, 1e-12)
	for i, level := range []float64{0.5, 0.95} {
		lo, hi := g.Quantile((1-level)/2), g.Quantile((1+level)/2)
		got := r.Model.Intervals[i]
		near(t, "level", got.Level, level, 0)
		near(t, "coverage", got.Coverage, judge.Coverage(all, lo, hi), 1e-12)
		near(t, "width", got.Width, judge.Width(lo, hi), 1e-12)
		near(t, "interval score", got.Score, together.Intervals[i].Score, 1e-9)
	}
	for h, lead := range r.Leads {
		var a, b []float64
		for i := h; i < len(all); i += 5 {
			a, b = append(a, all[i]), append(b, f[i])
		}
		if lead.H != h+1 || lead.Model.N != 12 {
			t.Errorf("lead %d: %+v", h+1, lead)
		}
		near(t, fmt.Sprint("MAE at lead ", h+1), lead.Model.MAE, judge.MAE(a, b), 1e-12)
	}
	if text := r.Model.String(); !strings.Contains(text, "n=60") || !strings.Contains(text, "95 % intervals hold") {
		t.Errorf("scores read %q", text)
	}
}

func TestBacktestOverlap(t *testing.T) {
	y := walk(60)
	var fits []judge.Window
	r, err := judge.Backtest(context.Background(), y, judge.BacktestPlan{First: 40, Horizon: 10, Step: 3}, naive(y, 1, &fits))
	if err != nil || len(r.Origins) != 4 || r.Origins[3].Test != (judge.Window{From: 49, To: 59}) {
		t.Errorf("%v, %v", r, err)
	}
}

// TestConcurrentOrigins wants the report of one origin after another, errors included.
func TestConcurrentOrigins(t *testing.T) {
	y := walk(100)
	report := func(together int) *judge.Report {
		plan := judge.BacktestPlan{First: 40, Horizon: 5, Season: 4, Together: together}
		r, err := judge.Backtest(context.Background(), y, plan,
			func(_ context.Context, train, test judge.Window) (judge.Predictive, error) {
				if train.To == 60 {
					return nil, errors.New("no model")
				}
				return judge.SeasonalNaive(y[train.From:train.To], 4, test.Len())
			})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, several := report(0), report(5)
	if one.Failed != 1 || len(one.Origins) != 12 {
		t.Fatalf("%d of %d origins failed", one.Failed, len(one.Origins))
	}
	if one.Against.Forecast, several.Against.Forecast = nil, nil; !reflect.DeepEqual(one, several) {
		t.Errorf("%+v together, %+v one after another", several, one)
	}
}

func TestBacktestFailures(t *testing.T) {
	y := walk(60)
	ctx, cancel := context.WithCancel(context.Background())
	broken := errors.New("broken")
	var fits []judge.Window
	inner := naive(y, 1, &fits)
	sometimes := func(ctx context.Context, train, test judge.Window) (judge.Predictive, error) {
		switch train.To {
		case 40, 50:
			return nil, broken
		case 52:
			return judge.Gaussian{Mu: []float64{1, math.NaN()}, Variance: []float64{1, 1}}, nil
		}
		return inner(ctx, train, test)
	}
	plan := judge.BacktestPlan{First: 40, Horizon: 2}
	r, err := judge.Backtest(ctx, y, plan, sometimes)
	if err != nil || r.Failed != 3 || len(r.Origins) != 10 || r.Model.N != 14 || len(fits) != 7 {
		t.Errorf("%d of %d origins failed, %d values, %d fits (%v)", r.Failed, len(r.Origins), r.Model.N, len(fits), err)
	}
	if !errors.Is(r.Origins[0].Err, broken) || r.Origins[1].Err != nil || !errors.Is(r.Origins[5].Err, broken) ||
		r.Origins[6].Err == nil {
		t.Errorf("origins %+v", r.Origins)
	}
	never := func(context.Context, judge.Window, judge.Window) (judge.Predictive, error) {
		return nil, broken
	}
	if _, err := judge.Backtest(ctx, y, plan, never); !errors.Is(err, broken) {
		t.Errorf("no fit at all: %v", err)
	}
	last := func(ctx context.Context, train, test judge.Window) (judge.Predictive, error) {
		if train.To == 46 {
			cancel()
			return nil, ctx.Err()
		}
		return inner(ctx, train, test)
	}
	r, err = judge.Backtest(ctx, y, plan, last)
	if !errors.Is(err, context.Canceled) || len(r.Origins) != 3 || r.Failed != 0 || r.Model.N != 6 {
		t.Errorf("cancelled at the fourth origin: %d origins, %d failed (%v)", len(r.Origins), r.Failed, err)
	}

	for want, p := range map[string]judge.BacktestPlan{
		"horizon of 0":           {First: 10},
		"may be negative":        {First: 10, Horizon: 1, Step: -1},
		"10 observations before": {First: 10, Horizon: 1, Season: 10},
		"a window of 4":          {First: 10, Horizon: 1, Season: 4, Window: 4},
		"there is none":          {First: 59, Horizon: 2},
		"level 1:":               {First: 10, Horizon: 1, Levels: []float64{1}},
	} {
		if _, err := judge.Backtest(context.Background(), y, p, inner); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %s", err, want)
		}
	}
	y[7] = math.Inf(1)
	if _, err := judge.Backtest(context.Background(), y, plan, inner); err == nil || !strings.Contains(err.Error(), "y[7]") {
		t.Errorf("an infinite value: %v", err)
	}
}
