package judge

import (
	"fmt"
	"math"
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

// MAE is the mean absolute error mean |y − f|, in the unit of y.
func MAE(y, f []float64) float64 {
	same("MAE", len(y), len(f))
	return mean(len(y), func(i int) float64 { return math.Abs(y[i] - f[i]) })
}

// Scale is the mean absolute error of the seasonal naive forecast within the training data, mean |y_t − y_{t−season}| for t >
// season: the denominator of MASE. Season 1 is the naive forecast. It is NaN if there are no more than season values. It panics
// if season < 1.
func Scale(train []float64, season int) float64 {
	checkSeason(season)
	return mean(max(0, len(train)-season), func(i int) float64 { return math.Abs(train[i+season] - train[i]) })
}

// SMAPE is the symmetric mean absolute percentage error of the M4 competition, mean 200·|y − f|/(|y| + |f|), in percent from 0 to
// 200 (Makridakis, Spiliotis and Assimakopoulos 2020). Where y and f are both 0 the term is 0.
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

// Pinball is the quantile score of the quantile q at level p, (1[y < q] − p)·(q − y) (Koenker and Bassett 1978). Its expectation
// is least at the true quantile.
func Pinball(y, q, p float64) float64 {
	if y < q {
		return (1 - p) * (q - y)
	}
	return p * (y - q)
}

// CRPSQuantiles returns the continuous ranked probability score of each y from the quantiles of its distribution at given levels:
// 2·mean Pinball. With levels (k − ½)/K, k = 1 … K, it tends to the score as K grows (Gneiting and Ranjan 2011, eq. 13); other
// levels give more weight to the parts of the distribution where they are dense.
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

// intervalScore is the score of a central interval at the given level, such as 0.95 (Winkler 1972; Gneiting and Raftery 2007,
// eq. 43): with α = 1 − level
//
//	(hi − lo) + (2/α)·max(0, lo − y) + (2/α)·max(0, y − hi).
func intervalScore(y, lo, hi, level float64) float64 {
	return hi - lo + 2/(1-level)*(max(0, lo-y)+max(0, y-hi))
}
