package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// xColumns are the columns that x is made of, in the order of a date: one, as a rule.
type xColumns struct {
	columns []int
	before  []string // what is written before each of them
	after   string
	digits  map[int]int // of some parts, which are filled with zeros
	counted int         // the part that numbers the hours of a day, its minutes or seconds, or its half-hours from 1; 0 for none
	seconds int         // of each of them
	periods int         // the second part numbers so many periods of a year; 0 if it does not
	ranges  bool        // the second part has ranges of hours
	short   bool        // the first part has years of two digits
}

// text joins the cells of a row to a date.
func (x xColumns) text(cell func(column int) string) (text string) {
	for i, column := range x.columns {
		text += x.before[i] + x.part(i, cell(column))
	}
	return text + x.after
}

// part is what the cell of a part says: with the zeros that fill its digits, the day of the year that begins four weeks, the
// hour, or the time at which a half-hour begins; of those beyond a day, where clocks are set back, the last.
func (x xColumns) part(i int, cell string) string {
	if n, err := strconv.Atoi(cell); i > 0 && i == x.counted && err == nil && n >= 0 {
		if x.seconds <= halfHour && x.seconds >= quarterHour {
			n--
		}
		n = min(x.seconds*n, 24*anHour-x.seconds%anHour)
		return fmt.Sprintf("%02d:%02d:%02d", n/anHour, n/60%60, n%60)
	}
	switch {
	case i == 0 && x.short && len(cell) < 3:
		return shortToLong(cell)
	case i > 0 && x.periods > 0:
		if n, ok := periodNumber(cell); ok {
			return periodText("", n, x.periods == fourWeeks)
		}
	case i > 0 && x.ranges:
		if from, ok := hourRange(cell); ok {
			return from + ":00"
		}
	}
	if len(x.columns) > 1 {
		cell = strings.TrimSuffix(cell, ".0") // as programs write whole numbers where some are missing
	}
	if i > 0 && strings.HasPrefix(cell, "H") { // HE01
		cell = hourName.ReplaceAllString(cell, "$1")
	}
	return strings.Repeat("0", max(0, x.digits[i]-len(cell))) + cell
}

func oneColumn(i int) xColumns { return xColumns{columns: []int{i}, before: []string{""}} }

// add takes a further part.
func (x *xColumns) add(column int, before string) {
	x.columns, x.before = append(x.columns, column), append(x.before, before)
}

// addDigits takes a further part, times of day in digits.
func (x *xColumns) addDigits(column, digits int) {
	x.digits = map[int]int{len(x.columns): digits}
	x.add(column, " ")
}

// clock adds columns of minutes and seconds behind that of hours, if there are any.
func (x *xColumns) clock(minute, second int) {
	if x.after = ":00"; minute < 0 {
		return
	}
	x.digits, x.after = map[int]int{}, ""
	for _, column := range []int{minute, second} {
		if column < 0 {
			return
		}
		x.digits[len(x.columns)] = 2
		x.add(column, ":")
	}
}

// xOf finds the columns of x where the options name none, by the names and the first row of values. They are year and month, with
// the day and the time of day if there are such columns; year and day of the year, half-year, quarter, week or period of four
// weeks; a date with its time of day or its hour; the first date behind a column that counts the rows or has words, or in the
// place of a y that is not named; the one column named as a time; or the first column. Columns that are empty are passed over.
func (s *csvStream) xOf(names, first []string) (x xColumns) {
	if s.wide != nil && s.wide.rest < 0 && s.wide.part == "" { // whatever the names of the columns before, as geo\TIME_PERIOD
		return oneColumn(s.wide.from)
	}
	if len(names) > 2 && names[0]+names[1] == "" {
		for _, form := range leadingForms {
			if x, ok := s.leadingParts(form); ok {
				return x
			}
		}
	}
	var used []int
	for i := range names {
		if !s.empty(i) {
			used = append(used, i)
		}
	}
	rows := s.rows()
	if len(used) < 2 || len(used) == len(names) || len(first) < len(names) {
		return xFinder{names, first, rows, s.opt.Y == ""}.x()
	}
	some := func(row []string) (cells []string) {
		for _, i := range used {
			cells = append(cells, row[i])
		}
		return cells
	}
	var short firstCells
	for _, row := range rows {
		short = append(short, some(row))
	}
	x = xFinder{some(names), some(first), short, s.opt.Y == ""}.x()
	for k, i := range x.columns {
		x.columns[k] = used[i]
	}
	return x
}

