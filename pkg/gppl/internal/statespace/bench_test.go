package statespace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

func BenchmarkNLL(b *testing.B) {
	for _, n := range []int{3319, 100_000, 1_000_000} {
		rnd := rand.New(rand.NewPCG(1, 2))
		t := sorted(uniform(rnd, n))
		y := normals(rnd, n)
		for _, name := range []string{"0", "1", "2", "0+1", "0+1+2"} {
			if n == 1_000_000 && len(name) > 1 {
				continue
			}
			cs := scaled(sums[name], 100/float64(n)) // a hundred inputs to the lengthscale
			f := NewFilter(t, nil)
			grad := make([]float64, 2*len(cs)+1)
			for _, mode := range []string{"value", "gradient"} {
				g := grad
				if mode == "value" {
					g = nil
				}
				b.Run(fmt.Sprintf("order=%s/n=%d/%s", name, n, mode), func(b *testing.B) {
					b.ReportAllocs()
					f.NLL(grad, y, cs, 0.1)
					for b.Loop() {
						if _, err := f.NLL(g, y, cs, 0.1); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n), "ns/input")
				})
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	const n, k = 100_000, 100
	rnd := rand.New(rand.NewPCG(1, 2))
	t := sorted(uniform(rnd, n))
	omega := general(n, k, normals(rnd, n*k))
	values, slopes := []blas64.General{general(k, k, make([]float64, k*k))}, []blas64.General{general(k, k, make([]float64, k*k))}
	p := NewProduct(t)
	for _, name := range []string{"0", "1", "2"} {
		cs := scaled(sums[name], 100./n)
		for what, f := range map[string]func(){
			"Gram":      func() { p.gram(values, nil, omega, cs) },
			"GramSlope": func() { p.gram(values, slopes, omega, cs) },
		} {
			b.Run(fmt.Sprintf("%s/order=%s/n=%d/k=%d", what, name, n, k), func(b *testing.B) {
				b.ReportAllocs()
				f()
				for b.Loop() {
					f()
				}
			})
		}
	}
}

func BenchmarkPosterior(b *testing.B) {
	const n, m = 100_000, 10_000
	rnd := rand.New(rand.NewPCG(1, 2))
	t := sorted(uniform(rnd, n))
	y, at := normals(rnd, n), uniform(rnd, m)
	mean, variance := make([]float64, m), make([]float64, m)
	f := NewFilter(t, nil)
	for _, name := range []string{"0", "1", "2", "0+1+2"} {
		cs := scaled(sums[name], 100./n)
		b.Run(fmt.Sprintf("order=%s/n=%d/m=%d", name, n, m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.predict(mean, variance, at, y, cs, 0.1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSolve(b *testing.B) {
	const n = 100_000
	rnd := rand.New(rand.NewPCG(1, 2))
	f := NewFilter(sorted(uniform(rnd, n)), nil)
	y := normals(rnd, n)
	for _, name := range []string{"0", "1", "2", "0+1+2"} {
		if err := f.factoriseSum(blas64.General{}, scaled(sums[name], 100./n), 0.1); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("order=%s/n=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Solve(y, y)
			}
		})
	}
}

// BenchmarkBlocks is value and gradient of an oscillator, of two, and of a Matérn 3/2 that turns with ten harmonics, beside
// Matérn 3/2.
func BenchmarkBlocks(b *testing.B) {
	const n = 3319
	rnd := rand.New(rand.NewPCG(1, 2))
	t := sorted(uniform(rnd, n))
	y := normals(rnd, n)
	slow, fast := NewOscillator(0.03, 2), NewOscillator(0.015, 2)
	weights := make([]float64, 11)
	for j := range weights {
		weights[j] = 1 / float64(1+j*j)
	}
	matern := &Matern{1, 0.03}
	f := NewFilter(t, nil)
	grad := make([]float64, 3)
	b.Run("Matern32", func(b *testing.B) {
		for b.Loop() {
			if _, err := f.NLL(grad, y, []component{{1, 1, 0.03}}, 0.1); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, blocks := range map[string][]Block{
		"SHO":               {{Process: &slow, Params: 2, Variance: 1}},
		"Rotation":          {{Process: &slow, Params: 2, Variance: 1}, {Process: &fast, Params: 2, Variance: 0.5}},
		"Matern32*Periodic": {{Process: matern, Params: 1, Variance: 1, Period: 0.03, Weights: weights}},
	} {
		f := NewFilter(t, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.factorisePairs(column(y), blocks, 0.1); err != nil {
					b.Fatal(err)
				}
				grad := make([]float64, f.Derivatives())
				f.Gradient(grad, one)
			}
		})
	}
}
