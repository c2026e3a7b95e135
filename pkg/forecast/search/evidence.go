package search

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// beliefs are the priors of the trained parameters of a model, by their index: weak ones (Sigma 0: none), and given ones that
// replace them (nil: none).
type beliefs struct {
	weak  []prior.LogNormal
	given []gppl.Prior
	// chosen is the cost, in nats of evidence, of a period that the data chose. The weak prior of such a period is centred on a
	// peak of the periodogram, which is one of about span/(2·step) frequencies that were equally likely before.
	chosen float64
	// information approximates the second derivatives of the loss with these priors in log θ, 0 where unknown; nil if there is
	// none.
	information *mat.SymDense
	leastNoise  float64 // the least noise of a training; 0 means the constant leastNoise
}

// places returns the indices of the parameters with priors.
func (b beliefs) places() (all []int) {
	for i := range b.weak {
		if b.given[i] != nil || b.weak[i].Sigma > 0 {
			all = append(all, i)
		}
	}
	return all
}

// list returns the priors by the names of the parameters, for gppl.NewMAP. If mode is set, weak priors are replaced by their
// withModeAt, so that NewMAP finds the mode of log θ; given priors stay as they are.
func (b beliefs) list(params []gppl.Param, mode bool) (list []gppl.ParamPrior) {
	for i, p := range params {
		switch {
		case i >= len(b.weak):
		case b.given[i] != nil:
			list = append(list, gppl.ParamPrior{Name: p.Name, Prior: b.given[i]})
		case b.weak[i].Sigma > 0 && mode:
			list = append(list, gppl.ParamPrior{Name: p.Name, Prior: withModeAt(b.weak[i])})
		case b.weak[i].Sigma > 0:
			list = append(list, gppl.ParamPrior{Name: p.Name, Prior: b.weak[i]})
		}
	}
	return list
}

// cost returns −log p(u) − ½log 2π of u = log θ for the i-th parameter, and its second derivative; ok is false without a
// prior.
func (b beliefs) cost(i int, theta float64) (value, curvature float64, ok bool) {
	switch {
	case i >= len(b.weak):
		return 0, 0, false
	case b.given[i] != nil:
		const step = 1e-3
		log, _ := b.given[i].LogDensity(theta)
		slope := func(u float64) float64 {
			at := theta * math.Exp(u)
			_, d := b.given[i].LogDensity(at)
			return -d * at
		}
		return -log - math.Log(theta) - 0.5*math.Log(2*math.Pi), (slope(step) - slope(-step)) / (2 * step), true
	case b.weak[i].Sigma > 0:
		p := b.weak[i]
		z := (math.Log(theta) - p.Mu) / p.Sigma
		return 0.5*z*z + math.Log(p.Sigma), 1 / (p.Sigma * p.Sigma), true
	}
	return 0, 0, false
}

// withModeAt returns a prior whose density in θ has its mode at log θ = μ, like the density of p in log θ; the density of p in θ
// has its mode at log θ = μ − σ². The optimum of gppl.NewMAP then does not depend on whether, for example, a lengthscale or its
// inverse is the parameter.
func withModeAt(p prior.LogNormal) prior.LogNormal {
	return prior.LogNormal{Mu: p.Mu + p.Sigma*p.Sigma, Sigma: p.Sigma}
}

