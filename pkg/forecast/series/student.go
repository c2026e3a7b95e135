package series

import (
	"errors"
	"fmt"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
)

// Student says that the noise has Student's t distribution, so that outliers move neither the curve nor the noise variance.
type Student struct {
	Nu float64 `json:"nu"` // degrees of freedom; 0 until they are learnt
}

// errStudent is the error for further observations of a model with Student-t noise.
var errStudent = errors.New("the weights of a model with Student-t noise are learnt from all observations")

const (
	FarOff = 2.5 // relative error over the typical one from which an observation is far off: its weight is then a sixth or less
)

// note describes in a sentence how the values scatter.
func (s *Student) note(errs []float64) string {
	far, typical := 0, numeric.UpperMedian(errs)
	for _, e := range errs {
		if e > FarOff*typical {
			far++
		}
	}
	// With nearlyNormal degrees of freedom, 0.34 % of values are beyond three standard deviations; 0.27 % of normal ones are.
	const nearlyNormal = 100
	if far == 0 && s.Nu >= nearlyNormal {
		return fmt.Sprintf("Observations scatter as a normal distribution does (Student's t with %.0f degrees of freedom); "+
			"none of %d is far off.", s.Nu, len(errs))
	}
	nu := fmt.Sprintf("%.2g", s.Nu)
	if s.Nu >= nearlyNormal {
		nu = fmt.Sprintf("%.0f", s.Nu)
	}
	off := fmt.Sprintf("%d of %d %s far off and %s for less", far, len(errs), text.Are(far), text.Does(far, "count"))
	return fmt.Sprintf("Observations scatter as Student's t with %s degrees of freedom; %s.", nu, off)
}
