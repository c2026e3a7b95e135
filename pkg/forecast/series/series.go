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

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// ReadOptions choose what Read takes from a csv file. The zero value takes column 1 as x and column 2 as y.
type ReadOptions struct {
	X, Y         string // a column by its name in the header or by its number from 1
	XUnit, YUnit string // for axes and tables; dates need no XUnit
	Comma        rune   // the field separator; 0: detected
	// DecimalComma says that numbers are written 1.025,10, and DecimalPoint 1,025.10; without either, it is detected by column.
	DecimalComma, DecimalPoint bool
	NoHeader                   bool
	Missing                    []string           // texts for a missing value, besides an empty cell, NA, NaN and null
	Time                       dataset.TimeFormat // how x is written; "": detected
	// Last keeps only this number of the latest observations; 0 keeps all.
	Last int
	// YError is a column of known standard deviations of the observations (error bars), in the unit of y; "" for none.
	YError string
	// RelativeErrors says that YError gives the errors relative to one another; their common scale is learnt.
	RelativeErrors bool
	// Regressors are columns that y depends on linearly and that are known in advance. Their future values stand in rows without y,
	// or in the file Future, which has the column of x and those of the regressors.
	Regressors []string
	Future     string
	// By are columns whose texts tell the series of a long table apart, for ReadPanel. Pooled reads all rows as one series.
	By     []string
	Pooled bool
	// Holidays is the ISO 3166 code of the country whose holidays y may depend on (Series.LearnHolidays); "" for none.
	Holidays string
	// Memory bounds, in bytes, the predicted memory of Read: the error is then a *gppl.MemoryError. 0 means no limit.
	Memory float64
	// Likelihood is the distribution of y, one of Likelihoods: auto recognises plain counts, and values that are 0 or 1. Size is a
	// column of exposures of counts, or of numbers of trials.
	Likelihood, Size string
	Bounds           *Bounds // that y cannot leave; nil for none

	future *futureRows // of one series of a panel; nil: those in Future
}

// Source says where a series comes from.
type Source struct {
	File   string `json:"file"`           // base name
	Part   string `json:"part,omitempty"` // of a file with several series: the texts that tell it apart (ReadOptions.By)
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	// Skipped rows lack x or y. Dropped ones were left out by ReadOptions.Last.
	Skipped  int      `json:"skipped"`
	Dropped  int      `json:"dropped,omitempty"`
	Columns  []string `json:"columns"`
	Unsorted int      `json:"unsorted"`        // rows that came before the row above them in x
	Ahead    int      `json:"ahead,omitempty"` // skipped rows after the last observation that have the regressors
}

// String names the file and, of a file with several series, the one that was read.
func (s Source) String() string {
	if s.Part != "" {
		return s.Part + " in " + s.File
	}
	return s.File
}

// Series is a time series ready to be modelled: x ascending, on one axis.
type Series struct {
	Source Source
	Axis   Axis
	YName  string
	YUnit  string
	X, Y   []float64
	// Errors are known standard deviations of the observations; nil for none. ErrorName is their column. If Relative is set, they
	// are known up to a common scale.
	Errors    []float64
	ErrorName string
	Relative  bool
	Known     *Known    // regressors; nil for none
	Holidays  *Holidays // nil for none
	Shifts    []Shift   // of the mean; nil for none
	Counting  *Counting // of counts; nil for a normal distribution
	Bounds    *Bounds   // that y cannot leave; nil for none
	Student   *Student  // of noise with heavy tails; nil for a normal distribution
	// Added are the files of the latest observations, which came after the models were learnt (Analysis.Update); nil for none.
	Added []Addition

	Step       float64   // the median distance between neighbours in x, duplicates left out
	Even       bool      // most distances are about Step
	Gaps       []Stretch // neighbours more than 1.5 steps apart, 10 if the series is not Even; the longest first
	Absent     int       // observations that would fill the gaps at distance Step
	Duplicates []float64 // the x that occur more than once

	closed  *closedTimes      // the times of the week or day that have no observations; nil for none
	remarks []dataset.Message // on how the file was read
	guess   []dataset.Message // the remark that comes first, if any
	whole   *Series           // the series that this is a part of; nil if it is a whole one
}

// Stretch is a part of the axis.
type Stretch struct{ From, To float64 }

