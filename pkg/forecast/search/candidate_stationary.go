package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// stationary is the candidate of sums of stationary kernels: a smooth, a less smooth and a rough signal, seasons, and nested
// seasons. The search begins with each alone and with each signal plus a season; the best sum then grows.
type stationary struct{ byEvidence }

var _ candidate = stationary{}

// signals are the names of the terms without a period.
var signals = []string{"SE", "Matern32", "Laplace"}

// named is true for any sum: candidates that come later in the list claim the names that are theirs.
func (stationary) named(string) bool { return true }

// propose returns the sums with which the search begins.
func (c stationary) propose(in *task) (all []proposal, err error) {
	add := func(terms ...gppl.Kernel) { all = append(all, proposal{terms: terms, noise: startNoise}) }
	for _, name := range signals {
		add(c.signal(name, in.extent, false))
	}
	if first := in.firstSeasons(); len(first) > 0 {
		add(first[0])
		add(first...)
		for _, name := range signals {
			add(append([]gppl.Kernel{c.signal(name, in.extent, false)}, first...)...)
		}
	}
	return all, nil
}

// firstSeasons returns the seasons with which the search begins: the waves that the series shows more clearly than other
// seasons, or else the first season.
func (t *task) firstSeasons() (terms []gppl.Kernel) {
	for i, s := range t.seasons {
		if i > 0 && !(s.isWave() && t.seasons[0].isWave()) {
			break
		}
		terms = append(terms, (stationary{}).seasonal(s))
	}
	return terms
}

// signal returns a kernel at the median of its prior. If short is set the lengthscale of a rough one is short, which suits the
// remainder of a slow term.
func (stationary) signal(name string, e extent, short bool) gppl.Kernel {
	middle := func(k gppl.Kernel) float64 {
		p, _ := priorOf(k, gppl.Param{Role: gppl.RoleLengthscale}, e)
		return math.Exp(p.Mu)
	}
	l := middle(gppl.Laplace{})
	if short {
		l = 2 * e.step
	}
	switch name {
	case "SE":
		return gppl.SE{Variance: 0.5, Lengthscale: middle(gppl.SE{})}
	case "Matern32":
		return gppl.Matern32{Variance: 0.5, Lengthscale: l}
	case "Laplace":
		return gppl.Laplace{Variance: 0.5, Lengthscale: l}
	}
	panic("search: no signal " + name)
}

// seasonal returns a season whose shape changes over several of its periods.
func (stationary) seasonal(s season) gppl.Kernel {
	return gppl.LocPer{Variance: 0.3, Lengthscale: seasonPeriods * s.period, Period: s.period,
		PeriodicLengthscale: cmp.Or(s.smoothness, smoothSeason)}
}

// turning is a season of two harmonics, whose cost is linear in n for any x.
func (stationary) turning(s season) gppl.Kernel {
	return gppl.Rotation{Variance: 0.3, Period: s.period, Quality: seasonQuality, Difference: 0.5, Mix: 0.5}
}

// additions returns the terms that may be added to a sum: each kind of signal once, each season once, and one cycle of nested
// seasons. A sum with a cycle may still have each of the two seasons: a cycle hardly ties the hours of a Sunday together, so the
// level of Sundays needs a season of its own.
func (c stationary) additions(in *task, terms []gppl.Kernel) (more []gppl.Kernel) {
	for _, name := range signals {
		if !slices.ContainsFunc(terms, func(t gppl.Kernel) bool { return KernelName(t) == name }) {
			more = append(more, smaller(c.signal(name, in.extent, true)))
		}
	}
	for _, s := range in.seasons {
		if !slices.ContainsFunc(terms, func(t gppl.Kernel) bool { return !isProduct(t) && in.hasSeason(t, s) }) {
			more = append(more, c.seasonal(s))
		}
	}
	for _, s := range in.seasons {
		if in.wanders(s) && !slices.ContainsFunc(terms, func(t gppl.Kernel) bool { return isWandering(t) && in.hasSeason(t, s) }) {
			more = append(more, c.wandering(s))
		}
	}
	if short, long, ok := nested(in.seasons); ok && !slices.ContainsFunc(terms, isCycle) {
		more = append(more, cycle(short, long))
	}
	return more
}

// nested returns two seasons, such as day and week, whose longer period is a multiple of the shorter.
func nested(seasons []season) (short, long season, ok bool) {
	for _, short := range seasons {
		for _, long := range seasons {
			ratio := long.period / short.period
			if short.fixed && long.fixed && ratio > 1.5 && math.Abs(ratio-math.Round(ratio)) < 0.01*ratio {
				return short, long, true
			}
		}
	}
	return short, long, false
}

// cycle is a short season whose shape depends on its place in the longer one: a day resembles the same day of other weeks more
// than its neighbours. A sum of two seasons would add the same shape to every day.
func cycle(short, long season) gppl.Kernel {
	const weeks = 4 // typical number of long seasons over which the shape changes
	return gppl.Mul(
		gppl.LocPer{Variance: 0.2, Lengthscale: weeks * long.period, Period: short.period, PeriodicLengthscale: smoothSeason},
		gppl.Periodic{Variance: 1, Lengthscale: smoothSeason, Period: long.period})
}

func isProduct(k gppl.Kernel) bool { _, ok := k.(gppl.Product); return ok }

// isCycle reports whether a term is one of nested seasons, and isWandering whether it is a season that wanders.
func isCycle(k gppl.Kernel) bool     { return isProduct(k) && len(series.PeriodsOf(k.Params())) > 1 }
func isWandering(k gppl.Kernel) bool { return isProduct(k) && !isCycle(k) }

// wandering is a season whose shape wanders: each cycle is the one before it with independent changes, as in exponential
// smoothing. The shape of seasonal changes smoothly instead, so that a forecast continues its latest changes, or returns from
// them.
func (stationary) wandering(s season) gppl.Kernel {
	return gppl.Mul(gppl.Laplace{Variance: 0.1, Lengthscale: seasonPeriods * s.period},
		gppl.Periodic{Variance: 1, Lengthscale: cmp.Or(s.smoothness, smoothSeason), Period: s.period})
}

// wanders reports whether a season may wander: one of an even series, if the compared observations have many of its cycles. Fewer
// do not tell a rough change from a smooth one, and other engines than the one for even series take long for it.
func (t *task) wanders(s season) bool {
	const cycles = 13 // two weeks of hours from the first to the last are one hour less than 14 days
	return s.fixed && t.extent.span >= cycles*s.period && t.series.Even && !t.series.Approximated() && len(t.series.X) > drawn
}

// smaller returns k with a fifth of its variance, as the start of an added term.
func smaller(k gppl.Kernel) gppl.Kernel {
	theta := make([]float64, len(k.Params()))
	for i, q := range k.Params() {
		theta[i] = q.Value
		if q.Role == gppl.RoleVariance {
			theta[i] *= 0.2
		}
	}
	return k.WithParams(theta)
}

// hasSeason reports whether a term has a season, rather than another season of the search that is closer to its period.
func (t *task) hasSeason(k gppl.Kernel, s season) bool {
	return slices.ContainsFunc(series.PeriodsOf(k.Params()), func(p float64) bool {
		off := math.Abs(p - s.period)
		return off < 0.1*s.period && !slices.ContainsFunc(t.seasons, func(c season) bool { return math.Abs(p-c.period) < off })
	})
}
