package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Search reports what Fit searched before it accepted an optimum. Nothing in it depends on timings.
type Search struct {
	Lengthscales []float64 // tried as starts: every octave from the spacing of x to its range
	Periods      []float64 // tried as starts: peaks of the periodogram, their doubles and halves, combs of harmonics, octaves
	Shortest     float64   // shortest period that the periodograms could show and the search tried; 0 if it tried none
	Screened     int       // starts whose likelihoods were compared, each with its variances scaled by the best common factor
	Trained      int       // starts from which training began
	Moved        int       // changes of the best point that were compared: other scales, periods, weights, noise
	Subset       int       // observations that starts were compared on; 0 means all
	Spectral     int       // starts and changes that were compared by the periodogram of all data, where Subset is not 0
	Agree        int       // trainings that ended at the best point, or within a tenth of a nat of it
	Next         float64   // nats by which the next best of the other optima lies above; 0 if there is none
	Evaluations  int       // total number of evaluations
}

// noiseRatios are the noise variances of starts, relative to the kernel's variance within the range of x; moveRatios are the
// same for changes of a point, relative to its own.
var (
	noiseRatios = []float64{1e-4, 3e-3, 0.03, 0.2, 1}
	moveRatios  = []float64{0.1, 1}
)

// String describes the search in one line.
func (s Search) String() string {
	if s.Screened == 0 {
		return "no search: training from the start that was given, alone"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "searched %d starts at %d lengthscales", s.Screened, len(s.Lengthscales))
	if len(s.Periods) > 0 {
		fmt.Fprintf(&b, " and %d periods (none below %.4g was searched)", len(s.Periods), s.Shortest)
	}
	if s.Subset > 0 {
		fmt.Fprintf(&b, ", on %d of the observations", s.Subset)
	}
	fmt.Fprintf(&b, ", and %d changes of the best; trained from %d, %d ended at the best", s.Moved, s.Trained, s.Agree)
	if s.Spectral > 0 {
		fmt.Fprintf(&b, "; compared %d by the periodogram of all", s.Spectral)
	}
	if s.Next > 0 {
		fmt.Fprintf(&b, ", the next optimum is %.3g nats above", s.Next)
	}
	return b.String()
}

// Sizes of a search. Each stage trains fewer starts for longer (successive halving): a start is known by little training.
const (
	screenedAtMost = 240 // kernels that are compared untrained, each with all noiseRatios
	firstStage     = 2   // starts for each parameter but one that are trained for firstSteps evaluations
	firstSteps     = 12
	secondStage    = 4 // largest number of starts that are trained for secondSteps more
	secondSteps    = 40
	abandonNats    = 30   // nats above the best at which a start is given up after firstSteps
	farOff         = 60   // a change of the best point is not trained if it is as many nats worse
	sameOptimum    = 0.01 // nats by which ends of trainings at one optimum differ at most
	alike          = 0.1  // distance below which two points are one start
	nearby         = 5    // a change of the best point is given up after firstSteps if it is as many nats worse
	moveRounds     = 3    // rounds of changes of the best point
	gone           = 1e-2 // share of the mean of y² below which a term's variance is also tried as revived of it
	revived        = 0.2
	revivals       = 7   // lengthscales at which it is
	trainWhole     = 400 // observations up to which all of them are trained on
	trainSize      = 128 // observations of each of three parts of longer series that are
	screenWhole    = 160 // the same for the likelihoods that are compared
	screenSize     = 80
)

