package search

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

const (
	// detectable is the number of observations from which seasons are searched for.
	detectable = 24
	// peaksTell is the number of even observations from which peaks of a periodogram may be seasons.
	peaksTell = 48
	// leastWaves is the smallest number of cycles of a smooth season.
	leastWaves = 2.5
	// faintOdds is the advantage in nats of models without a faint season of the calendar. Most daily series have a week, but one
	// of ten series of 24 days of noise also has one by its evidence.
	faintOdds = 2
	// mostShown is the largest number of seasons that a series may show beside the calendar's.
	mostShown = 2
)

// seasonsOf returns the seasons that a search tries: the given ones, or otherwise the calendar's followed by what the
// series shows. A season that is clearer than the calendar's comes first.
func seasonsOf(ctx context.Context, s *series.Series, o Options) (all []season, err error) {
	if o.NoSeason {
		return nil, nil
	}
	for _, period := range o.Periods {
		all = append(all, season{period: period, fixed: true})
	}
	if all != nil {
		smoothen(s, o, all)
		return all, nil
	}
	for _, period := range s.CalendarPeriods() {
		all = append(all, season{period: period, fixed: true})
	}
	shown, clearer, err := shownSeasons(ctx, s, o, all)
	if clearer {
		return append(shown, all...), err
	}
	return append(all, shown...), err
}

// smoothen sets the smoothness of given seasons of an even series.
func smoothen(s *series.Series, o Options, given []season) {
	if !s.Even || len(s.X) < detectable {
		return
	}
	views := detrendedViews(s, o)
	for i, c := range given {
		if steps := c.whole(s); steps > 0 && len(views) > 0 {
			given[i].smoothness = views[0].smoothness(folded{period: steps, parts: 1})
		}
	}
}

// shownSeasons returns the seasons that an even series shows beside the calendar's, the clearest first, once its trend, changes
// and regressors are subtracted; clearer says that the first is clearer than the calendar's. A rough season of P steps has P − 1
// free means and no single peak in a periodogram, so the seasonal means at every whole number of steps are scored by BIC
// (folded), and subtracted, until none is clear. Smooth seasons of any length are then clear peaks of the periodogram of the
// residuals (auto.ClearPeriods).
func shownSeasons(ctx context.Context, s *series.Series, o Options, calendar []season) (all []season, clearer bool, err error) {
	if !s.Even || len(s.X) < detectable {
		return nil, false, nil
	}
	span := s.X[len(s.X)-1] - s.X[0]
	same := func(period float64, other season) bool {
		return math.Abs(span/period-span/other.period) < 0.5 ||
			math.Abs(period/other.period-1) < 0.01
	}
	views := detrendedViews(s, o)
	if len(views) == 0 {
		return nil, false, nil
	}
	known := slices.Clone(calendar)
	var whole []int // seasons of the calendar, in steps
	for i, c := range calendar {
		if steps := c.whole(s); steps > 0 {
			whole = append(whole, steps)
			calendar[i].smoothness = views[0].smoothness(folded{period: steps, parts: 1})
			calendar[i].faint = !slices.ContainsFunc(views, func(v *view) bool { return v.gain(steps) > 0 })
		}
	}
	for len(all) < mostShown && len(known) < len(calendar)+2*mostShown {
		best := clearest(views, whole)
		if best.gain < clearlyShown {
			break
		}
		smoothness := views[0].smoothness(best)
		for _, v := range views {
			v.leaveOut(best)
		}
		period := best.steps() * s.Step
		if slices.ContainsFunc(calendar, func(c season) bool { return same(period, c) }) {
			known = append(known, season{period: period, fixed: true})
			continue
		}
		if slices.ContainsFunc(known, func(c season) bool { return same(period, c) }) {
			break
		}
		found := season{period: period, fixed: true, shown: true, smoothness: smoothness}
		if refined := best.refined; refined > 0 {
			found.period, found.fixed = refined*s.Step, false
		}
		clearer = clearer || len(known) == len(calendar)
		all, known = append(all, found), append(known, found)
	}
	smooth, err := smoothPeriods(ctx, s, views[0])
	for _, period := range smooth {
		if len(all) == mostShown || period > span/leastWaves || period < 2.5*s.Step ||
			slices.ContainsFunc(known, func(c season) bool { return same(period, c) || c.harmonic(period, span) }) {
			continue
		}
		found := season{period: period, shown: true}
		all, known = append(all, found), append(known, found)
	}
	return all, clearer, err
}

// smoothPeriods returns the periods of waves: the clear peaks of a periodogram of the whole series, or of its residuals without
// the seasons. Since few cycles make no clear peak, the highest peak also counts if its wave is most of the series. A wave must
// gain as much as other seasons, in the observations and in their AR(1) residuals.
func smoothPeriods(ctx context.Context, s *series.Series, v *view) (periods []float64, err error) {
	if s.Errors != nil { // the periodogram has no weights
		return nil, nil
	}
	const most = 0.5 // share of the variance that a cubic leaves
	if len(v.at) < len(s.X) {
		rest, err := withoutMean(s, s.Y)
		if err != nil {
			return nil, nil
		}
		v = &view{stepsOf(s, 0), rest, weightsOf(s)}
	}
	d := gppl.Data{X: gppl.Scalars(s.X), Y: v.y}
	clear, err := auto.ClearPeriods(ctx, d, mostShown)
	if err != nil { // no periodogram, or the end of ctx
		return nil, ctx.Err()
	}
	highest, err := auto.LikelyPeriods(ctx, d, 1)
	if err != nil {
		return nil, ctx.Err()
	}
	n := float64(len(s.X))
	white := v.whitened()
	for i, period := range append(clear, highest...) {
		steps, _ := v.refine(period/s.Step, 1)
		gain := v.gainAt(steps, 1)
		if min(gain, white.gainAt(steps, 1))-math.Log(n) < clearlyShown || i >= len(clear) && 1-math.Exp(-2*gain/n) < most {
			continue
		}
		periods = append(periods, steps*s.Step)
	}
	return periods, nil
}
