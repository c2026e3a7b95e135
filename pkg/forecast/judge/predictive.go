package judge

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// A Predictive is a forecast of several values: a distribution for each.
type Predictive interface {
	// Mean returns the mean of each, in a slice of its own.
	Mean() []float64
	// Quantile returns the quantile of each at level p, 0 < p < 1.
	Quantile(p float64) []float64
	// LogDensity returns the log density of each at y, in nats.
	LogDensity(y []float64) []float64
	// CRPS returns the continuous ranked probability score of each at y.
	CRPS(y []float64) []float64
}

var _ Predictive = Gaussian{}

// Gaussian is a forecast whose values are N(Mu[i], Variance[i]).
type Gaussian struct{ Mu, Variance []float64 }

// Mean returns Mu.
func (g Gaussian) Mean() []float64 { return slices.Clone(g.Mu) }

// Quantile returns μ + σ·Φ⁻¹(p).
func (g Gaussian) Quantile(p float64) []float64 {
	z := numeric.NormalQuantile(p)
	return g.each(g.Mu, func(_, mu, v float64) float64 { return mu + z*math.Sqrt(v) })
}

// LogDensity returns −½log 2πv − (y − μ)²/2v and, at v = 0, the limit v → 0: +Inf at y = μ, −Inf elsewhere.
func (g Gaussian) LogDensity(y []float64) []float64 { return g.each(y, logGaussian) }

// CRPS returns the score of each; see the function CRPS.
func (g Gaussian) CRPS(y []float64) []float64 { return g.each(y, crpsNormal) }

func (g Gaussian) each(y []float64, f func(y, mu, v float64) float64) []float64 {
	same("Gaussian", len(y), len(g.Mu), len(g.Variance))
	values := make([]float64, len(y))
	for i := range values {
		values[i] = f(y[i], g.Mu[i], g.Variance[i])
	}
	return values
}

// PredictiveOf returns the distributions of the forecast, of new observations.
func PredictiveOf(f *forecast.Forecast) Predictive {
	if f.Counts != nil {
		return predictedCounts{f.Counts}
	}
	return predicted{f}
}

// predicted is a forecast as a Predictive: the mixtures of its parts.
type predicted struct{ f *forecast.Forecast }

var _ Predictive = predicted{}

// Mean returns the point forecast: of a mixture, the median.
func (p predicted) Mean() []float64 { return slices.Clone(p.f.Mean) }

func (p predicted) Quantile(level float64) []float64 {
	quantiles, _ := p.f.Quantile(context.Background(), level) // there is no error but a context's
	return quantiles
}

func (p predicted) LogDensity(y []float64) []float64 {
	if forecast.PlainGaussian(p.f.Parts) {
		return Gaussian{p.f.Mean, p.f.NoisyVar}.LogDensity(y)
	}
	return p.f.LogDensity(y)
}

// CRPS is computed from quantiles, exactly for a Gaussian.
func (p predicted) CRPS(y []float64) []float64 {
	if forecast.PlainGaussian(p.f.Parts) {
		return Gaussian{p.f.Mean, p.f.NoisyVar}.CRPS(y)
	}
	const count = 20
	levels := make([]float64, count)
	for k := range levels {
		levels[k] = (float64(k) + 0.5) / count
	}
	return CRPSQuantiles(y, p.Quantile, levels)
}

// predictedCounts is a forecast of counts as a Predictive.
type predictedCounts struct{ *observe.Counts }

var _ Predictive = predictedCounts{}

// Mean returns the medians, the point forecasts with the least absolute error.
func (p predictedCounts) Mean() []float64 { return p.Quantile(0.5) }

func (p predictedCounts) Quantile(level float64) []float64 {
	quantiles, _ := p.Counts.Quantile(context.Background(), level) // there is no error but a context's
	return quantiles
}

func (p predictedCounts) LogDensity(y []float64) []float64 {
	logs, _ := p.Counts.LogDensity(context.Background(), y)
	return logs
}

// CRPS returns the continuous ranked probability score of each at y.
func (p predictedCounts) CRPS(y []float64) []float64 {
	scores, _ := p.Counts.CRPS(context.Background(), y)
	return scores
}

// Standardised returns the normal quantile of the middle of the jump of the distribution function at each y.
func (p predictedCounts) Standardised(y []float64) []float64 {
	z, _ := p.Counts.PIT(context.Background(), y, slices.Repeat([]float64{0.5}, len(y)))
	for i, u := range z {
		z[i] = numeric.NormalQuantile(min(max(u, 1e-12), 1-1e-12))
	}
	return z
}
