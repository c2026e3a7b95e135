package main

import "github.com/projected-likelihood/gppl/measure/competition"

// detailsOf returns what is stored of each series for notebook 12.
func detailsOf(g competition.Group, outcomes []outcome) []competition.Detail {
	digits := competition.Digits
	var all []competition.Detail
	for _, o := range outcomes {
		d := competition.Detail{Group: g.Name, ID: o.id, N: o.n}
		if o.err != nil {
			d.Error = o.err.Error()
			all = append(all, d)
			continue
		}
		d.Model = o.model
		d.MASE, d.CRPS, d.Cover95, d.Naive = digits(o.own.MASE), digits(o.own.CRPS), digits(o.own.Cover95), digits(o.naive.MASE)
		if t := o.trust; t != nil {
			d.Word, d.Against, d.Separate, d.Narrow, d.Reasons = string(t.Word), t.Against, digits(t.Separate), t.Narrow, t.Reasons
			d.Past, d.Relative, d.Chance, d.Spread, d.Late = digits(t.Coverage), digits(t.Relative),
				digits(t.Chance), digits(t.Spread), digits(t.Late)
		}
		all = append(all, d)
	}
	return all
}
