package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// AtBound is the probability, at each x of a forecast, of a value that is at a bound.
type AtBound struct {
	Name  string // name of the column: p_zero, p_lowest or p_highest
	Bound float64
	P     []float64
}

// AtBounds returns the probabilities of 0 of counts, and of the bounds of censored values; none for others.
func (f *Forecast) AtBounds() (all []AtBound) {
	if f.Counts != nil {
		zero := AtBound{"p_zero", 0, make([]float64, len(f.X))}
		for i := range zero.P {
			zero.P[i] = f.Counts.CDF(i, 0)
		}
		return []AtBound{zero}
	}
	if f.Expected == nil {
		return nil
	}
	at := func(name string, y float64) AtBound {
		if y == 0 {
			name = "p_zero"
		}
		ys := slices.Repeat([]float64{y}, len(f.X))
		logs, _ := f.Mixture().LogDensity(context.Background(), ys) // there is no error but a context's
		for i, v := range logs {
			logs[i] = math.Exp(v)
		}
		return AtBound{name, y, logs}
	}
	lo, hi := f.Parts[0].ends()
	if !math.IsInf(lo, 0) {
		all = append(all, at("p_lowest", lo))
	}
	if !math.IsInf(hi, 0) {
		all = append(all, at("p_highest", hi))
	}
	return all
}

// Standardised returns the normal quantile of P(Y < y) + u·P(Y = y) for each y under its prediction: (y − mean)/sd if that is
// Gaussian. P(Y = y) is not 0 for counts and for values at a bound: u = ½ then gives the middle of the step. If the predictions
// are correct, uniform random u give N(0, 1). All are NaN if y has a value that counts cannot have.
func (f *Forecast) Standardised(y, u []float64) []float64 {
	z, _ := f.standardised(y, u)
	return z
}

// standardised returns Standardised, and the probabilities of values as far out as y in either tail.
func (f *Forecast) standardised(y, u []float64) (z, p []float64) {
	upTo, from := f.tails(y)
	z, p = make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		p[i] = min(1, 2*min(upTo[i], from[i]))
		if len(f.Parts) == 1 && f.Expected == nil { // exact even far from the median
			z[i] = f.Parts[0].standard(i, v)
			continue
		}
		own := 0.0
		if f.Expected != nil {
			own = min(upTo[i], from[i], max(0, upTo[i]+from[i]-1))
		}
		below, above := upTo[i]-(1-u[i])*own, from[i]-u[i]*own
		if z[i] = numeric.NormalQuantile(max(min(below, above), leastRank)); below > above {
			z[i] = -z[i]
		}
	}
	return z, p
}

// leastRank keeps normal quantiles finite.
const leastRank = 1e-15

// tails returns the probabilities of values up to each y, and of values from it on. The probability of y itself, which counts and
// bounds have, is part of both.
func (f *Forecast) tails(y []float64) (upTo, from []float64) {
	if f.Counts != nil {
		upTo, err := f.Counts.PIT(context.Background(), y, slices.Repeat([]float64{1}, len(y)))
		if err != nil {
			never := slices.Repeat([]float64{math.NaN()}, len(y))
			return never, never
		}
		from, _ := f.Counts.PIT(context.Background(), y, make([]float64, len(y)))
		for i, below := range from {
			from[i] = 1 - below
		}
		return upTo, from
	}
	m := f.Mixture()
	upTo, from = m.Tails(y)
	if f.Expected != nil {
		before := make([]float64, len(y))
		for i, v := range y {
			before[i] = math.Nextafter(v, math.Inf(-1))
		}
		_, from = m.Tails(before)
	}
	return upTo, from
}

// standard returns how many standard deviations y is above the i-th mean, on the scale of the part.
func (p Part) standard(i int, y float64) float64 {
	if p.warp != nil {
		y = p.warp.Forward(y)
	}
	return (y - p.Mean[i]) / math.Sqrt(p.NoisyVar[i])
}

