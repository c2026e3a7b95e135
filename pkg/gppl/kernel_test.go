package gppl_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

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
		gppl.DampedTrend{Variance: 1.4, Lengthscale: 2.2, Memory: 0.3},
		gppl.DampedTrend{Variance: 0.6, Lengthscale: 1.2, Memory: 1},
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

// TestRQBandwidth: beyond the bandwidth about eps of the spectrum is left, from a density of exponential tails to SE's.
func TestRQBandwidth(t *testing.T) {
	const step, reach = 0.02, 4000. // in lengthscales
	for _, alpha := range []float64{0.8, 1, 2, 10, 100, 1e4, 1e7} {
		k := gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: alpha}
		for _, eps := range []float64{1e-2, 1e-4} {
			b := k.Bandwidth(eps)
			left := 1 - step*2*b // 1 − ∫k(r)·sin(2πbr)/πr dr
			for r := step; r < reach; r += step {
				var v [1]float64
				k.Cov(v[:], []float64{r})
				left -= 2 * step * v[0] * math.Sin(2*math.Pi*b*r) / (math.Pi * r)
			}
			if !(left < 3*eps && left > eps/30) {
				t.Errorf("alpha %g: beyond %.3g there is %.2g of the spectrum, eps %g", alpha, b, left, eps)
			}
		}
	}
}

// TestDampedTrend: the kernel equals its formula, with Laplace and Matern32 at its ends.
func TestDampedTrend(t *testing.T) {
	const v, l = 1.3, 2.1
	r := []float64{0, 1e-3, 0.1, 0.7, 2, 9, 40}
	cov := func(k gppl.Kernel) []float64 {
		got := make([]float64, len(r))
		k.Cov(got, r)
		return got
	}
	compare := func(name string, got, want []float64, within float64) {
		t.Helper()
		if !floats.EqualApprox(got, want, within) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, memory := range []float64{1e-3, 0.05, 0.9, 3} {
		m := memory * l
		want := make([]float64, len(r))
		for i, r := range r {
			want[i] = v * (l*math.Exp(-r/l) - m*math.Exp(-r/m)) / (l - m)
		}
		compare(fmt.Sprint("memory ", memory), cov(gppl.DampedTrend{Variance: v, Lengthscale: l, Memory: memory}), want, 1e-13)
	}
	compare("memory 1", cov(gppl.DampedTrend{Variance: v, Lengthscale: l, Memory: 1}),
		cov(gppl.Matern32{Variance: v, Lengthscale: math.Sqrt(3) * l}), 1e-13)
	compare("no memory", cov(gppl.DampedTrend{Variance: v, Lengthscale: l, Memory: 1e-9}),
		cov(gppl.Laplace{Variance: v, Lengthscale: l}), 1e-8)
}
