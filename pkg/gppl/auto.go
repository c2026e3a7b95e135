package gppl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// AutoSettings configures FitAuto. The zero value is recommended.
type AutoSettings struct {
	// Fit says how each training goes. Its NoStandardErrors holds for the
	// result; GradientTolerance is 1e-3 where it is 0. Starts is the number of
	// random starts that are tried where doubts stay; 0 means 6, or none after a
	// search of all data that ended at an optimum.
	Fit Settings
	// KeepStart trains from the model as it is given, without a search. Otherwise
	// its values do not matter, and periods whose transform is the default stay
	// between twice the mean spacing of x and its range.
	KeepStart bool
	// Projected uses projections even where the exact likelihood costs less, as long as
	// fewer than n of them suffice.
	Projected bool
	// Stop adding projections once refitting improves the loss by less than Gain nats; 0
	// means 0.5.
	Gain float64
	// Efficiency is the share of the information about every parameter that projections
	// must keep, the square of the ratio of standard errors, as long as more projections
	// improve it. 0 means 0.8. The information of the data is known to about a tenth (see
	// AutoStep.Kept).
	Efficiency float64
	// StdErrLog, unless 0, replaces Efficiency: projections are enough once the standard
	// errors of all log θ are below it.
	StdErrLog float64
	// MaxProjections bounds k; 0 means n/2.
	MaxProjections int
	// Progress, unless nil, is called after every step.
	Progress func(AutoStep)
}

// AutoStep is one round of FitAuto: a training, and the decision that followed it.
type AutoStep struct {
	K         int       // projections; 0 for the exact likelihood
	Value     float64   // of the loss after training, in nats
	Theta     []float64 // natural values of the parameters after training
	Gain      float64   // nats by which training went down from where the step before stood
	Needed    int       // columns that the trained model's spectrum asks for; 0 if no number would do
	StdErrLog []float64 // of log θ; nil if not known
	// Kept is the share of the information about each parameter that the
	// projections keep, by Whittle's approximation of that of the data, which is
	// good to about a tenth; nil if not known.
	Kept        []float64
	Evaluations int
	Seconds     float64 // set-up included
	Decision    string  // what follows from it, and why
}

// AutoResult is what FitAuto found. The Result is that of the last step; its
// times and evaluations are those of all steps.
type AutoResult struct {
	*Result
	Exact      bool        // the loss is the exact likelihood
	Projection *Projection // that was trained on last; nil if none was
	Kept       []float64   // share of the information about each parameter, as in AutoStep; nil if not known
	Why        string      // why this loss, and why no more projections
	Search     Search      // what was searched before this was called the optimum
	Steps      []AutoStep
}

// Doubtful is the status of what FitAuto returns where training converged, but
// to what the data do not determine: the warnings say to what. It is no success.
const Doubtful Status = "doubtful"

// signalRatio is what is left of the signal, relative to the noise, at the
// frequencies beyond the projections: a tenth leaves about a thousandth of the
// noise outside altogether, for SE.
const signalRatio = 0.1

// patience is the seconds that an evaluation of the exact likelihood may take as
// an answer to doubts.
const patience = 10

