package forecast

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// memoryShare is the memory that the averaged models, conditioned on the data, may take.
type memoryShare struct {
	bytes  float64 // memory in addition to the series; +Inf for no limit
	models int     // number of models that are conditioned at the same time
}

// most returns the memory, in bytes, that one model may take on any machine. Above it a method that needs less is used.
func (r memoryShare) most() float64 { return modest / float64(r.models) }

// forEach returns the memory, in bytes, that one model may take here.
func (r memoryShare) forEach() float64 { return min(modest, 0.5*r.bytes) / float64(r.models) }

// windows returns how many dense factors of n observations may be held at a time; half of the memory is for what is computed from
// them. It is a *gppl.MemoryError if one does not fit.
func (r memoryShare) windows(n int) (int, error) {
	each := search.DenseBytes(n)
	if err := series.WithinMemory(fmt.Sprintf("the dense factor of %d observations", n), each, r.bytes); err != nil {
		return 0, err
	}
	return int(min(1e6, max(1, 0.5*r.bytes/each))), nil
}

// modest is the memory, in bytes, above which a method that needs less is used if there is one: windows instead of a state space,
// waves instead of an explicit Ω. It does not depend on the machine, so that results do not either.
const modest = 1 << 30

// loadFactor is the memory that Load takes for each byte of a file, for text, numbers and checks, as measured.
const loadFactor = 6.5