// leadingForm is a year and smaller parts of a date, down to the minute, in the first columns: what is written before each and
// after the last, and how many there are at least.
type leadingForm struct {
	before, after []string
	fewest        int
}

// leadingForms have the month, or the day of the year and the hour as the OMNI data of NASA.
var leadingForms = []leadingForm{
	{[]string{"", "-", "-", " ", ":"}, []string{"-1", "", "", ":00", ""}, 2},
	{[]string{"", "-D", "T", ":"}, []string{"-D1", "", ":00", ""}, 3},
}

// leadingParts returns the first columns, which have no names, if they hold the parts of a form: months that follow one another
// by equal steps, or times that ascend.
func (s *csvStream) leadingParts(form leadingForm) (x xColumns, ok bool) {
	rows := s.rows()
	for n := 1; n <= len(form.before) && len(rows) >= fewestDates && n < len(rows[0]); n++ {
		minutes := map[int]int{len(form.before) - 1: 2}
		x = xColumns{columns: timeline.Range(0, n), before: form.before[:n], after: form.after[n-1], digits: minutes}
		var by steps
		for _, row := range rows {
			t, _, ok := dateOf(x.text(func(column int) string { return row[column] }), TimeISO)
			if !ok || !isWhole(row[n-1]) {
				return x, false
			}
			by.add(t)
		}
		switch {
		case n >= form.fewest && (n == 2 && by.alike() || n > 2 && by.oneWay()):
			return x, true
		case by.oneWay(): // what follows need not be parts
			return x, false
		}
	}
	return x, false
}

// xFinder finds the columns of x in a table without empty columns.
type xFinder struct {
	names, first []string // of values
	rows         firstCells
	anyY         bool // y is not named
}

func (f xFinder) x() xColumns {
	if len(f.first) < len(f.names) || len(f.names) < 2 {
		return oneColumn(0)
	}
	if date := f.date(); date >= 0 {
		return f.dated(date)
	}
	for _, find := range []func() (xColumns, bool){f.unnamedYear, f.year, f.shortDay, f.digitDate} {
		if x, ok := find(); ok {
			return x
		}
	}
	return oneColumn(f.number())
}

// part is the first column that is named as a part of a date and whose first value fits; -1 if there is none.
func (f xFinder) part(name string, fits func(cell string) bool) int {
	for i, n := range f.names {
		if partNames[name].MatchString(n) && fits(f.first[i]) {
			return i
		}
	}
	return -1
}

// within is a whole number of a range.
func within(lo, hi int) func(cell string) bool {
	return func(cell string) bool {
		n, err := strconv.Atoi(strings.TrimSuffix(cell, ".0"))
		return err == nil && n >= lo && n <= hi
	}
}

var isYear = within(1000, 2999)

// twoDigits is a year of two digits.
var twoDigits = regexp.MustCompile(`^\d\d$`)

// shortToLong is a year with four digits: one of two, or one without a leading zero, is of 1969 to 2068 (POSIX).
func shortToLong(year string) string {
	if year = fmt.Sprintf("%02s", year); year >= "69" {
		return "19" + year
	}
	return "20" + year
}

// hours are those of a range of one hour: 00 - 01, 23-24h.
var hours = regexp.MustCompile(`^(\d{1,2})\s?[-–]\s?(\d{1,2})\s?h?$`)

// hourRange is the first hour of such a range.
func hourRange(cell string) (from string, ok bool) {
	m := hours.FindStringSubmatch(cell)
	if m == nil {
		return "", false
	}
	lo, _ := strconv.Atoi(m[1])
	hi, _ := strconv.Atoi(m[2])
	return m[1], lo < 24 && (hi == lo+1 || lo == 23 && hi == 0)
}

