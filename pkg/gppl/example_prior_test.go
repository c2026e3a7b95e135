package gppl_test

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The period is known beforehand to within two per cent; two noisy cycles say little more.
func ExampleNewMAP() {
	ctx := context.Background()
	var x, y []float64
	for i := range 30 {
		t := 0.2 * float64(i)
		x, y = append(x, t), append(y, math.Sin(2*math.Pi*t/3.1)+0.4*math.Sin(50*t*t))
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	m := gppl.Model{Kernel: gppl.SpectralMixture{Variance: 1, Lengthscale: 10, Period: 3}, Noise: 0.1}
	exact, err := gppl.NewExact(ctx, m, data)
	if err != nil {
		panic(err)
	}
	loss, err := gppl.NewMAP(exact,
		gppl.ParamPrior{Name: "period", Prior: prior.LogNormal{Mu: math.Log(3), Sigma: 0.02}},
		gppl.ParamPrior{Role: gppl.RoleLengthscale, Prior: prior.InverseGamma{Shape: 3, Scale: 30}})
	if err != nil {
		panic(err)
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	for _, p := range r.Priors {
		fmt.Println(p)
	}
	period := r.Params[2]
	fmt.Printf("period %.1f ± %.1f, likelihood %.1f nats, priors %.1f nats\n",
		period.Value, period.Value*period.StdErrLog, r.Value+r.LogPrior, -r.LogPrior)
	// Output:
	// lengthscale ~ InverseGamma(3, 30)
	// period ~ LogNormal(1.099, 0.02)
	// period 3.0 ± 0.1, likelihood 6.2 nats, priors 0.9 nats
}

func ExampleMean() {
	ctx := context.Background()
	x := gppl.Scalars([]float64{1990, 1995, 2000, 2005, 2010, 2015}).WithColumn("temperature", []float64{9, 11, 10, 12, 9, 13})
	m := gppl.AddMeans(
		gppl.Intercept{},
		gppl.NewTrend(1, x),
		gppl.Step{At: 2003},
		gppl.GaussianBeta{Of: gppl.Regressor{Name: "temperature"}, Variances: []float64{0.5}})
	fmt.Println(m)
	for _, c := range m.Columns() {
		fmt.Printf("%s: prior variance %v\n", c.Name, c.Variance)
	}
	fmt.Println(gppl.Model{Mean: gppl.AddMeans(m, gppl.Step{At: 1980})}.CheckBasis(ctx, x))
	// Output:
	// intercept + trend(1 on 1990 to 2015) + step(at 2003) + (regressor(temperature); β ~ N(0, 0.5))
	// intercept: prior variance +Inf
	// trend 1: prior variance +Inf
	// step at 2003: prior variance +Inf
	// temperature: prior variance 0.5
	// gppl: column "step at 1980" of the mean is a linear combination of "intercept" at the observations: leave one out, or give it a prior (GaussianBeta)
}
