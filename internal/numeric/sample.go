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
	if share == 0 { // what is beside it may be infinite
		return values[int(i)]
	}
	return (1-share)*values[int(i)] + share*values[int(i)+1]
}

// Median returns the median of values in any order; NaN of none.
func Median(values []float64) float64 {
	return SortedQuantile(slices.Sorted(slices.Values(values)), 0.5)
}
