package statespace

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

func TestProduct(t *testing.T) {
	var worst float64
	for name, cs := range sums {
		for _, lay := range layouts {
			rnd := rand.New(rand.NewPCG(5, 6))
			for _, n := range []int{1, 2, 5, 160} {
				for _, k := range []int{1, 3, 130} {
					for _, l := range []float64{1e-3, 0.3, 1e4} {
						if testkit.Quick() && k > 3 && l != 0.3 {
							continue
						}
						cs := scaled(cs, l)
						x := sorted(lay.draw(rnd, n))
						stride := k + 3
						b := blas64.General{Rows: n, Cols: k, Stride: stride, Data: normals(rnd, n*stride)}
						bm := mat.NewDense(n, k, nil)
						for i := range n {
							bm.SetRow(i, b.Data[i*stride:][:k])
						}
						p := NewProduct(x)
						var values, slopes []blas64.General
						for range cs {
							values = append(values, general(k, k, make([]float64, k*k)))
							slopes = append(slopes, general(k, k, make([]float64, k*k)))
						}
						same := func(what string, got blas64.General, want *mat.Dense) {
							t.Helper()
							w := want.RawMatrix().Data
							rel := maxDiff(got.Data, w) / (1 + maxNorm(w)) // K and B are about 1
							worst = max(worst, rel)
							if rel > 1e-12 {
								t.Errorf("%s/%s n=%d k=%d l=%g: %s is off by %.2g", name, lay.name, n, k, l, what, rel)
							}
						}
						p.gram(values, slopes, b, cs)
						only := general(k, k, make([]float64, k*k))
						var want, wantGram mat.Dense
						for c, comp := range cs {
							kd, sd := gram(comp, x)
							want.Mul(sd, bm)
							wantGram.Mul(bm.T(), &want)
							same("slopes", slopes[c], &wantGram)
							want.Mul(kd, bm)
							wantGram.Mul(bm.T(), &want)
							same("values", values[c], &wantGram)
							p.gram([]blas64.General{only}, nil, b, cs[c:c+1])
							same("values alone", only, &wantGram)
						}
					}
				}
			}
		}
	}
	t.Logf("worst relative to 1 + the largest entry: %.1e", worst)
}
