package forecast

import (
	"fmt"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// patience is the predicted time above which a named kernel is refused without a budget.
const patience = 24 * time.Hour

const (
	// typicalShare of the evaluations that a training may take is what it takes on average.
	typicalShare = 0.6
	// fewestEvaluations is the least number of evaluations that makes a training.
	fewestEvaluations = 10
)

// BudgetError is the error of a named kernel whose training is predicted to exceed the budget, however short.
type BudgetError struct {
	Kernel          string
	Needed, Allowed time.Duration // predicted; Allowed is the share of the kernel in the budget
	Budget          bool          // Options.Budget is set
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("forecast: training %s would take about %v by the forecast, and it may take %v", e.Kernel, rounded(e.Needed), rounded(e.Allowed))
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// allowance is the predicted seconds that one candidate may take: what looking at the series, its projections and the checks of the model
// leave of the budget is shared by the candidates and the last training of the best.
func (t *trainer) allowance() float64 {
	if t.options.Budget <= 0 {
		return patience.Seconds()
	}
	return max(0, t.options.Budget.Seconds()-t.beside) / float64(t.count+1)
}

// rowSeconds is the predicted time of one look at an observation: standardising, searching periods, reading again what was read.
const rowSeconds = 3e-7

// lookSeconds predicts a look at a series of n observations, and checkSeconds the checks of the residuals and of past forecasts, which
// factorise two dense matrices.
func lookSeconds(n int) float64 { return rowSeconds * float64(n) }

func checkSeconds(n int) float64 {
	size := float64(min(n, checked))
	return 2*size*size*size/3/coreFlops + lookSeconds(n)
}

// formSeconds predicts the forming of k projections of n observations: their directions, made orthonormal, and their products with the
// data.
func formSeconds(n, k int) float64 { return 8 * float64(n) * float64(k) * float64(k) / coreFlops }

// affordable is the predicted seconds that an evaluation may take: most, or what leaves room for a training within the budget.
func (t *trainer) affordable(most float64) float64 {
	const evaluations = 40 // of a training
	return min(most, t.allowance()/evaluations)
}

// lastEvaluations bounds the evaluations of the last training of the best, beside those of its standard errors: two gradients for each
// parameter.
func (t *trainer) lastEvaluations(m gppl.Model) (int, error) {
	const most = 60
	if t.options.Budget <= 0 {
		return most, nil
	}
	seconds, err := t.cost(m, t.data)
	if err != nil {
		return 0, err
	}
	return max(fewestEvaluations, min(most, int(t.allowance()/seconds)-2*len(m.Params()))), nil
}

// schedule says how the training of one named kernel is cut to what it may take.
type schedule struct {
	random int // starts around each start
	few    int // evaluations of each on few observations
	all    int // evaluations of the last training, on all
}

// plan cuts the work on a candidate with a number of starts to the allowance, in predicted seconds: first random starts, then
// evaluations. What the search is predicted to take is subtracted first. It is a BudgetError if the least is too much. An evaluation takes
// few seconds on the few observations, and all seconds on all; few is 0 if there is only one stage.
func (t *trainer) plan(kernel string, starts int, few, all float64) (schedule, error) {
	const most = 200
	p := schedule{random: t.random, few: most, all: most}
	if t.options.Budget <= 0 { // what is predicted to take longer than anyone waits is refused, nothing is cut
		if needed := fewestEvaluations * all; needed > patience.Seconds() {
			return p, &BudgetError{Kernel: kernel, Needed: time.Duration(min(1e9, needed) * 1e9), Allowed: patience}
		}
		return p, nil
	}
	allowed := t.allowance() - t.searched
	first, each := 0.3*allowed, few
	if few == 0 { // one stage
		each, first = all, allowed
	}
	trainings := float64(starts) * each * typicalShare
	p.random = max(0, min(p.random, int(first/(trainings*most))-1))
	p.few = max(fewestEvaluations, min(most, int(first/(trainings*float64(1+p.random)))))
	if few == 0 {
		if needed := float64(starts) * fewestEvaluations * all; needed > allowed {
			return p, t.over(kernel, needed, allowed)
		}
		return p, nil
	}
	left := allowed - trainings*float64((1+p.random)*p.few)
	p.all = max(fewestEvaluations, min(most, int(left/(typicalShare*all))))
	if needed := float64(starts)*fewestEvaluations*few + fewestEvaluations*all; needed > allowed {
		return p, t.over(kernel, needed, allowed)
	}
	return p, nil
}

func (t *trainer) over(kernel string, needed, allowed float64) error {
	seconds := func(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }
	return &BudgetError{Kernel: kernel, Needed: seconds(needed), Allowed: seconds(allowed), Budget: true}
}

// cost predicts the seconds of an evaluation of the likelihood of d at m.
func (t *trainer) cost(m gppl.Model, d gppl.Data) (float64, error) {
	loss, err := t.loss(m, d, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return 0, err
	}
	switch loss := loss.(type) {
	case *gppl.Exact:
		_, seconds := loss.Cost(loss.Model(m.Values()))
		return seconds, nil
	case *gppl.Projected:
		return loss.Cost(loss.Model(m.Values())), nil
	}
	return 0, nil
}
