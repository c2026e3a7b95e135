package series

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Restore completes a series that was read from a file of this program. It returns an error for impossible contents.
func (s *Series) Restore() error {
	if err := s.checkColumns(); err != nil {
		return err
	}
	if err := cmp.Or(s.Known.check(), s.Holidays.check(s.Axis), s.MonthDays.check(s.Axis),
		checkShifts(s.Shifts), checkEvents(s.Events), s.Bounds.checkAll(s.Y)); err != nil {
		return err
	}
	if s.Student != nil && (!(s.Student.Nu >= 1 && s.Student.Nu <= 1e3) || s.Errors == nil) {
		return fmt.Errorf("%v degrees of freedom of Student-t noise, and %d weights", s.Student.Nu, len(s.Errors))
	}
	learnt := len(s.X)
	for _, added := range s.Added {
		if learnt -= added.Observations; added.Observations < 1 || learnt < 5 {
			return fmt.Errorf("%d observations were added, of %d", added.Observations, len(s.X))
		}
	}
	if s.Counting != nil {
		if err := s.checkCounting(s.Y); err != nil {
			return err
		}
	}
	s.spacing()
	return nil
}

// checkColumns returns an error for impossible columns.
func (s *Series) checkColumns() error {
	x, y := s.X, s.Y
	if len(x) != len(y) {
		return fmt.Errorf("%d x and %d y", len(x), len(y))
	}
	for i := range x {
		if !(math.Abs(x[i]) <= Largest && math.Abs(y[i]) <= Largest) { // NaN is not
			return fmt.Errorf("observation %d is (%v, %v): want numbers within ±%g", i, x[i], y[i], Largest)
		}
		if i > 0 && x[i] < x[i-1] {
			return fmt.Errorf("x is not ascending: x[%d] = %v is below the one before, %v", i, x[i], x[i-1])
		}
	}
	if err := checkLength(dataset.Series{X: x, Y: y}); err != nil {
		return err
	}
	if s.Errors != nil && len(s.Errors) != len(x) {
		return fmt.Errorf("%d x and %d errors", len(x), len(s.Errors))
	}
	if s.Relative && s.Errors == nil {
		return errors.New("there are no errors that could be relative")
	}
	for i, e := range s.Errors {
		if !(e > 0 && e <= Largest) {
			return fmt.Errorf("the error of observation %d is %v", i, e)
		}
	}
	return s.Axis.check()
}

// check returns an error for an impossible axis.
func (a Axis) check() error {
	if a.Dates && unitSeconds[a.Unit] == 0 {
		return fmt.Errorf("dates in the unit %q", a.Unit)
	}
	if a.Day < 0 || a.Day > 31 || a.Day > 0 && (a.Unit != "year" || !a.Dates) {
		return fmt.Errorf("months that begin at day %d, of dates in the unit %q", a.Day, a.Unit)
	}
	if a.Months < 0 || a.Months > 1200 {
		return fmt.Errorf("steps of %d months", a.Months)
	}
	return nil
}
