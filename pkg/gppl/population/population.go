// Package population learns the prior that parameters have over many series of one kind (empirical Bayes). For series with the
// same parameters, gppl.NewPanel is the likelihood.
package population

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/curvature"
	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A LogQuadratic is a negative log likelihood to second order about At in u = log θ,
//
//	L(u) ≈ L(û) + gᵀ(u − û) + ½(u − û)ᵀH(u − û):
//
// what a series tells of its parameters. û need not be a minimum.
type LogQuadratic struct {
	At, Gradient []float64     // û and g
	Curvature    *mat.SymDense // H
	Weight       float64       // as how many series it counts
}

const (
	// trustedShift is the largest distance, in log θ, at which the minimum of a LogQuadratic is trusted: further away likelihoods
	// become flat, as that of a noise variance does towards 0.
	trustedShift = 2
	// populationRounds and populationChange end the iterations of LearnLogNormals. The change is of means and standard deviations,
	// in units of the weak prior's standard deviation.
	populationRounds, populationChange = 1000, 1e-7
)

// LearnLogNormals returns the distribution of parameters over a panel of series, a log-normal for each parameter, which is a
// prior of the parameters of one series (empirical Bayes). The model is hierarchical: log θ_sj ~ N(μ_j, τ_j²) in series s, where
// the weak prior N(m_j, σ_j²) is divided between the two unknowns,
//
//	μ_j ~ N(m_j, ½σ_j²), and τ_j² as if one series more had shown ½σ_j².
//
// μ and τ maximise the posterior by EM, with the parameters of the series integrated out in their LogQuadratic; Sigma² is τ² plus
// the remaining variance of μ. Series without information leave the weak prior as it is, and directions in which a likelihood is
// not convex count as none. The order of the series affects the last digits. The time is that of some hundred Cholesky factors
// for each series. It panics if sizes differ.
func LearnLogNormals(series []LogQuadratic, weak []gppl.LogNormal) []gppl.LogNormal {
	p := len(weak)
	messages := make([]message, len(series))
	for i, q := range series {
		if len(q.At) != p || len(q.Gradient) != p || q.Curvature.SymmetricDim() != p {
			panic(fmt.Sprintf("population: LearnLogNormals: series %d has %d, %d and %d parameters, and there are %d weak priors",
				i, len(q.At), len(q.Gradient), q.Curvature.SymmetricDim(), p))
		}
		messages[i] = q.message()
	}
	mu, tau2 := make([]float64, p), make([]float64, p)
	for j, w := range weak {
		mu[j], tau2[j] = w.Mu, 0.5*w.Sigma*w.Sigma
	}
	e := newExpectation(p)
	for range populationRounds {
		e.sum(messages, mu, tau2)
		if e.maximise(weak, mu, tau2) < populationChange {
			break
		}
	}
	out := make([]gppl.LogNormal, p)
	for j, w := range weak {
		out[j] = gppl.LogNormal{Mu: mu[j], Sigma: math.Sqrt(tau2[j] + 1/(2/(w.Sigma*w.Sigma)+e.told[j]/tau2[j]))}
	}
	return out
}

// message is the normal distribution of u that a likelihood is proportional to: its precision H, and H times its mean.
type message struct {
	precision *mat.SymDense
	shift     []float64
	weight    float64
}

