package search

import (
	"context"
	"fmt"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// patience is the predicted time above which a named kernel is refused without a budget.
const patience = 24 * time.Hour

// fewestEvaluations is the least number of evaluations of a training.
const fewestEvaluations = 10

// BudgetError is the error of a named kernel whose shortest training is predicted to exceed the budget.
type BudgetError struct {
	Kernel          string
	Needed, Allowed time.Duration // predicted; Allowed is the share of the kernel in the budget
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("forecast: training %s is predicted to take %v; the budget allows %v",
		e.Kernel, rounded(e.Needed), rounded(e.Allowed))
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// allowance is the predicted time in seconds that one candidate may take. The candidates share what looking at the series, its
// projections and the checks of the model leave of the budget; one more share is for standard errors.
func (t *trainer) allowance() float64 {
	if t.options.Budget <= 0 {
		return patience.Seconds()
	}
	return max(0, t.options.Budget.Seconds()-t.beside) / float64(t.count+1)
}

// rowSeconds is the predicted time of one look at an observation: standardising, searching periods, reading it again.
const rowSeconds = 3e-7

// lookSeconds predicts a look at a series of n observations, and checkSeconds the checks of the residuals and of past forecasts,
// which factorise two dense matrices.
func lookSeconds(n int) float64 { return rowSeconds * float64(n) }

func checkSeconds(n int) float64 {
	size := float64(min(n, MostChecked))
	return 2*size*size*size/3/coreFlops + lookSeconds(n)
}

// formSeconds predicts the time to form k projections of n observations: their orthonormal directions, and the products with the
// data.
func formSeconds(n, k int) float64 { return 8 * float64(n) * float64(k) * float64(k) / coreFlops }

// affordable is the predicted time in seconds that an evaluation may take: most, or what leaves room for a training in the
// budget.
func (t *trainer) affordable(most float64) float64 {
	const evaluations = 40 // of a training
	return min(most, t.allowance()/evaluations)
}

// limit bounds the evaluations of the likelihood in the training of each of some families of a candidate: in predicted seconds by
// what the search leaves of its allowance or, without a budget, by what swift gives. They are counted in units of one at the
// first start or, without a budget, of the fastest at any start; slower ones count for more, since a start may fit the noise by
// columns that the optimum does not need. It returns a BudgetError if these are too few, or if they would take longer than
// patience.
func (t *trainer) limit(s *gppl.Settings, starts []gppl.Model, families int) (err error) {
	seconds, err := t.cost(starts[0])
	if err != nil {
		return err
	}
	if s.MaxEvaluations, err = t.afforded(seconds * float64(families)); err != nil {
		return err
	}
	s.EvaluationSeconds = seconds
	if t.options.Budget > 0 {
		return nil
	}
	for _, m := range starts[1:] {
		other, err := t.cost(m)
		if err != nil {
			return err
		}
		s.EvaluationSeconds = min(s.EvaluationSeconds, other)
	}
	s.MaxEvaluations = int(min(mostEvaluations, float64(s.MaxEvaluations)*seconds/s.EvaluationSeconds))
	return nil
}

// mostEvaluations bounds the evaluations of a training without a time limit.
const mostEvaluations = 1e6

// afforded returns the number of evaluations that the limits allow if each takes this many seconds.
func (t *trainer) afforded(seconds float64) (int, error) {
	least, allowed := fewestEvaluations*seconds, t.allowance()-t.searched
	if least > allowed {
		in := func(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }
		return 0, &BudgetError{Kernel: t.candidate, Needed: in(least), Allowed: in(allowed)}
	}
	if t.options.Budget <= 0 {
		allowed = max(leastSteps*seconds, swift*min(10, max(1, float64(t.data.Len())/swiftFor)))
	}
	return int(min(mostEvaluations, allowed/seconds)), nil
}

// cost predicts the seconds of an evaluation of the likelihood of the data at m.
func (t *trainer) cost(m gppl.Model) (float64, error) {
	loss, err := t.loss(context.Background(), m, t.data)
	if err != nil {
		return 0, err
	}
	return gppl.Seconds(loss, m.Values()), nil
}

// MostChecked is the number of latest observations that the residual checks factorise densely, in about a second.
const MostChecked = 2500