// searcher looks for the optima of one loss.
type searcher struct {
	ctx      context.Context
	model    gppl.Model                // the family, with the transforms that hold while it is searched
	params   []gppl.Param              // parameters of the model
	loss     gppl.Loss                 // the loss to minimise, a MAP if there are priors
	anew     func() (gppl.Loss, error) // the loss without what it keeps of earlier evaluations
	priors   []gppl.ParamPrior         // priors, each with the name of its parameter
	scales   scales
	ratios   []float64   // of each parameter: the extent of x along its axes, over the extent of all (axisRatios); nil: 1
	inputs   gppl.Inputs // some of the data's
	power    float64     // mean of y²
	linear   []int       // indices of the parameters that a common factor of all variances goes to; nil if there is none
	open     bool        // the last change of the best point still gained
	optima   []point     // ends of the trainings, in natural values, best first
	search   *Search
	methods  gppl.Settings
	compared comparer
}

// point is an end or a possible start of training: natural values, and the loss there.
type point struct {
	u     []float64
	value float64
}

// comparer compares starts, each at the best common factor of all variances if that is free. It is safe for concurrent use.
type comparer interface {
	// NLL sets nll to the value of m with each of the noise variances, and factors to the common factors of all variances at
	// which it has that value: 1 if free is false.
	NLL(ctx context.Context, nll, factors []float64, m gppl.Model, noises []float64, free bool) error
	Evaluations() int
}

// screen returns the points with the kernel of theta and each of some ratios of its noise, at the best common factor of
// all variances, and less the log density of their priors.
func (s *searcher) screen(theta []float64, ratios []float64) (points []point) {
	last := len(theta) - 1
	if s.params[last].IsFixed() {
		ratios = []float64{1}
	}
	noises := make([]float64, len(ratios))
	for i, r := range ratios {
		noises[i] = r * theta[last]
	}
	nll, factors := make([]float64, len(ratios)), make([]float64, len(ratios))
	if err := s.compared.NLL(s.ctx, nll, factors, s.model.WithParams(theta), noises, s.linear != nil); err != nil { // ctx has ended
		for i := range nll {
			nll[i], factors[i] = math.Inf(1), 1
		}
	}
	for i, v := range nll {
		at := slices.Clone(theta)
		at[last] = noises[i]
		for _, j := range s.linear {
			at[j] *= factors[i]
		}
		if s.priors != nil {
			at = InSupport(s.model.WithParams(at), s.priors).Values()
			v -= s.loss.(*gppl.MAP).LogPrior(at)
		}
		points = append(points, point{u: at, value: v})
	}
	return points
}

// screenAll is screen at each theta, one after another in points, on all processors.
func (s *searcher) screenAll(thetas [][]float64, ratios []float64) (points []point) {
	each := make([][]point, len(thetas))
	parallel.For(len(thetas), func(i int) { each[i] = s.screen(thetas[i], ratios) })
	return slices.Concat(each...)
}

// findLinear sets the indices of the variances that the loss scales with, if they are all trained and do scale it.
func (s *searcher) findLinear() {
	params := s.model.Params()
	last := len(params) - 1
	at := append(s.model.Amplitudes(), s.model.NoiseTerms()...)
	for _, i := range append(slices.Clone(at), last) {
		if params[i].IsFixed() {
			return
		}
	}
	// A kernel of one's own may have a parameter in the unit of y² that it is not linear in.
	theta := s.model.Values()[:last]
	r := []float64{0, 0.1, 0.3, 1, 3}
	for i := range r[1:] {
		r[i+1] *= s.scales.lengthscales[len(s.scales.lengthscales)-1]
	}
	// covariances returns those at r and, last, the nugget.
	covariances := func() []float64 {
		k := s.model.Kernel.WithParams(theta)
		c := make([]float64, len(r), len(r)+1)
		k.Cov(c, r)
		return append(c, capability.Nugget(k))
	}
	once := covariances()
	for _, i := range at {
		theta[i] *= 2
	}
	twice := covariances()
	for i := range once {
		if math.Abs(twice[i]-2*once[i]) > 1e-9*math.Abs(once[i]) {
			return
		}
	}
	s.linear = append(at, last)
}

