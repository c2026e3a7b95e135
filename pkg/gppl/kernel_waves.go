package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

var (
	_ capability.Waver = Periodic{}
	_ capability.Waver = SE{}
	_ capability.Waver = LocPer{}
	_ capability.Waver = SpectralMixture{}
)

func (k Periodic) Bands(dst []capability.Band, _, eps float64) (float64, []capability.Band) {
	last := waves.LastHarmonic(k.Lengthscale, eps)
	if last < 0 {
		return 0, nil
	}
	return k.Period, append(dst, capability.Band{From: 0, To: last})
}

func (k Periodic) Coefficients(dst []float64, _ float64, _ []capability.Band) {
	waves.Harmonics(dst, k.Lengthscale)
	for j := range dst {
		dst[j] *= k.Variance
	}
}

func (k Periodic) ContractCoefficients(grad, w []float64, period float64, bands []capability.Band) {
	c := make([]float64, len(w))
	k.Coefficients(c, period, bands)
	for j, v := range w {
		grad[0] += v * c[j]
	}
	grad[1] += k.Variance * waves.ContractHarmonics(w, k.Lengthscale)
}

func (k Periodic) PeriodParam() int { return 2 }

// contractLines adds the derivatives in log v, log l and, if grad has a third entry, log p, of lines whose weights are no
// parameters.
func contractLines(grad []float64, k waves.Lines, w []float64, period float64, bands []capability.Band) {
	var lines [2]float64
	v, l, p := waves.Contract(k, lines[:len(k.Weights)], w, period, bands)
	for i, d := range []float64{v, l, p}[:len(grad)] {
		grad[i] += d
	}
}

func (k SE) lines() waves.Lines {
	return waves.Lines{Variance: k.Variance, Lengthscale: k.Lengthscale, Period: k.Lengthscale, Weights: []float64{1}}
}

func (k SE) Bands(dst []capability.Band, span, eps float64) (float64, []capability.Band) {
	return waves.BandsOf(k.lines(), dst, span, eps)
}

func (k SE) Coefficients(dst []float64, period float64, bands []capability.Band) {
	waves.Coefficients(k.lines(), dst, period, bands)
}

func (k SE) ContractCoefficients(grad, w []float64, period float64, bands []capability.Band) {
	contractLines(grad[:2], k.lines(), w, period, bands)
}

func (k SE) PeriodParam() int { return -1 }

// lines returns the lines with as many harmonics as eps requires.
func (k LocPer) lines(eps float64) waves.Lines {
	last := waves.LastHarmonic(k.PeriodicLengthscale, 0.25*eps)
	c := waves.Lines{Variance: k.Variance, Lengthscale: k.Lengthscale, Period: k.Period, Weights: make([]float64, max(0, last)+1)}
	if last >= 0 {
		waves.Harmonics(c.Weights, k.PeriodicLengthscale)
	}
	return c
}

// leastWeight is the largest share of all weights in the harmonics that coefficients leave out.
const leastWeight = 1e-22

func (k LocPer) Bands(dst []capability.Band, span, eps float64) (float64, []capability.Band) {
	if waves.LastHarmonic(k.PeriodicLengthscale, 0.25*eps) < 0 {
		return 0, nil
	}
	return waves.BandsOf(k.lines(eps), dst, span, 0.75*eps)
}

func (k LocPer) Coefficients(dst []float64, period float64, bands []capability.Band) {
	waves.Coefficients(k.lines(leastWeight), dst, period, bands)
}

func (k LocPer) ContractCoefficients(grad, w []float64, period float64, bands []capability.Band) {
	c := k.lines(leastWeight)
	lines := make([]float64, len(c.Weights))
	v, l, p := waves.Contract(c, lines, w, period, bands)
	grad[0] += v
	grad[1] += l
	grad[2] += p
	grad[3] += waves.ContractHarmonics(lines, k.PeriodicLengthscale)
}

func (k LocPer) PeriodParam() int { return -1 }

func (k SpectralMixture) lines() waves.Lines {
	return waves.Lines{Variance: k.Variance, Lengthscale: k.Lengthscale, Period: k.Period, Weights: []float64{0, 1}}
}

func (k SpectralMixture) Bands(dst []capability.Band, span, eps float64) (float64, []capability.Band) {
	return waves.BandsOf(k.lines(), dst, span, eps)
}

func (k SpectralMixture) Coefficients(dst []float64, period float64, bands []capability.Band) {
	waves.Coefficients(k.lines(), dst, period, bands)
}

