package forecast

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// latestOrAll is a model that predicts from the latest observations, from which it was learnt, at x from a place on, and from all
// observations at earlier x. Events long before the latest observations do not move the forecast.
type latestOrAll struct {
	conditioned         // the model given the latest observations
	from        float64 // x of the place
	whole       func(ctx context.Context) (conditioned, error)
}

// Latent predicts f at each x.
func (l latestOrAll) Latent(ctx context.Context, x gppl.Inputs) (mean, variances []float64, err error) {
	early := func(x float64) bool { return x < l.from }
	return latentByParts(ctx, x, early, func(early bool) (conditioned, error) {
		if early {
			return l.whole(ctx)
		}
		return l.conditioned, nil
	})
}