// levels returns for each parameter the values to try as starts; nil for parameters that keep their value.
func (s *searcher) levels() [][]float64 {
	params := s.model.Params()
	last := len(params) - 1
	terms := s.model.Amplitudes()
	lengthscales, numbers, shapes := s.scales.lengthscales, []float64{0.12, 0.4, 1, 3}, []float64{0.01, 0.12, 0.4, 1, 3, 30}
	if s.free() > 3 { // leave starts for the other parameters
		numbers, shapes = []float64{0.2, 0.6, 2}, []float64{0.02, 0.2, 0.6, 2}
		lengthscales = thin(lengthscales, 5)
	}
	all := make([][]float64, len(params))
	for i, p := range params[:last] {
		switch {
		case p.IsFixed(), p.Role == gppl.RoleLocation:
		case isPeriod(p):
			all[i] = s.scales.periods
		case p.Unit == gppl.UnitX:
			all[i] = s.along(i, lengthscales)
		case s.shapes(i):
			all[i] = shapes
		case p.Unit == "":
			all[i] = numbers
		case slices.Contains(terms, i) && len(terms) > 1 && i != terms[0]:
			all[i] = []float64{0.1, 1, 10}
		}
	}
	return all
}

// along returns lengthscales as they are along the axes of parameter i.
func (s *searcher) along(i int, lengthscales []float64) (own []float64) {
	ratio := s.ratio(i)
	for _, l := range lengthscales {
		own = append(own, l*ratio)
	}
	return own
}

// ratio returns the ratio of parameter i.
func (s *searcher) ratio(i int) float64 {
	if s.ratios == nil {
		return 1
	}
	return s.ratios[i]
}

// several returns at most 64 of the inputs, spread over all.
func several(x gppl.Inputs) gppl.Inputs {
	const most = 64
	n := x.Len()
	var at []int
	for i := range min(n, most) {
		at = append(at, i*n/min(n, most))
	}
	return x.Pick(at)
}

// thin returns count of the values, evenly, or all if they are no more.
func thin(values []float64, count int) (some []float64) {
	if len(values) <= count {
		return values
	}
	some = make([]float64, count)
	for i := range some {
		some[i] = values[i*(len(values)-1)/(count-1)]
	}
	return some
}

// candidates returns the starts of the search: all combinations of the levels or, if these are too many, as many of them
// spread evenly, by the additive recurrence of the generalised golden ratio (Roberts 2018).
func (s *searcher) candidates() (all [][]float64) {
	levels := s.levels()
	var free []int
	count := 1.0
	for i, l := range levels {
		if len(l) > 0 {
			free = append(free, i)
			count *= float64(len(l))
		}
	}
	base := s.model.Values()
	pick := func(index func(j, size int) int) {
		theta := slices.Clone(base)
		for j, i := range free {
			theta[i] = levels[i][index(j, len(levels[i]))]
		}
		all = append(all, s.normalised(theta))
	}
	if count <= screenedAtMost {
		for c := range int(count) {
			pick(func(_, size int) int {
				i := c % size
				c /= size
				return i
			})
		}
		return all
	}
	// g solves g^(d+1) = g + 1.
	g, d := 1.5, float64(len(free))
	for range 60 {
		g = math.Pow(1+g, 1/(d+1))
	}
	for c := range screenedAtMost {
		pick(func(j, size int) int {
			u := 0.5 + float64(c+1)*math.Pow(g, -float64(j+1))
			return min(size-1, int(float64(size)*(u-math.Floor(u))))
		})
	}
	return all
}

// normalised returns theta with its kernel's variances scaled to vary as much as y does, and as much noise.
func (s *searcher) normalised(theta []float64) []float64 {
	last := len(theta) - 1
	v := s.varying(theta)
	params := s.model.Params()
	for _, i := range s.model.Amplitudes() {
		if !params[i].IsFixed() {
			theta[i] *= s.power / v
		}
	}
	if !params[last].IsFixed() {
		theta[last] = s.power
	}
	return s.inside(theta).Values()
}

