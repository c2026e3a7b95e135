package gppl

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// Kernels of the points themselves (capability.Placed): engines compute them a block of pairs at a time, by the functions of this
// file, which take kernels of distances as well.

// blockwise is a Placed kernel that computes a block of pairs faster than one pair after another. A block has a row for each
// point of a and a column for each point of b, row by row.
type blockwise interface {
	capability.Placed
	// covBlock sets dst to k(a_i, b_j).
	covBlock(dst []float64, a, b Inputs)
	// contractBlock adds Σ w_ij·∂k(a_i, b_j)/∂log θ_p to grad[p], for each p, as ContractAt does.
	contractBlock(grad, w []float64, a, b Inputs)
	// slopeBlock sets the d numbers of each pair in dst to ∂k(a_i, b_j)/∂b_j.
	slopeBlock(dst []float64, a, b Inputs)
}

// isPlaced is IsPlaced of a kernel.
func isPlaced(k Kernel) bool {
	_, ok := k.(capability.Placed)
	return ok || slices.ContainsFunc(parts(k), isPlaced)
}

// isStationary reports whether k(x, x) is the same for all x.
func isStationary(k Kernel) bool {
	switch k := k.(type) {
	case Axes:
		return isStationary(k.kernel)
	case Anisotropic:
		return true
	case capability.Placed:
		return false
	}
	return !slices.ContainsFunc(parts(k), func(p Kernel) bool { return !isStationary(p) })
}

// Parts returns the terms, which must not be changed.
func (k Sum) Parts() []Kernel { return k.parts }

// Parts returns the factors, which must not be changed.
func (k Product) Parts() []Kernel { return k.parts }

// parts returns the kernels that k is made of: nil if it is made of none.
func parts(k Kernel) []Kernel {
	if k, ok := k.(interface{ Parts() []Kernel }); ok {
		return k.Parts()
	}
	return nil
}

// covariances sets dst to the block k(a_i, b_j).
func covariances(dst []float64, k Kernel, a, b Inputs) {
	if !isPlaced(k) {
		distances(dst, a, b)
		k.Cov(dst, dst)
		return
	}
	switch k := k.(type) {
	case blockwise:
		k.covBlock(dst, a, b)
	case capability.Placed:
		m := b.Len()
		for i := range a.Len() {
			for j := range m {
				dst[i*m+j] = k.At(a.At(i), b.At(j))
			}
		}
	case Sum:
		eachPart(dst, k.parts, a, b, floats.Add)
	case Product:
		eachPart(dst, k.parts, a, b, floats.Mul)
	default:
		panic(fmt.Sprintf("gppl: %T has Parts that depend on points, and is not capability.Placed itself", k))
	}
}

// eachPart sets dst to the covariances of the parts, combined by op.
func eachPart(dst []float64, parts []Kernel, a, b Inputs, op func(dst, s []float64)) {
	work := borrow(len(dst))
	defer giveBack(work)
	covariances(dst, parts[0], a, b)
	for _, p := range parts[1:] {
		covariances(*work, p, a, b)
		op(dst, *work)
	}
}

// contractions adds Σ w_ij·∂k(a_i, b_j)/∂log θ_p over the block to grad[p], for each p (see Placed). It works in r, as long as w.
func contractions(grad []float64, k Kernel, w []float64, a, b Inputs, r []float64) {
	if !isPlaced(k) {
		distances(r, a, b)
		k.Contract(grad, w, r)
		return
	}
	switch k := k.(type) {
	case blockwise:
		k.contractBlock(grad, w, a, b)
	case capability.Placed:
		m := b.Len()
		for i := range a.Len() {
			for j := range m {
				k.ContractAt(grad, w[i*m+j], a.At(i), b.At(j))
			}
		}
	case Sum:
		for i, p := range k.parts {
			contractions(grad[k.offset[i]:k.offset[i+1]], p, w, a, b, r)
		}
	case Product:
		work := borrow((len(k.parts) + 1) * len(w))
		defer giveBack(work)
		of := k.factorBlocks(*work, a, b)
		rest := of(len(k.parts))
		for i, p := range k.parts {
			copy(rest, w)
			for j := range k.parts {
				if j != i {
					floats.Mul(rest, of(j))
				}
			}
			contractions(grad[k.offset[i]:k.offset[i+1]], p, rest, a, b, r)
		}
	}
}

