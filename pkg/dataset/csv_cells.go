package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// firstCells are the cells of the first rows of values.
type firstCells [][]string

// rows are the first rows of values.
func (s *csvStream) rows() firstCells {
	if s.opt.NoHeader || len(s.opt.head) == 0 {
		return s.opt.head
	}
	return s.opt.head[min(1+s.rep.Words, len(s.opt.head)):]
}

// all reports whether all cells of a column are of a kind.
func (rows firstCells) all(i int, is func(cell string) bool) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool { return !is(row[i]) })
}

// constant reports whether a column has one value.
func (rows firstCells) constant(i int) bool {
	return len(rows) >= fewestDates && rows.all(i, func(cell string) bool { return cell == rows[0][i] })
}

// apart reports whether no row has a number other than 0 in both of two columns.
func (rows firstCells) apart(i, j int) bool {
	const digits = "123456789"
	return !slices.ContainsFunc(rows, func(row []string) bool {
		return strings.ContainsAny(row[i], digits) && strings.ContainsAny(row[j], digits)
	})
}

const many = 20 // of the first rows

// blank reports whether a column has nothing in many rows, or a mark such as -> that is no value.
func (rows firstCells) blank(i int) bool {
	value := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return len(rows) >= many && !strings.ContainsFunc(rows[0][i], value) && rows.constant(i)
}

// code reports whether a column has one whole number in many rows, as that of a station: of several digits or with a zero before,
// as rain may be 0, and a price 5.
func (rows firstCells) code(i int) bool {
	const digits = 3
	if len(rows) < many || !rows.constant(i) || !isWhole(rows[0][i]) {
		return false
	}
	cell := rows[0][i]
	return len(cell) >= digits || len(cell) > 1 && cell[0] == '0'
}

// fullest returns the first of the rows with the fewest empty cells, or the row that is first if none has fewer: rows above may
// be about the device.
func (rows firstCells) fullest(first []string) []string {
	empty := func(row []string) (n int) {
		for _, cell := range row {
			if cell == "" {
				n++
			}
		}
		return n
	}
	for _, row := range rows {
		if empty(row) < empty(first) {
			first = row
		}
	}
	return first
}

// repeats reports whether a row has the value of the one above it in a column.
func (rows firstCells) repeats(i int) bool {
	for r := 1; r < len(rows); r++ {
		if rows[r][i] == rows[r-1][i] {
			return true
		}
	}
	return false
}

// wanders reports whether the numbers of a column go up and down.
func (rows firstCells) wanders(i int) bool {
	up, down := false, false
	for r := 1; r < len(rows); r++ {
		before, err := ParseNumber(rows[r-1][i])
		v, bad := ParseNumber(rows[r][i])
		if err != nil || bad != nil {
			return false
		}
		up, down = up || v > before, down || v < before
	}
	return up && down
}

const quarterHour, halfHour, anHour = 900, 1800, 3600 // seconds

// dayParts returns the seconds of what a column numbers for the days in another column: quarter-hours from 1, 92, 96 or 100 as
// clocks are changed, half-hours, 46, 48 or 50, or hours from 0, or from 1, 23, 24 or 25. It is 0 for other
// columns, and where the rows do not go on to a second day.
func (rows firstCells) dayParts(i, days int) (seconds int) {
	var before, from int
	for r, row := range rows {
		n, err := strconv.Atoi(row[i])
		switch newDay := r > 0 && row[days] != rows[r-1][days]; {
		case err != nil:
			return 0
		case r == 0:
			from = min(n, 1)
		case newDay && n == from:
			of := 0
			switch before + 1 - from {
			case 24:
				of = anHour
			case 23, 25:
				of = anHour * from
			case 46, 48, 50:
				of = halfHour * from
			case 92, 96, 100:
				of = quarterHour * from
			}
			if of == 0 || seconds > 0 && of != seconds {
				return 0
			}
			seconds = of
		case newDay || n != before+1:
			return 0
		}
		before = n
	}
	return seconds
}

// sinceMidnight returns the column that counts the seconds or minutes of each day of another column, and how many seconds one is;
// -1 if there is none. Those of a minute or of an hour are not above 59.
func (rows firstCells) sinceMidnight(names []string, days int) (column, seconds int) {
	for i, name := range names {
		for unit, named := range ofDay {
			m := named.FindStringSubmatch(name)
			most, before := 0, -1
			for r := 0; r < len(rows) && m != nil; r++ {
				if r > 0 && rows[r][days] != rows[r-1][days] {
					before = -1
				}
				n, err := strconv.Atoi(rows[r][i])
				if err != nil || n <= before || n*unit > 24*anHour {
					m = nil
				}
				most, before = max(most, n), n
			}
			if m != nil && (most > 59 || m[1] != "") && rows.repeats(days) {
				return i, unit
			}
		}
	}
	return -1, 0
}