// inside returns the model at theta, moved to where its transforms and priors reach.
func (s *searcher) inside(theta []float64) gppl.Model {
	return InSupport(s.scales.inside(s.model.WithParams(theta)), s.priors)
}

// varying returns the part of the kernel's variance that varies within the range of x: k(0) minus the smallest k(r).
func (s *searcher) varying(theta []float64) float64 {
	if s.model.IsPlaced() { // distances do not tell
		n := s.inputs.Len()
		c, most := make([]float64, n*n), 0.
		if err := gppl.Covariance(s.ctx, c, s.model.Kernel.WithParams(theta[:len(theta)-1]), s.inputs, s.inputs); err != nil {
			parallel.Look(s.ctx)
		}
		for i := range n {
			most += c[i*(n+1)] / float64(n)
		}
		return max(most-slices.Min(c), 1e-3*most)
	}
	r := make([]float64, 65)
	longest := s.scales.lengthscales[len(s.scales.lengthscales)-1]
	for i := range r {
		r[i] = longest * float64(i) / float64(len(r)-1)
	}
	for _, p := range s.model.WithParams(theta).Params() {
		if isPeriod(p) {
			r = append(r, 0.25*p.Value, 0.5*p.Value)
		}
	}
	s.model.Kernel.WithParams(theta[:len(theta)-1]).Cov(r, r)
	return max(r[0]-slices.Min(r), 1e-3*r[0])
}

// distinct returns the best of the points, at most count of them, no two within the given distance of each other.
func (s *searcher) distinct(points []point, count int, apart float64) []point {
	slices.SortStableFunc(points, byValue)
	return s.spaced(points, count, apart)
}

// spaced returns the first count of the points that have a value and lie at least the given distance from all that it took.
func (s *searcher) spaced(points []point, count int, apart float64) (kept []point) {
	for _, p := range points {
		if len(kept) == count {
			break
		}
		if !math.IsInf(p.value, 1) && !slices.ContainsFunc(kept, func(q point) bool { return s.distance(p.u, q.u) < apart }) {
			kept = append(kept, p)
		}
	}
	return kept
}

// stratified returns about count of the points: the best of all, and the best with each of the values of each period and
// lengthscale, so that no scale goes untried because another parameter outweighs it.
func (s *searcher) stratified(points []point, count int) []point {
	kept := s.distinct(points, (count+2)/3, 0.9) // sorts them
	for i, p := range s.params {
		if p.Unit != gppl.UnitX || p.IsFixed() {
			continue
		}
		var distinct []float64
		for _, q := range points {
			if len(distinct) == (count+2)/3 || math.IsInf(q.value, 1) {
				break
			}
			if v := q.u[i]; !slices.Contains(distinct, v) {
				distinct = append(distinct, v)
				if !slices.ContainsFunc(kept, func(k point) bool { return k.u[i] == v }) {
					kept = append(kept, q)
				}
			}
		}
	}
	return kept
}

// distance returns the largest difference of a parameter between a and b: in the logarithms of scales, of pure numbers and of
// ratios of variances, and in cycles of a period over the range of x.
func (s *searcher) distance(a, b []float64) (d float64) {
	last := len(a) - 1
	for i, p := range s.params {
		switch {
		case p.IsFixed():
		case isPeriod(p):
			d = max(d, 4*math.Abs(s.scales.longest/a[i]-s.scales.longest/b[i]))
		case i == last:
			d = max(d, 0.5*math.Abs(math.Log(a[i]/b[i])))
		case p.Unit == gppl.UnitY2:
			d = max(d, 0.5*math.Abs(math.Log(a[i]/a[last])-math.Log(b[i]/b[last])))
		default:
			d = max(d, math.Abs(math.Log(a[i]/b[i])))
		}
	}
	return d
}

