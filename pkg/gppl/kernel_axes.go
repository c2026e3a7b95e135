package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

var (
	_ blockwise            = Axes{}
	_ capability.Steep     = Axes{}
	_ capability.Amplified = Axes{}
	_ blockwise            = Anisotropic{}
	_ capability.Steep     = Anisotropic{}
	_ capability.Amplified = Anisotropic{}
)

// Axes is a kernel on some of the axes of the inputs. Build it with On.
type Axes struct {
	kernel Kernel
	axes   []int
}

// On returns k as a kernel of the given axes alone, counted from 0: k(x, x′) takes the coordinates x_a, a in axes, in this order.
// A product over axes, such as
//
//	Mul(On(SE{…}, 0, 1), On(Matern32{…}, 2))
//
// is of space and time; where the inputs are a grid of the two, EngineKronecker takes it. The parameters are those of k. The
// losses check the axes. On panics if k is nil, or if axes are none, negative or repeated.
func On(k Kernel, axes ...int) Axes {
	if k == nil {
		panic("gppl: On: the kernel is nil")
	}
	if len(axes) == 0 {
		panic("gppl: On: there are no axes")
	}
	for i, a := range axes {
		if a < 0 || slices.Contains(axes[:i], a) {
			panic(fmt.Sprintf("gppl: On: axes = %v: want different ones, from 0 on", axes))
		}
	}
	return Axes{k, slices.Clone(axes)}
}

// Kernel returns the kernel that is on the axes.
func (k Axes) Kernel() Kernel { return k.kernel }

// Axes returns the axes.
func (k Axes) Axes() []int { return slices.Clone(k.axes) }

// Parts returns the kernel that is on the axes.
func (k Axes) Parts() []Kernel { return []Kernel{k.kernel} }

func (k Axes) Params() []Param { return k.kernel.Params() }

func (k Axes) WithParams(theta []float64) Kernel { return Axes{k.kernel.WithParams(theta), k.axes} }

func (k Axes) String() string {
	return fmt.Sprintf("On(%v, %s)", k.kernel, strings.Trim(strings.ReplaceAll(fmt.Sprint(k.axes), " ", ", "), "[]"))
}

// Cov, Contract and Slope describe an upper bound on the covariance, which is the variance: points at any distance may agree on
// all of these axes.

func (k Axes) Cov(dst, r []float64)          { constant(dst[:len(r)], variance(k.kernel)) }
func (k Axes) Contract(grad, w, _ []float64) { contractVariance(grad, k.kernel, sumOf(w)) }
func (k Axes) Slope(dst, r []float64)        { clear(dst[:len(r)]) }

