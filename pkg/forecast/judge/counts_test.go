package judge

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestCountsStored fits, tests, saves and loads a series of each kind: the loaded one predicts the same.
func TestCountsStored(t *testing.T) {
	for k, likelihood := range series.Likelihoods[3:] {
		x, y, sizes := testdraws.Counts(rand.New(rand.NewPCG(5, uint64(k))), likelihood, 60)
		if likelihood == "bernoulli" {
			sizes = nil
		}
		a, err := forecast.Fit(t.Context(), testseries.OfCounts(t, likelihood, x, y, sizes), forecast.Options{Budget: 1})
		if err != nil {
			t.Fatal(err)
		}
		trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 6})
		if err != nil {
			t.Fatal(err)
		}
		if trust.Verdict == "" || trust.N != 30 || trust.Spread > 3 {
			t.Errorf("%s: %+v", likelihood, trust)
		}
		trust.Calibrate(a)
		var b bytes.Buffer
		if err := a.Encode(&b); err != nil {
			t.Fatal(err)
		}
		loaded, err := decoded(t, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want, err := a.Forecast(t.Context(), 6)
		if err != nil {
			t.Fatal(err)
		}
		got, err := loaded.Forecast(t.Context(), 6)
		if err != nil {
			t.Fatal(err)
		}
		zeros := got.AtBounds()[0].P
		for i := range want.Median {
			if !scalar.EqualWithinRel(got.Point()[i], want.Point()[i], 1e-9) || got.Upper[i] != want.Upper[i] || got.Lower[i] != want.Lower[i] {
				t.Errorf("%s: after loading %v in [%v, %v], before %v in [%v, %v]",
					likelihood, got.Point()[i], got.Lower[i], got.Upper[i], want.Point()[i], want.Lower[i], want.Upper[i])
			}
			if zeros[i] != got.Counts.CDF(i, 0) || !(zeros[i] > 0 && zeros[i] < 1) {
				t.Errorf("%s: the probability of 0 is %v", likelihood, zeros[i])
			}
		}
		if loaded.Likelihood() != a.Likelihood() {
			t.Errorf("%s: %s after loading, %s before", likelihood, loaded.Likelihood(), a.Likelihood())
		}
	}
}
