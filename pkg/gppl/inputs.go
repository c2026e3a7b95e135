package gppl

import (
	"fmt"
	"math"
)

// Inputs holds n points of R^d, the x of a Gaussian process. For a time series
// d = 1 and the points are the times. Build it with Scalars or Vectors; the
// values are not copied and must not be changed afterwards.
type Inputs struct {
	d       int
	at      []float64 // row-major, n×d
	columns *columns  // nil: none
}

// Scalars returns the n one-dimensional inputs x: the times of a series, in
// any order, duplicates allowed.
func Scalars(x []float64) Inputs { return Inputs{d: 1, at: x} }

// Vectors returns n inputs of dimension d, stored row by row in x: point i is
// x[i*d : (i+1)*d]. It panics if d < 1 or if len(x) is no multiple of d.
func Vectors(x []float64, d int) Inputs {
	if d < 1 {
		panic(fmt.Sprintf("gppl: Vectors: d = %d, want at least 1", d))
	}
	if len(x)%d != 0 {
		panic(fmt.Sprintf("gppl: Vectors: len(x) = %d is no multiple of d = %d", len(x), d))
	}
	return Inputs{d: d, at: x}
}

// Len returns n, the number of points.
func (x Inputs) Len() int {
	if x.d == 0 {
		return 0
	}
	return len(x.at) / x.d
}

// Dim returns d, the dimension of each point.
func (x Inputs) Dim() int { return x.d }

// At returns point i as a slice of length d that shares the storage of x.
func (x Inputs) At(i int) []float64 { return x.at[i*x.d : (i+1)*x.d] }

// Slice returns the points i, …, j−1, sharing the storage of x.
func (x Inputs) Slice(i, j int) Inputs {
	return Inputs{x.d, x.at[i*x.d : j*x.d], x.columns.each(func(v []float64) []float64 { return v[i:j] })}
}

// Pick returns the points at the given indices, copied.
func (x Inputs) Pick(idx []int) Inputs {
	at := make([]float64, 0, len(idx)*x.d)
	for _, i := range idx {
		at = append(at, x.At(i)...)
	}
	return Inputs{x.d, at, x.columns.each(func(v []float64) []float64 {
		picked := make([]float64, len(idx))
		for k, i := range idx {
			picked[k] = v[i]
		}
		return picked
	})}
}

// Range returns the smallest and the largest coordinate along axis j.
func (x Inputs) Range(j int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range x.Len() {
		v := x.at[i*x.d+j]
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// extent returns the diagonal of the box around x: no distance is larger.
func extent(x Inputs) (d float64) {
	for j := range x.d {
		lo, hi := x.Range(j)
		d = math.Hypot(d, hi-lo)
	}
	return d
}

// check returns an error that names the first bad coordinate.
func (x Inputs) check(arg string) error {
	if x.Len() == 0 {
		return fmt.Errorf("gppl: %s is empty: at least one point is needed", arg)
	}
	for i, v := range x.at {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if x.d == 1 {
				return fmt.Errorf("gppl: %s[%d] = %v is not finite", arg, i, v)
			}
			return fmt.Errorf("gppl: %s[%d][%d] = %v is not finite", arg, i/x.d, i%x.d, v)
		}
	}
	return x.columns.check(arg)
}

// distances sets r, a row-major a.Len()×b.Len() block, to the Euclidean
// distances between the points of a and of b.
func distances(r []float64, a, b Inputs) {
	nb := b.Len()
	if a.d == 1 {
		for i, ai := range a.at {
			row := r[i*nb : (i+1)*nb]
			for j, bj := range b.at[:len(row)] {
				row[j] = math.Abs(ai - bj)
			}
		}
		return
	}
	for i := range a.Len() {
		pi := a.At(i)
		row := r[i*nb : (i+1)*nb]
		for j := range row {
			var s float64
			for c, bc := range b.At(j) {
				t := pi[c] - bc
				s += t * t
			}
			row[j] = math.Sqrt(s)
		}
	}
}

// Data is a validated set of n observations: inputs x and values y. Unless the
// model has a Mean, its mean is zero and y must be centred
// (dataset.Series.Standardize does it).
type Data struct {
	X Inputs
	Y []float64 // length n
	// Errors are the known standard deviations s_i of the errors of individual
	// observations (error bars), in the unit of y, in addition to the noise of the model:
	// Cov(y) = K + σ²I + diag(s²). nil if there are none.
	Errors []float64
	// Relative are errors e_i that are known up to a common scale σ, which is learnt.
	// The noise (including that of White) then has the variance σ²e_i²: Cov(y) = K +
	// σ²diag(e²) + diag(s²). They have no unit and are positive; nil if all are 1.
	Relative []float64
}

// NewData checks and pairs inputs and observations. Nothing is copied and
// neither is ever modified. The error names the argument and the first bad
// index: no points, lengths that differ, NaN or infinite values.
func NewData(x Inputs, y []float64) (Data, error) {
	if err := x.check("x"); err != nil {
		return Data{}, err
	}
	if len(y) != x.Len() {
		return Data{}, fmt.Errorf("gppl: len(y) = %d, but x has %d points", len(y), x.Len())
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Data{}, fmt.Errorf("gppl: y[%d] = %v is not finite", i, v)
		}
	}
	return Data{X: x, Y: y}, nil
}