// constant sets all of dst to v.
func constant(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

func sumOf(w []float64) (sum float64) {
	for _, v := range w {
		sum += v
	}
	return sum
}

func (k Axes) Steepness(span float64) float64                       { return steepness(k.kernel, span) }
func (k Axes) Amplitudes() (at []int, known bool)                   { return amplitudesOf(k.kernel, 0) }
func (k Axes) At(x, y []float64) float64                            { return atPair(k, x, y) }
func (k Axes) SlopeAt(dst, x, y []float64)                          { slopePair(dst, k, x, y) }
func (k Axes) ContractAt(grad []float64, w float64, x, y []float64) { contractPair(grad, k, w, x, y) }

// whole reports whether the axes are all of d, in order.
func (k Axes) whole(d int) bool { return len(k.axes) == d && slices.IsSorted(k.axes) }

// project returns the coordinates of a and b on the axes, in memory to give back; nil if they are all.
func (k Axes) project(a, b Inputs) (Inputs, Inputs, *[]float64) {
	if k.whole(a.d) {
		return a, b, nil
	}
	d := len(k.axes)
	work := borrow((a.Len() + b.Len()) * d)
	split := a.Len() * d
	return k.onto((*work)[:split], a), k.onto((*work)[split:], b), work
}

// onto sets dst to the coordinates of x on the axes.
func (k Axes) onto(dst []float64, x Inputs) Inputs {
	d := len(k.axes)
	for i := range x.Len() {
		at := x.At(i)
		for j, axis := range k.axes {
			dst[i*d+j] = at[axis]
		}
	}
	return Inputs{d: d, at: dst}
}

func (k Axes) covBlock(dst []float64, a, b Inputs) {
	a, b, work := k.project(a, b)
	covariances(dst, k.kernel, a, b)
	if work != nil {
		giveBack(work)
	}
}

func (k Axes) contractBlock(grad, w []float64, a, b Inputs) {
	a, b, work := k.project(a, b)
	r := borrow(len(w))
	contractions(grad, k.kernel, w, a, b, *r)
	giveBack(r)
	if work != nil {
		giveBack(work)
	}
}

func (k Axes) slopeBlock(dst []float64, a, b Inputs) {
	d, dim := b.d, len(k.axes)
	onA, onB, work := k.project(a, b)
	if work == nil {
		slopes(dst, k.kernel, a, b)
		return
	}
	own := borrow(a.Len() * b.Len() * dim)
	slopes(*own, k.kernel, onA, onB)
	clear(dst)
	for at := range a.Len() * b.Len() {
		for j, axis := range k.axes {
			dst[at*d+axis] = (*own)[at*dim+j]
		}
	}
	giveBack(own)
	giveBack(work)
}

// Anisotropic is a kernel of the distance √Σ((x_a − x′_a)/ℓ_a)², with a lengthscale for each axis. Build it with ARD.
type Anisotropic struct {
	kernel       Kernel
	lengthscales []float64
	unit         int // index of the kernel's own lengthscale or period, which is 1 and not a parameter; −1: it has none
}

// ARD returns k with a lengthscale for each axis (automatic relevance determination; Neal 1996; Rasmussen and Williams 2006, sec.
// 5.1): k(r) of r = √Σ((x_a − x′_a)/ℓ_a)², for every kernel of the distance,
//
//	ARD(Matern52{Variance: 1}, 0.3, 10)
//
// The lengthscales replace the first parameter of k in the unit of x, its lengthscale or period, whose value does not matter.
// Further parameters in the unit of x become pure numbers, relative to the lengthscales. The losses check that there are as many
// lengthscales as axes; use On for fewer axes. ARD panics if k is nil or depends on more than the distance, or if there are no
// lengthscales.
func ARD(k Kernel, lengthscales ...float64) Anisotropic {
	switch {
	case k == nil:
		panic("gppl: ARD: the kernel is nil")
	case isPlaced(k):
		panic(fmt.Sprintf("gppl: ARD: %v does not depend on the distance alone", k))
	case len(lengthscales) == 0:
		panic("gppl: ARD: there are no lengthscales")
	}
	params := k.Params()
	unit := slices.IndexFunc(params, func(p Param) bool { return p.Unit == UnitX })
	if unit >= 0 {
		theta := Values(params)
		theta[unit] = 1
		k = k.WithParams(theta)
	}
	return Anisotropic{k, slices.Clone(lengthscales), unit}
}

// Kernel returns the kernel of the scaled distance.
func (k Anisotropic) Kernel() Kernel { return k.kernel }

// Lengthscales returns the lengthscale of each axis.
func (k Anisotropic) Lengthscales() []float64 { return slices.Clone(k.lengthscales) }

// Parts returns the kernel of the scaled distance.
func (k Anisotropic) Parts() []Kernel { return []Kernel{k.kernel} }

// Params returns the parameters of the kernel but the first in the unit of x, then the lengthscale of each axis.
func (k Anisotropic) Params() (params []Param) {
	for i, p := range k.kernel.Params() {
		if i == k.unit {
			continue
		}
		if p.Unit == UnitX {
			p.Unit, p.Role = "", RoleShape
		}
		params = append(params, p)
	}
	for axis, l := range k.lengthscales {
		params = append(params, Param{Name: fmt.Sprintf("lengthscale %d", axis), Value: l, Transform: transform.Log{},
			Unit: UnitX, Role: RoleLengthscale})
	}
	return params
}

func (k Anisotropic) WithParams(theta []float64) Kernel {
	own := len(theta) - len(k.lengthscales)
	inner := len(k.kernel.Params())
	if k.unit >= 0 {
		inner--
	}
	want(theta, inner+len(k.lengthscales), "Anisotropic")
	of := slices.Clone(theta[:own])
	if k.unit >= 0 {
		of = slices.Insert(of, k.unit, 1)
	}
	return Anisotropic{k.kernel.WithParams(of), slices.Clone(theta[own:]), k.unit}
}

func (k Anisotropic) String() string { return describe("ARD "+typed.Name(k.kernel), k.Params()) }

// Cov, Contract and Slope belong to an upper bound on the covariance, the variance.

func (k Anisotropic) Cov(dst, r []float64)   { constant(dst[:len(r)], variance(k.kernel)) }
func (k Anisotropic) Slope(dst, r []float64) { clear(dst[:len(r)]) }
func (k Anisotropic) Contract(grad, w, _ []float64) {
	k.contractKernel(grad, func(own []float64) { contractVariance(own, k.kernel, sumOf(w)) })
}

// contractKernel adds derivatives in the parameters of the kernel, which add sets, to those that are parameters of k.
func (k Anisotropic) contractKernel(grad []float64, add func(own []float64)) {
	if k.unit < 0 {
		add(grad[:len(grad)-len(k.lengthscales)])
		return
	}
	own := borrow(len(grad) - len(k.lengthscales) + 1)
	defer giveBack(own)
	clear(*own)
	add(*own)
	for i, g := range *own {
		if at, is := k.param(i); is {
			grad[at] += g
		}
	}
}

// param returns the parameter that parameter i of the kernel is, if it is one.
func (k Anisotropic) param(i int) (at int, is bool) {
	if k.unit >= 0 && i > k.unit {
		return i - 1, true
	}
	return i, i != k.unit
}

func (k Anisotropic) Steepness(span float64) float64 {
	return steepness(k.kernel, span/slices.Min(k.lengthscales))
}

func (k Anisotropic) Amplitudes() (at []int, known bool) {
	inner, known := amplitudesOf(k.kernel, 0)
	for _, i := range inner {
		if own, is := k.param(i); is {
			at = append(at, own)
		}
	}
	return at, known
}

func (k Anisotropic) At(x, y []float64) float64   { return atPair(k, x, y) }
func (k Anisotropic) SlopeAt(dst, x, y []float64) { slopePair(dst, k, x, y) }
func (k Anisotropic) ContractAt(grad []float64, w float64, x, y []float64) {
	contractPair(grad, k, w, x, y)
}

// scaled returns a and b divided by the lengthscales, in memory to give back. Where an axis begins far from 0, as years and
// seconds since 1970 do, it is counted from there first, so that its differences keep their digits.
func (k Anisotropic) scaled(a, b Inputs) (Inputs, Inputs, *[]float64) {
	work := borrow(len(a.at) + len(b.at))
	split := len(a.at)
	for axis, l := range k.lengthscales {
		lo, hi := extremes(a, b, axis)
		var origin float64
		switch { // x − origin has no rounding if they differ by a factor of two at most (Sterbenz 1974)
		case 0 < lo && hi <= 2*lo:
			origin = lo
		case hi < 0 && lo >= 2*hi:
			origin = hi
		}
		for i := axis; i < len(a.at); i += a.d {
			(*work)[i] = (a.at[i] - origin) / l
		}
		for i := axis; i < len(b.at); i += b.d {
			(*work)[split+i] = (b.at[i] - origin) / l
		}
	}
	return Inputs{d: a.d, at: (*work)[:split]}, Inputs{d: b.d, at: (*work)[split:]}, work
}

// extremes returns the least and the largest coordinate of a and b on an axis.
func extremes(a, b Inputs, axis int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range [...]Inputs{a, b} {
		for i := axis; i < len(x.at); i += x.d {
			lo, hi = min(lo, x.at[i]), max(hi, x.at[i])
		}
	}
	return lo, hi
}

func (k Anisotropic) covBlock(dst []float64, a, b Inputs) {
	a, b, work := k.scaled(a, b)
	covariances(dst, k.kernel, a, b)
	giveBack(work)
}

// contractBlock uses ∂k/∂log ℓ_a = −k′(r)·((x_a − x′_a)/ℓ_a)²/r.
func (k Anisotropic) contractBlock(grad, w []float64, a, b Inputs) {
	a, b, work := k.scaled(a, b)
	defer giveBack(work)
	scratch := borrow(2 * len(w))
	defer giveBack(scratch)
	r, slope := (*scratch)[:len(w)], (*scratch)[len(w):]
	distances(r, a, b)
	k.contractKernel(grad, func(own []float64) { k.kernel.Contract(own, w, r) })
	k.kernel.Slope(slope, r)
	for i, ri := range r {
		if ri == 0 {
			slope[i] = 0
		} else {
			slope[i] *= -w[i] / ri
		}
	}
	m, axes := b.Len(), grad[len(grad)-len(k.lengthscales):]
	for i := range a.Len() {
		at, row := a.At(i), slope[i*m:(i+1)*m]
		for axis, x := range at {
			var sum float64
			for j, s := range row {
				gap := x - b.at[j*b.d+axis]
				sum += s * gap * gap
			}
			axes[axis] += sum
		}
	}
}

func (k Anisotropic) slopeBlock(dst []float64, a, b Inputs) {
	a, b, work := k.scaled(a, b)
	slopes(dst, k.kernel, a, b)
	giveBack(work)
	for i := range dst {
		dst[i] /= k.lengthscales[i%len(k.lengthscales)]
	}
}

// nameOf returns the name of a kernel in the names of the parameters of a Sum or a Product: of the kernel itself where it is on
// axes.
func nameOf(k Kernel) string {
	switch k := k.(type) {
	case Axes:
		return nameOf(k.kernel)
	case Anisotropic:
		return nameOf(k.kernel)
	}
	return typed.Name(k)
}

// axesOf is Model.AxesOf for a kernel whose axes are the axes on of the inputs.
func axesOf(k Kernel, on []int) (axes [][]int) {
	switch k := k.(type) {
	case Axes:
		own := make([]int, len(k.axes))
		for i, a := range k.axes {
			own[i] = on[a]
		}
		return axesOf(k.kernel, own)
	case Anisotropic:
		for i := range k.Params() {
			axes = append(axes, on)
			if axis := i - (len(k.Params()) - len(k.lengthscales)); axis >= 0 {
				axes[i] = on[axis : axis+1]
			}
		}
		return axes
	}
	for _, p := range parts(k) {
		axes = append(axes, axesOf(p, on)...)
	}
	for range len(k.Params()) - len(axes) { // parameters of its own
		axes = append(axes, on)
	}
	return axes
}