// Largest and smallest bound |x|, |y|, the range of x and the standard deviation of y: the square of a number between them, times
// a variance of the standardised series between 1e-28 and 1e28, is within float64.
const (
	Largest  = 1e140
	smallest = 1e-140
)

// Read reads a series from a csv file, or from standard input if the path is dataset.StandardInput. Rows without x or y are
// counted and left out; rows are sorted by x. If all x are numbers, and ReadOptions.Time does not say how they are written, Read
// recognises Unix times in one unit between 1973 and 2096 and dates written 20240131 or 202401 (dataset.CSVOptions.NumberDates).
// Unless there are regressors, it also makes numbers even that are even but for rounding or for the lengths of months; Notes then
// says so.
//
// The error for a missing file, a missing column or a cell that is not a number names file, line and column and quotes what is
// there. At least five observations at three different x are needed, and y must not be constant. Numbers may be up to 1e140 in
// size; the range of x and the standard deviation of y must be above 1e-140.
//
// A table of several series, in which the x repeat and a column tells the rows of an x apart, is an error that names the column,
// unless ReadOptions.Pooled is set.
func Read(ctx context.Context, path string, o ReadOptions) (*Series, error) {
	o.By = nil
	s, rep, err := read(ctx, path, o)
	if y := valueColumn(err); y != "" && path != dataset.StandardInput {
		of := o
		of.Y = y
		if _, again := Read(ctx, path, of); errors.As(again, new(panelError)) {
			return nil, again // which names all columns that tell series apart
		}
	}
	if err != nil {
		return nil, err
	}
	out, err := o.series(dataset.Shown(path), s, rep)
	if err == nil && !o.Pooled {
		err = refusePanel(path, o, rep)
	}
	if err != nil {
		return nil, err
	}
	out.remarks = append(out.remarks, o.unused(rep)...)
	return out, nil
}

// valueColumn returns the column of numbers that an error names in place of one with words; "" if it names none.
func valueColumn(err error) string {
	csv := (*dataset.CSVError)(nil)
	if !errors.As(err, &csv) || len(csv.Problems) != 1 || len(csv.Problems[0].Settings) == 0 {
		return ""
	}
	if s := csv.Problems[0].Settings[0]; s.Field == "Y" {
		return s.Value
	}
	return ""
}

