package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fewestWide is how many columns that are named as times, one after the other, make a table wide.
const fewestWide = 3

// wholeWide are the kinds of times of which a wide table has all, by their number: other columns may be called Q1 to Q3, or 1 to 5.
var wholeWide = map[string][]int{"quarter": {4}, "weekday": {5, 7}, "number": {12, 24}, "hour": {24}}

// checkWide returns an error for a table of which all columns behind the first few are times: a row for each series, or for each year or
// day. first is its first row.
func checkWide(names, first []string) error {
	const mostBehind = 6 // columns: a total, means of seasons, a remark
	for cut := 0; cut <= mostBehind && len(names) > cut; cut++ {
		if err := checkWideEnd(names[:len(names)-cut], first, cut > 0); err != nil {
			return err
		}
	}
	return nil
}

// checkBare is checkWide of a table without names: a year in each row, one after the other, and twelve numbers.
func (s *csvStream) checkBare(names []string) error {
	const months = 12
	rows := s.rows()
	if len(names) != 1+months || strings.Join(names, "") != "" || len(rows) < fewestDates {
		return nil
	}
	for i, row := range rows {
		n, err := strconv.Atoi(row[0])
		if before, _ := strconv.Atoi(rows[max(i-1, 0)][0]); err != nil || n < 1500 || n >= 2200 || i > 0 && n != before+1 {
			return nil
		}
	}
	return fmt.Errorf("the rows have a year and %d numbers without names, as months are: write one row for each month, with the month in the first column and the value in the second; or choose one column by CSVOptions.Y", months)
}

// mostYears is how many columns of years make a table wide although others stand behind.
const mostYears = 5

// checkWideEnd is checkWide of a table that ends with the times. If others stand behind, the times must be all months or quarters of a year, or years.
func checkWideEnd(names, first []string, behind bool) error {
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	from := len(names)
	kind, last := "", 0
	for from > 1 {
		k, t := timeNamed(names[from-1])
		if k == "" || kind != "" && (k != kind || t > last || t == last && k != "year") || k == "year" && kind != "" && last-t > 1 {
			break
		}
		from, kind, last = from-1, k, t
	}
	count := len(names) - from
	if behind && !(kind == "month" && count == 12 || kind == "quarter" && count == 4 || kind == "year" && count >= mostYears) {
		return nil
	}
	if whole, is := wholeWide[kind]; is &&
		!(slices.Contains(whole, count) && last == 1 && len(first) >= from && wideRow(kind, count, first[from-1])) {
		return nil
	}
	if count < fewestWide {
		return nil
	}
	return fmt.Errorf("the columns %s to %s are times, but a row is one observation: write one row for each time, with the time in the first column and the value in the second; or choose one column by CSVOptions.Y",
		quoted(names[from]), quoted(names[len(names)-1]))
}

// wideRow reports whether a cell can be the rest of the time that the names of columns give: a year for quarters and months, a week for its
// days, a day for its hours.
func wideRow(kind string, count int, cell string) bool {
	n, err := strconv.Atoi(cell)
	format := dateFormat(cell)
	switch {
	case kind == "weekday":
		return err == nil && n >= 1 && n <= 53 || format == TimeWeek
	case count == 24:
		return format != TimeAuto && periodOf(cell) == "" && !strings.Contains(cell, ":") || err == nil && MayBeDate(float64(n))
	}
	return err == nil && n >= 1500 && n < 2200 || format == TimeFiscal
}

var (
	clockName   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::\d{2})?(?: ?([AaPp])[Mm])?(?:\s?[-–].*)?$`)
	hourName    = regexp.MustCompile(`(?i)^(?:h|he|hour|hr|std|stunde|heure)[-_ .]?(\d{1,2})$`)
	yearName    = regexp.MustCompile(`^[XFY]?(\d{4})(?: \[YR\d{4}\])?$`)
	quarterName = regexp.MustCompile(`^(?:(?:[QqTt]|[Qq]tr\.? ?)([1-4])|([1-4])(?:[QqTt]|\. ?(?i:quartal|trimestre|quarter)))$`)
)

// timeNamed says which kind of time a column is named by, and numbers it in ascending order; the kind is "" for another name.
func timeNamed(name string) (kind string, at int) {
	if m := yearName.FindStringSubmatch(name); m != nil {
		if n, _ := strconv.Atoi(m[1]); n >= 1500 && n < 2200 {
			return "year", n
		}
	}
	if month := monthOf(strings.TrimSuffix(name, ".")); month > 0 && len(name) > 2 {
		return "month", month
	}
	if m := quarterName.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		return "quarter", n
	}
	if m := hourName.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return "hour", n
	}
	if m := clockName.FindStringSubmatch(name); m != nil {
		hour, _ := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2])
		if half := strings.ToLower(m[3]); half != "" {
			if hour %= 12; half == "p" {
				hour += 12
			}
		}
		return "clock", 60*hour + minute + 1
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= 24 && name[0] != '0' {
		return "number", n
	}
	if _, day, ok := cutWeekday(name + " 1"); ok && day != unknownWeekday {
		return "weekday", 1 + (int(day)+6)%7
	}
	t, err := ParseDate(name)
	if f := dateFormat(name); err != nil && f != TimeAuto { // day and month in either order, or a year of two digits
		dmy, mdy := bothWays(name)
		if t = mdy; f == TimeDMY {
			t = dmy
		}
	} else if err != nil {
		return "", 0
	}
	return "date", int(t.Unix())
}
