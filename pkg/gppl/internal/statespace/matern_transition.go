// Package statespace computes with symmetric matrices A = K + σ²I over n sorted scalars t₁ ≤ … ≤ t_n in time linear in n, where K
// is a sum of Matérn covariances of half-integer order. Such a K is the covariance of the output of a linear system driven by
// white noise,
//
//	x(t+Δ) = Φ(Δ)·x(t) + noise of covariance Q(Δ),  K_ij = cov(hᵀx(t_i), hᵀx(t_j)),
//
// whose state x has D numbers (Hartikainen and Särkkä 2010). Sorted inputs may coincide, and lie as near or as far from each
// other as they like: nothing divides by a gap or inverts Q.
//
// The state of one component is x, (1 + d/dτ)x, (1 + d/dτ)²x, … in the unit of time 1/λ, λ = √(2ν)/l, up to the number that
// white noise drives. N below then has ones above the diagonal and nothing else, so Φ is triangular, and no entry of Φ or Q is
// a difference. Lengthscales enter through the pure numbers a = λΔ alone, and the variance v is a factor of P∞ and Q:
//
//	Φ  = exp(Fa) = e⁻ᵃ·Σ_k (aN)ᵏ/k!,  F = N − I
//	P∞ = stationary covariance,       Q = P∞ − ΦP∞Φᵀ
//	dΦ/da = FΦ,                       dQ/da = FQ + QFᵀ + q·v·e_d·e_dᵀ
//
// h picks the values: 1 at the first place of each component.
package statespace

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// A component is a block with a Matern process: a Matérn covariance with ν = Order + ½ for Order 0, 1 or 2
// (Rasmussen and Williams 2006, eq. 4.16), a = √(2ν)·|t−t'|/Lengthscale:
//
//	v·e⁻ᵃ,  v·(1 + a)·e⁻ᵃ,  v·(1 + a + a²/3)·e⁻ᵃ
type component struct {
	Order                 int
	Variance, Lengthscale float64
}

// dim is the size of the component's state.
func (c component) dim() int { return c.Order + 1 }

// rate is λ = √(2ν)/l.
func (c component) rate() float64 { return math.Sqrt(float64(2*c.Order+1)) / c.Lengthscale }

// drift is F, row by row, for each order.
var drift = [3][]float64{
	{-1},
	{-1, 1, 0, -1},
	{-1, 1, 0, 0, -1, 1, 0, 0, -1},
}

// intensity is q, the intensity of the driving noise at v = 1: FP∞ + P∞Fᵀ = −q·e_d·e_dᵀ.
var intensity = [3]float64{2, 4, 16. / 3}

func check(cs []component) error {
	if len(cs) == 0 {
		panic("statespace: no component")
	}
	for _, c := range cs {
		if c.Order < 0 || c.Order > 2 {
			panic(fmt.Sprintf("statespace: order %d, want 0, 1 or 2", c.Order))
		}
		if !(c.Variance > 0 && c.Variance <= math.MaxFloat64) || !(c.Lengthscale > 0 && c.Lengthscale <= math.MaxFloat64) {
			return fmt.Errorf("statespace: %+v: variance and lengthscale must be positive and finite", c)
		}
	}
	return nil
}

func checkSorted(t []float64) {
	for i, v := range t {
		if !numeric.IsFinite(v) || i > 0 && v < t[i-1] {
			panic(fmt.Sprintf("statespace: inputs must be finite and ascending: entry %d is %v", i, v))
		}
	}
}

// steps holds the n transitions into each input of one component. The first comes from infinitely far and forgets everything:
// Φ = 0 and Q = P∞.
type steps struct {
	a []float64 // λΔ, or 0 where e is 0
	e []float64 // e⁻ᵃ, or 0 beyond far
	g []float64 // G_2p(2a) for order p, see gammas

	of component // set computed them for this component
}

// far is the a from which an input is independent of the previous one: there every covariance is below 2e-19 of the variance.
const far = 50

// set computes the transitions of c into the first of the inputs t, from infinitely far, and from each to the next. Without noise
// it leaves out g, which only Q needs.
func (s *steps) set(t []float64, c component, noise bool) {
	n, before := len(t), math.Inf(-1)
	s.of = c
	s.a, s.e = dense.Resize(s.a, n), dense.Resize(s.e, n)
	if noise {
		s.g = dense.Resize(s.g, n)
	}
	rate := c.rate()
	const chunk = 512 // stays in the nearest cache from loop to loop
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		a, e := s.a[from:to], s.e[from:to]
		for i := range a {
			d := t[from+i] - before
			before = t[from+i]
			x := rate * d
			if !(x < far) {
				x = far // NaN too: 0·∞ of a zero gap at an infinite rate
				if d == 0 {
					x = 0
				}
			}
			a[i], e[i] = x, -x
		}
		vexp.Exp(e, e)
		if noise {
			gammas(s.g[from:to], a, e, c.Order)
		}
		for i, x := range a {
			if x == far {
				a[i], e[i] = 0, 0
				if noise {
					s.g[from+i] = 1
				}
			}
		}
	}
}

