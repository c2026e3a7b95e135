package series

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// TypicalError returns the median known error of y or log y over the observations that models were learnt from. For a part of a
// series it returns the median of the whole series, so that models with relative errors can be used on any part.
func (s *Series) TypicalError(log bool) float64 {
	if s.whole != nil {
		return s.whole.TypicalError(log)
	}
	learnt := s.Errors[:s.Learnt()]
	if !log {
		return numeric.UpperMedian(learnt)
	}
	var errs []float64
	for i, e := range learnt {
		if slope := math.Exp(s.Warp().LogSlope(s.Y[i])); slope < math.Inf(1) { // not NaN either
			errs = append(errs, e*slope)
		}
	}
	return numeric.UpperMedian(errs)
}
