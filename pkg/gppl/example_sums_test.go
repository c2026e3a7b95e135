package gppl_test

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Shards of a series are added up apart, merged, and learnt from. The merged sums have the bytes of the whole.
func ExampleSums() {
	plan, err := gppl.PlanSums(gppl.SumsRange{Lo: 0, Hi: 100, Shortest: 0.5, Largest: 8})
	if err != nil {
		panic(err)
	}
	shard := func(from, to int) *gppl.Sums {
		s, err := gppl.NewSums(plan.Header)
		if err != nil {
			panic(err)
		}
		var t, y []float64
		for i := from; i < to; i++ {
			at := float64(i) / 100
			t, y = append(t, at), append(y, math.Sin(at)+math.Sin(0.3*at)+0.1*math.Sin(77*float64(i*i)))
		}
		if err := s.Add(t, y); err != nil {
			panic(err)
		}
		return s
	}
	all, last := shard(0, 7000), shard(7000, 10000)
	if err := all.Merge(last); err != nil {
		panic(err)
	}
	a, _ := all.MarshalBinary()
	b, _ := shard(0, 10000).MarshalBinary()
	fmt.Println(all.Len(), "observations, the bytes of the whole:", string(a) == string(b))

	start := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1}
	loss, err := gppl.NewSumsExact(start, all, all.Mean())
	if err != nil {
		panic(err)
	}
	result, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, noise variance %.4f\n", result.Status, result.Model.Noise)
	// Output:
	// 10000 observations, the bytes of the whole: true
	// converged, noise variance 0.0050
}

// What is resolved sets the size, not the number of observations: a year of readings, in days, takes 1.3 MB in a file down to a
// lengthscale of 0.1 days, and 100 kB down to 1.35 days.
func ExamplePlanSums() {
	for _, shortest := range []float64{0.1, 1.35} {
		plan, err := gppl.PlanSums(gppl.SumsRange{Lo: 0, Hi: 360, Shortest: shortest, Longest: 8 * shortest, Largest: 12})
		if err != nil {
			panic(err)
		}
		fmt.Printf("SE lengthscales from %v: %d frequencies, %d kB in a file\n", shortest, plan.Header.Highest, plan.FileBytes/1000)
	}
	// Output:
	// SE lengthscales from 0.1: 6936 frequencies, 1311 kB in a file
	// SE lengthscales from 1.35: 700 frequencies, 99 kB in a file
}
