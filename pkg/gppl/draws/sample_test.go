package draws_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// sampledCase is the posterior of a lengthscale and a noise variance, given 50 observations and priors.
func sampledCase(t *testing.T) (*gppl.MAP, *gppl.Result) {
	d := gppltest.Series(t, rand.New(rand.NewPCG(11, 1)), 50, 1, 4, 0.3)
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 4}, Noise: 0.3}.Fix("variance")
	loss := testkit.Must(gppl.NewMAP(testkit.Must(gppl.NewExact(t.Context(), m, d))(t),
		gppl.ParamPrior{Name: "lengthscale", Prior: prior.InverseGamma{Shape: 2, Scale: 6}}, gppl.ParamPrior{Name: gppl.NoiseName,
			Prior: prior.HalfNormal{Scale: 1}}))(t)
	return loss, testkit.Must(gppl.Fit(context.Background(), loss, nil, gppl.Settings{}))(t)
}

// TestSample: moments and quantiles of two parameters by a dense grid, and the same bytes on any number of processors.
func TestSample(t *testing.T) {
	loss, r := sampledCase(t)
	ctx := context.Background()
	s := testkit.Must(draws.Sample(ctx, loss, r, draws.SampleSettings{Seed: 3}))(t)
	if len(s.Warnings) > 0 || s.Importance.Fallback != "" || s.Divergent > 0 {
		t.Errorf("%v", s)
	}
	// The trapezoid rule in the logs of both.
	const cells = 120
	theta := r.Model.Values()
	lo, hi := [2]float64{math.Log(0.3), math.Log(1e-4)}, [2]float64{math.Log(200), math.Log(3)}
	var total float64
	var mean, square [2]float64
	var marginal [2][cells]float64
	for a := range cells {
		for b := range cells {
			at := [2]float64{lo[0] + (hi[0]-lo[0])*float64(a)/(cells-1), lo[1] + (hi[1]-lo[1])*float64(b)/(cells-1)}
			theta[1], theta[2] = math.Exp(at[0]), math.Exp(at[1])
			v, err := loss.ValueGrad(ctx, nil, theta)
			if err != nil {
				t.Fatal(err)
			}
			w := math.Exp(r.Value - v + at[0] + at[1])
			total += w
			for j, i := range [2]int{a, b} {
				mean[j] += w * theta[1+j]
				square[j] += w * theta[1+j] * theta[1+j]
				marginal[j][i] += w
			}
		}
	}
	for j, p := range s.Params {
		mu := mean[j] / total
		sd := math.Sqrt(square[j]/total - mu*mu)
		if e := math.Abs(p.Mean-mu) / sd; e > 4/math.Sqrt(p.Bulk) {
			t.Errorf("%s has the mean %v, by quadrature %v ± %v", p.Name, p.Mean, mu, sd)
		}
		if math.Abs(p.SD/sd-1) > 0.15 {
			t.Errorf("%s has the standard deviation %v, by quadrature %v", p.Name, p.SD, sd)
		}
		if e := math.Abs(p.ImportanceMean-mu) / sd; e > 0.15 {
			t.Errorf("%s has the mean %v by importance, by quadrature %v ± %v", p.Name, p.ImportanceMean, mu, sd)
		}
		var below float64
		for i, w := range marginal[j] {
			if lo[j]+(hi[j]-lo[j])*float64(i)/(cells-1) <= math.Log(p.Upper) {
				below += w / total
			}
		}
		if math.Abs(below-0.975) > 0.02 {
			t.Errorf("%s: %v of the posterior are below %v, want 0.975", p.Name, below, p.Upper)
		}
	}
	before := runtime.GOMAXPROCS(1)
	again := testkit.Must(draws.Sample(ctx, loss, r, draws.SampleSettings{Seed: 3}))(t)
	runtime.GOMAXPROCS(before)
	if again.String() != s.String() || !slices.Equal(again.Draws[2][500], s.Draws[2][500]) {
		t.Errorf("on one processor\n%v\nelse\n%v", again, s)
	}
	if u := s.Uncertain(64); len(u.Models) != 64 || !(u.ESS > 400) || u.Models[3].Kernel.Params()[0].Value != 1 {
		t.Errorf("%v", u)
	}
}

