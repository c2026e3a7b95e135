package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
)

// whittle compares models by the periodogram of all data at once (Whittle 1953), for series so long that the likelihood is
// compared on a part of them. A part does not show a rhythm that is faint, nor a fast one where the part is sparse. With
// Hann's window w, and frequencies ξ up to half the mean sampling rate,
//
//	W = Σ_ξ [log E(ξ) + I(ξ)/E(ξ)],  I(ξ) = |Σ_i w_i y_i exp(−2πi·ξx_i)|² / Σ_i w_i²,
//
// where E is the expectation of I under the model, leakage and gaps included. Differences of W are about those in the exact
// negative log likelihood. Times are rounded to a quarter of the mean spacing, unless they are even. A value with its gradient
// takes O(n log n).
//
// For series too long for that, I is the mean of the periodograms of consecutive segments. They do not show rhythms that
// change little over a segment.
type whittle struct {
	model  gppl.Model
	half   int // number of grid points of half a circle of the transform
	lags   []float64
	pairs  periodogram.Lags // weighted lags of the grid
	data   []float64        // I(ξ), averaged over the segments
	first  int              // index of the lowest frequency in the transform
	step   float64          // between frequencies
	weight float64          // weight of a frequency: there are more than n/2 frequencies, and several segments
	even   []float64        // weight of each value of data

	spectra parallel.Pool[spectrum]
	count   atomic.Int64 // number of expectations computed
}

// spectrum is the working memory of an expectation.
type spectrum struct {
	dct              *fourier.DCT
	expected, slopes []float64 // expectation by frequency, slopes by lag
	falls            []float64 // ∂W/∂E by frequency
	sequence         []float64 // transformed in place
}

// maxBins is the largest number of grid points of a whole series; a longer one gets a coarser grid. searchBins is the largest
// number for the segments that a search compares.
const (
	maxBins    = 1 << 16
	searchBins = 1 << 13
)

// newWhittle returns the periodogram of the whole series, or nil if it has too many gaps for the grid or is no series.
func newWhittle(m gppl.Model, d gppl.Data) *whittle { return newSegments(m, d, math.MaxInt) }

// newSegments is newWhittle with so many segments that each has at most most grid points, four per mean spacing.
func newSegments(m gppl.Model, d gppl.Data, most int) *whittle {
	if d.X.Dim() != 1 {
		return nil
	}
	l := newLine(d.X, d.Y)
	spacing := timeline.Coverage(l.t) / float64(len(l.t)-1)
	if !(spacing > 0) || l.span() > maxBins*spacing && len(l.t) < maxBins {
		return nil
	}
	bins, segments := math.Ceil(4*l.span()/spacing), 1
	if bins >= float64(most) {
		segments = int(math.Ceil(bins / float64(most-1)))
		bins = float64(most - 1)
	}
	if step := evenStep(l.t); step > spacing/4 {
		if points := (1 + int(math.Round(l.span()/step))) / segments; points <= maxBins {
			return readWhittle(m, l, spacing, grid{points: points, step: step, stride: step * float64(points), segments: segments,
				even: true})
		}
	}
	bins = min(bins, maxBins-1)
	g := grid{points: 1 + int(bins), stride: l.span() / float64(segments), segments: segments}
	g.step = g.stride / float64(g.points-1)
	return readWhittle(m, l, max(spacing, 2*l.span()/(bins*float64(segments))), g)
}

// grid describes the points to which the times of each segment are rounded.
type grid struct {
	points, segments int
	step, stride     float64 // spacing of the points, and of the starts of segments
	even             bool    // all times lie on points
}

// end returns the end of segment k, which begins at start.
func (g *grid) end(start float64, k int) float64 {
	switch {
	case g.even:
		return start + g.stride - 0.5*g.step
	case k == g.segments-1:
		return math.Inf(1)
	}
	return start + g.stride
}

