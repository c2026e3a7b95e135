package observe

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// TestCountsSimulationBased draws parameters from their priors, a rate from them and counts from the rate. The ranks of the
// parameters among draws of the No-U-Turn sampler on Laplace's likelihood, and those of the parameters and of a log rate among
// these draws weighted by what Laplace's method misses (Pareto smoothed), are uniform (Talts et al. 2018), by χ² at a level of
// 1e-3 for each.
func TestCountsSimulationBased(t *testing.T) {
	sims := testkit.Size(20, 100, 2000)
	const n, kept, middle = 25, testkit.RankedDraws, 12
	priors := map[string]prior.LogNormal{"variance": {Mu: -0.5, Sigma: 0.5}, "lengthscale": {Mu: 1.2, Sigma: 0.5}}
	names := []string{"variance", "lengthscale"}
	ranks := testkit.Ranks{}
	rnd, ctx, refused := rand.New(rand.NewPCG(29, 3)), t.Context(), 0
	for sim := range sims {
		var truth []float64
		var list []gppl.ParamPrior
		for _, name := range names {
			truth = append(truth, math.Exp(priors[name].Mu+priors[name].Sigma*rnd.NormFloat64()))
			list = append(list, gppl.ParamPrior{Name: name, Prior: priors[name]})
		}
		m := gppl.Model{Kernel: gppl.Matern32{Variance: truth[0], Lengthscale: truth[1]}, Noise: 1e-4}
		x, y, sizes := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], sizes[i] = float64(i), 2
		}
		draw, err := m.Sample(ctx, gppl.Scalars(x), uint64(sim), gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		g := draw.Y
		for i := range y {
			y[i] = distuv.Poisson{Lambda: sizes[i] * math.Exp(g[i]), Src: rnd}.Rand()
		}
		d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
		loss := testkit.Must(NewLaplace(ctx, gppl.Model{Kernel: gppl.Matern32{Variance: 0.6, Lengthscale: 3}, Noise: 1e-4}.Fix(gppl.NoiseName),
			d, Poisson{}, sizes))(t)
		prior := testkit.Must(gppl.NewMAP(loss, list...))(t)
		r := testkit.Must(gppl.Fit(ctx, prior, nil, gppl.Settings{NoStandardErrors: true}))(t)
		s := testkit.Must(draws.Sample(ctx, prior, r, draws.SampleSettings{Chains: 1, Warmup: 150, Draws: 4 * kept, Seed: uint64(sim)}))(t)
		pairs, err := together(ctx, loss, s.Draws[0], middle, rnd)
		if err != nil {
			t.Fatal(err)
		}
		for j, name := range names {
			ranks.Add("Laplace, "+name, truth[j], column(s.Draws[0], j, func(k int) int { return k * len(s.Draws[0]) / kept }, kept))
			if pairs == nil {
				continue
			}
			ranks.Add("corrected, "+name, truth[j], column(pairs, j, func(k int) int { return k }, kept))
		}
		if pairs == nil {
			refused++
			continue
		}
		ranks.Add("corrected, log rate", g[middle], column(pairs, len(pairs[0])-1, func(k int) int { return k }, kept))
	}
	if refused*5 > sims {
		t.Errorf("k̂ was too large in %d of %d", refused, sims)
	}
	t.Logf("k̂ was too large in %d of %d", refused, sims)
	for quantity, c := range ranks {
		p, ok := ranks.Uniform(quantity)
		t.Logf("%s: ranks %v, p = %.3g", quantity, *c, p)
		if !ok {
			t.Errorf("%s: ranks %v, p = %v", quantity, *c, p)
		}
	}
}

// together draws the latent values for each draw of the parameters and returns 59 of the pairs by their smoothed weights: the
// parameters, with the latent value at an observation behind them. It returns nil if the weights cannot be trusted. Each
// simulation has random numbers of its own: with the same ones in all, the ranks show what they are, not what the method is.
func together(ctx context.Context, l *Laplace, thetas [][]float64, at int, rnd *rand.Rand) ([][]float64, error) {
	var all [][]float64
	var logs []float64
	for _, theta := range thetas {
		s, err := l.mode(ctx, theta)
		if err != nil {
			return nil, err
		}
		g, log, err := s.draw(1, rnd.Uint64())
		if err != nil {
			return nil, err
		}
		all, logs = append(all, append(append([]float64(nil), theta...), g[0][at])), append(logs, log[0])
	}
	w, err := psis.Smooth(logs)
	if err != nil || !(w.K <= psis.Reliable) {
		return nil, err
	}
	var total, sum float64
	for _, v := range w.Weights {
		total += v
	}
	const kept = testkit.RankedDraws
	var drawn [][]float64
	for k, v := range w.Weights { // systematic resampling
		for sum += v; len(drawn) < kept && sum >= total*(float64(len(drawn))+0.5)/kept; {
			drawn = append(drawn, all[k])
		}
	}
	for len(drawn) < kept {
		drawn = append(drawn, all[len(all)-1])
	}
	return drawn, nil
}

// column returns entry j of so many rows.
func column(rows [][]float64, j int, at func(k int) int, count int) (out []float64) {
	for k := range count {
		out = append(out, rows[at(k)][j])
	}
	return out
}
