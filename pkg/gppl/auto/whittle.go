package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/timeline"
)

// whittle compares models by the periodogram of all data at once (Whittle 1953), for series so long that the likelihood is
// compared on a part of them: a part does not show a rhythm that is faint, or fast where the part is sparse. With Hann's
// window w, and frequencies ξ up to half the mean sampling rate,
//
//	W = Σ_ξ [log E(ξ) + I(ξ)/E(ξ)],  I(ξ) = |Σ_i w_i y_i exp(−2πi·ξx_i)|² / Σ_i w_i²,
//
// E the expectation of I under the model, leakage and gaps included. Differences of W are about those of the exact negative
// log likelihood. Times are rounded to a quarter of the mean spacing. A value, with its gradient, takes O(n log n).
type whittle struct {
	model  gppl.Model
	fft    *fourier.FFT
	lags   []float64
	pairs  []float64 // of each lag, weighted, both signs of it together
	data   []float64 // I(ξ)
	first  int       // place in the transform of the lowest frequency
	weight float64   // of a frequency: there are more than n/2

	cov, expected, slopes, sequence []float64
	transform                       []complex128
	count                           int // evaluations
}

// maxBins is the largest number of grid points of a whittle. Longer series get a coarser grid.
const maxBins = 1 << 16

// newWhittle returns nil if the series has too many gaps for the grid, or is none.
func newWhittle(m gppl.Model, d gppl.Data) *whittle {
	if d.X.Dim() != 1 {
		return nil
	}
	l := newLine(d.X, d.Y)
	spacing := timeline.Coverage(l.t) / float64(len(l.t)-1)
	if !(spacing > 0) || l.span() > maxBins*spacing && len(l.t) < maxBins {
		return nil
	}
	bins := 1 + int(min(math.Ceil(4*l.span()/spacing), maxBins))
	width := l.span() / float64(bins-1)
	length := 1
	for length < 2*bins {
		length *= 2
	}
	f := &whittle{model: m, fft: fourier.NewFFT(length), first: 1, weight: l.span() / (float64(length) * width)}
	windows, values := make([]float64, length), make([]float64, length)
	var squares float64
	for i, t := range l.t {
		s := math.Sin(math.Pi * (t - l.t[0]) / l.span())
		at := int(math.Round((t - l.t[0]) / width))
		windows[at] += s * s
		values[at] += s * s * l.y[i]
		squares += s * s * s * s
	}
	last := min(length/2-1, int(float64(length)*width/(2*max(spacing, 2*width))))
	if last < 8 || !(squares > 0) {
		return nil
	}
	c := f.fft.Coefficients(nil, values)
	for _, v := range c[f.first : last+1] {
		f.data = append(f.data, (real(v)*real(v)+imag(v)*imag(v))/squares)
	}
	c = f.fft.Coefficients(c, windows)
	for i, v := range c {
		c[i] = complex((real(v)*real(v)+imag(v)*imag(v))/(float64(length)*squares), 0)
	}
	f.pairs = f.fft.Sequence(nil, c)[:bins]
	for h := range f.pairs {
		f.lags = append(f.lags, float64(h)*width)
		if h > 0 {
			f.pairs[h] *= 2
		}
	}
	f.cov, f.slopes = make([]float64, bins), make([]float64, bins)
	f.expected = make([]float64, len(f.data))
	f.sequence, f.transform = values, c
	return f
}

// expect sets expected to E without the noise: Σ_h pairs_h·k(h)·cos(2πξh).
func (f *whittle) expect(k gppl.Kernel) {
	f.count++
	k.Cov(f.cov, f.lags)
	clear(f.sequence)
	length := len(f.sequence)
	for h, v := range f.cov {
		f.sequence[h] = f.pairs[h] * v
		if h > 0 {
			f.sequence[h] *= 0.5
			f.sequence[length-h] = f.sequence[h]
		}
	}
	f.transform = f.fft.Coefficients(f.transform, f.sequence)
	for j := range f.expected {
		f.expected[j] = max(real(f.transform[f.first+j]), 0) // but for rounding
	}
}

