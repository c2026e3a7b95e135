package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// fewestWide is how many columns that are named as times, one after the other, make a table wide; fewestMonths of months that follow one another, beside a year.
const fewestWide, fewestMonths = 3, 2

// wholeWide are the kinds of times of which a wide table has all, by their number: other columns may be called Q1 to Q3, or 1 to 5.
var wholeWide = map[string][]int{"quarter": {4}, "weekday": {5, 7}, "number": {12, 24}, "hour": {24}, "season": {4, 12}}

// wide is a table of which some columns, one after the other, are times: it is read as if each of their cells were a row.
type wide struct {
	from, rest int      // the first of these columns, and that of the rest of the time, as a year or a day; -1 if their names are all of it
	names      []string // of all columns
	times      []string // what each of these columns says of the time, behind the rest
	before     bool     // it is said before the rest, as a year is before the month of the row
	turn       int      // the first column of the next year, in a table of which rows are two, as 1990/91; 0 for none
	seasons    bool     // the times are of three months each
	at, value  int      // places of the time and of the cells; -1 where they are not read
}

// valueColumn and timeColumn name what a wide table has no names for.
const valueColumn, timeColumn = "value", "time"

// wideOf finds the columns of times: behind the first few, and before up to mostBehind others. It is nil for a table that is not wide, or of which the options
// choose a column. first is its first row. An error is of a wide table that is not read.
func (s *csvStream) wideOf(names, first []string) (w *wide, err error) {
	const mostBehind = 6 // columns: a total, means of seasons, a remark
	if s.opt.Y != "" && s.opt.Y != valueColumn || slices.Contains(names, valueColumn) || len(s.opt.Also) > 0 || len(first) < len(names) {
		return nil, nil
	}
	if w = s.bareMonths(names); w != nil {
		return w, nil
	}
	for cut := 0; cut <= mostBehind && len(names) > cut && w == nil && err == nil; cut++ {
		w, err = wideUntil(names[:len(names)-cut], first, s.rows(), cut > 0, s.opt.anyOrder)
	}
	if w != nil {
		w.names = names
	}
	return w, err
}

// bareMonths is wideOf a table without names: a year in each row, one after the other, and twelve numbers.
func (s *csvStream) bareMonths(names []string) *wide {
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
	w := &wide{from: 1, names: names}
	for month := 1; month <= months; month++ {
		w.times = append(w.times, wideText("month", "", month, months))
	}
	return w
}

// mostYears is how many columns of years make a table wide although others stand behind.
const mostYears = 5

// wideUntil is wideOf a table that ends with the times, and begins with these rows. Where the times need no rest, rows have words for names: others may be days, of which
// the columns are years. anyOrder says that dates need not ascend or descend. If others stand behind, the times must be all months or quarters of a year, or years.
func wideUntil(names, first []string, rows firstCells, behind, anyOrder bool) (*wide, error) {
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	from := len(names)
	kind, last, twice, turn := "", 0, false, 0
	var at []int                   // the times, from the last
	for down := false; from > 1; { // the latest first
		k, t := timeNamed(names[from-1])
		if len(at) == 1 {
			down = t > last && (k == "year" || k == "date")
		}
		if k == "month" && kind == k && last == 1 && t == 12 && turn == 0 {
			turn = from
		} else if sorted := !anyOrder || k != "date" || t == last; k == "" || kind != "" && (k != kind || sorted && (t > last) != down && t != last || t == last && k != "year") || k == "year" && kind != "" && max(last-t, t-last) > 1 {
			break
		}
		twice = twice || kind != "" && t == last
		from, kind, last = from-1, k, t
		at = append(at, t)
	}
	count := len(names) - from
	if count == 0 {
		return nil, nil
	}
	rest := restOf(kind, count, names[:from], first)
	rests := rest >= 0
	if !rests {
		rest = from - 1
	}
	if behind && !((kind == "month" || kind == "season") && rests || kind == "quarter" && count == 4 || kind == "year" && (count >= mostYears || from > 0 && slices.Contains([]string{"month", "quarter"}, kindOfTime(first[from-1])))) {
		return nil, nil
	}
	fewest := fewestWide
	if kind == "month" && rests && count > 1 && at[0] == at[1]+1 {
		fewest = fewestMonths
	}
	if whole, is := wholeWide[kind]; is && !(slices.Contains(whole, count) && last == 1 && rests) || count < fewest {
		return nil, nil
	}
	if turn > 0 {
		if turn -= from; rests && fiscalPeriod(first[rest]) != "fiscal year" {
			return nil, fmt.Errorf("the columns %s to %s pass the turn of a year, and %s does not say of which of them it is the year: write both years there, as 1990/91",
				quoted(names[from]), quoted(names[len(names)-1]), quoted(first[rest]))
		}
	}
	w := &wide{from: from, rest: rest, turn: turn, seasons: kind == "season"}
	for k := range count {
		w.times = append(w.times, wideText(kind, names[from+k], at[count-1-k], count))
	}
	before, _ := timeNamed(names[from-1])
	part, _ := timeNamed(first[from-1])
	labelled := slices.ContainsFunc(first[:from], func(cell string) bool { return strings.ContainsFunc(cell, unicode.IsLetter) }) || len(rows) == 1
	byNumber := numbersMonths(names[from-1], rows, from-1)
	switch {
	case kind == "year" && !twice && before == "" && (part == "month" || part == "quarter" || byNumber), kind == "date" && part == "clock": // rows are months of these years, or hours of these days
		w.before = true
		for k, time := range w.times {
			if w.times[k] = time + " "; byNumber {
				w.times[k] = time + "M"
			}
		}
	case (kind == "year" || kind == "date") && !twice && labelled && before != kind:
		w.rest = -1
	case kind == "year" || kind == "date" || before == kind,
		kind == "weekday" || twice || !rests || dateFormat(first[rest]) == TimeFiscal && turn == 0:
		return nil, fmt.Errorf("the columns %s to %s are times, but a row is one observation: write one row for each time, with the time in the first column and the value in the second; or choose one column by CSVOptions.Y",
			quoted(names[from]), quoted(names[len(names)-1]))
	}
	return w, nil
}