// factorBlocks computes the covariances of all factors in work. of(i) returns the part of work with the covariances of factor i.
// One more part of work is left as it is.
func (k Product) factorBlocks(work []float64, a, b Inputs) (of func(i int) []float64) {
	n := a.Len() * b.Len()
	of = func(i int) []float64 { return work[i*n : (i+1)*n] }
	for i, p := range k.parts {
		covariances(of(i), p, a, b)
	}
	return of
}

// slopes sets the d numbers of each pair of the block in dst to ∂k(a_i, b_j)/∂b_j. Where a_i = b_j and k has no derivative, it is
// the mean of those on either side, 0 for a kernel of distances.
func slopes(dst []float64, k Kernel, a, b Inputs) {
	d, m := b.d, b.Len()
	if !isPlaced(k) {
		work := borrow(2 * a.Len() * m)
		defer giveBack(work)
		r, slope := (*work)[:a.Len()*m], (*work)[a.Len()*m:]
		distances(r, a, b)
		k.Slope(slope, r)
		radial(dst, slope, r, a, b)
		return
	}
	switch k := k.(type) {
	case blockwise:
		k.slopeBlock(dst, a, b)
	case capability.Placed:
		for i := range a.Len() {
			for j := range m {
				k.SlopeAt(dst[(i*m+j)*d:][:d], a.At(i), b.At(j))
			}
		}
	case Sum:
		work := borrow(len(dst))
		defer giveBack(work)
		slopes(dst, k.parts[0], a, b)
		for _, p := range k.parts[1:] {
			slopes(*work, p, a, b)
			floats.Add(dst, *work)
		}
	case Product:
		n := a.Len() * m
		work := borrow((len(k.parts)+1)*n + len(dst))
		defer giveBack(work)
		of := k.factorBlocks(*work, a, b)
		rest, own := of(len(k.parts)), (*work)[(len(k.parts)+1)*n:]
		clear(dst)
		for i, p := range k.parts {
			for at := range rest {
				rest[at] = 1
			}
			for j := range k.parts {
				if j != i {
					floats.Mul(rest, of(j))
				}
			}
			slopes(own, p, a, b)
			for at, c := range rest {
				for axis := range d {
					dst[at*d+axis] += c * own[at*d+axis]
				}
			}
		}
	}
}

// radial sets dst to the derivatives in b of a kernel of the distance r, given dk/dr.
func radial(dst, slope, r []float64, a, b Inputs) {
	d, m := b.d, b.Len()
	for i := range a.Len() {
		ai := a.At(i)
		for j := range m {
			own := dst[(i*m+j)*d:][:d]
			if r[i*m+j] == 0 {
				clear(own)
				continue
			}
			c := slope[i*m+j] / r[i*m+j]
			for axis, v := range b.At(j) {
				own[axis] = c * (v - ai[axis])
			}
		}
	}
}

// atPair, contractPair and slopePair are the methods of Placed by a block of one pair.

func atPair(k Kernel, x, y []float64) float64 {
	work := borrow(1)
	defer giveBack(work)
	covariances(*work, k, Inputs{d: len(x), at: x}, Inputs{d: len(y), at: y})
	return (*work)[0]
}

func contractPair(grad []float64, k Kernel, w float64, x, y []float64) {
	work := borrow(2)
	defer giveBack(work)
	(*work)[0] = w
	contractions(grad, k, (*work)[:1], Inputs{d: len(x), at: x}, Inputs{d: len(y), at: y}, (*work)[1:])
}

func slopePair(dst []float64, k Kernel, x, y []float64) {
	slopes(dst, k, Inputs{d: len(x), at: x}, Inputs{d: len(y), at: y})
}

