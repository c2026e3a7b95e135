package gppl

import (
	"context"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// BenchmarkBandedNLL evaluates the exact likelihood by the banded engine, the
// value alone and with its gradient, over widths of the band.
func BenchmarkBandedNLL(b *testing.B) {
	for _, c := range []struct {
		n           int
		lengthscale float64
	}{{3000, 2}, {3000, 17}, {3000, 60}, {30000, 17}} {
		d := benchData(b, c.n)
		x := make([]float64, c.n)
		for i := range x {
			x[i] = d.X.at[i] * float64(c.n) / 1000 // mean spacing 1
		}
		e := newBandedExact(lineOf(x, d.Y))
		for _, what := range []string{"value", "gradient"} {
			var grad []float64
			if what == "gradient" {
				grad = make([]float64, 3)
			}
			b.Run(fmt.Sprintf("%s/n=%d/l=%v", what, c.n, c.lengthscale), func(b *testing.B) {
				m := compiledAt(SE{1, c.lengthscale}, 0.1)
				g, r := dense.New(1, 1), blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
				b.ReportAllocs()
				for b.Loop() {
					f, err := e.factor(m)
					if err != nil {
						b.Fatal(err)
					}
					f.gram(g)
					if grad != nil {
						err = f.gradient(grad, r)
					}
					f.release()
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPosteriorBanded predicts at inputs between 20 000 observations, whose mean spacing is 1.
func BenchmarkPosteriorBanded(b *testing.B) {
	const n = 20000
	d := benchData(b, n)
	x := make([]float64, n)
	for i := range x {
		x[i] = d.X.at[i] * n / 1000
	}
	d.X = Scalars(x)
	for _, l := range []float64{2, 17, 100} {
		p, err := NewPosterior(b.Context(), Model{Kernel: SE{1, l}, Noise: 0.1}, d, WithEngine(EngineBanded))
		if err != nil {
			b.Fatal(err)
		}
		for _, count := range []int{100, 100_000} {
			at := make([]float64, count)
			for i := range at {
				at[i] = n * float64(i) / float64(count)
			}
			b.Run(fmt.Sprintf("l=%v/inputs=%d", l, count), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := p.Latent(context.Background(), Scalars(at)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
