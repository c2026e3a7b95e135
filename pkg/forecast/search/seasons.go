package search

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// season is a period that terms may have.
type season struct {
	period float64
	fixed  bool // given, the calendar's, or a whole number of steps that the series shows
	shown  bool // by the series itself
	faint  bool // the calendar's, whose seasonal means gain nothing in the series
	// smoothness is the periodic lengthscale that its seasonal means suggest, to begin with; 0 if they are not known.
	smoothness float64
}

const (
	// detectable is the number of observations from which a period is looked for.
	detectable = 24
	// peaksTell is the number of even observations from which the peaks of a periodogram may be seasons.
	peaksTell = 48
	// mostFolded is the number of latest observations whose seasonal means are scored, at periods of up to longestFolded steps or,
	// of many, of as many as take foldedAdditions: some 10 ms.
	mostFolded, longestFolded, foldedAdditions = 6000, 1100, 2e6
	// leastCycles is the number of cycles in which a season must repeat to be seen.
	leastCycles = 3
	// leastWaves is the number of cycles of a smooth season.
	leastWaves = 2.5
	// clearlyShown is the gain in nats, by BIC, of a season that is shown. In 200 series each of white, red, wandering and
	// heavy-tailed noise none or a few have as much (measure/search counts them).
	clearlyShown = 6
	// faintOdds is the advantage in nats of models without a season of the calendar that is faint: most daily series have a week,
	// but noise of 24 days has one by its evidence in one of ten.
	faintOdds = 2
	// mostShown is the number of seasons beside the calendar's that a series may show.
	mostShown = 2
)

// seasonsOf returns the seasons that a search tries, in this order: the given ones, otherwise those of the calendar and those
// that the series itself shows. A season that is clearer than those of the calendar comes first.
func seasonsOf(ctx context.Context, s *series.Series, o Options) (all []season, err error) {
	if o.NoSeason {
		return nil, nil
	}
	for _, period := range o.Periods {
		all = append(all, season{period: period, fixed: true})
	}
	if all != nil {
		smoothen(s, o, all)
		return all, nil
	}
	for _, period := range s.CalendarPeriods() {
		all = append(all, season{period: period, fixed: true})
	}
	shown, clearer, err := shownSeasons(ctx, s, o, all)
	if clearer {
		return append(shown, all...), err
	}
	return append(all, shown...), err
}

// whole returns the number of steps of a season that lasts for a whole number of them and repeats leastCycles times; else 0.
func (c season) whole(s *series.Series) int {
	steps := math.Round(c.period / s.Step)
	if steps < 2 || math.Abs(c.period/s.Step-steps) >= 0.02 || steps > (s.X[len(s.X)-1]-s.X[0])/s.Step/leastCycles {
		return 0
	}
	return int(steps)
}

// smoothen sets the smoothness of given seasons of an even series.
func smoothen(s *series.Series, o Options, given []season) {
	if !s.Even || len(s.X) < detectable {
		return
	}
	views := detrendedViews(s, o)
	for i, c := range given {
		if steps := c.whole(s); steps > 0 && len(views) > 0 {
			given[i].smoothness = views[0].smoothness(folded{period: steps, parts: 1})
		}
	}
}

// shownSeasons returns the seasons beside those of the calendar that an even series shows after its trend, its changes and its
// regressors, the clearest first, and whether it is clearer than those of the calendar. A rough season of P steps has P − 1 free
// means, and no single peak of a periodogram: seasonal means at every whole number of steps are scored by BIC (folded), until
// what they leave shows none. Smooth seasons of any length are the clear peaks of the periodogram of the rest
// (auto.ClearPeriods).
func shownSeasons(ctx context.Context, s *series.Series, o Options, calendar []season) (all []season, clearer bool, err error) {
	if !s.Even || len(s.X) < detectable {
		return nil, false, nil
	}
	span := s.X[len(s.X)-1] - s.X[0]
	same := func(period float64, other season) bool {
		return math.Abs(span/period-span/other.period) < 0.5 ||
			math.Abs(period/other.period-1) < 0.01
	}
	views := detrendedViews(s, o)
	if len(views) == 0 {
		return nil, false, nil
	}
	known := slices.Clone(calendar)
	var whole []int // seasons of the calendar, in steps
	for i, c := range calendar {
		if steps := c.whole(s); steps > 0 {
			whole = append(whole, steps)
			calendar[i].smoothness = views[0].smoothness(folded{period: steps, parts: 1})
			calendar[i].faint = !slices.ContainsFunc(views, func(v *view) bool { return v.gain(steps) > 0 })
		}
	}
	for len(all) < mostShown && len(known) < len(calendar)+2*mostShown {
		best := clearest(views, whole)
		if best.gain < clearlyShown {
			break
		}
		smoothness := views[0].smoothness(best)
		for _, v := range views {
			v.leaveOut(best)
		}
		period := best.steps() * s.Step
		if slices.ContainsFunc(calendar, func(c season) bool { return same(period, c) }) {
			known = append(known, season{period: period})
			continue
		}
		if slices.ContainsFunc(known, func(c season) bool { return same(period, c) }) {
			break
		}
		found := season{period: period, fixed: true, shown: true, smoothness: smoothness}
		if refined := best.refined; refined > 0 {
			found.period, found.fixed = refined*s.Step, false
		}
		clearer = clearer || len(known) == len(calendar)
		all, known = append(all, found), append(known, found)
	}
	smooth, err := smoothPeriods(ctx, s, views[0])
	for _, period := range smooth {
		if len(all) == mostShown || period > span/leastWaves || period < 2.5*s.Step ||
			slices.ContainsFunc(known, func(c season) bool { return same(period, c) || harmonic(c.period, period, span) }) {
			continue
		}
		found := season{period: period, shown: true}
		all, known = append(all, found), append(known, found)
	}
	return all, clearer, err
}

