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

// Printed, an information and the terms of what is lost are a few lines.
func ExampleInformation_String() {
	ctx := context.Background()
	x := gppl.Scalars([]float64{0, 1, 2, 4, 7, 8})
	info, err := fisher.New(ctx, gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1}, x)
	if err != nil {
		log.Fatal(err)
	}
	half, err := gppl.NewProjection(ctx, gppl.Spectral{}, x, 3, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := info.Loss(ctx, half)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info)
	fmt.Println(loss)
	// Output:
	// information of 6 observations of GP(SE(variance=1, lengthscale=3), noise variance=0.1)
	//   log variance                  1.3445    -0.93753     0.27501
	//   log lengthscale             -0.93753      3.8146    -0.91426
	//   log noise variance           0.27501    -0.91426      1.1055
	// first term, ½tr(K̄ΣK̄Σ)
	//   log variance                0.086193     -0.2873     0.16975
	//   log lengthscale              -0.2873      1.0056    -0.65777
	//   log noise variance           0.16975    -0.65777      1.0743
	// second term, tr(K̄ΣK̄(A − Σ))
	//   log variance                0.012814     0.08241   -0.012814
	//   log lengthscale              0.08241     0.67402    -0.08241
	//   log noise variance         -0.012814    -0.08241    0.012814
}
