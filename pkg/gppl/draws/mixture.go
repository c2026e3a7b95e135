package draws

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Mixture is a predictive distribution at several inputs, each a mixture of Gaussians: Σ_c Weights[c]·N(Means[c][i],
// Variances[c][i]).
type Mixture struct {
	Weights          []float64   // weights of the components, which add up to 1
	Means, Variances [][]float64 // component by component, one value per input
	// Scales are the scales on which the components are Gaussian. nil, for all or for one component, means y itself.
	Scales []Scale
}

// A Scale is an increasing function of y, such as its logarithm. Its type is comparable.
type Scale interface {
	Forward(y float64) float64  // returns g(y), NaN or ±Inf where y is outside the domain
	Inverse(z float64) float64  // returns g⁻¹(z)
	LogSlope(y float64) float64 // returns log g′(y)
}

// Ended is a Scale of values with bounds, its ends. Inverse maps everything beyond an end to the end, as with censored
// observations, so that the ends have probabilities of their own. Forward accepts the ends.
type Ended interface {
	Scale
	Ends() (lo, hi float64) // values of y; ±Inf for no end
}

// endsOf returns the ends of the values on a scale.
func endsOf(s Scale) (lo, hi float64, ok bool) {
	e, ok := s.(Ended)
	if !ok {
		return math.Inf(-1), math.Inf(1), false
	}
	lo, hi = e.Ends()
	return lo, hi, true
}

// scale returns the scale of component c, nil for y itself.
func (m *Mixture) scale(c int) Scale {
	if m.Scales == nil {
		return nil
	}
	return m.Scales[c]
}

// value returns the y of component c at z on its scale.
func (m *Mixture) value(c int, z float64) float64 {
	if s := m.scale(c); s != nil {
		return s.Inverse(z)
	}
	return z
}

// scaled reports whether any component has a scale of its own.
func (m *Mixture) scaled() bool {
	return slices.ContainsFunc(m.Scales, func(s Scale) bool { return s != nil })
}

// ended reports whether the values of any component end.
func (m *Mixture) ended() bool {
	return slices.ContainsFunc(m.Scales, func(s Scale) bool {
		_, ok := s.(Ended)
		return ok
	})
}

// Len returns the number of inputs.
func (m *Mixture) Len() int {
	if len(m.Means) == 0 {
		return 0
	}
	return len(m.Means[0])
}

// each returns a number for each input, computed from its components' means and standard deviations.
func (m *Mixture) each(f func(i int, mu, sd []float64) float64) []float64 {
	out, _ := m.within(context.Background(), f)
	return out
}

// within is each, until ctx ends.
func (m *Mixture) within(ctx context.Context, f func(i int, mu, sd []float64) float64) ([]float64, error) {
	out := make([]float64, m.Len())
	mu, sd := make([]float64, len(m.Weights)), make([]float64, len(m.Weights))
	for i := range out {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("gppl: interrupted: %w", err)
		}
		for c := range m.Weights {
			mu[c], sd[c] = m.Means[c][i], math.Sqrt(m.Variances[c][i])
		}
		out[i] = f(i, mu, sd)
	}
	return out, nil
}

func (m *Mixture) average(f func(c int) float64) (sum float64) {
	for c, w := range m.Weights {
		sum += w * f(c)
	}
	return sum
}

// Mean returns the means Σ w_c·μ_c of y.
func (m *Mixture) Mean() []float64 {
	return m.each(func(_ int, mu, sd []float64) float64 {
		return m.average(func(c int) float64 {
			mean, _ := m.moments(c, mu[c], sd[c])
			return mean
		})
	})
}

// Variance returns Σ w_c·(σ_c² + (μ_c − μ)²) of y: the variance within components plus the variance between them.
func (m *Mixture) Variance() []float64 {
	return m.each(func(_ int, mu, sd []float64) float64 {
		mean := m.average(func(c int) float64 {
			mean, _ := m.moments(c, mu[c], sd[c])
			return mean
		})
		return m.average(func(c int) float64 {
			own, variance := m.moments(c, mu[c], sd[c])
			return variance + (own-mean)*(own-mean)
		})
	})
}

