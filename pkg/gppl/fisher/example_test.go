package fisher_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/exampledata"
)

// What projections keep of the information about each parameter: the squared
// ratio of the Cramér–Rao standard errors. The best directions for the signal,
// the eigenvectors, tell nothing of the noise.
func ExampleInformation() {
	ctx := context.Background()
	data := exampledata.Draw(200)
	info, err := fisher.New(ctx, exampledata.Model, data.X)
	if err != nil {
		log.Fatal(err)
	}
	all, err := fisher.StdErrLog(info.Data(), info.Params())
	if err != nil {
		log.Fatal(err)
	}
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.OneHot{}, gppl.Eigen{Kernel: exampledata.Model.Kernel},
		gppl.Identity{}} {
		k := 40
		if design == (gppl.Identity{}) {
			k = data.Len()
		}
		omega, err := gppl.NewProjection(ctx, design, data.X, k, 1)
		if err != nil {
			log.Fatal(err)
		}
		projected, err := info.Projected(ctx, omega)
		if err != nil {
			log.Fatal(err)
		}
		seen, err := fisher.StdErrLog(projected, info.Params())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("k = %d,", k)
		for i, p := range info.Params() {
			fmt.Printf(" %s %.0f %%", p.Name, 100*math.Pow(all[i]/seen[i], 2))
		}
		fmt.Println()
	}
	// Output:
	// k = 40, variance 62 % lengthscale 15 % noise variance 3 %
	// k = 40, variance 62 % lengthscale 15 % noise variance 7 %
	// k = 40, variance 61 % lengthscale 11 % noise variance 0 %
	// k = 200, variance 100 % lengthscale 100 % noise variance 100 %
}

// The loss of information, by the theorem's two terms.
func ExampleInformation_Loss() {
	ctx := context.Background()
	data := exampledata.Draw(200)
	info, err := fisher.New(ctx, exampledata.Model, data.X)
	if err != nil {
		log.Fatal(err)
	}
	omega, err := gppl.NewProjection(ctx, gppl.Sphere{}, data.X, 100, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := info.Loss(ctx, omega)
	if err != nil {
		log.Fatal(err)
	}
	kept, err := info.Projected(ctx, omega)
	if err != nil {
		log.Fatal(err)
	}
	const noise = 2
	lost := loss.Total().At(noise, noise)
	fmt.Printf("ΔI = I_Y − I_Z to rounding: %t\n", math.Abs(info.Data().At(noise, noise)-kept.At(noise, noise)-lost) < 1e-8*lost)
	// Output:
	// ΔI = I_Y − I_Z to rounding: true
}

// One projection tells of one combination of the parameters: the error names
// those that it leaves open.
func ExampleStdErrLog() {
	ctx := context.Background()
	data := exampledata.Draw(100)
	info, err := fisher.New(ctx, exampledata.Model, data.X)
	if err != nil {
		log.Fatal(err)
	}
	one, err := gppl.NewProjection(ctx, gppl.Sphere{}, data.X, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	projected, err := info.Projected(ctx, one)
	if err != nil {
		log.Fatal(err)
	}
	_, err = fisher.StdErrLog(projected, info.Params())
	fmt.Println(err)
	// Output:
	// gppl: the information is singular in 2 of 3 directions: "variance", "lengthscale", "noise variance" not identified
}