// series makes a series of the rows of a file, which messages call path.
func (o ReadOptions) series(path string, s dataset.Series, rep dataset.CSVReport) (*Series, error) {
	if err := o.checkRoles(path, rep); err != nil {
		return nil, err
	}
	out := &Series{
		Source: Source{File: s.Name, SHA256: rep.SHA256, Rows: rep.Rows, Skipped: rep.Skipped, Columns: rep.Columns},
		YName:  cmp.Or(s.YName, "y"), YUnit: cmp.Or(o.YUnit, rep.Unit), remarks: remarksOf(rep), guess: guessed(rep),
	}
	if name, unit, ok := splitUnit(out.YName); ok && o.YUnit == "" {
		out.YName, out.YUnit = name, unit
	}
	for i := 1; i < len(s.X); i++ {
		if s.X[i] < s.X[i-1] {
			out.Source.Unsorted++
		}
	}
	all, order := s.X, []int(nil) // nil: all, as they are in the file
	if out.Source.Unsorted > 0 || o.Last > 0 && s.Len() > o.Last || o.YError != "" || o.Size != "" {
		order = timeline.Ascending(s.X)
		if o.Last > 0 && len(order) > o.Last {
			out.Source.Dropped = len(order) - o.Last
			order = order[out.Source.Dropped:]
		}
		s = s.Select(order)
	} else if len(o.Regressors) > 0 {
		all = slices.Clone(s.X) // those of the series may change their unit
	}
	if err := enough(s); err != nil {
		if errors.As(err, new(constantError)) && o.Y == "" && len(rep.Columns) > 2 {
			err = message("%v (y is the column %q; %v chooses another)", err, rep.Columns[rep.Y],
				dataset.Setting{Field: "Y", Value: "NAME"})
		}
		return nil, fmt.Errorf("forecast: %s: %w", path, err)
	}
	if err := o.wrongCells(rep.Also, order); err != nil {
		return nil, fmt.Errorf("forecast: %s: %w", path, err)
	}
	if o.YError != "" {
		out.Errors, out.ErrorName, out.Relative = timeline.Pick(rep.Also.Values[0], order), alsoName(rep.Also, 0), o.RelativeErrors
	}
	if err := out.setCounting(o, s.Y, rep.Also, order); err != nil {
		return nil, fmt.Errorf("forecast: %s: %w", path, err)
	}
	if o.Bounds != nil {
		if err := wrongValues(s.Y, rep.Also, order, func(_ int, v float64) error {
			return o.Bounds.holds(v)
		}); err != nil {
			return nil, message("forecast: %s: %v says what y cannot leave: %v", path, dataset.Setting{Field: "Bounds"}, err)
		}
	}
	rounding := ulp(max(-s.X[0], s.X[len(s.X)-1])) // of x as it was read
	if out.X, out.Y = s.X, s.Y; o.Bounds != nil {
		out.setBounds(*o.Bounds)
	}
	if rep.Time == dataset.TimeNumber {
		out.Axis = Axis{Name: cmp.Or(s.XName, "x"), Unit: cmp.Or(o.XUnit, unitOf(s.XName, s.X))}
		if o.Time == "" && len(o.Regressors) == 0 {
			out.takeEven()
		}
	} else {
		out.Axis = DateAxis(cmp.Or(s.XName, "date"), s.X)
		out.Axis.takePeriod(rep.Period, s.X)
		for i, x := range s.X {
			out.X[i] = out.Axis.fromSeconds(x)
		}
	}
	if len(o.Regressors) > 0 {
		err := out.setKnown(o, rep, all)
		if err == nil {
			if err = out.Known.standardise(out.X); err == nil {
				out.Known.group(out.X)
			}
		}
		if about := (futureError{}); errors.As(err, &about) {
			return nil, fmt.Errorf("forecast: %w", err)
		}
		if err != nil {
			return nil, fmt.Errorf("forecast: %s: %w", path, err)
		}
	}
	out.spacing()
	if out.Axis.Dates {
		rounding /= unitSeconds[out.Axis.Unit]
	}
	if o.Holidays != "" {
		if err := out.LearnHolidays(o.Holidays); err != nil {
			return nil, fmt.Errorf("forecast: %s: %s", path, strings.TrimPrefix(err.Error(), "forecast: "))
		}
	}
	const exact = 100 // steps in which the median distance is known to 1 %
	if out.Step < exact*rounding {
		out.remarks = append(out.remarks, message("x is rounded to multiples of %s, which is coarse for observations %s apart: "+
			"measure x from the first observation.", out.Axis.Length(rounding), out.Axis.Length(out.Step)))
	}
	return out, nil
}

// NewSeries returns the series of y at ascending x on an axis, with the checks of Read. The slices are kept.
func NewSeries(axis Axis, x, y []float64) (*Series, error) {
	if len(x) != len(y) {
		return nil, fmt.Errorf("forecast: %d x and %d y", len(x), len(y))
	}
	for i := range x {
		if !(math.Abs(x[i]) <= Largest && math.Abs(y[i]) <= Largest) {
			return nil, fmt.Errorf("forecast: observation %d is (%v, %v): want numbers within ±%g", i, x[i], y[i], Largest)
		}
		if i > 0 && x[i] < x[i-1] {
			return nil, fmt.Errorf("forecast: x[%d] = %v is below the one before, %v", i, x[i], x[i-1])
		}
	}
	if err := enough(dataset.Series{X: x, Y: y}); err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	s := &Series{Axis: axis, YName: "y", X: x, Y: y}
	s.spacing()
	return s, nil
}

// Part returns the observations from ≤ i < to, with the step, the errors and the regressors of the whole.
func (s *Series) Part(from, to int) *Series {
	p := &Series{
		Axis: s.Axis, X: s.X[from:to], Y: s.Y[from:to], Step: s.Step, ErrorName: s.ErrorName, Relative: s.Relative,
		Known: s.Known, Holidays: s.Holidays, Shifts: s.Shifts, Counting: s.Counting.Part(from, to), Bounds: s.Bounds,
		Student: s.Student, whole: s,
	}
	if s.whole != nil {
		p.whole = s.whole
	}
	if s.Errors != nil {
		p.Errors = s.Errors[from:to]
	}
	return p
}