// workPool keeps working memory for blocks.
var workPool = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns memory for n numbers, which the caller gives back.
func borrow(n int) *[]float64 {
	w := workPool.Get().(*[]float64)
	*w = dense.Resize(*w, n)
	return w
}

func giveBack(w *[]float64) { workPool.Put(w) }

// Covariance sets dst, len(a)×len(b) and row-major, to k(a_i, b_j), without the nugget. It also serves kernels that depend on
// the points themselves, for which Kernel.Cov is only a bound. It panics if a length is wrong, or if k is of other axes than the
// inputs have.
func Covariance(ctx context.Context, dst []float64, k Kernel, a, b Inputs) error {
	n, m := a.Len(), b.Len()
	if len(dst) != n*m {
		panic(fmt.Sprintf("gppl: Covariance: len(dst) = %d for %d×%d inputs", len(dst), n, m))
	}
	for _, x := range []Inputs{a, b} {
		if err := checkAxes(k, x.Dim()); err != nil && x.Len() > 0 {
			panic("gppl: Covariance: " + err.Error())
		}
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
		covariances(dst[from*m:to*m], k, a.Slice(from, to), b)
	}
	return ctx.Err()
}

// variancesAt sets dst to k(x, x) without the nugget.
func variancesAt(dst []float64, k Kernel, x Inputs) {
	if isStationary(k) {
		v := variance(k)
		for i := range dst {
			dst[i] = v
		}
		return
	}
	for i := range dst {
		dst[i] = atPair(k, x.At(i), x.At(i))
	}
}

// totalVariance returns Σ k(x_i, x_i) over n observations without the nugget. x is read where k(x, x) is not the same for all x.
func totalVariance(k Kernel, x Inputs, n float64) (sum float64) {
	if isStationary(k) {
		return n * variance(k)
	}
	for i := range x.Len() {
		sum += atPair(k, x.At(i), x.At(i))
	}
	return sum
}

// contractVariances adds Σ w_i times the derivatives of k(x_i, x_i) in the logs, for the weights w of n observations: w(i) for
// each of them, total in all.
func contractVariances(grad []float64, k Kernel, x Inputs, total float64, w func(i int) float64) {
	if isStationary(k) {
		contractVariance(grad, k, total)
		return
	}
	for i := range x.Len() {
		contractPair(grad, k, w(i), x.At(i), x.At(i))
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

// checkPlaced is an error if a part of k that depends on points has what it does not take.
func checkPlaced(k Kernel) error {
	if k, ok := k.(ChangePoint); ok && (k.Before == nil || k.After == nil) {
		return fmt.Errorf("gppl: a change point needs a kernel before and one after it")
	}
	if _, ok := k.(blockwise); ok {
		for _, p := range parts(k) {
			if capability.Nugget(p) > 0 {
				return fmt.Errorf("gppl: %v has white noise inside: noise is of observations, not of axes or of one side of a"+
					" change. Add White outside, or use Data.WithRelativeErrors", k)
			}
		}
	}
	for _, p := range parts(k) {
		if err := checkPlaced(p); err != nil {
			return err
		}
	}
	return nil
}

// checkAxes is an error if k, or a part of it, is not of points of dimension d.
func checkAxes(k Kernel, d int) error {
	switch k := k.(type) {
	case ChangePoint:
		if d != 1 {
			return fmt.Errorf("gppl: %v changes along a scalar axis, and the inputs have dimension %d: put it on an axis by On",
				k, d)
		}
	case Axes:
		if last := slices.Max(k.axes); last >= d {
			return fmt.Errorf("gppl: %v is on axis %d, and the inputs have dimension %d", k, last, d)
		}
		return checkAxes(k.kernel, len(k.axes))
	case Anisotropic:
		if len(k.lengthscales) != d {
			return fmt.Errorf("gppl: %v has %d lengthscales for %d axes", k, len(k.lengthscales), d)
		}
		return nil
	}
	for _, p := range parts(k) {
		if err := checkAxes(p, d); err != nil {
			return err
		}
	}
	return nil
}
