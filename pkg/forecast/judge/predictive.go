package judge

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
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
func PredictiveMixture(m *draws.Mixture) Predictive { return predictive{m, m.Mean} }

// predictive is a Predictive of distributions whose methods fail only when a context ends, which none does here, or for a y that
// counts cannot have: all scores are then NaN.
type predictive struct {
	of interface {
		Quantile(ctx context.Context, p float64) ([]float64, error)
		LogDensity(ctx context.Context, y []float64) ([]float64, error)
		CRPS(ctx context.Context, y []float64) ([]float64, error)
	}
	point func() []float64
}

func (p predictive) Point() []float64 { return p.point() }

func (p predictive) Quantile(level float64) []float64 {
	quantiles, _ := p.of.Quantile(context.Background(), level)
	return quantiles
}

func (p predictive) LogDensity(y []float64) []float64 {
	logs, err := p.of.LogDensity(context.Background(), y)
	if err != nil {
		return slices.Repeat([]float64{math.NaN()}, len(y))
	}
	return logs
}

func (p predictive) CRPS(y []float64) []float64 {
	scores, err := p.of.CRPS(context.Background(), y)
	if err != nil {
		return slices.Repeat([]float64{math.NaN()}, len(y))
	}
	return scores
}

// PredictiveOf returns the distributions of new observations that the forecast gives. Its points are the medians, which have the
// least absolute error.
func PredictiveOf(f *forecast.Forecast) Predictive {
	medians := func() []float64 { return slices.Clone(f.Median) }
	p := predictive{f.Counts, medians}
	if f.Counts == nil {
		p.of = f.Mixture()
	}
	if f.Expected != nil {
		return jumping{p, f}
	}
	return p
}

// jumping is a forecast of counts, or of values that end at bounds, where distribution functions jump: quantiles coincide, and
// their distance is no standard deviation.
type jumping struct {
	predictive
	forecast *forecast.Forecast
}

// Standardised returns a normal quantile for each y, of the middle of a jump.
func (p jumping) Standardised(y []float64) []float64 {
	return p.forecast.Standardised(y, slices.Repeat([]float64{0.5}, len(y)))
}