// Thinned returns the observations from an index on that are a multiple of every steps before the last, so that a missing one
// does not shift those before it, or one in every of them if most steps differ or they have errors of their own.
func (s *Series) Thinned(from, every int) *Series {
	var at []int
	last := s.X[len(s.X)-1]
	for i := from; i < len(s.X); i++ {
		before := len(s.X) - 1 - i
		if !s.NeedsDense() {
			before = int(math.Round((last - s.X[i]) / s.Step))
		}
		if before%every == 0 {
			at = append(at, i)
		}
	}
	p := s.pick(at)
	p.Step = float64(every) * s.Step
	return p
}

// ulp is the distance from v to the next float64.
func ulp(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }

// read reads the rows of a file, if they fit the memory.
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

// csv returns the options of the reader.
func (o ReadOptions) csv() dataset.CSVOptions {
	return dataset.CSVOptions{
		X: o.X, Y: o.Y, Comma: o.Comma, DecimalComma: o.DecimalComma, DecimalPoint: o.DecimalPoint, NoHeader: o.NoHeader,
		Time: o.Time, Seconds: true, Limit: Largest, SkipMissing: true, Missing: o.Missing,
		Also: o.also(), Keys: o.By, MaxRows: o.mostRows(), NumberDates: true,
	}
}

// errorName is the name of a column of standard deviations.
var errorName = regexp.MustCompile(`(?i)^(d|e|s)_|(^|[^\pL])err|err(or)?s?([^\pL]|$)|sigma|` +
	`^(sd|se|std|stdev|unc|uncertainty)($|[-_ ])|[-_ ](sd|se|std|stdev|unc|uncertainty)$`)

// unused reports an unread column whose name says that it has the standard deviations of y.
func (o ReadOptions) unused(rep dataset.CSVReport) (remarks []dataset.Message) {
	taken := append([]int{rep.X, rep.Y}, slices.Concat(rep.Also.Columns, rep.Also.KeyColumns)...)
	y := cmp.Or(rep.Columns[rep.Y], "y")
	used := func(is func(name string) bool) bool {
		return slices.ContainsFunc(taken, func(i int) bool { return i >= 0 && i < len(rep.Columns) && is(rep.Columns[i]) })
	}
	errors := o.YError != "" || used(errorName.MatchString)
	if rep.Headless && len(rep.Columns) == 3 && rep.X == 0 && rep.Y == 1 && !slices.Contains(taken, 2) {
		remarks = append(remarks, message("If column 3 has the standard deviations of %s, %v makes use of them.",
			y, dataset.Setting{Field: "YError", Value: "3"}))
	}
	for i, name := range rep.Columns {
		switch {
		case slices.Contains(taken, i):
		case !errors && errorName.MatchString(name) && !errorName.MatchString(y):
			remarks = append(remarks, message("If %s has the standard deviations of %s, %v makes use of them.",
				name, y, dataset.Setting{Field: "YError", Value: name}))
			errors = true
		}
	}
	return remarks
}

// isValue reports whether a name in the header is a number or a date.
func isValue(name string) bool {
	if _, err := strconv.ParseFloat(name, 64); err == nil {
		return true
	}
	_, err := dataset.ParseDate(name)
	return err == nil || slashDate.MatchString(name)
}

// slashDate is a date that may have the day or the month first, which ParseDate does not read.
var slashDate = regexp.MustCompile(`^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}$`)

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

// noUnit matches text in brackets that is not a unit: the name of a series with points, serial numbers, or text with a colon.
var noUnit = regexp.MustCompile(`\pL\w*\.\w+\.\w|:`)

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

// constantError is the error of a y that is the same in all rows.
type constantError struct {
	y    float64
	rows int
}

func (e constantError) Error() string {
	return fmt.Sprintf("y is %v in all %d rows: there is nothing to learn", e.y, e.rows)
}

