package toeplitz

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Lags is a sample of the lags of a grid, which estimates sums over all lags of a function. It is immutable.
type Lags struct {
	at, weight []float64 // lags, and the number of lags that each represents
}

// nearLags is the number of lags, where covariances are steep, that the sample has completely. It has about as many of the
// others, with a margin.
const nearLags = 128

// besideLags are offsets from a lag, in steps, at which slopes are sampled: at the lags alone, a function whose period divides
// the step looks flat. No period divides these offsets.
var besideLags = [...]float64{0, 0.3090169943749474, -0.1180339887498949, 0.0450849718747371}

// SampleLags samples all lags, the far ones at uneven intervals, so that no period divides them.
func SampleLags(all []float64) (s Lags) {
	n := len(all)
	near := min(nearLags, n)
	for _, lag := range all[:near] {
		s.at, s.weight = append(s.at, lag), append(s.weight, 1)
	}
	stride := (n-near)/nearLags + 1
	weight := 1.0
	if stride > 1 {
		weight = 2 * float64(stride)
	}
	const golden = 0.6180339887498949
	for d := near; d < n; d += stride {
		_, u := math.Modf(golden * float64(d/stride))
		at := min(d+int(u*float64(stride)), n-1)
		s.at, s.weight = append(s.at, all[at]), append(s.weight, weight)
	}
	return s
}

// lagScratch has working memory for the largest number of lags, 2·nearLags + 1.
var lagScratch parallel.Pool[[3][2*nearLags + 1]float64]

// Size estimates Σ_d |k(d·step)|; f sets dst to k at r.
func (s *Lags) Size(f func(dst, r []float64)) float64 {
	scratch := lagScratch.Get()
	defer lagScratch.Put(scratch)
	w := scratch[0][:len(s.at)]
	f(w, s.at)
	return s.sum(w)
}

// Steepness estimates Σ_d |k′|, with the largest value near d·step; f sets dst to k′ at r.
func (s *Lags) Steepness(f func(dst, r []float64), step float64) float64 {
	scratch := lagScratch.Get()
	defer lagScratch.Put(scratch)
	w, r, most := scratch[0][:len(s.at)], scratch[1][:len(s.at)], scratch[2][:len(s.at)]
	clear(most)
	for _, part := range besideLags {
		copy(r, s.at)
		for i := 1; i < len(r); i++ { // two inputs are at least one step apart
			r[i] += part * step
		}
		f(w, r)
		for i, v := range w {
			most[i] = max(most[i], math.Abs(v))
		}
	}
	return s.sum(most)
}

// sum returns the sum of absolute values, each weighted by its lag.
func (s *Lags) sum(values []float64) (total float64) {
	for i, v := range values {
		total += s.weight[i] * math.Abs(v)
	}
	return total
}
