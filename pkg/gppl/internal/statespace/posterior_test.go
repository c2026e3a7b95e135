package statespace

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// densePosterior is what Posterior computes, and K_*ᵀA⁻¹K_*'s diagonal.
func densePosterior(t, at, y []float64, cs []component, noise float64) (mean, variance []float64, ok bool) {
	res, ok := denseNLL(t, y, cs, noise)
	if !ok {
		return nil, nil, false
	}
	for _, s := range at {
		ks := mat.NewVecDense(len(t), nil)
		for i, ti := range t {
			for _, c := range cs {
				v, _ := c.cov(math.Abs(s - ti))
				ks.SetVec(i, ks.AtVec(i)+v)
			}
		}
		var sol mat.VecDense
		res.chol.SolveVecTo(&sol, ks)
		mean = append(mean, mat.Dot(ks, mat.NewVecDense(len(t), res.alpha)))
		variance = append(variance, total(cs)-mat.Dot(ks, &sol))
	}
	return mean, variance, true
}

func TestPosterior(t *testing.T) {
	for name, cs := range sums {
		for _, lay := range layouts {
			t.Run(name+"/"+lay.name, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(7, 8))
				var worstMean, worstVar float64
				for _, n := range []int{1, 2, 30, 200} {
					for _, l := range []float64{1e-3, 0.03, 1, 1e4} {
						for _, noise := range []float64{1e-6, 1e-3, 1} {
							if testkit.Quick() && n == 200 && rnd.IntN(4) > 0 {
								continue
							}
							cs := scaled(cs, l)
							x := sorted(lay.draw(rnd, n))
							y := drawY(rnd, x, cs, noise)
							at := uniform(rnd, 20)
							for i := range at {
								switch rnd.IntN(4) {
								case 0:
									at[i] = x[rnd.IntN(n)]
								case 1:
									at[i] = x[rnd.IntN(n)] + 1e-9*rnd.NormFloat64()
								case 2:
									at[i] = 3*at[i] - 1
								}
							}
							at = append(at, x[0], x[n-1], -1e6, 1e6, x[0])
							mean, variance := make([]float64, len(at)), make([]float64, len(at))
							f := NewFilter(x, nil)
							if err := f.predict(mean, variance, at, y, cs, noise); err != nil {
								t.Fatal(err)
							}
							wantMean, wantVar, ok := densePosterior(x, at, y, cs, noise)
							if !ok {
								continue
							}
							unit := 1e-10 + float64(n)*eps*total(cs)/noise
							dm, dv := maxDiff(mean, wantMean)/(1+maxNorm(y)), maxDiff(variance, wantVar)/total(cs)
							worstMean, worstVar = max(worstMean, dm), max(worstVar, dv)
							if dm > unit || dv > unit {
								t.Errorf("n=%d l=%g noise=%g: mean off by %.2g, variance by %.2g, unit %.2g", n, l, noise, dm, dv, unit)
							}
						}
					}
				}
				t.Logf("worst: mean %.1e, variance %.1e", worstMean, worstVar)
			})
		}
	}
}
