package forecast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Learnt is one of the models that forecasts average, with the observations as it sees them.
type Learnt struct {
	Name    string
	Model   gppl.Model
	Log     bool            // the model is of log y
	Scaling dataset.Scaling // maps y, or log y, to what the model sees
	Data    gppl.Data       // observations from which it was learnt, and later ones, standardised
	Typical float64         // standardised known error of a new observation; 0 if errors are relative or there are none
}

// ErrNotPlain says that an analysis is not just one series of Gaussian observations, or has too many for a page to compute with.
var ErrNotPlain = errors.New("not of plain observations")

// Learnt returns the models that forecasts average, the best first, without the draws of their parameters. The error is
// ErrNotPlain for counts, bounds, noise with heavy tails or with a variance that depends on the calendar, regressors, holidays,
// days of the month, events and changes of level, and if the likelihood is predicted to take 50 ms or more.
func (a *Analysis) Learnt(ctx context.Context) ([]Learnt, error) {
	s := a.Series
	for _, more := range []struct {
		there bool
		what  any
	}{
		{s.Counting != nil, "counts"}, {s.Bounds != nil, "bounds"}, {s.Student != nil, "noise with heavy tails"},
		{s.Known != nil, "regressors"}, {s.Holidays != nil, "holidays"}, {s.MonthDays != nil, "effects of days of the month"},
		{len(s.Events) > 0, "events"}, {a.Noise != nil, "noise that depends on the calendar"},
		{len(s.Shifts) > 0, dataset.Message{Of: "Options", Format: "changes of level, which %v leaves out",
			Args: []any{dataset.Setting{Field: "Shifts", Value: "never"}}}},
	} {
		if more.there {
			return nil, dataset.Message{Format: "%v: it has %v", Args: []any{ErrNotPlain, more.what}}
		}
	}
	const slow = 50 * time.Millisecond // a page takes two to ten times as long
	if !a.quick(ctx, slow) {
		return nil, fmt.Errorf("%w: its likelihood takes more than %v, and longer in a page", ErrNotPlain, slow)
	}
	if err := a.Condition(ctx); err != nil {
		return nil, err
	}
	var out []Learnt
	for i, m := range a.members {
		// A page has only the observations from which parameters were learnt, though forecasts may be conditioned on more.
		out = append(out, Learnt{a.Candidates[i].Name(), m.Model, m.Log, m.scale.Scaling,
			search.Latest(m.scale.Data, a.TrainedOn()+len(s.X)-s.Learnt()), m.scale.Typical})
	}
	return out, nil
}

// Smoothness returns variants of the model m, and their names. Its first term that is SE, a Matérn kernel or Laplace has each of
// the others in its place, with the same variance and lengthscale. There are none if m has no such term.
func Smoothness(m gppl.Model) (names []string, models []gppl.Model) {
	terms := search.SumTerms(m.Kernel)
	for i, t := range terms {
		p := t.Params()
		// The term is a random walk if its lengthscale is fixed.
		if len(p) != 2 || p[0].Role != gppl.RoleVariance || p[1].Role != gppl.RoleLengthscale || p[1].IsFixed() {
			continue
		}
		v, l := p[0].Value, p[1].Value
		for _, other := range []gppl.Kernel{
			gppl.SE{Variance: v, Lengthscale: l}, gppl.Matern52{Variance: v, Lengthscale: l},
			gppl.Matern32{Variance: v, Lengthscale: l}, gppl.Laplace{Variance: v, Lengthscale: l},
		} {
			if search.KernelName(other) == search.KernelName(t) {
				continue
			}
			changed := slices.Clone(terms)
			changed[i] = other
			model := gppl.Model{Mean: m.Mean, Kernel: search.SumOf(changed), Noise: m.Noise}
			names, models = append(names, search.KernelName(model.Kernel)), append(models, model)
		}
		return names, models
	}
	return nil, nil
}

// trainedData returns the observations on which the best model was trained.
func (a *Analysis) trainedData(ctx context.Context) (gppl.Data, error) {
	data, err := a.standardised(ctx)
	return search.Latest(data, a.TrainedOn()), err
}

// quick reports whether one evaluation of the likelihood is predicted to take less than the given time (gppl.Exact.Cost).
func (a *Analysis) quick(ctx context.Context, limit time.Duration) bool {
	data, err := a.trainedData(ctx)
	if err != nil {
		return false
	}
	loss, err := gppl.NewExact(ctx, a.Result.Model, data, a.engineMemory())
	if err != nil {
		return false
	}
	_, seconds := loss.Cost(a.Result.Model.Values())
	return seconds < limit.Seconds()
}

// Periodogram compares the standardised series with what the model expects, frequency by frequency.
func (a *Analysis) Periodogram(ctx context.Context) (*gppl.Periodogram, error) {
	data, err := a.standardised(ctx)
	if err != nil {
		return nil, err
	}
	return a.Result.Model.Periodogram(ctx, data)
}
