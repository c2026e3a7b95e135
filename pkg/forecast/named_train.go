package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// A named kernel is trained from what the search of the library finds (auto.FindStarts).

const (
	// firstSteps are the evaluations after which the better starts are known from the others, and furtherSteps those that the best then take on
	// a part of the data.
	firstSteps, furtherSteps = 12, 40
	// toTheEnd is the number of starts that are trained to the end.
	toTheEnd = 2
	// quickSeconds is the predicted time of an evaluation up to which several starts are trained on all observations. Above, they are
	// trained on a part (auto.Starts.Part), and only the best on all.
	quickSeconds = 0.02
	// swift is the predicted time that the training on all of swiftFor observations may take without a budget, and on more in proportion, as
	// long as it has leastSteps evaluations, or againSteps with another trend: steps in units of standard errors then end within tenths of a
	// nat of the optimum.
	swift, swiftFor        = 3.0, 2000
	leastSteps, againSteps = 8, 4
	// unsearchedStarts is the least number of random starts where nothing was searched.
	unsearchedStarts = 3
	// looseGradient replaces gradientTolerance where an evaluation takes more than quickSeconds: some hundredths of a nat.
	looseGradient = 0.2
)

// search finds where the training of k begins. It is done once for each kernel and scale, with the first trend; other trends begin at the
// same starts, unless train has it done anew.
func (t *trainer) search(ctx context.Context, k gppl.Kernel) (*auto.Starts, error) {
	t.searched = 0
	if found, ok := t.found[kernelName(k)]; ok {
		return found, nil
	}
	t.stage = "searching for starts"
	t.report(math.Inf(1))
	var all *auto.Starts
	for _, m := range t.families(k) {
		settings := auto.Settings{Priors: priorsOf(m, t.options.Priors, t.scaling.Scale), Fit: gppl.Settings{Seed: t.options.Seed}}
		unsearched := t.unsearched(k)
		if unsearched != "" {
			m, settings.KeepStart = auto.StartFrom(m, t.data), true
		} else {
			t.searched += searchSeconds(k, t.data.Len())
		}
		found, err := auto.FindStarts(ctx, m, t.data, settings)
		if err != nil {
			return nil, err
		}
		if unsearched != "" {
			found.Doubts = []string{unsearched}
		}
		t.evaluations += found.Search.Evaluations
		if all == nil {
			all = found
		} else {
			all.Models = append(all.Models, found.Models...)
		}
	}
	t.found[kernelName(k)] = all
	return all, nil
}

// unsearched says why the search of k is left out: it would exceed the budget or the memory. It is "" if neither.
func (t *trainer) unsearched(k gppl.Kernel) string {
	const plain = "not searched: training began at start values from the data alone, since a search would take about"
	n := t.data.Len()
	if needed, allowed := searchSeconds(k, n), searchShare*t.allowance()-t.searched; needed > allowed {
		return fmt.Sprintf("%s %.2g s by the forecast and the budget leaves %.2g s", plain, needed, allowed)
	}
	if needed := searchedBytes(k, n); t.options.Memory > 0 && needed > 0.5*t.options.Memory {
		return fmt.Sprintf("%s %.0f MB", plain, needed/1e6)
	}
	return ""
}

// families returns the models to search: that of k or, if periods are given and k has one, one for each with its period fixed there.
func (t *trainer) families(k gppl.Kernel) (models []gppl.Model) {
	plain := gppl.Model{Kernel: k, Noise: 1, Mean: t.mean}.FixRedundant()
	if len(periodsOf(k.Params())) != 1 || len(t.options.Periods) == 0 {
		return []gppl.Model{plain}
	}
	for _, period := range t.options.Periods {
		theta := plain.Values()
		var names []string
		for i, p := range plain.Params() {
			if p.Role == gppl.RolePeriod {
				theta[i] = period
				names = append(names, p.Name)
			}
		}
		models = append(models, plain.WithParams(theta).Fix(names...))
	}
	return models
}

// trained is a named kernel after its training: doubts are those of the comparison with aliases.
type trained struct {
	*gppl.Result
	found  *auto.Starts
	doubts []string
}

// astray is by how many nats a trend may end above what the kernel reached with another before its search is done anew: the trends
// differ by some nats unless the kernel ends at other scales.
const astray = 10

