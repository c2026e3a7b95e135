// Package chebyshev interpolates a symmetric matrix that is an analytic function of one variable u, from its values S_q at
// Chebyshev nodes u_q of an interval,
//
//	S(u) = Σ_q L_q(u)·S_q,  S′(u) = Σ_q L′_q(u)·S_q,
//
// where L_q are Lagrange's polynomials (Berrut and Trefethen 2004). If S is analytic within a distance d of an interval of
// half-width h, the error falls like ρ^−Nodes, ρ = w + √(1 + w²), w = d/h.
package chebyshev

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Nodes is the number of nodes of an interval.
const Nodes = 30

// Panel is an interval with the values at its nodes. It is immutable.
type Panel struct {
	Size float64 // the largest entry of any S_q

	node [Nodes]float64
	s    [Nodes][]float64 // S_q, packed
}

// NewPanel returns the interval with a centre and a half-width, for k×k matrices that set writes, row by row. It returns the
// first error of set.
func NewPanel(centre, halfWidth float64, k int, set func(s []float64, u float64) error) (*Panel, error) {
	p, s := new(Panel), make([]float64, k*k)
	for q := range p.node {
		p.node[q] = centre + halfWidth*math.Cos(math.Pi*(float64(q)+0.5)/Nodes)
		if err := set(s, p.node[q]); err != nil {
			return nil, err
		}
		p.s[q] = make([]float64, packed(k))
		pack(p.s[q], s, k, 1)
		for _, v := range p.s[q] {
			p.Size = max(p.Size, math.Abs(v))
		}
	}
	return p, nil
}

// packed returns the number of entries of the lower triangle of a k×k matrix.
func packed(k int) int { return k * (k + 1) / 2 }

// pack sets dst to the lower triangle of s, with entries off the diagonal multiplied by off.
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

// unpack sets both triangles of s.
func unpack(s, packed []float64, k int) {
	i := 0
	for a := range k {
		for b, x := range packed[i : i+a+1] {
			s[a*k+b], s[b*k+a] = x, x
		}
		i += a + 1
	}
}

// Interpolant holds S at one u. It is working memory, for one goroutine.
type Interpolant struct {
	Weight [Nodes]float64 // L_q(u)
	Slope  [Nodes]float64 // L′_q(u)

	panel        *Panel
	k            int
	scale        float64
	dots         [Nodes]float64 // ⟨V, S_q⟩
	sPack, vPack []float64

	combine, dot func(int) // the loops that run in parallel, made once
}

// NewInterpolant returns an interpolant of k×k matrices.
func NewInterpolant(k int) *Interpolant {
	g := &Interpolant{k: k, sPack: make([]float64, packed(k)), vPack: make([]float64, packed(k))}
	g.combine, g.dot = g.combineShare, g.dotNode
	return g
}

// Set sets Weight and Slope for a panel at u. nil forgets the panel, which may be large.
func (g *Interpolant) Set(p *Panel, u float64) {
	if g.panel = p; p == nil {
		return
	}
	// Barycentric weights of Chebyshev points of the first kind (Berrut and Trefethen 2004, eq. 5.3).
	var sum, dsum float64
	for q, x := range p.node {
		if u == x {
			u += 1e-15 * (1 + math.Abs(u)) // the limit is the same to rounding
		}
		w := math.Sin(math.Pi * (float64(q) + 0.5) / Nodes)
		if q%2 == 1 {
			w = -w
		}
		d := u - x
		g.Weight[q] = w / d
		g.Slope[q] = -w / (d * d)
		sum += g.Weight[q]
		dsum += g.Slope[q]
	}
	for q := range g.Weight {
		g.Slope[q] = (g.Slope[q] - g.Weight[q]*dsum/sum) / sum
		g.Weight[q] /= sum
	}
}

// Lines applies the weights and their slopes to the functions 1 and u′ − u. The exact results are 1 and 0 for the weights, 0 and
// 1 for the slopes. Very near a node the slopes lose digits, which shows in these numbers.
func (g *Interpolant) Lines(u float64) (one, off, none, slope float64) {
	for q, w := range g.Weight {
		d := g.panel.node[q] - u
		one += w
		off += w * d
		none += g.Slope[q]
		slope += g.Slope[q] * d
	}
	return one, off, none, slope
}

// shares is the number of parts of a sum of matrices.
const shares = 4

// Value sets s, k×k, to scale·S(u), in Nodes·k² flops.
func (g *Interpolant) Value(s []float64, scale float64) {
	g.scale = scale
	parallel.For(shares, g.combine)
	unpack(s, g.sPack, g.k)
}

// combineShare computes a share of S, packed.
func (g *Interpolant) combineShare(c int) {
	from, to := parallel.Share(len(g.sPack), shares, c)
	dst := dense.Vec(g.sPack[from:to])
	clear(dst.Data)
	for q, w := range g.Weight {
		blas64.Axpy(g.scale*w, dense.Vec(g.panel.s[q][from:to]), dst)
	}
}

// Contract returns ⟨V, S(u)⟩ and ⟨V, S′(u)⟩ for a symmetric V, k×k, in Nodes·k² flops.
func (g *Interpolant) Contract(v []float64) (value, slope float64) {
	pack(g.vPack, v, g.k, 2)
	parallel.For(Nodes, g.dot)
	for q, d := range g.dots {
		value += g.Weight[q] * d
		slope += g.Slope[q] * d
	}
	return value, slope
}

func (g *Interpolant) dotNode(q int) {
	g.dots[q] = blas64.Dot(dense.Vec(g.vPack), dense.Vec(g.panel.s[q]))
}

// Sum sets s, k×k, to scale·Σ_q w_q·S_q, for Weight or Slope as w.
func (g *Interpolant) Sum(s []float64, scale float64, w *[Nodes]float64) {
	sum := make([]float64, packed(g.k))
	for q, v := range w {
		blas64.Axpy(scale*v, dense.Vec(g.panel.s[q]), dense.Vec(sum))
	}
	unpack(s, sum, g.k)
}
