package observed

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Exposures holds intervals of time about the inputs. Their starts and ends are exact, for any origin of the inputs.
type Exposures struct {
	Line                 // the ends, counted from Origin
	Origin       float64 // the first input
	Starts, Ends []doubled.Float
	Lengths      []float64 // in the order of the line, like Starts and Ends
}

// negligible is the largest share of an exposure that may be cut: less than the rounding of its average.
const negligible = 0x1p-50

// ExposuresOf returns exposures of the given lengths about x, none negative. It returns an error if one ends beyond float64.
// Of two that overlap by no more than rounding, the later is cut.
func ExposuresOf(x, exposure []float64) (*Exposures, error) {
	e := &Exposures{Origin: slices.Min(x)}
	ends := make([]doubled.Float, len(x))
	for i, d := range exposure {
		ends[i] = doubled.Difference(x[i], e.Origin).Add(doubled.Of(0.5 * d))
		if !numeric.IsFinite(ends[i].Hi) {
			return nil, fmt.Errorf("exposure[%d] = %v about x[%d] = %v ends beyond the range of numbers", i, d, i, x[i])
		}
	}
	order := timeline.Range(0, len(x))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(ends[a].Hi, ends[b].Hi), cmp.Compare(ends[a].Lo, ends[b].Lo))
	})
	for _, i := range order {
		e.T = append(e.T, ends[i].Hi)
	}
	if !slices.IsSorted(order) {
		e.Order = order
	}
	e.Lo, e.Span = e.T[0], e.T[len(x)-1]-e.T[0]
	for i := range x {
		at := e.Input(i)
		length := exposure[at]
		start := ends[at].Sub(doubled.Of(length))
		if i > 0 {
			overlap := e.Ends[i-1].Sub(start).Hi
			if shorter := min(length, e.Lengths[i-1]); overlap > 0 && overlap <= negligible*shorter {
				start = e.Ends[i-1]
			}
		}
		e.Starts, e.Ends, e.Lengths = append(e.Starts, start), append(e.Ends, ends[at]), append(e.Lengths, length)
	}
	return e, nil
}
