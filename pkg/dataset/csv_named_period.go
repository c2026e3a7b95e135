package dataset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// barePeriod is a year with a number that may be a quarter or a week, or a month: 2000-1, 1/2000, 200001, 2000:1; or with a Roman
// one: III 2000.
var barePeriod = regexp.MustCompile(`^(?:(\d{4})[-/. :]?(\d{1,2}|[IVX]{1,4})|(\d{1,2}|[IVX]{1,4})[-/. ]{1,2}(\d{4}))$`)

var romanMonths = strings.Fields("I II III IV V VI VII VIII IX X XI XII")

// bareParts returns the year and the number of a bare period.
func bareParts(text string) (year, number string, ok bool) {
	m := barePeriod.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	year, number = m[1]+m[4], m[2]+m[3]
	if number[0] > '9' {
		i := slices.Index(romanMonths, number)
		return year, strconv.Itoa(i + 1), i >= 0
	}
	return year, number, true
}

// periodSign returns the sign, Q, H, W, M or P, of the period that the numbers of a column are, by its name and first rows, and
// a slash for days with the year last. They are quarters of one digit from 1 to 4, not only 1 and 4 as of months that begin one;
// half-years of one from 1 to 2; or weeks. Without such a name, numbers of one digit are quarters if they go from the fourth of a
// year to the first of the next, and Roman ones months if any is above 4. It is "" for any other column.
func (s *csvStream) periodSign(name string, column int) string {
	sign, most := "", 0
	if sign = s.yearPeriods(column); sign != "" {
		return sign
	}
	switch {
	case dateName.MatchString(name) && len(s.rows()) > 0 && s.rows().all(column, yearBehind.MatchString),
		dateName.MatchString(name) && s.rows().yearLast(column): // or xOf has found the year first
		return "/"
	case partNames["quarter"].MatchString(name):
		sign, most = "Q", 4
	case partNames["half"].MatchString(name):
		sign, most = "H", 2
	case partNames["week"].MatchString(name):
		sign, most = "W", 53
	default:
		return s.unnamedSign(column)
	}
	rows, within := 0, false
	for i, row := range s.opt.head {
		cell := row[column]
		if i == 0 && !s.opt.NoHeader || cell == "" {
			continue
		}
		year, number, ok := bareParts(cell)
		n, _ := strconv.Atoi(number)
		if y, _ := strconv.Atoi(year); !ok || y < 1800 || y > 2200 || n < 1 || n > most || sign != "W" && len(number) > 1 {
			return ""
		}
		rows++
		within = within || sign != "Q" || slices.Contains([]int{2, 3}, n)
	}
	if rows == 0 || !within {
		return ""
	}
	return sign
}

// unnamedSign is periodSign of a column whose name tells nothing.
func (s *csvStream) unnamedSign(column int) string {
	roman, above, quarters, turns := true, false, true, 0
	before := 0 // of the row above: its quarter since the year 0
	for _, row := range s.rows() {
		year, number, ok := bareParts(row[column])
		if _, err := strconv.ParseFloat(row[column], 64); !ok || err == nil { // numberOrder finds periods among numbers
			return ""
		}
		y, _ := strconv.Atoi(year)
		n, _ := strconv.Atoi(number)
		roman, above = roman && strings.ContainsAny(row[column], "IVX"), above || n > 4
		at := 4*y + n - 1
		quarters = quarters && len(number) == 1 && (before == 0 || at-before == 1 || at-before == -1)
		if before > 0 && at/4 != before/4 {
			turns++ // from a fourth to a first
		}
		before = at
	}
	switch {
	case roman && above:
		return "M"
	case quarters && !above && turns > 0:
		return "Q"
	}
	return ""
}

// yearPeriod is a period of a year, of which there are 12 or 13: 2015 P01, P1 2015.
var yearPeriod = regexp.MustCompile(`(?i)^(?:FY ?)?(\d{4})[-/ ]*(P(?:er(?:iod)?)?\.? ?\d{1,2})$|` +
	`^(P(?:er(?:iod)?)?\.? ?\d{1,2})[-/, ]+(?:FY ?)?(\d{4})$`)

// yearPeriods is periodSign of a column of periods: P if a year has 13 of four weeks each, M if it has 12, and else "".
func (s *csvStream) yearPeriods(column int) string {
	var numbers firstCells
	for _, row := range s.rows() {
		m := yearPeriod.FindStringSubmatch(row[column])
		if m == nil {
			return ""
		}
		numbers = append(numbers, []string{m[2] + m[3]})
	}
	return map[int]string{12: "M", fourWeeks: "P"}[numbers.periods(0)]
}

// yearBehind is a day written 31012000, or 01312000; no number of a year, a month and a day is one. dayDigits may have two digits
// of the year.
var (
	yearBehind = regexp.MustCompile(`^[0-3]\d[0-3]\d(?:19|20)\d\d$`)
	dayDigits  = regexp.MustCompile(`^([0-3]\d)([0-3]\d)((?:19|20)?\d\d)$`)
)

// withSign writes a bare period with its sign, one of four weeks as its first day, and signs between the parts of a day.
func withSign(sign, text string) string {
	if sign == "" {
		return text
	}
	if sign == "/" {
		return dayDigits.ReplaceAllString(text, "$1/$2/$3")
	}
	if m := yearPeriod.FindStringSubmatch(text); m != nil {
		if n, ok := periodNumber(m[2] + m[3]); ok {
			return periodText(m[1]+m[4], n, sign == "P")
		}
	}
	if year, number, ok := bareParts(strings.TrimSpace(text)); ok {
		return year + "-" + sign + number
	}
	return text
}
