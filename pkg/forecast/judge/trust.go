package judge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Trust compares forecasts of the recent past, at the requested horizon, with what followed, and judges the forecast.
type Trust struct {
	Horizon int `json:"horizon"` // number of observations ahead
	Origins int `json:"origins"` // number of places in the past from which forecasts were made
	N       int `json:"n"`       // number of observations that were forecast, over all origins
	// Separate is the number of tests without overlap for which the origins have room; it may be fractional.
	Separate float64 `json:"separate_tests"`
	// Known is the number of observations before the first origin.
	Known int `json:"known_at_first_origin"`
	// Against names the yardstick, the best of the naive forecasts over the same origins, as in "the error was half as large as
	// with …". Season is its season in observations; 0 if it has none.
	Against string `json:"against"`
	Season  int    `json:"season"`
	// Coverage is the share of the N observations within the 95 % bands, before these are widened.
	Coverage float64 `json:"coverage_95"`
	// Relative is the mean absolute error divided by the yardstick's. Chance is the probability of errors this much larger than
	// the yardstick's if the two forecasts were equally good, by a paired t test over the origins; 1 if too few tests are
	// separate.
	Relative float64 `json:"relative_error"`
	Chance   float64 `json:"p_no_worse"`
	Spread   float64 `json:"spread"` // √(mean (error/standard deviation)²); 1 if the bands are correct
	Late     float64 `json:"late"`   // Spread over the last third of the horizon
	// Widened is the coverage of the bands that Calibrate widens.
	Widened float64 `json:"coverage_95_widened"`
	// Widen is the factor, at least 1, by which the standard deviations of a forecast must be multiplied to agree with the
	// errors of the past. Narrow is the number of origins whose widened 95 % bands held less than 70 % of the observations.
	Widen  float64 `json:"widen"`
	Narrow int     `json:"origins_too_narrow"`
	// Effort names the effort of the search at the origins, if it was narrower than the search of the fit. Unlearnt is the number
	// of further origins at which no model could be learnt. Knew names what the forecasts of the past took from the whole series;
	// "" for nothing.
	Effort   string `json:"effort,omitempty"`
	Unlearnt int    `json:"unlearnt_origins,omitempty"`
	Knew     string `json:"knew,omitempty"`
	// Word says for programs whether to use the forecast, Reasons what speaks against it, and Verdict how it did, in plain
	// sentences.
	Word    Word     `json:"word"`
	Reasons []string `json:"reasons,omitempty"`
	Verdict string   `json:"verdict"`
	// Past has a forecast for each origin, the earliest first.
	Past []PastForecast `json:"past,omitempty"`

	exact   bool   // the forecasts of the past were correct to three digits, so that residuals say nothing
	broken  string // why the bands cannot hold, by the residual checks; "" if these do not show that
	suspect string // why the tested data may be wrong (Series.Suspect); "" if nothing does
	length  func(steps int) string
}

// PastForecast is a forecast from one origin in the past, compared with what followed.
type PastForecast struct {
	From     string  `json:"from"` // place of the last observation that it knew
	N        int     `json:"n"`
	Coverage float64 `json:"coverage_95"`
	MAE      float64 `json:"mae"`
	Naive    float64 `json:"mae_naive"`
	// Reused says why structure and parameters of the whole series were used; "" if they were learnt anew.
	Reused string `json:"reused,omitempty"`
}

// BacktestOptions choose the part of the past that is forecast. The zero value means 24 steps from each of five origins.
type BacktestOptions struct {
	Horizon int // 0 means 24
	Origins int // 0 means 5, or fewer if learning anew at 5 would take longer than the fit
	// Holdout, if positive, replaces the rolling origins by one: the last Holdout observations are forecast from those before.
	Holdout int
}

const (
	// reusedAll is the value of Knew if nothing was learnt anew.
	reusedAll = "structure and parameters"
	// negligible is the ratio of error to spread of y below which an error counts as none. Where the yardstick has none, as in a
	// series that repeats itself exactly, an error of exactly times that counts as none for the forecast: training to the last
	// digit takes forever.
	negligible, exactly = 1e-6, 1000
	// mostKnown is the largest number of observations that a forecast of the past knows.
	mostKnown = 200_000
)

