package forecast

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// lately is a model conditioned on the latest observations, which it was learnt from, at and beyond a place, and on all before it. What
// happened long before the observations that a model was learnt from is no reason to leave the last value.
type lately struct {
	conditioned         // on the latest
	from        float64 // the place
	whole       func() (conditioned, error)
}

// LatentContext predicts each x.
func (l lately) LatentContext(ctx context.Context, x gppl.Inputs) (mean, variances []float64, err error) {
	early := func(x float64) bool { return x < l.from }
	return latentByParts(ctx, x, early, func(early bool) (conditioned, error) {
		if early {
			return l.whole()
		}
		return l.conditioned, nil
	})
}
