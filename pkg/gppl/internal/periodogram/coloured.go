package periodogram

import (
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Coloured searches for bands of frequencies above first, in cycles over the range of times from lo on, at which values at
// times t have more than their mean power: a model with b frequencies at p times the mean power would gain b·(p − 1 − log p)
// nats (Whittle 1953). It returns the end of the highest band whose gain exceeds chance, and the largest gain; 0 if there is
// none.
func Coloured(t, values []float64, lo, span float64, first int) (last int, nats float64) {
	const band = 12
	const chance = 8 // nats in addition to the log of the number of bands
	bands := (len(t)/2 - first) / band
	if bands < 2 {
		return 0, 0
	}
	sums := dense.New(2*band*bands, 1)
	fourier.NewPoints(t, lo, span).Sums(sums, dense.AsColumn(values), first+1, fourier.Tolerance)
	power := make([]float64, bands)
	for i, c := range sums.Data {
		power[i/(2*band)] += c * c / band
	}
	sorted := slices.Clone(power)
	slices.Sort(sorted)
	mean := sorted[bands/2]
	for i, v := range power {
		p := v / mean
		if worth := band * (p - 1 - math.Log(p)); p > 1 && worth > chance+math.Log(float64(bands)) {
			last, nats = first+(i+1)*band, max(nats, worth)
		}
	}
	return last, nats
}
