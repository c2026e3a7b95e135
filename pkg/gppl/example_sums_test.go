package gppl_test

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Shards of a series are added up apart, merged, and learnt from. The merged sums have the bytes of the whole.
func ExampleSumsData() {
	ctx := context.Background()
	plan, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Largest: 8})
	if err != nil {
		panic(err)
	}
	shard := func(from, to int) *sums.Sums {
		s, err := sums.New(plan.Header)
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
	loss, err := gppl.NewExact(ctx, start, gppl.SumsData(all, all.Mean()))
	if err != nil {
		panic(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s, noise variance %.4f\n", result.Status, result.Model.Noise)
	// Output:
	// 10000 observations, the bytes of the whole: true
	// converged, noise variance 0.0050
}
