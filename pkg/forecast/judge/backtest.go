package judge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// A Window holds the observations From, …, To − 1 of a series.
type Window struct{ From, To int }

// Len returns To − From.
func (w Window) Len() int { return w.To - w.From }

// A Forecaster learns from the observations of train, and forecasts the observations of test.
type Forecaster func(ctx context.Context, train, test Window) (Predictive, error)

// BacktestPlan configures a backtest. Training always ends where the test begins.
type BacktestPlan struct {
	First   int // number of observations before the first origin
	Horizon int // number of observations to forecast at each origin
	// Step is the distance between origins, in observations; 0 means Horizon, so that
	// every observation is forecast once.
	Step int
	// Window is the largest number of observations to train on; 0 means all before the origin.
	Window int
	// Together is the number of origins whose forecasts are made at the same time. Above 1, the Forecaster must be safe for
	// concurrent use; 0 means 1.
	Together int
	// Season is the season of MASE and of the seasonal naive forecast, in observations; 0 means 1.
	Season int
	// Levels are the levels of central intervals, in (0, 1); nil means 0.5 and 0.95.
	Levels []float64
}

// A Yardstick is a naive forecast, with which others are compared.
type Yardstick struct {
	Name     string // what it forecasts with, as in "repeating the last value"
	Forecast Forecaster
	Season   int // number of observations after which it repeats; 0 if it does not
}

// Scores are the scores of many forecasts of one value each, with the point forecast f of y.
type Scores struct {
	N    int     // number of forecasts
	RMSE float64 // √(mean (y − f)²), in the unit of y
	MAE  float64 // mean |y − f|, in the unit of y
	// MASE is the mean of |y − f| divided by the [Scale] of the forecast's own training data. Below 1, the forecast is better than
	// the seasonal naive forecast within these data (Hyndman and Koehler 2006; the M4 competition). It is +Inf or NaN if the data
	// repeat themselves exactly.
	MASE  float64
	SMAPE float64 // see the function SMAPE
	// NLPD is the mean negative log predictive density, in nats (Rasmussen and Williams 2006, section 2.5). A variance of 0 is the
	// limit v → 0: NLPD is +Inf if any such forecast differs from y, and otherwise −Inf.
	NLPD float64
	// CRPS is the mean continuous ranked probability score ∫ (F(u) − 1[u ≥ y])² du, in the unit of y (Gneiting and Raftery 2007,
	// eq. 21).
	CRPS      float64
	Spread    float64          // √(mean ((y − f)/s)²), s half the distance of the quantiles at 15.9 and 84.1 %; 1 if s is correct
	Intervals []IntervalScores // one for each level
}

// IntervalScores are the scores of central intervals at one level.
type IntervalScores struct{ Level, Coverage, Width, Score float64 }

// Lead holds the scores of forecasts H observations ahead.
type Lead struct {
	H            int // ≥ 1
	Model, Naive Scores
}

// Origin holds the outcome at one origin.
type Origin struct {
	Train, Test  Window
	Err          error // why there is no forecast, nil if there is
	Model, Naive Scores
	Forecast     Predictive // nil if there is none
}

// Report holds the result of a backtest. All scores are over the origins that have a forecast.
type Report struct {
	Model, Naive Scores // Naive is the yardstick's forecast of the same values
	// Against is the yardstick, or the one of several that has the least mean absolute error over all origins.
	Against Yardstick
	Leads   []Lead // one for each number of observations ahead
	Origins []Origin
	Failed  int // number of origins without a forecast
}