// NLL is that of a Profile, by W.
func (f *whittle) NLL(nll, factors []float64, m gppl.Model, noises []float64, free bool) {
	f.expect(m.Kernel)
	n := f.weight * float64(len(f.data))
	for i, noise := range noises {
		noise += gppl.Nugget(m.Kernel)
		var quad, logs float64
		for j, s := range f.expected {
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
}

// excess returns up to count periods at which the data have more power than m explains, the most telling first: a band of b
// frequencies at p times what is expected is worth b·(p − 1 − log p) nats to a model that has it, and chance explains about
// the log of the number of bands.
func (f *whittle) excess(m gppl.Model, count int) (periods []float64) {
	const chance = 4 // nats, beside that log
	type band struct{ period, worth float64 }
	f.expect(m.Kernel)
	noise := m.Noise + gppl.Nugget(m.Kernel)
	sums := make([]float64, len(f.data)+1)
	for j, s := range f.expected {
		sums[j+1] = sums[j] + f.data[j]/(s+noise)
	}
	lowest := f.weight / f.lags[len(f.lags)-1] // spacing of the frequencies
	var bands []band
	for _, width := range []float64{1, 4, 16} { // frequencies that are independent
		wide := int(math.Ceil(width / f.weight))
		if 4*wide > len(f.data) {
			break
		}
		worth := make([]float64, len(f.data)-wide+1)
		for j := range worth {
			if p := (sums[j+wide] - sums[j]) / float64(wide); p > 1 {
				worth[j] = width * (p - 1 - math.Log(p))
			}
		}
		least := chance + math.Log(f.weight*float64(len(worth))/width)
		for j := 1; j+1 < len(worth); j++ {
			if worth[j] > least && worth[j] > worth[j-1] && worth[j] >= worth[j+1] {
				middle := float64(f.first+j) + 0.5*float64(wide-1)
				bands = append(bands, band{1 / (middle * lowest), worth[j]})
			}
		}
	}
	slices.SortStableFunc(bands, func(a, b band) int { return cmp.Compare(b.worth, a.worth) })
	for _, b := range bands {
		if len(periods) < count && !slices.ContainsFunc(periods, func(p float64) bool {
			return math.Abs(1/p-1/b.period)*f.lags[len(f.lags)-1] < 1
		}) {
			periods = append(periods, b.period)
		}
	}
	return periods
}

// Evaluations returns how many spectra were computed.
func (f *whittle) Evaluations() int { return f.count }

func (f *whittle) Params() []gppl.Param             { return f.model.Params() }
func (f *whittle) Model(theta []float64) gppl.Model { return f.model.WithParams(theta) }
func (f *whittle) Report() gppl.LossReport          { return gppl.LossReport{Engine: "whittle"} }
func (f *whittle) String() string                   { return fmt.Sprintf("Whittle NLL (%d frequencies)", len(f.data)) }

// ValueGrad implements Loss. With a_j = ∂W/∂E_j, ∂W/∂k(h) is pairs_h·Σ_j a_j·cos(2πξ_j·h).
func (f *whittle) ValueGrad(grad, theta []float64) (value float64, err error) {
	if err := gppl.CheckParams(f.Params(), theta); err != nil {
		return 0, err
	}
	m := f.model.WithParams(theta)
	if v := variance(m.Kernel) + gppl.Nugget(m.Kernel); !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("gppl: the prior variance of %v is %v", m.Kernel, v)
	}
	f.expect(m.Kernel)
	noise := m.Noise + gppl.Nugget(m.Kernel)
	clear(f.transform)
	var white float64 // ∂W/∂noise
	for j, s := range f.expected {
		e := s + noise
		value += f.weight * (math.Log(e) + f.data[j]/e)
		a := f.weight * (1 - f.data[j]/e) / e
		white += a
		f.transform[f.first+j] = complex(0.5*a, 0)
	}
	if grad == nil {
		return value, nil
	}
	f.sequence = f.fft.Sequence(f.sequence, f.transform)
	for h := range f.slopes {
		f.slopes[h] = f.pairs[h] * f.sequence[h]
	}
	clear(grad)
	last := len(grad) - 1
	m.Kernel.Contract(grad[:last], f.slopes, f.lags)
	grad[last] = white * m.Noise
	if k, ok := m.Kernel.(gppl.Nuggeter); ok {
		k.ContractNugget(grad[:last], white)
	}
	for i, v := range theta { // they were those in the logs
		grad[i] /= v
	}
	return value, nil
}