// TestSampleWarnings: a likelihood that does not determine a parameter without a prior has no posterior, and few draws tell
// little.
func TestSampleWarnings(t *testing.T) {
	loss, r := sampledCase(t)
	ctx := context.Background()
	few := testkit.Must(draws.Sample(ctx, loss, r, draws.SampleSettings{Chains: 2, Warmup: 20, Draws: 20}))(t)
	if !strings.Contains(fmt.Sprint(few), "below 200; draw more") {
		t.Errorf("%v", few)
	}
	for want, s := range map[string]draws.SampleSettings{"acceptance 2": {Accept: 2}, "-1 chains": {Chains: -1},
		"of 5 and": {Warmup: 5}} {
		if _, err := draws.Sample(ctx, loss, r, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := draws.Sample(ctx, loss, nil, draws.SampleSettings{}); err == nil {
		t.Error("no error without a result")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := draws.Sample(ended, loss, r, draws.SampleSettings{}); err != context.Canceled {
		t.Errorf("an ended context: %v", err)
	}
}

// TestSimulationBasedCalibration draws parameters from their priors and data from the parameters. The ranks of the parameters
// among draws of the posterior are uniform, by NUTS and by importance sampling (Talts et al. 2018), by χ² at a level of 1e-3 for
// each.
func TestSimulationBasedCalibration(t *testing.T) {
	sims := testkit.Size(60, 200, 2000)
	const n, kept = 25, testkit.RankedDraws
	priors := map[string]prior.LogNormal{"variance": {Mu: 0, Sigma: 0.5}, "lengthscale": {Mu: 1.2, Sigma: 0.5},
		gppl.NoiseName: {Mu: -1.2, Sigma: 0.7}}
	names := []string{"variance", "lengthscale", gppl.NoiseName}
	ranks := testkit.Ranks{}
	rnd := rand.New(rand.NewPCG(21, 4))
	ctx := context.Background()
	fallbacks := 0
	for sim := range sims {
		var theta [3]float64
		var list []gppl.ParamPrior
		for j, name := range names {
			theta[j] = math.Exp(priors[name].Mu + priors[name].Sigma*rnd.NormFloat64())
			list = append(list, gppl.ParamPrior{Name: name, Prior: priors[name]})
		}
		d := gppltest.Series(t, rnd, n, theta[0], theta[1], theta[2])
		m := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 3}, Noise: 0.3}
		loss := testkit.Must(gppl.NewMAP(testkit.Must(gppl.NewExact(ctx, m, d))(t), list...))(t)
		r := testkit.Must(gppl.Fit(ctx, loss, nil, gppl.Settings{NoStandardErrors: true}))(t)
		s := testkit.Must(draws.Sample(ctx, loss, r, draws.SampleSettings{Chains: 1, Warmup: 200, Draws: 6 * kept, Seed: uint64(sim)}))(t)
		for by, models := range map[string][]gppl.Model{"NUTS": s.Uncertain(kept).Models,
			"importance": thinned(s.Importance.Models, kept)} {
			if len(models) < kept {
				fallbacks++
				continue
			}
			for j, name := range names {
				var drawn []float64
				for _, m := range models {
					drawn = append(drawn, m.Values()[j])
				}
				ranks.Add(by+" "+name, theta[j], drawn)
			}
		}
	}
	if fallbacks*5 > sims {
		t.Errorf("importance sampling fell back in %d of %d", fallbacks, sims)
	}
	for quantity, c := range ranks {
		if p, ok := ranks.Uniform(quantity); !ok {
			t.Errorf("%s: ranks %v, p = %v", quantity, *c, p)
		}
	}
}

// thinned returns some of the models, spread evenly; all if there are no more.
func thinned(models []gppl.Model, count int) (some []gppl.Model) {
	if len(models) < count {
		return models
	}
	for i := range count {
		some = append(some, models[i*len(models)/count])
	}
	return some
}
