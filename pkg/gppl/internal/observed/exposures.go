package observed

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/finite"
)

// mostOverlap is the share of an exposure by which it may overlap another.
const mostOverlap = 0.01

// Exposures returns the ends of exposures around x as a line, and their lengths in the line's order. Of two that overlap by no
// more than a hundredth of the shorter, the later is cut; it is an error if they overlap by more, or if one is negative or not
// finite.
func Exposures(x, exposure []float64) (*Line, []float64, error) {
	ends := make([]float64, len(exposure))
	for i, e := range exposure {
		if !(e >= 0 && finite.Is(e)) {
			return nil, nil, fmt.Errorf("exposure[%d] = %v: want a finite number, not negative", i, e)
		}
		ends[i] = x[i] + 0.5*e
	}
	l := Sorted(ends)
	lengths := make([]float64, len(exposure))
	for i := range lengths {
		at := l.Input(i)
		if lengths[i] = exposure[at]; i == 0 {
			continue
		}
		before := l.Input(i - 1)
		overlap := lengths[i] - (l.T[i] - l.T[i-1])
		if shorter := min(lengths[i], exposure[before]); overlap > mostOverlap*shorter+0x1p-50*math.Abs(l.T[i]) {
			return nil, nil, fmt.Errorf("the exposures at x[%d] = %v and x[%d] = %v overlap by %.3g: exposures one after another"+
				" are needed", before, x[before], at, x[at], overlap)
		}
		lengths[i] -= max(0, overlap)
	}
	return l, lengths, nil
}
