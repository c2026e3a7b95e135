package forecast

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Part is the forecast of one model: at each x, y or warp(y) is Gaussian with mean Mean and variance NoisyVar. LatentVar is the
// variance of f.
type Part struct {
	Weight    float64
	warp      series.Warp // maps y to the scale of the model; nil for y itself
	Mean      []float64
	LatentVar []float64
	NoisyVar  []float64
	// For counts, the distribution is one of a latent value g, and Observed is the likelihood of a count given g. Sizes are the
	// exposures or numbers of trials; nil means all 1.
	Observed observe.Likelihood
	Sizes    []float64
}

// parts returns the forecasts of all members.
func (a *Analysis) parts(ctx context.Context, x []float64) ([]Part, error) {
	var out []Part
	in, err := a.Series.Inputs(x)
	if err != nil {
		return nil, err
	}
	for _, m := range a.members {
		posteriors := m.given()
		from := len(out)
		for _, posterior := range posteriors {
			mean, latent, err := posterior.Latent(ctx, in)
			if err != nil {
				return nil, err
			}
			model, wider := posterior.Model(), func(j int) float64 { return wider(a.Series, a.Widen, x[j]) }
			p := Part{Weight: m.Weight / float64(len(posteriors)), warp: m.scale.Warp,
				Mean: m.scale.Scaling.Values(nil, mean), LatentVar: m.scale.Scaling.Variances(nil, latent)}
			nugget := capability.Nugget(model.Kernel) // the nugget counts in the variance of f and in the noise
			noise := m.scale.Scaling.Variance(model.Noise + nugget)
			seasonal := func(j int) float64 { return math.Pow(a.Noise.at(a.Series.Axis, x[j]), 2) }
			for j, v := range p.LatentVar {
				p.LatentVar[j] = wider(j) * v
				p.NoisyVar = append(p.NoisyVar, wider(j)*(v-m.scale.Scaling.Variance(nugget)+seasonal(j)*a.noiseVariance(noise, m, p, j)))
			}
			if s := a.Series; s.Student != nil {
				typical := s.TypicalError(false)
				out = append(out, spreadNoise(s.Student, p, noise/(typical*typical), wider)...)
				continue
			}
			out = append(out, p)
		}
		if c := a.Series.Counting; c != nil {
			out = append(out[:from], together(out[from:]))
			out[from].Observed, out[from].Sizes = c.Distribution(m.Shape), a.sizesAt(x)
		}
	}
	return out, nil
}

// wider returns the factor on variances at x: widen² beyond the last observation, otherwise 1.
func wider(s *series.Series, widen, x float64) float64 {
	if widen > 1 && x > s.X[len(s.X)-1] {
		return widen * widen
	}
	return 1
}

// noiseVariance returns the variance of the noise of a new observation at the j-th x of a part. It includes the known error:
// a.ahead[j], or the typical one if a.ahead is nil.
func (a *Analysis) noiseVariance(noise float64, m *member, p Part, j int) float64 {
	e := m.scale.Scaling.Scale * m.scale.Typical
	if a.ahead != nil {
		if e = a.ahead[j]; p.warp != nil {
			e *= math.Exp(p.warp.LogSlope(p.warp.Inverse(p.Mean[j])))
		}
		if a.Series.Relative {
			e /= a.Series.TypicalError(p.warp != nil)
			return noise * e * e
		}
	}
	return noise + e*e
}

// Mixture returns the distributions of new observations: the average of the parts, each Gaussian on its scale. It panics for
// counts.
func (f *Forecast) Mixture() *draws.Mixture {
	if f.Counts != nil {
		panic("forecast: Mixture of counts")
	}
	return mixtureOf(f.Parts, false)
}

// mixtureOf returns the average of the parts: the distributions of f if latent is set, otherwise of new observations.
func mixtureOf(parts []Part, latent bool) *draws.Mixture {
	m := new(draws.Mixture)
	for _, p := range parts {
		variances := p.NoisyVar
		if latent {
			variances = p.LatentVar
		}
		m.Weights, m.Means, m.Variances = append(m.Weights, p.Weight), append(m.Means, p.Mean), append(m.Variances, variances)
		m.Scales = append(m.Scales, p.warp)
	}
	return m
}

// forecastOf summarises parts. The forecast of a single Gaussian has its mean and variances. Otherwise Median is the median, and
// the standard deviations are half the distances between the quantiles at 15.9 and 84.1 %; of censored values Expected is the
// mean, and NoisyVar the variance. Once ctx has ended, the error wraps ctx's.
func forecastOf(ctx context.Context, x []float64, when []string, parts []Part) (f *Forecast, err error) {
	defer parallel.Stopped(&err)
	if parts[0].Observed != nil {
		return forecastCounts(ctx, x, when, parts)
	}
	f = &Forecast{X: x, When: when, Parts: parts}
	if len(parts) == 1 && parts[0].warp == nil {
		f.Median, f.LatentVar, f.NoisyVar = slices.Clone(parts[0].Mean), parts[0].LatentVar, parts[0].NoisyVar
		return f.banded(ctx)
	}
	if f.Median, err = f.Quantile(ctx, 0.5); err != nil {
		return nil, err
	}
	if f.LatentVar, err = spread(ctx, mixtureOf(parts, true)); err != nil {
		return nil, err
	}
	if parts[0].censored() { // quantiles of censored values may be equal
		all := f.Mixture()
		f.Expected, f.NoisyVar = all.Mean(), all.Variance()
		return f.banded(ctx)
	}
	if f.NoisyVar, err = spread(ctx, mixtureOf(parts, false)); err != nil {
		return nil, err
	}
	return f.banded(ctx)
}

// banded sets the ends of the 95 % band.
func (f *Forecast) banded(ctx context.Context) (banded *Forecast, err error) {
	if f.Lower, err = f.Quantile(ctx, 0.025); err != nil {
		return nil, err
	}
	if f.Upper, err = f.Quantile(ctx, 0.975); err != nil {
		return nil, err
	}
	return f, nil
}

// spread returns the squares of half the distances between the quantiles at 15.9 and 84.1 %.
func spread(ctx context.Context, m *draws.Mixture) (variances []float64, err error) {
	lo, err := m.Quantile(ctx, OneBelow)
	if err != nil {
		return nil, err
	}
	variances, err = m.Quantile(ctx, 1-OneBelow)
	for i, hi := range variances {
		variances[i] = 0.25 * (hi - lo[i]) * (hi - lo[i])
	}
	return variances, err
}

// spreadNoise splits a part with Student-t noise into parts with Gaussian noise. scale2 is the squared scale of the noise, and
// wider(j) the factor on its variance at the j-th place.
func spreadNoise(s *series.Student, p Part, scale2 float64, wider func(j int) float64) (parts []Part) {
	variances, weights := observe.StudentNoise{Nu: s.Nu, Scale2: scale2}.Mixture(studentParts)
	for c, noise := range variances {
		q := p
		q.Weight *= weights[c]
		q.NoisyVar = make([]float64, len(p.LatentVar))
		for j, latent := range p.LatentVar {
			q.NoisyVar[j] = latent + wider(j)*noise
		}
		parts = append(parts, q)
	}
	return parts
}

// studentParts is the number of Gaussians that stand for Student-t noise. The 2.5 % quantiles are then within 2 % of the scale
// for ν ≥ 2.
const studentParts = 12

// OneBelow is Φ(−1), the level of the quantile one standard deviation below the mean of a Gaussian.
const OneBelow = 0.15865525393145707