// clockDigits and secondDigits are the digits of a time of day without a sign: 1430, 143059.
const clockDigits, secondDigits = 4, 6

func isDigits(cell string) bool {
	return cell != "" && len(cell) <= secondDigits && strings.Trim(cell, "0123456789") == ""
}

// digitClocks returns how many digits the times of day in a column have without a sign, where leading zeros may lack: four, of
// which some have more than two, as 0, 30, 100, 2330, or six; 0 if they are none.
func (rows firstCells) digitClocks(i int) (digits int) {
	long := 0
	for _, row := range rows {
		long = max(long, len(row[i]))
	}
	unit := 1 // of a minute
	if digits = clockDigits; long > clockDigits {
		digits, unit = secondDigits, 100
	}
	for _, row := range rows {
		n, err := strconv.Atoi(row[i])
		isClock := err == nil && isDigits(row[i]) && n/unit/100 <= 23 && n/unit%100 <= 59 && n%unit <= 59
		if row[i] != "" && !isClock {
			return 0
		}
	}
	if long <= 2 {
		return 0
	}
	return digits
}

// pointedHours reports whether a column has times of day written 18.00, and no hours with a half for a fraction.
func (rows firstCells) pointedHours(i int) bool {
	return rows.all(i, pointedHour.MatchString) && (rows.all(i, wholeHour.MatchString) || !rows.all(i, partHours.MatchString))
}

var wholeHour, partHours = regexp.MustCompile(`\.00$`), regexp.MustCompile(`\.[05]0$`)

// digitDates returns the format of the dates that a column has as digits: 20240131, 01.2024 and so on; "" for others.
func (rows firstCells) digitDates(i int) (f TimeFormat) {
	rows = rows[:min(many, len(rows))] // below may be words
	for _, d := range numberDates {
		likely := func(cell string) bool { v, err := ParseNumber(cell); return err == nil && d.likely(v) }
		if d.perSecond == 0 && len(rows) >= fewestDates && rows.all(i, likely) {
			f = d.format
		}
	}
	return f
}

// daysOf are the steps of a column of days in a layout of the package time.
func (rows firstCells) daysOf(i int, layout string) (days steps, ok bool) {
	for _, row := range rows {
		day, err := time.Parse(layout, row[i])
		if err != nil {
			return days, false
		}
		days.add(day)
	}
	return days, len(rows) > 0
}

// shortDays returns the century of a column of days written 240131, as the German office for roads writes them; "" for other
// columns. Where no name says that they are days, their steps are equal, and those of the numbers are not.
func (rows firstCells) shortDays(i int, named bool) (century string) {
	days, ok := rows.daysOf(i, "060102")
	var numbers steps
	for _, row := range rows {
		v, _ := strconv.Atoi(row[i])
		numbers.add(time.Unix(int64(v), 0))
	}
	if !ok || rows.yearLast(i) && !days.oneWay() || !named && !(days.equal() && !numbers.equal()) {
		return ""
	}
	century = shortToLong(rows[0][i][:2])[:2]
	if !rows.all(i, func(cell string) bool { return shortToLong(cell[:2])[:2] == century }) {
		return ""
	}
	return century
}

// yearLast reports whether days of six digits go on by days or weeks with the year last.
func (rows firstCells) yearLast(i int) bool {
	const most = 27 * 24 * time.Hour
	return slices.ContainsFunc([]string{"020106", "010206"}, func(layout string) bool {
		days, ok := rows.daysOf(i, layout)
		return ok && days.oneWay() && max(days.least.Abs(), days.most.Abs()) < most
	})
}

// periods returns the last of the periods of a year that a column numbers, as P1 or 1: 13 if they have four weeks each, 12 for
// months; 0 for other columns.
func (rows firstCells) periods(i int) (most int) {
	for _, row := range rows {
		n, ok := periodNumber(row[i])
		if !ok && row[i] != "" && !total.MatchString(row[i]) {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// periodNumber is the number of a period of a year, written 1 or P1.
func periodNumber(cell string) (n int, ok bool) {
	if n, err := strconv.Atoi(cell); err == nil && n >= 1 && n <= fourWeeks {
		return n, true
	}
	kind, n := timeNamed(cell)
	return n, kind == "period"
}

// periodText is the first day of a period of a year, of 12 or of 13 with four weeks each from 1 January on.
func periodText(year string, period int, fourWeeks bool) string {
	if fourWeeks {
		return fmt.Sprintf("%s-D%03d", year, 1+28*(period-1))
	}
	return fmt.Sprintf("%s-%02d", year, period)
}
