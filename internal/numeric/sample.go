package numeric

import (
	"math"
	"slices"
)

// SortedQuantile returns the quantile at level p of values in ascending order, linear between two of them (R's type 7); NaN of
// none.
func SortedQuantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	i, share := math.Modf(p * float64(len(values)-1))
	if share == 0 { // the next value may be infinite
		return values[int(i)]
	}
	return (1-share)*values[int(i)] + share*values[int(i)+1]
}

// Median returns the median of values in any order; NaN of none.
func Median(values []float64) float64 {
	return SortedQuantile(slices.Sorted(slices.Values(values)), 0.5)
}

// UpperMedian returns the median of values in any order; if their number is even, the upper of the two in the middle. It panics
// if there are none.
func UpperMedian(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// MedianDistance returns the median distance of the values from their median, which outliers hardly move. It panics if there are
// none.
func MedianDistance(values []float64) float64 {
	middle := UpperMedian(values)
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - middle)
	}
	return UpperMedian(distances)
}

// Clipped returns the values, limited to five standard deviations from their median, where a standard deviation is 1.4826 times
// the median distance, as for a normal distribution: one in two million normal values is clipped. Values with a median distance
// of 0 are returned as they are.
func Clipped(values []float64) []float64 {
	const far, normal = 5, 1.4826
	middle, bound := UpperMedian(values), far*normal*MedianDistance(values)
	if !(bound > 0) {
		return values
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = min(max(v, middle-bound), middle+bound)
	}
	return out
}

// Autocorrelation returns the autocorrelation of e, with the given mean, at the lags 1, …, lags: 0 if e is constant.
func Autocorrelation(e []float64, mean float64, lags int) []float64 {
	rho := make([]float64, lags)
	var total float64
	for _, v := range e {
		total += (v - mean) * (v - mean)
	}
	for h := range rho {
		for i := h + 1; i < len(e); i++ {
			rho[h] += (e[i] - mean) * (e[i-h-1] - mean)
		}
		if total > 0 {
			rho[h] /= total
		}
	}
	return rho
}