// priorOf returns the weak prior of a parameter q of a term, for a standardised series. It prevents short series from overfitting
// (Corani et al. 2021), and a few dozen observations overrule it.
func priorOf(term gppl.Kernel, q gppl.Param, e extent) (p prior.LogNormal, ok bool) {
	switch q.Role {
	case gppl.RoleVariance:
		if hasPeriod(term) {
			return prior.LogNormal{Mu: math.Log(0.3), Sigma: 1.5}, true
		}
		return prior.LogNormal{Mu: math.Log(0.5), Sigma: 1.5}, true
	case gppl.RoleNoise:
		return prior.LogNormal{Mu: math.Log(0.05), Sigma: 1.5}, true
	case gppl.RolePeriod: // a detected period is correct to some per cent
		return prior.LogNormal{Mu: math.Log(q.Value), Sigma: 0.05}, true
	case gppl.RoleShape:
		if _, turns := term.(gppl.Rotation); turns && strings.HasSuffix(q.Name, "quality") {
			return prior.LogNormal{Mu: math.Log(seasonQuality), Sigma: 1}, true // a season keeps its shape for quality/π periods
		}
		if _, mixes := term.(gppl.RQ); mixes { // between a mixture over many decades of lengthscales and SE
			return prior.LogNormalWithin(1e-3, 1e2), true
		}
		return prior.LogNormal{Mu: math.Log(smoothSeason), Sigma: 0.7}, true
	case gppl.RoleLengthscale:
		switch k := term.(type) {
		case gppl.LocPer: // a season changes over several of its periods
			return prior.LogNormal{Mu: math.Log(seasonPeriods * k.Period), Sigma: 1}, true
		case gppl.SE:
			return prior.LogNormalWithin(1.5*e.step, 3*e.span), true
		}
		// A rough term with a lengthscale beyond the range of x is a random walk, or the integral of one.
		return prior.LogNormalWithin(e.step, 10*e.span), true
	}
	return prior.LogNormal{}, false
}

// ownPrior is the method prior of a candidate.
type ownPrior func(m gppl.Model, i int, e extent) (p prior.LogNormal, ok bool)

// beliefsOf returns the priors of a model, for a series that was divided by scale: the given ones, and weak ones for the other
// parameters, which own may replace (candidate.prior).
func beliefsOf(own ownPrior, m gppl.Model, e extent, given []gppl.ParamPrior, scale float64) beliefs {
	params := m.Params()
	out := beliefs{weak: make([]prior.LogNormal, len(params)), given: make([]gppl.Prior, len(params))}
	set := func(i int, term gppl.Kernel) {
		if params[i].IsFixed() {
			return
		}
		if prior, ok := priorOf(term, params[i], e); ok {
			out.weak[i] = prior
		}
		if prior, ok := own(m, i, e); ok {
			out.weak[i] = prior
		}
	}
	at := 0
	for _, t := range leaves(m.Kernel) {
		for range t.Params() {
			set(at, t)
			at++
		}
	}
	set(len(params)-1, nil)
	for _, p := range PriorsOf(m, given, scale) {
		out.given[slices.IndexFunc(params, func(q gppl.Param) bool { return q.Name == p.Name })] = p.Prior
	}
	for i, p := range params {
		if p.Role == gppl.RolePeriod && out.weak[i].Sigma > 0 && out.given[i] == nil {
			out.chosen += math.Log(max(1, e.span/(2*e.step)))
		}
	}
	return out
}

// leaves returns the elementary kernels of a sum or product, in the order of their parameters.
func leaves(k gppl.Kernel) (all []gppl.Kernel) {
	var parts []gppl.Kernel
	switch k := k.(type) {
	case gppl.Sum:
		parts = k.Terms()
	case gppl.Product:
		parts = k.Factors()
	default:
		return []gppl.Kernel{k}
	}
	for _, p := range parts {
		all = append(all, leaves(p)...)
	}
	return all
}

// withBeliefs returns the loss with the priors.
func withBeliefs(l gppl.Loss, b beliefs) (gppl.Loss, error) {
	list := b.list(l.Params(), true)
	if len(list) == 0 {
		return l, nil
	}
	return gppl.NewMAP(l, list...)
}

// evidence is the negative log evidence of a model with priors.
type evidence struct {
	nats    float64 // the negative log marginal likelihood
	laplace bool    // computed by Laplace's method; otherwise with ½log n for each parameter, as in BIC
	// curvature has the second derivatives of −log likelihood in the logs of the parameters with priors; nil if unknown.
	curvature *mat.SymDense
}

