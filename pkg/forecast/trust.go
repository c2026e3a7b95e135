package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/risk"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Trust compares forecasts of the recent past, at the requested horizon, with what was then
// observed, and says whether to use the forecast.
type Trust struct {
	Horizon int `json:"horizon"` // observations ahead
	Origins int `json:"origins"` // places in the past that were forecast from
	N       int `json:"n"`       // observations that were forecast, over all origins
	Season  int `json:"season"`  // season of the naive forecast, in observations; 1: it repeats the last value
	// Coverage is the share of the N observations that lie within the 95 % bands, before these are widened.
	Coverage float64 `json:"coverage_95"`
	// Relative is the mean absolute error over that of the seasonal naive forecast.
	Relative float64 `json:"relative_error"`
	Spread   float64 `json:"spread"` // root mean square of error over standard deviation; 1 if the bands are right
	Late     float64 `json:"late"`   // the same over the last third of the horizon
	// Widen is the factor by which the standard deviations of a forecast must be multiplied to agree with the errors of the past; at least 1.
	Widen float64 `json:"widen"`
	// Risk is the probability, estimated on other series, that the widened bands contain less than 70 % of the observations to come;
	// 0 where it is not estimated. In the last third of the horizon, in standard deviations of the forecast, Away is the largest distance
	// between the forecast and the naive one, and Apart that between the random walk with drift and the other models; 0 without one.
	// Logarithm is the weight of models of log y among those other models.
	Risk      float64 `json:"doubt,omitempty"`
	Away      float64 `json:"away,omitempty"`
	Apart     float64 `json:"apart,omitempty"`
	Logarithm float64 `json:"logarithm,omitempty"`
	// Use is false if the verdict is not to use the forecast, for Reasons. Care says why a forecast that may be used needs care; "" if it
	// does not. Verdict says all this in a sentence or two.
	Use     bool     `json:"use"`
	Reasons []string `json:"reasons,omitempty"`
	Care    string   `json:"care,omitempty"`
	Verdict string   `json:"verdict"`
	// Origin by origin, the earliest first.
	Past []PastForecast `json:"past,omitempty"`

	period float64 // of the season, on the axis; 0 for none
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
	// A forecast is advised against if its 95 % bands, before they are widened, contained a smaller share than lowCoverage, or if its
	// error was more than highRelative times seasonal naive's. On the development half of M3 the widened bands of the forecasts that
	// pass contained 94 %.
	lowCoverage  = 0.65
	highRelative = 1.15
	// lateSpread bounds the root mean square of error over widened standard deviation in the last third of the horizon.
	lateSpread = 2.5
	// unseen is an error over the spread of y that counts as none.
	unseen = 1e-6
	// horizons is the number of horizons that a series must span for its past to test a forecast.
	horizons = 3
	// refitted is the number of observations up to which parameters are learnt again at each origin; above, they are re-used.
	refitted = 1500
	// refitEvaluations bounds the evaluations of learning again. Few suffice: training starts at the optimum of the whole series.
	refitEvaluations = 15
	// remembered is the number of observations before an origin that a forecast of the past is conditioned on.
	remembered = 3000
	// fewUneven replaces remembered for a series whose likelihood is dense (Series.dense).
	fewUneven = 700
)

// Backtest forecasts the latest past from rolling origins and compares the forecasts with what followed. At each origin the
// parameters are learnt again, starting at their present values, from the observations up to the origin. They are those of the whole
// series if kernels were named, or if more than 1500 observations come before the origin (PastForecast.Reused). The structure is
// always that of the whole series, which flatters the forecast a little. If the series is too short for the horizon, a shorter
// horizon is tested, and the verdict says so.
//
// A forecast is advised against
//   - if the series is less than three horizons long: its past cannot test a forecast that far ahead,
//   - if the 95 % bands contained less than 65 % of the observations,
//   - if the error was above 1.15 times seasonal naive's,
//   - if, in the last third of the horizon, the root mean square of error over widened standard deviation was above 2.5: the bands
//     do not grow as the errors do,
//   - if Trust.Risk is above 10 %, unless the bands of the past contained 90 % and its errors were below half of seasonal naive's.
//
// Above 5 % the verdict is to use the forecast with care.
//
// Bands that were a little too narrow are no reason: Calibrate widens them. The verdict cannot foresee what the past does not show,
// such as a change of level after the last observation.
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
	h := plan.Horizon
	t := &Trust{Horizon: h}
	t.period, t.Season = a.season(plan.First)
	var errs, naives, squares, late float64
	var perOrigin []float64
	var lateN int
	for _, at := range plan.origins(n) {
		origin := at.Test.From
		f, reused, err := a.forecastFrom(ctx, origin, h)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("forecast: forecasting from %s: %w", a.Series.Axis.Text(a.Series.X[origin-1]), err)
		}
		y := a.Series.Y[origin : origin+h]
		naive := a.Series.naive(a.Series.X[origin:origin+h], origin, t.period)
		p := PastForecast{From: a.Series.Axis.Text(a.Series.X[origin-1]), N: h,
			Coverage: Coverage(y, f.Lower, f.Upper), MAE: MAE(y, f.Mean), Naive: MAE(y, naive), Reused: reused}
		t.Past = append(t.Past, p)
		t.Coverage += p.Coverage
		errs += p.MAE
		naives += p.Naive
		before := squares
		for i, v := range y {
			z := (v - f.Mean[i]) / math.Sqrt(f.NoisyVar[i])
			squares += z * z
			if 3*i >= 2*h {
				late += z * z
				lateN++
			}
		}
		perOrigin = append(perOrigin, (squares-before)/float64(h))
		t.Origins++
		t.N += h
	}
	t.Coverage /= float64(t.Origins)
	t.Relative = relative(errs/float64(t.Origins), naives/float64(t.Origins), unseen*medianDistance(a.Series.Y))
	t.Spread, t.Late = math.Sqrt(squares/float64(t.N)), math.Sqrt(late/float64(max(1, lateN)))
	t.Widen = widening(perOrigin)
	if err := a.setRisk(ctx, t, o); err != nil {
		return nil, err
	}
	t.judge(n, o.Horizon)
	return t, nil
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

