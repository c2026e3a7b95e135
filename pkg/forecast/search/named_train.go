package search

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// A named kernel is searched and trained by the library (auto.FindStarts, auto.Starts.Train).

const (
	// swift is the predicted time, without a budget, that the evaluations of each trend may take for up to swiftFor observations.
	// For up to ten times as many it grows in proportion. At least leastSteps evaluations are allowed.
	swift, swiftFor, leastSteps = 2.0, 2000, 12
	// searchedWhole is the number of observations up to which a search takes all of them, that of auto.FindStarts.
	searchedWhole = 400
	// unsearchedStarts is the least number of random starts without a search.
	unsearchedStarts = 3
)

// search finds where the training of k begins, for each of its families. It is done once for each kernel and scale, with the
// first trend. Other trends begin at the same starts unless train searches anew, and so may the other scale (comparison.carry).
func (t *trainer) search(ctx context.Context, k gppl.Kernel) (all []*auto.Starts, err error) {
	t.searched = 0
	if found, ok := t.found[KernelName(k)]; ok {
		return found, nil
	}
	t.report(t.candidate, "searching for starts", math.Inf(1))
	for _, m := range t.families(k) {
		found, err := t.find(ctx, m)
		if err != nil {
			return nil, err
		}
		t.evaluations += found.Search.Evaluations
		all = append(all, found)
	}
	t.found[KernelName(k)] = all
	return all, nil
}

// find searches m, if the budget and the memory allow that.
func (t *trainer) find(ctx context.Context, m gppl.Model) (*auto.Starts, error) {
	settings := auto.Settings{Priors: PriorsOf(m, t.options.Priors, t.scaling.Scale), Fit: gppl.Settings{Seed: t.options.Seed}}
	unsearched := t.unsearched(m.Kernel)
	if unsearched != "" {
		start, err := auto.StartFrom(ctx, m, t.data)
		if err != nil {
			return nil, err
		}
		m, settings.KeepStart = start, true
	} else {
		t.searched += searchSeconds(m.Kernel, t.data.Len())
	}
	found, err := auto.FindStarts(ctx, m, t.data, settings)
	if err == nil && unsearched != "" {
		found.Doubts = []string{unsearched}
	}
	return found, err
}

// unsearched says why k is not searched: it would exceed the budget or the memory; "" if neither.
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

// families returns the models to search: that of k or, if periods are given and k has a period, one model for each with the
// period fixed.
func (t *trainer) families(k gppl.Kernel) (models []gppl.Model) {
	plain := gppl.Model{Kernel: k, Noise: 1, Mean: t.mean}.FixRedundant().WithTransform(gppl.NoiseName, noiseFloor(1))
	if len(series.PeriodsOf(k.Params())) != 1 || len(t.options.Periods) == 0 {
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

// trained is a named kernel after its training, and the search that it came from.
type trained struct {
	*gppl.Result
	found *auto.Starts
}

// astray is the distance, in nats, above what the kernel reached with another trend at which its search is done anew. Trends
// differ by some nats unless the kernel ends at other scales.
const astray = 10

// train learns the parameters of k from the starts of the search and any others. A search that was done with another trend is
// done anew if the result is astray.
func (t *trainer) train(ctx context.Context, k gppl.Kernel, others []gppl.Model) (trained, error) {
	name := KernelName(k)
	_, again := t.found[name]
	out, err := t.trainFound(ctx, k, others)
	if err != nil {
		return out, err
	}
	reached, known := t.reached[name]
	switch {
	case !again || !known || out.Value <= reached+astray:
	case t.options.Budget > 0:
		out.Status = gppl.Doubtful
		out.Warnings = append(out.Warnings, fmt.Sprintf("not searched with this trend: another ends %.3g nats lower, "+
			"and the budget leaves no time", out.Value-reached))
	default:
		delete(t.found, name)
		anew, err := t.trainFound(ctx, k, []gppl.Model{out.Model})
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

// trainFound is train without the check whether the result is astray.
func (t *trainer) trainFound(ctx context.Context, k gppl.Kernel, others []gppl.Model) (best trained, err error) {
	all, err := t.search(ctx, k)
	if err != nil {
		return trained{}, err
	}
	if len(all) > 1 { // their periods are fixed
		others = nil
	}
	stage := fmt.Sprintf("training on %d", t.data.Len())
	for _, found := range all {
		settings := gppl.Settings{Seed: t.options.Seed + 1, NoStandardErrors: t.options.origin}
		if err = t.limit(&settings, found.Models, len(all)); err != nil {
			return trained{}, err
		}
		if settings.Starts = 1 + t.options.RandomStarts; found.Search.Screened == 0 {
			settings.Starts = max(settings.Starts, 1+unsearchedStarts)
		}
		r, err := found.Train(ctx, t.loss, t.settings(t.candidate, stage, settings), others...)
		if err != nil {
			return trained{}, err
		}
		if best.Result == nil || r.Value < best.Value {
			best = trained{r, found}
		}
	}
	return best, nil
}

// searchShare is the largest share of the time of a candidate that its search may take.
const searchShare = 0.5

// searchSeconds predicts the time of the search of a kernel: its likelihoods of n observations or of three parts of 128 and, with
// a period, as many by the periodogram of all. Their numbers are those of Search, on draws of each kernel.
func searchSeconds(k gppl.Kernel, n int) float64 {
	const (
		part          = 128     // that of auto.FindStarts
		each, wave    = 60, 200 // likelihoods for each parameter, without a period and with one
		bins, perBin  = 1 << 16, 1e-7
		periodograms  = 1000
		irregularPeak = 0.5 // seconds for periods below the mean spacing
	)
	count, seconds := float64(each*len(k.Params())), 0.0
	if hasPeriod(k) {
		count = float64(wave * len(k.Params()))
		if n > searchedWhole {
			seconds = periodograms*perBin*min(4*float64(n), bins) + irregularPeak
		}
	}
	if n > searchedWhole {
		return seconds + count*3*evaluationSeconds(part, false)
	}
	return count * evaluationSeconds(n, false)
}

// searchedBytes predicts the memory of the search: the periodogram of all, at a fiftieth of the mean spacing.
func searchedBytes(k gppl.Kernel, n int) float64 {
	const frequencies, each = 1 << 19, 100
	if !hasPeriod(k) {
		return 0
	}
	return each * min(frequencies, 250*float64(n))
}
