package search

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
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
	mostShown = 3
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
// (folded). Waves of any length are clear peaks of a periodogram (pursued). Whichever describes the series better is subtracted,
// until none is clear. A series longer than mostFolded shows its long waves as a whole.
func shownSeasons(ctx context.Context, s *series.Series, o Options, calendar []season) (all []season, clearer bool, err error) {
	if !s.Even || len(s.X) < detectable {
		return nil, false, nil
	}
	l := &look{s: s, calendar: calendar, seen: make([]bool, len(calendar)), views: detrendedViews(s, o)}
	if len(l.views) == 0 {
		return nil, false, nil
	}
	for i, c := range calendar {
		if steps := c.whole(s); steps > 0 {
			l.whole = append(l.whole, steps)
			calendar[i].smoothness = l.views[0].smoothness(folded{period: steps, parts: 1})
			calendar[i].faint = !l.gains(steps)
		}
	}
	if err := l.find(ctx, true); err != nil {
		return nil, false, err
	}
	if len(l.views[0].y) < len(s.X) {
		if rest, err := withoutMean(s, s.Y); err == nil {
			l.views = []*view{{stepsOf(s, 0), rest, weightsOf(s)}}
			if err := l.find(ctx, false); err != nil {
				return nil, false, err
			}
		}
	}
	for i, c := range calendar {
		switch steps := c.whole(s); {
		case l.seen[i]:
			calendar[i].faint = false
		case l.waves && steps > 0 && !l.gains(steps):
			calendar[i].faint = true // what its means gained was a wave
		}
	}
	return l.all, l.clearer, nil
}

// look is a search for the seasons that a series shows.
type look struct {
	s        *series.Series
	calendar []season
	whole    []int   // seasons of the calendar, in steps
	seen     []bool  // seasons of the calendar that the series shows
	views    []*view // the series without what was found
	all      []season
	clearer  bool // the first of all is clearer than the calendar's
	waves    bool // waves are among all
}

// find adds the seasons of the views, the clearest first: waves and, if means is set, seasonal means.
func (l *look) find(ctx context.Context, means bool) (err error) {
	for range len(l.calendar) + 2*mostShown {
		if len(l.all) == mostShown {
			return nil
		}
		var best folded
		if means {
			best = clearest(l.views, l.whole)
		}
		var w waves
		if l.s.Errors == nil { // the periodogram has no weights
			if w, err = l.views[0].pursued(ctx); err != nil {
				return err
			}
		}
		switch {
		case max(best.gain, w.gain) < clearlyShown:
			return nil
		case w.gain > best.gain:
			l.takeWave(w)
		case !l.takeFolded(best):
			return nil
		}
	}
	return nil
}

// gains reports whether seasonal means gain anything on any scale.
func (l *look) gains(steps int) bool {
	return slices.ContainsFunc(l.views, func(v *view) bool { return v.gain(steps) > 0 })
}

// span returns the time from the first to the last observation.
func (l *look) span() float64 { return l.s.X[len(l.s.X)-1] - l.s.X[0] }

// same reports whether a period is a season's.
func (l *look) same(period float64, other season) bool {
	return math.Abs(l.span()/period-l.span()/other.period) < 0.5 || math.Abs(period/other.period-1) < 0.01
}

// add appends a season, unless it is the calendar's, which is then seen.
func (l *look) add(found season) {
	for i, c := range l.calendar {
		if l.same(found.period, c) {
			l.seen[i] = true
			return
		}
	}
	l.clearer = l.clearer || len(l.all) == 0 && !slices.Contains(l.seen, true)
	l.all = append(l.all, found)
}

// takeFolded subtracts a season by its means and adds it. It returns false if that was done before.
func (l *look) takeFolded(best folded) bool {
	smoothness := l.views[0].smoothness(best)
	for _, v := range l.views {
		v.leaveOut(best)
	}
	found := season{period: best.steps() * l.s.Step, fixed: true, shown: true, smoothness: smoothness}
	if slices.ContainsFunc(l.all, func(c season) bool { return l.same(found.period, c) }) {
		return false
	}
	if refined := best.refined; refined > 0 {
		found.period, found.fixed = refined*l.s.Step, false
	}
	l.add(found)
	return true
}

// takeWave subtracts the strongest of several waves, with the others of its season, and adds the season unless it is a fraction
// of one that was found. The season has the longest period of a wave of which the strongest is a fraction.
func (l *look) takeWave(w waves) {
	step := l.s.Step
	of := season{period: w.periods[0] * step, shown: true}
	for _, p := range w.periods {
		if p *= step; p > of.period && l.fraction(w.periods[0]*step, p) {
			of.period = p
		}
	}
	for i, c := range l.calendar {
		if l.seen[i] && l.fraction(of.period, c.period) || l.more(w, of, c) {
			of, l.seen[i] = c, true
			break
		}
	}
	const harmonics = 6
	others := slices.DeleteFunc(slices.Clone(w.periods), func(p float64) bool { return l.fraction(p*step, of.period) })
	periods := others
	for h := 1; h <= harmonics && of.period >= 2.5*step*float64(h); h++ { // on another scale a wave has harmonics
		periods = append(periods, of.period/step/float64(h))
	}
	l.dropViews(w.periods)
	for i, v := range l.views {
		l.views[i] = v.without(periods, func(p float64) bool { return !slices.Contains(others, p) })
		if steps := of.whole(l.s); of.fixed && steps > 0 {
			l.views[i].leaveOut(folded{period: steps, parts: 1})
		}
	}
	if !of.fixed && !slices.ContainsFunc(l.all, func(c season) bool { return l.fraction(of.period, c.period) }) {
		l.add(of)
		l.waves = true
	}
}

// dropViews leaves out the scales on which waves explain clearly less than on another: their products are further waves there.
func (l *look) dropViews(periods []float64) {
	gains := make([]float64, len(l.views))
	for i, v := range l.views {
		_, gains[i] = v.fitted(periods, 1)
	}
	var kept []*view
	for i, v := range l.views {
		if gains[i] >= slices.Max(gains)-clearlyShown {
			kept = append(kept, v)
		}
	}
	l.views = kept
}

// fraction reports whether a period is a whole fraction of another, or the same.
func (l *look) fraction(period, of float64) bool {
	return season{period: of, fixed: true}.harmonic(period, l.span())
}

// more reports whether the season of a wave is a fraction of a season of the calendar of which the series shows more: other
// waves, or seasonal means that gain once the waves are subtracted.
func (l *look) more(w waves, of, c season) bool {
	if l.same(of.period, c) {
		return true
	}
	if c.period > l.span()/series.LeastPeriods || !l.fraction(of.period, c.period) {
		return false
	}
	for _, p := range w.periods {
		if p *= l.s.Step; l.fraction(p, c.period) && !l.fraction(p, of.period) {
			return true
		}
	}
	steps := c.whole(l.s)
	return steps > 0 && l.views[0].without(w.periods, func(float64) bool { return true }).gain(steps) > 0
}
