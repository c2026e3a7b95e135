package gppl

import (
	"math"
	"slices"
	"sort"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// layered is a Kernel that is a sum of SE kernels of many lengthscales, from below a spacing to beyond the range. The mixed engine takes
// the short ones as a band, and the long ones as few waves.
type layered interface {
	Kernel
	// mixture returns the terms, by falling lengthscale; false if they are too many.
	mixture() (layer, bool)
}

// layer is terms of an RQ. With s = eᵘ (Rasmussen and Williams 2006, eq. 4.20)
//
//	v·(1 + r²/2αl²)^−α = v·∫ g(u)·exp(−s·r²/2l²) du,  g(u) = (αs)^α·e^−αs/Γ(α)
//
// and the trapezoidal rule of step h makes it a sum of SE kernels of lengthscales l/√s. At every r its relative error is that of
// h·Σg at some shift of u, at most 2Σ_j |Γ(α + 2πij/h)|/Γ(α) by Poisson's formula.
type layer struct {
	RQ
	from, to float64 // lengthscales: from ≤ l/√s < to; an infinite one is a constant
	octave   int     // s doubles after as many terms
	terms    []scaleTerm
}

// scaleTerm is the term weight·exp(−r²/2l²), with l² = (that of RQ)²/s.
type scaleTerm struct {
	weight, slope  float64 // of k(0); its derivative in log α, relative to it
	s, lengthscale float64
}

const (
	leastLayer, mostLayer = 0.06, 200. // α: below, s has no exponent small enough; above, it is SE
	layerError            = 1e-15      // of the rule, relative
	layerRounding         = 1e-13      // of weights: α·(log s − s) loses digits
)

// octaveOf returns the steps to a factor of two in s that the rule needs, by Stirling's formula for Γ.
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
		if size-least+2 < math.Log(layerError) {
			return steps
		}
	}
}

func (k RQ) mixture() (layer, bool) {
	if !(k.Alpha >= leastLayer && k.Alpha <= mostLayer) {
		return layer{}, false
	}
	m := layer{RQ: k, to: math.Inf(1), octave: octaveOf(k.Alpha)}
	// log g falls by this much from s = 1 on either side: α·(s − 1 − log s) = drop.
	drop := -math.Log(1e-18) / k.Alpha
	hi, lo := 1+drop, 0.
	for range 60 {
		hi, lo = 1+drop+math.Log(hi), math.Exp(lo-1-drop)
	}
	step := float64(m.octave)
	first, last := int(math.Ceil(step*math.Log2(lo))), int(math.Floor(step*math.Log2(hi)))
	var sum, mean float64
	for i := first; i <= last; i++ {
		log := math.Ln2 * float64(i) / step
		s := math.Exp(log)
		t := scaleTerm{math.Exp(k.Alpha * (log - s + 1)), k.Alpha * (log - s), s, k.Lengthscale / math.Sqrt(s)}
		sum += t.weight
		mean += t.weight * t.slope
		m.terms = append(m.terms, t)
	}
	for i := range m.terms {
		m.terms[i].weight /= sum
		m.terms[i].slope -= mean / sum
	}
	return m, true
}

// between returns the terms of lengthscales from ≤ l < to. With constant set, they are one term of infinite lengthscale.
func (k layer) between(from, to float64, constant bool) layer {
	first := sort.Search(len(k.terms), func(i int) bool { return k.terms[i].lengthscale < to })
	end := sort.Search(len(k.terms), func(i int) bool { return k.terms[i].lengthscale < from })
	k.from, k.to, k.terms = from, to, k.terms[first:max(first, end)]
	if !constant {
		return k
	}
	all := scaleTerm{lengthscale: math.Inf(1)}
	for _, t := range k.terms {
		all.weight += t.weight
		all.slope += t.weight * t.slope
	}
	if all.slope != 0 {
		all.slope /= all.weight
	}
	k.terms = []scaleTerm{all}
	return k
}

// constantFrom returns the least span·2^j such that longer terms, if there are any, are constants up to the span, within eps.
func (k layer) constantFrom(span, eps float64) (from float64) {
	from = 2 * k.terms[0].lengthscale
	var curved float64 // Σ weight·½(span/l)²
	for _, t := range k.terms {
		if curved += 0.5 * t.weight * (span / t.lengthscale) * (span / t.lengthscale); curved > eps {
			break
		}
		from = t.lengthscale
	}
	return span * math.Exp2(math.Ceil(math.Log2(from/span)))
}

func (k layer) WithParams(theta []float64) Kernel {
	m, ok := k.RQ.WithParams(theta).(RQ).mixture()
	if !ok {
		panic("gppl: a layer of an RQ beyond its bounds")
	}
	return m.between(k.from, k.to, len(k.terms) == 1 && math.IsInf(k.terms[0].lengthscale, 1))
}

// weight returns Σ weight.
func (k layer) weight() (sum float64) {
	for _, t := range k.terms {
		sum += t.weight
	}
	return sum
}

