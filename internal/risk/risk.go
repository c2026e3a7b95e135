// Package risk says how likely it is that the 95 % bands of a forecast by the automatic policy will contain less than 70 % of the
// observations to come. pkg/forecast warns by it; measure/forecasting fits its coefficients.
package risk

import "math"

// Predictors describe a forecast. The two distances are the largest ones in the last third of the horizon, in standard deviations of the
// forecast.
type Predictors struct {
	N     int     // observations
	Log   float64 // weight of models of log y, whose bands are wider
	Away  float64 // from the seasonal naive forecast: one that goes far from where the series is relies on growth or a return to the mean
	Apart float64 // of the random walk with drift from the other models: such a forecast depends on the model
}

// Values returns what the coefficients multiply: 1, log n, the weight of models of log y, and the logarithms of the two distances.
func (p Predictors) Values() []float64 {
	const near = 0.05 // standard deviations that make no difference
	return []float64{1, math.Log(float64(p.N)), p.Log, math.Log(p.Away + near), math.Log(p.Apart + near)}
}

// coefficients were fitted to the 1680 series of the development halves of M3 and M4 Weekly, 106 of them with poor forecasts
// (go run ./measure/forecasting -doubt). Further predictors hardly improved the fit: the coverage of the past, its error, its last third,
// the horizon over n, and the factor by which bands are widened.
var coefficients = []float64{0.92, -0.72, -0.77, 0.14, 0.26}

// Of returns the risk of a forecast.
func Of(p Predictors) float64 { return Probability(coefficients, p.Values()) }

// Probability returns the logistic function of Σ_j b_j·x_j.
func Probability(b, x []float64) float64 {
	var z float64
	for j := range b {
		z += b[j] * x[j]
	}
	return 1 / (1 + math.Exp(-z))
}

// A forecast is advised against if its risk is above Refuse, and may be used with care if it is above Care, one in 20. Of the 106 poor
// forecasts, 61 have a risk or other reasons that advise against them, and 83 at least a warning.
const Refuse, Care = 0.1, 0.05

// ProvenError is the error in the past, over that of seasonal naive, below which the risk may not count.
const ProvenError = 0.5

// Overruled reports whether the risk does not count: growth that was forecast well from every origin is no guess. In the past, the error
// was below ProvenError times seasonal naive's, and the 95 % bands contained at least 90 %.
func Overruled(relative, coverage float64) bool { return relative < ProvenError && coverage >= 0.9 }

// Reason begins the text of a warning by the risk.
const Reason = "on other series"
