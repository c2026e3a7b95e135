// Package psis smooths importance weights by a generalised Pareto distribution of their tail, whose shape k̂ says whether they
// are reliable (Vehtari, Simpson, Gelman, Yao and Gabry 2024, Pareto smoothed importance sampling, algorithm 1).
package psis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Smoothed holds the weights of S draws.
type Smoothed struct {
	Weights []float64 // in the order of the draws; they add up to 1
	// K is k̂, the shape of the tail of the raw weights: their moments up to 1/k̂ exist. Up to 0.7 averages over the draws are
	// reliable; at 0.5 and above convergence is slow, and from 1 on there is no mean. It is −Inf where the largest weights are
	// equal, and NaN with too few draws: fewer than 25, or fewer than six within the support.
	K float64
	// ESS is the effective number of draws 1/Σw².
	ESS float64
}

// Reliable is the largest k̂ at which averages over the weights are reliable.
const Reliable = 0.7

// minTail is the least number of weights for fitting a tail.
const minTail = 5

// Smooth returns the weights of draws whose log importance ratios are r, up to a constant; −Inf means a draw outside the
// support. The largest M = min(S/5, 3√S) are replaced by the expected order statistics of the generalised Pareto distribution
// that fits them, at most the largest raw weight. r is not modified. Smooth returns an error if a ratio is NaN or +Inf, or if
// all are −Inf.
func Smooth(r []float64) (*Smoothed, error) {
	s := len(r)
	most := math.Inf(-1)
	for i, v := range r {
		if math.IsNaN(v) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("psis: log ratio %d is %v", i, v)
		}
		most = max(most, v)
	}
	if math.IsInf(most, -1) {
		return nil, fmt.Errorf("psis: none of %d draws is within the support", s)
	}
	w := make([]float64, s)
	order := make([]int, s)
	for i, v := range r {
		w[i] = math.Exp(v - most)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r[a], r[b]) })
	out := &Smoothed{Weights: w, K: math.NaN()}
	inside := 0 // number of draws within the support: the others keep their weight of 0
	for _, v := range w {
		if v > 0 {
			inside++
		}
	}
	tail := int(math.Ceil(min(0.2*float64(s), 3*math.Sqrt(float64(s)))))
	tail = min(tail, inside-1)
	if tail >= minTail {
		cut := w[order[s-tail-1]]
		excess := make([]float64, tail)
		for i := range excess {
			excess[i] = w[order[s-tail+i]] - cut
		}
		if excess[tail-1]-excess[0] <= 1e-14 { // relative to a largest weight of 1
			out.K = math.Inf(-1)
		} else {
			k, sigma := FitPareto(excess)
			// A weak prior at ½ that weighs as much as ten draws (appendix of the paper).
			out.K = (k*float64(tail) + 10*0.5) / float64(tail+10)
			if sigma > 0 && !math.IsInf(sigma, 1) {
				for i := range excess {
					p := (float64(i) + 0.5) / float64(tail)
					w[order[s-tail+i]] = min(cut+quantile(p, out.K, sigma), 1)
				}
			}
		}
	}
	var sum, squares float64
	for _, v := range w {
		sum += v
	}
	for i := range w {
		w[i] /= sum
		squares += w[i] * w[i]
	}
	out.ESS = 1 / squares
	return out, nil
}

// quantile returns a quantile of the generalised Pareto distribution, σ·((1 − p)^−k − 1)/k.
func quantile(p, k, sigma float64) float64 {
	l := -math.Log1p(-p)
	if math.Abs(k) < 1e-12 {
		return sigma * l
	}
	return sigma * math.Expm1(k*l) / k
}

// FitPareto estimates the shape k and the scale σ of the generalised Pareto distribution F(x) = 1 − (1 + kx/σ)^(−1/k) from
// excesses x ≥ 0, ascending, the last of them positive: the mean of the posterior, on a grid of profile likelihoods in θ = −k/σ
// under a weakly informative prior (Zhang and Stephens 2009).
func FitPareto(x []float64) (k, sigma float64) {
	n := len(x)
	// Zhang and Stephens use 20 + √n points; Vehtari et al. use 30 + √n.
	m := 30 + int(math.Sqrt(float64(n)))
	quarter := x[max(0, int(float64(n)/4+0.5)-1)]
	if !(quarter > 0) { // many equal weights at the cut
		quarter = x[n-1] / float64(n)
	}
	theta, log := make([]float64, m), make([]float64, m)
	best := math.Inf(-1)
	for j := range theta {
		theta[j] = 1/x[n-1] + (1-math.Sqrt(float64(m)/(float64(j)+0.5)))/(3*quarter)
		shape := meanLog(theta[j], x)
		log[j] = float64(n) * (math.Log(-theta[j]/shape) - shape - 1)
		if math.IsNaN(log[j]) { // θ = 0, the exponential distribution, to rounding
			log[j] = math.Inf(-1)
		}
		best = max(best, log[j])
	}
	var sum, mean float64
	for j, l := range log {
		w := math.Exp(l - best)
		sum += w
		mean += w * theta[j]
	}
	mean /= sum
	k = meanLog(mean, x)
	return k, -k / mean
}

// meanLog returns the maximum likelihood shape at θ, mean log(1 − θx).
func meanLog(theta float64, x []float64) (k float64) {
	for _, v := range x {
		k += math.Log1p(-theta*v) / float64(len(x))
	}
	return k
}