// train continues from a point for some evaluations. Periods move by cycles over the range (Cycles): in their logarithm, a step
// that suits the other parameters spans many lobes of the likelihood, and training takes four times as many evaluations. If it
// ends outside the range of periods, training is repeated with the model's own transforms.
func (s *searcher) train(p point, evaluations int) (end point, took int) {
	m := s.inside(p.u)
	params, changed := inCycles(m.Params())
	end, took = s.trainWith(params, evaluations)
	if changed && !math.IsInf(end.value, 1) && !slices.Equal(end.u, s.scales.inside(s.model.WithParams(end.u)).Values()) {
		var more int
		end, more = s.trainWith(m.Params(), evaluations)
		took += more
	}
	if math.IsInf(end.value, 1) {
		end.u = p.u
	}
	return end, took
}

// trainAll trains all the points, on all processors.
func (s *searcher) trainAll(points []point, evaluations int) (ends []point) {
	ends = make([]point, len(points))
	took := make([]int, len(points))
	parallel.For(len(points), func(i int) { ends[i], took[i] = s.train(points[i], evaluations) })
	for _, t := range took {
		s.search.Evaluations += t
	}
	return ends
}

// inCycles returns params with their bounded periods moving by cycles over the range, and whether there are any.
func inCycles(params []gppl.Param) (cycling []gppl.Param, changed bool) {
	cycling = slices.Clone(params)
	for i, q := range params {
		if kept, ok := q.Transform.(interval); ok && isPeriod(q) {
			cycling[i].Transform, changed = transform.Cycles{Span: kept.hi}, true
		}
	}
	return cycling, changed
}

// trainWith trains from params for some evaluations; the value is +Inf where the loss cannot be evaluated there.
func (s *searcher) trainWith(params []gppl.Param, evaluations int) (end point, took int) {
	settings := s.methods
	settings.MaxEvaluations = evaluations
	loss, err := s.anew()
	if err != nil {
		return point{value: math.Inf(1)}, 0
	}
	r, _ := gppl.Fit(s.ctx, loss, params, settings)
	if r == nil {
		return point{value: math.Inf(1)}, 0
	}
	return point{u: r.Model.Values(), value: r.Value}, r.Evaluations
}

// run screens the candidates and the given starts, trains the best, and then changes the best point as long as that helps.
func (s *searcher) run(given []gppl.Model) {
	var first []point
	for _, m := range given {
		first = append(first, point{u: s.scales.inside(m).Values()})
	}
	ratios := noiseRatios
	if s.free() > 3 {
		ratios = thin(noiseRatios, 3)
	}
	points := s.screenAll(s.candidates(), ratios)
	if s.ctx.Err() != nil {
		return
	}
	s.search.Screened = len(points)
	first = append(first, s.stratified(points, firstStage*s.free())...)
	first = s.spaced(first, len(first), alike)
	s.search.Trained += len(first)
	s.stages(first, abandonNats)
	for range moveRounds {
		if len(s.optima) == 0 || s.ctx.Err() != nil {
			return
		}
		best := s.optima[0].value
		if s.open = s.move() && s.optima[0].value < best-1; s.optima[0].value > best-0.01 {
			return
		}
	}
}

// free returns the number of parameters that are trained, less one for the common factor of the variances.
func (s *searcher) free() int {
	count := -1
	for _, p := range s.params {
		if !p.IsFixed() {
			count++
		}
	}
	return max(1, count)
}

// stages trains the points in stages and adds the end points to the optima. It stops training points that approach a known
// optimum or remain far above the best.
func (s *searcher) stages(points []point, within float64) {
	points = s.trainAll(points, firstSteps)
	best := math.Inf(1)
	for _, p := range append(points, s.optima...) {
		best = min(best, p.value)
	}
	var near []point
	for _, p := range s.distinct(points, secondStage, 0.2) {
		if p.value <= best+within && !s.known(p) {
			near = append(near, p)
		}
	}
	for _, p := range s.trainAll(near, secondSteps) {
		s.add(p)
	}
}

