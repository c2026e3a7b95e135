package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// interpolated takes kernels v·φ(r/l) and uses that S₀/v is an analytic function
// of u = log l: within a panel of u it is a polynomial through its values S_q at
// Chebyshev nodes u_q, which other engines compute once,
//
//	S₀(u) = v·Σ_q L_q(u)·S_q,  ∂S₀/∂u = v·Σ_q L′_q(u)·S_q.
//
// An evaluation takes 2·nodes·k² flops, whatever n is. A panel costs as much as
// its nodes, and so is built once as many evaluations have been made near one
// another by another engine: at most, it doubles what training would have taken
// without it.
type interpolated struct {
	base   *projectedTerm // makes the nodes
	n, k   int
	theta  []float64 // of the kernel at a node
	packed int       // k(k+1)/2
	near   []float64
	panel  panel
	weight []float64 // L_q(u)
	slope  []float64 // L′_q(u)
	vPack  []float64
	sPack  []float64
	dots   []float64
	v      float64
	size   func() float64 // the largest entry of S/v at the last evaluation, or 0

	varianceAt, lengthAt int // the indices of v and l among the parameters

	combine, dot func(int) // the loops that run in parallel, made once
}

// panel is an interval of u with its nodes.
type panel struct {
	centre float64
	node   [nodes]float64
	s      [][]float64 // S_q, packed; nil: no panel
	size   float64     // the largest entry of any S_q
	noise  float64     // the least noise, relative to the variance, for which the nodes are exact enough
}

const (
	// nodes Chebyshev nodes on a panel of half-width halfWidth give 1e-13: φ is
	// analytic for |Im u| < π/4, for SE, and interpolation converges like
	// ρ^−nodes with ρ = w + √(1+w²), w = π/4/halfWidth.
	nodes     = 30
	halfWidth = 0.6
	// interpolationError is what the entries of S may err by, relative to the
	// largest of them.
	interpolationError = 2e-13
	// closeBy is how near to one another, in u, evaluations are to be.
	closeBy = 0.4
)

// newInterpolated returns nil unless the kernel is of one shape at one scale.
func newInterpolated(kernel Kernel, base *projectedTerm, n, k int) *interpolated {
	v, l, ok := scaledAt(kernel)
	if !ok {
		return nil
	}
	size := k * (k + 1) / 2
	e := &interpolated{
		base: base, n: n, k: k, packed: size, varianceAt: v, lengthAt: l, theta: []float64{1, 1},
		weight: make([]float64, nodes), slope: make([]float64, nodes), dots: make([]float64, nodes),
		vPack: make([]float64, size), sPack: make([]float64, size),
	}
	e.combine, e.dot = e.combineShare, e.dotNode
	return e
}

func (e *interpolated) name() string { return EngineInterpolated }

func (e *interpolated) forecast(k Kernel, noise float64) forecast {
	v, l := k.(Scaled).Scale()
	base := e.base.forecast(k, 0, noise)
	if base.reason != (reason{}) {
		return base
	}
	f := forecast{
		seconds: 4*nodes*float64(e.packed)/4e9/2 + 2e-6,
		err:     base.err + float64(e.k)*interpolationError*v*e.largest()/noise,
	}
	if !e.inside(math.Log(l), noise/v) {
		f.setup = math.Inf(1)
		if e.count(math.Log(l)) >= nodes {
			f.setup = 0 // what it would have cost has been spent
		}
	}
	return f
}

// inside reports whether the panel holds at u, for a noise variance relative to
// the variance.
func (e *interpolated) inside(u, noise float64) bool {
	return e.panel.s != nil && math.Abs(u-e.panel.centre) <= halfWidth && noise >= e.panel.noise
}

// largest returns the largest entry of S/v: as it was last, and n before that.
func (e *interpolated) largest() float64 {
	switch s := e.size(); {
	case e.panel.s != nil:
		return max(s, e.panel.size)
	case s > 0:
		return s
	}
	return float64(e.n)
}

// count returns how many of the last evaluations were near u, and remembers u.
func (e *interpolated) count(u float64) (n int) {
	for _, w := range e.near {
		if math.Abs(w-u) <= closeBy {
			n++
		}
	}
	if len(e.near) == 2*nodes {
		copy(e.near, e.near[1:])
		e.near = e.near[:2*nodes-1]
	}
	e.near = append(e.near, u)
	return n
}

// build computes the nodes of a panel around u.
func (e *interpolated) build(k Kernel, u, noise float64) error {
	old := e.panel.s
	p := panel{centre: u, noise: noise / 30} // room for the noise to fall
	for q := range p.node {
		p.node[q] = u + halfWidth*math.Cos(math.Pi*(float64(q)+0.5)/nodes)
		if len(old) == nodes {
			p.s = append(p.s, old[q])
		} else {
			p.s = append(p.s, make([]float64, e.packed))
		}
		if err := e.unit(p.s[q], k, p.node[q], p.noise); err != nil {
			e.panel.s = nil
			return err
		}
		for _, v := range p.s[q] {
			p.size = max(p.size, math.Abs(v))
		}
	}
	e.panel = p
	e.near = e.near[:0]
	return e.verifyPanel(k, u, p.noise)
}

