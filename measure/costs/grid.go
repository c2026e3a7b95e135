package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// cell is a model and its data.
type cell struct {
	Kernel  string
	N       int
	Regular bool
	Share   float64 // lengthscale over the range of the inputs
	Noise   float64 `json:",omitempty"` // variance; 0 means 0.1
	White   bool    `json:",omitempty"` // observations are white, of variance 1
}

func (c cell) String() string {
	places := "irregular"
	if c.Regular {
		places = "regular"
	}
	return fmt.Sprintf("%-8s n=%-5d %-9s ℓ/T=%.3g", c.Kernel, c.N, places, c.Share)
}

// kernels of about variance 1 and lengthscale l; the grid takes those up to named.
var kernels = []struct {
	name string
	of   func(l float64) gppl.Kernel
}{
	{"SE", func(l float64) gppl.Kernel { return gppl.SE{Variance: 1, Lengthscale: l} }},
	{"Laplace", func(l float64) gppl.Kernel { return gppl.Laplace{Variance: 1, Lengthscale: l} }},
	{"Matern32", func(l float64) gppl.Kernel { return gppl.Matern32{Variance: 1, Lengthscale: l} }},
	{"Matern52", func(l float64) gppl.Kernel { return gppl.Matern52{Variance: 1, Lengthscale: l} }},
	{"RQ", func(l float64) gppl.Kernel { return gppl.RQ{Variance: 1, Lengthscale: l, Alpha: 1} }},
	{"Periodic", func(l float64) gppl.Kernel { return gppl.Periodic{Variance: 1, Lengthscale: 1, Period: l} }},
	{"LocPer", func(l float64) gppl.Kernel {
		return gppl.LocPer{Variance: 1, Lengthscale: l, Period: l / 4, PeriodicLengthscale: 1}
	}},
	{"Sum", func(l float64) gppl.Kernel {
		return gppl.Add(gppl.Matern32{Variance: 0.7, Lengthscale: l}, gppl.Matern52{Variance: 0.3, Lengthscale: l / 8})
	}},
	{"Matern32+Periodic", func(l float64) gppl.Kernel {
		return gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: l}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: l})
	}},
	{"Matern32+SE", func(l float64) gppl.Kernel {
		return gppl.Add(gppl.Matern32{Variance: 0.5, Lengthscale: l / 8}, gppl.SE{Variance: 1, Lengthscale: l})
	}},
	{"Rhythm", func(l float64) gppl.Kernel { // most of its frequencies lie between harmonics
		return gppl.LocPer{Variance: 1, Lengthscale: 10 * l, Period: l / 10, PeriodicLengthscale: 1}
	}},
}

const named = 8

func (c cell) kernel() gppl.Kernel {
	i := slices.IndexFunc(kernels, func(k struct {
		name string
		of   func(l float64) gppl.Kernel
	}) bool {
		return k.name == c.Kernel
	})
	return kernels[i].of(c.Share * float64(c.N))
}

// noise returns the variance of the noise.
func (c cell) noise() float64 { return cmp.Or(c.Noise, 0.1) }

// data are observations at steps of 1, or at as many random places in the same range: a wave of the lengthscale, and noise.
func (c cell) data() (gppl.Data, error) {
	rnd := rand.New(rand.NewPCG(uint64(c.N), 68))
	x, y := make([]float64, c.N), make([]float64, c.N)
	for i := range x {
		x[i] = float64(i)
		if !c.Regular {
			x[i] = float64(c.N) * rnd.Float64()
		}
		if y[i] = rnd.NormFloat64(); !c.White {
			y[i] = math.Sin(x[i]/(c.Share*float64(c.N))) + math.Sqrt(c.noise())*y[i]
		}
	}
	return gppl.NewData(gppl.Scalars(x), y)
}

// further are cells for the fit alone, whose matrices are larger.
var further = []cell{
	{Kernel: "SE", N: 3000, Share: 0.002},
	{Kernel: "RQ", N: 3000, Share: 0.002},
	{Kernel: "RQ", N: 3000, Share: 0.1},
	{Kernel: "RQ", N: 3000, Regular: true, Share: 0.03},
	{Kernel: "LocPer", N: 3000, Share: 0.01},
	{Kernel: "LocPer", N: 3000, Share: 0.05},
	{Kernel: "LocPer", N: 3000, Share: 0.15},
	{Kernel: "LocPer", N: 3000, Regular: true, Share: 0.1},
	{Kernel: "Periodic", N: 3000, Share: 0.1},
	{Kernel: "Matern32+Periodic", N: 1000, Share: 0.05},
	{Kernel: "Matern32+Periodic", N: 4000, Share: 0.3},
	{Kernel: "Matern32+SE", N: 1000, Share: 0.1},
	{Kernel: "Matern32+SE", N: 4000, Share: 0.03},
	{Kernel: "Rhythm", N: 1000, Share: 0.1},
	{Kernel: "Rhythm", N: 4000, Share: 0.07},
	{Kernel: "Sum", N: 3000, Share: 0.01},
}

// grid returns 200 cells.
func grid() (cells []cell) {
	for _, k := range kernels[:named] {
		for _, n := range []int{50, 100, 200, 1000, 10000} {
			for _, of := range []cell{
				{Regular: true, Share: 0.1}, {Regular: true, Share: 0.01}, {Share: 0.25}, {Share: 0.03}, {Share: 0.005},
			} {
				of.Kernel, of.N = k.name, n
				cells = append(cells, of)
			}
		}
	}
	return cells
}