// Backtest forecasts y from rolling origins (Tashman 2000): at First, First + Step, …, as long as Horizon observations follow,
// the Forecaster learns from the observations before the origin. Its forecast of the observations after it is scored beside the
// best yardstick or, without any, the seasonal naive forecast. An origin whose forecast fails is reported with its error.
//
// It is an error if the plan is out of range or has no origin, if y is not finite, or if no origin has a forecast. When ctx ends,
// the report so far is returned with its error.
func Backtest(ctx context.Context, y []float64, plan BacktestPlan, of Forecaster, against ...Yardstick) (*Report, error) {
	plan, err := plan.filled(y)
	if err != nil {
		return nil, err
	}
	if len(against) == 0 {
		against = []Yardstick{seasonalYardstick(y, plan.Season)}
	}
	r := &Report{}
	b := bench{levels: plan.Levels, naive: make([][]single, len(against))}
	origins := plan.origins(len(y))
	parallel.Each(plan.Together, len(origins), func(i int) {
		o := &origins[i]
		if ctx.Err() == nil {
			o.Forecast, o.Err = of(ctx, o.Train, o.Test)
		}
		if ctx.Err() != nil { // ctx was cancelled, which says nothing about the origin
			o.Forecast, o.Err = nil, nil
		}
	})
	var failed error
	for _, o := range origins {
		if o.Forecast == nil && o.Err == nil { // ctx was cancelled
			break
		}
		p := o.Forecast
		o.Forecast = nil
		if o.Err == nil {
			o.Err = b.score(ctx, p, against, y, o, plan.Season)
		}
		if o.Err == nil {
			o.Forecast = p
		} else {
			failed = o.Err
			r.Failed++
		}
		r.Origins = append(r.Origins, o)
	}
	b.report(r, against, plan.Horizon)
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if r.Failed == len(r.Origins) {
		return r, fmt.Errorf("no forecast at any of %d origins, the last one: %w", r.Failed, failed)
	}
	return r, nil
}

// origins returns the origins in n observations, with the observations to train on and to forecast.
func (p BacktestPlan) origins(n int) (all []Origin) {
	for at := p.First; at+p.Horizon <= n; at += p.Step {
		o := Origin{Train: Window{0, at}, Test: Window{at, at + p.Horizon}}
		if p.Window > 0 {
			o.Train.From = max(0, at-p.Window)
		}
		all = append(all, o)
	}
	return all
}

// filled returns the plan with its defaults, or what is wrong with it.
func (p BacktestPlan) filled(y []float64) (BacktestPlan, error) {
	if i := numeric.FirstNotFinite(y); i >= 0 {
		return p, fmt.Errorf("y[%d] = %v is not finite", i, y[i])
	}
	if p.Season == 0 {
		p.Season = 1
	}
	if p.Step == 0 {
		p.Step = p.Horizon
	}
	if p.Levels == nil {
		p.Levels = []float64{0.5, 0.95}
	}
	switch {
	case p.Horizon < 1:
		return p, fmt.Errorf("a horizon of %d: want at least 1", p.Horizon)
	case p.Step < 0 || p.Window < 0 || p.Together < 0 || p.Season < 0:
		return p, errors.New("none of Step, Window, Together and Season may be negative")
	case p.First <= p.Season:
		return p, fmt.Errorf("%d observations before the first origin for a season of %d: want more than one season",
			p.First, p.Season)
	case p.Window > 0 && p.Window <= p.Season:
		return p, fmt.Errorf("a window of %d observations for a season of %d: want more than one season", p.Window, p.Season)
	case p.First+p.Horizon > len(y):
		return p, fmt.Errorf("%d observations for a first origin at %d and a horizon of %d: there is none",
			len(y), p.First, p.Horizon)
	}
	for _, level := range p.Levels {
		if !(level > 0 && level < 1) {
			return p, fmt.Errorf("an interval at level %v: want 0 < level < 1", level)
		}
	}
	return p, nil
}

// bench keeps the scores of single forecasts: the model's, and each yardstick's in the order of the yardsticks.
type bench struct {
	levels []float64
	model  []single
	naive  [][]single
}

// single holds the scores of the forecast of one value.
type single struct {
	square, absolute, scaled, smape, nlpd, crps, squareSpread float64
	intervals                                                 []IntervalScores
}

// score scores the forecasts from one origin.
func (b *bench) score(ctx context.Context, p Predictive, against []Yardstick, y []float64, o Origin, season int) error {
	test, scale := y[o.Test.From:o.Test.To], Scale(y[o.Train.From:o.Train.To], season)
	own, err := b.singles(p, test, scale)
	if err != nil {
		return err
	}
	others := make([][]single, len(against))
	for i, a := range against {
		n, err := a.Forecast(ctx, o.Train, o.Test)
		if err != nil {
			return err
		}
		if others[i], err = b.singles(n, test, scale); err != nil {
			return err
		}
	}
	b.model = append(b.model, own...)
	for i := range others {
		b.naive[i] = append(b.naive[i], others[i]...)
	}
	return nil
}

