package forecast

import "github.com/projected-likelihood/gppl/pkg/forecast/search"

// member is one of the models that forecasts average, with its scale of y and its posteriors once it is conditioned on the data.
type member struct {
	search.Averaged
	scale      *search.YScale
	posterior  conditioned
	posteriors []conditioned // one for each of Draws
}

// given returns the member's models conditioned on the data, equally weighted: the drawn ones or, without draws, the model.
func (m *member) given() []conditioned {
	if len(m.posteriors) == 0 {
		return []conditioned{m.posterior}
	}
	return m.posteriors
}
