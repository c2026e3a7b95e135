package search

import (
	"cmp"
	"context"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// candidate is a kind of model that may have a part in a forecast. All are Gaussian processes, so training, evidence,
// conditioning and predictive distributions are the same for all (policy, member): a candidate says only what differs. A new one
// is a file with its methods, and an entry in candidates.
type candidate interface {
	// name returns the name of a sum of its terms in tables and files. named reports whether a model of that name is one of its
	// own.
	name(terms []gppl.Kernel) string
	named(name string) bool
	// propose returns the models to train in a search, or none if the candidate does not apply. A candidate with a fixed share is
	// asked last.
	propose(in *task) ([]proposal, error)
	// grown reports whether the search may add terms to its best model.
	grown() bool
	// takesPart reports whether its trained model t is averaged with the other models in the forecast.
	takesPart(in *task, t *trial) bool
	// share is the weight of its model in a forecast from n observations; fixed is false if the evidence decides it.
	share(n int) (weight float64, fixed bool)
	// prior replaces the weak prior of the i-th parameter of a model; a Sigma of 0 removes it. If ok is false the weak prior
	// stays.
	prior(m gppl.Model, i int, e extent) (p prior.LogNormal, ok bool)
	// slope returns the prior variance of the slope of a linear trend in its models, for n observations.
	slope(n int) float64
	// odds returns the log prior odds of a model, in nats: the evidence of other models must be higher by this much.
	odds(k gppl.Kernel) float64
	// says returns what a table and the summary add about its model in a forecast; "" for nothing.
	says(weight float64) (note, summary string)
}

// proposal is a model to train: with one scale and mean, or with all scales and trends of the search.
type proposal struct {
	terms []gppl.Kernel
	noise float64
	only  *place // nil for all
	// fix holds parameters of the model at their values; nil if only policy.hold does.
	fix func(gppl.Model) gppl.Model
}

// place is a scale, given by its index in task.scales, with a trend and its mean.
type place struct {
	scale int
	trend string
	mean  gppl.Mean
}

// task is the state of a search that candidates see.
type task struct {
	ctx     context.Context
	options Options
	plan    Plan
	series  *series.Series
	scales  []YScale // the scales, y and log y, of the observations on which structures are compared
	extent  extent
	seasons []season
	trends  []string
	trials  []*trial // the best first
}

// byEvidence implements the methods of a candidate that is weighed by its evidence, with the weak priors of the roles.
type byEvidence struct{}

func (byEvidence) name(terms []gppl.Kernel) string { return KernelName(SumOf(terms)) }

func (byEvidence) grown() bool { return true }

func (byEvidence) takesPart(*task, *trial) bool { return true }

func (byEvidence) share(int) (weight float64, fixed bool) { return 0, false }

func (byEvidence) prior(gppl.Model, int, extent) (p prior.LogNormal, ok bool) {
	return prior.LogNormal{}, false
}

func (byEvidence) slope(n int) float64 { return slopeOf(n) }

func (byEvidence) odds(gppl.Kernel) float64 { return 0 }

func (byEvidence) says(float64) (note, summary string) { return "", "" }

// Candidate is a model that was tried.
type Candidate struct {
	Kernel string `json:"kernel"`
	// Seasons names the period of each periodic term and factor, in order: day, week, year or a length.
	Seasons     []string `json:"seasons,omitempty"`
	Trend       string   `json:"trend"`            // linear, quadratic or none
	Log         bool     `json:"log,omitempty"`    // a model of log y
	Scale       string   `json:"scale,omitempty"`  // the transformation of y if it is not log y: "log odds" between bounds
	NLL         float64  `json:"nll"`              // nats, of y
	Score       float64  `json:"score,omitempty"`  // nats, the negative log evidence
	Rough       bool     `json:"rough,omitempty"`  // Score has the penalty of BIC: the curvature is not positive definite
	Weight      float64  `json:"weight,omitempty"` // in the average of forecasts
	BIC         float64  `json:"bic"`              // 2·NLL + Parameters·log n (Schwarz 1978), to compare with other programs
	Parameters  int      `json:"parameters"`       // trained, noise included
	Model       string   `json:"model"`
	Status      string   `json:"status"` // outcome of training (gppl.Status), or LeftOut
	Engine      string   `json:"engine"`
	Evaluations int      `json:"evaluations"`
	Seconds     float64  `json:"seconds"`
	// Error says why the candidate could not be trained; its NLL and BIC are then 0.
	Error string `json:"error,omitempty"`

	candidate candidate
}

// Name returns the kernel, the seasons if there are several, the trend and the scale of the candidate.
func (c Candidate) Name() string {
	name := c.Kernel
	if len(c.Seasons) > 1 {
		name += " (" + strings.Join(c.Seasons, ", ") + ")"
	}
	if c.Trend != "" && c.Trend != "none" {
		name += ", " + c.Trend + " trend"
	}
	switch {
	case c.Log && c.Scale != "":
		name += ", of the " + c.Scale
	case c.Log:
		name += ", of the logarithm"
	}
	return name
}

// FixedWeight reports whether the weight is fixed whatever the evidence, and what a table and the summary say about it.
func (c Candidate) FixedWeight() (fixed bool, note, summary string) {
	_, fixed = c.candidate.share(0)
	note, summary = c.candidate.says(c.Weight)
	return fixed, note, summary
}

// before compares two candidates by their values own and others; failures come last.
func (c Candidate) before(other Candidate, own, others float64) int {
	return cmp.Or(cmp.Compare(min(1, len(c.Error)), min(1, len(other.Error))), cmp.Compare(own, others))
}

// describe sets the fields that a result and c.NLL determine.
func (c *Candidate) describe(r *gppl.Result, n int) {
	c.Parameters = 0
	for _, p := range r.Params {
		if !p.Param.IsFixed() {
			c.Parameters++
		}
	}
	c.BIC = bic(c.NLL, c.Parameters, n)
	c.Model, c.Status, c.Engine = r.Model.String(), string(r.Status), r.Engine
}

// trial is a candidate that was trained.
type trial struct {
	Candidate
	scale     int
	structure string                      // names the candidate and the terms
	fix       func(gppl.Model) gppl.Model // taken from the proposal
	model     gppl.Model                  // before training, its start
	shape     float64                     // shape of the likelihood of counts; 0 for none
	score     float64                     // negative log evidence of y, in nats; +Inf if it failed
	cost      float64                     // predicted seconds of the training, at the cost of an evaluation where it ended
	curvature *mat.SymDense               // Hessian of −log likelihood in the logs of the parameters with priors; nil if unknown
	learnt    int                         // number of observations it was trained on
}
