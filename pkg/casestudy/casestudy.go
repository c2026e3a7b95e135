// Package casestudy computes what notebooks 12, 14 and 15 show.
package casestudy

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// target is the nominal coverage of the bands that tables show.
const target = 0.95

// fitAuto trains m by auto.Fit and returns the posterior.
func fitAuto(ctx context.Context, m gppl.Model, d gppl.Data) (*auto.Result, *gppl.Posterior, error) {
	r, err := auto.Fit(ctx, m, d, auto.Settings{})
	if err != nil {
		return nil, nil, err
	}
	p, err := gppl.NewPosterior(ctx, r.Model, d)
	return r, p, err
}