// gammas sets g to G_2p(2a) for order p, where e = e⁻ᵃ and
//
//	G_j(x) = ∫₀ˣ sʲe⁻ˢ ds/j! = 1 − e⁻ˣ·Σ_(k≤j) xᵏ/k! = e⁻ˣ·Σ_(k>j) xᵏ/k!,
//
// the regularised incomplete gamma function. The second form cancels for small x, the last does not.
func gammas(g, a, e []float64, order int) {
	g, e = g[:len(a)], e[:len(a)]
	switch order {
	case 0: // 1 − e⁻²ᵃ = 2e⁻ᵃ·sinh a
		for i, a := range a {
			e := e[i]
			if a > 0.25 {
				g[i] = 1 - e*e
				continue
			}
			y := a * a
			g[i] = 2 * a * e * (1 + y*(1./6+y*(1./120+y*(1./5040+y*(1./362880+y*(1./39916800))))))
		}
	case 1:
		for i, a := range a {
			x, e2 := 2*a, e[i]*e[i]
			if x > 0.5 {
				g[i] = 1 - e2*(1+x*(1+x*(1./2)))
				continue
			}
			x2 := x * x // even and odd powers are summed separately, as two short chains
			even := 1 + x2*(1./20+x2*(1./840+x2*(1./60480+x2*(1./6652800+x2*(1./1037836800+x2*(1./217945728000))))))
			odd := 1./4 + x2*(1./120+x2*(1./6720+x2*(1./604800+x2*(1./79833600+x2*(1./14529715200)))))
			g[i] = e2 * x2 * x * (1. / 6) * (even + x*odd)
		}
	default:
		for i, a := range a {
			x, e2 := 2*a, e[i]*e[i]
			if x > 1 {
				g[i] = 1 - e2*(1+x*(1+x*(1./2+x*(1./6+x*(1./24)))))
				continue
			}
			x2 := x * x
			even := 1 + x2*(1./42+x2*(1./3024+x2*(1./332640+
				x2*(1./51891840+x2*(1./10897286400+x2*(1./2964061900800+x2*(1./1013709170073600)))))))
			odd := 1./6 + x2*(1./336+x2*(1./30240+x2*(1./3991680+x2*(1./726485760+x2*(1./174356582400+x2*(1./53353114214400))))))
			g[i] = e2 * x2 * x2 * x * (1. / 120) * (even + x*odd)
		}
	}
}

// transition sets phi and q, row by row, to Φ and Q of a step. Since dQ/da = q·v·φφᵀ, where φ is the last column of Φ, with
// entries e⁻ᵃaʲ/j!, the entries of Q are multiples of the G_j(2a).
func (c component) transition(phi, q []float64, a, e, g float64) {
	v, e2 := c.Variance, e*e
	switch c.Order {
	case 0:
		phi[0], q[0] = e, v*g
	case 1:
		phi[0], phi[1] = e, e*a
		phi[2], phi[3] = 0, e
		g1, g0 := noise2(a, e2, g)
		q[0], q[1] = v*g, v*g1
		q[2], q[3] = q[1], 2*v*g0
	default:
		phi[0], phi[1], phi[2] = e, e*a, 0.5*e*a*a
		phi[3], phi[4], phi[5] = 0, e, e*a
		phi[6], phi[7], phi[8] = 0, 0, e
		g3, g2, g1, g0 := noise3(a, e2, g)
		q[0], q[1], q[2] = v*g, v*g3, (2./3)*v*g2
		q[3], q[4], q[5] = q[1], (4./3)*v*g2, (4./3)*v*g1
		q[6], q[7], q[8] = q[2], q[5], (8./3)*v*g0
	}
}

// over sets phi and q for a gap, which may be infinite.
func (c component) over(phi, q []float64, gap float64) {
	a := c.rate() * gap
	if gap == 0 {
		a = 0 // even at an infinite rate
	}
	if !(a < far) {
		c.transition(phi, q, 0, 0, 1)
		return
	}
	var g [1]float64
	e := math.Exp(-a)
	gammas(g[:], []float64{a}, []float64{e}, c.Order)
	c.transition(phi, q, a, e, g[0])
}

// noise2 returns G₁ and G₀ of 2a from g = G₂, e2 = e⁻²ᵃ, by G_(j−1)(x) = G_j(x) + e⁻ˣxʲ/j!, which does not cancel as a → 0.
func noise2(a, e2, g float64) (g1, g0 float64) {
	p1 := 2 * a * e2
	g1 = g + p1*a
	return g1, g1 + p1
}

// noise3 returns G₃, G₂, G₁ and G₀ from g = G₄, like noise2.
func noise3(a, e2, g float64) (g3, g2, g1, g0 float64) {
	p1 := 2 * a * e2
	p2 := p1 * a
	p3 := p2 * a * (2. / 3)
	g3 = g + p3*a*(1./2)
	g2 = g3 + p3
	g1 = g2 + p2
	return g3, g2, g1, g1 + p1
}