func (k layer) Reach(eps float64) float64 {
	if len(k.terms) == 0 {
		return 0
	}
	return SE{1, k.terms[0].lengthscale}.Reach(eps)
}

// each calls visit with weight·exp(−r²/2l²) of every term, at chunks of r, and r²/2l² of RQ.
func (k layer) each(r []float64, visit func(from int, t *scaleTerm, e, q []float64)) {
	const squared = 3 // times, after which a power has lost the digits that it may
	c := 0.5 / (k.Lengthscale * k.Lengthscale)
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	for from := 0; from < len(r); from += chunk {
		of := r[from:min(from+chunk, len(r))]
		q, e := buf[0][:len(of)], buf[1][:len(of)]
		for j, v := range of {
			q[j] = c * v * v
		}
		for class := range min(k.octave, len(k.terms)) {
			for i := class; i < len(k.terms); i += k.octave {
				t := &k.terms[i]
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

func (k layer) Cov(dst, r []float64) {
	cleared := -1
	k.each(r, func(from int, t *scaleTerm, e, _ []float64) {
		d, v := dst[from:][:len(e)], k.Variance*t.weight
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

func (k layer) Contract(grad, w, r []float64) {
	k.each(r, func(from int, t *scaleTerm, e, q []float64) {
		var sum, far float64
		for j, x := range e {
			x *= w[from+j]
			sum += x
			far += x * q[j]
		}
		v := k.Variance * t.weight
		grad[0] += v * sum
		grad[1] += 2 * v * t.s * far
		grad[2] += v * t.slope * sum
	})
}

func (k layer) Slope(dst, r []float64) {
	at := append([]float64(nil), r...)
	clear(dst[:len(r)])
	k.each(at, func(from int, t *scaleTerm, e, _ []float64) {
		c := -k.Variance * t.weight * t.s / (k.Lengthscale * k.Lengthscale)
		for j, x := range e {
			dst[from+j] += c * x * at[from+j]
		}
	})
}

// Bands: as those of SE, see carried.
func (k layer) Bands(dst []Band, span, eps float64) (float64, []Band) {
	longest := k.terms[0].lengthscale
	if math.IsInf(longest, 1) {
		return span, append(dst, Band{0, 0})
	}
	period, frequency := k.circle(span, eps)
	if m := math.Ceil(frequency * period); m < maxWave {
		return period, append(dst, Band{0, int(m)})
	}
	return 0, nil
}

// vanishes is an exponent whose exponential, 1e-35, is nothing beside any tolerance.
const vanishes = 80

// circle returns the period, beyond whose next image there is less than half of eps, and the frequency that less than a quarter of eps is
// beyond, on either side.
func (k layer) circle(span, eps float64) (period, frequency float64) {
	total := k.weight()
	eps *= min(1, span/k.terms[0].lengthscale)
	period = span + k.terms[0].lengthscale*math.Sqrt(2*math.Log(4/eps))
	few := 0.25 * eps * total
	resolves := func(f float64) bool { // whether all but few is below f
		var beyond float64
		for _, t := range slices.Backward(k.terms) { // the shortest lengthscale has the most
			square := 2 * math.Pi * math.Pi * f * f * t.lengthscale * t.lengthscale
			if square > vanishes || beyond > few {
				break
			}
			beyond += t.weight * math.Exp(-square)
		}
		return beyond <= few
	}
	lo, hi := 0.0, math.Sqrt(0.5*math.Log(4/eps))/(math.Pi*k.terms[len(k.terms)-1].lengthscale)
	for range 20 {
		if at := 0.5 * (lo + hi); resolves(at) {
			hi = at
		} else {
			lo = at
		}
	}
	return period, hi
}

// spectrum calls visit with the share of each term of c_m, in all c_m: 2·√(2π)·l/P·exp(−2π²l²m²/P²), half of that at 0.
func (k layer) spectrum(dst []float64, period float64, visit func(m int, t *scaleTerm, c, square float64)) {
	for i := range k.terms {
		t := &k.terms[i]
		if math.IsInf(t.lengthscale, 1) {
			visit(0, t, k.Variance*t.weight, 0)
			continue
		}
		step := 2 * math.Pi * t.lengthscale / period
		scale := k.Variance * t.weight * math.Sqrt(2*math.Pi) * t.lengthscale / period
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

func (k layer) Coefficients(dst []float64, period float64, _ []Band) {
	clear(dst)
	k.spectrum(dst, period, func(m int, _ *scaleTerm, c, _ float64) { dst[m] += c })
}

func (k layer) ContractCoefficients(grad, w []float64, period float64, _ []Band) {
	k.spectrum(w, period, func(m int, t *scaleTerm, c, square float64) {
		c *= w[m]
		grad[0] += c
		grad[2] += t.slope * c
		if !math.IsInf(t.lengthscale, 1) {
			grad[1] += c * (1 - square)
		}
	})
}

func (k layer) PeriodParam() int { return -1 }