// reuse says why the parameters are not learnt again from the n observations before an origin; "" if they are.
func (a *Analysis) reuse(n int) string {
	switch {
	case a.Chosen == ByBIC:
		return "kernels were named"
	case n > refitted:
		return fmt.Sprintf("there are more than %d observations", refitted)
	case a.Series.dense():
		return fmt.Sprintf("there are more than %d observations, and their likelihood is dense", fewUneven)
	}
	return ""
}

// forecastFrom forecasts the observations origin ≤ i < origin+h from those before. If the parameters are those of the whole series,
// reused says why.
func (a *Analysis) forecastFrom(ctx context.Context, origin, h int) (f *Forecast, reused string, err error) {
	known := remembered
	if a.Series.dense() {
		known = fewUneven
	}
	from := max(0, origin-known)
	past := &Analysis{Series: a.Series.part(from, origin), Result: a.Result, given: a.given, windows: new(windowCache)}
	if a.Series.Errors != nil {
		past.ahead = a.Series.Errors[origin : origin+h]
	}
	reused = a.reuse(origin - from)
	for _, m := range a.tested() {
		v, err := newYScale(past.Series, 0, origin-from, m.log)
		if err != nil {
			return nil, "", err
		}
		// The model was trained on values with another standardisation.
		model := rescaled(m.model, math.Pow(m.scale.scaling.Scale/v.scaling.Scale, 2))
		if a.reuse(origin-from) == "" {
			e := extent{a.Series.Step, a.Series.X[origin-1] - a.Series.X[from]}
			r, err := trainWithPriors(ctx, v.data, model, beliefsOf(m.kind, model, e, a.given, v.scaling.Scale), e.span, gppl.Settings{
				GradientTolerance: searchGradient, MaxEvaluations: refitEvaluations, NoStandardErrors: true,
			})
			switch {
			case ctx.Err() != nil:
				return nil, "", ctx.Err()
			case err != nil:
				reused = err.Error()
			default:
				model = r.Model
			}
		}
		p, _, err := conditionOn(model, v.data, windowLength, a.room(), past.windows)
		if err != nil {
			return nil, "", err
		}
		past.members = append(past.members, &member{kind: m.kind, model: model, log: m.log, weight: m.weight, scale: &v, posterior: p})
	}
	x := a.Series.X[origin : origin+h]
	parts, err := past.parts(ctx, x)
	if err != nil {
		return nil, "", err
	}
	return forecastOf(x, make([]string, h), parts), reused, nil
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

// Warned reports whether the verdict warns: whether it advises against the forecast, or to use it with care.
func (t *Trust) Warned() bool { return !t.Use || t.Care != "" }

// judge writes the verdict on a series of n observations and the horizon asked for.
func (t *Trust) judge(n, asked int) {
	over := fmt.Sprintf("over the last %d origins, %s ahead,", t.Origins, count(t.Horizon, "step"))
	if t.Origins == 1 {
		over = fmt.Sprintf("from the last origin, %s ahead,", count(t.Horizon, "step"))
	}
	if t.Coverage < lowCoverage {
		t.Reasons = append(t.Reasons, fmt.Sprintf("%s the 95 %% bands held only %.0f %% of what came", over, 100*t.Coverage))
	}
	switch {
	case t.Relative == math.MaxFloat64:
		t.Reasons = append(t.Reasons, fmt.Sprintf("%s %s had no error at all, and the forecast had one", over, t.naive()))
	case t.Relative > highRelative:
		t.Reasons = append(t.Reasons, fmt.Sprintf("%s its error was %.2f times that of %s", over, t.Relative, t.naive()))
	}
	if late := t.Late / max(1, t.Widen); late > lateSpread && t.Coverage >= lowCoverage {
		t.Reasons = append(t.Reasons, fmt.Sprintf("late in the horizon errors were %.1f times as large as the bands promise", late))
	}
	if n < horizons*asked {
		t.Reasons = append(t.Reasons, fmt.Sprintf("%d observations are too few to test a forecast of %d steps", n, asked))
	}
	if t.risky(risk.Refuse) {
		t.Reasons = append(t.Reasons, t.riskText(n))
	}
	t.Use = len(t.Reasons) == 0
	of := "seasonal naive's"
	if t.Season <= 1 {
		of = "that of " + t.naive()
	}
	found := fmt.Sprintf("%s the 95 %% bands held %.0f %% of what came, and the error was %.2f of %s", over, 100*t.Coverage, t.Relative, of)
	if t.Use {
		t.Verdict = strings.ToUpper(found[:1]) + found[1:] + "."
		if t.risky(risk.Care) {
			t.Care = t.riskText(n)
			t.Verdict += " Use this forecast with care: " + t.Care + "."
		}
	} else {
		t.Verdict = fmt.Sprintf("Do not use this forecast: %s.", strings.Join(t.Reasons, "; "))
	}
	if t.Widen > 1.05 {
		t.Verdict += fmt.Sprintf(" Its bands are %.1f times as wide as the model's own, to match these errors.", t.Widen)
	}
}

func (t *Trust) naive() string {
	if t.Season > 1 {
		return "seasonal naive"
	}
	return "repeating the last value"
}