// ends returns the bounds of censored values; infinite ones for none.
func (p Part) ends() (lo, hi float64) {
	if e, ok := p.warp.(draws.Ended); ok {
		return e.Ends()
	}
	return math.Inf(-1), math.Inf(1)
}

// censored reports whether the part predicts values that are censored at bounds.
func (p Part) censored() bool {
	_, ok := p.warp.(draws.Ended)
	return ok
}

// forecastCounts summarises parts of counts as a forecast.
func forecastCounts(ctx context.Context, x []float64, when []string, parts []Part) (f *Forecast, err error) {
	f = &Forecast{X: x, When: when, Parts: parts, Counts: countsOf(parts, false)}
	if f.Expected, f.NoisyVar, err = f.Counts.Expected(ctx); err != nil {
		return nil, err
	}
	if f.Median, err = f.Quantile(ctx, 0.5); err != nil {
		return nil, err
	}
	if _, f.LatentVar, err = countsOf(parts, true).Rates(ctx); err != nil {
		return nil, err
	}
	return f.banded(ctx)
}

// countsOf returns the distribution of the counts that parts forecast; with latent, of their expectation given f.
func countsOf(parts []Part, latent bool) *observe.Counts {
	var weights []float64
	var all []*observe.Counts
	for _, p := range parts {
		variances := p.NoisyVar
		if latent {
			variances = p.LatentVar
		}
		weights, all = append(weights, p.Weight), append(all, observe.NewCounts(p.Observed, p.Mean, variances, p.Sizes))
	}
	return observe.Mixed(weights, all)
}

// together combines the parts of the draws of a member into one: a normal distribution of g with the mean and the variance of
// their mixture.
func together(parts []Part) Part {
	one := parts[0]
	if len(parts) == 1 {
		return one
	}
	n := float64(len(parts))
	one.Weight *= n
	one.Mean, one.LatentVar, one.NoisyVar = slices.Clone(one.Mean), slices.Clone(one.LatentVar), slices.Clone(one.NoisyVar)
	for j := range one.Mean {
		var sum, squares, latent, noisy float64
		for _, p := range parts {
			sum, latent, noisy = sum+p.Mean[j], latent+p.LatentVar[j], noisy+p.NoisyVar[j]
		}
		for _, p := range parts {
			squares += (p.Mean[j] - sum/n) * (p.Mean[j] - sum/n)
		}
		one.Mean[j], one.LatentVar[j], one.NoisyVar[j] = sum/n, (latent+squares)/n, (noisy+squares)/n
	}
	return one
}

// sizesAt returns the sizes of new observations: the known ones of a test, otherwise the size of the last observation up to each
// x.
func (a *Analysis) sizesAt(x []float64) []float64 {
	c := a.Series.Counting
	if a.sizes != nil || c.Sizes == nil {
		return a.sizes
	}
	out := make([]float64, len(x))
	for i, v := range x {
		at, found := slices.BinarySearch(a.Series.X, v)
		if !found {
			at = max(0, at-1)
		}
		out[i] = c.Sizes[at]
	}
	return out
}

// Params returns the parameters of the best model, except variances that stand for zero: the variance of the white term in a
// model without a signal, and the noise if the likelihood includes it.
func (a *Analysis) Params() []gppl.FittedParam {
	return slices.DeleteFunc(slices.Clone(a.Result.Params), func(p gppl.FittedParam) bool {
		return p.Unit == gppl.UnitY2 && p.IsFixed() && p.Value <= search.NoVariation
	})
}

// Likelihood names the distribution of observations in the best model, with its shape or degrees of freedom; "" for a normal one.
func (a *Analysis) Likelihood() string {
	if s := a.Series.Student; s != nil {
		return fmt.Sprintf("Student-t (%.3g degrees of freedom)", s.Nu)
	}
	c, shape := a.Series.Counting, 0.0
	if len(a.members) > 0 {
		shape = a.members[0].Shape
	}
	switch {
	case c == nil:
		return ""
	case c.Likelihood == "bernoulli":
		return "Bernoulli"
	}
	return c.Distribution(shape).String()
}