func enough(s dataset.Series) error {
	distinct := distinct(s.X)
	const fewest = 5
	switch {
	case s.Len() < fewest:
		return fmt.Errorf("%s %s too few to learn from: at least %d are needed",
			text.Count(s.Len(), "observation"), text.Are(s.Len()), fewest)
	case distinct < 3:
		return fmt.Errorf("%d observations at %d different x are not a series "+
			"(if the time is spread over several columns, combine them into one)", s.Len(), distinct)
	case slices.Min(s.Y) == slices.Max(s.Y):
		return constantError{s.Y[0], s.Len()}
	}
	if scaling := s.Scaling(); scaling.Scale < smallest {
		return fmt.Errorf("y varies by only %.3g: multiply it by a power of ten", scaling.Scale)
	}
	if span := s.X[s.Len()-1] - s.X[0]; span < smallest {
		return fmt.Errorf("x ranges over only %.3g: multiply it by a power of ten", span)
	}
	return nil
}

// spacing finds step, gaps and duplicates. A gap is wider than 1.5 steps, or than 10 in a series whose steps vary. Times of the
// week or day that never have an observation are not gaps.
func (s *Series) spacing() {
	steps := make([]float64, 0, len(s.X))
	for i := 1; i < len(s.X); i++ {
		if d := s.X[i] - s.X[i-1]; d > 0 {
			steps = append(steps, d)
		} else if n := len(s.Duplicates); n == 0 || s.Duplicates[n-1] != s.X[i] {
			s.Duplicates = append(s.Duplicates, s.X[i])
		}
	}
	slices.Sort(steps)
	s.Step = steps[len(steps)/2]
	q1, q3 := steps[len(steps)/4], steps[3*len(steps)/4]
	s.Even = q3-q1 < 0.2*s.Step
	s.closed = s.findClosed()
	wide := 1.5
	if !s.Even {
		wide = 10
	}
	for i := 1; i < len(s.X); i++ {
		if d := s.X[i] - s.X[i-1]; d > wide*s.Step {
			absent := int(math.Round(d/s.Step)) - 1 - s.closed.between(s.X[i-1], s.X[i])
			if s.closed != nil && absent == 0 {
				continue
			}
			s.Gaps = append(s.Gaps, Stretch{s.X[i-1], s.X[i]})
			s.Absent += absent
		}
	}
	// The last digit of numbers such as 1903.08333333333 is rounded: the whole length gives the step more exactly than neighbours.
	const rounding = 1e-6
	if whole := (s.X[len(s.X)-1] - s.X[0]) / float64(len(s.X)-1+s.Absent); math.Abs(whole-s.Step) < rounding*s.Step {
		s.Step = whole
	}
	slices.SortStableFunc(s.Gaps, func(a, b Stretch) int {
		switch la, lb := a.To-a.From, b.To-b.From; {
		case la > lb*(1+1e-9):
			return -1
		case lb > la*(1+1e-9):
			return 1
		}
		return 0
	})
}

// YLabel names y with its unit.
func (s *Series) YLabel() string { return text.WithUnit(s.YName, s.YUnit) }

// Notes says in sentences what a reader should know besides Lead: extent, and what is missing, repeated or out of order.
func (s *Series) Notes() (notes []string) {
	_, all := s.Messages()
	for _, m := range all {
		notes = append(notes, m.String())
	}
	return notes
}

