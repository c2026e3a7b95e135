package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// LaplaceFit is a model of observations that are not Gaussian, learnt from data.
type LaplaceFit struct {
	*gppl.Result            // its Value is the loss
	Likelihood   Likelihood // with its learnt parameters
	Loss         *Laplace   // the minimised loss
	theta        []float64  // the optimum
}

// FitLaplace learns the parameters of a model and of its likelihood by Laplace's approximation, from two starts side by side:
// the model as given, and [auto.StartFrom] of latent values guessed from the observations. It returns an error if both fail.
func FitLaplace(ctx context.Context, m gppl.Model, d gppl.Data, likelihood Likelihood, sizes []float64,
	s gppl.Settings) (*LaplaceFit, error) {
	loss, err := NewLaplace(ctx, m, d, likelihood, sizes)
	if err != nil {
		return nil, err
	}
	own := loss.Params()[len(m.Params()):]
	guess, err := auto.StartFrom(ctx, m, loss.Guess())
	if err != nil {
		return nil, err
	}
	starts := []gppl.Model{m, guess}
	results, errs := make([]*gppl.Result, len(starts)), make([]error, len(starts))
	if progress := s.Progress; progress != nil {
		var one sync.Mutex
		s.Progress = func(p gppl.Progress) {
			one.Lock()
			defer one.Unlock()
			progress(p)
		}
	}
	parallel.For(len(starts), func(i int) {
		start := append(starts[i].Params(), own...)
		near, err := loss.StartAt(ctx, gppl.Values(start))
		if err != nil {
			near = loss // unless the other start succeeds, the fit ends with the same error
		}
		results[i], errs[i] = gppl.Fit(ctx, near, start, s)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var best *gppl.Result
	for i, r := range results {
		if errs[i] == nil && (best == nil || r.Value < best.Value) {
			best = r
		}
	}
	if best == nil {
		return nil, cmp.Or(errs...)
	}
	fit := &LaplaceFit{Result: best, Loss: loss}
	for _, p := range best.Params {
		fit.theta = append(fit.theta, p.Value)
	}
	fit.Likelihood = loss.Likelihood(fit.theta)
	return fit, nil
}

// Predict is Laplace.Predict at the learnt parameters.
func (f *LaplaceFit) Predict(ctx context.Context, x gppl.Inputs, sizes []float64) (*Counts, error) {
	return f.Loss.Predict(ctx, f.theta, x, sizes)
}

// Counts is the predictive distribution of observations that are not Gaussian. At each input it is the distribution of y given
// a normal g, by quadrature over g, or a mixture of such distributions (Mixed). The nodes follow the width of the likelihood
// at y where this is less than the standard deviation of g. Probabilities have an error of 1e-10; log densities and means have
// an absolute or relative error of 1e-9.
type Counts struct {
	Mean, Variance []float64 // moments of g = h(x)ᵀβ + f(x) + ε at each input; in a mixture, of its first component
	Sizes          []float64
	Likelihood     Likelihood

	weight float64   // weight of the first component; 0 means 1
	more   []*Counts // the other components
}

// Mixed returns the mixture of distributions at the same inputs with the given weights, which are positive and add up to 1. It
// panics if there is none, or if lengths differ.
func Mixed(weights []float64, of []*Counts) *Counts {
	if len(of) == 0 || len(weights) != len(of) {
		panic(fmt.Sprintf("observe: Mixed: %d weights of %d forecasts", len(weights), len(of)))
	}
	all := make([]*Counts, len(of))
	for k, c := range of {
		if c.Len() != of[0].Len() {
			panic(fmt.Sprintf("observe: Mixed: forecasts of %d and %d inputs", of[0].Len(), c.Len()))
		}
		one := *c
		one.weight, one.more = weights[k], nil
		all[k] = &one
	}
	all[0].more = all[1:]
	return all[0]
}

// Gaussian returns the Gaussian model and the data with known errors whose posterior is Laplace's approximation at theta: the
// pseudo-observations ĝ + W⁻¹∂log p with the errors W^−½, for use with any engine, posterior or test of a Gaussian model.
func (l *Laplace) Gaussian(ctx context.Context, theta []float64) (gppl.Model, gppl.Data, error) {
	s, err := l.mode(ctx, theta)
	if err != nil {
		return gppl.Model{}, gppl.Data{}, err
	}
	d, err := s.gaussian()
	return s.model, d, err
}

// Predict returns the distribution of new observations at x, with the given sizes; nil means ones.
func (l *Laplace) Predict(ctx context.Context, theta []float64, x gppl.Inputs, sizes []float64) (*Counts, error) {
	m, d, err := l.Gaussian(ctx, theta)
	if err != nil {
		return nil, err
	}
	p, err := gppl.NewPosterior(ctx, m, d, l.options...)
	if err != nil {
		return nil, err
	}
	mean, variances, err := p.Noisy(ctx, x)
	if err != nil {
		return nil, err
	}
	return NewCounts(l.Likelihood(theta), mean, variances, sizes), nil
}

// NewCounts returns the distribution of observations with a likelihood and the sizes (nil: ones), whose g have the given means
// and variances. It panics if lengths differ.
func NewCounts(likelihood Likelihood, mean, variances, sizes []float64) *Counts {
	if sizes == nil {
		sizes = slices.Repeat([]float64{1}, len(mean))
	}
	if len(sizes) != len(mean) || len(variances) != len(mean) {
		panic(fmt.Sprintf("observe: a forecast with %d means, %d variances and %d sizes", len(mean), len(variances), len(sizes)))
	}
	return &Counts{Mean: mean, Variance: variances, Sizes: slices.Clone(sizes), Likelihood: likelihood}
}

// Len returns the number of inputs.
func (c *Counts) Len() int { return len(c.Mean) }

// each visits the components of the mixture at input i, whose weights add up to 1.
func (c *Counts) each(i int, visit func(weight float64, n latent)) {
	for k := range 1 + len(c.more) {
		of := c
		if k > 0 {
			of = c.more[k-1]
		}
		visit(cmp.Or(of.weight, 1), latent{of.Likelihood, of.Mean[i], math.Sqrt(of.Variance[i])})
	}
}

// average returns E f(g) at input i.
func (c *Counts) average(i int, f func(l Likelihood, g float64) float64) (sum float64) {
	c.each(i, func(weight float64, n latent) {
		sum += weight * n.average(func(g float64) float64 { return f(n.likelihood, g) })
	})
	return sum
}

// Rates returns the mean and variance of E(y | g) at each input: the uncertainty of the function, without the scatter of
// single observations.
func (c *Counts) Rates(ctx context.Context) (mean, variances []float64, err error) {
	return c.moments(ctx, func(Likelihood, float64, float64) float64 { return 0 })
}

// Expected returns E y and Var y at each input.
func (c *Counts) Expected(ctx context.Context) (mean, variances []float64, err error) {
	return c.moments(ctx, Likelihood.Variance)
}

// eachInput calls f for each input, until ctx ends or an input has no distribution.
func (c *Counts) eachInput(ctx context.Context, f func(i int)) error {
	for i := range c.Len() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("gppl: interrupted: %w", err)
		}
		if err := c.fault(i); err != nil {
			return err
		}
		f(i)
	}
	return nil
}

