package draws_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// TestUncertainSample: functions drawn over parameters and inputs, also of a part of the model, have the moments of the mixture
// that Predict returns, and follow their seed.
func TestUncertainSample(t *testing.T) {
	ctx := t.Context()
	d := testkit.Must(gppl.NewData(gppl.Scalars([]float64{0, 1, 2, 4, 5}), []float64{0.3, -0.2, 0.9, 1.4, 0.8}))(t)
	u := &draws.Uncertain{}
	count := testkit.Size(3000, 20000, 100000)
	for i := range count { // two lengthscales, by turns of many
		l := 1.0
		if i%10 < 3 {
			l = 4
		}
		k := gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: l}, gppl.Laplace{Variance: 0.3, Lengthscale: 2})
		u.Models = append(u.Models, gppl.Model{Kernel: k, Noise: 0.1})
	}
	slices.SortStableFunc(u.Models, func(a, b gppl.Model) int { return int(a.Values()[1] - b.Values()[1]) })
	x := gppl.Scalars([]float64{3, 7.5})
	whole := func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(ctx, m, d) }
	for name, condition := range map[string]func(gppl.Model) (*gppl.Posterior, error){"whole": whole,
		"term": func(m gppl.Model) (*gppl.Posterior, error) { return testkit.Must(whole(m))(t).Term(0) }} {
		want := testkit.Must(u.Predict(ctx, x, condition))(t)
		drawn := testkit.Must(u.Sample(ctx, x, 3, condition))(t)
		if len(drawn) != count {
			t.Fatalf("%d functions", len(drawn))
		}
		for i, mean := range want.Mean() {
			var sum, square float64
			for _, f := range drawn {
				sum += f.Y[i]
				square += (f.Y[i] - mean) * (f.Y[i] - mean)
			}
			v := want.Variance()[i]
			if off := (sum/float64(count) - mean) / math.Sqrt(v/float64(count)); math.Abs(off) > 5 {
				t.Errorf("%s: the mean at %v is %.1f standard errors off", name, x.At(i), off)
			}
			if share := square / float64(count) / v; math.Abs(share-1) > 8/math.Sqrt(float64(count)) {
				t.Errorf("%s: the variance at %v is %.3f of that of the mixture", name, x.At(i), share)
			}
		}
		again, other := testkit.Must(u.Sample(ctx, x, 3, condition))(t), testkit.Must(u.Sample(ctx, x, 4, condition))(t)
		if !slices.Equal(again[7].F, drawn[7].F) || slices.Equal(other[7].F, drawn[7].F) {
			t.Errorf("%s: draws do not follow their seed", name)
		}
	}
	if _, err := u.Sample(ctx, x, 1, func(gppl.Model) (*gppl.Posterior, error) {
		return nil, errors.New("no data")
	}); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("%v", err)
	}
}
