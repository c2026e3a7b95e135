package dataset

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// turned returns the row from which on the dates of a block have day and month in the other order than the column. As they are
// read, the dates leap there; with day and month exchanged, they follow those above closely, and so do the next. Nothing else
// tells, where both numbers can be months. It looks at rows that are a week apart or less, since of those further apart some
// follow one another by chance, and at none if an order was asked for.
func (s *csvStream) turned(b *CSVBlock) (at CSVRowError, found bool) {
	const (
		fewest = 5 // rows, of which two are needed behind the turn
		week   = 7 * 86400
		near   = 4 * 86400 // over a weekend and a holiday
	)
	if s.opt.Time != TimeAuto || !s.opt.Seconds || len(b.X) < fewest || s.rep.Time != TimeDMY && s.rep.Time != TimeMDY {
		return at, false
	}
	steps := make([]float64, 0, len(b.X)-1)
	for i := 1; i < len(b.X); i++ {
		steps = append(steps, b.X[i]-b.X[i-1])
	}
	slices.Sort(steps)
	step := steps[len(steps)/2]
	if step == 0 || math.Abs(step) > week {
		return at, false
	}
	follows := func(x, y float64) bool { return (y-x)/step > 0 && math.Abs(y-x) <= max(math.Abs(step), near) }
	leaps := func(i int) bool { return !follows(b.X[i-1], b.X[i]) }
	begun := 0
	for i := 1; i < len(b.X); i++ {
		if !leaps(i) {
			continue
		}
		x, _ := swapped(b.X[i-1])
		y, both := swapped(b.X[i])
		switch {
		case begun > 0 && both && follows(x, y):
			first, then := "day", "month"
			if s.rep.Time == TimeMDY {
				first, then = then, first
			}
			err := fmt.Errorf("from this row on, dates seem to have the %s first, and above it the %s: "+
				"write all dates in one way, or say CSVOptions.Time: %q if they have", then, first, s.rep.Time)
			return CSVRowError{Line: b.Lines[begun], turn: true, Err: cellError{columnName(s.rep.Columns, s.rep.X), err}}, true
		case both && follows(b.X[i-1], y):
			begun = i
		default:
			begun = 0
		}
	}
	return at, false
}

// swapped exchanges the day and the month of a time in seconds since 1970; ok is false if the day is no month.
func swapped(x float64) (y float64, ok bool) {
	const day = 86400
	whole := time.Unix(int64(x), 0).UTC()
	if whole.Day() > 12 {
		return x, false
	}
	other := time.Date(whole.Year(), time.Month(whole.Day()), int(whole.Month()), 0, 0, 0, 0, time.UTC)
	return x + float64(other.Unix()-whole.Truncate(day*time.Second).Unix()), true
}
