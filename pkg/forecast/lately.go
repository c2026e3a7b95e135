package forecast

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// lately is a model that predicts from the latest observations, those it was learnt from, at x from a place on, and from all
// observations before it. Events long before those that a model was learnt from are no reason to leave the last value.
type lately struct {
	conditioned         // on the latest
	from        float64 // the place
	whole       func(ctx context.Context) (conditioned, error)
}

// Latent predicts f at each x.
func (l lately) Latent(ctx context.Context, x gppl.Inputs) (mean, variances []float64, err error) {
	early := func(x float64) bool { return x < l.from }
	return latentByParts(ctx, x, early, func(early bool) (conditioned, error) {
		if early {
			return l.whole(ctx)
		}
		return l.conditioned, nil
	})
}
