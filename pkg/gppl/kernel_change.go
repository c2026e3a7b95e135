package gppl

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

var (
	_ capability.Reacher = ChangePoint{}
	_ capability.Placed  = ChangePoint{}
)

// ChangePoint is a process that turns into another one at a place on a scalar axis
// (Saatçi, Turner and Rasmussen 2010; Lloyd et al. 2014, arXiv 1402.4304, appendix A):
//
//	f(x) = (1 − s(x))·f₁(x) + s(x)·f₂(x),  s(x) = 1/(1 + exp(−(x − c)/w))
//	k(x, x′) = (1 − s(x))·k₁(x, x′)·(1 − s(x′)) + s(x)·k₂(x, x′)·s(x′)
//
// with independent f₁ ~ GP(0, k₁) Before and f₂ ~ GP(0, k₂) After. Most of the change happens within 4w, half of it before c =
// Location; c and w are in the unit of x, and c may have any sign. If k₁ and k₂ are smooth, so is k.
//
// k is not stationary. The dense engine takes it, for the exact likelihood, PL, VFE and posteriors; so does the banded engine,
// for the exact likelihood, if both parts decay to zero. Sums and the other engines, which work on distances alone, refuse it. On
// puts it on one of several axes. Cov, Contract and Slope, which know only distances, describe k₁ + k₂, an upper bound on the
// variances of k. The parts have no white noise of their own (Model.Check).
type ChangePoint struct {
	Before, After Kernel
	Location      float64 // c
	Width         float64 // w
}

// both has the parts, whose parameters come first.
func (k ChangePoint) both() composite { return compose([]Kernel{k.Before, k.After}, "change point") }

// Params returns the parameters of Before and After, named as in a Sum, then the location and the width.
func (k ChangePoint) Params() []Param {
	return append(k.both().Params(),
		Param{Name: "location", Value: k.Location, Transform: transform.Free{}, Unit: UnitX, Role: RoleLocation},
		Param{Name: "width", Value: k.Width, Transform: transform.Log{}, Unit: UnitX, Role: RoleLengthscale})
}

func (k ChangePoint) WithParams(theta []float64) Kernel {
	own := len(theta) - 2
	both := k.both()
	want(theta, both.offset[2]+2, "ChangePoint")
	parts := both.withParams(theta[:own], "ChangePoint").parts
	return ChangePoint{parts[0], parts[1], theta[own], theta[own+1]}
}

func (k ChangePoint) String() string {
	return fmt.Sprintf("ChangePoint(%v, %v, location=%.6g, width=%.4g)", k.Before, k.After, k.Location, k.Width)
}

func (k ChangePoint) sum() Sum { return Sum{k.both()} }

func (k ChangePoint) Cov(dst, r []float64)   { k.sum().Cov(dst, r) }
func (k ChangePoint) Slope(dst, r []float64) { k.sum().Slope(dst, r) }

func (k ChangePoint) Contract(grad, w, r []float64) { k.sum().Contract(grad[:len(grad)-2], w, r) }

// Reach is the longer reach of the two parts.
func (k ChangePoint) Reach(eps float64) float64 {
	return max(reach(k.Before, eps), reach(k.After, eps))
}

// Amplitudes lists the amplitudes of both parts.
func (k ChangePoint) Amplitudes() (at []int, known bool) { return k.sum().Amplitudes() }

// after returns s(x) and 1 − s(x), both to full relative accuracy: the second is s at the mirrored place.
func (k ChangePoint) after(x float64) (s, rest float64) {
	u := (x - k.Location) / k.Width
	return 1 / (1 + math.Exp(-u)), 1 / (1 + math.Exp(u))
}

func (k ChangePoint) At(x, y []float64) float64 { return atPair(k, x, y) }
func (k ChangePoint) ContractAt(grad []float64, w float64, x, y []float64) {
	contractPair(grad, k, w, x, y)
}
func (k ChangePoint) SlopeAt(dst, x, y []float64) { slopePair(dst, k, x, y) }

// Parts returns the kernels before and after the change.
func (k ChangePoint) Parts() []Kernel { return []Kernel{k.Before, k.After} }

func (k ChangePoint) covBlock(dst []float64, a, b Inputs) {
	work := borrow(len(dst))
	defer giveBack(work)
	second := *work
	covariances(dst, k.Before, a, b)
	covariances(second, k.After, a, b)
	m := b.Len()
	for i, ai := range a.at {
		sa, ra := k.after(ai)
		for j, bj := range b.at {
			sb, rb := k.after(bj)
			dst[i*m+j] = ra*rb*dst[i*m+j] + sa*sb*second[i*m+j]
		}
	}
}

func (k ChangePoint) contractBlock(grad, w []float64, a, b Inputs) {
	n, own, m := len(w), len(grad)-2, b.Len()
	work := borrow(4 * n)
	defer giveBack(work)
	first, second, part, scratch := (*work)[:n], (*work)[n:2*n], (*work)[2*n:3*n], (*work)[3*n:]
	covariances(first, k.Before, a, b)
	covariances(second, k.After, a, b)
	var gc, gw float64
	for i, ai := range a.at {
		sa, ra := k.after(ai)
		for j, bj := range b.at {
			at := i*m + j
			sb, rb := k.after(bj)
			// ∂s = s(1 − s)·∂u, u = (x − c)/w: ∂u/∂c = −1/w, ∂u/∂log w = −u.
			da, db := sa*ra*(sb*second[at]-rb*first[at]), sb*rb*(sa*second[at]-ra*first[at])
			gc -= w[at] * (da + db)
			gw -= w[at] * (da*(ai-k.Location) + db*(bj-k.Location))
			part[at] = w[at] * ra * rb
			second[at] = w[at] * sa * sb
		}
	}
	split := len(k.Before.Params())
	contractions(grad[:split], k.Before, part, a, b, scratch)
	contractions(grad[split:own], k.After, second, a, b, scratch)
	grad[own] += gc / k.Width
	grad[own+1] += gw / k.Width
}

func (k ChangePoint) slopeBlock(dst []float64, a, b Inputs) {
	n, m := len(dst), b.Len()
	work := borrow(3 * n)
	defer giveBack(work)
	first, second, later := (*work)[:n], (*work)[n:2*n], (*work)[2*n:]
	covariances(first, k.Before, a, b)
	covariances(second, k.After, a, b)
	slopes(dst, k.Before, a, b)
	slopes(later, k.After, a, b)
	for i, ai := range a.at {
		sa, ra := k.after(ai)
		for j, bj := range b.at {
			at := i*m + j
			sb, rb := k.after(bj)
			dst[at] = ra*rb*dst[at] + sa*sb*later[at] + sb*rb/k.Width*(sa*second[at]-ra*first[at])
		}
	}
}