// evidenceOf returns the evidence of a model, from its loss of n observations. Laplace's method integrates out the parameters in
// u = log θ around the mode θ. With the prior p(u) and the curvature H of −log p(y|u)p(u),
//
//	−log p(y) ≈ NLL − log p(u) + ½log|H| − ½d·log 2π.
//
// A parameter that the data do not determine costs nothing. One that they determine well costs the log ratio of its prior width
// to its posterior width. A period that the data chose also costs beliefs.chosen, and a parameter without a prior ½log n. The
// evaluation takes a gradient for each parameter. If H is not positive definite, singular to rounding, or cannot be computed,
// each parameter costs ½log n.
//
// If a prior is given, θ is the mode of the density in θ, where the gradient in u is −1, not 0. The term −½gᵀH⁻¹g of a Newton
// step corrects for that.
//
// Data can only increase ½log|H|, which is −Σ log σ of the priors if the data determine nothing. If even that would leave the
// evidence above enough, the curvature is not computed. Each parameter then costs ½log n, or more if the evidence would not be
// above enough.
func evidenceOf(
	ctx context.Context, l gppl.Loss, theta []float64, priors beliefs, n int, scoreLimit float64,
) (e evidence, err error) {
	params := l.Params()
	slope := make([]float64, len(theta))
	value, err := l.ValueGrad(ctx, slope, theta)
	if err != nil {
		return e, err
	}
	value += priors.chosen
	var free []int
	var curvatures []float64
	for i, p := range params {
		if p.IsFixed() {
			continue
		}
		cost, curvature, ok := priors.cost(i, theta[i])
		if !ok { // a parameter without a weak prior, such as the location of a change
			value += 0.5 * math.Log(float64(n))
			continue
		}
		free, curvatures = append(free, i), append(curvatures, curvature)
		value += cost
	}
	if len(free) == 0 {
		return evidence{value, true, &mat.SymDense{}}, nil
	}
	e.nats = bic(value, len(free), n) / 2
	least := value
	for _, c := range curvatures {
		least += 0.5 * math.Log(c)
	}
	if least > scoreLimit { // false if a given prior has no curvature
		e.nats = max(e.nats, least)
		return e, nil
	}
	h, err := logCurvature(ctx, l, theta, slope, free)
	if err != nil {
		return e, nil
	}
	e.curvature = mat.NewSymDense(len(free), nil)
	e.curvature.CopySym(h)
	for a, c := range curvatures {
		h.SetSym(a, a, h.At(a, a)+c)
	}
	gradient, newton := mat.NewVecDense(len(free), nil), mat.NewVecDense(len(free), nil)
	for a, i := range free {
		if priors.given[i] != nil {
			gradient.SetVec(a, -1)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) || chol.SolveVecTo(newton, gradient) != nil {
		return e, nil
	}
	e.nats, e.laplace = value-0.5*mat.Dot(gradient, newton)+0.5*chol.LogDet(), true
	return e, nil
}

// guide is a loss whose information is known already.
type guide struct {
	gppl.Loss
	information *mat.SymDense
}

// Information implements gppl.Informed.
func (g guide) Information(context.Context, []float64) (*mat.SymDense, error) {
	return g.information, nil
}

// logCurvature returns the second derivatives of a loss in the free log θ, by differences of its gradient from slope, at θ.
func logCurvature(ctx context.Context, l gppl.Loss, theta, slope []float64, free []int) (*mat.SymDense, error) {
	const step = 1e-4 // gives the evidence to about 1e-4 nats
	at, all, u, start := slices.Clone(theta), make([]float64, len(theta)), make([]float64, len(free)), make([]float64, len(free))
	for a, i := range free {
		u[a], start[a] = math.Log(theta[i]), slope[i]*theta[i]
	}
	return numeric.ForwardHessian(func(grad, u []float64) (float64, error) {
		for a, i := range free {
			at[i] = math.Exp(u[a])
		}
		value, err := l.ValueGrad(ctx, all, at)
		for a, i := range free {
			grad[a] = all[i] * at[i]
		}
		return value, err
	}, u, start, step)
}

// bic returns the Bayesian information criterion of n observations, 2·nll + parameters·log n (Schwarz 1978, Ann. Stat. 6).
func bic(nll float64, parameters, n int) float64 {
	return 2*nll + float64(parameters)*math.Log(float64(n))
}

// The shape of a season changes over several of its periods: the middle of the prior.
const (
	seasonPeriods = 8
	seasonQuality = math.Pi * seasonPeriods
)
