package observe_test

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

func TestLikelihoods(t *testing.T) {
	for _, l := range []observe.Likelihood{observe.Poisson{}, observe.NegBinomial{Shape: 0.7}, observe.NegBinomial{Shape: 1e4},
		observe.Binomial{}} {
		gppltest.CheckLikelihood(t, l, gppltest.Observation{Size: 1, G: -3}, gppltest.Observation{Y: 1, Size: 1, G: 0.3},
			gppltest.Observation{Y: 3, Size: 7, G: -0.8}, gppltest.Observation{Y: 5, Size: 9, G: 1.4})
	}
}
