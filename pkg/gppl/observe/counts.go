package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// LaplaceFit is a model of observations that are not Gaussian, learnt from data.
type LaplaceFit struct {
	*gppl.Result            // its value is that of the loss
	Likelihood   Likelihood // with its learnt parameters
	Loss         *Laplace   // that was minimised
	theta        []float64  // at the optimum
}

// FitLaplace learns the parameters of a model and of its likelihood by Laplace's approximation, from two starts: the model as it is given and
// [auto.StartFrom] of the latent values that the observations suggest. It is an error if both fail.
func FitLaplace(ctx context.Context, m gppl.Model, d gppl.Data, likelihood Likelihood, sizes []float64, s gppl.Settings) (*LaplaceFit, error) {
	loss, err := NewLaplace(m, d, likelihood, sizes)
	if err != nil {
		return nil, err
	}
	var best *gppl.Result
	var failed error
	own := loss.Params()[len(m.Params()):]
	for _, from := range []gppl.Model{m, auto.StartFrom(m, loss.Guess())} {
		r, err := gppl.Fit(ctx, loss, append(from.Params(), own...), s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = cmp.Or(failed, err)
		} else if best == nil || r.Value < best.Value {
			best = r
		}
	}
	if best == nil {
		return nil, failed
	}
	fit := &LaplaceFit{Result: best, Loss: loss}
	for _, p := range best.Params {
		fit.theta = append(fit.theta, p.Value)
	}
	fit.Likelihood = loss.Likelihood(fit.theta)
	return fit, nil
}

// Predict is that of the loss, at the parameters that were learnt.
func (f *LaplaceFit) Predict(ctx context.Context, x gppl.Inputs, sizes []float64) (*Counts, error) {
	return f.Loss.Predict(ctx, f.theta, x, sizes)
}

// Counts is a forecast of observations that are not Gaussian: at each input the distribution of y given a normal g, by quadrature over g.
type Counts struct {
	Mean, Variance []float64 // of g = h(x)ᵀβ + f(x) + ε at each input
	Sizes          []float64
	Likelihood     Likelihood
}

// Predict returns the distribution of new observations at x, with the given sizes; nil stands for ones.
func (l *Laplace) Predict(ctx context.Context, theta []float64, x gppl.Inputs, sizes []float64) (*Counts, error) {
	s, err := l.mode(ctx, theta)
	if err != nil {
		return nil, err
	}
	d, err := s.gaussian(nil)
	if err != nil {
		return nil, err
	}
	p, err := gppl.NewPosterior(s.model, d, append(slices.Clone(l.options), gppl.WithContext(ctx))...)
	if err != nil {
		return nil, err
	}
	mean, variances, err := p.NoisyContext(ctx, x)
	if err != nil {
		return nil, err
	}
	if sizes == nil {
		sizes = slices.Repeat([]float64{1}, len(mean))
	}
	if len(sizes) != len(mean) {
		panic(fmt.Sprintf("observe: Predict: %d sizes of %d inputs", len(sizes), len(mean)))
	}
	return &Counts{mean, variances, slices.Clone(sizes), s.likelihood}, nil
}

// Len is the number of inputs.
func (c *Counts) Len() int { return len(c.Mean) }

// average is E f(g) at input i.
func (c *Counts) average(i int, f func(g float64) float64) (sum float64) {
	sd := math.Sqrt(c.Variance[i])
	for _, node := range normalNodes {
		sum += node.weight * f(c.Mean[i]+sd*node.at)
	}
	return sum
}

// Expected returns E y and Var y at each input.
func (c *Counts) Expected() (mean, variances []float64) {
	for i := range c.Mean {
		size := c.Sizes[i]
		m := c.average(i, func(g float64) float64 { return c.Likelihood.Mean(size, g) })
		v := c.average(i, func(g float64) float64 {
			by := c.Likelihood.Mean(size, g) - m
			return c.Likelihood.Variance(size, g) + by*by
		})
		mean, variances = append(mean, m), append(variances, v)
	}
	return mean, variances
}

// CDF returns P(Y ≤ y) at input i.
func (c *Counts) CDF(i int, y float64) float64 {
	return c.average(i, func(g float64) float64 { return c.Likelihood.CDF(y, c.Sizes[i], g) })
}

// LogDensity returns log P(Y_i = y_i) at each input: the log score.
func (c *Counts) LogDensity(y []float64) (logs []float64) {
	for i, y := range y {
		most := math.Inf(-1)
		terms := make([]float64, len(normalNodes))
		sd := math.Sqrt(c.Variance[i])
		for k, node := range normalNodes {
			terms[k] = math.Log(node.weight) + c.Likelihood.LogDensity(y, c.Sizes[i], c.Mean[i]+sd*node.at).Value
			most = max(most, terms[k])
		}
		var sum float64
		for _, t := range terms {
			sum += math.Exp(t - most)
		}
		logs = append(logs, most+math.Log(sum))
	}
	return logs
}

// Quantile returns at each input the least whole number y with P(Y ≤ y) ≥ p, for p in (0, 1).
func (c *Counts) Quantile(p float64) (quantiles []float64) {
	if !(p > 0 && p < 1) {
		panic(fmt.Sprintf("observe: Quantile(%v): want p in (0, 1)", p))
	}
	for i := range c.Mean {
		quantiles = append(quantiles, c.quantile(i, p))
	}
	return quantiles
}

func (c *Counts) quantile(i int, p float64) float64 {
	below, y := -1.0, 0.0 // P(Y ≤ below) < p
	for c.CDF(i, y) < p {
		if below, y = y, 2*y+1; math.IsInf(y, 1) {
			return y
		}
	}
	for y-below > 1 {
		if middle := math.Floor(0.5*below + 0.5*y); c.CDF(i, middle) < p {
			below = middle
		} else {
			y = middle
		}
	}
	return y
}

// crpsTerms is the number of terms of a score: wider distributions are summed in steps.
const crpsTerms = 2000

// CRPS returns the continuous ranked probability score Σ_k (P(Y ≤ k) − [y ≤ k])² of each observation (Czado, Gneiting and Held 2009).
func (c *Counts) CRPS(y []float64) (scores []float64) {
	for i, y := range y {
		from := min(y, c.quantile(i, 1e-10))
		to := max(y, c.quantile(i, 1-1e-10))
		step := math.Ceil((to - from + 1) / crpsTerms)
		var sum float64
		for k := from; k <= to; k += step {
			f := c.CDF(i, k+0.5*(step-1))
			if y <= k+0.5*(step-1) {
				f--
			}
			sum += step * f * f
		}
		scores = append(scores, sum)
	}
	return scores
}

// PIT returns the randomised probability integral transform of each observation, F(y − 1) + u·P(Y = y): uniform on (0, 1) if the
// forecasts are right and the u are.
func (c *Counts) PIT(y, u []float64) (pit []float64) {
	for i, y := range y {
		below := c.CDF(i, y-1)
		pit = append(pit, below+u[i]*(c.CDF(i, y)-below))
	}
	return pit
}
