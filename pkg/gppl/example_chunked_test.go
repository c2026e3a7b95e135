package gppl_test

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A series that is never in memory as a whole, here made as it is read, is learnt from
// exactly. A file of pairs of float64 would be gppl.FileChunks(path).
func ExampleNewChunkedExact() {
	days := func() iter.Seq2[gppl.Chunk, error] {
		return func(yield func(gppl.Chunk, error) bool) {
			for day := range 100 {
				var c gppl.Chunk
				for i := range 288 {
					at := float64(day) + float64(i)/288
					c.T, c.Y = append(c.T, at), append(c.Y, 20+math.Sin(at)+0.5*math.Sin(math.E*at)+0.1*math.Sin(77*float64(i*i+day)))
				}
				if !yield(c, nil) {
					return
				}
			}
		}
	}
	series, err := gppl.NewChunked(days)
	if err != nil {
		panic(err)
	}
	start := gppl.Model{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	loss, err := gppl.NewChunkedExact(start, series, series.Mean())
	if err != nil {
		panic(err)
	}
	result, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d observations: %s, noise variance %.4f\n", series.Len(), result.Status, result.Model.Noise)
	post, err := gppl.NewChunkedPosterior(result.Model, series, series.Mean())
	if err != nil {
		panic(err)
	}
	mean, _ := post.Latent(gppl.Scalars([]float64{100}))
	fmt.Printf("at the end: %.1f\n", mean[0]+series.Mean())
	// Output:
	// 28800 observations: converged, noise variance 0.0050
	// at the end: 20.0
}
