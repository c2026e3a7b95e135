package draws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/nuts"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// SampleSettings configures Sample. The zero value is recommended.
type SampleSettings struct {
	Chains int     // 0 means 4
	Warmup int     // draws of each chain that adapt it and are dropped; 0 means 500
	Draws  int     // draws of each chain that are kept; 0 means 1000
	Accept float64 // target of the mean acceptance; 0 means 0.8. If draws diverge, try 0.95 or more.
	Seed   uint64
}

const (
	// A chain is usable if R̂ is at most worstRHat and the effective size at least leastEffective (Vehtari et al. 2021).
	worstRHat, leastEffective = 1.01, 100
	// mostDoublings bounds a trajectory to 1023 steps.
	mostDoublings = 10
	// fewestDraws is the least number of draws of a chain.
	fewestDraws = 20
)

// Sampled is the posterior distribution of the parameters of a model as draws of Markov chains.
type Sampled struct {
	Params []SampledParam // the parameters that were drawn
	// Draws are natural values of all parameters of the loss: by chain, then by draw.
	Draws     [][][]float64
	Divergent int // draws where the density is too curved for the step: a part of the posterior may be missing
	Saturated int // draws whose trajectory was cut at 1023 steps
	// Evaluations is the number of values with gradients, of all chains with their warm-up.
	Evaluations int
	// Importance is the answer to the same question by importance sampling (NewUncertain).
	Importance *Uncertain
	Warnings   []string // reasons not to use the draws as they are; nil if there are none

	loss gppl.Loss
}

// SampledParam is the posterior distribution of a parameter.
type SampledParam struct {
	Name                 string
	Mean, SD             float64
	Lower, Median, Upper float64 // quantiles at 2.5, 50 and 97.5 %
	RHat                 float64 // rank-normalised split R̂: at most 1.01 where chains agree
	Bulk, Tail           float64 // effective numbers of draws for the middle, and for the quantiles at 5 and 95 %
	ImportanceMean       float64 // mean by importance sampling; NaN if it fell back to the learnt parameters
	ImportanceSD         float64
}

