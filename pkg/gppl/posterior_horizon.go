package gppl

import (
	"fmt"
	"math"
)

// horizon knows the inputs at which a posterior equals the prior, since the kernel has
// decayed to zero between them and all of the data, and the inputs at which there is no
// answer.
type horizon struct {
	kernel   Kernel
	lo, hi   []float64 // the box around what was conditioned on, an entry per axis
	reach    float64   // beyond this distance from the box is the prior
	variance float64
}

// farCovariance is the covariance with a datum, relative to what would matter, below
// which an input is beyond the horizon. What n data of it add to the mean is below
// rounding: |α| ≤ |y|/σ², and n·σ²/(v + σ²) is divided out.
const farCovariance = 0x1p-53

func newHorizon(m Model, n int, conditioned ...Inputs) horizon {
	v := variance(m.Kernel)
	h := horizon{kernel: m.Kernel, variance: v}
	eps := max(farCovariance*m.Noise/((v+m.Noise)*float64(n)), 1e-250)
	h.reach = reach(m.Kernel, eps)
	for j := range conditioned[0].Dim() {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range conditioned {
			a, b := x.Range(j)
			lo, hi = min(lo, a), max(hi, b)
		}
		h.lo, h.hi = append(h.lo, lo), append(h.hi, hi)
	}
	return h
}

// distance returns the distance of a point from the box of the data, or +Inf if it
// overflows.
func (h horizon) distance(x []float64) (d float64) {
	for j, v := range x {
		d = math.Hypot(d, max(h.lo[j]-v, v-h.hi[j], 0))
	}
	return d
}

// divide returns the indices of the inputs that an engine has to look at, and of
// those where the posterior is the prior. The error is about the first of the
// others: not finite, or so far away that there is no telling.
func (h horizon) divide(x Inputs) (near, prior []int, err error) {
	for i := range x.Len() {
		switch d := h.distance(x.At(i)); {
		case !allFinite(x.At(i)):
			if err == nil {
				err = x.check("x")
			}
		case d >= h.reach && d > 0:
			prior = append(prior, i)
		case h.blurred(d):
			if err == nil {
				err = fmt.Errorf("gppl: x[%d] = %v is too far from the data: their distance, to 16 digits, does not determine the covariance of %v",
					i, x.At(i), h.kernel)
			}
		default:
			near = append(near, i)
		}
	}
	return near, prior, err
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// blurred reports whether the rounding of distances of about d moves the
// covariance by more than a millionth of the variance: |k′(d)|·2⁻⁵²·d, at several
// distances, since k′ may be zero at one.
func (h horizon) blurred(d float64) bool {
	const rounding, most, several = 0x1p-52, 1e-6, 16
	var r, slope [several]float64
	for j := range r {
		r[j] = d * (1 + float64(j)/256)
	}
	h.kernel.Slope(slope[:], r[:])
	for j, s := range slope {
		if !(math.Abs(s)*r[j]*rounding <= most*h.variance) {
			return true
		}
	}
	return false
}
