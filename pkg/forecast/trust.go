package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Trust compares forecasts of the recent past, at the requested horizon, with what was then observed, and says what to do with the
// forecast.
type Trust struct {
	Horizon int `json:"horizon"` // observations ahead
	Origins int `json:"origins"` // places in the past that were forecast from
	N       int `json:"n"`       // observations that were forecast, over all origins
	// Separate is the number of tests that do not overlap for which the origins have room, which may be a fraction.
	Separate float64 `json:"separate_tests"`
	// Known is the number of observations before the first origin.
	Known int `json:"known_at_first_origin"`
	// Against is the yardstick, the best of the naive forecasts over the same origins, as in "the error was half that of …". Season is its
	// season in observations; 0 if it has none.
	Against string `json:"against"`
	Season  int    `json:"season"`
	// Coverage is the share of the N observations that lie within the 95 % bands, before these are widened.
	Coverage float64 `json:"coverage_95"`
	// Relative is the mean absolute error over that of the yardstick. Chance is the probability of errors so much larger than the yardstick's
	// if the two forecasts were equally good, by a paired t test over the origins; 1 where too few are separate.
	Relative float64 `json:"relative_error"`
	Chance   float64 `json:"p_no_worse"`
	Spread   float64 `json:"spread"` // root mean square of error over standard deviation; 1 if the bands are right
	Late     float64 `json:"late"`   // the same over the last third of the horizon
	// Widen is the factor by which the standard deviations of a forecast must be multiplied to agree with the errors of the past; at least 1.
	// Narrow is the number of origins whose widened 95 % bands held less than 70 % of the observations.
	Widen  float64 `json:"widen"`
	Narrow int     `json:"origins_too_narrow"`
	// Knew says what the forecasts of the past knew of the whole series; "" for nothing.
	Knew string `json:"knew,omitempty"`
	// Word is what to do with the forecast, Reasons why not to use it, and Verdict says all this in a sentence or two.
	Word    Word     `json:"word"`
	Reasons []string `json:"reasons,omitempty"`
	Verdict string   `json:"verdict"`
	// Origin by origin, the earliest first.
	Past []PastForecast `json:"past,omitempty"`

	missed string // how residual checks fail so badly that the bands cannot hold; "" if they do not
}

// PastForecast is a forecast from one origin in the past, compared with what followed.
type PastForecast struct {
	From     string  `json:"from"` // the last observation that it knew
	N        int     `json:"n"`
	Coverage float64 `json:"coverage_95"`
	MAE      float64 `json:"mae"`
	Naive    float64 `json:"mae_naive"`
	// Reused says why the parameters are those of the whole series; "" if they were learnt again.
	Reused string `json:"reused,omitempty"`
}

// BacktestOptions choose the part of the past that is forecast. The zero value means 24 steps from each of five origins.
type BacktestOptions struct {
	Horizon int // 0 means 24
	Origins int // 0 means 5
	// Holdout, if positive, replaces the rolling origins by one: the last Holdout observations are forecast from those before.
	Holdout int
}

const (
	// unseen is an error over the spread of y that counts as none.
	unseen = 1e-6
	// refitEvaluations bounds the evaluations of learning again. Few suffice: training starts at the optimum of the whole series.
	refitEvaluations = 15
	// refitSeconds is the predicted time for which a model may learn its parameters again at an origin; above, they are re-used. A Toeplitz
	// factor of 3000 observations takes less, dense algebra of 700 more.
	refitSeconds = 0.5
	// remembered is the number of observations before an origin that a forecast of the past is conditioned on.
	remembered = 3000
	// fewUneven replaces remembered for a series whose likelihood is dense (Series.dense).
	fewUneven = 700
)