// Messages returns Lead, which is empty if Format is, and Notes, for a program that names settings in words of its own.
func (s *Series) Messages() (lead dataset.Message, notes []dataset.Message) {
	a, n := s.Axis, len(s.X)
	spacing := "every " + strings.TrimPrefix(a.Length(s.Step), "1 ")
	switch {
	case s.Even && !a.Dates && a.Unit == "":
		spacing = a.Length(s.Step) + " apart"
	case !s.Even:
		spacing = "unevenly spaced, " + a.Length(s.Step) + " apart in the median"
	case a.Months == 1:
		spacing = "every month"
	case a.Period == "week" && s.Even && a.Length(s.Step) == "7 days":
		spacing = "every week"
	case a.Months == 3:
		spacing = "every quarter"
	case a.Months == 12:
		spacing = "every year"
	case a.Months > 0:
		spacing = fmt.Sprintf("every %d months", a.Months)
	}
	say := func(format string, args ...any) { notes = append(notes, message(format, args...)) }
	say("%d observations of %s from %s to %s, %s.", n, s.YLabel(), a.Text(s.X[0]), a.Text(s.X[n-1]), spacing)
	if s.Student != nil && s.Errors != nil {
		say("%s", s.Student.note(s.Errors))
	} else if s.Errors != nil {
		of := "standard deviations of the observations"
		if s.Relative {
			of = "errors of the observations relative to one another"
		}
		say("%s has the %s, from %.4g to %.4g. For new observations the bands assume the median, %.4g.",
			s.ErrorName, of, slices.Min(s.Errors), slices.Max(s.Errors), numeric.UpperMedian(s.Errors))
	}
	if s.closed != nil && s.Known == nil {
		say("%s", s.closed.note())
	}
	if s.Known != nil {
		where := fmt.Sprintf("up to %s, %s ahead", a.Text(s.Known.X[len(s.Known.X)-1]), text.Count(len(s.Ahead()), "step"))
		if len(s.Ahead()) == 0 {
			where = "at the observations only: there can be no forecast"
		}
		say("Regressors: %s, known %s.%s", strings.Join(s.Known.Names, ", "), where, s.Known.note())
	}
	if s.Holidays != nil {
		say("%s", s.Holidays.note())
	}
	if s.Counting != nil {
		notes = append(notes, s.Counting.note(s.YName))
	}
	if b := s.Bounds; b != nil {
		say("%s is modelled by its log odds between %v and %v, which bands do not leave.",
			s.YName, b.Lo, b.Hi)
	}
	if k := s.Source.Skipped - s.Source.Ahead; k > 0 {
		say("%s without a value %s left out.", text.Count(k, "row"), text.Was(k))
	}
	if k := s.Source.Dropped; k > 0 {
		say("Only the last %d observations are used; %d earlier ones are left out.", n, k)
	}
	if k := len(s.Gaps); k > 0 {
		said := fmt.Sprintf("%s,%s from %s to %s", text.Count(k, "gap"), text.Choose(k, "", " the longest"),
			a.Text(s.Gaps[0].From), a.Text(s.Gaps[0].To))
		if s.Even {
			said += fmt.Sprintf("; %s would fill them", text.Count(s.Absent, "observation"))
		}
		say("%s. Gaps need not be filled.", said)
	}
	switch k, distinct := len(s.Duplicates), distinct(s.X); {
	case k > distinct/2:
		say("%d of the %d values of x are repeated, the first at %s, and all rows are modelled as one series. "+
			"If a column tells several series apart, %v takes it; "+
			"if the time is spread over several columns, combine them into one.",
			k, distinct, a.Text(s.Duplicates[0]), dataset.Setting{Field: "By"})
	case k > 0:
		say("%s of x %s repeated, the first at %s. Every observation is used.",
			text.Count(k, "value"), text.Are(k), a.Text(s.Duplicates[0]))
	}
	codes, _, _ := codesIn(s.Y)
	if from, to, ok := s.Stuck(); ok && len(codes) == 0 {
		say("%d observations from %s to %s are all %v, where others seldom repeat: "+
			"if the sensor was stuck, or a gap was filled, leave their values empty.",
			to-from+1, a.Text(s.X[from]), a.Text(s.X[to]), s.Y[to])
	}
	if s.neverFalls() {
		say("%s never falls. If it is a running total, such as cases to date or a meter's reading, "+
			"its bands do not know that and may reach below the last value: forecast what each step adds to it.", s.YName)
	}
	if k := s.Source.Unsorted; k > 0 {
		say("%s out of order %s sorted by x.", text.Count(k, "row"), text.Was(k))
	}
	return s.lead(), append(notes, s.remarks...)
}

// neverFalls reports whether y may be a running total: not negative, never below the value before, and often above it.
func (s *Series) neverFalls() bool {
	const fewest, levels = 20, 10 // observations, different values
	return len(s.Y) >= fewest && s.Y[0] >= 0 && s.Bounds == nil && slices.IsSorted(s.Y) && distinct(s.Y) >= levels
}

// distinct returns the number of different values of ascending x.
func distinct(x []float64) (count int) {
	for i, v := range x {
		if i == 0 || v != x[i-1] {
			count++
		}
	}
	return count
}

// Addition is a file whose observations were added to a series after its models were learnt.
type Addition struct {
	File         string `json:"file"`
	SHA256       string `json:"sha256"`
	Observations int    `json:"observations"`
}

// Learnt returns the number of observations, the first ones, that there were when the models were learnt.
func (s *Series) Learnt() int {
	n := len(s.X)
	for _, a := range s.Added {
		n -= a.Observations
	}
	return n
}