// moments returns the mean and the variance of y under a component. On a scale of its own it uses the trapezoidal rule, which
// converges faster than any power of the step.
func (m *Mixture) moments(c int, mu, sd float64) (mean, variance float64) {
	if m.scale(c) == nil {
		return mu, sd * sd
	}
	const step, most = 0.125, 12
	if lo, hi, ok := endsOf(m.scale(c)); ok {
		return m.endedMoments(c, mu, sd, lo, hi)
	}
	sum := func(f func(y float64) float64) (sum float64) {
		for z := -float64(most); z <= most; z += step {
			sum += step * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) * f(m.value(c, mu+z*sd))
		}
		return sum
	}
	mean = sum(func(y float64) float64 { return y })
	return mean, sum(func(y float64) float64 { return (y - mean) * (y - mean) })
}

// endedMoments returns the moments of a component whose values end: of its ends, and of what is between by Simpson's rule.
func (m *Mixture) endedMoments(c int, mu, sd, lo, hi float64) (mean, variance float64) {
	const most, parts = 9, 128 // parts at most 0.14 standard deviations wide: the sum is right to 1e-7 of a smooth f
	s := m.scale(c)
	if sd == 0 {
		return s.Inverse(mu), 0
	}
	from, to := -float64(most), float64(most) // in standard deviations
	var below, above float64
	if !math.IsInf(lo, 0) {
		z := (s.Forward(lo) - mu) / sd
		below, from = normalCDF(z), min(max(from, z), to)
	} else {
		lo = 0
	}
	if !math.IsInf(hi, 0) {
		z := (s.Forward(hi) - mu) / sd
		above, to = normalCDF(-z), max(min(to, z), from)
	} else {
		hi = 0
	}
	sum := func(f func(y float64) float64) (sum float64) {
		sum = below*f(lo) + above*f(hi)
		step := (to - from) / parts
		for k := range parts + 1 {
			z, weight := from+float64(k)*step, float64(2+2*(k%2))/3
			if k == 0 || k == parts {
				weight = 1. / 3
			}
			sum += weight * step * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) * f(s.Inverse(mu+z*sd))
		}
		return sum
	}
	mean = sum(func(y float64) float64 { return y })
	return mean, sum(func(y float64) float64 { return (y - mean) * (y - mean) })
}

const log2Pi = 1.8378770664093454835606594728112352797

// normalCDF returns Φ(z), to full relative accuracy in both tails.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// Quantile returns the quantiles at level p, to 1e-12 of the width of the distribution. It panics unless 0 < p < 1.
func (m *Mixture) Quantile(ctx context.Context, p float64) ([]float64, error) {
	if !(p > 0 && p < 1) {
		panic(fmt.Sprintf("draws: Mixture.Quantile: p = %v, want 0 < p < 1", p))
	}
	z := numeric.NormalQuantile(p)
	return m.within(ctx, func(_ int, mu, sd []float64) float64 {
		// The quantile lies between the quantiles of the components.
		lo, hi := math.Inf(1), math.Inf(-1)
		for c := range mu {
			q := m.value(c, mu[c]+z*sd[c])
			if math.IsNaN(q) {
				return math.NaN()
			}
			lo, hi = min(lo, q), max(hi, q)
		}
		if lo < hi && m.ended() { // an end may have the probability of the level
			if m.below(lo, mu, sd) >= p {
				return lo
			}
			if m.below(math.Nextafter(hi, lo), mu, sd) < p {
				return hi
			}
		}
		return numeric.Quantile(p, lo, hi, func(v float64) (below, density float64) { return m.distribution(v, mu, sd) })
	})
}

// place is a value on the scales of the components in turn; most components share one scale.
type place struct {
	v     float64
	of    Scale   // the last scale that is not nil
	at    float64 // g(v) on that scale; ±Inf outside the domain
	slope float64 // g′(v); 0 outside the domain
}

// on returns g(v) and g′(v) on the scale of a component.
func (p *place) on(s Scale) (at, slope float64) {
	if s == nil {
		return p.v, 1
	}
	if s != p.of {
		p.move(s)
	}
	return p.at, p.slope
}

// move sets the last scale to s.
func (p *place) move(s Scale) {
	p.of, p.at, p.slope = s, s.Forward(p.v), 0
	switch lo, hi, _ := endsOf(s); {
	case p.v < lo:
		p.at = math.Inf(-1)
	case p.v >= hi:
		p.at = math.Inf(1)
	case numeric.IsFinite(p.at):
		p.slope = math.Exp(s.LogSlope(p.v))
	case math.IsNaN(p.at) && p.v < s.Inverse(0):
		p.at = math.Inf(-1)
	case math.IsNaN(p.at):
		p.at = math.Inf(1)
	}
}