// message leaves out directions in which q is not convex. Those in which H is too small for the minimum to be trusted pull by
// trustedShift at most.
func (q LogQuadratic) message() message {
	p := len(q.At)
	m := message{mat.NewSymDense(p, nil), make([]float64, p), q.Weight}
	var eigen mat.EigenSym
	if !eigen.Factorize(q.Curvature, true) {
		return m
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	for k, l := range eigen.Values(nil) {
		if !(l > 0) || math.IsInf(l, 1) {
			continue
		}
		var at, slope float64
		for j := range p {
			at += v.At(j, k) * q.At[j]
			slope += v.At(j, k) * q.Gradient[j]
		}
		at -= max(-trustedShift, min(slope/l, trustedShift))
		for a := range p {
			m.shift[a] += l * at * v.At(a, k)
			for b := a; b < p; b++ {
				m.precision.SetSym(a, b, m.precision.At(a, b)+l*v.At(a, k)*v.At(b, k))
			}
		}
	}
	return m
}

// expectation has the sums over the series of an E-step, for each parameter: the weights, the weighted means of u, its weighted
// second moments about μ, and the weight of the series that inform about it, each by the share 1 − V/τ² of the variance that it
// removes.
type expectation struct {
	weight              float64
	means, second, told []float64
	a                   *mat.SymDense
	b, u                *mat.VecDense
	chol                mat.Cholesky
	inverse             mat.SymDense
}

func newExpectation(p int) *expectation {
	return &expectation{means: make([]float64, p), second: make([]float64, p), told: make([]float64, p),
		a: mat.NewSymDense(p, nil), b: mat.NewVecDense(p, nil), u: mat.NewVecDense(p, nil)}
}

// sum is the E-step: u of each series is normal with the precision H + diag 1/τ².
func (e *expectation) sum(all []message, mu, tau2 []float64) {
	e.weight = 0
	clear(e.means)
	clear(e.second)
	clear(e.told)
	for _, m := range all {
		e.a.CopySym(m.precision)
		for j := range mu {
			e.a.SetSym(j, j, e.a.At(j, j)+1/tau2[j])
			e.b.SetVec(j, m.shift[j]+mu[j]/tau2[j])
		}
		if !e.chol.Factorize(e.a) || e.chol.SolveVecTo(e.u, e.b) != nil || e.chol.InverseTo(&e.inverse) != nil {
			continue // numbers beyond float64
		}
		e.weight += m.weight
		for j := range mu {
			u, v := e.u.AtVec(j), e.inverse.At(j, j)
			e.means[j] += m.weight * u
			e.second[j] += m.weight * ((u-mu[j])*(u-mu[j]) + v)
			e.told[j] += m.weight * max(0, 1-v/tau2[j])
		}
	}
}

// maximise is the M-step. It returns the largest change.
func (e *expectation) maximise(weak []gppl.LogNormal, mu, tau2 []float64) (change float64) {
	for j, w := range weak {
		half := 0.5 * w.Sigma * w.Sigma
		next := (w.Mu/half + e.means[j]/tau2[j]) / (1/half + e.weight/tau2[j])
		d := next - mu[j]
		// The second moment about the next mean.
		about := e.second[j] - 2*d*(e.means[j]-e.weight*mu[j]) + e.weight*d*d
		spread := (half + about) / (1 + e.weight)
		change = max(change, math.Abs(d)/w.Sigma, math.Abs(math.Sqrt(spread)-math.Sqrt(tau2[j]))/w.Sigma)
		mu[j], tau2[j] = next, spread
	}
	return change
}

// Learnt is what LearnPriors learnt of a panel.
type Learnt struct {
	Priors  []gppl.ParamPrior // of the parameters of one series: those learnt, and the weak ones that are not log-normal
	Results []*gppl.Result    // of each series, trained with them; nil where Errs says why
	Errs    []error
	Rounds  int // how often all series were trained
}

const (
	// LearnPriors trains all series again until no prior moves further than priorsMove of its standard deviation, at most
	// mostPriorRounds times.
	mostPriorRounds, priorsMove = 6, 0.05
)

// LearnPriors learns the parameters of many series of one model, each by itself but with a prior that it learns from all
// (empirical Bayes). The losses are the likelihoods of the series, whose parameters must have the same names. Every trained
// parameter with a weak log-normal prior gets one learnt by LearnLogNormals: a short series then has the parameters of its like,
// and a long one its own. Other weak priors stay as they are. DefaultPriors of a typical series serve as weak ones. If all series
// have the same parameters, NewPanel learns more.
//
// All series are trained with the weak priors (NewMAP), from their own values, and again with the priors learnt from them until
// these move by less than a twentieth of their standard deviations. Several are trained at a time; the result does not depend on
// how many. Settings are those of Fit. The error is ctx's, or that of weak priors that do not apply, or says that no two series
// could be trained. It panics if a loss is nil.
func LearnPriors(ctx context.Context, losses []gppl.Loss, weak []gppl.ParamPrior, s gppl.Settings) (*Learnt, error) {
	learnt := &Learnt{Results: make([]*gppl.Result, len(losses)), Errs: make([]error, len(losses))}
	if len(losses) < 2 {
		return nil, fmt.Errorf("population: a panel of %d series: what they have in common is learnt from two or more", len(losses))
	}
	first, err := gppl.NewMAP(losses[0], weak...)
	if err != nil {
		return nil, err
	}
	learnt.Priors = first.Priors()
	before := learnt.logNormals()
	for learnt.Rounds < mostPriorRounds {
		learnt.Rounds++
		quadratics := make([]*LogQuadratic, len(losses))
		workers.Each(runtime.GOMAXPROCS(0), len(losses), func(i int) {
			learnt.Errs[i] = learnt.train(ctx, i, losses[i], s, &quadratics[i])
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var told []LogQuadratic
		for _, q := range quadratics {
			if q != nil {
				told = append(told, *q)
			}
		}
		if len(told) < 2 {
			return nil, fmt.Errorf("population: %d of %d series could be trained: %w", len(told), len(losses), errors.Join(learnt.Errs...))
		}
		if learnt.Rounds == mostPriorRounds || !learnt.update(LearnLogNormals(told, before)) {
			break
		}
	}
	return learnt, nil
}

// logNormals returns the log-normal priors.
func (l *Learnt) logNormals() (all []gppl.LogNormal) {
	for _, p := range l.Priors {
		if prior, ok := p.Prior.(gppl.LogNormal); ok {
			all = append(all, prior)
		}
	}
	return all
}

// update replaces the log-normal priors and reports whether one moved so far that training again is worth it; if none did, all
// stay.
func (l *Learnt) update(next []gppl.LogNormal) (moved bool) {
	priors, k := slices.Clone(l.Priors), 0
	for j, p := range priors {
		old, ok := p.Prior.(gppl.LogNormal)
		if !ok {
			continue
		}
		moved = moved || math.Abs(next[k].Mu-old.Mu) > priorsMove*next[k].Sigma ||
			math.Abs(math.Log(next[k].Sigma/old.Sigma)) > priorsMove
		priors[j].Prior = next[k]
		k++
	}
	if moved {
		l.Priors = priors
	}
	return moved
}

// train trains a series with the priors, from where it stands, and sets q to what it tells.
func (l *Learnt) train(ctx context.Context, i int, loss gppl.Loss, s gppl.Settings, q **LogQuadratic) error {
	posterior, err := gppl.NewMAP(loss, l.Priors...)
	if err != nil {
		return err
	}
	start := loss.Params()
	if r := l.Results[i]; r != nil {
		for j, v := range r.Starts[r.Best].Theta {
			start[j].Value = v
		}
	}
	r, err := gppl.Fit(ctx, posterior, start, s)
	if err != nil {
		return err
	}
	l.Results[i] = r
	var free []int
	for _, p := range l.Priors {
		if _, ok := p.Prior.(gppl.LogNormal); ok {
			free = append(free, slices.IndexFunc(start, func(q gppl.Param) bool { return q.Name == p.Name }))
		}
	}
	*q, err = quadraticOf(ctx, loss, r.Starts[r.Best].Theta, free)
	return err
}

// quadraticOf returns a loss to second order in the logs of some parameters, the others held.
func quadraticOf(ctx context.Context, loss gppl.Loss, theta []float64, free []int) (*LogQuadratic, error) {
	p := len(free)
	q := &LogQuadratic{At: make([]float64, p), Gradient: make([]float64, p), Weight: 1}
	at, all := slices.Clone(theta), make([]float64, len(theta))
	gradient := func(grad, u []float64) (float64, error) {
		for a, i := range free {
			at[i] = math.Exp(u[a])
		}
		value, err := gppl.ValueGradContext(ctx, loss, all, at)
		for a, i := range free {
			grad[a] = all[i] * at[i]
		}
		return value, err
	}
	for a, i := range free {
		q.At[a] = math.Log(theta[i])
	}
	if _, err := gradient(q.Gradient, q.At); err != nil {
		return nil, err
	}
	var err error
	q.Curvature, _, err = curvature.Hessian(gradient, q.At, curvature.Step)
	return q, err
}