// report fills in the scores, beside the best of the yardsticks.
func (b *bench) report(r *Report, against []Yardstick, horizon int) {
	best := 0
	r.Model, r.Naive, r.Against = b.summarise(b.model), b.summarise(b.naive[0]), against[0]
	for i := range against[1:] {
		if s := b.summarise(b.naive[i+1]); s.MAE < r.Naive.MAE {
			best, r.Naive, r.Against = i+1, s, against[i+1]
		}
	}
	naive, at := b.naive[best], 0
	for i := range r.Origins {
		if o := &r.Origins[i]; o.Err == nil {
			o.Model, o.Naive = b.summarise(b.model[at:at+horizon]), b.summarise(naive[at:at+horizon])
			at += horizon
		}
	}
	for h := range horizon {
		r.Leads = append(r.Leads, Lead{h + 1, b.summarise(every(b.model, h, horizon)), b.summarise(every(naive, h, horizon))})
	}
}

// ScoresOf returns the scores of a forecast of y, with intervals at the levels. MASE is scaled by the seasonal differences of
// train, the values before y (Scale). It is an error if a point forecast is not finite.
func ScoresOf(p Predictive, y, train []float64, season int, levels []float64) (Scores, error) {
	b := bench{levels: levels}
	all, err := b.singles(p, y, Scale(train, season))
	return b.summarise(all), err
}

func (b *bench) singles(p Predictive, y []float64, scale float64) ([]single, error) {
	f, log, crps := p.Point(), p.LogDensity(y), p.CRPS(y)
	same("a forecast", len(y), len(f), len(log), len(crps))
	out := make([]single, len(y))
	for i := range y {
		if !numeric.IsFinite(f[i]) {
			return nil, fmt.Errorf("the forecast %d ahead is %v", i+1, f[i])
		}
		e := math.Abs(y[i] - f[i])
		out[i] = single{square: e * e, absolute: e, scaled: e / scale, smape: smape(y[i], f[i]), nlpd: -log[i], crps: crps[i]}
	}
	below, above := p.Quantile(forecast.OneBelow), p.Quantile(1-forecast.OneBelow)
	for i := range y {
		const most = 1e6 // largest number of standard deviations, also for a forecast without spread
		if out[i].absolute > 0 {
			z := min(most, 2*out[i].absolute/(above[i]-below[i]))
			out[i].squareSpread = z * z
		}
	}
	if p, ok := p.(interface{ Standardised(y []float64) []float64 }); ok { // quantiles of counts, and at a bound, coincide
		for i, z := range p.Standardised(y) {
			out[i].squareSpread = z * z
		}
	}
	for _, level := range b.levels {
		lo, hi := p.Quantile(0.5*(1-level)), p.Quantile(0.5*(1+level))
		same("a forecast", len(y), len(lo), len(hi))
		for i := range y {
			out[i].intervals = append(out[i].intervals,
				IntervalScores{level, covered(y[i], lo[i], hi[i]), hi[i] - lo[i], intervalScore(y[i], lo[i], hi[i], level)})
		}
	}
	return out, nil
}

// every returns the entries h, h + horizon, ….
func every(all []single, h, horizon int) (some []single) {
	for i := h; i < len(all); i += horizon {
		some = append(some, all[i])
	}
	return some
}

func (b *bench) summarise(all []single) Scores {
	of := func(f func(single) float64) float64 { return mean(len(all), func(i int) float64 { return f(all[i]) }) }
	s := Scores{
		N:    len(all),
		RMSE: math.Sqrt(of(func(s single) float64 { return s.square })),
		MAE:  of(func(s single) float64 { return s.absolute }), MASE: of(func(s single) float64 { return s.scaled }),
		SMAPE: of(func(s single) float64 { return s.smape }), NLPD: meanNats(len(all), func(i int) float64 { return all[i].nlpd }),
		CRPS: of(func(s single) float64 { return s.crps }), Spread: math.Sqrt(of(func(s single) float64 { return s.squareSpread })),
	}
	for j, level := range b.levels {
		s.Intervals = append(s.Intervals, IntervalScores{
			level, of(func(s single) float64 { return s.intervals[j].Coverage }),
			of(func(s single) float64 { return s.intervals[j].Width }), of(func(s single) float64 { return s.intervals[j].Score }),
		})
	}
	return s
}

// String renders the scores on one line.
func (s Scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "n=%d RMSE %.4g, MAE %.4g, MASE %.3f, sMAPE %.2f %%, NLPD %.3f, CRPS %.4g",
		s.N, s.RMSE, s.MAE, s.MASE, s.SMAPE, s.NLPD, s.CRPS)
	for _, i := range s.Intervals {
		fmt.Fprintf(&b, ", %g %% intervals hold %.1f %% (width %.4g)", 100*i.Level, 100*i.Coverage, i.Width)
	}
	return b.String()
}