// below returns the probability of values up to v.
func (m *Mixture) below(v float64, mu, sd []float64) (p float64) {
	here := place{v: v}
	for c, w := range m.Weights {
		if at, _ := here.on(m.scale(c)); sd[c] > 0 {
			p += w * normalCDF((at-mu[c])/sd[c])
		} else if mu[c] <= at {
			p += w
		}
	}
	return p
}

// distribution returns the probability of values up to v, and the density at v.
func (m *Mixture) distribution(v float64, mu, sd []float64) (below, density float64) {
	here := place{v: v}
	for c, w := range m.Weights {
		if at, slope := here.on(m.scale(c)); sd[c] > 0 {
			u := (at - mu[c]) / sd[c]
			below += w * normalCDF(u)
			density += w * slope * math.Exp(-0.5*u*u) / (sd[c] * math.Sqrt(2*math.Pi))
		} else if mu[c] <= at {
			below += w
		}
	}
	return below, density
}

// Tails returns the probabilities of values up to y and above y for each input, both to full relative accuracy. It panics
// unless y has a value for each input.
func (m *Mixture) Tails(y []float64) (below, above []float64) {
	m.checkLen(y)
	above = make([]float64, len(y))
	below = m.each(func(i int, mu, sd []float64) (below float64) {
		here := place{v: y[i]}
		for c, w := range m.Weights {
			switch at, _ := here.on(m.scale(c)); {
			case sd[c] > 0:
				u := (at - mu[c]) / sd[c]
				below += w * normalCDF(u)
				above[i] += w * normalCDF(-u)
			case mu[c] <= at:
				below += w
			default:
				above[i] += w
			}
		}
		return below
	})
	return below, above
}

// LogDensity returns the log densities at y, in nats; at an end of the values (Ended) the log of its probability. A component of
// variance 0 is all at its mean: its log density is +Inf there, the limit of small variances, and −Inf elsewhere. It panics
// unless y has a value for each input.
func (m *Mixture) LogDensity(ctx context.Context, y []float64) ([]float64, error) {
	m.checkLen(y)
	log := make([]float64, len(m.Weights))
	return m.within(ctx, func(i int, mu, sd []float64) float64 {
		if math.IsNaN(y[i]) {
			return y[i]
		}
		most := math.Inf(-1)
		for c, w := range m.Weights {
			y, slope := y[i], 0.0
			if s := m.scale(c); s != nil {
				if lo, hi, ok := endsOf(s); ok && (y <= lo || y >= hi) {
					log[c] = math.Log(w) + logEnd(s, y, lo, hi, mu[c], sd[c])
					most = max(most, log[c])
					continue
				}
				slope = s.LogSlope(y)
				if y = s.Forward(y); !numeric.IsFinite(y) { // outside the domain
					log[c] = math.Inf(-1)
					continue
				}
			}
			z := (y - mu[c]) / sd[c]
			log[c] = slope + math.Log(w) - 0.5*log2Pi - math.Log(sd[c]) - 0.5*z*z
			switch {
			case w == 0 || sd[c] == 0 && (y < mu[c] || y > mu[c]):
				log[c] = math.Inf(-1)
			case sd[c] == 0 && y == mu[c]:
				log[c] = math.Inf(1)
			}
			most = max(most, log[c])
		}
		if math.IsInf(most, 0) {
			return most
		}
		var sum float64
		for _, l := range log {
			sum += math.Exp(l - most)
		}
		return most + math.Log(sum)
	})
}

// logEnd is the log of the probability of an end of the values of a component; −Inf beyond the ends.
func logEnd(s Scale, y, lo, hi, mu, sd float64) float64 {
	switch {
	case y == lo:
		return math.Log(normalCDF((s.Forward(lo) - mu) / sd))
	case y == hi:
		return math.Log(normalCDF((mu - s.Forward(hi)) / sd))
	}
	return math.Inf(-1)
}

