package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

var (
	_ Kernel                 = Laplace{}
	_ capability.Reacher     = Laplace{}
	_ capability.Scaled      = Laplace{}
	_ capability.Markovian   = Laplace{}
	_ Kernel                 = Matern32{}
	_ capability.Bandlimited = Matern32{}
	_ Kernel                 = Matern52{}
	_ capability.Bandlimited = Matern52{}
)

// A MaternProcess is the Process of a Matérn covariance with ν = Order + ½ for Order 0, 1 or 2
// (Rasmussen and Williams 2006, eq. 4.16), a = √(2ν)·r/Lengthscale:
//
//	v·e⁻ᵃ,  v·(1 + a)·e⁻ᵃ,  v·(1 + a + a²/3)·e⁻ᵃ
//
// It has Order + 1 numbers; its transition over a gap is in internal/statespace/matern_transition.go.
type MaternProcess struct {
	Order                 int
	Variance, Lengthscale float64
	// Chain holds ∂log Variance/∂log θ_p and ∂log Lengthscale/∂log θ_p for each parameter p of the process's kernel; nil means
	// a kernel of these two.
	Chain [][2]float64
}

var (
	_ capability.Process = MaternProcess{}
	_ chained            = MaternProcess{}
)

// ownMatern is the chain of a kernel whose parameters are the variance and the lengthscale.
var ownMatern = [][2]float64{{1, 0}, {0, 1}}

func (k MaternProcess) chain() [][2]float64 {
	if k.Chain == nil {
		return ownMatern
	}
	return k.Chain
}

func (k MaternProcess) check() bool { return k.Order >= 0 && k.Order < len(maternRoots) }

// unit returns the process of variance 1.
func (k MaternProcess) unit() *statespace.Matern {
	return &statespace.Matern{Order: k.Order, Lengthscale: k.Lengthscale}
}

func (k MaternProcess) unchained() (float64, statespace.Process, int) { return k.Variance, k.unit(), 1 }

func (k MaternProcess) contractChain(grad, w []float64) {
	for p, c := range k.chain() {
		grad[p] += c[0]*w[0] + c[1]*w[1]
	}
}

// Dim implements Process.
func (k MaternProcess) Dim() int { return k.Order + 1 }

// Transition implements Process.
func (k MaternProcess) Transition(phi, noise []float64, gap float64) {
	k.unit().Transition(phi, noise, gap)
	for i := range noise[:k.Dim()*k.Dim()] {
		noise[i] *= k.Variance
	}
}

// Slopes implements Process.
func (k MaternProcess) Slopes(dPhi, dNoise, phi, noise []float64, gap float64) {
	dd := k.Dim() * k.Dim()
	var inPhi, inNoise, unit, own [9]float64
	k.unit().Transition(own[:], unit[:], gap)
	k.unit().Slopes(inPhi[:], inNoise[:], phi, unit[:], gap)
	for p, c := range k.chain() {
		for e := range dd {
			dPhi[p*dd+e] = c[1] * inPhi[e]
			dNoise[p*dd+e] = c[0]*noise[e] + c[1]*k.Variance*inNoise[e]
		}
	}
}

var maternRoots = [...]float64{1, math.Sqrt(3), math.Sqrt(5)} // √(2ν)

// rate returns √(2ν)/l.
func (k MaternProcess) rate() float64 { return maternRoots[k.Order] / k.Lengthscale }

// maternPolynomials returns p(a) of k = v·p(a)·e⁻ᵃ, a = √(2ν)·r/l, and q(a) of ∂k/∂log l = v·q(a)·e⁻ᵃ.
func maternPolynomials(order int, a float64) (p, q float64) {
	switch order {
	case 0:
		return 1, a
	case 1:
		return 1 + a, a * a
	}
	return 1 + a + a*a/3, a * a * (1 + a) / 3
}

func (k MaternProcess) reach(eps float64) float64 {
	if k.Order == 0 {
		return -k.Lengthscale * math.Log(eps)
	}
	return k.Lengthscale / maternRoots[k.Order] * tail(eps, func(a float64) float64 {
		p, _ := maternPolynomials(k.Order, a)
		return p
	})
}

// bandwidth follows from the density, which falls like (2πfl/√(2ν))^−(2ν + 1).
func (k MaternProcess) bandwidth(eps float64) float64 {
	return maternRoots[k.Order] * math.Pow(eps, -1/float64(2*k.Order+1)) / (2 * math.Pi * k.Lengthscale)
}

func (k MaternProcess) cov(dst, r []float64) {
	c := k.rate()
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			p, _ := maternPolynomials(k.Order, c*ri)
			dst[i] = k.Variance * p * e[i]
		}
		dst, r = dst[len(e):], r[len(e):]
	}
}

func (k MaternProcess) contract(grad, w, r []float64) {
	c := k.rate()
	var gv, gl float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			p, q := maternPolynomials(k.Order, c*ri)
			we := w[i] * e[i]
			gv += we * p
			gl += we * q
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += k.Variance * gl
}

