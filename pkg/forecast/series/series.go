package series

import (
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Source says where a series comes from.
type Source struct {
	File   string `json:"file"`           // base name
	Part   string `json:"part,omitempty"` // texts that distinguish the series in its file (ReadOptions.By)
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	// Skipped rows lack x or y. Dropped rows were left out by ReadOptions.Last.
	Skipped  int      `json:"skipped"`
	Dropped  int      `json:"dropped,omitempty"`
	Copies   int      `json:"copies,omitempty"` // exact copies of rows, which count once
	Columns  []string `json:"columns"`
	Unsorted int      `json:"unsorted"`        // rows whose x is below the x of the row above
	Ahead    int      `json:"ahead,omitempty"` // skipped rows after the last observation that have the regressors
}

// String names the file and, if it has several series, the one that was read.
func (s Source) String() string {
	if s.Part != "" {
		return s.Part + " in " + s.File
	}
	return s.File
}

// Series is a time series ready to be modelled: x ascending, on one axis. Files of models have the fields with names; the files
// of earlier versions may lack those after Y. Restore computes the others.
type Series struct {
	Source Source    `json:"source"`
	Axis   Axis      `json:"axis"`
	YName  string    `json:"y_name"`
	YUnit  string    `json:"y_unit,omitempty"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	// Errors are known standard deviations of the observations; nil for none. ErrorName is their column. If Relative is set, they
	// are known up to a common scale.
	Errors    []float64  `json:"errors,omitempty"`
	ErrorName string     `json:"error_name,omitempty"`
	Relative  bool       `json:"relative_errors,omitempty"`
	Known     *Known     `json:"regressors,omitempty"` // nil for none
	Holidays  *Holidays  `json:"holidays,omitempty"`   // nil for none
	MonthDays *MonthDays `json:"month_days,omitempty"` // nil for none
	Events    []Event    `json:"events,omitempty"`     // nil for none
	Shifts    []Shift    `json:"changes,omitempty"`    // changes of the mean; nil for none
	Counting  *Counting  `json:"counting,omitempty"`   // nil for a normal distribution
	Bounds    *Bounds    `json:"bounds,omitempty"`     // y cannot leave them; nil for none
	Student   *Student   `json:"student,omitempty"`    // noise with heavy tails; nil for normal noise
	// Added are the files with observations that came after the models were learnt (Analysis.Update); nil for none.
	Added []Addition `json:"added,omitempty"`

	Step       float64   `json:"-"` // median distance between neighbours in x, without duplicates
	Even       bool      `json:"-"` // most distances are about Step
	Gaps       []Stretch `json:"-"` // neighbours more than 1.5 steps apart, 10 if the series is not Even; the longest first
	Absent     int       `json:"-"` // observations at distance Step that would fill the gaps
	Duplicates []float64 `json:"-"` // x that occur more than once

	closed  *closedTimes      // times of the week or day without observations; nil for none
	remarks []dataset.Message // about how the file was read
	whole   *Series           // series that this is a part of; nil if it is whole
}

// Stretch is a part of the axis.
type Stretch struct{ From, To float64 }

// Part returns the observations from ≤ i < to, with the step, the errors and the regressors of the series.
func (s *Series) Part(from, to int) *Series {
	p := &Series{
		Axis: s.Axis, X: s.X[from:to], Y: s.Y[from:to], Step: s.Step, ErrorName: s.ErrorName, Relative: s.Relative,
		Known: s.Known, Holidays: s.Holidays, MonthDays: s.MonthDays, Events: s.Events, Shifts: s.Shifts,
		Counting: s.Counting.Part(from, to), Bounds: s.Bounds,
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

// ulp returns the distance from v to the next float64.
func ulp(v float64) float64 { return math.Nextafter(v, math.Inf(1)) - v }

// YLabel names y with its unit.
func (s *Series) YLabel() string { return text.WithUnit(s.YName, s.YUnit) }

// neverFalls reports whether y may be a running total: never negative, never below its predecessor, and often above it.
func (s *Series) neverFalls() bool {
	const fewest, levels = 20, 10 // fewest observations and different values
	return len(s.Y) >= fewest && s.Y[0] >= 0 && s.Bounds == nil && slices.IsSorted(s.Y) && distinct(s.Y) >= levels
}

// Addition is a file with observations that were added to a series after its models were learnt.
type Addition struct {
	File         string `json:"file"`
	SHA256       string `json:"sha256"`
	Observations int    `json:"observations"`
}

// Learnt returns the number of observations before additions, from which the models were learnt.
func (s *Series) Learnt() int {
	n := len(s.X)
	for _, a := range s.Added {
		n -= a.Observations
	}
	return n
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
