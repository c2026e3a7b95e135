package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/kmeans"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// Inputs holds n points of R^d, the x of a Gaussian process. For a time series d = 1 and the points are the times. Build it with
// Scalars or Vectors; the values are not copied until a loss or a projection is made from them.
type Inputs struct {
	d       int
	at      []float64 // row-major, n×d
	columns *columns  // nil without columns
}

// Scalars returns the n one-dimensional inputs x: the times of a series, in any order, duplicates allowed.
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

// String returns the number of points and their range, but no points.
func (x Inputs) String() string {
	n := x.Len()
	switch {
	case n == 0:
		return "no inputs"
	case x.d > 1:
		return fmt.Sprintf("%d inputs of dimension %d", n, x.d)
	}
	return fmt.Sprintf("%d inputs from %.6g to %.6g", n, slices.Min(x.at), slices.Max(x.at))
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
	return Inputs{x.d, at, x.columns.each(func(v []float64) []float64 { return timeline.Pick(v, idx) })}
}

// clone returns a copy that nothing outside refers to.
func (x Inputs) clone() Inputs {
	return Inputs{x.d, slices.Clone(x.at), x.columns.each(slices.Clone[[]float64])}
}

// Coordinate returns coordinate j of each point, copied: the times of a series for j = 0.
func (x Inputs) Coordinate(j int) []float64 {
	v := make([]float64, x.Len())
	for i := range v {
		v[i] = x.at[i*x.d+j]
	}
	return v
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

// Check returns an error if there is no point, or one that names the first coordinate or value of a column that is not finite.
func (x Inputs) Check() error { return x.check("x") }

// check returns an error that names the first bad coordinate.
func (x Inputs) check(arg string) error {
	if x.Len() == 0 {
		return fmt.Errorf("gppl: %s is empty: at least one point is needed", arg)
	}
	if i := numeric.FirstNotFinite(x.at); i >= 0 && x.d == 1 {
		return fmt.Errorf("gppl: %s[%d] = %v is not finite", arg, i, x.at[i])
	} else if i >= 0 {
		return fmt.Errorf("gppl: %s[%d][%d] = %v is not finite", arg, i/x.d, i%x.d, x.at[i])
	}
	return x.columns.check(arg)
}

// distances sets r, a row-major a.Len()×b.Len() block, to the Euclidean distances between the points of a and of b.
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
	clear(r[:a.Len()*nb])
	var axis [64]float64 // coordinates of some points of b
	for first := 0; first < nb; first += len(axis) {
		points := axis[:min(len(axis), nb-first)]
		for c := range a.d {
			for j := range points {
				points[j] = b.at[(first+j)*b.d+c]
			}
			for i := range a.Len() {
				vexp.AddSquares(r[i*nb+first:][:len(points)], a.at[i*a.d+c], points)
			}
		}
	}
	vexp.Roots(r[:a.Len()*nb])
}

// shifted returns x with one coordinate of all points shifted.
func (x Inputs) shifted(axis int, by float64) Inputs {
	x.at = slices.Clone(x.at)
	for i := axis; i < len(x.at); i += x.d {
		x.at[i] += by
	}
	return x
}

// checkUnit returns an error if the square of the extent of x overflows or vanishes in float64.
func (x Inputs) checkUnit() error {
	for j := range x.d {
		lo, hi := x.Range(j)
		if span := hi - lo; span > mostMagnitude || span > 0 && span < leastMagnitude {
			return fmt.Errorf("gppl: x reaches from %v to %v, and the square of this range is beyond float64: change the unit of x",
				lo, hi)
		}
	}
	return nil
}

// columns are named values that inputs carry beside their coordinates. Kernels ignore them; the Regressors of a mean read
// them. They are immutable.
type columns struct {
	names  []string
	values [][]float64 // n values each
}

// WithColumn returns x with a named column, one value per point: a regressor for the mean of a model (Regressor). The column
// is not a coordinate, and does not count for Dim or for distances. It replaces a column of the same name. The values are not
// copied and must not be changed afterwards. Slice and Pick keep the columns. WithColumn panics if the name is empty or the
// number of values differs from the number of points.
//
// Predictions need the column as well: the regressor must be known, or assumed, at every new input.
func (x Inputs) WithColumn(name string, values []float64) Inputs {
	if name == "" {
		panic("gppl: Inputs.WithColumn: the name is empty")
	}
	if len(values) != x.Len() {
		panic(fmt.Sprintf("gppl: Inputs.WithColumn: %q has %d values, but there are %d points", name, len(values), x.Len()))
	}
	c := &columns{}
	if x.columns != nil {
		c.names, c.values = slices.Clone(x.columns.names), slices.Clone(x.columns.values)
	}
	if i := slices.Index(c.names, name); i >= 0 {
		c.values[i] = values
	} else {
		c.names, c.values = append(c.names, name), append(c.values, values)
	}
	x.columns = c
	return x
}

// Column returns the column of that name, with one value per point; it shares the storage of x. ok is false if there is none.
func (x Inputs) Column(name string) (values []float64, ok bool) {
	if x.columns == nil {
		return nil, false
	}
	i := slices.Index(x.columns.names, name)
	if i < 0 {
		return nil, false
	}
	return x.columns.values[i], true
}

// ColumnNames returns the names of the columns of x, in the order in which they were added.
func (x Inputs) ColumnNames() []string {
	if x.columns == nil {
		return nil
	}
	return slices.Clone(x.columns.names)
}

// each returns the columns with f applied to the values of each.
func (c *columns) each(f func([]float64) []float64) *columns {
	if c == nil {
		return nil
	}
	of := &columns{names: c.names}
	for _, v := range c.values {
		of.values = append(of.values, f(v))
	}
	return of
}

// check returns an error that names the first value which is not finite.
func (c *columns) check(arg string) error {
	if c == nil {
		return nil
	}
	for j, values := range c.values {
		if i := numeric.FirstNotFinite(values); i >= 0 {
			return fmt.Errorf("gppl: column %q of %s[%d] = %v is not finite", c.names[j], arg, i, values[i])
		}
	}
	return nil
}

// KMeans returns m centres of the inputs x: seeded by k-means++ (Arthur and Vassilvitskii 2007) and refined by Lloyd's
// iteration until no point changes its centre, at most 100 times. They are good inducing inputs to start VFE from. On the line
// the centres are ascending. Time is O(nm) for the seeding and per iteration; on the line, O(n log m) per iteration. KMeans
// returns an error if m is not in 1, …, n or if x has fewer than m distinct points.
func (x Inputs) KMeans(ctx context.Context, m int, seed uint64) (z Inputs, err error) {
	defer parallel.Stopped(&err)
	if err := x.check("x"); err != nil {
		return Inputs{}, err
	}
	if n := x.Len(); m < 1 || m > n {
		return Inputs{}, fmt.Errorf("gppl: m = %d centres of n = %d points: want 1 ≤ m ≤ n", m, n)
	}
	centres, err := kmeans.Centres(ctx, x.at, x.d, m, seed)
	if err != nil {
		return Inputs{}, fmt.Errorf("gppl: %w", err)
	}
	return Inputs{d: x.d, at: centres}, nil
}