// Backtest forecasts the latest past from rolling origins and compares the forecasts with what followed: it is the function Backtest for
// the models of an analysis. At each origin the parameters are learnt again, starting at their present values, from the observations up to
// the origin. They are those of the whole series where learning them again would take more than half a second by its forecast
// (PastForecast.Reused). A structure that was chosen is always that of the whole series. Both flatter the forecast a little, and the verdict
// says so. If the series is too short for the horizon, a shorter horizon is tested.
//
// The yardstick is the best of the last value, the last value with drift, and what repeats with a season that the user or the calendar names
// or, without one, with the strongest autocorrelation: the one with the least error over the same origins.
//
// The forecast is untested if the past has no room for two separate tests at the horizon, or no ten observations before them. Its verdict
// is a [Word].
//
// Bands that were a little too narrow are no reason against it: Calibrate widens them. The verdict cannot foresee what the past does not
// show, such as a change of level after the last observation.
func (a *Analysis) Backtest(ctx context.Context, o BacktestOptions) (*Trust, error) {
	n := len(a.Series.X)
	o.Horizon, o.Origins = cmp.Or(o.Horizon, 24), cmp.Or(o.Origins, 5)
	if o.Holdout > 0 {
		o.Horizon, o.Origins = o.Holdout, 1
	}
	plan, err := o.plan(n)
	if err != nil {
		return nil, err
	}
	if err := a.condition(); err != nil {
		return nil, err
	}
	plan.Levels, plan.RefitEvery, plan.Window = []float64{0.95}, 1, a.remembers()
	var reused []string
	r, err := Backtest(ctx, a.Series.Y, plan, func(ctx context.Context, train Window) (Forecaster, error) {
		past, why, err := a.asOf(ctx, train)
		reused = append(reused, why)
		return past.forecaster(a.Series), err
	}, a.Series.yardsticks(plan.First, a.naiveSeasons(plan.First))...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r == nil {
		return nil, err
	}
	for _, at := range r.Origins {
		if at.Err != nil {
			return nil, fmt.Errorf("forecast: forecasting from %s: %w", a.Series.Axis.Text(a.Series.X[at.Test.From-1]), at.Err)
		}
	}
	t := &Trust{Known: plan.First, Separate: float64(n-plan.First) / float64(o.Horizon)}
	t.compare(r, a.Series.Y)
	for i, at := range r.Origins {
		t.Past = append(t.Past, PastForecast{From: a.Series.Axis.Text(a.Series.X[at.Test.From-1]), N: at.Test.Len(),
			Coverage: at.Model.Intervals[0].Coverage, MAE: at.Model.MAE, Naive: at.Naive.MAE, Reused: reused[i]})
	}
	t.Knew = a.knew(reused)
	if checks, err := a.residuals(lastChecked); err == nil {
		t.missed = checks.broken()
	}
	t.judge(n, o.Horizon)
	return t, nil
}

// compare takes what the verdict needs from a backtest of y.
func (t *Trust) compare(r *Report, y []float64) {
	h := len(r.Leads)
	t.Horizon, t.Origins, t.N = h, len(r.Origins), r.Model.N
	t.Against, t.Season = r.Against.Name, r.Against.Season
	t.Coverage, t.Spread = r.Model.Intervals[0].Coverage, r.Model.Spread
	none := unseen * medianDistance(y)
	t.Relative = relative(r.Model.MAE, r.Naive.MAE, none)
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
		test := y[o.Test.From:o.Test.To]
		if widenedCoverage(o.Forecast, test, t.Widen) < poor {
			t.Narrow++
		}
	}
}

// widenedCoverage is the share of y in the 95 % bands of a forecast, widened about its mean.
func widenedCoverage(p Predictive, y []float64, widen float64) float64 {
	middle, lo, hi := p.Mean(), p.Quantile(0.025), p.Quantile(0.975)
	for i, m := range middle {
		lo[i], hi[i] = m-widen*(m-lo[i]), m+widen*(hi[i]-m)
	}
	return Coverage(y, lo, hi)
}

// plan returns the latest origins in n observations that leave enough to learn from, with a shorter horizon if need be.
func (o BacktestOptions) plan(n int) (p BacktestPlan, err error) {
	least := max(4, n/3)
	if o.Holdout > 0 {
		least = 4
	}
	h := min(o.Horizon, n-least)
	if h < 1 || o.Horizon < 1 || o.Origins < 1 {
		return p, fmt.Errorf("forecast: %d observations are too few to forecast %d of them from the others", n, o.Horizon)
	}
	if o.Holdout > 0 && h < o.Holdout {
		return p, fmt.Errorf("forecast: %d observations are too few to hold out %d: at most %d", n, o.Holdout, n-least)
	}
	step := max(1, min(h, (n-least-h)/max(1, o.Origins-1)))
	return BacktestPlan{First: n - h - min(o.Origins-1, (n-h-least)/step)*step, Horizon: h, Step: step}, nil
}

// medianDistance returns the median distance of y from its median, which outliers hardly move.
func medianDistance(y []float64) float64 {
	middle := median(y)
	away := make([]float64, len(y))
	for i, v := range y {
		away[i] = math.Abs(v - middle)
	}
	return median(away)
}

// relative returns a mean error divided by that of the naive forecast. Errors up to none count as equal: of two forecasts that are right
// to six digits neither is better.
func relative(mean, naive, none float64) float64 {
	switch {
	case mean <= none && naive <= none:
		return 1
	case naive == 0:
		return math.MaxFloat64
	}
	return mean / naive
}

// widening returns √((k₀ + Σ s_k)/(k₀ + K)), at least 1. s_k, at most 6, is the mean of (error/standard deviation)² at origin k of K.
// This is approximately the posterior mean of the factor by which variances are too small, with a prior worth k₀ origins at which they
// were right. The errors of one origin have much in common, so each origin counts as one observation.
func widening(squares []float64) float64 {
	const before, most = 12, 6
	sum := float64(before)
	for _, s := range squares {
		sum += min(s, most)
	}
	return max(1, math.Sqrt(sum/float64(before+len(squares))))
}

// Calibrate widens the bands of later forecasts of the analysis by Trust.Widen.
func (a *Analysis) Calibrate(t *Trust) { a.Widen = t.Widen }

// Testable reports whether a backtest is possible, and quick enough to run without being requested.
func (a *Analysis) Testable(o BacktestOptions) bool {
	n := len(a.Series.X)
	return a.Projections == 0 && n-max(4, n/3) >= 1
}

