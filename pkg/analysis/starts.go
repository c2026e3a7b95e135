package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// startsFor returns models to train from, at least one. A kernel with a period gets gppl.StartFrom's values at each of the
// likeliest periods: the likelihood has a maximum at each multiple of a period, so that the period has to be right from the
// start, and StartFrom sees a trend before it sees a rhythm. Any other gets those for the data and for the data less their
// trend: the likelihood has one maximum where the kernel explains the trend alone and another where it explains more.
func startsFor(k gppl.Kernel, d, detrended gppl.Data, periods []float64) []gppl.Model {
	plain := gppl.Model{Kernel: k, Noise: 1}
	if !hasPeriod(k) || len(periods) == 0 {
		starts := []gppl.Model{gppl.StartFrom(plain, d)}
		if rest := gppl.StartFrom(plain, detrended); !slices.Equal(naturals(rest), naturals(starts[0])) {
			starts = append(starts, rest)
		}
		return starts
	}
	var starts []gppl.Model
	for _, period := range periods {
		theta := naturals(plain)
		var names []string
		for i, p := range plain.Params() {
			if isPeriod(p.Name) {
				theta[i] = period
				names = append(names, p.Name)
			}
		}
		held := gppl.StartFrom(plain.WithParams(theta).Fix(names...), d)
		starts = append(starts, plain.WithParams(naturals(held)))
	}
	return starts
}

func hasPeriod(k gppl.Kernel) bool {
	return slices.ContainsFunc(k.Params(), func(p gppl.Param) bool { return isPeriod(p.Name) })
}

func isPeriod(name string) bool { return name == "period" || strings.HasSuffix(name, ".period") }

// naturals returns the natural values of a model's parameters.
func naturals(m gppl.Model) []float64 {
	params := m.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	return theta
}

// likelyPeriods returns up to count periods at which the periodogram of a series without its trend stands out, the strongest
// first: at least two steps and at most half the range long. A Hann window keeps what is left of the trend from leaking into
// the higher frequencies.
func likelyPeriods(x, rest []float64, step float64, count int) []float64 {
	span := x[len(x)-1] - x[0]
	bins := 64
	for float64(bins) < min(2*span/step, 1<<15) {
		bins *= 2
	}
	width := span / float64(bins-1)
	sum, n := make([]float64, 2*bins), make([]float64, 2*bins)
	for i, t := range x {
		b := int((t-x[0])/width + 0.5)
		sum[b] += rest[i]
		n[b]++
	}
	for b, c := range n {
		if c > 0 {
			sum[b] /= c
		}
	}
	window.Hann(sum[:bins])
	fft := fourier.NewFFT(2 * bins)
	power := make([]float64, 0, bins+1)
	for _, c := range fft.Coefficients(nil, sum) {
		power = append(power, real(c)*real(c)+imag(c)*imag(c))
	}
	length := 2 * float64(bins) * width
	type peak struct{ period, power float64 }
	var peaks []peak
	for j := 2; j+1 < len(power); j++ {
		if p := length / float64(j); power[j] > power[j-1] && power[j] >= power[j+1] && p <= span/2 && p >= 2*step {
			// The vertex of the parabola through the logs of the three powers: finer than the grid.
			a, b, c := math.Log(power[j-1]), math.Log(power[j]), math.Log(power[j+1])
			shift := 0.0
			if bend := a - 2*b + c; bend < 0 && !math.IsInf(a, 0) && !math.IsInf(c, 0) {
				shift = 0.5 * (a - c) / bend
			}
			peaks = append(peaks, peak{length / (float64(j) + shift), power[j]})
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

// detrended returns y less its least-squares cubic in x.
func detrended(x, y []float64) []float64 {
	const terms = 4
	lo, hi := x[0], x[len(x)-1]
	basis := mat.NewDense(len(x), terms, nil)
	for i, t := range x {
		u := 2*(t-lo)/(hi-lo) - 1
		basis.SetRow(i, []float64{1, u, 0.5 * (3*u*u - 1), 0.5 * (5*u*u*u - 3*u)}) // Legendre: well conditioned
	}
	var c, fit mat.VecDense
	target := mat.NewVecDense(len(y), slices.Clone(y))
	if err := c.SolveVec(basis, target); err != nil { // few distinct x: the mean will do
		rest := slices.Clone(y)
		floats.AddConst(-floats.Sum(y)/float64(len(y)), rest)
		return rest
	}
	fit.MulVec(basis, &c)
	target.SubVec(target, &fit)
	return target.RawVector().Data
}
