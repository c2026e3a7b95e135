package dataset

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// barePeriod is a year with a number that may be a quarter or a week, or a month: 2000-1, 1/2000, 200001.
var barePeriod = regexp.MustCompile(`^(?:(\d{4})[-/. ]?(\d{1,2})|(\d{1,2})[-/. ](\d{4}))$`)

// bareParts returns the year and the number of a bare period.
func bareParts(text string) (year, number string, ok bool) {
	m := barePeriod.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1] + m[4], m[2] + m[3], true
}

// periodSign returns the sign, Q, H or W, of the period that the numbers of a column are, by its name and the first rows: quarters of one
// digit from 1 to 4, not only those that begin a quarter as months do, half-years of one from 1 to 2, or weeks. It is "" for any other column.
func (s *csvStream) periodSign(name string, column int) string {
	sign, most := "", 0
	switch {
	case partNames["quarter"].MatchString(name):
		sign, most = "Q", 4
	case partNames["half"].MatchString(name):
		sign, most = "H", 2
	case partNames["week"].MatchString(name):
		sign, most = "W", 53
	default:
		return ""
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

// withSign writes a bare period with its sign.
func withSign(sign, text string) string {
	if sign == "" {
		return text
	}
	if year, number, ok := bareParts(strings.TrimSpace(text)); ok {
		return year + "-" + sign + number
	}
	return text
}