// CRPS returns the continuous ranked probability scores at y, in the unit of y. Of Gaussians of y they have the closed form
//
//	Σ_c w_c·A(y − μ_c, σ_c²) − ½Σ_cd w_c·w_d·A(μ_c − μ_d, σ_c² + σ_d²),
//
// where A(μ, σ²) = E|N(μ, σ²)| (Grimit et al. 2006). It costs the square of the number of components for each input. Where a
// component has a scale of its own, the scores are ∫ (F(v) − 1[v ≥ y])² dv by adaptive quadrature, to a relative 1e-5 or
// better. CRPS panics unless y has a value for each input.
func (m *Mixture) CRPS(ctx context.Context, y []float64) ([]float64, error) {
	m.checkLen(y)
	if m.scaled() {
		return m.within(ctx, func(i int, mu, sd []float64) float64 { return m.integratedCRPS(y[i], mu, sd) })
	}
	return m.within(ctx, func(i int, mu, sd []float64) (score float64) {
		for c, w := range m.Weights {
			score += w * (meanAbs(y[i]-mu[c], sd[c]) - w*sd[c]/math.Sqrt(math.Pi))
			var apart float64 // sum over pairs with earlier components
			for d, v := range m.Weights[:c] {
				apart += v * meanAbs(mu[c]-mu[d], math.Hypot(sd[c], sd[d]))
			}
			score -= w * apart
		}
		return score
	})
}

// integratedCRPS integrates piecewise between y, the medians of the components, and the points beyond which next to no
// probability is left.
func (m *Mixture) integratedCRPS(y float64, mu, sd []float64) (score float64) {
	const far = 7       // standard deviations: (1 − Φ(7))² is 1e-24
	const widest = 1e99 // keeps sums finite
	lo, hi, size := y, y, 0.0
	ends := []float64{y}
	for c, w := range m.Weights {
		lo, hi = min(lo, m.value(c, mu[c]-far*sd[c])), max(hi, m.value(c, mu[c]+far*sd[c]))
		ends = append(ends, min(max(m.value(c, mu[c]), -widest), widest))
		size += w * (m.value(c, mu[c]+sd[c]) - m.value(c, mu[c]-sd[c]))
	}
	ends = append(ends, max(lo, -widest), min(hi, widest))
	if m.ended() { // both quantiles of all may be at one end
		const least = 1e-3
		size = max(size, least*(hi-lo))
	}
	if numeric.FirstNotFinite(ends) >= 0 {
		return math.NaN()
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for k, hi := range ends[1:] {
		lo := ends[k]
		score += integral(lo, hi, 1e-6*size/float64(len(ends)), func(v float64) float64 {
			below := m.below(v, mu, sd)
			if lo >= y {
				below = 1 - below
			}
			return below * below
		})
	}
	return score
}

// meanAbs returns E|N(μ, σ²)|.
func meanAbs(mu, sd float64) float64 {
	if sd == 0 {
		return math.Abs(mu)
	}
	z := mu / sd
	return sd*math.Sqrt(2/math.Pi)*math.Exp(-0.5*z*z) + mu*math.Erf(z/math.Sqrt2)
}

func (m *Mixture) checkLen(y []float64) {
	if len(y) != m.Len() {
		panic(fmt.Sprintf("draws: Mixture: len(y) = %d for %d inputs", len(y), m.Len()))
	}
}

// integral returns ∫ f between a and b by Simpson's rule, halving intervals until that changes the sum by less than the
// tolerance.
func integral(a, b, tolerance float64, f func(x float64) float64) float64 {
	const deepest = 40
	var within func(a, b, fa, fm, fb, whole, tolerance float64, depth int) float64
	within = func(a, b, fa, fm, fb, whole, tolerance float64, depth int) float64 {
		m := a + 0.5*(b-a)
		fl, fr := f(a+0.25*(b-a)), f(a+0.75*(b-a))
		left, right := (m-a)/6*(fa+4*fl+fm), (b-m)/6*(fm+4*fr+fb)
		more := left + right - whole
		if depth == 0 || !(math.Abs(more) > 15*tolerance) {
			return left + right + more/15
		}
		return within(a, m, fa, fl, fm, left, 0.5*tolerance, depth-1) + within(m, b, fm, fr, fb, right, 0.5*tolerance, depth-1)
	}
	fa, fm, fb := f(a), f(a+0.5*(b-a)), f(b)
	return within(a, b, fa, fm, fb, (b-a)/6*(fa+4*fm+fb), tolerance, deepest)
}
