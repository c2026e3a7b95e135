package observe

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/nuts"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// TestLaplaceMarginals compares the means and standard deviations of the 50 latent values by Laplace's method, corrected by
// Pareto smoothed importance sampling, with those of the No-U-Turn sampler: they differ by at most five of the standard errors
// that both have, from their effective numbers of draws. The error of Laplace's method without the correction, which takes the
// mode for the mean, is logged.
func TestLaplaceMarginals(t *testing.T) {
	const n = 50
	draws, corrected := testkit.Size(300, 1000, 10000), 0
	for k := range testkit.Size(3, 5, 10) {
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
		density := func(grad, w []float64) (log float64) { // the density of g = Lw
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
		chain := nuts.Run(context.Background(), density, make([]float64, n), unit, rand.New(rand.NewPCG(uint64(k), 3)),
			nuts.Settings{Warmup: 300, Draws: draws, Accept: 0.8, MaxDepth: 8})
		sampledG := make([][]float64, n)
		for _, w := range chain.Draws {
			g.MulVec(&lower, mat.NewVecDense(n, w))
			for i := range n {
				sampledG[i] = append(sampledG[i], g.AtVec(i))
			}
		}
		covariance := s.covariance()
		loss := testkit.Must(NewLaplace(t.Context(), m, d, c.likelihood, sizes))(t)
		at := testkit.Must(loss.mode(t.Context(), gppl.Values(loss.Params())))(t)
		drawn, logs, err := at.draw(20*draws, uint64(k))
		if err != nil {
			t.Fatal(err)
		}
		weights, err := psis.Smooth(logs)
		if err != nil {
			t.Fatal(err)
		}
		trusted := weights.K <= psis.Reliable
		if trusted {
			corrected++
		}
		var worst, mean, narrow, most float64
		for i, v := range sampledG {
			sampled, sd := stat.MeanStdDev(v, nil)
			off := math.Abs(s.g[i]-sampled) / sd
			worst, mean, narrow = max(worst, off), mean+off/n, max(narrow, math.Abs(math.Log(math.Sqrt(covariance.At(i, i))/sd)))
			own := make([]float64, len(drawn))
			for j := range drawn {
				own[j] = drawn[j][i]
			}
			moved := stat.Mean(own, weights.Weights)
			spread := math.Sqrt(stat.MomentAbout(2, own, moved, weights.Weights))
			// The effective number of draws of the mean or of the squares, for the standard deviation, whichever is smaller.
			effective := min(nuts.Diagnose([][]float64{v}).Bulk, nuts.Diagnose([][]float64{squares(v, sampled)}).Bulk)
			chance := math.Sqrt(1/effective + 1/weights.ESS)
			most = max(most, math.Abs(moved-sampled)/(sd*chance),
				math.Abs(math.Log(spread/sd))/(chance*math.Sqrt(0.25*(stat.MomentAbout(4, v, sampled, nil)/(sd*sd*sd*sd)-1))))
		}
		t.Logf("%v, %v: Laplace's means off by %.3f of a standard deviation at most, by %.3f on average; standard deviations by"+
			" %.3f of themselves; corrected, %.1f standard errors at most (k̂ = %.2f, %.0f effective draws)",
			c.kernel, c.likelihood, worst, mean, narrow, most, weights.K, weights.ESS)
		if trusted && most > 5 || chain.Divergent > 0 {
			t.Errorf("%v, %v: beyond what chance explains; %d draws diverged", c.kernel, c.likelihood, chain.Divergent)
		}
	}
	if corrected == 0 {
		t.Error("importance sampling corrects no case")
	}
}

func squares(v []float64, about float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = (x - about) * (x - about)
	}
	return out
}