// kindOfTime is that of timeNamed.
func kindOfTime(name string) string { kind, _ := timeNamed(name); return kind }

// restOf returns the column, of those before the times, that has the rest of them: the last, or one that is named as a year, with no others of times behind it. It is -1 if there
// is none.
func restOf(kind string, count int, names, first []string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if (i == len(names)-1 || partNames["year"].MatchString(names[i])) && wideRow(kind, count, first[i]) {
			return i
		}
		if k, _ := timeNamed(names[i]); k != "" {
			break
		}
	}
	return -1
}

// numbersMonths reports whether a column has the numbers of the twelve months, above what are no numbers, and its name does not say otherwise.
func numbersMonths(name string, rows [][]string, column int) bool {
	const months = 12
	for i, row := range rows {
		if n, err := strconv.Atoi(row[column]); (err == nil) != (i < months) || err == nil && n != i+1 {
			return false
		}
	}
	return len(rows) >= months && (name == "" || partNames["month"].MatchString(name))
}

// wideText is what one of some columns whose names are times of a kind says of it, behind the rest.
func wideText(kind, name string, at, count int) string {
	const hour = 60
	switch {
	case kind == "year":
		return strconv.Itoa(at)
	case kind == "clock":
		return fmt.Sprintf(" %02d:%02d", (at-1)/hour, (at-1)%hour)
	case kind == "hour" || kind == "number" && count == 24:
		return fmt.Sprintf(" %d:00", at)
	case kind == "date":
		return name
	case kind == "quarter":
		return fmt.Sprintf("-Q%d", at)
	}
	return fmt.Sprintf("-%d", at)
}

// header are the names of the long table.
func (w *wide) header(names []string) []string {
	if names = names[:w.from:w.from]; w.rest < 0 {
		names = append(names, timeColumn)
	}
	return append(names, valueColumn)
}

// row is the k-th row that a row of the wide table makes.
func (w *wide) row(cells []string, k int) []string {
	row := slices.Clone(cells[:w.from])
	if w.rest < 0 {
		row = append(row, w.times[k])
	} else {
		row[w.rest] = w.time(row[w.rest], k)
	}
	return append(row, cells[w.from+k])
}

// time is that of the k-th row that a row makes whose cells have the rest of it.
func (w *wide) time(rest string, k int) string {
	if w.before {
		return w.times[k] + rest
	}
	if w.turn > 0 && fiscalPeriod(rest) == "fiscal year" { // others are errors
		year, _ := strconv.Atoi(fourDigits.FindString(rest))
		if k >= w.turn {
			year++
		}
		rest = strconv.Itoa(year)
	}
	return rest + w.times[k]
}

