package forecast

import "github.com/projected-likelihood/gppl/pkg/forecast/search"

// Belief is a prior of the best model, in the units of the file, with its density at the learnt value.
type Belief struct {
	Name  string  `json:"name"`
	Prior string  `json:"prior"`
	Log   float64 `json:"log_density"` // log density of the prior at the learnt value, in nats, for the standardised series
}

// Beliefs returns the given priors that apply to the best model; nil if there are none.
func (a *Analysis) Beliefs() (out []Belief) {
	priors := search.PriorsOf(a.Result.Model, a.given, a.Scaling.Scale)
	if a.whole {
		priors = a.Result.Priors
	}
	for _, p := range priors {
		b := Belief{Name: p.Name}
		for _, q := range a.Result.Params {
			if q.Name == p.Name {
				b.Log, _ = p.Prior.LogDensity(q.Value)
				b.Prior = search.DescribePrior(search.StandardisedPrior(p.Prior, q.Unit, 1/a.Scaling.Scale))
			}
		}
		out = append(out, b)
	}
	return out
}
