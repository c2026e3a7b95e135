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
	var late, early []int
	for i := range x.Len() {
		if x.At(i)[0] < l.from {
			early = append(early, i)
		} else {
			late = append(late, i)
		}
	}
	if len(early) == 0 {
		return l.conditioned.LatentContext(ctx, x)
	}
	whole, err := l.whole()
	if err != nil {
		return nil, nil, err
	}
	if len(late) == 0 {
		return whole.LatentContext(ctx, x)
	}
	mean, variances = make([]float64, x.Len()), make([]float64, x.Len())
	for _, part := range []struct {
		of conditioned
		at []int
	}{{whole, early}, {l.conditioned, late}} {
		m, v, err := part.of.LatentContext(ctx, x.Pick(part.at))
		if err != nil {
			return nil, nil, err
		}
		for j, i := range part.at {
			mean[i], variances[i] = m[j], v[j]
		}
	}
	return mean, variances, nil
}