// fault returns an error unless g and the size at input i are those of a distribution.
func (c *Counts) fault(i int) (err error) {
	if size := c.Sizes[i]; !(size >= 0 && size <= math.MaxFloat64) {
		return fmt.Errorf("observe: input %d: a size of %v: want a finite number, 0 or more", i, size)
	}
	c.each(i, func(_ float64, n latent) {
		if !numeric.IsFinite(n.mean) || !(n.sd <= math.MaxFloat64) {
			err = fmt.Errorf("observe: input %d: g has a mean of %v and a standard deviation of %v: want finite numbers", i, n.mean, n.sd)
		}
	})
	return err
}

// check panics unless there is an observation for each input, and returns an error if one is impossible.
func (c *Counts) check(method string, y []float64) error {
	if len(y) != c.Len() {
		panic(fmt.Sprintf("observe: Counts.%s: len(y) = %d for %d inputs", method, len(y), c.Len()))
	}
	for i, v := range y {
		if err := c.Likelihood.Check(v, c.Sizes[i]); err != nil {
			return fmt.Errorf("observe: observation %d: %w", i, err)
		}
	}
	return nil
}

// moments returns the mean of E(y | g), its variance, and the mean of given, such as the variance given g.
func (c *Counts) moments(ctx context.Context, given func(l Likelihood, size, g float64) float64) (
	mean, variances []float64, err error,
) {
	err = c.eachInput(ctx, func(i int) {
		size := c.Sizes[i]
		m := c.average(i, func(l Likelihood, g float64) float64 { return l.Mean(size, g) })
		v := c.average(i, func(l Likelihood, g float64) float64 {
			by := l.Mean(size, g) - m
			return given(l, size, g) + by*by
		})
		mean, variances = append(mean, m), append(variances, v)
	})
	return mean, variances, err
}