// train learns the parameters of k from the starts of the search and any others. A search that was done with another trend is done anew
// if the result is astray.
func (t *trainer) train(ctx context.Context, k gppl.Kernel, others []gppl.Model) (trained, error) {
	name := kernelName(k)
	_, again := t.found[name]
	out, err := t.trainFound(ctx, k, others, again)
	if err != nil {
		return out, err
	}
	reached, known := t.reached[name]
	switch {
	case !again || !known || out.Value <= reached+astray:
	case t.options.Budget > 0:
		out.Status = gppl.Doubtful
		out.Warnings = append(out.Warnings, fmt.Sprintf("not searched with this trend: another ends %.3g nats lower, and the budget leaves no time", out.Value-reached))
	default:
		delete(t.found, name)
		anew, err := t.trainFound(ctx, k, []gppl.Model{out.Model}, false)
		if ctx.Err() != nil {
			return anew, ctx.Err()
		}
		if err == nil && anew.Value < out.Value {
			out = anew
		}
	}
	if !known || out.Value < reached {
		t.reached[name] = out.Value
	}
	return out, nil
}

// trainFound is train from one search; again says that it was done with another trend.
func (t *trainer) trainFound(ctx context.Context, k gppl.Kernel, others []gppl.Model, again bool) (trained, error) {
	found, err := t.search(ctx, k)
	if err != nil {
		return trained{}, err
	}
	starts := append(slices.Clone(others), found.Models...)
	again = again && len(others) > 0
	if t.random = t.options.RandomStarts; found.Search.Screened == 0 {
		t.random = max(t.random, unsearchedStarts)
	}
	for i, m := range starts {
		m.Mean = t.mean
		starts[i] = scaled(supported(m, priorsOf(m, t.options.Priors, t.scaling.Scale)), nil, t.span())
	}
	seconds, err := t.dearest(starts, t.data)
	if err != nil {
		return trained{}, err
	}
	var r *gppl.Result
	if seconds <= quickSeconds || found.Part.Len() == t.data.Len() {
		r, err = t.trainAll(ctx, starts, seconds)
	} else {
		if again {
			starts = starts[:len(others)]
		}
		r, err = t.trainPart(ctx, starts, found.Part, seconds, again)
	}
	if err != nil {
		return trained{}, err
	}
	likelihood, err := t.loss(r.Model, t.data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return trained{}, err
	}
	better, doubts := found.Compare(ctx, likelihood, r)
	if better != r {
		t.evaluations += better.Evaluations
	}
	out := trained{better, found, doubts}
	out.judge(likelihood)
	return out, ctx.Err()
}

// judge adds to the result what the search says of it.
func (r trained) judge(likelihood gppl.Loss) { r.found.Judge(likelihood, r.Result, r.doubts...) }

// trainAll trains on all observations: from every start for some steps, and from the best to the end.
func (t *trainer) trainAll(ctx context.Context, starts []gppl.Model, seconds float64) (*gppl.Result, error) {
	starts, plan, err := t.planned(starts, 0, seconds)
	if err != nil {
		return nil, err
	}
	t.stage = fmt.Sprintf("training on all %d", t.data.Len())
	settings := gppl.Settings{GradientTolerance: gradientTolerance, MaxEvaluations: min(firstSteps, plan.few), NoStandardErrors: true}
	first, err := t.each(ctx, starts, t.data, settings)
	if err != nil {
		return nil, err
	}
	var ends []gppl.Model
	for _, r := range first {
		ends = append(ends, r.Model)
	}
	settings.MaxEvaluations = max(fewestEvaluations, plan.few)
	settings.Starts, settings.Spread, settings.Seed = 1+plan.random, 1/guess, t.options.Seed+1
	last, err := t.each(ctx, ends[:min(toTheEnd, len(ends))], t.data, settings)
	if err != nil {
		return nil, err
	}
	return last[0], nil
}

