package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Further holds observations after the last one of a series.
type Further struct {
	X, Y, Errors, Sizes []float64
	Source              Addition
	Already             int // rows of the file that the series already has

	known *Known // all known values of the regressors; nil for none
}

// ReadFurther reads the rows of a csv file that come after the last observation, for models of y, or of log y if log is set. The
// file has the columns of the series, with their names; o says how it is written, and o.X and o.Y may name other columns. Of the
// rest of o only Pooled is used: without it a table of several series is an error, as for [Read]. Rows that are already in the
// series are left out. Any other row that is not after the last observation is an error.
func (s *Series) ReadFurther(path string, o ReadOptions, log bool) (*Further, error) {
	name := dataset.Shown(path)
	if s.Student != nil {
		return nil, fmt.Errorf("%w: fit again with the new ones", errStudent)
	}
	if o.NoHeader && (s.Errors != nil || s.Known != nil || s.Counting != nil && s.Counting.Sizes != nil) {
		return nil, fmt.Errorf("%s needs a header: the columns beside x and y are found by their names", name)
	}
	o = s.columns(o)
	if err := o.fits(path); err != nil {
		return nil, err
	}
	opt := o.csv()
	opt.NumberDates = s.Axis.Dates
	d, rep, err := dataset.ReadCSVReport(context.Background(), path, opt)
	if err != nil {
		return nil, err
	}
	if err := o.checkRoles(name, rep); err != nil {
		return nil, err
	}
	wrap := func(err error) error { return fmt.Errorf("%s: %w", name, err) }
	if err := o.OneSeries(rep); err != nil {
		return nil, wrap(err)
	}
	if d.Len() == 0 {
		return nil, wrap(errors.New("there is no row with an x and a y"))
	}
	if err := s.checkDates(rep.Time != dataset.TimeNumber, rep.Also.Lines[0], d.X[0]); err != nil {
		return nil, wrap(err)
	}
	if err := o.wrongCells(rep.Also, nil); err != nil {
		return nil, wrap(err)
	}
	r := &Further{Source: Addition{File: d.Name, SHA256: rep.SHA256}}
	order, err := s.later(d, rep, r)
	if err != nil {
		return nil, wrap(err)
	}
	for _, i := range order {
		r.X, r.Y = append(r.X, s.Axis.place(d.X[i])), append(r.Y, d.Y[i])
	}
	if o.YError != "" {
		r.Errors = timeline.Pick(rep.Also.Values[0], order)
	}
	if o.Size != "" {
		r.Sizes = timeline.Pick(rep.Also.Values[o.sizeColumn()], order)
	}
	check := func(i int, v float64) error { return s.takes(v, SizeAt(r.Sizes, i), log) }
	if err := wrongValues(r.Y, rep.Also, order, check); err != nil {
		return nil, wrap(err)
	}
	if s.Known != nil {
		if r.known, err = s.alsoKnown(o, rep, d.X, len(order) > 0); err != nil {
			return nil, wrap(err)
		}
	}
	r.Source.Observations = len(r.X)
	return r, nil
}

// NewFurther returns observations y at ascending x, after the last one, from columns instead of a file. errs are their known
// errors; nil for none. log says that models describe log y.
func (s *Series) NewFurther(x, y, errs []float64, log bool) (*Further, error) {
	if s.Student != nil {
		return nil, fmt.Errorf("%w: fit again with the new ones", errStudent)
	}
	if (errs == nil) != (s.Errors == nil) || s.Counting != nil && s.Counting.Sizes != nil {
		return nil, errors.New("the new observations need what the series has: errors, or sizes (Update)")
	}
	last := s.X[len(s.X)-1]
	for i, v := range x {
		if !(v >= last && v <= Largest) {
			return nil, fmt.Errorf("x[%d] = %v is not after the observation before it, at %v", i, v, last)
		}
		last = v
		if err := s.takes(y[i], 1, log); err != nil {
			return nil, fmt.Errorf("y[%d]: %w", i, err)
		}
		if errs != nil && !(errs[i] > 0 && errs[i] <= Largest) {
			return nil, fmt.Errorf("the error of y[%d] is %v: want a positive number", i, errs[i])
		}
	}
	return &Further{X: x, Y: y, Errors: errs, Source: Addition{Observations: len(x)}}, nil
}