// pointedClock is a time of day with points, which is a day in other columns.
var pointedClock = regexp.MustCompile(`^\d{1,2}\.\d{2}\.\d{2}$`)

// pointedHour is one without seconds, which are numbers elsewhere.
var pointedHour = regexp.MustCompile(`^\d{1,2}\.[0-5]\d$`)

// halfDay is a half of a day, in a column behind its time.
var halfDay = regexp.MustCompile(`^[AaPp]\.?[Mm]\.?$`)

func isClock(cell string) bool { return clock.MatchString(cell) || pointedClock.MatchString(cell) }

// date is the first column of dates, or the next where that has one date, as of a download, in all rows; -1 if there is none.
func (f xFinder) date() int {
	date := -1
	for i, cell := range f.first[:len(f.names)] {
		if date >= 0 && !f.rows.constant(date) {
			break
		}
		if (date < 0 || !f.rows.constant(i)) && isDate(cell) {
			date = i
		}
	}
	return date
}

// inWords reports whether a text is a quarter, a half-year or a week.
func inWords(text string) bool {
	return slices.Contains([]TimeFormat{TimeQuarter, TimeHalf, TimeWeek}, dateFormat(text))
}

// unnamedYear is a year and a part of it in two columns without names, as Destatis writes them.
func (f xFinder) unnamedYear() (x xColumns, ok bool) {
	if len(f.names) <= 2 || f.names[0]+f.names[1] != "" || !isYear(f.first[0]) {
		return x, false
	}
	if monthOf(f.first[1]) > 0 && len(f.first[1]) > 2 {
		return xColumns{columns: []int{0, 1}, before: []string{"", "-"}}, true
	}
	return xColumns{columns: []int{1, 0}, before: []string{"", " "}}, inWords(f.first[1] + " " + f.first[0])
}

// year is a column of years with others of their parts.
func (f xFinder) year() (x xColumns, ok bool) {
	year := f.part("year", isYear)
	if year < 0 { // as Destatis has Zeit
		year = slices.IndexFunc(f.names, timeName.MatchString)
		if year >= 0 && !(f.rows.repeats(year) && f.rows.all(year, isYear)) {
			year = -1
		}
	}
	if year < 0 {
		if year = f.part("year", twoDigits.MatchString); year < 0 {
			return x, false
		}
		x.short = true
	}
	x.columns, x.before = []int{year}, []string{""}
	for i, name := range f.names {
		if most := f.rows.periods(i); partNames["period"].MatchString(name) && (most == 12 || most == fourWeeks) {
			x.periods = most
			x.add(i, "")
			return x, true
		}
	}
	isMonth := func(cell string) bool {
		return within(1, 12)(cell) || monthOf(cell) > 0 && len(cell) > 2 || numberedMonth.MatchString(cell)
	}
	month := f.part("month", isMonth)
	named := func(cell string) bool { return monthOf(cell) > 0 && len(cell) > 2 }
	for i := 0; i < len(f.names) && month < 0 && f.rows.repeats(year); i++ { // by its cells
		if f.rows.all(i, named) && !f.rows.constant(i) {
			month = i
		}
	}
	if month >= 0 {
		x.add(month, "-")
		if day := f.part("day", within(1, 31)); day >= 0 {
			x.add(day, "-")
			if clocks := f.part("time", isClock); !f.addHours(&x, " ") && clocks >= 0 {
				x.add(clocks, " ")
			}
		}
		return x, true
	}
	for _, of := range []struct {
		name, sign string
		most       int
	}{{"quarter", "Q", 4}, {"week", "W", 53}, {"half", "H", 2}, {"ordinal", "D", 366}} {
		i := f.part(of.name, func(cell string) bool {
			if of.name == "ordinal" { // a part of the day may follow
				cell, _, _ = strings.Cut(cell, ".")
			}
			return within(1, of.most)(strings.TrimPrefix(strings.ToUpper(cell), of.sign))
		})
		if i < 0 {
			continue
		}
		if x.add(i, "-"+of.sign); strings.HasPrefix(strings.ToUpper(f.first[i]), of.sign) {
			x.before[1] = "-"
		}
		if of.name == "ordinal" {
			f.addHours(&x, "T")
		}
		return x, true
	}
	for _, name := range []string{"quarter", "half", "week"} { // 1. Quartal
		if i := f.part(name, func(cell string) bool { return inWords(cell + " " + f.first[year]) }); i >= 0 {
			return xColumns{columns: []int{i, year}, before: []string{"", " "}}, true
		}
	}
	return x, false
}

