package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
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
// Location; both are in the unit of x, and c may have any sign. If k₁ and k₂ are smooth, so is k.
//
// k is not stationary. The exact likelihood and its posterior take it by the dense engine or, if both parts decay to zero, by the
// banded one; losses and engines that work on distances alone (PL, VFE, sums, the other engines) refuse it. Cov, Contract and
// Slope, which know only distances, are those of k₁ + k₂, an upper bound on the variances of k. The parts have no white noise of
// their own (Model.Check).
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

// Amplitudes are those of both parts.
func (k ChangePoint) Amplitudes() (at []int, known bool) { return k.sum().Amplitudes() }

// after returns s(x) and 1 − s(x), both to full relative accuracy: the second is s at the mirrored place.
func (k ChangePoint) after(x float64) (s, rest float64) {
	u := (x - k.Location) / k.Width
	return 1 / (1 + math.Exp(-u)), 1 / (1 + math.Exp(u))
}

func (k ChangePoint) CovAt(dst, a, b, r []float64) {
	covAt(dst, k.Before, a, b, r)
	work := borrow(len(r))
	defer giveBack(work)
	second := work[:len(r)]
	covAt(second, k.After, a, b, r)
	for i := range dst {
		sa, ra := k.after(a[i])
		sb, rb := k.after(b[i])
		dst[i] = ra*rb*dst[i] + sa*sb*second[i]
	}
}

func (k ChangePoint) ContractAt(grad, w, a, b, r []float64) {
	n, own := len(r), len(grad)-2
	work := borrow(3 * n)
	defer giveBack(work)
	first, second, part := work[:n], work[n:2*n], work[2*n:3*n]
	covAt(first, k.Before, a, b, r)
	covAt(second, k.After, a, b, r)
	var gc, gw float64
	for i := range part {
		sa, ra := k.after(a[i])
		sb, rb := k.after(b[i])
		// ∂s = s(1 − s)·∂u, u = (x − c)/w: ∂u/∂c = −1/w, ∂u/∂log w = −u.
		da, db := sa*ra*(sb*second[i]-rb*first[i]), sb*rb*(sa*second[i]-ra*first[i])
		gc -= w[i] * (da + db)
		gw -= w[i] * (da*(a[i]-k.Location) + db*(b[i]-k.Location))
		part[i] = w[i] * ra * rb
		second[i] = w[i] * sa * sb
	}
	split := len(k.Before.Params())
	contractAt(grad[:split], k.Before, part, a, b, r)
	contractAt(grad[split:own], k.After, second, a, b, r)
	grad[own] += gc / k.Width
	grad[own+1] += gw / k.Width
}

// isPlaced is IsPlaced of a kernel.
func isPlaced(k Kernel) bool {
	_, ok := k.(capability.Placed)
	return ok || slices.ContainsFunc(parts(k), isPlaced)
}

// Parts returns the terms, which must not be changed.
func (k Sum) Parts() []Kernel { return k.parts }

// Parts returns the factors, which must not be changed.
func (k Product) Parts() []Kernel { return k.parts }

// Parts returns the kernels before and after the change.
func (k ChangePoint) Parts() []Kernel { return []Kernel{k.Before, k.After} }

// parts returns the kernels that k is made of: nil if it is no Sum, Product or ChangePoint.
func parts(k Kernel) []Kernel {
	if k, ok := k.(interface{ Parts() []Kernel }); ok {
		return k.Parts()
	}
	return nil
}

// covAt sets dst[i] = k(a[i], b[i]), where r[i] is their distance. dst must not be one of the others.
func covAt(dst []float64, k Kernel, a, b, r []float64) {
	if !isPlaced(k) {
		k.Cov(dst, r)
		return
	}
	switch k := k.(type) {
	case capability.Placed:
		k.CovAt(dst, a, b, r)
	case Sum:
		eachPart(dst, k.parts, a, b, r, func(acc, v float64) float64 { return acc + v })
	case Product:
		eachPart(dst, k.parts, a, b, r, func(acc, v float64) float64 { return acc * v })
	}
}

// eachPart sets dst to the covariances of the parts, combined by op.
func eachPart(dst []float64, parts []Kernel, a, b, r []float64, op func(acc, v float64) float64) {
	work := borrow(len(r))
	defer giveBack(work)
	v := work[:len(r)]
	covAt(dst, parts[0], a, b, r)
	for _, p := range parts[1:] {
		covAt(v, p, a, b, r)
		for i := range dst {
			dst[i] = op(dst[i], v[i])
		}
	}
}