// trainPart trains on a part of the observations first, and then on all from the best.
func (t *trainer) trainPart(ctx context.Context, starts []gppl.Model, part gppl.Data, seconds float64, again bool) (*gppl.Result, error) {
	partSeconds, err := t.dearest(starts, part)
	if err != nil {
		return nil, err
	}
	starts, plan, err := t.planned(starts, partSeconds, seconds)
	if err != nil {
		return nil, err
	}
	t.stage = fmt.Sprintf("first steps, on %d observations", part.Len())
	settings := gppl.Settings{GradientTolerance: gradientTolerance, MaxEvaluations: min(firstSteps, plan.few), NoStandardErrors: true}
	first, err := t.each(ctx, starts, part, settings)
	if ctx.Err() != nil {
		return nil, err
	}
	if err == nil {
		settings.MaxEvaluations, settings.NoStandardErrors = min(furtherSteps, plan.few), false
		settings.Starts, settings.Spread, settings.Seed = 1+plan.random, 1/guess, t.options.Seed+1
		if r, err := t.run(ctx, first[0].Model, part, settings); err == nil {
			starts = append(starts, scaled(r.Model, r, t.span()))
		}
	}
	t.stage = fmt.Sprintf("training on all %d", t.data.Len())
	steps := plan.all
	if t.options.Budget <= 0 {
		least := leastSteps
		if again {
			least = againSteps
		}
		n := float64(t.data.Len())
		steps = min(steps, max(least, int(swift*max(1, n/swiftFor)*float64(least)/leastSteps/seconds)))
	}
	settings = gppl.Settings{GradientTolerance: looseGradient, MaxEvaluations: steps, NoStandardErrors: true}
	var failures []error
	for len(starts) > 0 { // from the best start; from the next best if that fails
		at := t.lowest(starts)
		r, err := t.run(ctx, starts[at], t.data, settings)
		if err == nil || ctx.Err() != nil {
			return r, err
		}
		failures = append(failures, err)
		starts = slices.Delete(starts, at, at+1)
	}
	return nil, errors.Join(failures...)
}

// planned is plan for as many of the starts, the first of them, as the budget allows.
func (t *trainer) planned(starts []gppl.Model, part, all float64) ([]gppl.Model, schedule, error) {
	for {
		plan, err := t.plan(t.candidate, len(starts), part, all)
		if over := (*BudgetError)(nil); !errors.As(err, &over) || len(starts) == 1 {
			return starts, plan, err
		}
		starts = starts[:len(starts)-1]
	}
}

func (t *trainer) span() float64 { return t.data.X.At(t.data.Len() - 1)[0] - t.data.X.At(0)[0] }

// each trains on d from every start and returns the results, the best first. It is an error if all fail.
func (t *trainer) each(ctx context.Context, starts []gppl.Model, d gppl.Data, s gppl.Settings) (results []*gppl.Result, err error) {
	var failures []error
	for _, m := range starts {
		r, err := t.run(ctx, m, d, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		results = append(results, r)
	}
	if results == nil {
		return nil, errors.Join(failures...)
	}
	slices.SortStableFunc(results, func(p, q *gppl.Result) int { return cmp.Compare(p.Value, q.Value) })
	return results, nil
}

// dearest predicts the seconds of an evaluation of the likelihood of d at the model where it takes most.
func (t *trainer) dearest(models []gppl.Model, d gppl.Data) (most float64, err error) {
	for _, m := range models {
		seconds, err := t.cost(m, d)
		if err != nil {
			return 0, err
		}
		most = max(most, seconds)
	}
	return most, nil
}

// searchShare is the share of the time that a candidate may take that the search may take.
const searchShare = 0.5

// searchSeconds predicts the time of the search of a kernel: that of its likelihoods of n observations or of three parts of 128 and, with
// a period, of as many by the periodogram of all. Their numbers are those of Search, on draws of each kernel.
func searchSeconds(k gppl.Kernel, n int) float64 {
	const (
		whole, part   = 400, 128 // those of auto.FindStarts
		each, wave    = 60, 200  // likelihoods for each parameter, without a period and with one
		bins, perBin  = 1 << 16, 1e-7
		periodograms  = 1000
		irregularPeak = 0.5 // seconds for periods below the mean spacing
	)
	count, seconds := float64(each*len(k.Params())), 0.0
	if hasPeriod(k) {
		count = float64(wave * len(k.Params()))
		if n > whole {
			seconds = periodograms*perBin*min(4*float64(n), bins) + irregularPeak
		}
	}
	if n > whole {
		return seconds + count*3*evaluationSeconds(part, false)
	}
	return count * evaluationSeconds(n, false)
}

// searchedBytes is the forecast of the memory of the search: the periodogram of all, at a fiftieth of the mean spacing.
func searchedBytes(k gppl.Kernel, n int) float64 {
	const frequencies, each = 1 << 19, 100
	if !hasPeriod(k) {
		return 0
	}
	return each * min(frequencies, 250*float64(n))
}
