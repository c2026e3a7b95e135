package analysis

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// logNormal is a prior on a parameter θ: log θ ~ N(Centre, SD²). The mode of log θ is its Centre, whereas that of θ is lower, at
// Centre − SD²; training looks for the former (mapPrior).
type logNormal struct{ centre, sd float64 }

// within has 98 % between lo and hi.
func within(lo, hi float64) logNormal {
	p := gppl.LogNormalWithin(lo, hi)
	return logNormal{p.Mu, p.Sigma}
}

// mapPrior is the prior whose density with respect to θ has its mode where that of p with respect to log θ has it: what
// gppl.NewMAP maximises does then not depend on whether a lengthscale or a frequency is the parameter.
func (p logNormal) mapPrior() gppl.LogNormal {
	return gppl.LogNormal{Mu: p.centre + p.sd*p.sd, Sigma: p.sd}
}

// extent is what the priors know of x.
type extent struct{ step, span float64 }

// priorOf returns the prior of a parameter of a term, in a series that is standardised. They are weak, and there so that short
// series do not overfit (Corani et al. 2021): each is overruled by some dozens of observations that know better.
func priorOf(term gppl.Kernel, role gppl.Role, value float64, e extent) (p logNormal, ok bool) {
	switch role {
	case gppl.RoleVariance:
		if periodsOf(term) > 0 {
			return logNormal{math.Log(0.3), 1.5}, true
		}
		return logNormal{math.Log(0.5), 1.5}, true
	case gppl.RoleNoise:
		return logNormal{math.Log(0.05), 1.5}, true
	case gppl.RolePeriod: // what was detected is right to some per cent
		return logNormal{math.Log(value), 0.05}, true
	case gppl.RoleShape:
		return logNormal{math.Log(0.8), 0.7}, true
	case gppl.RoleLengthscale:
		switch k := term.(type) {
		case gppl.LocPer: // a season changes over several of its periods
			return logNormal{math.Log(8 * k.Period), 1}, true
		case gppl.Periodic:
			return logNormal{math.Log(0.8), 0.7}, true
		case gppl.SE:
			return within(1.5*e.step, 3*e.span), true
		}
		// A rough term whose lengthscale is beyond the range of x is a random walk, or the integral of one.
		return within(e.step, 10*e.span), true
	}
	return logNormal{}, false
}

// weakPriors are the priors of the trained parameters of a model, by their index; sd 0 where there is none.
func weakPriors(m gppl.Model, e extent) []logNormal {
	params := m.Params()
	out := make([]logNormal, len(params))
	at := 0
	for _, t := range leaves(m.Kernel) {
		for range t.Params() {
			if p := params[at]; !isFixed(p) {
				if prior, ok := priorOf(t, p.Role, p.Value, e); ok {
					out[at] = prior
				}
			}
			at++
		}
	}
	if last := len(params) - 1; !isFixed(params[last]) {
		out[last], _ = priorOf(nil, gppl.RoleNoise, 0, e)
	}
	return out
}

// leaves returns the kernels that a sum or product is made of, in the order of their parameters.
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

// posteriorLoss returns the loss with the priors.
func posteriorLoss(l gppl.Loss, priors []logNormal) (gppl.Loss, error) {
	var list []gppl.ParamPrior
	for i, p := range l.Params() {
		if i < len(priors) && priors[i].sd > 0 {
			list = append(list, gppl.ParamPrior{Name: p.Name, Prior: priors[i].mapPrior()})
		}
	}
	if len(list) == 0 {
		return l, nil
	}
	return gppl.NewMAP(l, list...)
}

// evidence returns the marginal likelihood at its mode θ, the parameters integrated out by Laplace's method in u = log θ: with p(u)
// the prior and H the curvature of −log p(y|u)p(u),
//
//	−log p(y) ≈ NLL − log p(u) + ½log|H| − ½d·log 2π.
//
// A parameter that the data do not determine costs nothing, one that they determine well the logarithm of how much better than the
// prior. Where H is not positive, each parameter costs ½log n instead, as in BIC. It takes two gradients for each parameter.
func evidence(l gppl.Loss, theta []float64, priors []logNormal, n int) (float64, error) {
	params := l.Params()
	value, err := l.ValueGrad(nil, theta)
	if err != nil {
		return 0, err
	}
	var free []int
	for i, p := range params {
		if !isFixed(p) && i < len(priors) && priors[i].sd > 0 {
			free = append(free, i)
			z := (math.Log(theta[i]) - priors[i].centre) / priors[i].sd
			value += 0.5*z*z + math.Log(priors[i].sd)
		}
	}
	if len(free) == 0 {
		return value, nil
	}
	const step = 1e-3
	h := mat.NewSymDense(len(free), nil)
	at := append([]float64(nil), theta...)
	grad := make([]float64, len(theta))
	for a, i := range free {
		for _, sign := range []float64{1, -1} {
			at[i] = theta[i] * math.Exp(sign*step)
			if _, err := l.ValueGrad(grad, at); err != nil {
				return value + 0.5*float64(len(free))*math.Log(float64(n)), nil
			}
			for b, j := range free {
				d := sign * grad[j] * at[j] / (2 * step)
				if a == b {
					h.SetSym(a, a, h.At(a, a)+d)
				} else {
					h.SetSym(a, b, h.At(a, b)+0.5*d)
				}
			}
		}
		at[i] = theta[i]
		h.SetSym(a, a, h.At(a, a)+1/(priors[i].sd*priors[i].sd))
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return value + 0.5*float64(len(free))*math.Log(float64(n)), nil
	}
	return value + 0.5*chol.LogDet(), nil
}
