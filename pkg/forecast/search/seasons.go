package search

import (
	"context"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

const (
	// detectable is the number of observations from which seasons are searched for.
	detectable = 24
	// leastWaves is the smallest number of cycles of a smooth season.
	leastWaves = 1.5
	// shortestWave is the shortest period of a wave, in steps.
	shortestWave = 2.5
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
			given[i].smoothness = views[0].smoothness(folded{period: steps})
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
			calendar[i].smoothness = l.views[0].smoothness(folded{period: steps})
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
		case slices.ContainsFunc(l.all, season.isWave) && steps > 0 && !l.gains(steps):
			calendar[i].faint = true // what its means gained was a wave
		}
	}
	return l.all, l.clearer, nil
}
