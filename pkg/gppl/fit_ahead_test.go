package gppl_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// TestFitProcessors: the evaluations for the curvature run at once on several processors, and the result has the bits that it has
// on one.
func TestFitProcessors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 7))
	for _, k := range []gppl.Kernel{
		gppl.Matern32{Variance: 1, Lengthscale: 3},
		gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 3}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 7}),
	} {
		m := gppl.Model{Kernel: k, Noise: 0.1}
		x, y := make([]float64, 700), make([]float64, 700)
		for i := range x {
			x[i] = 0.1 * (float64(i) + 0.9*rnd.Float64())
			y[i] = math.Sin(2*math.Pi*x[i]/7) + math.Sin(x[i]/9) + 0.3*rnd.NormFloat64()
		}
		d := gppl.Data{X: gppl.Scalars(x), Y: y}
		fit := func(processors int) *gppl.Result {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			loss, err := gppl.NewExact(t.Context(), m, d)
			if err != nil {
				t.Fatal(err)
			}
			if s := capability.Seconds(loss, m.Values()); !(s > 0 && s < 0.1) {
				t.Fatalf("%v: an evaluation is predicted to take %v s, so that none would run beside another", k, s)
			}
			r, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		one, two := fit(1), fit(2)
		if one.Evaluations != two.Evaluations || !slices.Equal(one.Model.Values(), two.Model.Values()) {
			t.Errorf("%v: %d evaluations to %v on one processor, %d to %v on two",
				k, one.Evaluations, one.Model.Values(), two.Evaluations, two.Model.Values())
		}
		for i, p := range one.Params {
			if q := two.Params[i]; !(p.StdErrLog > 0) || p.StdErrLog != q.StdErrLog {
				t.Errorf("%v: the standard error of log %s is %v on one processor, %v on two", k, p.Param.Name, p.StdErrLog, q.StdErrLog)
			}
		}
	}
}