// readWhittle reads the segments of a grid, for waves of at least two spacings. It returns nil if hardly any frequencies
// remain.
func readWhittle(m gppl.Model, l *line, spacing float64, g grid) *whittle {
	half := 1
	for half < g.points {
		half *= 2
	}
	f := &whittle{model: m, half: half, first: 1, step: 1 / (2 * float64(half) * g.step)}
	last := min(half-1, int(1/(2*spacing*f.step)*(1+1e-12)))
	if last < 8 {
		return nil
	}
	fft := fourier.NewFFT(2 * half)
	windows, values := make([]float64, 2*half), make([]float64, 2*half)
	power, pairs := make([]float64, last+1-f.first), make([]float64, half+1)
	var c []complex128
	var squares, fourth float64
	for i, k := 0, 0; k < g.segments; k++ {
		clear(windows)
		clear(values)
		start, own := l.t[0]+float64(k)*g.stride, 0.
		for end := g.end(start, k); i < len(l.t) && l.t[i] < end; i++ {
			s := math.Sin(math.Pi * min(1, (l.t[i]-start)/g.stride))
			at := min(g.points-1, int(math.Round((l.t[i]-start)/g.step)))
			windows[at] += s * s
			values[at] += s * s * l.y[i]
			own += s * s * s * s
		}
		squares, fourth = squares+own, fourth+own*own
		c = fft.Coefficients(c, values)
		for j, v := range c[f.first : last+1] {
			power[j] += real(v)*real(v) + imag(v)*imag(v)
		}
		c = fft.Coefficients(c, windows)
		for j, v := range c {
			pairs[j] += real(v)*real(v) + imag(v)*imag(v)
		}
	}
	if !(squares > 0) {
		return nil
	}
	for j := range power {
		power[j] /= squares
	}
	fourier.NewDCT(half+1).Transform(pairs, pairs)
	for h := range pairs {
		pairs[h] /= 2 * float64(half) * squares
	}
	f.data, f.pairs = power, periodogram.Lags{Period: 2 * half, Pairs: pairs[:g.points]}
	f.weight = squares * squares / fourth * g.stride * f.step // as many segments as contain observations
	f.even = slices.Repeat([]float64{f.weight}, len(power))
	f.lags = make([]float64, g.points)
	for h := range f.lags {
		f.lags[h] = float64(h) * g.step
	}
	return f
}

// expect returns E without the noise: Σ_h pairs_h·k(h)·cos(2πξh), over lags of both signs.
func (f *whittle) expect(k gppl.Kernel) *spectrum {
	f.count.Add(1)
	s, lags := f.spectra.Get(), len(f.lags)
	if s.dct == nil {
		*s = spectrum{fourier.NewDCT(f.half + 1), make([]float64, len(f.data)), make([]float64, lags), make([]float64, len(f.data)),
			make([]float64, f.half+1)}
	}
	k.Cov(s.slopes, f.lags)
	f.pairs.Fold(s.sequence, s.slopes)
	s.dct.Transform(s.sequence, s.sequence)
	for j := range s.expected {
		s.expected[j] = max(s.sequence[f.first+j], 0) // rounding may make it negative
	}
	return s
}

// span is the range of a segment.
func (f *whittle) span() float64 { return f.lags[len(f.lags)-1] }

// NLL implements comparer by W.
func (f *whittle) NLL(ctx context.Context, nll, factors []float64, m gppl.Model, noises []float64, free bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := f.expect(m.Kernel)
	n := f.weight * float64(len(f.data))
	for i, noise := range noises {
		noise += capability.Nugget(m.Kernel)
		var quad, logs float64
		for j, s := range e.expected {
			quad += f.data[j] / (s + noise)
			logs += math.Log(s + noise)
		}
		factors[i] = 1
		if free {
			factors[i] = quad / float64(len(f.data))
		}
		nll[i] = f.weight*(logs+quad/factors[i]) + n*math.Log(factors[i])
		if !(factors[i] > 0) || math.IsNaN(nll[i]) {
			nll[i] = math.Inf(1)
		}
	}
	f.spectra.Put(e)
	return nil
}

// excess returns up to count periods at which the data have more power than m explains, strongest first. A band of b
// frequencies at p times the expected power is worth b·(p − 1 − log p) nats to a model that has it; chance explains about the
// log of the number of bands.
func (f *whittle) excess(m gppl.Model, count int) (periods []float64) {
	const chance = 4 // nats in addition to that log
	type band struct{ period, worth float64 }
	e := f.expect(m.Kernel)
	noise := m.Noise + capability.Nugget(m.Kernel)
	sums := make([]float64, len(f.data)+1)
	for j, s := range e.expected {
		sums[j+1] = sums[j] + f.data[j]/(s+noise)
	}
	f.spectra.Put(e)
	segments := f.weight / (f.span() * f.step)
	var bands []band
	for _, width := range []float64{1, 4, 16} { // widths in independent frequencies
		wide := int(math.Ceil(width / (f.span() * f.step)))
		if 4*wide > len(f.data) {
			break
		}
		worth := make([]float64, len(f.data)-wide+1)
		for j := range worth {
			if p := (sums[j+wide] - sums[j]) / float64(wide); p > 1 {
				worth[j] = segments * width * (p - 1 - math.Log(p))
			}
		}
		least := chance + math.Log(f.span()*f.step*float64(len(worth))/width)
		for j := 1; j+1 < len(worth); j++ {
			if worth[j] > least && worth[j] > worth[j-1] && worth[j] >= worth[j+1] {
				middle := float64(f.first+j) + 0.5*float64(wide-1)
				bands = append(bands, band{1 / (middle * f.step), worth[j]})
			}
		}
	}
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(b.worth, a.worth) })
	for _, b := range bands {
		if len(periods) < count && !slices.ContainsFunc(periods, func(p float64) bool {
			return math.Abs(1/p-1/b.period)*f.span() < 1
		}) {
			periods = append(periods, b.period)
		}
	}
	return periods
}

