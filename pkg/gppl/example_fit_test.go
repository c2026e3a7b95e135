package gppl_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/exampledata"
)

// exampleFit is exampledata.Model learnt back from 300 observations, exactly.
func exampleFit() (*gppl.Result, gppl.Data) {
	data := exampledata.Draw(300)
	ctx := context.Background()
	start, err := auto.StartFrom(ctx, exampledata.Model, data)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewExact(ctx, start, data)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	return result, data
}

// Maximum likelihood, with standard errors of the logarithms of the parameters.
func ExampleNewExact() {
	ctx := context.Background()
	data := exampledata.Draw(500)
	model, err := auto.StartFrom(ctx, gppl.Model{Kernel: gppl.SE{}}, data) // values from the data
	if err != nil {
		panic(err)
	}
	loss, err := gppl.NewExact(ctx, model, data)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status)
	for _, p := range result.Params {
		fmt.Printf("%s: %.2g, standard error of its log %.1g\n", p.Name, p.Value, p.StdErrLog)
	}
	// Output:
	// converged
	// variance: 0.87, standard error of its log 0.3
	// lengthscale: 21, standard error of its log 0.07
	// noise variance: 0.1, standard error of its log 0.07
}

// The paper's projected likelihood: k directions drawn on the sphere. It is
// worse than maximum likelihood by the last number, in nats.
func ExampleNewProjected() {
	ctx := context.Background()
	data := exampledata.Draw(500)
	model, err := auto.StartFrom(ctx, gppl.Model{Kernel: gppl.SE{}}, data)
	if err != nil {
		panic(err)
	}
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
	exact, err := gppl.NewExact(ctx, result.Model, data)
	if err != nil {
		log.Fatal(err)
	}
	best, err := gppl.Fit(ctx, exact, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s; exact NLL above its minimum: %.1f\n", result.Status, best.Trace[0].Value-best.Value)
	// Output:
	// converged; exact NLL above its minimum: 4.4
}

// Projections on the lowest frequencies, and the energy of what they leave:
// PL that loses next to nothing.
func ExampleNewResidual() {
	ctx := context.Background()
	data := exampledata.Draw(500)
	model, err := auto.StartFrom(ctx, gppl.Model{Kernel: gppl.SE{}}, data)
	if err != nil {
		panic(err)
	}
	omega, err := gppl.SpectralProjection(ctx, data.X, 100)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewResidual(ctx, model, data, omega)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, lengthscale %.3g, noise variance %.2g\n", result.Status, result.Params[1].Value, result.Model.Noise)
	// Output:
	// converged, lengthscale 21.2, noise variance 0.1
}

// The sparse variational bound, from inducing inputs that k-means++ chose.
func ExampleNewVFE() {
	ctx := context.Background()
	data := exampledata.Draw(300)
	z, err := data.X.KMeans(ctx, 60, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewVFE(ctx, exampledata.Model, data, z, gppl.VFEOptions{FixInducing: true})
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	posterior, err := loss.Posterior(ctx, result.Theta())
	if err != nil {
		log.Fatal(err)
	}
	mean, _, err := posterior.Latent(ctx, gppl.Scalars([]float64{500}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, f(500) = %.1f\n", result.Status, mean[0])
	// Output:
	// converged, f(500) = -0.4
}

// Other ways to train: the paper's optimiser and stopping rule, further
// starting points, a bound on the work.
func ExampleFit() {
	ctx := context.Background()
	data := exampledata.Draw(300)
	start, err := auto.StartFrom(ctx, gppl.PaperModel(gppl.SE{}), data)
	if err != nil {
		panic(err)
	}
	loss, err := gppl.NewExact(ctx, start, data)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []gppl.Settings{
		{},
		{Starts: 3, Spread: 0.3, Seed: 1},
		{Method: gppl.AdamRate(0.1), Stop: gppl.StopBelow(1e-2), GradientTolerance: -1},
		{MaxEvaluations: 3},
	} {
		result, err := gppl.Fit(ctx, loss, nil, s)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.0f nats\n", result.Status, result.Value)
	}
	// Output:
	// converged: 164 nats
	// converged: 164 nats
	// stopped by rule: 164 nats
	// limit reached: 165 nats
}

// The latent band is of the function, the noisy one of a new observation.
// Within the data both are narrower than the prior; beyond them they return to
// it.
func ExampleNewPosterior() {
	ctx := context.Background()
	result, data := exampleFit()
	posterior, err := gppl.NewPosterior(ctx, result.Model, data)
	if err != nil {
		log.Fatal(err)
	}
	x := gppl.Scalars([]float64{500, 1010, 2000})
	mean, latent, err := posterior.Latent(ctx, x)
	if err != nil {
		panic(err)
	}
	_, noisy, err := posterior.Noisy(ctx, x)
	if err != nil {
		panic(err)
	}
	fmt.Printf("f(500) = %.1f\n", mean[0])
	for i := range mean {
		fmt.Printf("x = %4.0f: f ± %.1f, y ± %.1f\n", x.At(i)[0], 1.96*math.Sqrt(latent[i]), 1.96*math.Sqrt(noisy[i]))
	}
	// Output:
	// f(500) = -0.4
	// x =  500: f ± 0.3, y ± 0.7
	// x = 1010: f ± 0.9, y ± 1.1
	// x = 2000: f ± 1.9, y ± 2.0
}

// Explain marks the engine that was taken with an arrow, and says of every
// other what it would cost or why it cannot be taken.
func ExampleExact_Explain() {
	ctx := context.Background()
	data := exampledata.Draw(300)
	for _, kernel := range []gppl.Kernel{
		gppl.Matern32{Variance: 1, Lengthscale: 20},
		gppl.SE{Variance: 1, Lengthscale: 200},
		gppl.SE{Variance: 1, Lengthscale: 2},
	} {
		loss, err := gppl.NewExact(ctx, gppl.Model{Kernel: kernel, Noise: 0.1}, data)
		if err != nil {
			log.Fatal(err)
		}
		theta := []float64{1, kernel.Params()[1].Value, 0.1}
		if _, err := loss.ValueGrad(ctx, nil, theta); err != nil {
			log.Fatal(err)
		}
		for _, line := range strings.Split(loss.Explain(), "\n") {
			if strings.HasPrefix(line, "→") {
				fmt.Println(kernel, "by", strings.Fields(line)[1])
			}
		}
	}
	// Output:
	// Matern32(variance=1, lengthscale=20) by statespace
	// SE(variance=1, lengthscale=200) by spectral
	// SE(variance=1, lengthscale=2) by banded
}

// A forced engine that cannot take the kernel says why.
func ExampleWithEngine() {
	ctx := context.Background()
	data := exampledata.Draw(300)
	loss, err := gppl.NewExact(ctx, exampledata.Model, data, gppl.WithEngine(gppl.EngineStateSpace))
	if err != nil {
		log.Fatal(err)
	}
	_, err = gppl.Fit(ctx, loss, nil, gppl.Settings{})
	fmt.Println(err)
	// Output:
	// gppl: fit: the loss cannot be evaluated at its start: gppl: the statespace engine cannot take this kernel: not a linear stochastic differential equation, as Matérn and SHO are, or does not declare it by capability.Markovian
}

// A regular series with every tenth value missing.
func ExampleNewWhittle() {
	ctx := context.Background()
	x, y := make([]float64, 0, 900), make([]float64, 0, 900)
	for i := range 1000 {
		if i%10 != 3 {
			x = append(x, float64(i))
			y = append(y, math.Sin(float64(i)/9)+math.Sin(float64(i)/13)+0.5*math.Sin(float64(i*i)))
		}
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		log.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 10}, Noise: 0.1, Mean: gppl.Intercept{}}
	loss, err := gppl.NewWhittle(ctx, model, data, gppl.WhittleOptions{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loss, result.Status)
	for _, p := range result.Params {
		fmt.Printf("%s %.2g ± %.1g\n", p.Name, p.Value, p.StdErr())
	}
	// Output:
	// debiased Whittle NLL (n=900, 100 missing) converged
	// variance 1 ± 0.3
	// lengthscale 14 ± 2
	// noise variance 0.13 ± 0.01
}