// FitAuto learns the parameters of m from a time series without further choices: by
// the projected likelihood with its residual energy (NewResidual) on as many Spectral
// projections as needed, or by the exact likelihood where that costs less.
//
// First it searches for starts. It compares the exact likelihoods of kernels at every
// octave of lengthscales and at every period that the periodogram shows, each with
// several noise variances. It trains the best of them a little and the best of those
// further (successive halving), then tries changes of the best: other scales, periods,
// weights, less noise. Up to 400 observations it uses all of them. Beyond, it uses
// three parts of 128 observations (close together, further apart, spread over all),
// and a second search uses the periodogram of all data, which shows faint rhythms that
// a part does not. AutoResult.Search reports what was searched. Converged means that
// this search found nothing better; it does not prove that nothing better exists.
//
// Then it trains with three quarters of the projections that the spectrum of the start
// needs (SpectralColumns), and adds projections, continuing from where it stopped,
// until
//
//   - the signal is below a tenth of the noise at all frequencies beyond them,
//   - the remainder of y is white to a periodogram: no band of frequencies
//     has more power than chance explains,
//   - the last addition improved the loss by less than Gain,
//   - they keep the share Efficiency of the information about each parameter,
//     as far as that is known,
//   - and no parameter is driven to where the data end: a noise variance that
//     vanishes, a lengthscale beyond the range or below the spacing of x.
//
// It uses the exact likelihood if an engine computes it for less than the projections
// would cost (Laplace and Matérn by the state-space engine, short series, kernels of
// few frequencies), or if n/2 projections would not be enough. If doubts remain, it
// tries further starts around those from the data and around its best point, keeps the
// best point of all, and returns it as Doubtful with warnings.
//
// Standard errors of a projected result come from the information of z and of the
// residual (Projected.Information). The share of information kept comes from Whittle's
// approximation of the information of y, which holds for x without clusters.
//
// If the model has a mean, FitAuto searches for starts in what least squares leaves of y,
// and trains the model with its mean. Observations with known errors are trained on exactly.
//
// It is an error if y is constant or the mean explains all of it, since the likelihood is then unbounded, if the loss
// cannot be evaluated at the start, or if ctx ends; FitAuto then returns the best
// point so far with ctx's error.
func FitAuto(ctx context.Context, m Model, d Data, s AutoSettings) (*AutoResult, error) {
	if m.Kernel == nil {
		return nil, fmt.Errorf("gppl: the model has no kernel")
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := needsDistances("FitAuto", m.Kernel); err != nil {
		return nil, fmt.Errorf("%w: train it by Fit from StartFrom", err)
	}
	if m.Mean != nil {
		if err := CheckBasis(m.Mean, d.X); err != nil {
			return nil, err
		}
	}
	if slices.Min(d.Y) == slices.Max(d.Y) {
		return nil, fmt.Errorf("gppl: fit: all %d observations equal %v: the likelihood has no maximum", d.Len(), d.Y[0])
	}
	rest := leastSquaresRest(m, d)
	if left, all := blas64.Nrm2(vec(rest.Y)), blas64.Nrm2(vec(d.Y)); left <= constant*all {
		return nil, fmt.Errorf("gppl: fit: the mean %v explains all %d observations: the likelihood has no maximum", m.Mean, d.Len())
	}
	a := &auto{ctx: ctx, settings: s, data: d, rest: rest, family: m, result: &AutoResult{}}
	a.settings.Fit.GradientTolerance = orDefault(s.Fit.GradientTolerance, 1e-3)
	a.settings.Gain = orDefault(s.Gain, 0.5)
	a.settings.Efficiency = orDefault(s.Efficiency, 0.8)
	a.settings.MaxProjections = cmp.Or(s.MaxProjections, d.Len()/2)
	a.starts = []Model{m}
	if !s.KeepStart {
		a.starts = startsFrom(m, d)
	}
	if err := a.starts[0].Check(); err != nil {
		return nil, err
	}
	if !s.KeepStart {
		if err := a.search(); err != nil {
			return nil, err
		}
	}
	a.at, a.next, a.sure = a.starts[0], a.starts, a.given
	err := a.run()
	if a.result.Result == nil {
		return nil, err
	}
	a.finish()
	return a.result, err
}

// constant is the share of y that rounding leaves where a mean explains all of it.
const constant = 1e-13

// auto is the work of FitAuto.
type auto struct {
	ctx       context.Context
	settings  AutoSettings
	data      Data
	rest      Data    // what least squares leaves of them, if the model has a mean
	family    Model   // as it was given
	at        Model   // where training stands
	starts    []Model // where it begins: the best of these
	loss      Loss    // trained last
	result    *AutoResult
	next      []Model // further starts of the next training: the best of them are trained to the end
	given     []Model // starts that the search of a part of the data did not come from
	sure      []Model // those of them that the next training goes to the end from
	retried   bool    // they were tried with as many projections as it takes
	shortest  float64 // what periods may be, unless they are as they were given; 0: anything
	longest   float64
	unsettled []string // doubts that the search left
	coloured  bool     // what the projections left was not white

	evaluations    int // of all trainings
	setUp, trained time.Duration
}

// search replaces the starts by the optima of the exact likelihood, or of that of a part of the data. If the model has a
// mean, it is what least squares leaves of y that is searched, as if its mean were zero: for starts that is enough.
func (a *auto) search() error {
	mean := a.family.Mean
	setMean := func(mean Mean) {
		for _, models := range [][]Model{a.starts, a.given} {
			for i := range models {
				models[i].Mean = mean
			}
		}
	}
	setMean(nil)
	err := a.searchRest(a.rest)
	setMean(mean)
	return err
}

// searchRest is search of d with models of a zero mean.
func (a *auto) searchRest(d Data) error {
	began := time.Now()
	family := a.family
	family.Mean = nil
	scales := newScales(d, slices.ContainsFunc(a.starts[0].Params(), isPeriod))
	if scales.lengthscales == nil || d.Len() < 4 || !slices.ContainsFunc(a.starts[0].Params(), func(p Param) bool { return !isFixed(p) }) {
		return nil
	}
	given := slices.Clone(a.starts) // with the transforms that they have: a bounded period takes other ways
	if scales.shortest < scales.longest {
		a.shortest, a.longest = scales.shortest, scales.longest
		for i, m := range a.starts {
			a.starts[i] = m.withPeriodsWithin(scales.shortest, scales.longest).inside()
		}
	}
	loss, err := newBlocks(a.starts[0], d, trainWhole, trainSize)
	if err != nil {
		return err
	}
	compared, err := newBlocks(a.starts[0], d, screenWhole, screenSize)
	if err != nil {
		return err
	}
	s := &searcher{
		ctx: a.ctx, model: a.starts[0], params: a.starts[0].Params(), loss: loss, profiler: newProfiler(compared), scales: scales, search: &a.result.Search,
		power:   blas64.Dot(vec(d.Y), vec(d.Y)) / float64(d.Len()),
		methods: Settings{NoStandardErrors: true, GradientTolerance: 1e-2},
	}
	if d.Errors == nil { // known errors do not scale with the variances
		s.findLinear()
	}
	s.run(a.starts)
	a.result.Search.Lengthscales, a.result.Search.Periods = scales.lengthscales, scales.periods
	if !loss.whole() {
		a.result.Search.Subset = loss.n
	}
	within := 2.0
	if !loss.whole() {
		within = 10
	}
	if len(s.optima) > 0 {
		a.starts = nil
		for _, p := range s.distinct(s.optima, 3, 0.2) {
			if p.value < s.optima[0].value+within {
				a.starts = append(a.starts, s.model.WithParams(p.u).inside())
			}
		}
	}
	if !loss.whole() { // a part of the data may not tell what all of them would
		for _, m := range given {
			if theta := values(m.Params()); !slices.ContainsFunc(a.starts, func(o Model) bool { return s.distance(theta, values(o.Params())) < 0.2 }) {
				a.given = append(a.given, m)
			}
		}
	}
	if !loss.whole() {
		a.spectralStarts(s, d, given)
	}
	if loss.whole() && len(s.optima) > 1 {
		a.result.Search.Next = s.optima[1].value - s.optima[0].value
	}
	if better, nats := s.beyond(family); nats > 1 {
		a.unsettled = append(a.unsettled, fmt.Sprintf("beyond the range of x a period would fit %.3g nats better, as no rhythm but a lengthscale: %v", nats, a.family.WithParams(better.u).Kernel))
	}
	a.unsettled = append(a.unsettled, s.rivals()...)
	if share := outliers(d.Y); scales.periods != nil && share > 0.5 {
		a.unsettled = append(a.unsettled, fmt.Sprintf("a fiftieth of the observations hold %.2g of the mean of y²: these outliers decide on the period, and no search finds the best for sure", share))
	}
	if s.open {
		a.unsettled = append(a.unsettled, "the search was still finding better optima when it ended")
	}
	a.result.Search.Evaluations += s.profiler.evaluations()
	a.evaluations += a.result.Search.Evaluations
	a.trained += time.Since(began)
	return nil
}

// spectralStarts adds the optima of a search by the periodogram of all data, of which s saw a part, where a faint rhythm does
// not show: first if they are much better by that, and else to the given starts.
func (a *auto) spectralStarts(s *searcher, d Data, given []Model) {
	const close, much = 10, 10 // nats: the periodogram ranks what differs by more
	// It knows nothing of known errors. Without a period a part of the data tells enough,
	// and starts in the tails of a spectrum cost more training than they are worth.
	if d.Errors != nil || d.Relative != nil || s.scales.periods == nil {
		return
	}
	loss := newWhittle(s.model, d)
	if loss == nil {
		return
	}
	all := *s
	all.loss, all.profiler, all.optima, all.search = loss, loss, nil, &Search{}
	from := slices.Clone(a.starts)
	// First those that the best start leaves in the data.
	periods := loss.excess(a.starts[0], likeliest/4)
	periods = slices.DeleteFunc(periods, func(p float64) bool { return !(p >= s.scales.shortest && p <= s.scales.longest) })
	for _, p := range periods {
		from = append(from, all.withPeriod(a.starts[0], p))
	}
	periods = append(periods, s.scales.periods...)
	all.scales.periods = periods[:min(likeliest, len(periods))]
	for _, m := range given {
		from = append(from, s.model.WithParams(values(m.Params())))
	}
	all.run(from)
	a.result.Search.Spectral = all.search.Screened + all.search.Moved
	a.result.Search.Evaluations += all.search.Evaluations + loss.evaluations()
	known := math.Inf(1) // the best of the starts that there are, by the periodogram
	for _, m := range a.starts {
		if v, err := loss.ValueGrad(nil, values(m.Params())); err == nil {
			known = min(known, v)
		}
	}
	var first []Model
	for _, p := range all.distinct(all.optima, 2, 0.2) {
		near := func(o Model) bool { return s.distance(p.u, values(o.Params())) < 0.2 }
		switch m := s.model.WithParams(p.u).inside(); {
		case p.value > all.optima[0].value+close || slices.ContainsFunc(a.starts, near) || slices.ContainsFunc(a.given, near):
		case p.value < known-much:
			first = append(first, m)
		default:
			a.given = append(a.given, m)
		}
	}
	a.starts = append(first, a.starts...)
}

// outliers returns the share of the sum of y² that the largest fiftieth of y holds: 0.13 for normal noise.
func outliers(y []float64) float64 {
	squares := make([]float64, len(y))
	for i, v := range y {
		squares[i] = v * v
	}
	slices.Sort(squares)
	var top, all float64
	for i, v := range squares {
		if all += v; i >= len(y)-max(1, len(y)/50) {
			top += v
		}
	}
	return top / all
}

// run trains on more and more projections, and then or instead exactly.
func (a *auto) run() error {
	exact, err := NewExact(a.at, a.data)
	if err != nil {
		return err
	}
	if why := a.noProjections(); why != "" {
		return a.trainExact(exact, why)
	}
	needed, _ := a.needed(a.at)
	count := max(16, needed*3/4)
	for {
		if why := a.exactInstead(exact, count); why != "" {
			return a.trainExact(exact, why)
		}
		step, err := a.trainProjected(count)
		if err != nil {
			return err
		}
		more, why := a.more(step, count)
		if more == 0 && len(a.given) > 0 && !a.retried && len(a.result.Steps) > 0 {
			a.retried, a.sure = true, a.given
			a.record(step, "again, from the starts that fewer projections may have misjudged: "+why)
			continue
		}
		if more == 0 {
			a.result.Why = why
			a.record(step, "enough: "+why)
			return a.settle(exact)
		}
		a.record(step, fmt.Sprintf("%d columns next: %s", more, why))
		count = more
	}
}

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

// needed returns the columns that the spectrum of m asks for, or 0 and why no
// number would do.
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

// train trains from where it stands and from the further starts that are due, and
// returns the best, with the nats by which that is below where it stood.
func (a *auto) train(loss Loss) (best *Result, gain float64, err error) {
	starts := a.next
	if len(a.result.Steps) > 0 {
		starts = append([]Model{a.at}, starts...)
	}
	a.next = nil
	stood := math.NaN()
	if len(starts) > fullTrainings {
		if v, err := loss.ValueGrad(nil, values(starts[0].Params())); err == nil {
			stood = v
		}
		starts = a.halve(loss, starts)
	}
	starts, a.sure = append(starts, a.sure...), nil
	var first error
	for _, start := range starts {
		r, err := a.trainFrom(loss, start, a.settings.Fit.MaxEvaluations)
		if r != nil && math.IsNaN(stood) {
			stood = r.Trace[0].Value
		}
		if r != nil && (best == nil || r.Value < best.Value && a.periodsAllowed(r.Model)) {
			best = r
		}
		if a.ctx.Err() != nil {
			break
		}
		if err != nil && first == nil {
			first = err
		}
	}
	switch {
	case best == nil:
		return nil, 0, first
	case a.ctx.Err() != nil:
		return best, stood - best.Value, a.ctx.Err()
	}
	return best, stood - best.Value, nil
}

// periodsAllowed reports whether every period that is trained lies where the search
// lets periods be.
func (a *auto) periodsAllowed(m Model) bool {
	return a.longest == 0 || !slices.ContainsFunc(m.Params(), func(p Param) bool {
		return isPeriod(p) && !isFixed(p) && !(p.Value >= a.shortest && p.Value <= a.longest)
	})
}

// halve trains each of several starts for a few evaluations and returns where the
// best of them stand, with where training stood before.
func (a *auto) halve(loss Loss, starts []Model) []Model {
	var tried []*Result
	for _, start := range starts {
		if r, _ := a.trainFrom(loss, start, firstSteps); r != nil {
			tried = append(tried, r)
		}
	}
	slices.SortStableFunc(tried, func(p, q *Result) int { return cmp.Compare(p.Value, q.Value) })
	var best []Model
	for i, r := range tried {
		// One that is on its way to where another stands already is no further start.
		if len(best) < fullTrainings && (i == 0 || r.Value-tried[i-1].Value > 1e-3) {
			best = append(best, r.Model)
		}
	}
	if len(best) == 0 {
		return starts[:1]
	}
	return best
}

// fullTrainings is the number of starts that are trained to the end on one loss.
const fullTrainings = 2

// trainFrom runs one training, of so many evaluations at most; 0 means the default.
func (a *auto) trainFrom(loss Loss, start Model, evaluations int) (*Result, error) {
	s := a.settings.Fit
	s.Starts, s.MaxEvaluations = 1, evaluations
	_, projected := loss.(*Projected)
	s.NoStandardErrors = s.NoStandardErrors || projected // those of the information follow
	r, err := Fit(a.ctx, loss, start.Params(), s)
	if r != nil {
		a.evaluations += r.Evaluations
		a.trained += r.FitTime
	}
	return r, err
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
	theta := values(r.Model.Params())
	info, err := loss.Information(theta)
	if err != nil {
		r.warn("no standard errors: %v", err)
		return nil, nil
	}
	stdErr = a.stdErrors(info)
	for i := range r.Params {
		r.Params[i].StdErrLog = stdErr[i]
		if math.IsInf(stdErr[i], 1) {
			r.Params[i].StdErrLog = 0
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

// stdErrors returns the standard errors of the logs of the trained parameters, 0
// for the fixed ones, +Inf for those that are not identified.
func (a *auto) stdErrors(info *mat.SymDense) []float64 {
	all := a.at.Params()
	var trained []int
	var params []Param
	for i, p := range all {
		if !isFixed(p) {
			trained, params = append(trained, i), append(params, p)
		}
	}
	se := make([]float64, len(all))
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
	if a.settings.StdErrLog > 0 && slices.Max(step.StdErrLog) <= a.settings.StdErrLog {
		return true
	}
	least := slices.Min(step.Kept)
	if steps := a.result.Steps; len(steps) > 0 && steps[len(steps)-1].Kept != nil {
		return least >= a.settings.Efficiency || least < slices.Min(steps[len(steps)-1].Kept)+0.01
	}
	return least >= a.settings.Efficiency
}

// record keeps a step with what was decided.
func (a *auto) record(step AutoStep, decision string) {
	r := a.result.Result
	step.Value, step.Theta, step.Evaluations, step.Decision = r.Value, values(r.Model.Params()), r.Evaluations, decision
	a.result.Steps = append(a.result.Steps, step)
	a.result.Kept = step.Kept
	if a.settings.Progress != nil {
		a.settings.Progress(step)
	}
}

// trainExact trains the exact likelihood.
func (a *auto) trainExact(exact *Exact, why string) error {
	began := time.Now()
	if len(a.starts)+len(a.given) > 1 { // a kernel of several scales may do better elsewhere
		a.next, a.sure = a.starts, a.given
	}
	r, gain, err := a.train(exact)
	if r == nil {
		return err
	}
	a.at, a.result.Result, a.loss = r.Model, r, exact
	a.result.Exact, a.result.Why = true, why
	step := AutoStep{Gain: gain, Seconds: time.Since(began).Seconds()}
	for _, p := range r.Params {
		step.StdErrLog = append(step.StdErrLog, p.StdErrLog)
		step.Kept = append(step.Kept, 1)
	}
	step.Needed, _ = a.needed(a.at)
	a.record(step, "exact: "+why)
	if err != nil {
		return err
	}
	return a.settle(nil)
}

// settle answers doubts about what was found: by the exact likelihood, unless it
// was that, and by further starts.
func (a *auto) settle(exact *Exact) error {
	doubts := a.doubts()
	if doubts == nil {
		return nil
	}
	if exact != nil && !a.settings.Projected {
		if _, seconds := exact.Cost(a.at); seconds < patience {
			return a.trainExact(exact, "the projections left doubts: "+strings.Join(doubts, "; "))
		}
	}
	began := time.Now()
	best := a.result.Result
	rnd := rand.New(rand.NewPCG(a.settings.Fit.Seed, 2))
	spread := orDefault(a.settings.Fit.Spread, 1)
	tried := 0
	for i := range a.further() {
		around := a.starts[i%len(a.starts)]
		if i%2 == 1 {
			around = best.Model
		}
		r, err := a.trainFrom(a.loss, around.spread(spread, rnd), a.settings.Fit.MaxEvaluations)
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if err != nil {
			continue // a start where the loss cannot be evaluated
		}
		tried++
		if r.Value < best.Value {
			best = r
		}
	}
	step := AutoStep{K: a.result.Steps[len(a.result.Steps)-1].K, Gain: a.result.Value - best.Value, Seconds: time.Since(began).Seconds()}
	a.at, a.result.Result = best.Model, best
	if l, ok := a.loss.(*Projected); ok && !a.settings.Fit.NoStandardErrors {
		step.StdErrLog, step.Kept = a.efficiency(l)
	}
	a.record(step, fmt.Sprintf("best of %d further starts, since %s", tried, strings.Join(doubts, "; ")))
	if doubts = a.doubts(); doubts != nil {
		if best.Status == Converged || best.Status == Stalled {
			best.Status, best.Reason = Doubtful, doubts[0]
		}
		for _, d := range doubts {
			best.warn("%s", d)
		}
	}
	return nil
}

// further returns the number of random starts that are tried where doubts stay: none, unless it is asked for, where the
// search was of all data and ended at an optimum.
func (a *auto) further() int {
	ended := a.result.Status == Stalled || a.result.Status == Limited
	if a.settings.Fit.Starts == 0 && a.result.Exact && a.result.Search.Screened > 0 && !ended && a.data.Len() <= trainWhole {
		return 0
	}
	return cmp.Or(a.settings.Fit.Starts, 6)
}

// spread returns m with its trained parameters moved at random in their raw
// values.
func (m Model) spread(by float64, rnd *rand.Rand) Model {
	params := m.Params()
	theta := values(params)
	for i, p := range params {
		if !isFixed(p) {
			t := transformOf(p)
			theta[i] = t.Natural(t.Raw(p.Value) + by*rnd.NormFloat64())
		}
	}
	return m.WithParams(theta)
}

// shorten returns m with its lengthscales, but not its periods, divided by c.
func (m Model) shorten(c float64) Model {
	params := m.Params()
	theta := values(params)
	for i, p := range params {
		if p.Unit == unitX && !isPeriod(p) && !isFixed(p) {
			theta[i] /= c
		}
	}
	return m.WithParams(theta)
}

// stuck says where training ran to the end of what data can tell, or "".
func (a *auto) stuck() string {
	if d := a.limits(); d != nil {
		return d[0]
	}
	return ""
}

// limits lists the parameters that were driven to where the data end.
func (a *auto) limits() (doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	params := a.at.Params()
	last := len(params) - 1
	power := blas64.Dot(vec(a.rest.Y), vec(a.rest.Y)) / float64(a.data.Len())
	if noise := params[last]; !isFixed(noise) && noise.Value < 1e-6*power && a.data.Errors == nil {
		doubt("the noise variance was driven to its floor, %.2g", noise.Value)
	}
	if a.data.X.Dim() != 1 {
		return doubts
	}
	l := newLine(a.data.X, nil)
	spacing := coverage(l.t) / float64(len(l.t))
	for _, p := range params[:last] {
		switch {
		case p.Unit != unitX || isFixed(p) || l.span == 0:
		case atEnd(p):
			doubt("%s was driven to the end of what x can show: %.3g, within %v", p.Name, p.Value, p.Transform)
		case p.Value > 2*l.span:
			doubt("%s was driven beyond the range of x: %.3g of %.3g", p.Name, p.Value, l.span)
		case p.Value < spacing/4:
			doubt("%s was driven below the spacing of x: %.3g of %.3g", p.Name, p.Value, spacing)
		}
	}
	return doubts
}

// doubts lists why what was found may not be what the data determine; nil if
// there is no reason.
func (a *auto) doubts() []string {
	doubts := append(a.limits(), a.unsettled...)
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	r := a.result.Result
	var parts split
	if parts.of(r.Model.Kernel) {
		noise := r.Model.Noise + Nugget(r.Model.Kernel)
		if signal := variance(r.Model.Kernel); signal < 1e-3*noise {
			doubt("no signal was found: its variance is %.2g, that of the noise %.2g", signal, noise)
		}
	}
	if gain := a.overNoise(); a.result.Exact && doubts == nil && !slices.ContainsFunc(a.family.Params(), isFixed) && gain < a.chance() {
		doubt("no signal was found that chance does not explain: the model is %.2g nats better than white noise", gain)
	}
	for _, p := range r.Params {
		switch {
		case isFixed(p.Param) || a.settings.Fit.NoStandardErrors:
		case p.StdErrLog == 0:
			doubt("%s has no standard error: it is not determined, or this is no minimum", p.Name)
		case p.StdErrLog > 1:
			doubt("%s is hardly determined: the standard error of its logarithm is %.2g", p.Name, p.StdErrLog)
		}
	}
	switch r.Status {
	case Stalled, Limited:
		doubt("training ended before the optimum: %s", r.Reason)
	}
	return doubts
}

// overNoise returns the nats by which the model is better than white noise of the best variance.
func (a *auto) overNoise() float64 {
	n := float64(a.data.Len()) // of contrasts that are free of flat coefficients
	if a.family.Mean != nil {
		for _, c := range a.family.Mean.Columns() {
			if math.IsInf(c.Variance, 1) {
				n--
			}
		}
	}
	power := blas64.Dot(vec(a.rest.Y), vec(a.rest.Y)) / n
	return 0.5*n*(1+log2Pi+math.Log(power)) - a.result.Value
}

// chance returns the nats by which a model is better than white noise where there is nothing else: one for each parameter
// and, with a period, the highest of about n peaks of a periodogram, log n.
func (a *auto) chance() float64 {
	params := a.family.Params()
	nats := float64(len(params) - 1)
	if slices.ContainsFunc(params, func(p Param) bool { return isPeriod(p) && !isFixed(p) }) {
		nats += math.Log(float64(a.data.Len()))
	}
	return nats
}

// finish gives the result the totals of all steps, and the model its own transforms.
func (a *auto) finish() {
	r := a.result.Result
	r.Model = a.family.WithParams(values(r.Model.Params()))
	for i, p := range a.family.Params() {
		r.Params[i].Transform = p.Transform
	}
	r.Evaluations, r.FitTime, r.SetupTime = a.evaluations, a.trained, a.setUp
	if a.result.Exact {
		r.SetupTime += a.loss.Report().Setup
	}
}

// String renders the steps and the outcome.
func (r *AutoResult) String() string {
	var b strings.Builder
	for _, s := range r.Steps {
		if s.K > 0 {
			fmt.Fprintf(&b, "k = %d: ", s.K)
		} else {
			b.WriteString("exact: ")
		}
		fmt.Fprintf(&b, "%.6g nats, gained %.2g, %d evaluations, %s; %s\n", s.Value, s.Gain, s.Evaluations, duration(s.Seconds), s.Decision)
	}
	fmt.Fprintf(&b, "%v\n", r.Search)
	return b.String() + r.Result.String()
}

// colour looks for bands of frequencies at which what the projections leave is
// above its mean: a model that put b frequencies at p times the mean power would
// gain b·(p − 1 − log p) nats (Whittle). It returns the columns that cover the
// highest such band worth more than chance explains, and what the best is worth;
// 0 if there is none.
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
	sums := newGeneral(2*band*bands, 1)
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
