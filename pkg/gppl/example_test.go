package gppl_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The whole way: data, model, projections, training, prediction.
func Example() {
	ctx := context.Background()
	x, y := make([]float64, 500), make([]float64, 500)
	for i := range x {
		x[i] = 0.1 * float64(i)
		y[i] = math.Sin(x[i]) + 0.1*math.Sin(1000*x[i]*x[i]) // signal and something like noise
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		log.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	omega, err := gppl.NewProjection(ctx, gppl.Sphere{}, data.X, 100, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewProjected(ctx, model, data, omega)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := gppl.NewPosterior(ctx, result.Model, data)
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, err := posterior.Latent(ctx, gppl.Scalars([]float64{25.05}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s; sin(25.05) = %.2f, predicted %.2f ± %.2f\n", result.Status, math.Sin(25.05), mean[0], math.Sqrt(variance[0]))
	// Output:
	// converged; sin(25.05) = -0.08, predicted -0.11 ± 0.02
}

func ExampleAdd() {
	k := gppl.Add(gppl.SE{Variance: 2, Lengthscale: 30}, gppl.Periodic{Variance: 1, Lengthscale: 0.8, Period: 1})
	fmt.Println(k)
	for _, p := range k.Params() {
		fmt.Println(p.Name, p.Value)
	}
	// Output:
	// SE(variance=2, lengthscale=30) + Periodic(variance=1, lengthscale=0.8, period=1)
	// SE.variance 2
	// SE.lengthscale 30
	// Periodic.variance 1
	// Periodic.lengthscale 0.8
	// Periodic.period 1
}

func ExampleModel_Fix() {
	m := gppl.PaperModel(gppl.RQ{}).Fix("alpha")
	for _, p := range m.Params() {
		fmt.Printf("%s = %.4g, trained through %v\n", p.Name, p.Value, p.Transform)
	}
	// Output:
	// variance = 1, trained through log
	// lengthscale = 1, trained through log
	// alpha = 1, trained through fixed
	// noise variance = 0.6931, trained through softplus+1e-06
}

// A product shares one variance among its factors: keep all but one of them.
func ExampleMul() {
	k := gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 30}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 11})
	m := gppl.Model{Kernel: gppl.Add(k, gppl.Matern32{Variance: 0.2, Lengthscale: 0.5}), Noise: 0.1}.Fix("Product.SE.variance")
	for _, p := range m.Params() {
		fmt.Printf("%-28s %-3v %v\n", p.Name, p.Value, p.Transform)
	}
	// Output:
	// Product.SE.variance          1   fixed
	// Product.SE.lengthscale       30  log
	// Product.Periodic.variance    1   log
	// Product.Periodic.lengthscale 1   log
	// Product.Periodic.period      11  log
	// Matern32.variance            0.2 log
	// Matern32.lengthscale         0.5 log
	// noise variance               0.1 log
}
