package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Series is a recorded function of one variable: observation i is Y[i] at X[i]. X and Y have equal length, are finite when a
// reader of this package made them, and stand in the order of the file.
type Series struct {
	Name  string    // title of the series, such as "Weekly CO2 at Mauna Loa"
	X, Y  []float64 // n values each
	XName string    // name on an axis, such as "time"
	XUnit string    // unit, such as "year" or "s"; "" for none
	YName string
	YUnit string
	// Source says where the observations come from: a path, a URL, "embedded", or "" if the reader was given no name.
	Source string
}

// Len returns the number of observations n.
func (s Series) Len() int { return len(s.X) }

// Slice returns the observations i, …, j-1. It shares memory with s, as slicing does. It panics unless 0 ≤ i ≤ j ≤ n.
func (s Series) Slice(i, j int) Series {
	s.mustMatch()
	if i < 0 || j < i || j > s.Len() {
		panic(fmt.Sprintf("dataset: Slice: i = %d, j = %d; want 0 ≤ i ≤ j ≤ n = %d", i, j, s.Len()))
	}
	// The capacity ends at j too, so that appending to the part cannot overwrite the whole.
	s.X, s.Y = s.X[i:j:j], s.Y[i:j:j]
	return s
}

// Between returns a copy of the observations with lo ≤ x < hi, in their order; none is not an error.
func (s Series) Between(lo, hi float64) Series {
	s.mustMatch()
	var x, y []float64
	for i, xi := range s.X {
		if lo <= xi && xi < hi {
			x, y = append(x, xi), append(y, s.Y[i])
		}
	}
	s.X, s.Y = x, y
	return s
}

// Select returns a copy of the observations that index names, in the order of index, which may repeat an observation. It
// panics if an index is not in [0, n).
func (s Series) Select(index []int) Series {
	s.mustMatch()
	x, y := make([]float64, len(index)), make([]float64, len(index))
	for k, i := range index {
		if i < 0 || i >= s.Len() {
			panic(fmt.Sprintf("dataset: Select: index[%d] = %d; want 0 ≤ index < n = %d", k, i, s.Len()))
		}
		x[k], y[k] = s.X[i], s.Y[i]
	}
	s.X, s.Y = x, y
	return s
}

// String describes the series on one line: name, n, and the ranges of x and y with their units.
func (s Series) String() string {
	text := fmt.Sprintf("%s: n = %d", cmp.Or(s.Name, "series"), s.Len())
	if s.Len() > 0 {
		text += describe(cmp.Or(s.XName, "x"), s.XUnit, s.X)
	}
	if len(s.Y) > 0 {
		text += describe(cmp.Or(s.YName, "y"), s.YUnit, s.Y)
	}
	return text
}

func describe(name, unit string, v []float64) string {
	return strings.TrimRight(fmt.Sprintf(", %s %.7g to %.7g %s", name, slices.Min(v), slices.Max(v), unit), " ")
}

// mustMatch panics if X and Y do not pair up, which only a Series made by hand can do.
func (s Series) mustMatch() {
	if len(s.X) != len(s.Y) {
		panic(fmt.Sprintf("dataset: Series: len(X) = %d, len(Y) = %d; want equal lengths", len(s.X), len(s.Y)))
	}
}

// Standardize returns a copy of s whose y is centred and divided by its sample standard deviation (n-1 in the denominator),
// with the Scaling that undoes it. Its YUnit is "sd", standard deviations. X is shared, not copied.
//
// A constant y, or a single observation, has no scale of its own: Scale is then 1 and the result is all zeros, never NaN. An
// empty series gives Scaling{Mean: 0, Scale: 1}. No finite y overflows, with one exception: Scale is the largest float64 if two
// observations are as far apart as float64 reaches.
func (s Series) Standardize() (Series, Scaling) {
	s.mustMatch()
	sc := scalingOf(s.Y)
	z := make([]float64, len(s.Y))
	for i, y := range s.Y {
		z[i] = sc.Standard(y)
	}
	s.Y, s.YUnit = z, "sd"
	return s, sc
}

// Scaling returns the scaling of [Series.Standardize], without a copy of y.
func (s Series) Scaling() Scaling { return scalingOf(s.Y) }

// Scaling is the affine map between an observed y and its standardised z: y = Mean + Scale·z.
type Scaling struct {
	Mean  float64 // in the unit of y
	Scale float64 // in the unit of y, positive
}

// Standard maps an observed value to the standardised scale.
func (sc Scaling) Standard(y float64) float64 {
	if d := y - sc.Mean; !math.IsInf(d, 0) {
		return d / sc.Scale
	}
	return (y/2 - sc.Mean/2) / (sc.Scale / 2) // the difference is beyond float64, its half is not
}

// Value maps a standardised value, such as a posterior mean, back to the unit of y.
func (sc Scaling) Value(z float64) float64 { return sc.Mean + sc.Scale*z }

// Variance maps a variance on the standardised scale back to the squared unit of y. A standard deviation maps by Scale alone.
func (sc Scaling) Variance(v float64) float64 { return sc.Scale * sc.Scale * v }

// Values stores Value of each element of z in dst and returns it. A nil dst is allocated; otherwise dst must have the length
// of z, and may be z itself. It panics if the lengths differ.
func (sc Scaling) Values(dst, z []float64) []float64 { return mapped("Values", dst, z, sc.Value) }

// Variances stores Variance of each element of v in dst and returns it, with the conventions of Values.
func (sc Scaling) Variances(dst, v []float64) []float64 {
	return mapped("Variances", dst, v, sc.Variance)
}

func mapped(method string, dst, src []float64, f func(float64) float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(src))
	}
	if len(dst) != len(src) {
		panic(fmt.Sprintf("dataset: Scaling.%s: len(dst) = %d; want %d", method, len(dst), len(src)))
	}
	for i, v := range src {
		dst[i] = f(v)
	}
	return dst
}

func scalingOf(y []float64) Scaling {
	if len(y) == 0 {
		return Scaling{Mean: 0, Scale: 1}
	}
	// The comparison is exact: summing n equal numbers rounds, and the tiny "deviation" that leaves would be divided by.
	lo, hi := slices.Min(y), slices.Max(y)
	if lo == hi {
		return Scaling{Mean: lo, Scale: 1}
	}
	n := float64(len(y))
	// Sums and differences of larger y could overflow; a power of two scales y without rounding.
	const largest, shrink = 0x1p900, 0x1p-100
	if max(-lo, hi) > largest {
		small := make([]float64, len(y))
		for i, v := range y {
			small[i] = shrink * v
		}
		sc := scalingOf(small)
		return Scaling{Mean: sc.Mean / shrink, Scale: min(sc.Scale/shrink, math.MaxFloat64)}
	}
	var sum float64
	for _, v := range y {
		sum += v
	}
	mean := sum / n
	// A second pass adds up the residuals in units of the largest, so that no square of a tiny one vanishes. Their sum, zero but
	// for rounding, corrects both the mean and the sum of squares.
	unit := max(hi-mean, mean-lo)
	var ss, rest float64
	for _, v := range y {
		d := (v - mean) / unit
		ss += d * d
		rest += d
	}
	scale := unit * math.Sqrt((ss-rest*rest/n)/(n-1))
	if scale == 0 {
		scale = 1 // y varies by less than the smallest number, and is taken as constant
	}
	return Scaling{Mean: mean + unit*rest/n, Scale: scale}
}
