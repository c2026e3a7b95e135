package auto

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// StartFrom returns m with start values for training taken from the data. The values in m do not matter, except for Fixed
// parameters, which are kept. For a time series
//
//   - the noise variance comes from the distances between observations and the line
//     through their neighbours (Gasser, Sroka and Jennen-Steinmetz 1986);
//   - the scales of the kernel are chosen one after the other, each among one to two
//     dozen values, so that the kernel fits the empirical autocovariance best by least
//     squares. The autocovariance is taken from the observations binned on a grid,
//     averaged over the pairs available at each lag, so x may be uneven;
//   - periods are among the likely ones (LikelyPeriods), those at which the
//     kernel fits the autocovariance of the data without their trend best;
//   - the variances come from that fit, bounded by the variance of y;
//   - a change point starts where the spread and the increments of y before and after it
//     differ most (by two normal models for each), and its parts start from the data on
//     their sides.
//
// Inputs of several dimensions get a tenth of the mean of y² as noise and, for every scale, a fifth of the extent of x along its
// axes. It takes O(n log n) time and never fails: all values are positive and finite. Where squares of x or y overflow or vanish
// in float64, all scales and variances are 1. Start values depend on roles and units of parameters, not on names; parameters of a
// user's kernel that are neither a variance nor a scale start at 1. If the model has a mean, start values come from the residuals
// of y after a least-squares fit of the mean.
func StartFrom(ctx context.Context, m gppl.Model, d gppl.Data) (start gppl.Model, err error) {
	defer parallel.Stopped(&err)
	if err := m.CheckPlain("auto.StartFrom", d); err != nil {
		return m, err
	}
	return startWithin(ctx, m, d), nil
}

// startWithin is StartFrom until ctx ends (parallel.Look).
func startWithin(ctx context.Context, m gppl.Model, d gppl.Data) gppl.Model {
	if d.CheckUnits() != nil {
		return unitScales(m)
	}
	start := startFrom(ctx, m, d)
	if !numeric.AllFinite(start.Values()...) { // fourth powers of y overflow
		return unitScales(m)
	}
	return start
}

// without is m.SubtractMean until ctx ends (parallel.Look).
func without(ctx context.Context, m gppl.Model, d gppl.Data) gppl.Data {
	rest, err := m.SubtractMean(ctx, d)
	if err != nil {
		parallel.Look(ctx)
	}
	return rest
}

// unitScales is m with 1 for every variance and scale that is not fixed.
func unitScales(m gppl.Model) gppl.Model {
	theta := m.Values()
	for i, p := range m.Params() {
		if !p.IsFixed() && p.IsScale() {
			theta[i] = 1
		}
	}
	return m.WithParams(theta)
}

// startFrom is StartFrom for units in which squares of x and y do not overflow.
func startFrom(ctx context.Context, m gppl.Model, d gppl.Data) gppl.Model {
	parallel.Look(ctx)
	d = without(ctx, m, d)
	if k, ok := m.Kernel.(gppl.ChangePoint); ok && d.X.Dim() == 1 {
		return startChange(ctx, m, k, d)
	}
	parallel.Look(ctx)
	s := newStarter(m, d)
	s.ctx = ctx
	if d.X.Dim() == 1 && d.Len() > 2 {
		if l := newLine(d.X, d.Y); l.span() > 0 {
			parallel.Look(ctx)
			s.noise = min(max(differenceNoise(l, s.noise), 1e-6*s.power), s.power)
			a := autocovarianceOf(ctx, l)
			if slices.ContainsFunc(s.params, isPeriod) {
				s.findPeriods(ctx, d)
			} else {
				a = a.near()
			}
			s.match(a)
		}
	}
	return s.model()
}

// startsFrom returns StartFrom and, for kernels of several scales, whose likelihood may have a minimum for every order of these,
// a second start: all scales equal to the lengthscale of SE that fits best, all pure numbers 1.
func startsFrom(ctx context.Context, m gppl.Model, d gppl.Data) (starts []gppl.Model, err error) {
	defer parallel.Stopped(&err)
	starts = []gppl.Model{startWithin(ctx, m, d)}
	theta := starts[0].Values()
	scales := 0
	l := startWithin(ctx, gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Mean: m.Mean}, d).Kernel.(gppl.SE).Lengthscale
	ratios := axisRatios(m, d.X)
	for i, p := range m.Params() {
		switch {
		case p.IsFixed():
		case p.Unit == gppl.UnitX && p.Role != gppl.RoleLocation:
			theta[i] = l * ratios[i]
			scales++
		case p.Unit == "":
			theta[i] = 1
		}
	}
	if scales > 1 {
		starts = append(starts, m.WithParams(theta))
	}
	return starts, nil
}