// smoothPeriods returns the periods of waves: the clear peaks of a periodogram of the whole series, or of what its seasons leave,
// and the highest peak if its wave is most of the series, since a few cycles are too few for a clear peak. A wave must also gain
// as much as other seasons, in the observations and in what an AR(1) leaves of them.
func smoothPeriods(ctx context.Context, s *series.Series, v *view) (periods []float64, err error) {
	if s.Errors != nil { // the periodogram has no weights
		return nil, nil
	}
	const most = 0.5 // of the variance about a cubic
	if len(v.at) < len(s.X) {
		rest, err := withoutMean(s, s.Y)
		if err != nil {
			return nil, nil
		}
		v = &view{stepsOf(s, 0), rest, weightsOf(s)}
	}
	d := gppl.Data{X: gppl.Scalars(s.X), Y: v.y}
	clear, err := auto.ClearPeriods(ctx, d, mostShown)
	if err != nil { // no periodogram, or the end of ctx
		return nil, ctx.Err()
	}
	highest, err := auto.LikelyPeriods(ctx, d, 1)
	if err != nil {
		return nil, ctx.Err()
	}
	n := float64(len(s.X))
	white := v.whitened()
	for i, period := range append(clear, highest...) {
		steps, _ := v.refine(period/s.Step, 1)
		gain := v.gainAt(steps, 1)
		if min(gain, white.gainAt(steps, 1))-math.Log(n) < clearlyShown || i >= len(clear) && 1-math.Exp(-2*gain/n) < most {
			continue
		}
		periods = append(periods, steps*s.Step)
	}
	return periods, nil
}

// stepsOf returns the places of the observations from an index on, in steps from the first of them.
func stepsOf(s *series.Series, from int) (at []int) {
	for _, x := range s.X[from:] {
		at = append(at, int(math.Round((x-s.X[from])/s.Step)))
	}
	return at
}

// harmonic reports whether a period is a whole part of another, to a quarter of a cycle over the span.
func harmonic(of, period, span float64) bool {
	cycles := of / period
	return math.Round(cycles) >= 1 && math.Abs(cycles-math.Round(cycles))*span/of < 0.25*cycles
}

// view is an even series without its trend, on a scale of y.
type view struct {
	at     []int     // steps from the first observation
	y      []float64 // at the same places
	weight []float64 // of each, 1 on average; the inverse of its known variance
}

// detrendedViews returns the latest observations, at most mostFolded, without a line, the changes and the regressors, on each
// scale that the options allow. Values further off than five robust standard deviations count as that far.
func detrendedViews(s *series.Series, o Options) (all []*view) {
	late := s
	if n := len(s.X); n > mostFolded {
		late = s.Part(n-mostFolded, n)
	}
	for _, log := range []bool{false, true} {
		if log && !o.mayBeLog(s) || !log && o.alwaysLog(s) {
			continue
		}
		y := slices.Clone(late.Y)
		for i, value := range y {
			switch {
			case log:
				y[i] = s.Warp().Forward(value)
			case s.Counting != nil: // whose variance hardly depends on their mean then
				y[i] = math.Sqrt(max(0, value) / late.Counting.Size(i))
			}
		}
		rest, err := withoutMean(late, y)
		if err != nil {
			continue
		}
		all = append(all, &view{stepsOf(late, 0), clipped(rest), weightsOf(late)})
	}
	return all
}

