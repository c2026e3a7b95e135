package gppl_test

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestCollinearPredictions: with flat priors, where the time of a line begins is of no concern to posteriors, leave-out
// and the slope, though the columns have the condition 1e6, and the level at 0 is far from the data.
func TestCollinearPredictions(t *testing.T) {
	const n, origin, step = 60, 1.7e9, 60.
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = origin + step*float64(i)
		y[i] = 5e4 + 3*float64(i) + math.Sin(float64(i)/5)
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	at := gppl.Scalars([]float64{origin - 1000, origin + 90, origin + 30*step, origin + 5000, origin + 1e6})
	type answer struct{ all []float64 }
	answers := func(from float64, engine string) (a answer) {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 300}, Noise: 0.01,
			Mean: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{Origin: from})}
		p, err := gppl.NewPosterior(t.Context(), m, d, gppl.WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		mean, variances := testkit.Must2(p.Latent(t.Context(), at))(t)
		a.all = append(append(a.all, mean...), variances...)
		left, leftVariances, err := gppl.LeaveOut(t.Context(), m, d, nil, gppl.WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		a.all = append(append(a.all, left...), leftVariances...)
		blocks, blockVariances, err := gppl.LeaveOut(t.Context(), m, d, [][]int{{0, 1, 2}, {30, 31}, {57, 58, 59}}, gppl.WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range blocks {
			if !math.IsNaN(v) {
				a.all = append(a.all, v, blockVariances[i])
			}
		}
		return a
	}
	for _, engine := range []string{"", gppl.EngineDense, gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineToeplitz} {
		want, got := answers(origin+30*step, engine), answers(0, engine)
		for i, w := range want.all {
			if off := math.Abs(got.all[i] - w); !(off <= 1e-8*max(1, math.Abs(w)/1e3)) {
				t.Errorf("engine %q, answer %d: %v from 0, %v from the middle: off by %.2g", engine, i, got.all[i], w, off)
			}
		}
	}
}
