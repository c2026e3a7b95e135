package judge

import (
	"fmt"
	"math"
	"slices"
)

func same(what string, lengths ...int) {
	for _, n := range lengths[1:] {
		if n != lengths[0] {
			panic(fmt.Sprintf("judge: %s: slices of lengths %v", what, lengths))
		}
	}
}

// mean returns the mean of f(0), …, f(n − 1), NaN for n = 0.
func mean(n int, f func(i int) float64) float64 {
	var sum float64
	for i := range n {
		sum += f(i)
	}
	return sum / float64(n)
}

// RMSE is the root mean squared error √(mean (y − f)²), in the unit of y.
func RMSE(y, f []float64) float64 {
	same("RMSE", len(y), len(f))
	return math.Sqrt(mean(len(y), func(i int) float64 { return (y[i] - f[i]) * (y[i] - f[i]) }))
}

// MAE is the mean absolute error mean |y − f|, in the unit of y.
func MAE(y, f []float64) float64 {
	same("MAE", len(y), len(f))
	return mean(len(y), func(i int) float64 { return math.Abs(y[i] - f[i]) })
}

// Scale is the mean absolute error of the seasonal naive forecast within the training
// data, mean |y_t − y_{t−season}| for t > season: the denominator of MASE. Season 1 is
// the naive forecast. It is NaN if there are no more than season values. It panics if
// season < 1.
func Scale(train []float64, season int) float64 {
	checkSeason(season)
	return mean(max(0, len(train)-season), func(i int) float64 { return math.Abs(train[i+season] - train[i]) })
}

// MASE is the mean absolute scaled error MAE(y, f)/Scale(train, season), a pure number.
// Below 1, the forecast is better than the seasonal naive forecast within the training data
// (Hyndman and Koehler 2006; the M4 competition). It is +Inf or NaN if the training data
// repeat themselves exactly.
func MASE(y, f, train []float64, season int) float64 { return MAE(y, f) / Scale(train, season) }

// SMAPE is the symmetric mean absolute percentage error of the M4 competition,
// mean 200·|y − f|/(|y| + |f|), in percent from 0 to 200 (Makridakis, Spiliotis and
// Assimakopoulos 2020). Where y and f are both 0 the term is 0.
func SMAPE(y, f []float64) float64 {
	same("SMAPE", len(y), len(f))
	return mean(len(y), func(i int) float64 { return smape(y[i], f[i]) })
}

func smape(y, f float64) float64 {
	if y == 0 && f == 0 {
		return 0
	}
	return 200 * math.Abs(y-f) / (math.Abs(y) + math.Abs(f))
}

// NLPD is the mean negative log predictive density of Gaussian forecasts, in nats:
// mean ½log 2πv + (y − μ)²/2v (Rasmussen and Williams 2006, section 2.5). A variance of 0 is the limit v → 0: a forecast
// that is not y costs +Inf, whatever the others gain, and one that is gains without bound, −Inf.
func NLPD(y, mu, variance []float64) float64 {
	same("NLPD", len(y), len(mu), len(variance))
	log := Gaussian{mu, variance}.LogDensity(y)
	return meanNats(len(y), func(i int) float64 { return -log[i] })
}

// meanNats is the mean of negative log densities. +Inf outweighs −Inf: as variances shrink, (y − μ)²/v grows faster
// than −log v.
func meanNats(n int, f func(i int) float64) float64 {
	for i := range n {
		if math.IsInf(f(i), 1) {
			return math.Inf(1)
		}
	}
	return mean(n, f)
}

// CRPS is the mean continuous ranked probability score of Gaussian forecasts, in the unit
// of y: for one, with z = (y − μ)/σ,
//
//	∫ (F(u) − 1[u ≥ y])² du = σ·(z·(2Φ(z) − 1) + 2φ(z) − 1/√π)
//
// (Gneiting and Raftery 2007, eq. 21). At σ = 0 it is |y − μ|.
func CRPS(y, mu, variance []float64) float64 {
	same("CRPS", len(y), len(mu), len(variance))
	scores := Gaussian{mu, variance}.CRPS(y)
	return mean(len(y), func(i int) float64 { return scores[i] })
}

// CRPSSample is the continuous ranked probability score of y under the empirical
// distribution of a sample, mean |x_i − y| − ½·mean |x_i − x_j| over all pairs (Gneiting
// and Raftery 2007, eq. 20). The sample is not modified. It takes O(m log m).
func CRPSSample(y float64, sample []float64) float64 {
	x := slices.Clone(sample)
	slices.Sort(x)
	m := float64(len(x))
	// Σ_ij |x_i − x_j| = 2·Σ_i (2i + 1 − m)·x_i of the sorted sample.
	return mean(len(x), func(i int) float64 { return math.Abs(x[i]-y) - (2*float64(i)+1-m)/m*x[i] })
}

// Pinball is the quantile score of the quantile q at level p, (1[y < q] − p)·(q − y)
// (Koenker and Bassett 1978): its expectation is least at the true quantile.
func Pinball(y, q, p float64) float64 {
	if y < q {
		return (1 - p) * (q - y)
	}
	return p * (y - q)
}

// CRPSQuantiles returns the continuous ranked probability score of each y from the quantiles of
// its distribution at given levels: 2·mean Pinball. With levels (k − ½)/K, k = 1 … K, it tends to
// the score as K grows (Gneiting and Ranjan 2011, eq. 13); other levels give more weight to the
// parts of the distribution where they are dense.
func CRPSQuantiles(y []float64, quantile func(p float64) []float64, levels []float64) []float64 {
	out := make([]float64, len(y))
	for _, p := range levels {
		q := quantile(p)
		same("CRPSQuantiles", len(y), len(q))
		for i, v := range y {
			out[i] += Pinball(v, q[i], p)
		}
	}
	for i := range out {
		out[i] = 2 * (out[i] / float64(len(levels)))
	}
	return out
}

// Coverage is the share of y in [lo, hi], both ends included.
func Coverage(y, lo, hi []float64) float64 {
	same("Coverage", len(y), len(lo), len(hi))
	return mean(len(y), func(i int) float64 { return covered(y[i], lo[i], hi[i]) })
}

func covered(y, lo, hi float64) float64 {
	switch {
	case math.IsNaN(y) || math.IsNaN(lo) || math.IsNaN(hi):
		return math.NaN()
	case lo <= y && y <= hi:
		return 1
	}
	return 0
}

// Width is the mean width of intervals, mean (hi − lo).
func Width(lo, hi []float64) float64 {
	same("Width", len(lo), len(hi))
	return mean(len(lo), func(i int) float64 { return hi[i] - lo[i] })
}

// IntervalScore is the mean score of central intervals at the given level, such as 0.95
// (Winkler 1972; Gneiting and Raftery 2007, eq. 43): with α = 1 − level
//
//	(hi − lo) + (2/α)·max(0, lo − y) + (2/α)·max(0, y − hi).
func IntervalScore(y, lo, hi []float64, level float64) float64 {
	same("IntervalScore", len(y), len(lo), len(hi))
	return mean(len(y), func(i int) float64 { return intervalScore(y[i], lo[i], hi[i], level) })
}

func intervalScore(y, lo, hi, level float64) float64 {
	return hi - lo + 2/(1-level)*(max(0, lo-y)+max(0, y-hi))
}
