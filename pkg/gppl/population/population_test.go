package population_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/must"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/population"
)

// TestLearnLogNormals: EM ends at the maximum of the marginal posterior of μ and τ, which a grid finds by the formula for one
// parameter.
func TestLearnLogNormals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	weak := gppl.LogNormal{Mu: 1, Sigma: 2}
	var all []population.LogQuadratic
	var z, v []float64
	for range 30 {
		precision := math.Exp(2 * rnd.NormFloat64())
		u := -0.5 + 0.6*rnd.NormFloat64() + rnd.NormFloat64()/math.Sqrt(precision)
		z, v = append(z, u), append(v, 1/precision)
		away := min(1, 1/math.Sqrt(precision)) * rnd.NormFloat64() // from where it was taken
		away = max(-1.5, min(away, 1.5))
		all = append(all, population.LogQuadratic{At: []float64{u + away}, Gradient: []float64{precision * away},
			Curvature: mat.NewSymDense(1, []float64{precision}), Weight: 1})
	}
	half := 0.5 * weak.Sigma * weak.Sigma
	cost := func(mu, tau2 float64) (c float64) {
		c = 0.5*(mu-weak.Mu)*(mu-weak.Mu)/half + 0.5*(math.Log(tau2)+half/tau2)
		for i := range z {
			c += 0.5 * (math.Log(tau2+v[i]) + (z[i]-mu)*(z[i]-mu)/(tau2+v[i]))
		}
		return c
	}
	best, mu, tau := math.Inf(1), 0.0, 0.0
	for a := -2.0; a < 2; a += 0.004 {
		for b := 0.1; b < 2; b += 0.004 {
			if c := cost(a, b*b); c < best {
				best, mu, tau = c, a, b
			}
		}
	}
	got := population.LearnLogNormals(all, []gppl.LogNormal{weak})[0]
	if math.Abs(got.Mu-mu) > 0.005 || !(got.Sigma > tau && got.Sigma < tau+0.05) {
		t.Errorf("%v, the grid has μ = %v and τ = %v", got, mu, tau)
	}
	// Several independent parameters are learnt as one each.
	for i := range all {
		p := all[i].Curvature.At(0, 0)
		all[i].At, all[i].Gradient = append(all[i].At, 3), append(all[i].Gradient, 0)
		all[i].Curvature = mat.NewSymDense(2, []float64{p, 0, 0, -1})
	}
	both := population.LearnLogNormals(all, []gppl.LogNormal{weak, {Mu: 2, Sigma: 1.5}})
	if math.Abs(both[0].Mu-got.Mu) > 1e-6 || math.Abs(both[0].Sigma-got.Sigma) > 1e-6 {
		t.Errorf("%v beside another parameter, %v alone", both[0], got)
	}
	if math.Abs(both[1].Mu-2) > 1e-6 || math.Abs(both[1].Sigma-1.5) > 1e-4 { // of which nothing is told
		t.Errorf("%v, want the weak prior", both[1])
	}
	// A flat likelihood far away is believed no further than two from where it was taken.
	far := []population.LogQuadratic{{At: []float64{0}, Gradient: []float64{1}, Curvature: mat.NewSymDense(1, []float64{1e-2}),
		Weight: 1e4}}
	if p := population.LearnLogNormals(far, []gppl.LogNormal{{Mu: 0, Sigma: 1}})[0]; !(p.Mu > -2.1 && p.Mu < -0.5) {
		t.Errorf("%v", p)
	}
}

// panelOf returns series whose lengthscales, variances and noise vary about exp(μ) with a standard deviation of τ in the logs,
// and as many later observations of each as test says.
func panelOf(t *testing.T, seed uint64, count, n, test int, mu [3]float64, tau float64) (train, whole []gppl.Data) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range count {
		var theta [3]float64
		for j := range theta {
			theta[j] = math.Exp(mu[j] + tau*rnd.NormFloat64())
		}
		d := gppltest.Series(t, rnd, n+test, theta[0], theta[1], theta[2])
		pick := make([]int, n)
		for i := range pick {
			pick[i] = i
		}
		train, whole = append(train, d.Pick(pick)), append(whole, d)
	}
	return train, whole
}

