package series

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Known are regressors: columns whose values are known at the observations and, for forecasts, after them.
type Known struct {
	Names  []string    `json:"names"`
	X      []float64   `json:"x"`      // ascending and distinct
	Values [][]float64 `json:"values"` // for each regressor, at X
	// Models use (value − Centre)/Scale, with the mean and the standard deviation of the values at the observations.
	Centre []float64 `json:"centre"`
	Scale  []float64 `json:"scale"`
	// Groups lists the regressors that models have, by index: the regressors of a group are equal at the observations and share
	// one coefficient. A regressor in no group depends linearly on others there, whose coefficients include its effect. nil
	// means that each has a coefficient of its own.
	Groups [][]int `json:"groups,omitempty"`
}

// knownRow is a place where regressors are known.
type knownRow struct {
	x      float64
	values []float64
	line   string // place where it was read
}

// knownRowAt is the i-th row of columns.
func knownRowAt(x float64, columns [][]float64, i int, line string) knownRow {
	r := knownRow{x: x, line: line}
	for _, column := range columns {
		r.values = append(r.values, column[i])
	}
	return r
}

// newKnown makes regressors from rows in any order. Rows with equal x must have equal values.
func newKnown(names []string, rows []knownRow) (*Known, error) {
	slices.SortStableFunc(rows, func(a, b knownRow) int { return cmp.Compare(a.x, b.x) })
	k := &Known{Names: names, Values: make([][]float64, len(names))}
	var last knownRow
	for _, r := range rows {
		if n := len(k.X); n > 0 && k.X[n-1] == r.x {
			for j, name := range names {
				if r.values[j] != last.values[j] {
					return nil, fmt.Errorf("%s is %v in %s and %v in %s, at the same x: a regressor has one value at each x",
						name, last.values[j], last.line, r.values[j], r.line)
				}
			}
			continue
		}
		k.X = append(k.X, r.x)
		for j, v := range r.values {
			k.Values[j] = append(k.Values[j], v)
		}
		last = r
	}
	return k, nil
}

// join returns the regressors, on their scale, with further rows. After the last observation the rows replace the known values,
// which may be another scenario, or what was expected earlier.
func (k *Known) join(rows []knownRow, last float64) (*Known, error) {
	replaced := map[float64]bool{}
	for _, r := range rows {
		replaced[r.x] = r.x > last
	}
	var all []knownRow
	for i, x := range k.X {
		if !replaced[x] {
			all = append(all, knownRowAt(x, k.Values, i, "the model"))
		}
	}
	joined, err := newKnown(k.Names, append(all, rows...))
	if err == nil {
		joined.Centre, joined.Scale, joined.Groups = k.Centre, k.Scale, k.Groups
	}
	return joined, err
}

// standardise sets Centre and Scale by the values at the observations.
func (k *Known) standardise(x []float64) error {
	for j, name := range k.Names {
		var sum, squares float64
		at := make([]float64, len(x))
		for i := range x {
			at[i], _ = k.value(j, x[i])
			sum += at[i]
		}
		mean := sum / float64(len(x))
		for _, v := range at {
			squares += (v - mean) * (v - mean)
		}
		sd := math.Sqrt(squares / float64(len(x)))
		if slices.Min(at) == slices.Max(at) || !(sd > 0) {
			return fmt.Errorf("the regressor %s is %v in all rows that have a y, so it explains nothing: leave it out", name, at[0])
		}
		k.Centre, k.Scale = append(k.Centre, mean), append(k.Scale, sd)
	}
	return nil
}

// value returns a regressor at x, interpolated between its neighbours; ok is false outside the range where it is known.
func (k *Known) value(j int, x float64) (v float64, ok bool) {
	const rounding = 1e-9 // share of the range
	n := len(k.X)
	i := sort.SearchFloat64s(k.X, x)
	if i < n && k.X[i] == x {
		return k.Values[j][i], true
	}
	slack := rounding * (k.X[n-1] - k.X[0])
	switch {
	case i == 0:
		return k.Values[j][0], k.X[0]-x <= slack
	case i == n:
		return k.Values[j][n-1], x-k.X[n-1] <= slack
	}
	t := (x - k.X[i-1]) / (k.X[i] - k.X[i-1])
	return k.Values[j][i-1] + t*(k.Values[j][i]-k.Values[j][i-1]), true
}

// check returns an error for impossible regressors; nil is valid.
func (k *Known) check() error {
	if k == nil {
		return nil
	}
	if len(k.Names) == 0 || len(k.Values) != len(k.Names) || len(k.Centre) != len(k.Names) ||
		len(k.Scale) != len(k.Names) || len(k.X) == 0 {
		return errors.New("the regressors are incomplete")
	}
	seen := map[int]bool{}
	for _, group := range k.Groups {
		for _, j := range group {
			if j < 0 || j >= len(k.Names) || seen[j] {
				return errors.New("the groups of regressors do not fit")
			}
			seen[j] = true
		}
		if len(group) == 0 {
			return errors.New("a group of regressors is empty")
		}
	}
	for i, x := range k.X {
		if !(math.Abs(x) <= Largest) || i > 0 && !(x > k.X[i-1]) {
			return fmt.Errorf("the regressors are known at x = %v, which is not above the one before", x)
		}
	}
	for j, name := range k.Names {
		if name == "" || slices.Contains(k.Names[:j], name) || !(k.Scale[j] > 0) ||
			!(math.Abs(k.Centre[j]) <= Largest) || len(k.Values[j]) != len(k.X) {
			return fmt.Errorf("the regressor %q is incomplete", name)
		}
		for _, v := range k.Values[j] {
			if !(math.Abs(v) <= Largest) {
				return fmt.Errorf("the regressor %q has the value %v", name, v)
			}
		}
	}
	return nil
}
