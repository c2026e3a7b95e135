package observe

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/testsize"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/nuts"
)

// TestLaplaceMarginals compares Laplace's means and standard deviations of the 50 latent values with those of the No-U-Turn sampler. Laplace's method
// approximates, and has the mode for the mean: the means may be off by 0.3 of a standard deviation, on average by 0.2, and the
// standard deviations by 0.15 of themselves, beside what the draws leave open.
func TestLaplaceMarginals(t *testing.T) {
	const n = 50
	draws := testsize.Of(300, 1000, 10000)
	for k := range testsize.Of(3, 5, 10) {
		c := laplaceCases[k%len(laplaceCases)]
		m := gppl.Model{Kernel: c.kernel, Noise: 0.02}
		d, sizes := drawn(t, m, c.likelihood, n, uint64(100+k))
		s := dense(t, m, d, c.likelihood, sizes)
		var root mat.Cholesky
		if !root.Factorize(s.prior) {
			t.Fatal("the prior is not positive definite")
		}
		var lower mat.TriDense
		root.LTo(&lower)
		g, slope := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		density := func(grad, w []float64) (log float64) { // of g = Lw
			g.MulVec(&lower, mat.NewVecDense(n, w))
			for i := range n {
				at := c.likelihood.LogDensity(d.Y[i], sizes[i], g.AtVec(i))
				log += at.Value
				slope.SetVec(i, at.D1)
			}
			slope.MulVec(lower.T(), slope)
			copy(grad, slope.RawVector().Data)
			floats.Sub(grad, w)
			return log - 0.5*floats.Dot(w, w)
		}
		unit := mat.NewTriDense(n, mat.Lower, nil)
		for i := range n {
			unit.SetTri(i, i, 1)
		}
		chain := nuts.Run(context.Background(), density, make([]float64, n), unit, rand.New(rand.NewPCG(uint64(k), 3)), nuts.Settings{Warmup: 300, Draws: draws, Accept: 0.8, MaxDepth: 8})
		values := make([][]float64, n)
		for _, w := range chain.Draws {
			g.MulVec(&lower, mat.NewVecDense(n, w))
			for i := range n {
				values[i] = append(values[i], g.AtVec(i))
			}
		}
		covariance := s.covariance()
		var worst, mean, narrow, chance float64
		for i, v := range values {
			sampled, sd := stat.MeanStdDev(v, nil)
			off := math.Abs(s.g[i]-sampled) / sd
			worst, mean, narrow = max(worst, off), mean+off/n, max(narrow, math.Abs(math.Log(math.Sqrt(covariance.At(i, i))/sd)))
			chance = max(chance, 4/math.Sqrt(nuts.Diagnose([][]float64{v}).Bulk))
		}
		t.Logf("%v, %v: means off by %.3f of a standard deviation at most, by %.3f on average; standard deviations by %.3f of themselves (chance %.3f)", c.kernel, c.likelihood, worst, mean, narrow, chance)
		if worst > 0.3+chance || mean > 0.2+chance || narrow > 0.15+chance || chain.Divergent > 0 {
			t.Errorf("%v, %v: beyond what it may be; %d draws diverged", c.kernel, c.likelihood, chain.Divergent)
		}
	}
}