// TestLearnPriors: from 60 series of 20 observations the prior of their parameters is learnt, and these forecast the next
// observations better than the parameters that each learnt alone, whatever the number of processors.
func TestLearnPriors(t *testing.T) {
	mu := [3]float64{0, math.Log(6), math.Log(0.3)}
	train, whole := panelOf(t, 3, 60, 20, 10, mu, 0.3)
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 0.5, Lengthscale: 2}, Noise: 0.5}
	weak := gppl.DefaultPriors(m, train[0])
	var losses []gppl.Loss
	for _, d := range train {
		losses = append(losses, must.Get(gppl.NewExact(m, d))(t))
	}
	ctx := context.Background()
	settings := gppl.Settings{NoStandardErrors: true}
	learnt := must.Get(population.LearnPriors(ctx, losses, weak, settings))(t)
	for j, p := range learnt.Priors {
		if prior := p.Prior.(gppl.LogNormal); math.Abs(prior.Mu-mu[j]) > 0.35 || prior.Sigma > 0.9 {
			t.Errorf("%v; it is log-normal(%.3g, 0.3)", p, mu[j])
		}
	}
	var gain, squares float64 // of the log density of what follows
	for i := range train {
		alone := must.Get(gppl.Fit(ctx, must.Get(gppl.NewMAP(losses[i], weak...))(t), nil, settings))(t)
		g := laterLog(t, learnt.Results[i].Model, train[i], whole[i]) - laterLog(t, alone.Model, train[i], whole[i])
		gain += g
		squares += g * g
	}
	if err := math.Sqrt(squares); !(gain > 3*err) || !(gain > 10) {
		t.Errorf("the learnt prior gains %.1f ± %.1f nats over the weak one", gain, err)
	}
	before := runtime.GOMAXPROCS(1)
	again := must.Get(population.LearnPriors(ctx, losses, weak, settings))(t)
	runtime.GOMAXPROCS(before)
	if !slices.Equal(again.Priors, learnt.Priors) || again.Results[7].Value != learnt.Results[7].Value {
		t.Errorf("on one processor %v, else %v", again.Priors, learnt.Priors)
	}
}

// laterLog is the log density of the observations of whole after those of train.
func laterLog(t *testing.T, m gppl.Model, train, whole gppl.Data) float64 {
	value := func(d gppl.Data) float64 {
		v, err := must.Get(gppl.NewExact(m, d))(t).ValueGrad(nil, m.Values())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return value(train) - value(whole)
}

func TestLearnPriorsErrors(t *testing.T) {
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 1.2, Lengthscale: 3}, Noise: 0.3, Mean: gppl.Intercept{}}
	rnd := rand.New(rand.NewPCG(5, 6))
	lossOf := func(m gppl.Model, n int) gppl.Loss {
		return must.Get(gppl.NewExact(m, gppltest.Series(t, rnd, n, 1, 4, 0.2)))(t)
	}
	losses := []gppl.Loss{lossOf(m, 12), lossOf(m, 25)}
	ctx := context.Background()
	weak := []gppl.ParamPrior{{Name: gppl.NoiseName, Prior: gppl.LogNormal{Mu: -1, Sigma: 1}}, {Name: "variance",
		Prior: gppl.HalfNormal{Scale: 1}}}
	learnt := must.Get(population.LearnPriors(ctx, losses, weak, gppl.Settings{}))(t)
	if len(learnt.Priors) != 2 || learnt.Priors[0].Prior != (gppl.HalfNormal{Scale: 1}) {
		t.Errorf("priors %v", learnt.Priors)
	}
	if _, err := population.LearnPriors(ctx, losses[:1], weak, gppl.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "two or more") {
		t.Errorf("one series: %v", err)
	}
	if _, err := population.LearnPriors(ctx, losses, []gppl.ParamPrior{{Name: "period", Prior: gppl.HalfNormal{Scale: 1}}},
		gppl.Settings{}); err == nil {
		t.Error("no error for a prior of nothing")
	}
	other := lossOf(gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 1}, 12)
	if _, err := population.LearnPriors(ctx, []gppl.Loss{losses[0], other}, []gppl.ParamPrior{{Name: "lengthscale",
		Prior: gppl.LogNormal{Mu: 1, Sigma: 1}}}, gppl.Settings{}); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("one series without the parameter: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := population.LearnPriors(ended, losses, weak, gppl.Settings{}); err != context.Canceled {
		t.Errorf("an ended context: %v", err)
	}
}