// weightsOf returns the inverse of the known variance of each observation, 1 on average. Errors that are not relative leave room
// for as much noise as the median of them.
func weightsOf(s *series.Series) []float64 {
	weight := make([]float64, len(s.X))
	if s.Errors == nil {
		floats.AddConst(1, weight)
		return weight
	}
	noise := sq(numeric.UpperMedian(s.Errors))
	if s.Relative {
		noise = 0
	}
	for i, e := range s.Errors {
		weight[i] = 1 / max(sq(e)+noise, math.SmallestNonzeroFloat64)
	}
	floats.Scale(float64(len(weight))/floats.Sum(weight), weight)
	return weight
}

// withoutMean returns what a line, changes, regressors and holidays leave of y, by least squares.
func withoutMean(s *series.Series, y []float64) ([]float64, error) {
	in, err := s.Inputs(s.X)
	if err != nil {
		return nil, err
	}
	mean, err := policyMean(slopeOf, "linear", in)
	if err != nil {
		return nil, err
	}
	h, err := mean.Basis(in)
	if err != nil {
		return nil, err
	}
	n, k := h.Dims()
	var rest [][]float64 // orthonormal columns: those that depend on others are left out
	left := slices.Clone(y)
	column := make([]float64, n)
	for j := range k {
		mat.Col(column, j, h)
		length := floats.Norm(column, 2)
		for range 2 {
			for _, q := range rest {
				floats.AddScaled(column, -floats.Dot(q, column), q)
			}
		}
		const dependent = 1e-6
		if norm := floats.Norm(column, 2); norm > dependent*length && len(rest) < n/4 {
			q := slices.Clone(column)
			floats.Scale(1/norm, q)
			rest = append(rest, q)
			floats.AddScaled(left, -floats.Dot(q, left), q)
		}
	}
	return left, nil
}

// clipped limits values to five robust standard deviations from their median: one wrong reading hides any season.
func clipped(y []float64) []float64 {
	const far, normal = 5, 1.4826 // σ over the median distance
	middle, apart := numeric.UpperMedian(y), make([]float64, len(y))
	for i, v := range y {
		apart[i] = math.Abs(v - middle)
	}
	bound := far * normal * numeric.UpperMedian(apart)
	if bound == 0 {
		return y
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = min(max(v, middle-bound), middle+bound)
	}
	return out
}

// whitened returns what an AR(1) leaves of the observations: a walk looks periodic at many periods, its steps do not.
func (v *view) whitened() *view {
	var product, square float64
	for i := 1; i < len(v.y); i++ {
		if v.at[i] == v.at[i-1]+1 {
			product, square = product+v.y[i]*v.y[i-1], square+v.y[i-1]*v.y[i-1]
		}
	}
	if !(square > 0) {
		return &view{v.at[1:], v.y[1:], v.weight[1:]}
	}
	a := min(max(product/square, 0), 1)
	w := &view{v.at[1:], make([]float64, len(v.y)-1), v.weight[1:]}
	for i := range w.y {
		w.y[i] = v.y[i+1] - math.Pow(a, float64(v.at[i+1]-v.at[i]))*v.y[i]
	}
	return w
}

// folded is a season that seasonal means show.
type folded struct {
	period  int     // steps
	parts   int     // the period is this part of it: 12.5 steps are a half of 25
	gain    float64 // in nats, by BIC
	refined float64 // the period in steps, if it is no whole number of them; else 0
}

func (f folded) steps() float64 { return float64(f.period) / float64(f.parts) }

// clearest returns the season that is the clearest on one of the scales. A season must be seen in the observations and in what an
// AR(1) leaves of them: its gain is the lower of both. Of multiples of one period, the shortest within 3 nats is meant, but
// before it a season of the calendar: opening hours from 7 to 17 h look the same in 12 hours as in a day.
func clearest(views []*view, calendar []int) (best folded) {
	const close = 3 // nats
	for _, v := range views {
		white := v.whitened()
		last := v.at[len(v.at)-1] + 1
		gains := make([]float64, max(3, min(last/leastCycles, longestFolded, int(foldedAdditions/float64(len(v.y))))+1))
		top := 0
		for p := 2; p < len(gains); p++ {
			if gains[p] = v.gain(p); gains[p] > 0 { // few do
				gains[p] = min(gains[p], white.gain(p))
			}
			if top == 0 || gains[p] > gains[top] {
				top = p
			}
		}
		if top == 0 || gains[top] <= best.gain {
			continue
		}
		if i := slices.IndexFunc(calendar, func(p int) bool { return min(v.gain(p), white.gain(p)) > gains[top]-close }); i >= 0 {
			best = folded{period: calendar[i], parts: 1, gain: gains[top]}
			continue
		}
		for p := 2; p < top; p++ {
			if top%p == 0 && gains[p] > gains[top]-close {
				top = p
				break
			}
		}
		top = v.apart(gains, top)
		best = v.inParts(white, folded{period: top, parts: 1, gain: gains[top]})
		best = v.settle(best)
	}
	return best
}

