package forecast

import "math"

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
func (g Gaussian) Mean() []float64 { return append([]float64(nil), g.Mu...) }

// Quantile returns μ + σ·Φ⁻¹(p).
func (g Gaussian) Quantile(p float64) []float64 {
	z := standardQuantile(p)
	return g.each(g.Mu, func(_, mu, v float64) float64 { return mu + z*math.Sqrt(v) })
}

// LogDensity returns −½log 2πv − (y − μ)²/2v and, at v = 0, the limit v → 0: +Inf at y = μ, −Inf elsewhere.
func (g Gaussian) LogDensity(y []float64) []float64 { return g.each(y, logGaussian) }

// CRPS returns the score of each; see the function CRPS.
func (g Gaussian) CRPS(y []float64) []float64 { return g.each(y, crpsNormal) }

func (g Gaussian) each(y []float64, f func(y, mu, v float64) float64) []float64 {
	same("Gaussian", len(y), len(g.Mu), len(g.Variance))
	out := make([]float64, len(y))
	for i := range y {
		out[i] = f(y[i], g.Mu[i], g.Variance[i])
	}
	return out
}

// standardQuantile is Φ⁻¹(p).
func standardQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