// Sample draws from the posterior distribution of the parameters of a loss by the No-U-Turn sampler, in several chains in
// parallel. NewUncertain requires a posterior near normal; Sample only requires that the loss is correct. A draw takes some
// three to thirty evaluations with gradients.
//
// The density, the raw values u in which it is drawn, and the treatment of parameters without a prior are as in NewUncertain;
// r is a training of loss. If a parameter has no prior and its likelihood is flat, there is no posterior distribution and
// chains wander: give all parameters priors (NewMAP).
//
// Chains begin at draws around the mode, whose spread follows from the curvature there; this is also the first metric. A chain
// whose draws all fail begins at the best point. The warm-up adapts the step to the acceptance, and the dense metric to the
// draws, in windows. A seed gives the same draws on any number of processors.
//
// The Warnings say if R̂ exceeds 1.01, if effective sizes are below 100 per chain, if draws diverged, if trajectories were cut,
// or if importance sampling, where its k̂ is good, has means more than a quarter of a standard deviation away.
//
// Sample returns an error if ctx ends, if r does not belong to loss, if no parameter was trained, or if settings are out of
// range. It panics if loss is nil.
func Sample(ctx context.Context, loss gppl.Loss, r *gppl.Result, s SampleSettings) (*Sampled, error) {
	if loss == nil {
		panic("draws: Sample: the loss is nil")
	}
	if r == nil || len(r.Starts) <= r.Best {
		return nil, errors.New("draws: sampling needs a result of Fit")
	}
	s.Chains, s.Warmup, s.Draws, s.Accept = cmp.Or(s.Chains, 4), cmp.Or(s.Warmup, 500), cmp.Or(s.Draws, 1000), cmp.Or(s.Accept, 0.8)
	if s.Chains < 1 || s.Warmup < fewestDraws || s.Draws < fewestDraws || !(s.Accept > 0 && s.Accept < 1) {
		return nil, fmt.Errorf("draws: %d chains of %d and %d draws, acceptance %v: want at least 1 chain of %d and %d, and an"+
			" acceptance between 0 and 1",
			s.Chains, s.Warmup, s.Draws, s.Accept, fewestDraws, fewestDraws)
	}
	t, err := newTarget(loss, r)
	if err != nil {
		return nil, err
	}
	if len(t.free) == 0 {
		return nil, errors.New("draws: no parameter was trained: there is nothing to sample")
	}
	around, ok := t.laplace(ctx)
	if !ok {
		around = &psis.Proposal{Centre: t.raw, Lower: unitLower(len(t.raw))}
	}
	out := &Sampled{loss: loss, Draws: make([][][]float64, s.Chains)}
	chains := make([]*nuts.Chain, s.Chains)
	parallel.Each(runtime.GOMAXPROCS(0), s.Chains, func(i int) {
		rnd := rand.New(rand.NewPCG(s.Seed, 6+uint64(i)<<8))
		chains[i] = nuts.Run(ctx, t.density(ctx), t.begin(ctx, around, rnd), around.Lower, rnd,
			nuts.Settings{Warmup: s.Warmup, Draws: s.Draws, Accept: s.Accept, MaxDepth: mostDoublings})
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, c := range chains {
		for _, u := range c.Draws {
			theta, _ := t.natural(u)
			out.Draws[i] = append(out.Draws[i], theta)
		}
		out.Divergent, out.Saturated, out.Evaluations = out.Divergent+c.Divergent, out.Saturated+c.Saturated,
			out.Evaluations+c.Gradients
	}
	if out.Importance, err = NewUncertain(ctx, loss, r,
		UncertainSettings{Draws: importanceDraws, Models: importanceDraws, Seed: s.Seed}); err != nil {
		return nil, err
	}
	out.describe(t)
	return out, nil
}

// importanceDraws is the number of draws by importance sampling: some seconds if an evaluation takes milliseconds.
const importanceDraws = 1000

func unitLower(n int) *mat.TriDense {
	l := mat.NewTriDense(n, mat.Lower, nil)
	for i := range n {
		l.SetTri(i, i, 1)
	}
	return l
}

// begin returns the point at which a chain begins.
func (t *target) begin(ctx context.Context, around *psis.Proposal, rnd *rand.Rand) []float64 {
	const tries = 20
	for range tries {
		raw, _, failed := around.Draw(ctx, rnd, 1, func(u []float64) float64 { return t.log(ctx, u) })
		if failed == 0 && len(raw) == 1 {
			return raw[0]
		}
	}
	return t.raw
}

// density is the log density with its gradient, for one goroutine.
func (t *target) density(ctx context.Context) nuts.Density {
	natural, theta := make([]float64, len(t.params)), make([]float64, len(t.params))
	return func(grad, u []float64) float64 {
		log := t.naturalTo(theta, u)
		value, err := t.loss.ValueGrad(ctx, natural, theta)
		if err != nil {
			return math.Inf(-1)
		}
		for b, i := range t.free {
			grad[b] = t.bend(b, u[b]) - natural[i]*t.through[i].Slope(u[b])
		}
		return log - value
	}
}

// describe sets the parameters and the warnings.
func (s *Sampled) describe(t *target) {
	for _, i := range t.free {
		chains := make([][]float64, len(s.Draws))
		for c, draws := range s.Draws {
			for _, theta := range draws {
				chains[c] = append(chains[c], theta[i])
			}
		}
		p := SampledParam{Name: t.params[i].Name, ImportanceMean: math.NaN(), ImportanceSD: math.NaN()}
		all := slices.Sorted(slices.Values(slices.Concat(chains...)))
		at := func(level float64) float64 { return all[int(level*float64(len(all)-1)+0.5)] }
		p.Mean, p.SD = stat.MeanStdDev(all, nil)
		p.Lower, p.Median, p.Upper = at(0.025), at(0.5), at(0.975)
		d := nuts.Diagnose(chains)
		p.RHat, p.Bulk, p.Tail = d.RHat, d.Bulk, d.Tail
		if s.Importance.Fallback == "" {
			var drawn []float64
			for _, m := range s.Importance.Models {
				if theta := m.Values(); i < len(theta) { // the likelihood's own parameters are not in a model
					drawn = append(drawn, theta[i])
				}
			}
			if drawn != nil {
				p.ImportanceMean, p.ImportanceSD = stat.MeanStdDev(drawn, nil)
			}
		}
		s.Params = append(s.Params, p)
		s.judge(p)
	}
	if s.Divergent > 0 {
		s.warn("%d draws diverged: the posterior has a region that is too curved for the step, and may be left out; narrower priors"+
			" or an acceptance of 0.95 or more may help", s.Divergent)
	}
	if s.Saturated > 0 {
		s.warn("%d trajectories were cut at %d steps: the posterior has directions of very different lengths, or none that ends",
			s.Saturated, 1<<mostDoublings-1)
	}
}

// judge adds the warnings about the draws of a parameter.
func (s *Sampled) judge(p SampledParam) {
	const apart = 0.25
	least := float64(leastEffective * len(s.Draws))
	if !(p.RHat <= worstRHat) {
		s.warn("the chains do not agree about %s: R̂ = %.3f, above %.2f; draw more", p.Name, p.RHat, worstRHat)
	}
	if !(min(p.Bulk, p.Tail) >= least) {
		s.warn("%s has an effective number of draws of %.0f, below %.0f; draw more", p.Name, min(p.Bulk, p.Tail), least)
	}
	if d := math.Abs(p.Mean-p.ImportanceMean) / p.SD; d > apart {
		s.warn("importance sampling puts the mean of %s %.2f standard deviations away, with k̂ = %.2f: one of the two missed a part"+
			" of the posterior", p.Name, d, s.Importance.K)
	}
}

func (s *Sampled) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// Uncertain returns as many draws as models, spread evenly over all, for predictions that average over them
// (Uncertain.Predict). It panics if models is below 1.
func (s *Sampled) Uncertain(models int) *Uncertain {
	if models < 1 {
		panic(fmt.Sprintf("draws: Sampled.Uncertain: models = %d", models))
	}
	all := slices.Concat(s.Draws...)
	models = min(models, len(all))
	u := &Uncertain{K: math.NaN(), ESS: math.Inf(1)}
	for _, p := range s.Params {
		u.ESS = min(u.ESS, p.Bulk)
	}
	for i := range models {
		u.Models = append(u.Models, s.loss.Model(all[i*len(all)/models]))
	}
	return u
}

// String returns a table of the parameters, the comparison with importance sampling, and the warnings.
func (s *Sampled) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d chains of %d draws, %d divergent, %d evaluations; importance sampling: %v\n",
		len(s.Draws), len(s.Draws[0]), s.Divergent, s.Evaluations, s.Importance)
	fmt.Fprintf(&b, "  %-24s %10s %10s %10s %10s %10s %6s %6s %6s %12s\n", "", "mean", "sd", "2.5 %", "median", "97.5 %", "R̂",
		"bulk", "tail", "by importance")
	for _, p := range s.Params {
		fmt.Fprintf(&b, "  %-24s %10.4g %10.4g %10.4g %10.4g %10.4g %6.3f %6.0f %6.0f %.4g ± %.2g\n",
			p.Name, p.Mean, p.SD, p.Lower, p.Median, p.Upper, p.RHat, p.Bulk, p.Tail, p.ImportanceMean, p.ImportanceSD)
	}
	for _, w := range s.Warnings {
		b.WriteString("  warning: " + w + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