// contractAt adds Σ_i w[i]·∂k(a[i], b[i])/∂log θ_p to grad[p], for each p (see Placed).
func contractAt(grad []float64, k Kernel, w, a, b, r []float64) {
	if !isPlaced(k) {
		k.Contract(grad, w, r)
		return
	}
	switch k := k.(type) {
	case capability.Placed:
		k.ContractAt(grad, w, a, b, r)
	case Sum:
		for i, p := range k.parts {
			contractAt(grad[k.offset[i]:k.offset[i+1]], p, w, a, b, r)
		}
	case Product:
		work := borrow(2 * len(r))
		defer giveBack(work)
		rest, v := work[:len(r)], work[len(r):2*len(r)]
		for i, p := range k.parts {
			copy(rest, w)
			for j, other := range k.parts {
				if j == i {
					continue
				}
				covAt(v, other, a, b, r)
				for l := range rest {
					rest[l] *= v[l]
				}
			}
			contractAt(grad[k.offset[i]:k.offset[i+1]], p, rest, a, b, r)
		}
	}
}

// workPool keeps working memory for covAt and contractAt.
var workPool = sync.Pool{New: func() any { return new([]float64) }}

func borrow(n int) []float64 {
	w := workPool.Get().(*[]float64)
	return dense.Resize(*w, n)
}

func giveBack(w []float64) { workPool.Put(&w) }

// Covariance sets dst, len(a)×len(b) and row-major, to k(a_i, b_j), without the nugget. It also serves kernels that depend on
// position, for which Kernel.Cov is only a bound. It panics if a length is wrong.
func Covariance(ctx context.Context, dst []float64, k Kernel, a, b Inputs) error {
	n, m := a.Len(), b.Len()
	if len(dst) != n*m {
		panic(fmt.Sprintf("gppl: Covariance: len(dst) = %d for %d×%d inputs", len(dst), n, m))
	}
	if m == 0 {
		return ctx.Err()
	}
	rows := max(1, (1<<16)/m)
	for from := 0; from < n; from += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(n, from+rows)
		some, at := dst[from*m:to*m], a.Slice(from, to)
		distances(some, at, b)
		covariances(some, k, at, b, some)
	}
	return ctx.Err()
}

// covariances sets c, row-major of the rows a and the columns b, to k(a, b), given their distances in r, which may be c.
func covariances(c []float64, k Kernel, a, b Inputs, r []float64) {
	if !isPlaced(k) {
		k.Cov(c, r)
		return
	}
	n := len(c)
	work := borrow(3 * n)
	defer giveBack(work)
	rows, cols := pairedInputs(work, a, b)
	copy(work[2*n:3*n], r)
	covAt(c, k, rows, cols, work[2*n:3*n])
}

// contractions is Contract for the pairs of the rows a and the columns b.
func contractions(grad []float64, k Kernel, w []float64, a, b Inputs, r []float64) {
	if !isPlaced(k) {
		k.Contract(grad, w, r)
		return
	}
	work := borrow(2 * len(r))
	defer giveBack(work)
	rows, cols := pairedInputs(work, a, b)
	contractAt(grad, k, w, rows, cols, r)
}

// pairedInputs returns the row's and the column's input of each pair, in the memory of work.
func pairedInputs(work []float64, a, b Inputs) (rows, cols []float64) {
	n := a.Len() * b.Len()
	rows, cols = work[:n], work[n:2*n]
	for i, v := range a.at {
		copy(cols[i*b.Len():], b.at)
		for j := range b.Len() {
			rows[i*b.Len()+j] = v
		}
	}
	return rows, cols
}

// variancesAt sets dst to k(x, x) without the nugget.
func variancesAt(dst []float64, k Kernel, x Inputs) {
	if isPlaced(k) {
		covAt(dst, k, x.at, x.at, make([]float64, len(dst)))
		return
	}
	v := variance(k)
	for i := range dst {
		dst[i] = v
	}
}

// notPlaced is the reason of engines, and of losses, that know distances alone.
const notPlaced = "the covariance depends on where the inputs are, not on their distance alone"

// needsDistances returns an error if k is Placed. Code that works on distances alone calls it; what names this code.
func needsDistances(what string, k Kernel) error {
	if isPlaced(k) {
		return fmt.Errorf("gppl: %s does not take %v: %s; the exact likelihood does", what, k, notPlaced)
	}
	return nil
}

// checkPlaced is an error if a change point in k has parts that it does not take.
func checkPlaced(k Kernel) error {
	if k, ok := k.(ChangePoint); ok {
		if k.Before == nil || k.After == nil {
			return fmt.Errorf("gppl: a change point needs a kernel before and one after it")
		}
		if capability.Nugget(k.Before) > 0 || capability.Nugget(k.After) > 0 {
			return fmt.Errorf("gppl: %v has white noise on a side of its change point: the noise is one for all, or"+
				" Data.WithRelativeErrors", k)
		}
	}
	for _, p := range parts(k) {
		if err := checkPlaced(p); err != nil {
			return err
		}
	}
	return nil
}
