package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Read reads a series from a csv file, or from standard input if the path is dataset.StandardInput. Rows without x or y are
// counted and left out; rows are sorted by x. If all x are numbers and ReadOptions.Time does not say how they are written, Read
// recognises Unix times in one unit between 1973 and 2096, and dates written 20240131 or 202401 (dataset.CSVOptions.NumberDates).
// Unless there are regressors, it also makes steps equal that differ only by rounding or by the lengths of months; Notes then
// says so. Copies of rows, exact or but for the last digits of y, count once, and Notes says how many there are.
//
// The error for a missing file, a missing column or a cell that is not a number names file, line and column and quotes what is
// there. At least five observations at three different x are needed, and a y that does not vary is a [ConstantError]. Numbers may
// be up to 1e140 in size; the range of x and the standard deviation of y must be above 1e-140.
//
// It is an error if a table holds several series, in which x repeat and a column distinguishes the rows of an x, unless
// ReadOptions.Pooled is set. The error names the column.
func Read(ctx context.Context, path string, o ReadOptions) (*Series, error) {
	o.By = nil
	s, rep, err := read(ctx, path, o)
	if err != nil {
		return nil, err
	}
	out, err := o.series(dataset.Shown(path), s, rep)
	if err == nil || errors.As(err, new(*ConstantError)) {
		if several := o.OneSeries(rep); several != nil {
			return nil, fmt.Errorf("%s: %w", dataset.Shown(path), several)
		}
	}
	if err != nil {
		return nil, err
	}
	out.remarks = append(out.remarks, o.unused(rep)...)
	return out, nil
}

// read reads the rows of a file if they fit the memory.
func read(ctx context.Context, path string, o ReadOptions) (s dataset.Series, rep dataset.CSVReport, err error) {
	if err := o.fits(path); err != nil {
		return s, rep, err
	}
	s, rep, err = dataset.ReadCSVReport(ctx, path, o.csv())
	if bad := (*dataset.CSVError)(nil); errors.As(err, &bad) && len(rep.Also.Lines) > 0 {
		if more := (*dataset.CSVError)(nil); errors.As(o.wrongCells(rep.Also, nil), &more) {
			bad.Add(more.Problems...)
			bad.More += more.More
			err = fmt.Errorf("%s: %w", dataset.Shown(path), bad)
		}
	}
	if errors.Is(err, dataset.ErrTooManyRows) {
		what := fmt.Sprintf("reading more than %d rows of %s", o.mostRows(), dataset.Shown(path))
		err = &gppl.MemoryError{What: what, Needed: o.Memory, Limit: o.Memory}
	}
	return s, rep, err
}

