package search

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// look is a search for the seasons that a series shows.
type look struct {
	s        *series.Series
	calendar []season
	whole    []int   // seasons of the calendar, in steps
	seen     []bool  // seasons of the calendar that the series shows
	views    []*view // the series without what was found
	all      []season
	clearer  bool // the first of all is clearer than the calendar's
}

// find adds the seasons of the views, the clearest first: waves and, if means is set, seasonal means.
func (l *look) find(ctx context.Context, means bool) error {
	for range len(l.calendar) + 2*mostShown {
		if len(l.all) == mostShown {
			return nil
		}
		var best folded
		if means {
			best = clearest(l.views, l.whole)
		}
		w, err := l.views[0].pursued(ctx)
		if err != nil {
			return err
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

// add appends a season that is not the calendar's.
func (l *look) add(found season) {
	l.clearer = l.clearer || len(l.all) == 0 && !slices.Contains(l.seen, true)
	l.all = append(l.all, found)
}

// takeFolded subtracts a season by its means and adds it. It returns false if that was done before.
func (l *look) takeFolded(best folded) bool {
	smoothness := l.views[0].levelled(best.period).smoothness(best)
	for _, v := range l.views {
		v.leaveOut(best)
	}
	found := season{period: float64(best.period) * l.s.Step, fixed: true, shown: true, smoothness: smoothness}
	if slices.ContainsFunc(l.all, func(c season) bool { return l.same(found.period, c) }) {
		return false
	}
	if i := slices.IndexFunc(l.calendar, func(c season) bool { return l.same(found.period, c) }); i >= 0 {
		l.seen[i] = true
		return true
	}
	l.add(found)
	return true
}

// takeWave subtracts the season of the strongest wave. If the period of the strongest wave is a fraction of the periods of other
// waves, the longest of these is the period of the season. takeWave also adds the season, unless its period is a fraction of the
// period of a season that was found before.
func (l *look) takeWave(w waves) {
	step := l.s.Step
	found := season{period: w.periods[0] * step, shown: true}
	for _, p := range w.periods {
		if p *= step; p > found.period && l.fraction(w.periods[0]*step, p) {
			found.period = p
		}
	}
	for i, c := range l.calendar {
		if l.seen[i] && l.fraction(found.period, c.period) || l.calendars(w, found, c) {
			found, l.seen[i] = c, true
			break
		}
	}
	const harmonics = 6
	others := slices.DeleteFunc(slices.Clone(w.periods), func(p float64) bool { return l.fraction(p*step, found.period) })
	var own []float64 // the harmonics of the season, which a wave has on another scale
	for h := 1; h <= harmonics && found.period >= shortestWave*step*float64(h); h++ {
		own = append(own, found.period/step/float64(h))
	}
	l.dropViews(w.periods)
	for i, v := range l.views {
		l.views[i] = v.without(own, others)
		if steps := found.whole(l.s); found.fixed && steps > 0 {
			l.views[i].leaveOut(folded{period: steps})
		}
	}
	if !found.fixed && !slices.ContainsFunc(l.all, func(c season) bool { return l.fraction(found.period, c.period) }) {
		l.add(found)
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

// calendars reports whether the season found in waves is the season c of the calendar. It is if the periods are close, unless the
// found period explains clearly more: with little noise, few cycles tell periods less than half a cycle apart. It also is if the
// found period is a fraction of c's, and the series shows other fractions: further waves, or seasonal means that gain once the
// waves are subtracted.
func (l *look) calendars(w waves, found, c season) bool {
	if l.same(found.period, c) {
		at := func(period float64) float64 { return l.views[0].shown([]float64{period / l.s.Step}) }
		return at(found.period)-at(c.period) < clearlyShown
	}
	if c.period > l.span()/series.LeastPeriods || !l.fraction(found.period, c.period) {
		return false
	}
	for _, p := range w.periods {
		if p *= l.s.Step; l.fraction(p, c.period) && !l.fraction(p, found.period) {
			return true
		}
	}
	steps := c.whole(l.s)
	return steps > 0 && l.views[0].without(w.periods, nil).gain(steps) > 0
}