// Evaluations returns how many spectra were computed.
func (f *whittle) Evaluations() int { return int(f.count.Load()) }

func (f *whittle) Params() []gppl.Param             { return f.model.Params() }
func (f *whittle) Model(theta []float64) gppl.Model { return f.model.WithParams(theta) }
func (f *whittle) Report() gppl.LossReport          { return gppl.LossReport{Engine: "whittle"} }
func (f *whittle) String() string                   { return fmt.Sprintf("Whittle NLL (%d frequencies)", len(f.data)) }

// ValueGrad implements Loss. With a_j = ∂W/∂E_j, ∂W/∂k(h) is pairs_h·Σ_j a_j·cos(2πξ_j·h).
func (f *whittle) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	if err := f.model.WithParams(theta).Check(); err != nil {
		return 0, err
	}
	m := f.model.WithParams(theta)
	if v := variance(m.Kernel) + capability.Nugget(m.Kernel); !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("gppl: the prior variance of %v is %v", m.Kernel, v)
	}
	w := f.expect(m.Kernel)
	noise := m.Noise + capability.Nugget(m.Kernel)
	floats.AddConst(noise, w.expected)
	if value = periodogram.LogLikelihood(w.falls, f.even, f.data, w.expected); grad == nil {
		f.spectra.Put(w)
		return value, nil
	}
	clear(w.sequence)
	floats.ScaleTo(w.sequence[f.first:][:len(w.falls)], 0.5, w.falls)
	white := floats.Sum(w.falls) // ∂W/∂noise
	w.dct.Transform(w.sequence, w.sequence)
	f.pairs.Slopes(w.slopes, w.sequence)
	clear(grad)
	last := len(grad) - 1
	m.Kernel.Contract(grad[:last], w.slopes, f.lags)
	f.spectra.Put(w)
	grad[last] = white * m.Noise
	if k, ok := m.Kernel.(capability.Nuggeter); ok {
		k.ContractNugget(grad[:last], white)
	}
	for i, v := range theta { // the gradient so far is in the logs
		grad[i] /= v
	}
	return value, nil
}

// metricBins is the largest number of observations of a segment whose information is the metric of a training. Fewer would
// underestimate how precisely a long series determines a rhythm, which improves with the cube of its range.
const metricBins = 1 << 18

// metric is the Whittle likelihood of a regular series with as many observations in the range of the data, or of a part that
// stands for several. Its information is about the data's, at a small cost.
type metric struct {
	*gppl.Whittle
	parts float64
}

// newMetric returns the metric of n observations from lo to hi.
func newMetric(ctx context.Context, m gppl.Model, n int, lo, hi float64) (*metric, error) {
	parts := (n + metricBins - 1) / metricBins
	points := n / parts
	x := floats.Span(make([]float64, points), lo, lo+(hi-lo)*float64(points-1)/float64(parts*points-1))
	// Without a taper, a rhythm leaks to all frequencies, which would count as so many observations of it.
	w, err := gppl.NewWhittle(ctx, m, gppl.Data{X: gppl.Scalars(x), Y: make([]float64, points)}, gppl.WhittleOptions{Taper: 2})
	if err != nil {
		return nil, err
	}
	return &metric{w, float64(parts)}, nil
}

// Information returns the sum of the information of the parts.
func (m *metric) Information(ctx context.Context, theta []float64) (*mat.SymDense, error) {
	info, err := m.Whittle.Information(ctx, theta)
	if err == nil {
		info.ScaleSym(m.parts, info)
	}
	return info, err
}

// metricOf returns the metric of d, or nil for few observations or no series. The periodogram of irregular times would have
// less information, as every wave leaks to all frequencies.
func metricOf(ctx context.Context, m gppl.Model, d gppl.Data) *metric {
	if d.X.Dim() != 1 || 4*d.Len() < searchBins {
		return nil
	}
	lo, hi := d.X.Range(0)
	of, err := newMetric(ctx, m, d.Len(), lo, hi)
	if err != nil {
		return nil
	}
	return of
}