// CDF returns P(Y ≤ y) at input i. It is NaN if y is, or if the input has no distribution.
func (c *Counts) CDF(i int, y float64) float64 {
	if math.IsNaN(y) || c.fault(i) != nil {
		return math.NaN()
	}
	return c.cdf(i, y)
}

// cdf is CDF for a y and an input without fault.
func (c *Counts) cdf(i int, y float64) (p float64) {
	c.each(i, func(weight float64, n latent) { p += weight * n.cdf(y, c.Sizes[i]) })
	return min(1, p)
}

// LogDensity returns log P(Y_i = y_i) at each input: the log score. It returns an error if a y is impossible.
func (c *Counts) LogDensity(ctx context.Context, y []float64) (logs []float64, err error) {
	if err := c.check("LogDensity", y); err != nil {
		return nil, err
	}
	err = c.eachInput(ctx, func(i int) {
		y := y[i]
		most := math.Inf(-1)
		var terms []float64
		c.each(i, func(weight float64, n latent) {
			terms = append(terms, math.Log(weight)+n.logDensity(y, c.Sizes[i]))
			most = max(most, terms[len(terms)-1])
		})
		if math.IsInf(most, -1) {
			logs = append(logs, most)
			return
		}
		var sum float64
		for _, t := range terms {
			sum += math.Exp(t - most)
		}
		logs = append(logs, most+math.Log(sum))
	})
	return logs, err
}

// Quantile returns at each input the least whole number y with P(Y ≤ y) ≥ p, for p in (0, 1); for a Continuous likelihood the
// least real number.
func (c *Counts) Quantile(ctx context.Context, p float64) (quantiles []float64, err error) {
	if !(p > 0 && p < 1) {
		panic(fmt.Sprintf("observe: Quantile(%v): want p in (0, 1)", p))
	}
	err = c.eachInput(ctx, func(i int) { quantiles = append(quantiles, c.quantile(i, p)) })
	return quantiles, err
}

func (c *Counts) continuous() bool {
	_, ok := c.Likelihood.(Continuous)
	return ok
}

// quantile is Quantile at input i: from an approximate bracket, by Chandrupatla's method (see least).
func (c *Counts) quantile(i int, p float64) float64 {
	at := func(y float64) float64 { return c.cdf(i, y) }
	lo, hi := c.about(i, p)
	below, above := at(lo), at(hi)
	for step := max(hi-lo, math.Abs(hi)*0x1p-40); above < p && !math.IsInf(hi, 1); step *= 2 {
		lo, below, hi = hi, above, hi+step
		above = at(hi)
	}
	for step := max(hi-lo, math.Abs(lo)*0x1p-40); below >= p && !math.IsInf(lo, -1); step *= 2 {
		lo, hi, above = lo-step, lo, below
		below = at(lo)
	}
	return least(at, p, [2]float64{lo, below}, [2]float64{hi, above}, !c.continuous())
}