// WithErrors returns the same observations with known standard deviations of their
// errors. It is an error, with the index, if one is negative or not finite. Nothing is
// copied. Leave out an observation about which nothing is known, instead of giving it a
// huge error.
func (d Data) WithErrors(errors []float64) (Data, error) {
	d.Errors = errors
	return d, d.Check()
}

// WithRelativeErrors returns the same observations with errors e_i that are known up to a
// common scale: the noise variance of observation i is σ²e_i², where σ² is the noise
// variance of the model. For weights w, take e_i = 1/√w_i. A posterior's noisy band at a
// new input has e = 1. It is an error, with the index, if an e_i is not positive and
// finite. Nothing is copied.
func (d Data) WithRelativeErrors(relative []float64) (Data, error) {
	d.Relative = relative
	return d, d.Check()
}

// Check returns an error, with the first bad index, unless the data are what NewData, WithErrors and WithRelativeErrors
// promise. All losses check them.
func (d Data) Check() error {
	if _, err := NewData(d.X, d.Y); err != nil {
		return err
	}
	for _, s := range [][]float64{d.Errors, d.Relative} {
		if s != nil && len(s) != len(d.Y) {
			return fmt.Errorf("gppl: %d errors are given for %d observations", len(s), len(d.Y))
		}
	}
	for i, s := range d.Errors {
		if !(s >= 0 && s*s <= math.MaxFloat64) {
			return fmt.Errorf("gppl: the known error of observation %d is %v: it is to be a standard deviation", i, s)
		}
	}
	for i, e := range d.Relative {
		if !(e*e > 0 && 1/(e*e) > 0 && e > 0) {
			return fmt.Errorf("gppl: the relative error of observation %d is %v: it is to be positive and finite", i, e)
		}
	}
	return nil
}

// leastMagnitude and mostMagnitude bound the magnitudes whose squares, and inverse squares, are numbers with all digits and have room for
// sums and ratios.
const leastMagnitude, mostMagnitude = 1e-150, 1e150

// CheckUnits returns an error if squares of y or of distances within x are beyond float64, or vanish: variances and
// lengthscales then cannot be computed with.
func (d Data) CheckUnits() error {
	if err := d.X.checkUnit(); err != nil {
		return err
	}
	var most float64
	at := 0
	for i, y := range d.Y {
		if a := math.Abs(y); a > most {
			most, at = a, i
		}
	}
	if most > mostMagnitude || most > 0 && most < leastMagnitude {
		return fmt.Errorf("gppl: y[%d] = %v is the largest, and its square is beyond float64, as a variance would be: change the unit of y", at, d.Y[at])
	}
	return nil
}

// checkUnit is an error if the square of the extent of x is beyond float64, or vanishes.
func (x Inputs) checkUnit() error {
	for j := range x.d {
		lo, hi := x.Range(j)
		if span := hi - lo; span > mostMagnitude || span > 0 && span < leastMagnitude {
			return fmt.Errorf("gppl: x reaches from %v to %v, and the square of this range is beyond float64: change the unit of x", lo, hi)
		}
	}
	return nil
}

// knownVariances returns the squares of the known errors, nil if there are none.
func (d Data) knownVariances() []float64 { return squaresOf(d.Errors) }

func squaresOf(x []float64) []float64 {
	if x == nil {
		return nil
	}
	v := make([]float64, len(x))
	for i, s := range x {
		v[i] = s * s
	}
	return v
}

// Len returns n, the number of observations.
func (d Data) Len() int { return len(d.Y) }

// Pick returns the observations at the given indices, copied.
func (d Data) Pick(idx []int) Data {
	y := make([]float64, len(idx))
	for k, i := range idx {
		y[k] = d.Y[i]
	}
	return Data{X: d.X.Pick(idx), Y: y, Errors: pickFloats(d.Errors, idx), Relative: pickFloats(d.Relative, idx)}
}

// pickFloats returns the entries of x at the given indices, copied; nil for nil.
func pickFloats(x []float64, idx []int) []float64 {
	if x == nil {
		return nil
	}
	picked := make([]float64, len(idx))
	for k, i := range idx {
		picked[k] = x[i]
	}
	return picked
}
