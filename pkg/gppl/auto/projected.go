package auto

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/timeline"
	algebra "github.com/projected-likelihood/gppl/pkg/gppl/internal/fisher"
)

// signalRatio is the ratio of signal to noise at the frequencies beyond the projections. A tenth leaves about a thousandth of
// the noise variance outside altogether, for SE.
const signalRatio = 0.1

// noProjections says why projections do not help for these inputs.
func (a *fitting) noProjections() string {
	if d := a.data.X.Dim(); d != 1 {
		return fmt.Sprintf("the inputs have dimension %d, and Spectral projections are for time series", d)
	}
	if lo, hi := a.data.X.Range(0); lo == hi {
		return "all inputs coincide"
	}
	if a.data.Errors != nil || a.data.Relative != nil {
		return "the observations have known errors, so that what projections leave is not white"
	}
	if n := a.data.Len(); n < 64 {
		return fmt.Sprintf("the series is short: n = %d", n)
	}
	return ""
}

// needed returns the number of columns that the spectrum of m needs, or 0 and why no number suffices.
func (a *fitting) needed(m gppl.Model) (int, error) {
	count, err := m.SpectralColumns(a.data, signalRatio)
	if err != nil {
		return 0, err
	}
	return count + 4, nil // with few columns, the ends of the range need more
}

// exactInstead says why the exact likelihood is the better choice, or "".
func (a *fitting) exactInstead(exact *gppl.Exact, count int) string {
	needed, err := a.needed(a.at)
	if err != nil {
		return "no number of projections holds the signal's spectrum: " + strings.TrimPrefix(err.Error(), "gppl: ")
	}
	count = max(count, needed)
	if n := a.data.Len(); count > a.settings.MaxProjections && count > 16 {
		return fmt.Sprintf("the signal asks for %d projections of n = %d", count, n)
	}
	if a.settings.Projected {
		return ""
	}
	engine, seconds := exact.Cost(a.at.Values())
	switch projected := a.at.SpectralCost(a.data.X, count); {
	case math.IsInf(seconds, 1):
	case math.IsInf(projected, 1):
		return fmt.Sprintf("by the %s engine it takes about %s an evaluation, and no engine projects this kernel for less than n²k",
			engine, timeline.Seconds(seconds))
	case seconds < projected:
		return fmt.Sprintf("by the %s engine it takes about %s an evaluation, %d projections %s (set-up shared)",
			engine, timeline.Seconds(seconds), count, timeline.Seconds(projected))
	}
	return ""
}

// trainProjected trains on the first count columns.
func (a *fitting) trainProjected(count int) (Step, error) {
	began := time.Now()
	p := a.result.Projection
	var err error
	if p == nil {
		p, err = gppl.SpectralProjection(a.ctx, a.data.X, count)
	} else {
		p, err = p.Extend(a.ctx, a.data.X, count)
	}
	if err != nil {
		return Step{}, err
	}
	loss, err := gppl.NewResidual(a.ctx, a.at, a.data, p)
	if err != nil {
		return Step{}, err
	}
	loss = Within(loss, a.at, patience)
	a.result.Projection = p
	before := a.trained
	r, gain, err := a.train(loss)
	if r == nil {
		return Step{}, err
	}
	a.at, a.result.Result, a.loss = r.Model, r, loss
	_, k := p.Dims()
	step := Step{K: k, Gain: gain}
	step.Needed, _ = a.needed(a.at)
	if err == nil && !a.settings.Fit.NoStandardErrors && step.Needed <= count && step.Needed > 0 {
		step.StdErrLog, step.Kept = a.efficiency(loss)
	}
	step.Seconds = time.Since(began).Seconds()
	a.setUp += time.Since(began) - (a.trained - before)
	return step, err
}

