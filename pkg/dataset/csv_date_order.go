package dataset

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// dateOrder finds out whether the day or the month is first in a column of dates such as 3/4/2000, or neither, as may be in
// 03/04/05; and whether 2000/01 are months or pairs of years.
type dateOrder struct {
	met       bool       // a date that may be either
	open, odd dateInRow  // the first of which the order matters, and the first text that is no such date
	points    bool       // the dates are written 3.4.2000
	sure      TimeFormat // of the two, the only one that reads some date; "" while none is met
	yearLast  bool       // no date may have its year first
	dmy, mdy  steps      // between the dates, with either order
	ymd       steps      // with the year first, of two digits
	pairs     yearPairs
}

// dateInRow is a date, or what stands for one.
type dateInRow struct {
	line int // 0 for none
	text string
}

// add returns the format that an x decides; timeSlashes if none is yet.
func (o *dateOrder) add(text string, line int) TimeFormat {
	if o.pairs.months != "" {
		return o.pairs.add(text, "")
	}
	if !o.met {
		switch f := dateFormat(text); {
		case o.pairs.opens(text, f):
			return o.pairs.add(text, f)
		case f == timeSlashes, f == TimeDMY || f == TimeMDY:
			o.met, o.points = true, true
		case f == TimeAuto:
			return TimeNumber
		default:
			return f
		}
	}
	f := slashesFormat(text)
	if f == TimeAuto {
		if o.odd.line == 0 {
			o.odd = dateInRow{line, text}
		}
		return timeSlashes
	}
	if f == timeSlashes {
		dmy, mdy := bothWays(text)
		if o.open.line == 0 && !dmy.Equal(mdy) {
			o.open = dateInRow{line, text}
		}
		o.dmy.add(dmy)
		o.mdy.add(mdy)
	} else {
		t, _, _ := dateOf(text, f)
		if f == TimeDMY {
			o.dmy.add(t)
		} else {
			o.mdy.add(t)
		}
		if o.sure == "" {
			o.sure = f
		}
	}
	if t, first := yearFirst(text); first {
		o.ymd.add(t)
		if o.open.line == 0 {
			o.open = dateInRow{line, text}
		}
	} else {
		o.yearLast = true
	}
	o.points = o.points && pointedDate.MatchString(text)
	if o.yearLast && o.sure != "" {
		return o.sure
	}
	return timeSlashes
}

var (
	pointedDate = regexp.MustCompile(`^(?:\pL.*\s)?\d+\.\d+\.`)
	shortNumber = regexp.MustCompile(`^(?P<yy>\d{2})(?P<a>[-/.])(?P<m>\d{2})(?P<b>[-/.])(?P<d>\d{2})(?P<rest>\D.*)?$`)
)

// yearFirst reads a date of three numbers of two digits with the year first.
func yearFirst(text string) (t time.Time, ok bool) {
	part := fields(shortNumber, text)
	if part == nil || part["a"] != part["b"] {
		return t, false
	}
	iso := isoText(part)
	t, err := parseTime(iso)
	return t, iso != "" && err == nil
}

// settle decides for a column of which no date does: with points the day is first, which is how dates with points are written;
// else it is the order with which the steps between the dates are equal, if they are with one only. The year of two digits is not
// first if the dates then go back and forth, and do not otherwise.
func (o *dateOrder) settle(column string, opt CSVOptions) (f TimeFormat, bySteps bool, err error) {
	if o.pairs.months != "" {
		return o.pairs.settle(), false, nil
	}
	day, month := o.sure != TimeMDY, o.sure != TimeDMY
	year := !o.yearLast && (o.ymd.oneWay() || !(day && o.dmy.oneWay() || month && o.mdy.oneWay()))
	byDay, byMonth, byYear := day && o.dmy.equal(), month && o.mdy.equal(), year && o.ymd.equal()
	switch at, text := o.open.line, o.open.text; {
	case at == 0:
		return TimeDMY, false, nil
	case o.odd.line > 0:
		at, text = o.odd.line, o.odd.text
		return f, false, fmt.Errorf("line %d, %s: %w", at, column, opt.explain(dateError(text, timeSlashes), text, timeSlashes, false))
	case o.sure != "" && !year:
		return o.sure, false, nil
	case o.points && day && (byDay || !byYear):
		return TimeDMY, false, nil
	case byDay && !byMonth && !byYear:
		return TimeDMY, true, nil
	case byMonth && !byDay && !byYear:
		return TimeMDY, true, nil
	default:
		return f, false, o.undecided(at, column, text, year)
	}
}

// undecided is the error of a column whose order stays open.
func (o *dateOrder) undecided(line int, column, text string, year bool) error {
	const layout = "2 January 2006"
	dmy, mdy := bothWays(text)
	may := []string{dmy.Format(layout), mdy.Format(layout)}
	const open = "line %d, %s: %s may be %s or %s, and no other date of the column tells which: " +
		"say CSVOptions.Time: \"dmy\" (day first) or CSVOptions.Time: \"mdy\" (month first)"
	if !year {
		return fmt.Errorf(open, line, column, quoted(text), may[0], may[1])
	}
	switch {
	case o.sure == TimeDMY || dmy.Equal(mdy):
		may = may[:1]
	case o.sure == TimeMDY:
		may = may[1:]
	}
	first, _ := yearFirst(text)
	return fmt.Errorf(open+", or write years with four digits",
		line, column, quoted(text), strings.Join(may, ", "), first.Format(layout))
}

// steps are those from one date to the next.
type steps struct {
	count       int
	last        time.Time
	least, most time.Duration
}

func (s *steps) add(t time.Time) {
	switch d := t.Sub(s.last); s.count {
	case 0:
	case 1:
		s.least, s.most = d, d
	default:
		s.least, s.most = min(s.least, d), max(s.most, d)
	}
	s.count++
	s.last = t
}

// equal reports whether the steps of more than three dates are alike.
func (s *steps) equal() bool { return s.count > 3 && s.alike() }

// alike reports whether the steps are in one direction and equal but for the lengths of months.
func (s *steps) alike() bool {
	const months = 31.0 / 28
	least, most := s.least, s.most
	if most < 0 {
		least, most = -most, -least
	}
	return s.count > 2 && least > 0 && float64(most) <= months*float64(least)
}

// oneWay reports whether more than two dates ascend, or descend.
func (s *steps) oneWay() bool { return s.count > 2 && (s.least > 0 || s.most < 0) }