func (k SpectralMixture) ContractCoefficients(grad, w []float64, period float64, bands []capability.Band) {
	contractLines(grad[:3], k.lines(), w, period, bands)
}

func (k SpectralMixture) PeriodParam() int { return -1 }

// waverOf returns the kernel as waves: a Waver itself, or SE times Periodic, which is a LocPer with parameters in another
// order.
func waverOf(k Kernel) (waver, bool) {
	if w, ok := k.(waver); ok {
		return w, true
	}
	p, ok := k.(Product)
	if !ok || len(p.parts) != 2 {
		return nil, false
	}
	for i, part := range p.parts {
		se, smooth := part.(SE)
		periodic, turns := p.parts[1-i].(Periodic)
		if smooth && turns {
			return carriedPeriodic{
				Product: p, as: LocPer{se.Variance * periodic.Variance, se.Lengthscale, periodic.Period, periodic.Lengthscale},
				smooth: p.offset[i], turns: p.offset[1-i],
			}, true
		}
	}
	return nil, false
}

// carriedPeriodic is SE times Periodic.
type carriedPeriodic struct {
	Product
	as            LocPer
	smooth, turns int // indices of the first parameters of SE and Periodic
}

func (k carriedPeriodic) Bands(dst []capability.Band, span, eps float64) (float64, []capability.Band) {
	return k.as.Bands(dst, span, eps)
}

func (k carriedPeriodic) Coefficients(dst []float64, period float64, bands []capability.Band) {
	k.as.Coefficients(dst, period, bands)
}

func (k carriedPeriodic) ContractCoefficients(grad, w []float64, period float64, bands []capability.Band) {
	var own [4]float64 // variance, lengthscale, period, periodic lengthscale
	k.as.ContractCoefficients(own[:], w, period, bands)
	grad[k.smooth] += own[0]
	grad[k.smooth+1] += own[1]
	grad[k.turns] += own[0]
	grad[k.turns+1] += own[3]
	grad[k.turns+2] += own[2]
}

func (k carriedPeriodic) PeriodParam() int { return -1 }

// layered is a Kernel that is a sum of SE kernels of many lengthscales, from below a spacing to beyond the range. The mixed
// engine represents the short ones by a band and the long ones by a few waves.
type layered interface {
	Kernel
	// mixture returns the terms, by falling lengthscale; ok is false if there are too many.
	mixture() (layer, bool)
}

// layer holds terms of an RQ with lengthscales from ≤ l < to.
type layer struct {
	RQ
	from, to float64
	constant bool // the terms are one constant
	scales   waves.Scales
}

func (k RQ) mixture() (layer, bool) {
	all, ok := waves.NewScales(k.Variance, k.Lengthscale, k.Alpha)
	return layer{RQ: k, to: math.Inf(1), scales: all}, ok
}

// between returns the terms of lengthscales from ≤ l < to. With constant set, they are one term of infinite lengthscale.
func (k layer) between(from, to float64, constant bool) layer {
	return layer{k.RQ, from, to, constant, k.scales.Between(from, to, constant)}
}

func (k layer) WithParams(theta []float64) Kernel {
	m, ok := k.RQ.WithParams(theta).(RQ).mixture()
	if !ok {
		panic("gppl: a layer of an RQ beyond its bounds")
	}
	return m.between(k.from, k.to, k.constant)
}

func (k layer) Reach(eps float64) float64 {
	if len(k.scales.Terms) == 0 {
		return 0
	}
	return SE{1, k.scales.Terms[0].Lengthscale}.Reach(eps)
}

func (k layer) Cov(dst, r []float64)          { k.scales.Cov(dst, r) }
func (k layer) Contract(grad, w, r []float64) { k.scales.Contract(grad, w, r) }
func (k layer) Slope(dst, r []float64)        { k.scales.Slope(dst, r) }

// Bands are SE's.
func (k layer) Bands(dst []capability.Band, span, eps float64) (float64, []capability.Band) {
	if k.constant {
		return span, append(dst, capability.Band{From: 0, To: 0})
	}
	period, frequency := k.scales.Circle(span, eps)
	if m := math.Ceil(frequency * period); m < waves.Most {
		return period, append(dst, capability.Band{From: 0, To: int(m)})
	}
	return 0, nil
}

func (k layer) Coefficients(dst []float64, period float64, _ []capability.Band) {
	k.scales.Coefficients(dst, period)
}

func (k layer) ContractCoefficients(grad, w []float64, period float64, _ []capability.Band) {
	k.scales.ContractCoefficients(grad, w, period)
}

func (k layer) PeriodParam() int { return -1 }
