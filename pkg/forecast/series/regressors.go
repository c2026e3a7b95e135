package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Known are regressors: columns whose values are known at the observations and, for forecasts, after them.
type Known struct {
	Names  []string    `json:"names"`
	X      []float64   `json:"x"`      // ascending, each once
	Values [][]float64 `json:"values"` // of each regressor, at X
	// Models use (value − Centre)/Scale, with the mean and the standard deviation of the values at the observations.
	Centre []float64 `json:"centre"`
	Scale  []float64 `json:"scale"`
	// Groups are the regressors that models have, by their indices: those of a group are equal at the observations and have one
	// coefficient. One that is in no group follows from others there: their coefficients include what it adds. nil means that each
	// has its own.
	Groups [][]int `json:"groups,omitempty"`
}

// regressorVariance is the prior variance of a regressor's coefficient, both standardised: one that explains all of y has 1.
const regressorVariance = 4

// knownRow is a place where regressors are known.
type knownRow struct {
	x      float64
	values []float64
	line   string // where it was read
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

// join returns the regressors, on their scale, with further rows. After the last observation these replace the known values:
// another scenario, or what was expected.
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
	const rounding = 1e-9 // of the range
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

// errUnknown says that a regressor is not known at the x of a prediction.
var errUnknown = errors.New("a regressor is not known there")

// Inputs returns x with the regressors, if there are any.
func (s *Series) Inputs(x []float64) (gppl.Inputs, error) {
	in := s.withShiftColumns(s.Holidays.inputs(gppl.Scalars(x), s.Axis, x), x)
	if s.Known == nil {
		return in, nil
	}
	for _, group := range s.Known.AllGroups() {
		column := make([]float64, len(x))
		for _, j := range group {
			for i, at := range x {
				v, ok := s.Known.value(j, at)
				if !ok {
					return in, s.unknown(s.Known.Names[j], at)
				}
				column[i] += (v - s.Known.Centre[j]) / s.Known.Scale[j] / float64(len(group))
			}
		}
		in = in.WithColumn(s.Known.GroupName(group), column)
	}
	return in, nil
}

// EffectCount is the number of columns of inputs.
func (s *Series) EffectCount() int {
	n := len(s.Shifts)
	if s.Known != nil {
		n += len(s.Known.AllGroups())
	}
	if s.Holidays != nil {
		n += len(s.Holidays.Names)
	}
	return n
}

func (s *Series) unknown(name string, at float64) error {
	k := s.Known
	return message("forecast: %v: %s is known from %s to %s, not at %s; "+
		"add rows with %s and %s and an empty y to the file, or name a file with such rows: %v",
		errUnknown, name, s.Axis.Text(k.X[0]), s.Axis.Text(k.X[len(k.X)-1]), s.Axis.Text(at),
		cmp.Or(s.Axis.Name, "x"), strings.Join(k.Names, ", "), dataset.Setting{Field: "Future"})
}

// Ahead returns the x after the last observation at which the regressors are known. It panics if there are none.
func (s *Series) Ahead() []float64 {
	last := s.X[len(s.X)-1]
	i := sort.Search(len(s.Known.X), func(i int) bool { return s.Known.X[i] > last })
	return s.Known.X[i:]
}

// WithRegressors adds the regressors of x to a mean, each with its own coefficient; nil parts are none.
func WithRegressors(parts []gppl.Mean, variances []float64, x gppl.Inputs) gppl.Mean {
	for _, name := range x.ColumnNames() {
		parts = append(parts, gppl.Regressor{Name: name})
		variance := float64(regressorVariance)
		if strings.HasPrefix(name, HolidayPrefix) || IsShift(name) {
			variance = 1 // the columns have their scale
		}
		variances = append(variances, variance)
	}
	if len(parts) == 0 {
		return nil
	}
	return gppl.GaussianBeta{Of: gppl.AddMeans(parts...), Variances: variances}
}

// check returns an error for regressors that no series can have; nil is valid.
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

// also returns the further columns to read: the errors first, the sizes, then the regressors.
func (o ReadOptions) also() (columns []string) {
	if o.YError != "" {
		columns = append(columns, o.YError)
	}
	if o.Size != "" {
		columns = append(columns, o.Size)
	}
	return append(columns, o.Regressors...)
}

// checkRoles returns an error if a column has two roles.
func (o ReadOptions) checkRoles(path string, rep dataset.CSVReport) error {
	if rep.X == rep.Y {
		return fmt.Errorf("forecast: %s: x and y are both column %d: choose another for one of them", path, rep.X+1)
	}
	taken := map[int]string{rep.X: "x", rep.Y: "y"}
	for i, col := range rep.Also.Columns {
		role := "a regressor"
		if i == 0 && o.YError != "" {
			role = "the error of y"
		}
		if o.Size != "" && i == o.sizeColumn() {
			role = "the size"
		}
		if before, ok := taken[col]; ok {
			return fmt.Errorf("forecast: %s: column %d (%q) is %s and cannot be %s too: choose another for one of them",
				path, col+1, rep.Also.Names[i], before, role)
		}
		taken[col] = role
	}
	for i, col := range rep.Also.KeyColumns {
		if before, ok := taken[col]; ok {
			return fmt.Errorf("forecast: %s: column %d (%q) is %s and cannot tell series apart too: choose another for one of them",
				path, col+1, rep.Columns[col], before)
		}
		taken[col] = fmt.Sprintf("number %d of the columns that tell series apart", i+1)
	}
	return nil
}

// alsoName returns the name of one of the further columns, or its number if it has none.
func alsoName(m dataset.CSVMore, i int) string {
	return cmp.Or(m.Names[i], fmt.Sprintf("column %d", m.Columns[i]+1))
}

// wrongCells returns an error for invalid errors of y and sizes in rows of the given order (nil: all), and for missing
// regressors; nil if all is well.
func (o ReadOptions) wrongCells(m dataset.CSVMore, order []int) error {
	var wrong dataset.CSVError
	add := func(i int, format string, args ...any) {
		wrong.Add(dataset.CSVProblem{Line: m.Lines[i], Err: fmt.Errorf(format, args...)})
	}
	if order == nil {
		order = timeline.Range(0, len(m.Lines))
	}
	for _, i := range order {
		if o.YError == "" {
			break
		}
		name := alsoName(m, 0)
		switch v := m.Values[0][i]; {
		case math.IsNaN(v):
			add(i, "the error of y (%s) is missing although the row has a y: fill it in, or leave y of that row empty too", name)
		case v < 0:
			add(i, "the error of y (%s) is %v: a standard deviation is positive", name, v)
		case v == 0:
			add(i, "the error of y (%s) is 0, but no observation is exact: write the smallest possible error, or remove the row", name)
		}
	}
	first := len(m.Names) - len(o.Regressors)
	for j, name := range o.regressorNames(m) {
		for i, v := range m.Values[first+j] {
			if math.IsNaN(v) {
				add(i, "the regressor %s is missing although the row has a y: fill it in, or leave y of that row empty too", name)
			}
		}
	}
	if o.Size != "" {
		at := o.sizeColumn()
		name := alsoName(m, at)
		for _, i := range order {
			switch v := m.Values[at][i]; {
			case math.IsNaN(v):
				add(i, "the size (%s) is missing although the row has a y: fill it in, or leave y of that row empty too", name)
			case !(v > 0):
				add(i, "the size (%s) is %v: want a positive number", name, v)
			}
		}
	}
	if len(wrong.Problems) == 0 {
		return nil
	}
	return &wrong
}

// sizeColumn returns the index of the sizes among the further columns.
func (o ReadOptions) sizeColumn() int {
	if o.YError != "" {
		return 1
	}
	return 0
}

// regressorNames returns their names in the header, or numbers.
func (o ReadOptions) regressorNames(m dataset.CSVMore) (names []string) {
	for i := len(m.Names) - len(o.Regressors); i < len(m.Names); i++ {
		names = append(names, alsoName(m, i))
	}
	return names
}

// setKnown sets the regressors: at the observations, from rows without y, and from the future file if there is one.
func (s *Series) setKnown(o ReadOptions, rep dataset.CSVReport, x []float64) error {
	m := rep.Also
	first, names := len(m.Names)-len(o.Regressors), o.regressorNames(m)
	var rows []knownRow
	add := func(x float64, line string, columns [][]float64, i int) {
		// Rows that lack a regressor are left out.
		if r := knownRowAt(s.Axis.place(x), columns, i, line); !slices.ContainsFunc(r.values, math.IsNaN) {
			rows = append(rows, r)
		}
	}
	for i, at := range x {
		add(at, fmt.Sprintf("line %d", m.Lines[i]), m.Values[first:], i)
	}
	for i, at := range m.OpenX {
		before := len(rows)
		add(at, fmt.Sprintf("line %d", m.OpenLines[i]), m.OpenValues[first:], i)
		if len(rows) > before && rows[before].x > s.X[len(s.X)-1] {
			s.Source.Ahead++
		}
	}
	if o.Future != "" {
		future, err := o.futureOf(names, rep)
		if err != nil {
			return futureError{err}
		}
		for i, at := range future.x {
			add(at, fmt.Sprintf("%s, line %d", dataset.Shown(o.Future), future.lines[i]), future.values, i)
		}
	}
	var err error
	s.Known, err = newKnown(names, rows)
	return err
}

// futureOf returns the future values of regressors.
func (o ReadOptions) futureOf(names []string, rep dataset.CSVReport) (futureRows, error) {
	if o.future != nil {
		return *o.future, nil
	}
	if name := rep.Columns[rep.X]; name != "" && !o.NoHeader {
		o.X = name
	}
	if rep.Headless {
		names = o.Regressors // by their numbers
	}
	return readFuture(o, names, rep.Time, true)
}

// AddFuture adds the values of the regressors in a csv file to the known ones; after the last observation they replace them. The
// options say how the file is written; o.X is the column of x, by default the one with the name of the axis.
func (s *Series) AddFuture(path string, o ReadOptions) error {
	k, name := s.Known, dataset.Shown(path)
	if k == nil {
		return errors.New("forecast: the model has no regressors, so it needs no future values")
	}
	if o.NoHeader {
		return fmt.Errorf("forecast: %s needs a header: its columns are found by their names, %s and %s",
			name, s.Axis.Name, strings.Join(k.Names, ", "))
	}
	o.By = nil
	o.X, o.Regressors, o.Future = cmp.Or(o.X, s.Axis.Name), k.Names, path
	future, err := readFuture(o, k.Names, o.Time, s.Axis.Dates)
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	if err := s.checkDates(future.dates, future.lines[0], future.x[0]); err != nil {
		return fmt.Errorf("forecast: %s, %w", name, err)
	}
	var rows []knownRow
	for i, x := range future.x {
		rows = append(rows, knownRowAt(s.Axis.place(x), future.values, i, fmt.Sprintf("%s, line %d", name, future.lines[i])))
	}
	added, err := k.join(rows, s.X[len(s.X)-1])
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	s.Known = added
	return nil
}

// futureError is an error in the file of future values, not in that of the observations.
type futureError struct{ error }

// futureRows are the regressors in a file of future values.
type futureRows struct {
	x      []float64 // in seconds if they are dates
	lines  []int
	values [][]float64
	dates  bool
	of     map[string][]int // the rows of each key of ReadOptions.By
}

// readFuture reads regressors from a file without y: the column of x by its name or number in o, the others by name. Unless dates
// is set, numbers do not stand for dates.
func readFuture(o ReadOptions, names []string, format dataset.TimeFormat, dates bool) (futureRows, error) {
	opt := o.csv()
	if o.NoHeader {
		names = o.Regressors
	}
	opt.Y, opt.Also, opt.Time, opt.NumberDates = names[0], names, format, dates
	s, rep, err := dataset.ReadCSVReport(context.Background(), o.Future, opt)
	if err != nil {
		return futureRows{}, errors.New(strings.TrimPrefix(err.Error(), "dataset: "))
	}
	if s.Len() == 0 {
		return futureRows{}, errors.New("no rows")
	}
	f := futureRows{s.X, rep.Also.Lines, rep.Also.Values, rep.Time != dataset.TimeNumber,
		rowsOf(rep.Also.KeyTexts, rep.Also.Keys, s.Len()).of}
	for j, values := range f.values {
		for i, v := range values {
			if math.IsNaN(v) {
				return f, fmt.Errorf("%s, line %d: the regressor %s is missing", dataset.Shown(o.Future), f.lines[i], names[j])
			}
		}
	}
	return f, nil
}