// With returns the series with the first count of some further observations.
func (s *Series) With(r *Further, count int) *Series {
	t := *s
	t.X, t.Y = slices.Concat(t.X, r.X[:count]), slices.Concat(t.Y, r.Y[:count])
	if t.Errors != nil {
		t.Errors = slices.Concat(t.Errors, r.Errors[:count])
	}
	if t.Counting != nil {
		c := *t.Counting
		if t.Counting = &c; c.Sizes != nil {
			c.Sizes = slices.Concat(c.Sizes, r.Sizes[:count])
		}
	}
	if r.known != nil {
		t.Known = r.known
	}
	if count > 0 {
		added := r.Source
		added.Observations = count
		t.Added = append(slices.Clone(t.Added), added)
	}
	t.Gaps, t.Absent, t.Duplicates = nil, 0, nil
	t.spacing()
	return &t
}

// takes returns an error for a value, with its size, that the series cannot have; if log is set, for one that log y cannot have.
func (s *Series) takes(y, size float64, log bool) error {
	if !(math.Abs(y) <= Largest) {
		return fmt.Errorf("%v is beyond ±%g", y, Largest)
	}
	if s.Counting != nil {
		return s.Counting.check(y, size)
	}
	if s.Bounds != nil {
		if err := s.Bounds.holds(y); err != nil {
			return err
		}
	}
	if log && !s.Censored() {
		if g := s.Warp().Forward(y); !numeric.IsFinite(g) {
			if s.Bounds != nil {
				return fmt.Errorf("%v is at a bound, where the model has no observations: fit again", y)
			}
			return fmt.Errorf("%v has no logarithm, and the model is of the logarithm: fit again", y)
		}
	}
	return nil
}

// columns returns the options with the names of the columns of the series.
func (s *Series) columns(o ReadOptions) ReadOptions {
	named := func(name string) string {
		if o.NoHeader || !slices.Contains(s.Source.Columns, name) {
			return ""
		}
		return name
	}
	o.X = cmp.Or(o.X, named(s.Axis.column()))
	o.Backward = s.Axis.Backward
	if o.Y == "" {
		for _, column := range s.Source.Columns {
			if name, _, _ := splitUnit(column); name == s.YName || column == s.YName {
				o.Y = named(column)
			}
		}
	}
	o.YError, o.Size, o.Regressors, o.By, o.Future = s.ErrorName, "", nil, nil, ""
	if s.Counting != nil {
		o.Size = s.Counting.SizeName
	}
	if s.Known != nil {
		o.Regressors = s.Known.Names
	}
	return o
}

// later returns the indices, in the order of x, of rows after the end of the series. Any other row must be in the series already.
func (s *Series) later(d dataset.Series, rep dataset.CSVReport, r *Further) (order []int, err error) {
	last := s.X[len(s.X)-1]
	var wrong dataset.CSVError
	for _, i := range timeline.Ascending(d.X) {
		x := s.Axis.place(d.X[i])
		at := sort.SearchFloat64s(s.X, x)
		same := false
		for ; at < len(s.X) && s.X[at] == x && !same; at++ {
			same = s.Y[at] == d.Y[i]
		}
		switch {
		case same || x < s.X[0] && s.Source.Dropped > 0:
			r.Already++
		case x > last || x == last && len(s.Duplicates) > 0:
			order = append(order, i)
		default:
			wrong.Add(dataset.CSVProblem{Line: rep.Also.Lines[i], Err: fmt.Errorf("%s = %v at %s is not among the observations "+
				"of the model, and not after the last of them, at %s: fit again with all rows",
				s.YName, d.Y[i], s.Axis.Text(x), s.Axis.Text(last))})
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	return order, nil
}

// alsoKnown joins the known values of the regressors with the rows of a file, which may include new observations.
func (s *Series) alsoKnown(o ReadOptions, rep dataset.CSVReport, x []float64, observed bool) (*Known, error) {
	read, last := &Series{Axis: s.Axis, X: s.X, Source: s.Source}, s.X[len(s.X)-1]
	if err := read.setKnown(o, rep, x); err != nil {
		return nil, err
	}
	var rows []knownRow
	for i, x := range read.Known.X {
		if x > last || x == last && observed {
			rows = append(rows, knownRowAt(x, read.Known.Values, i, "the file"))
		}
	}
	return s.Known.join(rows, last)
}
