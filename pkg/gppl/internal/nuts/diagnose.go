package nuts

import (
	"cmp"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Diagnosis says whether the draws of one quantity by several chains are usable.
type Diagnosis struct {
	// RHat is the larger of the rank-normalised split R̂ of the draws and of their distances from the median: 1 if all halves
	// of the chains have the same distribution, at most 1.01 for usable draws.
	RHat float64
	// Bulk and Tail are effective numbers of draws: for the middle of the distribution, and the smaller one for the quantiles
	// at 5 and 95 %.
	Bulk, Tail float64
}

// Diagnose computes R̂ and effective sizes as Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021) do, from chains of equal
// length, at least four. The numbers are NaN for fewer draws, or if all are equal.
func Diagnose(chains [][]float64) Diagnosis {
	halves := split(chains)
	if halves == nil {
		return Diagnosis{math.NaN(), math.NaN(), math.NaN()}
	}
	all := slices.Concat(halves...)
	sorted := slices.Sorted(slices.Values(all))
	quantile := func(p float64) float64 { return sorted[int(p*float64(len(sorted)-1))] }
	each := func(f func(v float64) float64) [][]float64 {
		out := make([][]float64, len(halves))
		for i, half := range halves {
			for _, v := range half {
				out[i] = append(out[i], f(v))
			}
		}
		return out
	}
	median := quantile(0.5)
	ranks := normalised(halves)
	d := Diagnosis{
		RHat: max(rHat(ranks), rHat(normalised(each(func(v float64) float64 { return math.Abs(v - median) })))),
		Bulk: effective(ranks),
		Tail: math.Inf(1),
	}
	for _, p := range []float64{0.05, 0.95} {
		at := quantile(p)
		size := effective(each(func(v float64) float64 {
			if v <= at {
				return 1
			}
			return 0
		}))
		d.Tail = min(d.Tail, size)
	}
	return d
}

// split returns the halves of the chains, nil if they are too short.
func split(chains [][]float64) (halves [][]float64) {
	for _, c := range chains {
		n := len(c) / 2
		if n < 2 {
			return nil
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	return halves
}

// normalised replaces values by the normal quantiles of their ranks among all values; equal values share their mean rank.
func normalised(chains [][]float64) [][]float64 {
	type place struct{ chain, at int }
	var order []place
	out := make([][]float64, len(chains))
	for i, c := range chains {
		out[i] = make([]float64, len(c))
		for j := range c {
			order = append(order, place{i, j})
		}
	}
	value := func(p place) float64 { return chains[p.chain][p.at] }
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(value(a), value(b)) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && value(order[to]) == value(order[from]) {
			to++
		}
		rank := 0.5 * float64(from+1+to)
		z := numeric.NormalQuantile((rank - 0.375) / (float64(len(order)) + 0.25))
		for _, p := range order[from:to] {
			out[p.chain][p.at] = z
		}
		from = to
	}
	return out
}

// moments returns the mean variance within chains and the variance of their means times their length.
func moments(chains [][]float64) (within, between float64) {
	m, n := float64(len(chains)), float64(len(chains[0]))
	means := make([]float64, len(chains))
	var grand float64
	for i, c := range chains {
		for _, v := range c {
			means[i] += v / n
		}
		grand += means[i] / m
	}
	for i, c := range chains {
		for _, v := range c {
			within += (v - means[i]) * (v - means[i]) / (n - 1) / m
		}
		between += n * (means[i] - grand) * (means[i] - grand) / (m - 1)
	}
	return within, between
}

func rHat(chains [][]float64) float64 {
	within, between := moments(chains)
	n := float64(len(chains[0]))
	return math.Sqrt(((n-1)/n*within + between/n) / within)
}

// effective returns the number of draws over 1 + 2Σρ_t, with the autocorrelations ρ_t of all chains cut off by Geyer's initial
// monotone sequence.
func effective(chains [][]float64) float64 {
	within, between := moments(chains)
	n, m := len(chains[0]), len(chains)
	total := float64(n * m)
	above := float64(n-1)/float64(n)*within + between/float64(n)
	if !(within > 0) {
		return math.NaN()
	}
	centred := make([][]float64, m)
	for i, c := range chains {
		var mean float64
		for _, v := range c {
			mean += v / float64(n)
		}
		for _, v := range c {
			centred[i] = append(centred[i], v-mean)
		}
	}
	rho := func(t int) float64 {
		var covariance float64
		for _, c := range centred {
			for i := range n - t {
				covariance += c[i] * c[i+t]
			}
		}
		covariance /= float64(n * m)
		return 1 - (float64(n-1)/float64(n)*within-covariance)/above
	}
	sum, last := -1.0, math.Inf(1)
	for t := 0; t+1 < n; t += 2 {
		first := 1.0
		if t > 0 {
			first = rho(t)
		}
		pair := first + rho(t+1)
		if pair < 0 {
			break
		}
		last = min(last, pair)
		sum += 2 * last
	}
	return total / max(sum, 1/math.Log10(total))
}