// TestPast forecasts the latest past from rolling origins and compares the forecasts with what followed: it is the function
// Backtest for the models of an analysis. At each origin structure and parameters are learnt anew, by Fit with the same options,
// from the observations before the origin alone; regressors are known in advance. The search there may be narrower
// (Trust.Effort), so that all origins together are predicted to take no longer than the fit, unless even the least search takes
// more. For a model from a file, or if the fit used up the budget, structure and parameters of the whole series are used
// (PastForecast.Reused), which flatters the forecast. The verdict mentions both. An origin at which no model can be learnt is
// left out. If the series is too short for the horizon, a shorter horizon is tested.
//
// The yardstick is the one with the least error over the same origins among the last value, the last value with drift, the mean,
// and the repetition of a season: one that the user or the calendar names or, without one, the season with the strongest
// autocorrelation.
//
// The forecast is untested if fewer than two separate tests at the horizon fit into the past, or if fewer than ten observations
// precede them. Its verdict is a [Word].
//
// Bands that were slightly too narrow do not count against it: Calibrate widens them. The verdict cannot foresee what the past
// does not show, such as a change of level after the last observation.
func TestPast(ctx context.Context, a *forecast.Analysis, o BacktestOptions) (*Trust, error) {
	n := len(a.Series.X)
	o = o.complete()
	again, err := relearningOf(ctx, a, o)
	if err != nil {
		return nil, err
	}
	plan := again.plan
	plan.Levels, plan.Window, plan.Together = []float64{0.95}, mostKnown, a.AtOnce(n)
	if err := a.Condition(ctx); err != nil { // this happens once, before the origins ask for it concurrently
		return nil, err
	}
	var mu sync.Mutex
	reused := map[int]string{}
	r, err := Backtest(ctx, a.Series.Y, plan, func(ctx context.Context, train, test Window) (Predictive, error) {
		past, why, err := again.asOf(ctx, a, train)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		reused[train.To] = why
		mu.Unlock()
		f, err := past.Following(ctx, a.Series, test.From, test.To)
		if err != nil {
			return nil, err
		}
		return PredictiveOf(f), nil
	}, yardsticksOf(a.Series, plan.First, naiveSeasons(a, plan.First))...)
	t, err := trustIn(ctx, a.Series, r, plan, o.Horizon, err)
	if err != nil {
		return nil, err
	}
	for i, at := range r.Origins {
		if t.Past[i].Reused = reused[at.Train.To]; t.Past[i].Reused != "" {
			t.Knew = reusedAll
		}
	}
	if again.effort != a.Effort {
		t.Effort = again.effort
	}
	if checks, err := residualsOf(ctx, a, lastChecked); err == nil && !t.exact {
		t.broken = checks.broken()
	}
	if t.broken != "" && a.Series.Student == nil {
		if far, err := a.Outliers(ctx); err == nil && len(far.List) > 0 {
			t.broken += fmt.Sprintf(" (%s far from all others may be why)", text.Count(len(far.List), "observation"))
		}
	}
	t.judge(n, o.Horizon)
	return t, nil
}

// complete fills in the horizon, and the one origin of a holdout.
func (o BacktestOptions) complete() BacktestOptions {
	o.Horizon = cmp.Or(o.Horizon, 24)
	if o.Holdout > 0 {
		o.Horizon, o.Origins = o.Holdout, 1
	}
	return o
}

// trustIn compares the forecasts of a backtest of the series with what followed. The backtest ended with err, and asked is the
// requested horizon. It removes origins without a forecast from r.
func trustIn(ctx context.Context, s *series.Series, r *Report, plan BacktestPlan, asked int, err error) (*Trust, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r == nil {
		return nil, err
	}
	if err != nil {
		at := r.Origins[len(r.Origins)-1]
		return nil, fmt.Errorf("forecasting from %s: %w", s.Axis.Text(s.X[at.Test.From-1]), at.Err)
	}
	r.Origins = slices.DeleteFunc(r.Origins, func(o Origin) bool { return o.Err != nil })
	t := &Trust{Known: plan.First, Separate: float64(len(s.X)-plan.First) / float64(asked), Unlearnt: r.Failed, length: s.Span}
	_, t.suspect = s.Suspect()
	t.compare(r, s.Y)
	for _, at := range r.Origins {
		t.Past = append(t.Past, PastForecast{From: s.Axis.TableText(s.X[at.Test.From-1]), N: at.Test.Len(),
			Coverage: at.Model.Intervals[0].Coverage, MAE: at.Model.MAE, Naive: at.Naive.MAE})
	}
	return t, nil
}