// about returns two numbers close to the quantile of p at input i, on both sides unless the approximation is poor. It treats
// the likelihood as normal in g, which adds its width to the standard deviation.
func (c *Counts) about(i int, p float64) (lo, hi float64) {
	const beside = 0.1 // standard deviations
	n, size := latent{c.Likelihood, c.Mean[i], math.Sqrt(c.Variance[i])}, c.Sizes[i]
	sd := n.sd
	if w := 1 / math.Sqrt(-n.likelihood.LogDensity(n.likelihood.Mean(size, n.mean), size, n.mean).D2); w < crpsMost {
		sd = math.Hypot(sd, w)
	}
	z := distuv.UnitNormal.Quantile(p)
	lo, hi = n.likelihood.Mean(size, n.mean+sd*(z-beside)), n.likelihood.Mean(size, n.mean+sd*(z+beside))
	lo, hi = min(lo, hi), max(lo, hi)
	whole := !c.continuous()
	switch {
	case whole && !(hi < crpsMost):
		return -1, 0
	case whole:
		return math.Floor(lo) - 1, math.Ceil(hi)
	case !(lo < hi && hi < crpsMost):
		return 0, 1
	}
	return lo, hi
}

const (
	// crpsAgreement is the largest relative difference between the sum of a score over a block and over its halves.
	crpsAgreement = 1e-8
	// crpsMost is the last term, for distributions whose quantiles exceed float64.
	crpsMost = 1e300
	// crpsTail is the probability below which the terms of a score, at most its square, are left out.
	crpsTail = 1e-8
)

// CRPS returns the continuous ranked probability score Σ_k (P(Y ≤ k) − [y ≤ k])² of each observation (Czado, Gneiting and Held
// 2009); for a Continuous likelihood, the integral over k. Its relative error is at most 1e-6. It returns an error if a y is
// impossible.
func (c *Counts) CRPS(ctx context.Context, y []float64) (scores []float64, err error) {
	if err := c.check("CRPS", y); err != nil {
		return nil, err
	}
	err = c.eachInput(ctx, func(i int) {
		y := y[i]
		whole, above := !c.continuous(), 0.0 // whole numbers from y on are one side, the smaller ones the other
		from, to := c.quantile(i, crpsTail), min(c.quantile(i, 1-crpsTail), crpsMost)
		if whole {
			above = 1
		}
		below := addUp(y-above, -1, y-from, whole, func(k float64) float64 {
			p := c.cdf(i, k)
			return p * p
		})
		scores = append(scores, below+addUp(y, 1, max(to-y, 0)+above, whole, func(k float64) float64 {
			p := 1 - c.cdf(i, k)
			return p * p
		}))
	})
	return scores, err
}

// PIT returns the randomised probability integral transform of each observation, F(y − 1) + u·P(Y = y): uniform on (0, 1) if
// the distributions are correct and u is uniform. It returns an error if a y is impossible.
func (c *Counts) PIT(ctx context.Context, y, u []float64) (pit []float64, err error) {
	if len(u) != len(y) {
		panic(fmt.Sprintf("observe: Counts.PIT: len(u) = %d for %d observations", len(u), len(y)))
	}
	if err := c.check("PIT", y); err != nil {
		return nil, err
	}
	err = c.eachInput(ctx, func(i int) {
		y := y[i]
		below := c.cdf(i, y-1)
		if c.continuous() {
			below = c.cdf(i, y)
		}
		pit = append(pit, below+u[i]*(c.cdf(i, y)-below))
	})
	return pit, err
}