// series makes a series of the rows of a file. Messages call the file path.
func (o ReadOptions) series(path string, s dataset.Series, rep dataset.CSVReport) (*Series, error) {
	if err := o.checkRoles(path, rep); err != nil {
		return nil, err
	}
	out, err := o.fromRows(s, rep)
	if err == nil || errors.As(err, &futureError{}) {
		return out, err
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// fromRows does as series, with errors that do not name the file.
func (o ReadOptions) fromRows(s dataset.Series, rep dataset.CSVReport) (*Series, error) {
	out := &Series{
		Source: Source{File: s.Name, SHA256: rep.SHA256, Rows: rep.Rows, Skipped: rep.Skipped, Columns: rep.Columns},
		YName:  cmp.Or(s.YName, "y"), YUnit: cmp.Or(o.YUnit, rep.Unit), remarks: Remarks(rep),
	}
	if name, unit, ok := splitUnit(out.YName); ok && o.YUnit == "" {
		out.YName, out.YUnit = name, unit
	}
	var all []float64 // x of all rows of the file in its unit, which regressors need
	if len(o.Regressors) > 0 {
		all = slices.Clone(s.X)
	}
	s, order := out.arrange(o, s, rep)

	constant := (*ConstantError)(nil) // returned when the series is complete
	if err := checkLength(s); errors.As(err, &constant) {
		if o.Y == "" && len(rep.Columns) > 2 {
			constant.other = message("y is the column %q; %v chooses another", rep.Columns[rep.Y],
				dataset.Setting{Field: "Y", Value: "NAME"})
			out.remarks = append(out.remarks, message("%v.", constant.other))
		}
	} else if err != nil {
		return nil, err
	}
	if err := o.noTime(s, rep, out.Source.Unsorted); err != nil {
		return nil, err
	}
	if err := o.wrongCells(rep.Also, order); err != nil {
		return nil, err
	}
	if err := out.setY(o, s.Y, rep.Also, order); err != nil {
		return nil, err
	}
	if err := o.backward(s.XName, rep, out.Source.Unsorted); err != nil {
		return nil, err
	}
	rounding := ulp(max(-s.X[0], s.X[len(s.X)-1])) // error of x as it was read
	out.setX(o, s, rep)
	if out.Axis.Dates {
		rounding /= unitSeconds[out.Axis.Unit]
	}
	if err := out.setEffects(o, rep, all); err != nil {
		return nil, err
	}
	const exact = 100 // number of steps after which the median distance is known to 1 %
	if out.Step < exact*rounding {
		out.remarks = append(out.remarks, message("x is rounded to multiples of %s, which is coarse for observations %s apart: "+
			"measure x from the first observation.", out.Axis.Length(rounding), out.Axis.Length(out.Step)))
	}
	if constant != nil {
		constant.Series = out
		return nil, constant
	}
	return out, nil
}

// arrange returns the rows in ascending order of x, the latest o.Last of them, without copies, and their places in the file,
// nil if all rows are as they were read.
func (out *Series) arrange(o ReadOptions, s dataset.Series, rep dataset.CSVReport) (_ dataset.Series, order []int) {
	for i := 1; i < len(s.X); i++ {
		if s.X[i] < s.X[i-1] {
			out.Source.Unsorted++
		}
	}
	if out.Source.Unsorted > 0 || o.Last > 0 && s.Len() > o.Last || o.YError != "" || o.Size != "" {
		order = timeline.Ascending(s.X)
		if o.Last > 0 && len(order) > o.Last {
			out.Source.Dropped = len(order) - o.Last
			order = order[out.Source.Dropped:]
		}
		s = s.Select(order)
	}
	if kept, copies, inexact := withoutCopies(s, rep.Also, order); copies > 0 {
		if order == nil {
			order = kept
		} else {
			order = timeline.Pick(order, kept)
		}
		s, out.Source.Copies = s.Select(kept), copies-inexact
		if inexact > 0 {
			out.remarks = append(out.remarks, message("%s of %d %s from another with the same x only in the last digits of y: "+
				"each row counts once.", text.Count(inexact, "row"), rep.Rows-rep.Skipped, text.Choose(inexact, "differs", "differ")))
		}
	}
	return s, order
}

// setY sets y with what is known of each: its error, the size that it counts in, and its bounds.
func (out *Series) setY(o ReadOptions, y []float64, also dataset.CSVMore, order []int) error {
	if o.YError != "" {
		out.Errors, out.ErrorName, out.Relative = timeline.Pick(also.Values[0], order), alsoName(also, 0), o.RelativeErrors
	}
	if err := out.setCounting(o, y, also, order); err != nil {
		return err
	}
	bounds := dataset.Setting{Field: "Bounds"}
	if o.Bounds != nil {
		if err := wrongValues(y, also, order, func(_ int, v float64) error { return o.Bounds.holds(v) }); err != nil {
			return message("%v says what y cannot leave: %v", bounds, err)
		}
	}
	out.Y = y
	if b := cmp.Or(o.Bounds, out.Bounds); b != nil {
		out.setBounds(*b)
	}
	if out.Censored() && out.Errors != nil {
		return message("%v with one bound is of censored values, which are not combined with the errors in %s: leave one of them out",
			bounds, out.ErrorName)
	}
	return nil
}

// setX sets x in the unit of the axis.
func (out *Series) setX(o ReadOptions, s dataset.Series, rep dataset.CSVReport) {
	out.X = s.X
	if rep.Time == dataset.TimeNumber {
		out.Axis = Axis{Name: cmp.Or(s.XName, "x"), Unit: cmp.Or(o.XUnit, unitOf(s.XName, s.X))}
		if o.Backward {
			out.Axis.Name, out.Axis.Backward = "−"+out.Axis.Name, true
		}
		if o.Time == "" && len(o.Regressors) == 0 {
			out.takeEven()
		}
		return
	}
	out.Axis = DateAxis(cmp.Or(s.XName, "date"), s.X)
	out.Axis.takePeriod(rep.Period, s.X)
	out.Axis.Local = out.Axis.Clock && rep.Local
	for i, x := range s.X {
		out.X[i] = out.Axis.fromSeconds(x)
	}
}

// setEffects sets regressors, whose file has rows at all x, then the step, hours that are closed, and holidays.
func (out *Series) setEffects(o ReadOptions, rep dataset.CSVReport, all []float64) error {
	if len(o.Regressors) > 0 {
		if err := out.setKnown(o, rep, all); err != nil {
			return err
		}
		if err := out.Known.standardise(out.X); err != nil {
			return err
		}
		out.Known.group(out.X)
	}
	out.spacing()
	if out.Known == nil {
		out.takeOpenHours()
	}
	if o.Holidays != "" {
		return out.LearnHolidays(o.Holidays)
	}
	return nil
}

// noTime returns an error for numbers that are x only because their column comes first, if they look like no time: many are below
// their predecessor, and sorted they have no step. s has the rows in ascending order.
func (o ReadOptions) noTime(s dataset.Series, rep dataset.CSVReport, unsorted int) error {
	const many, fewest = 0.2, 10
	if o.X != "" || rep.Time != dataset.TimeNumber || s.Len() < fewest || float64(unsorted) < many*float64(s.Len()) {
		return nil
	}
	if _, even := usualStep(s.X); even {
		return nil
	}
	name := cmp.Or(rep.Columns[rep.X], strconv.Itoa(rep.X+1))
	return message("is there a column of time? x is the column %q, in whose rows %d of %d numbers fall below the one before, "+
		"with no step: %v takes the number of the row for x, and %v sorts the rows by this column", name, unsorted, s.Len(),
		dataset.Setting{Field: "X", Value: dataset.RowNumber}, dataset.Setting{Field: "X", Value: name})
}

// countsBack matches names of numbers that count back in time, and mayCountBack names of numbers that may.
var (
	countsBack   = regexp.MustCompile(`(?i)(^|[^\pL])(BP|b2k|[kM]a|[kM]yr|ago)($|[^\pL])|before.present`)
	mayCountBack = regexp.MustCompile(`(?i)(^|[^\pL])(age|alter|âge|edad)($|[^\pL])`)
)

// backward returns an error for numbers that count back in time by their name, for ages that fall in all rows, and if
// ReadOptions.Backward is set although x are dates.
func (o ReadOptions) backward(name string, rep dataset.CSVReport, unsorted int) error {
	back := dataset.Setting{Field: "Backward"}
	switch {
	case rep.Time != dataset.TimeNumber && o.Backward:
		return message("%v is about numbers, and x are dates", back)
	case rep.Time != dataset.TimeNumber || o.Time != "" || o.Backward:
	case countsBack.MatchString(name) || mayCountBack.MatchString(name) && unsorted == rep.Rows-rep.Skipped-1:
		return message("x runs backwards: %q counts back from the present. %v takes −x, so that a forecast goes on in time; "+
			"%v takes x as it is", name, back, dataset.Setting{Field: "Time", Value: "number"})
	}
	return nil
}

// unitOf guesses the unit of a column of numbers from its name: "year" or "decimal" means years, and so does any other name with
// "date" or "year" in it if all numbers are whole and between 1000 and 3000.
func unitOf(name string, x []float64) string {
	lower := strings.ToLower(strings.TrimSpace(name))
	if lower == "year" || lower == "years" || strings.Contains(lower, "decimal") {
		return "year"
	}
	if !strings.Contains(lower, "date") && !strings.Contains(lower, "year") {
		return ""
	}
	for _, v := range x {
		if v != math.Trunc(v) || v < 1000 || v > 3000 {
			return ""
		}
	}
	return "year"
}

// splitUnit divides "level (m)" into a name and a unit.
func splitUnit(column string) (name, unit string, ok bool) {
	for _, ends := range []string{"()", "[]"} {
		if from := strings.LastIndexByte(column, ends[0]); from > 0 && column[len(column)-1] == ends[1] {
			name, unit = strings.TrimSpace(column[:from]), strings.TrimSpace(column[from+1:len(column)-1])
			if name != "" && unit != "" && !strings.HasSuffix(name, ":") && !noUnit.MatchString(unit) {
				return name, unit, true
			}
		}
	}
	return column, "", false
}

// csv returns the options of the reader.
func (o ReadOptions) csv() dataset.CSVOptions {
	return dataset.CSVOptions{
		X: o.X, Y: o.Y, Comma: o.Comma, DecimalComma: o.DecimalComma, DecimalPoint: o.DecimalPoint, NoHeader: o.NoHeader,
		Time: o.Time, Seconds: true, Limit: Largest, SkipMissing: true, Missing: o.Missing,
		Also: o.also(), Keys: o.By, MaxRows: o.mostRows(), NumberDates: true, Backward: o.Backward,
	}
}

// noUnit matches text in brackets that is not a unit: the name of a series with points, serial numbers, or text with a colon.
var noUnit = regexp.MustCompile(`\pL\w*\.\w+\.\w|:`)