// rows are the first rows that those of the wide table make.
func (w *wide) rows(of [][]string) (rows [][]string) {
	for _, cells := range of {
		for k := range w.times {
			if len(rows) < likeRows {
				rows = append(rows, w.row(cells, k))
			}
		}
	}
	return rows
}

// unfold makes the next row of the wide one that was scanned.
func (r *rowScanner) unfold() {
	w := r.s.wide
	if w.at >= 0 {
		if r.unfolded == 0 {
			r.rest = trim(r.fields[w.at])
		}
		if w.rest < 0 {
			r.rest = nil
		}
		if r.folded = r.folded[:0]; w.rest < 0 || !r.s.isMissing(r.rest) {
			r.folded = append(r.folded, w.time(string(r.rest), r.unfolded)...)
		}
		r.fields[w.at] = r.folded
	}
	if w.value >= 0 {
		r.fields[w.value] = r.fields[len(r.s.columns)+r.unfolded]
	}
	r.unfolded++
}

// unfoldsAt sets the places of the fields of wide rows, where those of the rows that they make are known.
func (s *csvStream) unfoldsAt() {
	w := s.wide
	w.at, w.value = s.places[max(w.rest, 0)], s.places[len(s.places)-1]
	if w.rest < 0 {
		w.at = s.places[w.from]
	}
	s.places = s.places[:w.from:w.from]
	for k := range w.names[w.from:] {
		place := -1
		if k < len(w.times) {
			place = len(s.columns) + k
		}
		s.places = append(s.places, place)
	}
	last := w.from + len(w.times) - 1
	s.rep.Wide = fmt.Sprintf("%s to %s", columnName(w.names, w.from), columnName(w.names, last))
	if len(w.names) > last+1 && w.names[last+1] != "" {
		s.rep.Wide += fmt.Sprintf(", without %s,", columnName(w.names, last+1))
	}
	if w.seasons {
		s.rep.Wide += ", at the middle of its three months,"
	}
}

// fields is memory for those that are read of a row.
func (s *csvStream) fields() [][]byte {
	n := len(s.columns)
	if s.wide != nil {
		n += len(s.wide.times)
	}
	return make([][]byte, n)
}

// wideRow reports whether a cell can be the rest of the time that the names of columns give: a year for quarters and months, a week for its
// days, a day for its hours.
func wideRow(kind string, count int, cell string) bool {
	n, err := strconv.Atoi(cell)
	format := dateFormat(cell)
	switch {
	case kind == "clock" || kind == "hour" || kind == "number" && count == 24:
		return format != TimeAuto && periodOf(cell) == "" && !strings.Contains(cell, ":") || err == nil && MayBeDate(float64(n))
	case kind == "weekday":
		return err == nil && n >= 1 && n <= 53 || format == TimeWeek
	}
	return err == nil && n >= 1500 && n < 2200 || format == TimeFiscal || fiscalPeriod(cell) == "fiscal year"
}

var (
	clockName   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::\d{2})?(?: ?([AaPp])[Mm])?(?:\s?[-–].*)?$`)
	hourName    = regexp.MustCompile(`(?i)^(?:h|he|hour|hr|std|stunde|heure)[-_ .]?(\d{1,2})$`)
	yearName    = regexp.MustCompile(`^[XFY]?(\d{4})(?: \[YR\d{4}\])?$`)
	quarterName = regexp.MustCompile(`^(?:(?:[QqTt]|[Qq]tr\.? ?)([1-4])|([1-4])(?:[QqTt]|\. ?(?i:quartal|trimestre|quarter)))$`)
)

// seasonNames are the middle months of three: DJF is 1, of December to February. A winter is of the year of its January.
var seasonNames = func() map[string]int {
	const initials = "djfmamjjasondj"
	names := map[string]int{}
	for middle := 1; middle <= 12; middle++ {
		names[initials[middle-1:middle+2]] = middle
	}
	for i, season := range []string{"winter win hiver invierno", "spring spr frühling frühjahr printemps primavera", "summer sum sommer été verano", "autumn aut fall herbst automne otoño"} {
		for _, name := range strings.Fields(season) {
			names[name] = 1 + 3*i
		}
	}
	return names
}()

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
	if middle, ok := seasonNames[strings.ToLower(name)]; ok {
		return "season", middle
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
	if _, day, ok := cutWeekday(name + " 1"); ok && !strings.ContainsAny(name, "0123456789") && day != unknownWeekday {
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