// efficiency sets the standard errors of the result and returns them, with the share of the information that the projections
// keep.
func (a *fitting) efficiency(loss *gppl.Projected) (stdErr, kept []float64) {
	r := a.result.Result
	theta := r.Model.Values()
	info, err := loss.Information(a.ctx, theta)
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no standard errors: %v", err))
		return nil, nil
	}
	stdErr = a.stdErrors(info)
	for i := range r.Params {
		if len(a.priors) > 0 {
			break // with priors, keep the standard errors that training found
		}
		if r.Params[i].StdErrLog = stdErr[i]; stdErr[i] > algebra.Unidentified {
			r.Params[i].StdErrLog = math.Inf(1)
		}
	}
	lo, hi := a.data.X.Range(0)
	even, err := newMetric(a.ctx, r.Model, a.data.Len(), lo, hi)
	if err != nil {
		return stdErr, nil
	}
	all, err := even.Information(a.ctx, theta)
	if err != nil {
		return stdErr, nil
	}
	for i, best := range a.stdErrors(all) {
		share := 1.0 // nothing is lost on fixed or undetermined parameters
		if stdErr[i] > 0 && !math.IsInf(best, 1) {
			share = min(1, best*best/(stdErr[i]*stdErr[i]))
		}
		kept = append(kept, share)
	}
	return stdErr, kept
}

// stdErrors returns the standard errors of the logs of the trained parameters: NaN for parameters that are fixed or at a
// bound, conditional on these, and +Inf for parameters that are not identified.
func (a *fitting) stdErrors(info *mat.SymDense) []float64 {
	all := a.at.Params()
	var trained []int
	var params []gppl.Param
	for i, p := range all {
		if !p.IsFixed() && !a.result.Params[i].AtBound {
			trained, params = append(trained, i), append(params, p)
		}
	}
	se := slices.Repeat([]float64{math.NaN()}, len(all))
	if len(trained) == 0 {
		return se
	}
	part := mat.NewSymDense(len(trained), nil)
	for i, p := range trained {
		for j, q := range trained[:i+1] {
			part.SetSym(i, j, info.At(p, q))
		}
	}
	found, _ := fisher.StdErrLog(part, params) // the error only names the parameters that are +Inf in found
	for i, p := range trained {
		if se[p] = math.Inf(1); found != nil {
			se[p] = found[i]
		}
	}
	return se
}

// more returns how many columns to use next, or 0, and why.
func (a *fitting) more(step Step, count int) (columns int, why string) {
	most := a.settings.MaxProjections
	switch {
	case step.Needed == 0:
		return 2 * count, "the signal's spectrum has no end"
	case step.Needed > count:
		return max(step.Needed, count*5/4), "signal above a tenth of the noise beyond them"
	case !a.coloured && count < most:
		if top, nats := a.loss.(*gppl.Projected).Coloured(a.data.X); top > count {
			a.coloured = true
			a.next = append(slices.Clone(a.starts[1:]), shorten(a.at, float64(top)/float64(count)))
			return min(top, most), fmt.Sprintf("a band of frequencies beyond them has signal worth %.2g nats", nats)
		}
	}
	switch {
	case a.stuck() != "" && count < most:
		return min(most, 2*count), a.stuck()
	case len(a.result.Steps) == 0:
		return min(max(count*5/4, step.Needed), max(most, count)), "to see whether they gain anything"
	case step.Gain > a.settings.Gain && count < most:
		return min(most, count*3/2), fmt.Sprintf("the last gained %.2g nats", step.Gain)
	case !a.accurate(step) && count < most:
		return min(most, count*3/2), "standard errors above those of the data"
	}
	return 0, fmt.Sprintf("the signal is below a tenth of the noise beyond them, the last gained %.2g nats", step.Gain)
}

// leastKept is the share of the information about every parameter, the squared ratio of standard errors, that projections must
// keep as long as more of them raise it. The information of the data is known to within about 10 % (see Step.Kept).
const leastKept = 0.8

// accurate reports whether the projections keep leastKept, or the last addition did not raise the share.
func (a *fitting) accurate(step Step) bool {
	if step.Kept == nil {
		return true
	}
	least := slices.Min(step.Kept)
	if steps := a.result.Steps; len(steps) > 0 && steps[len(steps)-1].Kept != nil &&
		least < slices.Min(steps[len(steps)-1].Kept)+0.01 {
		return true
	}
	return least >= leastKept
}
