package judge

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// A Predictive forecasts several values, with a distribution for each.
type Predictive interface {
	// Point returns the mean of each, in a slice of its own.
	Point() []float64
	// Quantile returns the quantile of each at level p, 0 < p < 1.
	Quantile(p float64) []float64
	// LogDensity returns the log density of each at y, in nats.
	LogDensity(y []float64) []float64
	// CRPS returns the continuous ranked probability score of each at y.
	CRPS(y []float64) []float64
}

var _ Predictive = Gaussian{}

// Gaussian forecasts values with the distributions N(Mu[i], Variance[i]).
type Gaussian struct{ Mu, Variance []float64 }

// Point returns Mu.
func (g Gaussian) Point() []float64 { return slices.Clone(g.Mu) }

// Quantile returns μ + σ·Φ⁻¹(p).
func (g Gaussian) Quantile(p float64) []float64 {
	same("Gaussian", len(g.Mu), len(g.Variance))
	z, quantiles := numeric.NormalQuantile(p), make([]float64, len(g.Mu))
	for i, mu := range g.Mu {
		quantiles[i] = mu + z*math.Sqrt(g.Variance[i])
	}
	return quantiles
}

// LogDensity returns −½log 2πv − (y − μ)²/2v and, at v = 0, the limit v → 0: +Inf at y = μ, −Inf elsewhere.
func (g Gaussian) LogDensity(y []float64) []float64 { return g.mixture().LogDensity(y) }

// CRPS returns the continuous ranked probability score of each at y: with z = (y − μ)/σ,
//
//	σ·(z·(2Φ(z) − 1) + 2φ(z) − 1/√π)
//
// (Gneiting and Raftery 2007, eq. 21). At σ = 0 it is |y − μ|.
func (g Gaussian) CRPS(y []float64) []float64 { return g.mixture().CRPS(y) }

// mixture returns the forecast as a mixture of one component.
func (g Gaussian) mixture() Predictive {
	return PredictiveMixture(&draws.Mixture{Weights: []float64{1}, Means: [][]float64{g.Mu}, Variances: [][]float64{g.Variance}})
}

// PredictiveMixture returns mixtures of Gaussians as a Predictive.
func PredictiveMixture(m *draws.Mixture) Predictive { return mixture{m} }

// mixture is a Predictive that no context ends, and hence without errors.
type mixture struct{ of *draws.Mixture }

func (m mixture) Point() []float64 { return m.of.Mean() }

func (m mixture) Quantile(p float64) []float64 {
	quantiles, _ := m.of.Quantile(context.Background(), p)
	return quantiles
}

func (m mixture) LogDensity(y []float64) []float64 {
	logs, _ := m.of.LogDensity(context.Background(), y)
	return logs
}

func (m mixture) CRPS(y []float64) []float64 {
	scores, _ := m.of.CRPS(context.Background(), y)
	return scores
}

// PredictiveOf returns the distributions of new observations that the forecast gives.
func PredictiveOf(f *forecast.Forecast) Predictive {
	if f.Counts != nil {
		return predictedCounts{f.Counts}
	}
	p := predicted{mixture{f.Mixture()}, f.Median}
	if len(f.AtBounds()) > 0 {
		return predictedEnded{p}
	}
	return p
}

// predicted is a forecast as a Predictive: the mixtures of its parts.
type predicted struct {
	mixture
	median []float64
}

// Point returns the medians.
func (p predicted) Point() []float64 { return slices.Clone(p.median) }

// predictedEnded is a forecast of values that end at bounds. Where half of the distribution is at a bound, the distance of two
// quantiles is no standard deviation.
type predictedEnded struct{ predicted }

// Standardised returns a normal quantile for each y. At a bound, where the distribution function jumps, the middle of the jump
// counts.
func (p predictedEnded) Standardised(y []float64) []float64 {
	before := make([]float64, len(y))
	for i, v := range y {
		before[i] = math.Nextafter(v, math.Inf(-1))
	}
	upTo, _ := p.of.Tails(y)
	below, _ := p.of.Tails(before)
	for i := range upTo {
		upTo[i] = normalOf(0.5 * (below[i] + upTo[i]))
	}
	return upTo
}

// normalOf returns the normal quantile of a probability, which is kept from 0 and 1.
func normalOf(u float64) float64 { return numeric.NormalQuantile(min(max(u, 1e-12), 1-1e-12)) }

// predictedCounts is a forecast of counts as a Predictive.
type predictedCounts struct{ *observe.Counts }

var _ Predictive = predictedCounts{}

// Point returns the medians, the point forecasts with the least absolute error.
func (p predictedCounts) Point() []float64 { return p.Quantile(0.5) }

func (p predictedCounts) Quantile(level float64) []float64 {
	quantiles, _ := p.Counts.Quantile(context.Background(), level) // only an ended context is an error
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

// Standardised returns a normal quantile for each y, at the middle of the jump of the distribution function there.
func (p predictedCounts) Standardised(y []float64) []float64 {
	z, _ := p.Counts.PIT(context.Background(), y, slices.Repeat([]float64{0.5}, len(y)))
	for i, u := range z {
		z[i] = normalOf(u)
	}
	return z
}