// starter holds the parameters of a kernel while they are sought.
type starter struct {
	ctx    context.Context
	of     gppl.Model
	params []gppl.Param // the kernel's
	theta  []float64
	power  float64 // mean of y²
	extent float64 // range of x
	noise  float64

	periods []float64 // periods to try; nil: those in theta stay
}

func newStarter(m gppl.Model, d gppl.Data) *starter {
	s := &starter{of: m, params: m.Kernel.Params(), power: floats.Dot(d.Y, d.Y) / float64(d.Len()), extent: extentOf(d.X)}
	if !(s.power > 0) {
		s.power = 1
	}
	if !(s.extent > 0) {
		s.extent = 1
	}
	s.noise = 0.1 * s.power
	ratios, axes := axisRatios(m, d.X), m.AxesOf(d.X.Dim())
	for i, p := range m.Params()[:len(s.params)] {
		s.params[i] = p
		v := 1.0
		switch {
		case p.IsFixed():
			v = p.Value
		case p.Role == gppl.RoleLocation:
			lo, hi := d.X.Range(axes[i][0])
			v = lo + 0.5*(hi-lo)
		case p.Unit == gppl.UnitX:
			v = s.extent / 5 * ratios[i]
		}
		s.theta = append(s.theta, v)
	}
	s.scale(s.power / s.prior())
	return s
}

// axisRatios returns, for each parameter of the model, the extent of x along its own axes, over the extent of all.
func axisRatios(m gppl.Model, x gppl.Inputs) (ratios []float64) {
	all := extentOf(x)
	for _, axes := range m.AxesOf(x.Dim()) {
		var own float64
		for _, a := range axes {
			lo, hi := x.Range(a)
			own = max(own, hi-lo)
		}
		if !(own > 0 && all > 0) {
			own, all = 1, 1
		}
		ratios = append(ratios, own/all)
	}
	return append(ratios, 1) // 1 for the noise
}

// variance returns k(0), without the nugget.
func variance(k gppl.Kernel) float64 {
	v := []float64{0}
	k.Cov(v, v)
	return v[0]
}

// prior returns the variance of f, with the nugget.
func (s *starter) prior() float64 {
	k := s.of.Kernel.WithParams(s.theta)
	return variance(k) + capability.Nugget(k)
}

// scale multiplies the kernel by c, through the variances that are trained.
func (s *starter) scale(c float64) {
	for _, i := range s.of.Amplitudes() {
		if !s.params[i].IsFixed() {
			s.theta[i] *= c
		}
	}
}

// model returns the model at the start values, the noise shared with White terms, and all parameters within their transforms'
// range.
func (s *starter) model() gppl.Model {
	white := s.of.NoiseTerms()
	share := s.noise / float64(1+len(white))
	for _, i := range white {
		if !s.params[i].IsFixed() {
			s.theta[i] = share
		}
	}
	theta := append(slices.Clone(s.theta), share)
	return startAt(s.of, theta)
}

// differenceNoise estimates the noise variance from triples of neighbours, those
// over gaps left out, or returns otherwise if there are too few.
func differenceNoise(l *line, otherwise float64) float64 {
	wide := 4 * l.spacing()
	var sum, count float64
	for i := 1; i+1 < len(l.t); i++ {
		width := l.t[i+1] - l.t[i-1]
		if width > wide {
			continue
		}
		a := 0.5
		if width > 0 {
			a = (l.t[i+1] - l.t[i]) / width
		}
		e := l.y[i] - a*l.y[i-1] - (1-a)*l.y[i+1]
		sum += e * e / (1 + a*a + (1-a)*(1-a))
		count++
	}
	if count < 3 {
		return otherwise
	}
	return sum / count
}

// autocovariance is the empirical one of a time series.
type autocovariance struct {
	lag, value, pairs []float64 // at lags that have pairs, from 0 up to a third of the range
	spacing, span     float64
}

// autocovarianceOf bins the series on a grid twice as fine as its mean spacing
// and counts all pairs by their lag, an observation with itself left out.
func autocovarianceOf(ctx context.Context, l *line) *autocovariance {
	parallel.Look(ctx)
	n := len(l.t)
	bins := 64
	for bins < 2*n && bins < 1<<14 {
		bins *= 2
	}
	sum, count, width := l.binned(bins) // padded: no pairs across the ends
	var self float64
	for _, y := range l.y {
		self += y * y
	}
	fft := fourier.NewFFT(2 * bins)
	correlate := func(x []float64) []float64 {
		c := fft.Coefficients(nil, x)
		for i, v := range c {
			c[i] = complex((real(v)*real(v)+imag(v)*imag(v))/float64(2*bins), 0)
		}
		return fft.Sequence(nil, c)
	}
	parallel.Look(ctx)
	products, pairs := correlate(sum), correlate(count)
	parallel.Look(ctx)
	products[0] -= self
	pairs[0] -= float64(n)
	a := &autocovariance{spacing: l.spacing(), span: l.span()}
	for h := range bins / 3 {
		if pairs[h] > 0.5 {
			a.lag = append(a.lag, float64(h)*width)
			a.value = append(a.value, products[h]/pairs[h])
			a.pairs = append(a.pairs, pairs[h])
		}
	}
	return a
}

