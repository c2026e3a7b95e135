package gppl

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// LikelyPeriods returns up to count periods at which the periodogram of a time
// series without its trend (Detrend) stands out, the strongest first: at least
// two mean spacings and at most half the range long. A Hann window keeps what is
// left of the trend from leaking into the higher frequencies, and the vertex of
// the parabola through the logs of a peak and its neighbours places it between
// the frequencies of the grid. It takes O(n log n). There are none in inputs of
// several dimensions, and none if all x are equal.
func LikelyPeriods(d Data, count int) []float64 {
	if d.X.Dim() != 1 || d.Len() < 3 {
		return nil
	}
	l := newLine(d.X, Detrend(d).Y)
	if !(l.span > 0) {
		return nil
	}
	spacing := coverage(l.t) / float64(len(l.t))
	bins := 64
	for float64(bins) < min(2*l.span/spacing, 1<<15) {
		bins *= 2
	}
	width := l.span / float64(bins-1)
	mean, n := make([]float64, 2*bins), make([]float64, 2*bins) // padded: peaks of twice as many points
	for i, t := range l.t {
		b := int((t-l.t[0])/width + 0.5)
		mean[b] += l.y[i]
		n[b]++
	}
	for b, c := range n {
		if c > 0 {
			mean[b] /= c
		}
	}
	window.Hann(mean[:bins])
	var power []float64
	for _, c := range fourier.NewFFT(2*bins).Coefficients(nil, mean) {
		power = append(power, real(c)*real(c)+imag(c)*imag(c))
	}
	length := 2 * float64(bins) * width
	type peak struct{ period, power float64 }
	var peaks []peak
	for j := 2; j+1 < len(power); j++ {
		p := length / float64(j)
		if power[j] > power[j-1] && power[j] >= power[j+1] && p <= l.span/2 && p >= 2*spacing {
			peaks = append(peaks, peak{length / (float64(j) + vertex(power[j-1:j+2])), power[j]})
		}
	}
	slices.SortFunc(peaks, func(a, b peak) int { return cmp.Compare(b.power, a.power) })
	var periods []float64
	for _, p := range peaks[:min(count, len(peaks))] {
		if p.power > 0.05*peaks[0].power {
			periods = append(periods, p.period)
		}
	}
	return periods
}

// vertex returns where, from the middle one, the parabola through the logs of
// three powers has its top, in (−½, ½); 0 if it has none.
func vertex(power []float64) float64 {
	a, b, c := math.Log(power[0]), math.Log(power[1]), math.Log(power[2])
	if bend := a - 2*b + c; bend < 0 && !math.IsInf(a, 0) && !math.IsInf(c, 0) {
		return 0.5 * (a - c) / bend
	}
	return 0
}

// Detrend returns a time series with y less its least-squares cubic in x; less
// its mean, for inputs of several dimensions or few distinct x.
func Detrend(d Data) Data {
	rest := slices.Clone(d.Y)
	centred := func() Data {
		floats.AddConst(-floats.Sum(d.Y)/float64(d.Len()), rest)
		return Data{X: d.X, Y: rest}
	}
	const terms = 4
	if d.X.Dim() != 1 || d.Len() < terms {
		return centred()
	}
	lo, hi := d.X.Range(0)
	basis := mat.NewDense(d.Len(), terms, nil)
	for i, t := range d.X.at {
		u := 2*(t-lo)/(hi-lo) - 1
		basis.SetRow(i, []float64{1, u, 0.5 * (3*u*u - 1), 0.5 * (5*u*u*u - 3*u)}) // Legendre: well conditioned
	}
	var c, fit mat.VecDense
	if err := c.SolveVec(basis, mat.NewVecDense(d.Len(), slices.Clone(d.Y))); err != nil {
		return centred()
	}
	fit.MulVec(basis, &c)
	floats.Sub(rest, fit.RawVector().Data)
	return Data{X: d.X, Y: rest}
}

// findPeriods sets the periods of the kernel that are not fixed: of the likely
// ones those at which it fits the autocovariance of the data without their trend
// best. A trend would outweigh any rhythm, in the autocovariance of the data as
// they are.
func (s *starter) findPeriods(d Data) {
	likely := LikelyPeriods(d, 6)
	if likely == nil {
		return
	}
	rest := *s // a starter of its own, of which the periods are taken
	rest.theta = slices.Clone(s.theta)
	rest.periods = likely
	rest.match(autocovarianceOf(newLine(d.X, Detrend(d).Y)))
	for i, p := range s.params {
		if isPeriod(p) && !isFixed(p) {
			s.theta[i] = rest.theta[i]
		}
	}
}

// isPeriod reports whether p is a period, by its name, alone or of a part.
func isPeriod(p Param) bool { return p.Name == "period" || strings.HasSuffix(p.Name, ".period") }