// known reports whether p is at one of the optima, or on its way to it, and counts it if that is the best. Where a parameter is
// not determined, points of one value are one optimum.
func (s *searcher) known(p point) bool {
	i := slices.IndexFunc(s.optima, func(q point) bool {
		return math.Abs(p.value-q.value) < sameOptimum || s.distance(p.u, q.u) < alike && p.value > q.value
	})
	if i < 0 {
		i = slices.IndexFunc(s.optima, func(q point) bool { return p.value > q.value && p.value < q.value+nearby && s.descends(p, q) })
	}
	if i == 0 {
		s.search.Agree++
	}
	return i >= 0
}

// descends reports whether the loss falls all the way from p to the optimum q, on the straight line in the raw values: then no
// barrier makes p the start of another optimum (Ursem 1999).
func (s *searcher) descends(p, q point) bool {
	const steps = 5
	loss, err := s.anew()
	if err != nil {
		return false
	}
	params, _ := inCycles(s.inside(p.u).Params())
	last := p.value
	for step := 1; step < steps; step++ {
		theta := slices.Clone(p.u)
		for i, param := range params {
			if t := cmp.Or[transform.Transform](param.Transform, transform.Log{}); !param.IsFixed() {
				from, to := t.Raw(p.u[i]), t.Raw(q.u[i])
				theta[i] = t.Natural(from + (to-from)*float64(step)/steps)
			}
		}
		v, err := loss.ValueGrad(s.ctx, nil, theta)
		s.search.Evaluations++
		if err != nil || !(v < last+sameOptimum) {
			return false
		}
		last = v
	}
	return true
}

// add takes p among the optima, unless it is one of them.
func (s *searcher) add(p point) {
	if math.IsInf(p.value, 1) || s.known(p) { // training that was interrupted at its start has no value
		return
	}
	if len(s.optima) == 0 || p.value < s.optima[0].value {
		s.search.Agree = 1
	}
	s.optima = append(s.optima, p)
	slices.SortStableFunc(s.optima, byValue)
}

// move compares changes of the best point and trains from the best of them. It reports whether that found a better one.
func (s *searcher) move() bool {
	best := s.optima[0]
	stands := s.screen(best.u, []float64{1})[0].value
	var moved []point
	for _, p := range s.screenAll(s.changes(best.u), moveRatios) {
		s.search.Moved++
		if p.value < stands+farOff {
			moved = append(moved, p)
		}
	}
	moved = s.distinct(moved, s.free(), 0.3)
	for i, p := range s.params {
		if isTrainedPeriod(p) {
			moved = append(moved, s.lobes(best.u, i, stands+farOff)...)
		}
	}
	s.search.Trained += len(moved)
	s.stages(moved, nearby)
	return s.optima[0].value < best.value-0.01
}

// lobes returns theta with its parameter i, a period, at other minima of the likelihood: the best on either side, below a limit.
// A rhythm of many harmonics has minima that are a small part of a cycle over the range wide, and clusters of x repeat them.
func (s *searcher) lobes(theta []float64, i int, limit float64) (minima []point) {
	const cycles, finer = 1.5, 16
	for _, side := range []float64{-1, 1} {
		var thetas [][]float64
		for step := range int(cycles*finer) + 1 {
			at := slices.Clone(theta)
			at[i] = 1 / (1/theta[i] + side*float64(step)/(finer*s.scales.longest))
			if !s.scales.allow(at[i]) {
				break
			}
			thetas = append(thetas, at)
		}
		scan := s.screenAll(thetas, []float64{1})
		s.search.Moved += len(scan)
		best := -1
		for j := 1; j+1 < len(scan); j++ {
			minimum := scan[j].value < scan[j-1].value && scan[j].value <= scan[j+1].value
			if minimum && scan[j].value < limit && (best < 0 || scan[j].value < scan[best].value) {
				best = j
			}
		}
		if best >= 0 {
			minima = append(minima, scan[best])
		}
	}
	return minima
}

