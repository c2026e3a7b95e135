package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// signalRatio is what is left of the signal, relative to the noise, at the
// frequencies beyond the projections: a tenth leaves about a thousandth of the
// noise outside altogether, for SE.
const signalRatio = 0.1

// noProjections says why projections are of no use for these inputs.
func (a *auto) noProjections() string {
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

// needed returns the number of columns that the spectrum of m needs, or 0 and why no
// number suffices.
func (a *auto) needed(m Model) (int, error) {
	count, err := SpectralColumns(m, a.data.X, signalRatio)
	if err != nil {
		return 0, err
	}
	return count + 4, nil // for the ends of the range, which matter where there are few
}

// exactInstead says why the exact likelihood is the better choice, if it is.
func (a *auto) exactInstead(exact *Exact, count int) string {
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
	engine, seconds := exact.Cost(a.at)
	switch projected := a.predict(count); {
	case math.IsInf(seconds, 1):
	case math.IsInf(projected, 1):
		return fmt.Sprintf("by the %s engine it takes about %s an evaluation, and no engine projects this kernel for less than n²k", engine, duration(seconds))
	case seconds < projected:
		return fmt.Sprintf("by the %s engine it takes about %s an evaluation, %d projections %s (set-up shared)",
			engine, duration(seconds), count, duration(projected))
	}
	return ""
}

// predict returns the seconds that an evaluation with k spectral projections
// would take, a share of the set-up included.
func (a *auto) predict(columns int) float64 {
	n, k, noise := float64(a.data.Len()), float64(columns), a.at.Noise
	lo, hi := a.data.X.Range(0)
	eps := spectralEps(1e-8*k, n, variance(a.at.Kernel), noise)
	m, _, why := forecastSpectral(a.at.Kernel, hi-lo, eps, false)
	if why != (reason{}) {
		return math.Inf(1)
	}
	setup := forecastWaves(a.data.Len(), columns, int(m))
	if columns > commonWaves {
		setup = 8*n*k*k/(2*flopRate) + fourier.Predict(a.data.Len(), columns, 0, int(m)+1, featureTolerance).Seconds/2
	}
	return (8*m*k*k+2*k*k*k)/(2*flopRate) + setup/evaluationsAhead
}

// trainProjected trains on the first count columns.
func (a *auto) trainProjected(count int) (AutoStep, error) {
	began := time.Now()
	p := a.result.Projection
	var err error
	if p == nil {
		p, err = SpectralProjection(a.data.X, count)
	} else {
		p, err = p.Extend(a.data.X, count)
	}
	if err != nil {
		return AutoStep{}, err
	}
	loss, err := NewResidual(a.at, a.data, p)
	if err != nil {
		return AutoStep{}, err
	}
	a.result.Projection = p
	before := a.trained
	r, gain, err := a.train(loss)
	if r == nil {
		return AutoStep{}, err
	}
	a.at, a.result.Result, a.loss = r.Model, r, loss
	_, k := p.Dims()
	step := AutoStep{K: k, Gain: gain}
	step.Needed, _ = a.needed(a.at)
	if err == nil && !a.settings.Fit.NoStandardErrors && step.Needed <= count && step.Needed > 0 {
		step.StdErrLog, step.Kept = a.efficiency(loss)
	}
	step.Seconds = time.Since(began).Seconds()
	a.setUp += time.Since(began) - (a.trained - before)
	return step, err
}

// efficiency sets the standard errors of the result and returns them, with the
// share of the information that the projections keep.
func (a *auto) efficiency(loss *Projected) (stdErr, kept []float64) {
	r := a.result.Result
	theta := r.Model.Values()
	info, err := loss.informationWithin(a.ctx, theta)
	if err != nil {
		r.warn("no standard errors: %v", err)
		return nil, nil
	}
	stdErr = a.stdErrors(info)
	for i := range r.Params {
		if len(a.priors) > 0 {
			break // those of the posterior, from the training
		}
		if r.Params[i].StdErrLog = stdErr[i]; stdErr[i] > unidentified {
			r.Params[i].StdErrLog = math.Inf(1)
		}
	}
	all, err := whittleInformation(r.Model, a.data.X)
	if err != nil {
		return stdErr, nil
	}
	for i, best := range a.stdErrors(all) {
		share := 1.0 // of nothing, for what is fixed or the data do not determine
		if stdErr[i] > 0 && !math.IsInf(best, 1) {
			share = min(1, best*best/(stdErr[i]*stdErr[i]))
		}
		kept = append(kept, share)
	}
	return stdErr, kept
}

// stdErrors returns the standard errors of the logs of the trained parameters, NaN
// for the fixed ones, +Inf for those that are not identified.
func (a *auto) stdErrors(info *mat.SymDense) []float64 {
	all := a.at.Params()
	var trained []int
	var params []Param
	for i, p := range all {
		if !p.IsFixed() {
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
	found, _ := StdErrLog(part, params) // the error names those that are +Inf, or there is none
	for i, p := range trained {
		if se[p] = math.Inf(1); found != nil {
			se[p] = found[i]
		}
	}
	return se
}

// more returns how many columns to go on with, or 0, and why.
func (a *auto) more(step AutoStep, count int) (columns int, why string) {
	room := a.settings.MaxProjections
	switch {
	case step.Needed == 0:
		return 2 * count, "the signal's spectrum has no end"
	case step.Needed > count:
		return max(step.Needed, count*5/4), "signal above a tenth of the noise beyond them"
	case !a.coloured && count < room:
		if top, nats := a.colour(); top > count {
			a.coloured = true
			a.next = append(slices.Clone(a.starts[1:]), a.at.shorten(float64(top)/float64(count)))
			return min(top, room), fmt.Sprintf("a band of frequencies beyond them has signal worth %.2g nats", nats)
		}
	}
	switch {
	case a.stuck() != "" && count < room:
		return min(room, 2*count), a.stuck()
	case len(a.result.Steps) == 0:
		return min(max(count*5/4, step.Needed), max(room, count)), "to see whether they gain anything"
	case step.Gain > a.settings.Gain && count < room:
		return min(room, count*3/2), fmt.Sprintf("the last gained %.2g nats", step.Gain)
	case !a.accurate(step) && count < room:
		return min(room, count*3/2), "standard errors above those of the data"
	}
	return 0, fmt.Sprintf("the signal is below a tenth of the noise beyond them, the last gained %.2g nats", step.Gain)
}

// accurate reports whether the standard errors are as asked for, or no better for
// the last addition of projections.
func (a *auto) accurate(step AutoStep) bool {
	if step.StdErrLog == nil || step.Kept == nil {
		return true
	}
	above := func(se float64) bool { return se > a.settings.StdErrLog } // NaN, of a fixed parameter, is not
	if a.settings.StdErrLog > 0 && !slices.ContainsFunc(step.StdErrLog, above) {
		return true
	}
	least := slices.Min(step.Kept)
	if steps := a.result.Steps; len(steps) > 0 && steps[len(steps)-1].Kept != nil {
		return least >= a.settings.Efficiency || least < slices.Min(steps[len(steps)-1].Kept)+0.01
	}
	return least >= a.settings.Efficiency
}

// colour looks for bands of frequencies at which the remainder outside the projections
// has more than its mean power: a model with b frequencies at p times the mean power
// would gain b·(p − 1 − log p) nats (Whittle). It returns the columns that cover the
// highest band whose gain exceeds chance, and the largest gain; 0 if there is none.
func (a *auto) colour() (columns int, nats float64) {
	loss, ok := a.loss.(*Projected)
	if !ok || loss.residual == nil {
		return 0, 0
	}
	const band = 12
	const chance = 8 // nats, beside the log of the number of bands
	n := a.data.Len()
	lo, hi := a.data.X.Range(0)
	first := int(Spectral{}.frequency(float64(a.result.Projection.drawn / 2)))
	bands := (n/2 - first) / band
	if bands < 2 {
		return 0, 0
	}
	sums := dense.New(2*band*bands, 1)
	rest := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: loss.residual.rest}
	fourier.NewPoints(a.data.X.at, lo, hi-lo).Sums(sums, rest, first+1, featureTolerance)
	power := make([]float64, bands)
	for i, c := range sums.Data {
		power[i/(2*band)] += c * c / band
	}
	sorted := slices.Clone(power)
	slices.Sort(sorted)
	mean := sorted[bands/2]
	for i, v := range power {
		p := v / mean
		if worth := band * (p - 1 - math.Log(p)); p > 1 && worth > chance+math.Log(float64(bands)) {
			columns, nats = Spectral{}.columns(float64(first+(i+1)*band)), max(nats, worth)
		}
	}
	return columns, nats
}