// compare computes what the verdict needs from a backtest of y.
func (t *Trust) compare(r *Report, y []float64) {
	h := len(r.Leads)
	t.Horizon, t.Origins, t.N = h, len(r.Origins), r.Model.N
	t.Against, t.Season = r.Against.Name, r.Against.Season
	t.Coverage, t.Spread = r.Model.Intervals[0].Coverage, r.Model.Spread
	none := negligible * numeric.MedianDistance(y)
	t.Relative, t.exact = relative(r.Model.MAE, r.Naive.MAE, none), r.Model.MAE <= exactly*none
	var late, leads float64
	for i, lead := range r.Leads {
		if 3*i >= 2*h {
			late, leads = late+lead.Model.Spread*lead.Model.Spread, leads+1
		}
	}
	t.Late = math.Sqrt(late / max(1, leads))
	var squares, worse []float64
	for _, o := range r.Origins {
		squares = append(squares, o.Model.Spread*o.Model.Spread)
		worse = append(worse, o.Model.MAE-o.Naive.MAE)
	}
	t.Widen, t.Chance = widening(squares), pairedChance(worse, t.Separate, none)
	for _, o := range r.Origins {
		held := widenedCoverage(o.Forecast, y[o.Test.From:o.Test.To], t.Widen)
		t.Widened += held / float64(len(r.Origins))
		if held < poor {
			t.Narrow++
		}
	}
}

// widenedCoverage returns the share of y in the 95 % bands of a forecast, widened about its mean.
func widenedCoverage(p Predictive, y []float64, widen float64) float64 {
	middle, lo, hi := p.Point(), p.Quantile(0.025), p.Quantile(0.975)
	for i, m := range middle {
		lo[i], hi[i] = m-widen*(m-lo[i]), m+widen*(hi[i]-m)
	}
	return Coverage(y, lo, hi)
}

// plan returns the latest origins in n observations before which a third of the observations remains to learn from, with a
// shorter horizon if necessary.
func (o BacktestOptions) plan(n int) (p BacktestPlan, err error) {
	least, origins := max(4, n/3), cmp.Or(o.Origins, defaultOrigins)
	if o.Holdout > 0 {
		least = 4
	}
	h := min(o.Horizon, n-least)
	if h < 1 || o.Horizon < 1 || origins < 1 {
		return p, fmt.Errorf("%d observations are too few to forecast %d of them from the others", n, o.Horizon)
	}
	if o.Holdout > 0 && h < o.Holdout {
		return p, fmt.Errorf("%d observations are too few to hold out %d: at most %d", n, o.Holdout, n-least)
	}
	step := max(1, min(h, (n-least-h)/max(1, origins-1)))
	return BacktestPlan{First: n - h - min(origins-1, (n-h-least)/step)*step, Horizon: h, Step: step}, nil
}

// relative returns a mean error divided by the naive forecast's. A naive error up to none and another up to exactly times as much
// count as equal: of two forecasts that are correct to three digits neither is better.
func relative(mean, naive, none float64) float64 {
	switch {
	case mean <= exactly*none && naive <= none:
		return 1
	case naive == 0:
		return math.MaxFloat64
	}
	return mean / naive
}

// widening returns √((k₀ + Σ s_k)/(k₀ + K)), at least 1. s_k, at most 6, is the mean of (error/standard deviation)² at origin k
// of K. This is approximately the posterior mean of the factor by which variances are too small, with a prior that is worth k₀ =
// 12 origins at which they were correct. The errors of one origin are correlated, so each origin counts as one observation.
func widening(squares []float64) float64 {
	const before, most = 12, 6
	sum := float64(before)
	for _, s := range squares {
		sum += min(s, most)
	}
	return max(1, math.Sqrt(sum/float64(before+len(squares))))
}

// Calibrate widens the bands of later forecasts of an analysis by Widen, in addition to ShortBands.
func (t *Trust) Calibrate(a *forecast.Analysis) { a.Widen = a.ShortBands() * t.Widen }

// Testable reports whether the series is long enough for a backtest.
func Testable(a *forecast.Analysis) bool {
	_, err := BacktestOptions{Horizon: 1}.plan(len(a.Series.X))
	return err == nil
}
