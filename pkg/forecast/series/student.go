package series

import (
	"errors"
	"fmt"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
)

// Student says that the observations scatter about the curve like Student's t: outliers then move neither the curve nor the noise
// of the other observations.
type Student struct {
	Nu float64 `json:"nu"` // degrees of freedom; 0 until they are learnt
}

// errStudent says that a model with Student-t noise takes no further observations.
var errStudent = errors.New("the weights of a model with Student-t noise are learnt from all observations")

const (
	FarOff = 2.5 // relative error over the typical one at which an observation is far off: its weight is then a sixth
)

// note describes in a sentence how the values scatter.
func (s *Student) note(errs []float64) string {
	far, typical := 0, numeric.UpperMedian(errs)
	for _, e := range errs {
		if e > FarOff*typical {
			far++
		}
	}
	const nearlyNormal = 100 // degrees of freedom: 0.34 % are beyond three standard deviations; 0.27 % for a normal distribution
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