// withPeriod returns m with another period, a plain shape and, of several terms, one of them as faint as suits that best.
func (s *searcher) withPeriod(m gppl.Model, period float64) gppl.Model {
	theta := m.Values()
	for i, p := range s.params {
		switch {
		case p.IsFixed():
		case isPeriod(p):
			theta[i] = period
		case p.Unit == "":
			theta[i] = 1
		}
	}
	thetas := [][]float64{theta}
	for _, i := range s.model.Amplitudes() {
		for _, c := range []float64{0.1, 0.01} {
			if at := slices.Clone(theta); !s.params[i].IsFixed() {
				at[i] *= c
				thetas = append(thetas, at)
			}
		}
	}
	best := lowest(s.screenAll(thetas, []float64{1}))
	return s.scales.inside(s.model.WithParams(best.u))
}

// lowest returns the first of the points with the lowest value.
func lowest(points []point) point { return slices.MinFunc(points, byValue) }

func byValue(a, b point) int { return cmp.Compare(a.value, b.value) }

// rivals says which other periods fit about as well as the best, apart from its multiples and fractions.
func (s *searcher) rivals() (doubts []string) {
	const close = 2 // nats: a start that was missed may well be as much better
	for i, p := range s.params {
		if !isTrainedPeriod(p) {
			continue
		}
		for _, o := range s.optima {
			ratio := max(o.u[i]/s.optima[0].u[i], s.optima[0].u[i]/o.u[i])
			harmonic := math.Abs(ratio-math.Round(ratio)) < 0.03*ratio
			if above := o.value - s.optima[0].value; !harmonic && above < close {
				doubts = append(doubts, fmt.Sprintf("%s is not determined: %.4g fits within %.2g nats of %.4g",
					p.Name, o.u[i], above, s.optima[0].u[i]))
				break
			}
		}
	}
	return doubts
}

// beyond returns the best point whose periods are above the range of x, and the nats by which it is better than the best
// within; 0 if none is, or if periods are not kept within it. A period that long is none that the data show: with it
// Periodic is a kernel of the lengthscale l_p·p/2π without any rhythm.
func (s *searcher) beyond(family gppl.Model) (better point, nats float64) {
	kept := s.keptWithin(family.Params())
	if len(s.optima) == 0 || kept == nil {
		return point{}, 0
	}
	free := *s
	free.model, free.params, free.optima, free.search = family, family.Params(), nil, &Search{}
	best := s.optima[0]
	var thetas [][]float64
	for _, c := range []float64{1.1, 3} {
		long := slices.Clone(best.u)
		for _, i := range kept {
			long[i] = c * s.scales.longest
		}
		at := kept[len(kept)-1]
		j := shapeOf(s.params, at)
		if j < 0 {
			thetas = append(thetas, long)
			continue
		}
		for _, l := range s.scales.lengthscales {
			shaped := slices.Clone(long)
			shaped[j] = 2 * math.Pi * l / long[at]
			thetas = append(thetas, shaped)
		}
	}
	var ends []point
	for _, p := range free.trainAll(free.distinct(free.screenAll(thetas, moveRatios), 2, 0.3), firstSteps) {
		if p.value < best.value+nearby {
			ends = append(ends, p)
		}
	}
	for _, p := range free.trainAll(ends, secondSteps) {
		if p.value < best.value-nats {
			better, nats = p, best.value-p.value
		}
	}
	s.search.Evaluations += free.search.Evaluations
	return better, nats
}

// keptWithin returns the indices of the periods that the search keeps within the range of x, and the params of the family do not.
func (s *searcher) keptWithin(family []gppl.Param) (kept []int) {
	for i, p := range s.model.Params() {
		_, own := family[i].Transform.(transform.Cycles)
		switch p.Transform.(type) {
		case interval:
			kept = append(kept, i)
		case transform.Cycles:
			if !own {
				kept = append(kept, i)
			}
		}
	}
	return kept
}