// apart returns the shorter of two seasons that a period, about a multiple of it, shows as one, if they explain more apart: 91
// steps show both a week and a wave of 90. It returns the period itself if no two do.
func (v *view) apart(gains []float64, period int) int {
	short := 0
	for p := 2; p <= period/4; p++ {
		if off := period - p*((period+p/2)/p); off >= -1 && off <= 1 && gains[p] > clearlyShown &&
			(short == 0 || gains[p] > gains[short]) {
			short = p
		}
	}
	if short == 0 {
		return period
	}
	rest := &view{v.at, slices.Clone(v.y), v.weight}
	rest.leaveOut(folded{period: short, parts: 1})
	more, n := rest.gain(period), float64(len(v.y))
	steps, _ := rest.refine(float64(period), 1)
	for _, harmonics := range []int{1, 2, 3} {
		if 2*harmonics < period {
			more = max(more, rest.gainAt(steps, harmonics)-float64(harmonics)*math.Log(n))
		}
	}
	if gains[short]+more > gains[period] {
		return short
	}
	return period
}

// gain is that of seasonal means at a period over one mean, ½n·log of the ratio of the sums of squares less ½log n for each mean.
func (v *view) gain(period int) float64 {
	sum, count := make([]float64, period), make([]float64, period)
	var total, mean float64
	k := 0
	for i, y := range v.y {
		if i > 0 {
			k += v.at[i] - v.at[i-1]
		}
		if k >= period { // a division takes longer
			if k -= period; k >= period {
				k %= period
			}
		}
		w := v.weight[i]
		sum[k] += w * y
		count[k] += w
	}
	for i, y := range v.y {
		w := v.weight[i]
		total, mean = total+w*y*y, mean+w*y
	}
	n := float64(len(v.y))
	mean /= n
	explained, free := -n*mean*mean, -1.0
	total -= n * mean * mean
	for k, c := range count {
		if c > 0 {
			explained += sum[k] * sum[k] / c
			free++
		}
	}
	return gainOf(n, total, explained, free)
}

// gainOf is the gain by BIC of free coefficients that explain a part of a sum of squares.
func gainOf(n, total, explained, free float64) float64 {
	const least = 1e-12 // of the total: what rounding leaves
	if !(total > 0) {
		return math.Inf(-1)
	}
	return 0.5*n*math.Log(total/max(total-explained, least*total)) - 0.5*free*math.Log(n)
}

// inParts returns the part of the period that says as much with fewer coefficients: of a rhythm of 12.5 steps, which repeats
// after 25, only every second harmonic of 25 is there.
func (v *view) inParts(white *view, f folded) folded {
	best := f
	for _, parts := range divisors(f.period) {
		gain := min(v.gainOfParts(f.period, parts), white.gainOfParts(f.period, parts))
		if gain > best.gain {
			best.parts, best.gain = parts, gain
		}
	}
	return best
}

// divisors returns the numbers of parts, from 2 on, that leave at least two steps to a part.
func divisors(period int) (all []int) {
	for parts := 2; 2*parts <= period; parts++ {
		all = append(all, parts)
	}
	return all
}

// gainOfParts is the gain of those harmonics of seasonal means that repeat within a part of the period.
func (v *view) gainOfParts(period, parts int) float64 {
	sum, count := make([]float64, period), make([]float64, period)
	var total, mean float64
	n := float64(len(v.y))
	for i, y := range v.y {
		mean += v.weight[i] * y / n
	}
	for i, y := range v.y {
		k, w := v.at[i]%period, v.weight[i]
		sum[k] += w * (y - mean)
		count[k] += w
		total += w * (y - mean) * (y - mean)
	}
	for k, c := range count {
		if c == 0 { // a time without observations: no whole season to analyse
			return math.Inf(-1)
		}
		sum[k] /= c
	}
	harmonics := fourier.NewFFT(period).Coefficients(nil, sum)
	var explained, free float64
	for h := parts; h < len(harmonics); h += parts {
		power := sq(cmplx.Abs(harmonics[h])) / sq(float64(period))
		if 2*h == period {
			explained, free = explained+n*power, free+1
			continue
		}
		explained, free = explained+2*n*power, free+2
	}
	return gainOf(n, total, explained, free)
}

func sq(v float64) float64 { return v * v }

