package statespace

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Exposures of a Filter: the strides into and between its inputs.

// SetExposures sets the exposures that end at the inputs, for blocks of Exposed processes. The filter keeps them.
func (f *Filter) SetExposures(s *Schedule) {
	if len(s.ends) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d exposures at %d inputs", len(s.ends), len(f.t)))
	}
	f.system.exposures = s
}

// strideInto returns the step into input i.
func (f *Filter) strideInto(ws *windows, i int) *stride {
	ws.steps.into(f.system.exposures, i)
	return &ws.steps
}

// halfway returns the step from the input before i to a place between or, if onward, from there to input i. Exposures open at
// the place continue in the second step.
func (f *Filter) halfway(ws *windows, i int, place doubled.Float, onward bool) *stride {
	s := f.system.exposures
	if onward {
		ws.steps.onward(s, i, place)
	} else {
		ws.steps.until(s, i, place, false)
	}
	return &ws.steps
}