// addHours adds the time of day, if there are columns of its parts.
func (f xFinder) addHours(x *xColumns, before string) bool {
	hour := f.part("hour", within(0, 23))
	if hour >= 0 {
		x.add(hour, before)
		x.clock(f.part("minute", within(0, 59)), f.part("second", within(0, 59)))
	}
	return hour >= 0
}

// shortDay is a column of days of six digits, with the hour if there is a column of it.
func (f xFinder) shortDay() (x xColumns, ok bool) {
	for i, name := range f.names {
		named := dateName.MatchString(name) || partNames["day"].MatchString(name)
		if century := f.rows.shortDays(i, named); century != "" && (i == 0 || name != "") {
			x = xColumns{columns: []int{i}, before: []string{century}, after: " 00:00"}
			if hour := f.part("hour", within(0, 24)); hour >= 0 {
				x.add(hour, " ")
				x.after = ":00"
			}
			return x, true
		}
	}
	return x, false
}

// digitDate is a date written 20240131 before a column of the time of day, or of the hour.
func (f xFinder) digitDate() (x xColumns, ok bool) {
	at := f.part("time", func(cell string) bool { return clock.MatchString(cell) || isDigits(cell) })
	if hour := f.part("hour", within(0, 24)); at < 0 && hour > 0 && isDay(f.first[hour-1]) {
		return xColumns{columns: []int{hour - 1, hour}, before: []string{"", " "}, after: ":00"}, true
	}
	if at < 1 || !isDay(f.first[at-1]) {
		return x, false
	}
	x = oneColumn(at - 1)
	if clock.MatchString(f.first[at]) {
		x.add(at, " ")
		return x, true
	}
	digits := f.rows.digitClocks(at)
	x.addDigits(at, digits)
	return x, digits > 0
}

// number is the column of x that are numbers: the one that is named as a time; or that of dates in digits behind a first column
// which is neither, and before one named T, which may be a temperature; or the first.
func (f xFinder) number() int {
	at := f.namedTime()
	mayBeDate := func(i int) bool { v, err := ParseNumber(f.first[i]); return err == nil && MayBeDate(v) }
	aside := f.anyY || !isNumber(f.first[0]) || f.rows.constant(0)
	if at > 0 && len(f.names[at]) > 1 || !aside || timeName.MatchString(f.names[0]) || mayBeDate(0) {
		return at
	}
	for i := 1; i < cmp.Or(at, len(f.names)-1); i++ {
		if (at == 0 || !f.rows.constant(i)) && (dateName.MatchString(f.names[i]) && mayBeDate(i) || f.rows.digitDates(i) != "") {
			return i
		}
	}
	return at
}

// dated are the columns of x where one has dates: the first column, if that may be x too, or the date, with the day of a month or
// the time of day in another column.
func (f xFinder) dated(date int) xColumns {
	counts := counter.MatchString(f.names[0]) && within(0, 1)(f.first[0])
	words := strings.ContainsFunc(f.first[0], unicode.IsLetter) && !isNumber(f.first[0])
	instead := date == 1 && f.anyY && len(f.names) > 2  // no date is a y
	known := f.rows.wanders(0) && !f.rows.repeats(date) // by the dates, and not by the first column
	aside := counts || words || instead || f.rows.constant(0) || known || f.namedTime() == date
	if date > 0 && !aside {
		return oneColumn(0)
	}
	day := f.part("day", within(1, 31))
	if day >= 0 && periodOf(f.first[date]) == "month" && f.rows.repeats(date) { // 2020-01 and 5
		if _, _, ok := dateOf(f.first[date]+"-"+f.first[day], TimeISO); ok {
			return xColumns{columns: []int{date, day}, before: []string{"", "-"}}
		}
		return xColumns{columns: []int{day, date}, before: []string{"", " "}}
	}
	return f.timed(date)
}

