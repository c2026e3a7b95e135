package gppl_test

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// kernels is one of each, and combinations two deep.
func kernels() []gppl.Kernel {
	se := gppl.SE{Variance: 1.3, Lengthscale: 0.7}
	per := gppl.Periodic{Variance: 0.8, Lengthscale: 0.9, Period: 1.7}
	rq := gppl.RQ{Variance: 0.6, Lengthscale: 1.1, Alpha: 0.5}
	white := gppl.White{Variance: 0.2}
	laplace := gppl.Laplace{Variance: 1.1, Lengthscale: 2}
	return []gppl.Kernel{
		se, per, rq, white, laplace,
		gppl.Matern32{Variance: 0.9, Lengthscale: 1.4},
		gppl.Matern52{Variance: 1.2, Lengthscale: 0.8},
		gppl.LocPer{Variance: 1.5, Lengthscale: 3, Period: 1.2, PeriodicLengthscale: 0.6},
		gppl.SpectralMixture{Variance: 1.2, Lengthscale: 2.1, Period: 1.4},
		gppl.SHO{Variance: 1.2, Period: 2.3, Quality: 3},
		gppl.SHO{Variance: 0.7, Period: 1.9, Quality: 0.5},
		gppl.SHO{Variance: 0.7, Period: 1.9, Quality: 0.1},
		gppl.Rotation{Variance: 1.1, Period: 2.7, Quality: 1.5, Difference: 0.6, Mix: 0.4},
		gppl.Cosine{Variance: 0.9, Period: 1.6},
		gppl.Mul(laplace, gppl.Cosine{Variance: 1, Period: 1.6}),
		gppl.Add(se, per),
		gppl.Add(se, laplace, white),
		gppl.Mul(se, per),
		gppl.Mul(gppl.Add(se, white), gppl.Add(rq, laplace)),
		gppl.Add(gppl.Mul(se, per), gppl.Mul(rq, laplace), white),
	}
}

func TestKernels(t *testing.T) {
	for _, k := range append(kernels(), changeCases()["change"], changeCases()["two changes"]) {
		t.Run(k.String(), func(t *testing.T) { gppltest.CheckKernel(t, k) })
	}
}