// shapeOf returns the index of the trained pure number beside the period i, which sets its number of harmonics; -1 if there is
// none.
func shapeOf(params []gppl.Param, i int) int {
	for _, j := range []int{i + 1, i - 1} {
		if j >= 0 && j < len(params)-1 && params[j].Unit == "" && !params[j].IsFixed() {
			return j
		}
	}
	return -1
}

// changes returns points to go on from theta: one parameter at another scale, a rhythm at a multiple or a part of its
// period, two terms that trade places, all shorter with less noise.
func (s *searcher) changes(theta []float64) (all [][]float64) {
	params := s.model.Params()
	last := len(params) - 1
	change := func(f func(at []float64)) {
		at := slices.Clone(theta)
		f(at)
		all = append(all, s.inside(at).Values())
	}
	for i, p := range params {
		factors := []float64{0.1, 0.3, 3, 10}
		switch {
		case p.IsFixed():
			continue
		case isPeriod(p):
			factors = []float64{1. / 3, 0.5, 2. / 3, 1.5, 2, 3}
		case p.Unit == gppl.UnitY2: // the ratios to the noise are tried with every change
			if factors = []float64{1e-3, 0.05, 20}; i == last || len(s.model.Amplitudes()) < 2 {
				factors = nil
			}
		}
		for _, c := range factors {
			change(func(at []float64) { at[i] *= c })
		}
		for j, q := range params[:i] {
			if q.Unit == p.Unit && isPeriod(p) == isPeriod(q) && !q.IsFixed() && j != last {
				change(func(at []float64) { at[i], at[j] = at[j], at[i] })
			}
		}
		if isPeriod(p) { // the same shape at short lags, with another period
			for _, cycles := range []float64{-1, -0.5, 0.5, 1} { // more or fewer over the range: a neighbouring lobe
				change(func(at []float64) {
					if f := 1/at[i] + cycles/s.scales.longest; f > 0 {
						at[i] = 1 / f
					}
				})
			}
			for _, c := range []float64{0.5, 2, 3} {
				change(func(at []float64) {
					at[i] *= c
					if j := shapeOf(params, i); j >= 0 {
						at[j] /= c
					}
				})
			}
			for _, c := range []float64{2, 2.5, 3, 3.5, 4, 5, 6, 7} { // a rhythm of many harmonics is first found at a part of its period
				change(func(at []float64) {
					at[i] *= c
					if j := shapeOf(params, i); j >= 0 {
						at[j] *= 3
					}
				})
			}
			for _, period := range s.scales.periods[:min(12, len(s.scales.periods))] {
				change(func(at []float64) { at[i] = period })
				change(func(at []float64) { // and regular for some periods
					at[i] = period
					for j, q := range params[:last] {
						if isTrainedLength(q) {
							at[j] = max(at[j], 2*period)
						} else if q.Unit == "" && !q.IsFixed() {
							at[j] = 1
						}
					}
				})
			}
		}
	}
	for _, i := range s.model.Amplitudes() { // a term that vanished does not come back by itself
		if params[i].IsFixed() || theta[i] > gone*s.power {
			continue
		}
		for _, l := range thin(s.scales.lengthscales, revivals) {
			change(func(at []float64) {
				at[i] = revived * s.power
				for j := i + 1; j < last && params[j].Unit != gppl.UnitY2; j++ {
					if isTrainedLength(params[j]) {
						at[j] = l * s.ratio(j)
					}
				}
			})
		}
	}
	for _, c := range []float64{0.05, 0.2, 0.5} {
		change(func(at []float64) {
			for i, p := range params {
				if isTrainedLength(p) {
					at[i] *= c
				}
			}
			if !params[last].IsFixed() {
				at[last] *= 0.1
			}
		})
	}
	return all
}
