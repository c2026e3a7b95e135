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
	// detectable is the number of observations from which a period is looked for.
	detectable = 24
	// peaksTell is the number of even observations from which the peaks of a periodogram may be seasons.
	peaksTell = 48
	// leastWaves is the number of cycles of a smooth season.
	leastWaves = 2.5
	// faintOdds is the advantage in nats of models without a season of the calendar that is faint: most daily series have a week,
	// but noise of 24 days has one by its evidence in one of ten.
	faintOdds = 2
	// mostShown is the number of seasons beside the calendar's that a series may show.
	mostShown = 2
)

// seasonsOf returns the seasons that a search tries, in this order: the given ones, otherwise those of the calendar and those
// that the series itself shows. A season that is clearer than those of the calendar comes first.
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

// shownSeasons returns the seasons beside those of the calendar that an even series shows after its trend, its changes and its
// regressors, the clearest first, and whether it is clearer than those of the calendar. A rough season of P steps has P − 1 free
// means, and no single peak of a periodogram: seasonal means at every whole number of steps are scored by BIC (folded), until
// what they leave shows none. Smooth seasons of any length are the clear peaks of the periodogram of the rest
// (auto.ClearPeriods).
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
			known = append(known, season{period: period})
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
			slices.ContainsFunc(known, func(c season) bool { return same(period, c) || harmonic(c.period, period, span) }) {
			continue
		}
		found := season{period: period, shown: true}
		all, known = append(all, found), append(known, found)
	}
	return all, clearer, err
}

// smoothPeriods returns the periods of waves: the clear peaks of a periodogram of the whole series, or of what its seasons leave,
// and the highest peak if its wave is most of the series, since a few cycles are too few for a clear peak. A wave must also gain
// as much as other seasons, in the observations and in what an AR(1) leaves of them.
func smoothPeriods(ctx context.Context, s *series.Series, v *view) (periods []float64, err error) {
	if s.Errors != nil { // the periodogram has no weights
		return nil, nil
	}
	const most = 0.5 // of the variance about a cubic
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