// verifyPanel compares the interpolation at u, no node, with what the engine of
// the nodes makes there: a thirtieth of the set-up.
func (e *interpolated) verifyPanel(k Kernel, u, noise float64) error {
	if err := e.unit(e.sPack, k, u, noise); err != nil {
		return err
	}
	e.lagrange(u)
	var off float64
	for i, want := range e.sPack {
		for q, w := range e.weight {
			want -= w * e.panel.s[q][i]
		}
		off = max(off, math.Abs(want))
	}
	if err := verify("an interpolated covariance", off, 0, 1000*interpolationError*e.panel.size); err != nil {
		e.panel.s = nil
		return err
	}
	return nil
}

// verifyWeights: constants and straight lines are interpolated exactly, and so are
// their slopes. Very near a node the slopes lose digits.
func (e *interpolated) verifyWeights(u float64) error {
	var one, none, off, slope float64
	for q, w := range e.weight {
		d := e.panel.node[q] - u
		one += w
		off += w * d
		none += e.slope[q]
		slope += e.slope[q] * d
	}
	for _, c := range [...]struct{ got, want float64 }{{one, 1}, {off, 0}, {none, 0}, {slope, 1}} {
		if err := verify("weights of an interpolation", c.got, c.want, 1e-9); err != nil {
			return err
		}
	}
	return nil
}

// unit sets dst to ΩᵀKΩ, packed, at variance 1 and log lengthscale u.
func (e *interpolated) unit(dst []float64, k Kernel, u, noise float64) error {
	e.theta[e.lengthAt] = math.Exp(u)
	at := k.WithParams(e.theta)
	if f := e.base.forecast(at, 0, noise); f.reason != (reason{}) {
		return e.base.choice.refused()
	}
	if err := e.base.compute(noise, false); err != nil {
		return err
	}
	pack(dst, e.base.gram, e.k, 1)
	return nil
}

// pack sets dst to the lower triangle of s, entries off the diagonal times off.
func pack(dst, s []float64, k int, off float64) {
	i := 0
	for a := range k {
		row := s[a*k : a*k+a+1]
		for b, v := range row[:a] {
			dst[i+b] = off * v
		}
		dst[i+a] = row[a]
		i += a + 1
	}
}

// lagrange sets the weights of the nodes, and of their derivatives, at u.
func (e *interpolated) lagrange(u float64) {
	// Barycentric weights of Chebyshev points of the first kind (Berrut and
	// Trefethen 2004, eq. 5.3).
	var sum, dsum float64
	for q, x := range e.panel.node {
		if u == x {
			u += 1e-15 * (1 + math.Abs(u)) // the limit is the same to rounding
		}
		w := math.Sin(math.Pi * (float64(q) + 0.5) / nodes)
		if q%2 == 1 {
			w = -w
		}
		d := u - x
		e.weight[q] = w / d
		e.slope[q] = -w / (d * d)
		sum += e.weight[q]
		dsum += e.slope[q]
	}
	for q := range e.weight {
		e.slope[q] = (e.slope[q] - e.weight[q]*dsum/sum) / sum
		e.weight[q] /= sum
	}
}

func (e *interpolated) gram(s []float64, k Kernel, noise float64, _ bool) error {
	v, l := k.(Scaled).Scale()
	u := math.Log(l)
	if !e.inside(u, noise/v) {
		if err := e.build(k, u, noise/v); err != nil {
			return err
		}
	}
	e.v = v
	e.lagrange(u)
	tampered("interpolated slope", e.slope)
	tampered("interpolated weight", e.weight)
	if err := e.verifyWeights(u); err != nil {
		return err
	}
	parallel.For(shares, e.combine)
	i := 0
	for a := range e.k {
		for b, x := range e.sPack[i : i+a+1] {
			s[a*e.k+b], s[b*e.k+a] = x, x
		}
		i += a + 1
	}
	return nil
}

// combineShare computes a share of S₀, packed.
func (e *interpolated) combineShare(c int) {
	from, to := share(e.packed, c)
	dst := vec(e.sPack[from:to])
	clear(dst.Data)
	for q, w := range e.weight {
		blas64.Axpy(e.v*w, vec(e.panel.s[q][from:to]), dst)
	}
}

// dotNode computes ⟨V, S_q⟩.
func (e *interpolated) dotNode(q int) { e.dots[q] = blas64.Dot(vec(e.vPack), vec(e.panel.s[q])) }

func (e *interpolated) contract(grad, v []float64, _ Kernel) {
	pack(e.vPack, v, e.k, 2)
	parallel.For(nodes, e.dot)
	var value, slope float64
	for q, d := range e.dots {
		value += e.weight[q] * d
		slope += e.slope[q] * d
	}
	grad[e.varianceAt] += e.v * value
	grad[e.lengthAt] += e.v * slope
}
