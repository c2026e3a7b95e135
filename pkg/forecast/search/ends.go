package search

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// ends are the bounds of censored values, standardised, with the observations as they are.
type ends struct {
	limits observe.Limits
	raw    gppl.Data
	offset float64 // of the likelihood of the values between the bounds (YScale.offset)
}

// endsOf returns the bounds on this scale.
func (v YScale) endsOf(b *series.Bounds) *ends {
	at := func(bound float64) float64 { return v.Scaling.Standard(v.Warp.Forward(bound)) }
	return &ends{limits: observe.Limits{Lo: at(b.Lo), Hi: at(b.Hi)}, raw: v.Data, offset: v.offset}
}

// propagated returns the observations as Gaussian ones, by expectation propagation at a model.
func (v YScale) propagated(ctx context.Context, m gppl.Model) (YScale, error) {
	data, nats, err := observe.Censored(ctx, m, v.ends.raw, v.ends.limits, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return v, err
	}
	v.Data, v.offset = data, v.ends.offset+nats
	return v, nil
}
