package gppl_test

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// Wave is v·cos(2πr/p), as gppl.Cosine: a kernel of one's own. With
// gppltest.CheckKernel in a test it is as safe as the package's own.
type Wave struct{ Variance, Period float64 }

func init() { store.RegisterKernel(Wave{}) } // so that store.Load knows it

func (k Wave) Params() []gppl.Param {
	return []gppl.Param{
		{Name: "variance", Value: k.Variance, Unit: "y²", Role: gppl.RoleVariance},
		{Name: "period", Value: k.Period, Unit: "x", Role: gppl.RolePeriod},
	}
}

func (k Wave) WithParams(theta []float64) gppl.Kernel {
	if len(theta) != 2 {
		panic(fmt.Sprintf("Wave.WithParams: len(theta) = %d, want 2", len(theta)))
	}
	return Wave{theta[0], theta[1]}
}

func (k Wave) Cov(dst, r []float64) {
	for i, r := range r {
		dst[i] = k.Variance * math.Cos(2*math.Pi*r/k.Period)
	}
}

func (k Wave) Contract(grad, w, r []float64) {
	for i, r := range r {
		sin, cos := math.Sincos(2 * math.Pi * r / k.Period)
		grad[0] += w[i] * k.Variance * cos                              // ∂k/∂log v
		grad[1] += w[i] * k.Variance * sin * 2 * math.Pi * r / k.Period // ∂k/∂log p
	}
}

func (k Wave) Slope(dst, r []float64) {
	for i, r := range r {
		dst[i] = -k.Variance * 2 * math.Pi / k.Period * math.Sin(2*math.Pi*math.Abs(r)/k.Period)
	}
}

func (k Wave) String() string {
	return fmt.Sprintf("Wave(variance=%.4g, period=%.4g)", k.Variance, k.Period)
}

// Any type with these methods is a kernel, alone or in sums and products.
func ExampleKernel() {
	k := gppl.Add(Wave{Variance: 2, Period: 1}, gppl.SE{Variance: 1, Lengthscale: 5})
	cov := []float64{0, 0.25, 0.5}
	k.Cov(cov, cov)
	fmt.Println(k)
	fmt.Printf("%.2f\n", cov)
	// Output:
	// Wave(variance=2, period=1) + SE(variance=1, lengthscale=5)
	// [3.00 1.00 -1.00]
}