// refine returns the period in steps, within half a cycle over the span, at which so many harmonics say the most, and by how many
// nats they say more there.
func (v *view) refine(steps float64, harmonics int) (best, more float64) {
	const rounds, tries, finer = 5, 3, 2.5
	span := float64(v.at[len(v.at)-1])
	at := func(shift float64) float64 { return 1 / (1/steps + shift/span) } // by cycles over the span
	here := v.gainAt(steps, harmonics)
	shift, top, reach := 0.0, here, 0.5
	for range rounds {
		centre := shift
		for k := -tries; k <= tries; k++ {
			to := centre + reach*float64(k)/tries
			if k == 0 || !(at(to) >= 2) {
				continue
			}
			if gain := v.gainAt(at(to), harmonics); gain > top {
				shift, top = to, gain
			}
		}
		reach /= finer
	}
	return at(shift), top - here
}

// settle sets the period that harmonics refine, unless they say no more there than at the whole number of steps.
func (v *view) settle(f folded) folded {
	const (
		most   = 6 // harmonics
		enough = 2 // nats: what one more coefficient gains by chance in one of twenty series
	)
	steps, more := v.refine(f.steps(), max(1, min(most, int((f.steps()-1)/2))))
	if f.parts > 1 || more > enough {
		f.refined = steps
	}
	return f
}

// gainAt is the gain in nats, without a penalty, of the first harmonics of a period in steps.
func (v *view) gainAt(steps float64, harmonics int) float64 {
	n, k := len(v.y), 2*harmonics+2
	products, b, row := make([]float64, k*k), make([]float64, k), make([]float64, k) // the upper triangle of the first
	last, total := float64(v.at[n-1]), 0.0
	for i, y := range v.y {
		sin, cos := math.Sincos(2 * math.Pi * float64(v.at[i]) / steps)
		turn, now := complex(cos, sin), complex(1, 0)
		row[0], row[1] = 1, float64(v.at[i])/last // a few cycles of a wave have tilted the line that was taken off
		for h := range harmonics {
			now *= turn
			row[2*h+2], row[2*h+3] = real(now), imag(now)
		}
		for c, r := range row {
			r *= v.weight[i]
			b[c] += r * y
			for d := c; d < k; d++ {
				products[c*k+d] += r * row[d]
			}
		}
		total += v.weight[i] * y * y
	}
	a, right := mat.NewSymDense(k, products), mat.NewVecDense(k, b)
	var chol mat.Cholesky
	var beta mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&beta, right) != nil {
		return math.Inf(-1)
	}
	return gainOf(float64(n), total, mat.Dot(&beta, right), 0)
}

// smoothness returns the lengthscale ℓ of a periodic kernel whose correlation exp(−2 sin²(π/P)/ℓ²) of neighbours is the one of
// the seasonal means at a period of P steps, without their noise. Training that starts smoother than a rough season can end with
// the season in the noise. Seasons that are not rough start at smoothSeason, from where training finds any.
func (v *view) smoothness(f folded) float64 {
	const least, rough = 0.05, 0.5 * smoothSeason // correlation, ℓ
	sum, count := make([]float64, f.period), make([]float64, f.period)
	for i, y := range v.y {
		sum[v.at[i]%f.period] += v.weight[i] * y
		count[v.at[i]%f.period] += v.weight[i]
	}
	var mean float64
	for k := range sum {
		if count[k] == 0 {
			return smoothSeason
		}
		sum[k] /= count[k]
		mean += sum[k] / float64(f.period)
	}
	var noise, square, product float64
	for i, y := range v.y {
		noise += v.weight[i] * sq(y-sum[v.at[i]%f.period])
	}
	noise /= max(1, float64(len(v.y)-f.period))
	for k, m := range sum {
		square += sq(m-mean) - noise/count[k]
		product += (m - mean) * (sum[(k+1)%f.period] - mean)
	}
	correlation := min(max(product/square, least), 1)
	if !(square > 0) || correlation == 1 {
		return smoothSeason
	}
	l := math.Sin(math.Pi/f.steps()) * math.Sqrt(2/-math.Log(correlation))
	if l > rough {
		return smoothSeason
	}
	return l
}

// leaveOut subtracts the seasonal means of a season.
func (v *view) leaveOut(f folded) {
	sum, count := make([]float64, f.period), make([]float64, f.period)
	for i, y := range v.y {
		sum[v.at[i]%f.period] += v.weight[i] * y
		count[v.at[i]%f.period] += v.weight[i]
	}
	for i := range v.y {
		k := v.at[i] % f.period
		v.y[i] -= sum[k] / count[k]
	}
}