// near returns the autocovariance up to four times the lag at which it has fallen to half of what it is between neighbours.
// Beyond, one draw of a process differs from the mean by more than a fit can bear.
func (a *autocovariance) near() *autocovariance {
	var neighbours float64
	for i, v := range a.value {
		if neighbours = max(neighbours, v); a.lag[i] > 3*a.spacing {
			break
		}
	}
	half := slices.IndexFunc(a.value, func(v float64) bool { return v < neighbours/2 })
	end := len(a.lag)
	if half >= 0 {
		end = min(end, 4*half+8)
	}
	b := *a
	b.lag, b.value, b.pairs = a.lag[:end], a.value[:end], a.pairs[:end]
	return &b
}

// match sets the kernel's parameters one after the other, twice, to the candidates that fit best.
func (s *starter) match(a *autocovariance) {
	fit := make([]float64, len(a.lag))
	// misfit returns Σ pairs·(value − c·k(lag))² up to a constant, at the best c.
	misfit := func() (loss, c float64) {
		s.of.Kernel.WithParams(s.theta).Cov(fit, a.lag)
		var vk, kk float64
		for i, k := range fit {
			vk += a.pairs[i] * a.value[i] * k
			kk += a.pairs[i] * k * k
		}
		if !(vk > 0) || !(kk > 0) {
			return 0, 0
		}
		return -vk * vk / kk, vk / kk
	}
	terms := s.of.Amplitudes()
	for range 2 {
		for i, candidates := range s.candidates(a, terms) {
			best, keep := math.Inf(1), s.theta[i]
			for _, v := range candidates {
				parallel.Look(s.ctx)
				s.theta[i] = v
				if loss, _ := misfit(); loss < best {
					best, keep = loss, v
				}
			}
			s.theta[i] = keep
		}
	}
	v := s.prior()
	_, c := misfit()
	s.scale(min(max(c, 0.02*s.power/v), 1.5*s.power/v))
}

// untaken returns the periods to try for parameter i: those that no other period of the kernel has. Two terms with one period
// would be one term, and training would never separate terms that start alike.
func (s *starter) untaken(i int) []float64 {
	return slices.DeleteFunc(slices.Clone(s.periods), func(period float64) bool {
		for j, p := range s.params {
			if j != i && isPeriod(p) && s.theta[j] == period {
				return true
			}
		}
		return false
	})
}

// candidates lists the values to try, parameter by parameter: periods first, for a lengthscale tells little about a wrong one,
// then scales, then pure numbers and the weights of the terms of a sum.
func (s *starter) candidates(a *autocovariance, terms []int) iter.Seq2[int, []float64] {
	grid := func(from, to float64, count int) []float64 {
		return floats.LogSpan(make([]float64, count), from, to)
	}
	kinds := []func(i int, p gppl.Param) []float64{
		func(i int, p gppl.Param) []float64 {
			if isPeriod(p) {
				return s.untaken(i)
			}
			return nil
		},
		func(_ int, p gppl.Param) []float64 {
			if p.Unit == gppl.UnitX && !isPeriod(p) && p.Role != gppl.RoleLocation {
				return grid(a.spacing, a.span, 24)
			}
			return nil
		},
		func(i int, p gppl.Param) []float64 {
			switch {
			case p.Unit == "":
				return grid(0.25, 8, 6)
			case len(terms) > 1 && slices.Contains(terms, i):
				return grid(s.theta[i]/100, s.theta[i]*100, 9)
			}
			return nil
		},
	}
	return func(yield func(int, []float64) bool) {
		for _, kind := range kinds {
			for i, p := range s.params {
				if c := kind(i, p); c != nil && !p.IsFixed() && !yield(i, c) {
					return
				}
			}
		}
	}
}

// startAt returns m at theta, moved into the range of the transforms; fixed parameters keep their values.
func startAt(m gppl.Model, theta []float64) gppl.Model {
	for i, p := range m.Params() {
		if p.IsFixed() {
			theta[i] = p.Value
		} else {
			theta[i] = reachable(p, theta[i])
		}
	}
	return m.WithParams(theta)
}
