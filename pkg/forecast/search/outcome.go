package search

import (
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Outcome is the result of a search: the best model, and the models that forecasts average.
type Outcome struct {
	Candidates []Candidate // the best first, failures last; a random walk follows the others that the forecast averages
	Scaling    dataset.Scaling
	Log        bool // the best is a model of log y
	Result     *gppl.Result
	Effort     string
	Untried    int // models that were not tried, since the budget was used up
	Trained    int // number of latest observations trained on
	Averaged   []*Averaged
}

// Averaged is one of the models that forecasts average.
type Averaged struct {
	candidate candidate
	fix       func(gppl.Model) gppl.Model // taken from the proposal; nil for none, and for a model from a file
	Model     gppl.Model
	Log       bool
	Weight    float64
	// Draws are models with parameters drawn from their posterior, equally weighted; if there are none, Model stands alone.
	Draws []gppl.Model
	Shape float64 // shape of the likelihood of counts; 0 for none
}

// Averaged returns a model of the candidate as one of those that forecasts average.
func (c Candidate) Averaged(model gppl.Model, log bool, weight float64) Averaged {
	return Averaged{candidate: c.candidate, Model: model, Log: log, Weight: weight}
}

// Restore completes candidates that were read from a file.
func Restore(candidates []Candidate) {
	for i := range candidates {
		candidates[i].candidate = candidateNamed(candidates[i].Kernel)
	}
}