// timed are a column of dates and that of their time of day, if there is one and the dates do not have it.
func (f xFinder) timed(date int) xColumns {
	x := oneColumn(date)
	if strings.Contains(f.first[date], ":") {
		return x
	}
	next := date + 1
	behind := next < len(f.names) // a column
	digits := f.part("time", isDigits)
	clocks := max(f.part("time", isClock), f.part("hour", clock.MatchString))
	if i := f.part("time", pointedHour.MatchString); i >= 0 && f.rows.pointedHours(i) {
		clocks = i
	}
	inDay := func(cell string) bool { return within(0, 24)(hourName.ReplaceAllString(cell, "$1")) }
	hour, ranges := f.part("hour", inDay), f.part("hour", func(cell string) bool { _, ok := hourRange(cell); return ok })
	counted, unit := f.rows.sinceMidnight(f.names, date)
	switch {
	case behind && clock.MatchString(f.first[next]) &&
		(f.names[date]+f.names[next] == "" || f.rows.constant(next) || f.rows.repeats(date)):
		x.add(next, " ")
	case digits >= 0 && f.rows.digitClocks(digits) > 0:
		x.addDigits(digits, f.rows.digitClocks(digits))
	case clocks >= 0:
		x.add(clocks, " ")
	case hour >= 0:
		x.add(hour, " ")
		x.after = ":00"
	case ranges >= 0:
		x.add(ranges, " ")
		x.ranges = true
	case behind && f.names[next] == "" && f.rows.digitClocks(next) > 0 && f.rows.repeats(date):
		x.addDigits(next, f.rows.digitClocks(next))
	case counted >= 0:
		x.counted, x.seconds = len(x.columns), unit
		x.add(counted, " ")
	case behind:
		if x.seconds = f.rows.dayParts(next, date); x.seconds > 0 && (x.seconds < anHour || hourly.MatchString(f.names[next])) {
			x.counted = len(x.columns)
			x.add(next, " ")
		}
	}
	half := slices.IndexFunc(f.first[:len(f.names)], halfDay.MatchString)
	if half >= 0 && len(x.columns) == 2 && clock.MatchString(f.first[x.columns[1]]) {
		x.add(half, " ")
	}
	return x
}

// namedTime returns the one column of numbers or dates that is named as a time, or the first of several behind a constant column,
// where the first is not; else the first.
func (f xFinder) namedTime() (at int) {
	isTime := func(i int) bool {
		name, date := f.names[i], isDate(f.first[i])
		named := timeName.MatchString(name) || partNames["year"].MatchString(name) || partNames["day"].MatchString(name)
		return named && (isNumber(f.first[i]) || date) || dateName.MatchString(name) && date
	}
	if isTime(0) {
		return 0
	}
	for i := range f.names {
		switch {
		case isTime(i) && at > 0 && f.rows.constant(0):
			return at
		case isTime(i) && at > 0:
			return 0
		case isTime(i):
			at = i
		}
	}
	return at
}

// x is the text of x in a row: nothing if a part of it is missing.
func (r *rowScanner) x() []byte {
	p := r.s.parts
	if len(p.columns) == 1 && p.before[0] == "" {
		text := trim(r.fields[r.s.x])
		if r.s.sign != "" {
			text = []byte(withSign(r.s.sign, string(text)))
		}
		return text
	}
	r.joined = r.joined[:0]
	for i, place := range p.columns {
		cell := trim(r.fields[place])
		if r.s.isMissing(cell) {
			return nil
		}
		r.joined = append(append(r.joined, p.before[i]...), p.part(i, string(cell))...)
	}
	r.joined = append(r.joined, p.after...)
	return r.joined
}
