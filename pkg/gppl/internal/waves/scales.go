package waves

import (
	"math"
	"slices"
	"sort"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// Scales holds terms of the rational quadratic function. With s = eᵘ (Rasmussen and Williams 2006, eq. 4.20)
//
//	v·(1 + r²/2αl²)^−α = v·∫ g(u)·exp(−s·r²/2l²) du,  g(u) = (αs)^α·e^−αs/Γ(α)
//
// and the trapezoidal rule of step h makes it a sum of SE kernels of lengthscales l/√s. At every r its relative error equals
// the error of h·Σg at some shift of u, at most 2Σ_j |Γ(α + 2πij/h)|/Γ(α) by Poisson's formula.
type Scales struct {
	Variance, Lengthscale float64 // v and l
	Terms                 []Scale // terms in descending order of lengthscale

	octave int // number of terms in which s doubles
}

// Scale is the term Weight·exp(−r²/2l²), of the lengthscale l/√s; a constant if that is infinite.
type Scale struct {
	Weight, slope  float64 // Weight is the term's part of k(0); slope is its derivative in log α, relative to it
	s, Lengthscale float64
}

const (
	// LeastAlpha and MostAlpha bound α: below, the varying part is such a small share of v that it loses digits; above, the
	// function is a Gaussian.
	LeastAlpha, MostAlpha = 1e-4, 200.
	// ScaleRounding is the rounding of weights: α·(log s − s) loses digits.
	ScaleRounding = 1e-13
	ruleError     = 1e-15 // relative error of the trapezoidal rule
	// leastOctave is log₂ of the least s with a term of its own. Smaller s, with lengthscales above 2⁶⁰·l, form one constant,
	// which has most of the weight for small α.
	leastOctave = -120
)

// octaveOf returns the number of steps per factor of two in s that the rule needs, by Stirling's formula for Γ.
func octaveOf(alpha float64) (steps int) {
	var least float64
	if alpha < 1 {
		least, _ = math.Lgamma(alpha)
	} else {
		least = (alpha-0.5)*math.Log(alpha) - alpha
	}
	for steps = 2; ; steps++ {
		w := 2 * math.Pi * float64(steps) / math.Ln2
		size := (alpha-0.5)*math.Log(math.Hypot(alpha, w)) - w*math.Atan2(w, alpha) - alpha
		if size-least+2 < math.Log(ruleError) {
			return steps
		}
	}
}

// NewScales returns all terms. ok is false if α is out of its bounds, which would take too many.
func NewScales(variance, lengthscale, alpha float64) (Scales, bool) {
	if !(alpha >= LeastAlpha && alpha <= MostAlpha) {
		return Scales{}, false
	}
	m := Scales{Variance: variance, Lengthscale: lengthscale, octave: octaveOf(alpha)}
	// log g falls by drop from s = 1 on either side: α·(s − 1 − log s) = drop.
	drop := -math.Log(1e-18) / alpha
	hi, lo := 1+drop, 0.
	for range 60 {
		hi, lo = 1+drop+math.Log(hi), math.Exp(lo-1-drop)
	}
	step := float64(m.octave)
	first, last := int(math.Ceil(step*math.Log2(lo))), int(math.Floor(step*math.Log2(hi)))
	var sum, mean float64
	if least := m.octave * leastOctave; lo == 0 || first < least {
		// For smaller s, exp(−αs) is 1: with L = log s of the first of them, δ the distance between two and q = exp(−αδ), Σ_j
		// q^j = 1/(1 − q), and for the logarithms Σ_j q^j·(L − jδ) = L/(1 − q) − δq/(1 − q)².
		between := math.Ln2 / step
		log, rest := math.Ln2*float64(least-1)/step, -math.Expm1(-alpha*between) // 1 − q
		s := math.Exp(log)
		t := Scale{math.Exp(alpha*(log+1)) / rest, alpha * (log - between*math.Exp(-alpha*between)/rest), s, lengthscale / math.Sqrt(s)}
		sum, mean, first = t.Weight, t.Weight*t.slope, least
		m.Terms = append(m.Terms, t)
	}
	for i := first; i <= last; i++ {
		log := math.Ln2 * float64(i) / step
		s := math.Exp(log)
		t := Scale{math.Exp(alpha * (log - s + 1)), alpha * (log - s), s, lengthscale / math.Sqrt(s)}
		sum += t.Weight
		mean += t.Weight * t.slope
		m.Terms = append(m.Terms, t)
	}
	for i := range m.Terms {
		m.Terms[i].Weight /= sum
		m.Terms[i].slope -= mean / sum
	}
	return m, true
}

// Between returns the terms of lengthscales from ≤ l < to. With constant set, they are one term of infinite lengthscale.
func (k Scales) Between(from, to float64, constant bool) Scales {
	first := sort.Search(len(k.Terms), func(i int) bool { return k.Terms[i].Lengthscale < to })
	end := sort.Search(len(k.Terms), func(i int) bool { return k.Terms[i].Lengthscale < from })
	k.Terms = k.Terms[first:max(first, end)]
	if !constant {
		return k
	}
	all := Scale{Lengthscale: math.Inf(1)}
	for _, t := range k.Terms {
		all.Weight += t.Weight
		all.slope += t.Weight * t.slope
	}
	if all.slope != 0 {
		all.slope /= all.Weight
	}
	k.Terms = []Scale{all}
	return k
}

// ConstantFrom returns the least span·2^j such that longer terms, if there are any, are constant up to the span within eps.
func (k Scales) ConstantFrom(span, eps float64) (from float64) {
	from = 2 * k.Terms[0].Lengthscale
	var curved float64 // Σ weight·½(span/l)²
	for _, t := range k.Terms {
		if curved += 0.5 * t.Weight * (span / t.Lengthscale) * (span / t.Lengthscale); curved > eps {
			break
		}
		from = t.Lengthscale
	}
	return span * math.Exp2(math.Ceil(math.Log2(from/span)))
}

// Weight returns Σ Weight.
func (k Scales) Weight() (sum float64) {
	for _, t := range k.Terms {
		sum += t.Weight
	}
	return sum
}

// chunk is the number of distances processed at a time, in working memory from buffers.
const chunk = 512

var buffers parallel.Pool[[2][chunk]float64]

// each calls visit with weight·exp(−r²/2l²) of every term, at chunks of r, and with r²/2l² for the function's own l.
func (k Scales) each(r []float64, visit func(from int, t *Scale, e, q []float64)) {
	const squared = 3 // number of squarings after which a power has lost the digits that it may
	c := 0.5 / (k.Lengthscale * k.Lengthscale)
	buf := buffers.Get()
	defer buffers.Put(buf)
	for from := 0; from < len(r); from += chunk {
		of := r[from:min(from+chunk, len(r))]
		q, e := buf[0][:len(of)], buf[1][:len(of)]
		for j, v := range of {
			q[j] = c * v * v
		}
		for class := range min(k.octave, len(k.Terms)) {
			for i := class; i < len(k.Terms); i += k.octave {
				t := &k.Terms[i]
				if count := i / k.octave; count%(squared+1) == 0 {
					for j, v := range q {
						e[j] = -t.s * v
					}
					vexp.Exp(e, e)
				} else {
					for j, v := range e {
						e[j] = v * v
					}
				}
				visit(from, t, e, q)
			}
		}
	}
}

// Cov sets dst to the values at r.
func (k Scales) Cov(dst, r []float64) {
	cleared := -1
	k.each(r, func(from int, t *Scale, e, _ []float64) {
		d, v := dst[from:][:len(e)], k.Variance*t.Weight
		if from > cleared {
			clear(d)
			cleared = from
		}
		for j, x := range e {
			d[j] += v * x
		}
	})
	if cleared < 0 {
		clear(dst[:len(r)])
	}
}

// Contract adds Σ_i w_i·∂k(r_i) in log v, log l and log α to grad.
func (k Scales) Contract(grad, w, r []float64) {
	k.each(r, func(from int, t *Scale, e, q []float64) {
		var sum, far float64
		for j, x := range e {
			x *= w[from+j]
			sum += x
			far += x * q[j]
		}
		v := k.Variance * t.Weight
		grad[0] += v * sum
		grad[1] += 2 * v * t.s * far
		grad[2] += v * t.slope * sum
	})
}

// Slope sets dst to the derivatives in r.
func (k Scales) Slope(dst, r []float64) {
	at := append([]float64(nil), r...)
	clear(dst[:len(r)])
	k.each(at, func(from int, t *Scale, e, _ []float64) {
		c := -k.Variance * t.Weight * t.s / (k.Lengthscale * k.Lengthscale)
		for j, x := range e {
			dst[from+j] += c * x * at[from+j]
		}
	})
}

// vanishes is an exponent whose exponential, 1e-35, is negligible beside any tolerance.
const vanishes = 80

// Circle returns the period whose next image contributes less than half of eps, and the frequency beyond which less than a
// quarter of eps remains on either side.
func (k Scales) Circle(span, eps float64) (period, frequency float64) {
	total := k.Weight()
	eps *= min(1, span/k.Terms[0].Lengthscale)
	period = span + k.Terms[0].Lengthscale*math.Sqrt(2*math.Log(4/eps))
	allowed := 0.25 * eps * total
	resolves := func(f float64) bool { // reports whether all but the allowed share is below f
		var beyond float64
		for _, t := range slices.Backward(k.Terms) { // the shortest lengthscale contributes most
			square := 2 * math.Pi * math.Pi * f * f * t.Lengthscale * t.Lengthscale
			if square > vanishes || beyond > allowed {
				break
			}
			beyond += t.Weight * math.Exp(-square)
		}
		return beyond <= allowed
	}
	lo, hi := 0.0, math.Sqrt(0.5*math.Log(4/eps))/(math.Pi*k.Terms[len(k.Terms)-1].Lengthscale)
	for range 20 {
		if at := 0.5 * (lo + hi); resolves(at) {
			hi = at
		} else {
			lo = at
		}
	}
	return period, hi
}

// spectrum calls visit with the part c of each term in each coefficient c_m: 2·√(2π)·l/P·exp(−2π²l²m²/P²), half of that at 0.
func (k Scales) spectrum(dst []float64, period float64, visit func(m int, t *Scale, c, square float64)) {
	for i := range k.Terms {
		t := &k.Terms[i]
		if math.IsInf(t.Lengthscale, 1) {
			visit(0, t, k.Variance*t.Weight, 0)
			continue
		}
		step := 2 * math.Pi * t.Lengthscale / period
		scale := k.Variance * t.Weight * math.Sqrt(2*math.Pi) * t.Lengthscale / period
		for m := range dst {
			square := step * float64(m) * step * float64(m)
			if square > 120 {
				break
			}
			visit(m, t, scale*math.Exp(-0.5*square), square)
			if m == 0 {
				scale *= 2
			}
		}
	}
}

// Coefficients sets dst to c_0, c_1, …
func (k Scales) Coefficients(dst []float64, period float64) {
	clear(dst)
	k.spectrum(dst, period, func(m int, _ *Scale, c, _ float64) { dst[m] += c })
}

// ContractCoefficients adds Σ_m w_m·∂c_m in log v, log l and log α to grad.
func (k Scales) ContractCoefficients(grad, w []float64, period float64) {
	k.spectrum(w, period, func(m int, t *Scale, c, square float64) {
		c *= w[m]
		grad[0] += c
		grad[2] += t.slope * c
		if !math.IsInf(t.Lengthscale, 1) {
			grad[1] += c * (1 - square)
		}
	})
}
