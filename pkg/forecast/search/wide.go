package search

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// widen adds finalists for a long uneven series, if many more observations are learnt from than were compared. The latest
// observations alone hardly show how smooth a slow curve is. The best sum with a signal is therefore compared with the sums that
// have signals of another smoothness in its place, on as many observations thinned over the whole span. Those near the best of
// them that the engines can take are added. If the best sum has a season, none is tried: thinned observations show few of its
// cycles, and such sums are expensive on uneven series.
func (p *policy) widen(kept []*trial) ([]*trial, error) {
	if !p.series.NeedsDense() || len(p.options.Kernels) > 0 || p.some != nil || p.series.Approximated() ||
		hasPeriod(kept[0].model.Kernel) {
		return kept, nil
	}
	signal := func(k gppl.Kernel) bool { return slices.Contains(signals, KernelName(k)) }
	of := slices.IndexFunc(p.trials, func(t *trial) bool {
		return t.Error == "" && t.candidate == candidate(stationary{}) && !hasPeriod(t.model.Kernel) &&
			slices.ContainsFunc(TermsOf(t.model.Kernel), signal)
	})
	if of < 0 {
		return kept, nil
	}
	n, err := p.learnable(kept)
	if err != nil || n < worthMore*p.rows {
		return kept, err
	}
	best := p.trials[of]
	terms := TermsOf(best.model.Kernel)
	at := slices.IndexFunc(terms, signal)
	scales, extent := p.scales, p.extent
	defer func() { p.scales, p.extent = scales, extent }()
	wide := p.series.Thinned(len(p.series.X)-n, (n+p.plan.Searched-1)/p.plan.Searched)
	p.extent = extentOf(wide, len(wide.X), wide.Step)
	if err := p.setScales(wide, 0); err != nil {
		return nil, err
	}
	var all []*trial
	for _, name := range signals {
		other := slices.Clone(terms)
		other[at] = (stationary{}).signal(name, p.extent, false)
		q := proposal{terms: other, noise: startNoise}
		t, err := p.trial(stationary{}, q, place{scale: best.scale, trend: best.Trend})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if !slices.ContainsFunc(all, func(t *trial) bool { return !slices.ContainsFunc(kept, t.same) }) {
		return kept, nil // every smoothness is a finalist already
	}
	if err := p.train(all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *trial) int { return a.before(b.Candidate, a.score, b.score) })
	first := all[0].score
	p.scales, p.extent = scales, extent
	for _, t := range all {
		if t.Error != "" || t.score > first+abandonNats || slices.ContainsFunc(kept, t.same) {
			continue
		}
		if able, err := p.allAffordable([]*trial{t}, n); err != nil || !able {
			if err != nil {
				return nil, err
			}
			continue
		}
		kept = append(kept, t)
	}
	return kept, nil
}