// remembers returns the number of observations before an origin that a forecast from there learns from and is conditioned on.
func (a *Analysis) remembers() int {
	if a.Series.dense() {
		return fewUneven
	}
	return min(remembered, a.conditionsOn())
}

// relearn trains a model, from its parameters, on what was known at an origin. If they are kept, reused says why.
func (a *Analysis) relearn(ctx context.Context, m member, v yScale, model gppl.Model, e extent) (learnt gppl.Model, reused string, err error) {
	if a.Projections > 0 || a.Chosen == ByBIC && len(a.Result.Priors) > 0 {
		return model, "projections and given priors are those of the whole series", nil
	}
	if v.counts != nil {
		if v, err = v.linearised(ctx, model, m.shape); err != nil {
			return model, err.Error(), ctx.Err()
		}
	}
	loss, err := gppl.NewExact(model, v.data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return model, err.Error(), nil
	}
	if _, seconds := loss.Cost(model); seconds*refitEvaluations > refitSeconds {
		return model, "learning them again takes too long", nil
	}
	r, _, err := trainWithPriors(ctx, v, model, beliefsOf(m.kind, model, e, a.given, v.scaling.Scale), e.span, gppl.Settings{
		GradientTolerance: searchGradient, MaxEvaluations: refitEvaluations, NoStandardErrors: true,
	})
	switch {
	case ctx.Err() != nil:
		return model, "", ctx.Err()
	case err != nil:
		return model, err.Error(), nil
	}
	return r.Model, "", nil
}

// asOf returns the analysis as it would be after the observations of train. If the parameters are those of the whole series, reused says
// why.
func (a *Analysis) asOf(ctx context.Context, train Window) (past *Analysis, reused string, err error) {
	n := train.Len()
	past = &Analysis{Series: a.Series.part(train.From, train.To), Result: a.Result, given: a.given, windows: new(windowCache)}
	e := extent{a.Series.Step, a.Series.X[train.To-1] - a.Series.X[train.From]}
	for _, m := range a.tested() {
		v, err := newYScale(past.Series, 0, n, m.log)
		if err != nil {
			return past, "", err
		}
		// The model was trained on values with another standardisation.
		model, why, err := a.relearn(ctx, m, v, rescaled(m.model, math.Pow(m.scale.scaling.Scale/v.scaling.Scale, 2)), e)
		if err != nil {
			return past, "", err
		}
		reused = cmp.Or(reused, why)
		if v.counts != nil {
			if v, err = v.linearised(ctx, model, m.shape); err != nil {
				return past, "", err
			}
		}
		p, _, err := conditionOn(model, v.data, windowLength, a.room(), past.windows)
		if err != nil {
			return past, "", err
		}
		past.members = append(past.members, &member{kind: m.kind, model: model, log: m.log, weight: m.weight, scale: &v, posterior: p, shape: m.shape})
	}
	return past, reused, nil
}

// forecaster returns the forecasts of an analysis as of some origin of the whole series.
func (a *Analysis) forecaster(whole *Series) Forecaster {
	return func(ctx context.Context, _, test Window) (Predictive, error) {
		x := whole.X[test.From:test.To]
		if whole.Errors != nil {
			a.ahead = whole.Errors[test.From:test.To]
		}
		if c := whole.Counting; c != nil && c.Sizes != nil {
			a.sizes = c.Sizes[test.From:test.To]
		}
		parts, err := a.parts(ctx, x)
		if err != nil {
			return nil, err
		}
		return forecastOf(x, make([]string, len(x)), parts).Predictive(), nil
	}
}

// knew says what forecasts of the past knew of the whole series, if reused says why parameters were not learnt again.
func (a *Analysis) knew(reused []string) string {
	structure := a.Chosen == ByEvidence || len(a.Candidates) > 1
	parameters := slices.ContainsFunc(reused, func(why string) bool { return why != "" })
	switch {
	case structure && parameters:
		return "structure and parameters"
	case structure:
		return "structure"
	case parameters:
		return "parameters"
	}
	return ""
}

// tested returns the members of the average that forecast the past: the heaviest two, or those of fixed weight and the heaviest other.
func (a *Analysis) tested() (out []member) {
	const most = 2
	var fixed, others []member
	var rest, total float64 = 1, 0
	for _, m := range a.members {
		if m.fixed() {
			fixed, rest = append(fixed, *m), rest-m.weight
		} else {
			others = append(others, *m)
		}
	}
	slices.SortStableFunc(others, func(p, q member) int { return cmp.Compare(q.weight, p.weight) })
	if len(fixed) > 0 {
		others[0].weight = rest
		return append(others[:1], fixed...)
	}
	out = others[:min(most, len(others))]
	for _, m := range out {
		total += m.weight
	}
	for i := range out {
		out[i].weight /= total
	}
	return out
}

// rescaled multiplies the variances of a model by c, except fixed ones: those of further factors of a product.
func rescaled(m gppl.Model, c float64) gppl.Model {
	theta := m.Values()
	for i, p := range m.Params() {
		if (p.Role == gppl.RoleVariance || p.Role == gppl.RoleNoise) && !p.IsFixed() {
			theta[i] *= c
		}
	}
	return m.WithParams(theta)
}
