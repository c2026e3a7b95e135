package series

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// SeasonPeaks returns the lags, from 2 to a third of n, at which the autocorrelation of the differences of y has significant
// peaks, the highest first. It takes at most n²/3 operations.
func SeasonPeaks(y []float64) (lags []int) {
	const beyond, strong, longest = 3, 0.2, 1000 // standard errors of a peak, correlation of a strong one, longest lag in steps
	n := len(y) - 1
	if n < 8 {
		return nil
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = y[i+1] - y[i]
	}
	rho := numeric.Autocorrelation(d, stat.Mean(d, nil), min(n/3, longest)+1)
	for k := 1; k+1 < len(rho); k++ { // k is the index of lag k + 1
		if rho[k] > rho[k-1] && rho[k] >= rho[k+1] && rho[k] > max(strong, beyond/math.Sqrt(float64(n))) {
			lags = append(lags, k+1)
		}
	}
	slices.SortStableFunc(lags, func(a, b int) int { return cmp.Compare(rho[b-1], rho[a-1]) })
	return lags
}

// MostRemembered is the largest number of observations before an origin on which a test of the past conditions.
const MostRemembered = 3000
