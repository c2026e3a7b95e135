package forecast

import (
	"fmt"
	"math"
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
func (g Gaussian) Mean() []float64 { return append([]float64(nil), g.Mu...) }

// Quantile returns μ + σ·Φ⁻¹(p).
func (g Gaussian) Quantile(p float64) []float64 {
	z := math.Sqrt2 * math.Erfinv(2*p-1)
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

func checkSeason(season int) {
	if season < 1 {
		panic(fmt.Sprintf("forecast: season = %d, want at least 1", season))
	}
}

// SeasonalNaive forecasts that the last season repeats: with T values and season m, that
// of T + h is y_{T+h−m(k+1)}, k = ⌊(h − 1)/m⌋, with the variance (k + 1)·σ², σ² the mean
// square of y_t − y_{t−m} in train (Hyndman and Athanasopoulos 2021, sections 5.2 and
// 5.5). Season 1 is the naive forecast, a random walk. It panics if season < 1 or
// horizon < 0, and is an error if train has no more than season values.
func SeasonalNaive(train []float64, season, horizon int) (Gaussian, error) {
	checkSeason(season)
	if horizon < 0 {
		panic(fmt.Sprintf("forecast: SeasonalNaive: horizon = %d", horizon))
	}
	n := len(train)
	if n <= season {
		return Gaussian{}, fmt.Errorf("forecast: %d values for a season of %d: the seasonal naive forecast needs more than one season", n, season)
	}
	square := mean(n-season, func(i int) float64 { d := train[i+season] - train[i]; return d * d })
	g := Gaussian{make([]float64, horizon), make([]float64, horizon)}
	for h := range horizon {
		seasons := h / season
		g.Mu[h] = train[n-season+h%season]
		g.Variance[h] = float64(seasons+1) * square
	}
	return g, nil
}
