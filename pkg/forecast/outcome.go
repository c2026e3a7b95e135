package forecast

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// outcome is what a search finds: the best model, and those that forecasts average.
type outcome struct {
	candidates  []Candidate // the best first, failures last; a random walk follows the others that the forecast averages
	scaling     dataset.Scaling
	log         bool // the best is a model of log y
	result      *gppl.Result
	chosen      Criterion
	effort      string // of the automatic policy; "" if kernels were named
	untried     int    // models that the automatic policy did not try
	projections int    // of the likelihood, or 0 if it is exact
	trained     int    // number of latest observations trained on
	averaged    []*averaged
}

// averaged is one of the models that forecasts average.
type averaged struct {
	kind   candidate
	model  gppl.Model
	log    bool
	weight float64
	// draws are models with parameters drawn from their posterior, equally weighted; if there are none, model stands alone.
	draws []gppl.Model
	shape float64 // of the likelihood of counts; 0 for none
}

// averaged returns a model of the candidate as one of those that forecasts average.
func (c Candidate) averaged(model gppl.Model, log bool, weight float64) averaged {
	return averaged{kind: c.kind, model: model, log: log, weight: weight}
}

// restore completes candidates that were read from a file.
func restore(candidates []Candidate, chosen Criterion) {
	for i := range candidates {
		if candidates[i].kind = candidate(asked{}); chosen == ByEvidence {
			candidates[i].kind = candidateNamed(candidates[i].Kernel)
		}
	}
}

// shortBands is Analysis.ShortBands for n observations.
func shortBands(chosen Criterion, n int) float64 {
	const short = 11
	if chosen != ByEvidence || n > brief {
		return 1
	}
	return math.Sqrt(1 + short*short/(float64(n)*float64(n)))
}
