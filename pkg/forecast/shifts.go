package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Change is a change of the mean of a series at a time, whose size models learn: a step from At on or, if Slope is set, a kink.
type Change struct {
	At    float64 `json:"at"` // the first observation with it
	Slope bool    `json:"slope,omitempty"`
	// Scale is the prior standard deviation of its size: of a step in standard deviations of y, of a kink in these in a unit of x.
	Scale float64 `json:"scale"`
	// Chance is that of one as clear in a series that has none, if the change was found (FindShifts); 0 if it was given.
	Chance float64 `json:"chance,omitempty"`
}

// ShiftModes are the values of Options.Shifts: use has changes that are found in the mean of the forecast, report leaves them to FindShifts, never
// does not look for any, and auto is use for a series of up to 400 observations whose kernel is not named, and report otherwise.
var ShiftModes = []string{shiftsAuto, ShiftsUsed, shiftsReported, "never"}

// ShiftsUsed is the mode in which a forecast has the changes that are found, shiftsReported that in which it has not.
const shiftsAuto, ShiftsUsed, shiftsReported = "auto", "use", "report"

// mostUsed is the number of observations up to which auto has changes in the forecast: learning anew with them takes long in a longer series
// (BenchmarkFitShifts).
const mostUsed = 400

// shifts is the mode of the analysis, not auto; never, if it was read from a file.
func (a *Analysis) shifts() string {
	switch {
	case a.options == nil:
		return "never"
	case a.options.Shifts != "" && a.options.Shifts != shiftsAuto:
		return a.options.Shifts
	case a.Chosen == ByBIC || len(a.Series.X) > mostUsed:
		return shiftsReported
	}
	return ShiftsUsed
}

const (
	changePrefix = "change: " // of the columns of the mean, before the names
	// changeScale is the prior standard deviation of a step, in standard deviations of y, and of what a kink adds over half of the range.
	changeScale = 2
)

// ErrShift says that a time is none at which the mean of a series can change.
var ErrShift = errors.New("not within the observations")

