package draws_test

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// The whole posterior of three parameters that 30 observations determine badly, by Markov chains and by importance sampling.
func ExampleSample() {
	ctx := context.Background()
	var x, y []float64
	for i := range 30 {
		t := 0.2 * float64(i)
		x, y = append(x, t), append(y, math.Sin(2*t)+0.4*math.Sin(50*t*t))
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	exact, err := gppl.NewExact(ctx, m, data)
	if err != nil {
		panic(err)
	}
	priors, err := m.DefaultPriors(ctx, data)
	if err != nil {
		panic(err)
	}
	loss, err := gppl.NewMAP(exact, priors...)
	if err != nil {
		panic(err)
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	s, err := draws.Sample(ctx, loss, r, draws.SampleSettings{Seed: 1})
	if err != nil {
		panic(err)
	}
	for i, p := range s.Params {
		fmt.Printf("%s: optimum %.1f, median %.1f, chains agree: %t\n", p.Name, r.Params[i].Value, p.Median, p.RHat < 1.01)
	}
	ahead, err := s.Uncertain(64).Predict(ctx, gppl.Scalars([]float64{6.4}),
		func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(ctx, m, data) })
	if err != nil {
		panic(err)
	}
	var next []float64
	for _, level := range []float64{0.5, 0.025, 0.975} {
		quantiles, err := ahead.Quantile(ctx, level)
		if err != nil {
			panic(err)
		}
		next = append(next, quantiles[0])
	}
	fmt.Printf("next: %.1f, 95 %% between %.1f and %.1f\n", next[0], next[1], next[2])
	// Output:
	// variance: optimum 0.6, median 1.0, chains agree: true
	// lengthscale: optimum 0.9, median 1.1, chains agree: true
	// noise variance: optimum 0.1, median 0.1, chains agree: true
	// next: -0.9, 95 % between -2.4 and 0.6
}
