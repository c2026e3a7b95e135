package observe

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
)

// A meanWarp knows E g⁻¹(z) for normal z, to 1e-12 relative to E|g⁻¹(z)|. What z has beyond the range of
// g counts at the end of the domain.
type meanWarp interface{ mean(mu, sd float64) float64 }

var (
	_ meanWarp = LogWarp{}
	_ meanWarp = BoxCoxWarp{}
	_ meanWarp = LogitWarp{}
)

// mean is that of a log-normal.
func (w LogWarp) mean(mu, sd float64) float64 { return math.Exp(mu+0.5*sd*sd) - w.Offset }

// mean is, for λ > 0, with a where u = (z − μ)/sd meets the end of the range of g,
//
//	E = ∫_a^∞ (λ·sd·(u − a))^(1/λ)·φ(u) du − Offset.
//
// Normal z have mass beyond any end, which for λ < 0 is mapped to +Inf.
func (w BoxCoxWarp) mean(mu, sd float64) float64 {
	switch {
	case w.Lambda == 0:
		return LogWarp{w.Offset}.mean(mu, sd)
	case w.Lambda < 0:
		return math.Inf(1)
	case sd == 0:
		return w.Inverse(mu)
	}
	a := -(1/w.Lambda + mu) / sd
	log := func(u, fromEnd float64) float64 { // of the integrand, which is log-concave
		power := math.Log(w.Lambda*sd*fromEnd) / w.Lambda
		if v := w.Lambda * (mu + sd*u); math.Abs(v) < 0.5 {
			power = math.Log1p(v) / w.Lambda
		}
		return power - 0.5*u*u
	}
	// It is largest at d = u − a with d² + a·d = 1/λ.
	root := math.Sqrt(a*a + 4/w.Lambda)
	peak := (root - a) / 2
	if a > 0 {
		peak = 2 / w.Lambda / (root + a)
	}
	top := 1 / (w.Lambda * peak) // u there, without cancellation
	most := log(top, peak)
	const negligible = 45     // e⁻⁴⁵ of the peak
	const reach = 10          // log is at least as concave as −u²/2
	below := min(reach, peak) // the integrand begins at the end of the range, if that is as near
	left := below * bisect(func(s float64) bool { return log(top-below*s, peak-below*s) < most-negligible })
	if left > 0.999*peak {
		left = peak
	}
	right := reach * bisect(func(s float64) bool { return log(top+reach*s, peak+reach*s) < most-negligible })
	sum := integrate(left+right, func(s float64) float64 {
		fromEnd := s // in all its digits
		if left < peak {
			fromEnd += peak - left
		}
		return math.Exp(log(top-left+s, fromEnd) - most)
	})
	return math.Exp(most)*sum/math.Sqrt(2*math.Pi) - w.Offset
}

// mean integrates to both sides of the middle of the domain, where g⁻¹ turns within a distance of about 1/sd.
func (w LogitWarp) mean(mu, sd float64) float64 {
	if sd == 0 {
		return w.Inverse(mu)
	}
	const reach = 9.5 // beyond it a normal has 1e-21
	middle := min(max(-mu/sd, -reach), reach)
	density := func(u float64) float64 { return math.Exp(-0.5*u*u) / math.Sqrt(2*math.Pi) }
	share := LogitWarp{0, 1} // of the way from Lo to Hi, or back, whichever is less than a half
	integrand := func(u float64) float64 { return share.Inverse(-math.Abs(mu+sd*u)) * density(u) }
	below := integrate(middle+reach, func(s float64) float64 { return integrand(middle - s) })
	above := integrate(reach-middle, func(s float64) float64 { return integrand(middle + s) })
	end := 0.5 * math.Erfc(mu/sd/math.Sqrt2) // the probability of z < 0
	if end <= 0.5 {
		return w.Hi - (w.Hi-w.Lo)*(end-below+above)
	}
	return w.Lo + (w.Hi-w.Lo)*(1-end+below-above)
}

// bisect returns where in [0, 1] f turns true, to rounding.
func bisect(f func(s float64) bool) float64 {
	const steps = 1 << 30
	return float64(sort.Search(steps, func(i int) bool { return f((float64(i) + 1) / steps) })+1) / steps
}

// integrate returns ∫_0^length f by the tanh-sinh rule (Takahasi and Mori 1974), which takes powers at the ends:
// f sees distances from 0 in all their digits. 230 values; 1e-13 for what changes within a tenth of the length.
func integrate(length float64, f func(s float64) float64) (sum float64) {
	const step, steps = 1.0 / 32, 115
	for i := -steps; i <= steps; i++ {
		t := step * float64(i)
		e := math.Exp(-math.Pi * math.Sinh(math.Abs(t)))
		near := e / (1 + e) // of the nearer end
		weight := math.Pi * math.Cosh(t) * e / ((1 + e) * (1 + e))
		if t > 0 {
			near = 1 - near
		}
		if v := weight * f(length*near); v > 0 || v < 0 {
			sum += v
		}
	}
	return sum * step * length
}

// hermiteNodes are enough for 1e-12 where g⁻¹ is exponential with a standard deviation of 2
// in z.
const hermiteNodes = 48

// meanOf returns E g⁻¹(z) of normal z: for a warp of another package by Gauss–Hermite quadrature, for smooth g⁻¹.
func meanOf(w Warp) func(mu, sd float64) float64 {
	if m, ok := w.(meanWarp); ok {
		return m.mean
	}
	return func(mu, sd float64) (sum float64) {
		for _, node := range normalNodes {
			sum += node.weight * w.Inverse(mu+sd*node.at)
		}
		return sum
	}
}

// normalNodes are those of the standard normal distribution: E f(z) ≈ Σ weight·f(at).
var normalNodes = func() (nodes [hermiteNodes]struct{ at, weight float64 }) {
	x, weights := make([]float64, hermiteNodes), make([]float64, hermiteNodes)
	quad.Hermite{}.FixedLocations(x, weights, math.Inf(-1), math.Inf(1))
	for k := range nodes {
		nodes[k].at, nodes[k].weight = math.Sqrt2*x[k], weights[k]/math.Sqrt(math.Pi)
	}
	return nodes
}()