// Shifted returns the series with a change of level at each x, or at the first observation behind it. It is an error (ErrShift) if there is
// none on either side.
func (s *Series) Shifted(at ...float64) (*Series, error) {
	var changes []Change
	for _, x := range at {
		i, _ := slices.BinarySearch(s.X, x)
		if i == 0 || i == len(s.X) {
			return nil, fmt.Errorf("forecast: a change of level at %s is %w, from %s to %s", s.Axis.Text(x), ErrShift, s.Axis.Text(s.X[0]), s.Axis.Text(s.X[len(s.X)-1]))
		}
		if c := (Change{At: s.X[i], Scale: changeScale}); !slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	return s.withChanges(changes), nil
}

// withChanges returns the series with other changes.
func (s *Series) withChanges(changes []Change) *Series {
	out := *s
	out.Changes = changes
	return &out
}

// givenChanges returns those that were given, not found, and that the observations show: those with some on either side.
func (s *Series) givenChanges(changes []Change) (given []Change) {
	for _, c := range changes {
		if c.Chance == 0 && c.At > s.X[0] && c.At <= s.X[len(s.X)-1] {
			given = append(given, c)
		}
	}
	return given
}

// text names a change on an axis.
func (c Change) text(a Axis) string {
	if c.Slope {
		return "change of slope at " + a.Text(c.At)
	}
	return "change of level at " + a.Text(c.At)
}

// column returns the change at each x, in units of its prior standard deviation.
func (c Change) column(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, at := range x {
		switch {
		case at < c.At:
		case c.Slope:
			out[i] = c.Scale * (at - c.At)
		default:
			out[i] = c.Scale
		}
	}
	return out
}

// withChangeColumns adds the columns of the changes at x.
func (s *Series) withChangeColumns(in gppl.Inputs, x []float64) gppl.Inputs {
	for _, c := range s.Changes {
		in = in.WithColumn(changePrefix+c.text(s.Axis), c.column(x))
	}
	return in
}

// changesName is the column of changes among the components of a mean.
const changesName = "changes"

// effectColumns returns what each column of a mean is part of: the name of a holiday, or changesName; "" for the trend and regressors.
func (s *Series) effectColumns(m gppl.Mean) []string {
	out := s.Holidays.holidayColumns(m)
	for j, c := range m.Columns() {
		if isChange(c.Name) {
			out[j] = changesName
		}
	}
	return out
}

// isChange reports whether a column of a mean is that of a change.
func isChange(column string) bool { return strings.HasPrefix(column, changePrefix) }

// checkChanges returns an error for changes that no series can have.
func checkChanges(changes []Change) error {
	for i, c := range changes {
		if !(math.Abs(c.At) <= largest) || !(c.Scale > 0 && c.Scale <= largest) || !(c.Chance >= 0 && c.Chance <= 1) || slices.ContainsFunc(changes[:i], func(o Change) bool { return o.At == c.At && o.Slope == c.Slope }) {
			return fmt.Errorf("the change at %v is incomplete", c.At)
		}
	}
	return nil
}

// Shift is a change of the mean with its size.
type Shift struct {
	Kind string  `json:"kind"` // level or slope
	X    float64 `json:"x"`
	When string  `json:"when"`
	// Size is that of the change, in the unit of y, or of y in a unit of x; of a model of log y it is that of log y.
	Size   float64 `json:"size"`
	StdErr float64 `json:"std_err"` // given the kernel's parameters and the noise
	Log    bool    `json:"log,omitempty"`
	// InY, of a change of the level of log y, is what it adds to the median of 24 observations before it.
	InY float64 `json:"size_in_y,omitempty"`
	// Chance is the probability of a change as clear somewhere in a series that has none, about; 0 where it was given.
	Chance float64 `json:"chance,omitempty"`
	// Used says that the forecast has it.
	Used bool `json:"used"`
}

// Shifts returns the changes in the mean of the best model with their sizes, by time, and in the mode "report" those that FindShifts finds. It is an
// error if they could not be looked for, or have no sizes.
func (a *Analysis) Shifts(ctx context.Context) ([]Shift, error) {
	if a.found != nil {
		return *a.found, nil
	}
	var all []Shift
	if a.missed != nil {
		return nil, a.missed
	}
	var err error
	if a.shifts() == shiftsReported {
		all, err = a.FindShifts(ctx)
	} else if len(a.Series.Changes) > 0 {
		all, err = a.usedShifts()
	}
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if s.Log && s.Kind == "level" && a.Series.Bounds == nil {
			at, _ := slices.BinarySearch(a.Series.X, s.X)
			all[i].InY = median(a.Series.Y[max(0, at-24):max(1, at)]) * math.Expm1(s.Size)
		}
	}
	a.found = &all
	return all, nil
}

// usedShifts returns the changes in the mean of the best model with their sizes.
func (a *Analysis) usedShifts() (all []Shift, err error) {
	learnt, err := a.coefficients()
	if err != nil {
		return nil, err
	}
	for _, c := range a.Series.Changes {
		s := c.shift(a)
		b, ok := learnt[changePrefix+c.text(a.Series.Axis)]
		if !ok {
			continue
		}
		unit := a.members[0].scale.scaling.Scale * c.Scale
		s.Size, s.StdErr, s.Used = b.Value*unit, b.StdErr*unit, true
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Shift) int { return cmp.Compare(a.X, b.X) })
	return all, nil
}

// Found reports whether the mean of the forecast has changes that were found, not given.
func (a *Analysis) Found() bool {
	return slices.ContainsFunc(a.Series.Changes, func(c Change) bool { return c.Chance > 0 })
}

// shift is the change without its size.
func (c Change) shift(a *Analysis) Shift {
	s := Shift{Kind: "level", X: c.At, When: a.Series.Axis.Text(c.At), Log: a.Log, Chance: c.Chance}
	if c.Slope {
		s.Kind = "slope"
	}
	return s
}