// slope uses dk/dr = −(∂k/∂log l)/r.
func (k MaternProcess) slope(dst, r []float64) {
	c := k.rate()
	for i, ri := range r {
		a := c * ri
		s := [...]float64{1, a, a * (1 + a) / 3}[k.Order] // q(a)/a
		dst[i] = -k.Variance * c * s * math.Exp(-a)
		if ri == 0 {
			dst[i] = 0
		}
	}
}

// Laplace is the exponential (Matérn 1/2, Ornstein–Uhlenbeck) kernel
// v·exp(−r/l) (Rasmussen and Williams 2006, eq. 4.18): continuous, nowhere
// differentiable.
type Laplace struct{ Variance, Lengthscale float64 }

func (k Laplace) term() MaternProcess { return MaternProcess{0, k.Variance, k.Lengthscale, nil} }
func (k Laplace) Params() []Param     { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Laplace) WithParams(theta []float64) Kernel {
	want(theta, 2, "Laplace")
	return Laplace{theta[0], theta[1]}
}
func (k Laplace) String() string                         { return describe("Laplace", k.Params()) }
func (k Laplace) Reach(eps float64) float64              { return k.term().reach(eps) }
func (k Laplace) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Laplace) Steepness(float64) float64              { return 1 }
func (k Laplace) Processes(dst []capability.Process) []capability.Process {
	return append(dst, k.term())
}
func (k Laplace) Cov(dst, r []float64)          { k.term().cov(dst, r) }
func (k Laplace) Contract(grad, w, r []float64) { k.term().contract(grad, w, r) }
func (k Laplace) Slope(dst, r []float64)        { k.term().slope(dst, r) }

// Matern32 is the Matérn kernel with ν = 3/2, v·(1 + a)·exp(−a), a = √3·r/l
// (Rasmussen and Williams 2006, eq. 4.17): once differentiable.
type Matern32 struct{ Variance, Lengthscale float64 }

func (k Matern32) term() MaternProcess { return MaternProcess{1, k.Variance, k.Lengthscale, nil} }
func (k Matern32) Params() []Param     { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Matern32) WithParams(theta []float64) Kernel {
	want(theta, 2, "Matern32")
	return Matern32{theta[0], theta[1]}
}
func (k Matern32) String() string                         { return describe("Matern32", k.Params()) }
func (k Matern32) Reach(eps float64) float64              { return k.term().reach(eps) }
func (k Matern32) Bandwidth(eps float64) float64          { return k.term().bandwidth(eps) }
func (k Matern32) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Matern32) Steepness(float64) float64              { return 1 }
func (k Matern32) Processes(dst []capability.Process) []capability.Process {
	return append(dst, k.term())
}
func (k Matern32) Cov(dst, r []float64)          { k.term().cov(dst, r) }
func (k Matern32) Contract(grad, w, r []float64) { k.term().contract(grad, w, r) }
func (k Matern32) Slope(dst, r []float64)        { k.term().slope(dst, r) }

// Matern52 is the Matérn kernel with ν = 5/2, v·(1 + a + a²/3)·exp(−a),
// a = √5·r/l (Rasmussen and Williams 2006, eq. 4.17): twice differentiable.
type Matern52 struct{ Variance, Lengthscale float64 }

func (k Matern52) term() MaternProcess { return MaternProcess{2, k.Variance, k.Lengthscale, nil} }
func (k Matern52) Params() []Param     { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Matern52) WithParams(theta []float64) Kernel {
	want(theta, 2, "Matern52")
	return Matern52{theta[0], theta[1]}
}
func (k Matern52) String() string                         { return describe("Matern52", k.Params()) }
func (k Matern52) Reach(eps float64) float64              { return k.term().reach(eps) }
func (k Matern52) Bandwidth(eps float64) float64          { return k.term().bandwidth(eps) }
func (k Matern52) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Matern52) Steepness(float64) float64              { return 1 }
func (k Matern52) Processes(dst []capability.Process) []capability.Process {
	return append(dst, k.term())
}
func (k Matern52) Cov(dst, r []float64)          { k.term().cov(dst, r) }
func (k Matern52) Contract(grad, w, r []float64) { k.term().contract(grad, w, r) }
func (k Matern52) Slope(dst, r []float64)        { k.term().slope(dst, r) }

// tail solves poly(a)·exp(−a) = eps for a by fixed-point iteration, which contracts since log poly grows slowly, with Aitken's
// extrapolation of every other step.
func tail(eps float64, poly func(float64) float64) float64 {
	const near = 0x1p-50
	log := math.Log(eps)
	a := -log
	for range 15 {
		b := math.Log(poly(a)) - log
		c := math.Log(poly(b)) - log
		if math.Abs(c-b) <= near*math.Abs(c) {
			return c
		}
		a -= (b - a) * (b - a) / (c - 2*b + a)
	}
	return a
}
