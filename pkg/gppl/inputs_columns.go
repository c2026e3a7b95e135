package gppl

import (
	"fmt"
	"math"
	"slices"
)

// columns are named values that inputs carry beside their coordinates. Kernels do not
// see them; the Regressors of a mean do. They do not change.
type columns struct {
	names  []string
	values [][]float64 // n each
}

// WithColumn returns x with a named column, one value per point: a regressor for the
// mean of a model (Regressor). The column is not a coordinate, and does not count for
// Dim or for distances. It replaces a column of the same name. The values are not
// copied and must not be changed afterwards. Slice and Pick keep the columns. It panics
// if the name is empty or the number of values is not that of the points.
//
// Forecasts need the column as well: the regressor must be known, or assumed, at every
// input of a prediction.
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

// Column returns the column of that name, with one value per point; it shares the
// storage of x. ok is false if there is none.
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

// ColumnNames returns the names of the columns of x, in the order in which they were
// added.
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
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("gppl: column %q of %s[%d] = %v is not finite", c.names[j], arg, i, v)
			}
		}
	}
	return nil
}
