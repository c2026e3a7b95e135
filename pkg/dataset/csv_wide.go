package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// fewestWide is how many columns that are named as times, one after the other, make a table wide, and mostYears how many years
// with others behind them do.
const fewestWide, mostYears = 3, 5

// wide is a table of which some columns are times: it is read as if each of their cells were a row.
type wide struct {
	times
	from      int      // the first of these columns
	rest      int      // the column of the rest of the time, as a year or a day; -1 if names are all of it
	names     []string // of all columns
	texts     []string // what each of these columns says of the time, behind the rest
	before    bool     // it is said before the rest, as a year is before the month of the row
	part      string   // the name of a column of its own for it, beside those of other parts of a date; "" for none
	at, value int      // places of the time and of the cells; -1 where they are not read
}

// times are columns that are named by times of one kind, in the order of the file.
type times struct {
	kind    string // of timeNamed
	columns []int
	numbers []int  // of timeNamed
	measure string // before a year or a date, the same in all names: Sales 2021
	down    bool   // the latest is first
	twice   bool   // some time has two columns, one after the other
	turn    int    // the place of the first of the next year, as of January behind December; 0 for none
}

// valueColumn and timeColumn name what a wide table has no names for.
const valueColumn, timeColumn = "value", "time"

// valueName is the name of the column of the cells.
func (t times) valueName() string { return cmp.Or(t.measure, valueColumn) }

// wideOf finds the columns of times: behind the first few, and before up to mostBehind others. It is nil for a table that is not
// wide, or of which the options choose a column. first is its first row. An error is of a wide table that is not read.
func (s *csvStream) wideOf(names, first []string) (w *wide, err error) {
	const mostBehind = 6 // columns: a total, means of seasons, a remark
	if slices.Contains(names, valueColumn) || len(s.opt.Also) > 0 || len(first) < len(names) {
		return nil, nil
	}
	if w, err = s.bareMonths(names); w == nil && err == nil {
		t := lastTimes(append([]string{""}, names...), false, "")
		if n := len(names); n == len(t.columns) && n >= fewestWide && slices.Contains([]string{"year", "quarter", "month"}, t.kind) {
			err = fmt.Errorf("the columns %s to %s are times, and no column has the rest of the time: write it in a first column, as "+
				"2015 beside quarters or months, and Q1 or Jan beside years; or choose both of CSVOptions.X and CSVOptions.Y",
				quoted(names[0]), quoted(names[n-1]))
		}
		measure, plain := s.measureOf(names), s.plainNames(names)
		for cut := 0; cut <= mostBehind && len(names) > cut && w == nil && err == nil; cut++ {
			w, err = s.wideBy(lastTimes(plain[:len(names)-cut], s.opt.anyOrder, measure), plain, first)
		}
		for k := 0; w != nil && k < len(w.columns) && s.opt.Time != TimeAuto && w.kind == "date"; k++ {
			w.texts[k] = strings.Replace(w.texts[k], plain[w.columns[k]], names[w.columns[k]], 1) // as it is asked for
		}
	}
	if s.opt.Y != "" && (w == nil || s.opt.Y != w.valueName()) {
		return nil, nil
	}
	return w, err
}

// plainNames are names of columns in which dates with day and month as numbers are written as ISO 8601 has them, if one order
// fits all, and columns without a name and without numbers between times are called by what they have: marks.
func (s *csvStream) plainNames(names []string) []string {
	plain, order, f := slices.Clone(names), dateOrder{}, timeSlashes
	for i, name := range names {
		numbers := func(row []string) bool { return i < len(row) && isNumber(row[i]) }
		switch {
		case slashesFormat(name) != TimeAuto:
			f = order.add(name, 1)
		case name == "" && i > 0 && kindOfTime(names[i-1]) != "" && !slices.ContainsFunc(s.rows(), numbers):
			if i+1 < len(names) && kindOfTime(names[i+1]) != "" {
				plain[i] = "flags"
			}
		}
	}
	if s.opt.Time == TimeDMY || s.opt.Time == TimeMDY {
		f = s.opt.Time
	} else if f == timeSlashes && order.met {
		f, _, _ = order.settle("", s.opt)
	}
	for i, name := range names {
		if t, _, ok := dateOf(name, f); ok {
			plain[i] = strings.TrimSuffix(t.Format(time.DateTime), " 00:00:00")
		}
	}
	return plain
}

// bareMonths is wideOf a table without names: a year in each row, one after the other, and twelve numbers. It refuses one whose
// rows are the days of twelve months, of which some end before the 31st.
func (s *csvStream) bareMonths(names []string) (*wide, error) {
	const months, days = 12, 31
	rows := s.rows()
	if len(names) != 1+months || strings.Join(names, "") != "" || len(rows) < fewestDates {
		return nil, nil
	}
	first, _ := strconv.Atoi(rows[0][0])
	for i, row := range rows {
		if row[0] != strconv.Itoa(first+i) {
			return nil, nil
		}
	}
	of := timeline.Range(1, 1+months)
	short := func(month int) bool { return s.isMissing([]byte(rows[days-1][month])) }
	switch {
	case kindOfTime(rows[0][0]) == "year":
		return newWide(times{kind: "month", columns: of, numbers: of}, names, 1), nil
	case first == 1 && len(rows) == days && short(2) && short(4) && short(6) && short(9) && short(11):
		return nil, errors.New("the rows seem to be days, and the columns months of a year that nothing names: " +
			"write one row for each day, with the date in the first column, as 2015-01-31, and the value in the second")
	}
	return nil, nil
}

// changes is the name of a column of changes from one time to the next.
var changes = regexp.MustCompile(`(?i)^%|\b(change|growth|diff(erence)?|veränderung|variación|variation|variazione|variação)\b`)

// measureOf is the measure that is read of those of some names: the one that the options name, or the first; "" for none.
func (s *csvStream) measureOf(names []string) (first string) {
	for _, name := range names {
		of, _ := measured(name)
		if of != "" && of == s.opt.Y {
			return of
		}
		first = cmp.Or(first, of)
	}
	return first
}

// lastTimes are the times that some names end with. Those of other measures, totals and changes between them are passed over, and
// so are years and quarters between smaller parts of these. anyOrder says that dates need not ascend or descend.
func lastTimes(names []string, anyOrder bool, of string) (t times) {
	last := len(names) - 1
	for last > 0 && names[last] == "" {
		last--
	}
	for i := last; i > 0; i-- { // the latest first
		measure, name := measured(names[i])
		kind, number := timeNamed(name)
		if measure != "" && measure != of {
			continue
		}
		if t.extends(measure, kind, number, anyOrder) {
			t.columns, t.numbers = append(t.columns, i), append(t.numbers, number)
		} else if len(t.columns) == 0 || !isAside(names[i]) && !coarser(kind, t.kind) {
			break
		}
	}
	if t.turn > 0 {
		t.turn = len(t.columns) - t.turn
	}
	slices.Reverse(t.columns)
	slices.Reverse(t.numbers)
	return t
}

// marks is the name of a column of marks beside the values of another, as INSEE has them.
var marks = regexp.MustCompile(`(?i)^(codes?|flags?|stat(us|ut))$`)

// isAside reports whether a column beside times has totals, means, changes or marks, by its name.
func isAside(name string) bool {
	return total.MatchString(name) || changes.MatchString(name) || marks.MatchString(name)
}

// extends reports whether a column may stand before those that are known, of which the last is the first in the file.
func (t *times) extends(measure, kind string, number int, anyOrder bool) bool {
	if len(t.numbers) == 0 {
		t.measure, t.kind = measure, kind
		return kind != ""
	}
	step := t.numbers[len(t.numbers)-1] - number
	if measure != t.measure || kind != t.kind {
		return false
	}
	if len(t.numbers) == 1 {
		t.down = step < 0
	}
	switch {
	case kind == "year" && step == 0:
		t.twice = true
		return true
	case kind == "year":
		return step*step == 1 && (step < 0) == t.down
	case kind == "date":
		return step != 0 && (anyOrder || (step < 0) == t.down)
	case kind == "month" && step == 1-12 && t.turn == 0:
		t.turn = len(t.numbers)
		return true
	}
	return step > 0
}

// coarser reports whether times of a kind are sums of those of another.
func coarser(kind, of string) bool {
	return kind == "year" && of == "date" || kind == "quarter" && of == "month"
}

// measures are what a column measures and a year, or a month or quarter with one: Sales 2021, Sales Jan 2021, 2021 Sales.
var measures = patterns(
	`^(?P<of>\pL[^\d=]*?)[-_ ]+(?P<t>(?:\pL+[-_ ]+|[QqTt]?[1-4][-_ /]*)?\d{4}(?:[-_ ]?[QMqm]\d{1,2}|-\d{2})?)$`,
	`^(?P<t>\d{4})[-_ ]+(?P<of>\pL[^\d=]*)$`)

// measured cuts what a column measures off its name.
func measured(name string) (measure, time string) {
	for _, form := range measures {
		part := fields(form, name)
		if kind := kindOfTime(part["t"]); (kind == "year" || kind == "date") && kindOfTime(name) == "" {
			return part["of"], part["t"]
		}
	}
	return "", name
}

// newWide is a table with a cell for each of some times.
func newWide(t times, names []string, from int) *wide {
	w := &wide{times: t, from: from, names: names}
	for k, i := range t.columns {
		_, name := measured(names[i])
		w.texts = append(w.texts, wideText(t.kind, name, t.numbers[k], len(t.numbers)))
	}
	return w
}

// wideBy decides how a table is wide by some times: the rows are months of years, or hours of days; or words for names, where the
// times need no rest; or one of their cells is the rest. It is nil if they are not enough for a wide table.
func (s *csvStream) wideBy(t times, names, first []string) (*wide, error) {
	if len(t.columns) == 0 {
		return nil, nil
	}
	from, last := t.columns[0], t.columns[len(t.columns)-1]
	other := func(name string) bool { // measure
		measure, _ := measured(name)
		return t.measure != "" && measure != "" && measure != t.measure
	}
	for from > 1 && other(names[from-1]) {
		from--
	}
	refused := func(format string, a ...any) (*wide, error) {
		if t.measure != "" { // its columns may be those of several plans or forecasts
			return nil, nil
		}
		these := fmt.Sprintf("the columns %s to %s ", quoted(names[from]), quoted(names[last]))
		return nil, fmt.Errorf(these+format, a...)
	}
	const oneRow = "are times, but a row is one observation: write one row for each time, with the time in the first column " +
		"and the value in the second; or choose one column by CSVOptions.Y"
	rest := restOf(t.kind, len(t.numbers), names[:from], first)
	before, beside := kindOfTime(names[from-1]), kindOfTime(first[from-1])
	byNumber := numbered(names[from-1], s.rows(), from-1)
	parts := beside == "month" || beside == "quarter" || byNumber != ""
	months := t.kind == "year" && !t.twice && before == "" && parts // of these years
	behind := ""
	if rest := slices.DeleteFunc(slices.Clone(names[last+1:]), other); len(rest) > 0 {
		behind = cmp.Or(rest[0], strings.Join(rest, ""))
	}
	part := ""
	if rest < 0 {
		part = s.besideParts(t, names[:from], first)
	}
	if !t.enough(rest >= 0 || part != "", months, behind) {
		return nil, nil
	}
	whole := t.kind == "year" || t.kind == "date" // time
	same := func(name string) bool {
		measure, name := measured(name)
		return measure == t.measure && kindOfTime(name) == t.kind
	}
	if whole && slices.ContainsFunc(names[1:from], same) { // with others between
		return refused(oneRow)
	}
	w := newWide(t, names, from)
	labelled := len(s.rows()) == 1 ||
		slices.ContainsFunc(first[:from], func(cell string) bool { return strings.ContainsFunc(cell, unicode.IsLetter) })
	labelled = labelled && (t.measure == "" || !slices.ContainsFunc(first[:from], isDate))
	switch w.rest = rest; {
	case part != "":
		w.part = part
		for k, n := range t.numbers {
			if w.texts[k] = strings.TrimSpace(w.texts[k]); t.kind != "clock" {
				w.texts[k] = strconv.Itoa(n)
			}
		}
	case months || t.kind == "date" && beside == "clock":
		w.rest, w.before = from-1, true
		for k, text := range w.texts {
			w.texts[k] = text + cmp.Or(byNumber, " ")
		}
	case whole && labelled && !t.twice && before != t.kind:
		w.rest = -1
	case whole || rest < 0 || before == t.kind || t.kind == "weekday" && dateFormat(first[rest]) != TimeWeek:
		return refused(oneRow)
	case t.turn > 0 && fiscalPeriod(first[rest]) != "fiscal year":
		return refused("pass the turn of a year, and %s does not say of which of them it is the year: "+
			"write both years there, as 1990/91", quoted(first[rest]))
	case t.turn == 0 && dateFormat(first[rest]) == TimeFiscal:
		return refused(oneRow)
	}
	return w, nil
}

// besideParts is the name of the column that times make which are parts of days beside columns of year, month and day, or days
// beside year and month; "" for others.
func (s *csvStream) besideParts(t times, names, first []string) string {
	x, ok := xFinder{names, first[:len(names)], s.rows(), true}.year()
	switch n := len(t.numbers); {
	case !ok || x.periods > 0 || x.before[1] != "-":
		return ""
	case len(x.columns) == 2 && t.kind == "number" && n == 31:
		return "day"
	case len(x.columns) == 3 && (t.kind == "hour" || t.kind == "number") && n == 24:
		return "hour"
	case len(x.columns) == 3 && t.kind == "clock":
		return "time"
	}
	return ""
}

// sums is the name of a column of sums, which quarters have and quartiles have not.
var sums = regexp.MustCompile(`(?i)^(year|annual|sum|totals?|jahr|summe|gesamt|insgesamt|` +
	`année|totale|suma|somme|año|anno|ano|jaar|totaal)\b`)

// enough reports whether there are as many times as a wide table has. With the rest of the time in a cell, these are all of a
// year, a week or a day, as others may be called Q1 to Q3, or 1 to 5; or two months that follow one another, or quarters with
// their sum. Where the rows are months, one year will do. behind is the name of the next column, if there are others.
func (t times) enough(rest, months bool, behind string) bool {
	n, first := len(t.numbers), t.numbers[0]
	some := n >= fewestWide && (behind == "" || isAside(behind))
	whole := func(of ...int) bool { return rest && first == 1 && slices.Contains(of, n) }
	switch t.kind {
	case "quarter":
		return whole(4) || rest && n > 1 && sums.MatchString(behind)
	case "season":
		return whole(4, 12)
	case "month":
		return some || rest && (n >= fewestWide || n == 2 && t.numbers[1] == first+1)
	case "period":
		return whole(12, 13)
	case "week":
		return whole(52, 53)
	case "year":
		return months || n >= mostYears || some
	case "weekday":
		return whole(5, 7) && behind == ""
	case "number":
		return whole(12, 24, 31) && behind == "" || n == 31 && first == 1 // which is an error without the rest
	case "hour":
		return whole(24) && behind == ""
	}
	return some
}

// kindOfTime is that of timeNamed.
func kindOfTime(name string) string { kind, _ := timeNamed(name); return kind }

// restOf returns the column, of those before the times, that has the rest of them: the last, or one that is named as a year, with
// no others of times behind it. It is -1 if there is none.
func restOf(kind string, count int, names, first []string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if (i == len(names)-1 || partNames["year"].MatchString(names[i])) && wideRow(kind, count, first[i]) {
			return i
		}
		if kindOfTime(names[i]) != "" {
			break
		}
	}
	return -1
}

// numbered returns the sign of the parts of a year that a column numbers from 1 on, above what are no numbers: M of the twelve
// months, if its name does not say otherwise, W of weeks, and Q of the quarters, if its name says so; "" for others.
func numbered(name string, rows [][]string, column int) string {
	n := 0
	for n < len(rows) && rows[n][column] == strconv.Itoa(n+1) {
		n++
	}
	if slices.ContainsFunc(rows[n:], func(row []string) bool { return isWhole(row[column]) }) {
		return ""
	}
	switch {
	case n == 12 && (name == "" || partNames["month"].MatchString(name)):
		return "M"
	case n == 4 && partNames["quarter"].MatchString(name):
		return "Q"
	case n >= fewestDates && n <= 53 && partNames["week"].MatchString(name):
		return "W"
	}
	return ""
}

// wideText is what one of some columns whose names are times of a kind says of it, behind the rest. The 13 periods of a year have
// four weeks each, from 1 January on.
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
	case kind == "week":
		return fmt.Sprintf("-W%02d", at)
	case kind == "period":
		return periodText("", at, count == fourWeeks)
	}
	return fmt.Sprintf("-%d", at)
}

// fourWeeks is how many periods of four weeks a year has.
const fourWeeks = 13

// header are the names of the long table.
func (w *wide) header(names []string) []string {
	if names = names[:w.from:w.from]; w.rest < 0 {
		names = append(names, cmp.Or(w.part, timeColumn))
	}
	return append(names, w.valueName())
}

// row is the k-th row that a row of the wide table makes.
func (w *wide) row(cells []string, k int) []string {
	row := slices.Clone(cells[:w.from])
	if w.rest < 0 {
		row = append(row, w.texts[k])
	} else {
		rest, _ := withoutFlag(row[w.rest], "")
		row[w.rest] = w.time(rest, k)
	}
	return append(row, cells[w.columns[k]])
}

// time is that of the k-th row that a row makes whose cells have the rest of it.
func (w *wide) time(rest string, k int) string {
	if w.before {
		return w.texts[k] + rest
	}
	if w.turn > 0 && fiscalPeriod(rest) == "fiscal year" { // others are errors
		year, _ := strconv.Atoi(fourDigits.FindString(rest))
		if k >= w.turn {
			year++
		}
		rest = strconv.Itoa(year)
	}
	return rest + w.texts[k]
}

// rows are the first rows that those of the wide table make.
func (w *wide) rows(of [][]string) (rows [][]string) {
	for _, cells := range of {
		for k := range w.texts {
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
			rest, _ := withoutFlag(string(trim(r.fields[w.at])), "")
			r.rest = []byte(rest)
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
	s.places = slices.Grow(s.places[:w.from:w.from], len(w.names)-w.from)
	for i := range w.names[w.from:] {
		k, is := slices.BinarySearch(w.columns, w.from+i)
		place := -1
		if is {
			place = len(s.columns) + k
		}
		s.places = append(s.places, place)
	}
	last := w.columns[len(w.columns)-1]
	s.rep.Wide = fmt.Sprintf("%s to %s", columnName(w.names, w.columns[0]), columnName(w.names, last))
	without := last + 1
	for k, i := range w.columns {
		if i != w.columns[0]+k { // a total between
			without = w.columns[0] + k
			break
		}
	}
	if without < len(w.names) && w.names[without] != "" {
		other, _ := measured(w.names[without])
		if other != "" {
			other = fmt.Sprintf(" (CSVOptions.Y: %q reads those of it)", other)
		}
		s.rep.Wide += fmt.Sprintf(", without %s%s,", columnName(w.names, without), other)
	}
	if w.kind == "season" {
		s.rep.Wide += ", at the middle of its three months,"
	}
}

// fields is memory for those that are read of a row.
func (s *csvStream) fields() [][]byte {
	n := len(s.columns)
	if s.wide != nil {
		n += len(s.wide.texts)
	}
	return make([][]byte, n)
}

// wideRow reports whether a cell can be the rest of the time that the names of columns give: a year for quarters and months, a
// week for its days, a day for its hours.
func wideRow(kind string, count int, cell string) bool {
	cell, _ = withoutFlag(cell, "")
	n, err := strconv.Atoi(cell)
	format := dateFormat(cell)
	switch {
	case kind == "clock" || kind == "hour" || kind == "number" && count == 24:
		return format != TimeAuto && periodOf(cell) == "" && !strings.Contains(cell, ":") || err == nil && MayBeDate(float64(n))
	case kind == "number" && count == 31: // days
		return format == TimeISO && periodOf(cell) == "month"
	case kind == "weekday":
		return err == nil && n >= 1 && n <= 53 || format == TimeWeek
	}
	return err == nil && n >= 1500 && n < 2200 || format == TimeFiscal || fiscalPeriod(cell) == "fiscal year"
}

var (
	clockName   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::\d{2})?(?: ?([AaPp])[Mm])?(?:\s?[-–].*)?$`)
	hourName    = regexp.MustCompile(`(?i)^(?:h|he|hour|hr|std|stunde|heure)[-_ .]?(\d{1,2})$`)
	yearName    = regexp.MustCompile(`^[XFY]?(\d{4})(?: \[YR\d{4}\])?$`)
	weekName    = regexp.MustCompile(`(?i)^(?:kw|wk|week|woche|semaine|semana)[-_ .]?(0?[1-9]|[1-4]\d|5[0-3])$`)
	periodName  = regexp.MustCompile(`^[Pp](?:er(?:iod|\.)?)?[ _]?(0?[1-9]|1[0-3])$`)
	quarterName = regexp.MustCompile(`^(?:(?:[QqTt]|[Qq]tr\.? ?)([1-4])|([1-4])(?:[QqTt]|\. ?(?i:quartal|trimestre|quarter)))$`)
)

// seasonNames are the middle months of three: DJF is 1, of December to February. A winter is of the year of its January.
var seasonNames = func() map[string]int {
	const initials = "djfmamjjasondj"
	names := map[string]int{}
	for middle := 1; middle <= 12; middle++ {
		names[initials[middle-1:middle+2]] = middle
	}
	for i, season := range []string{
		"winter win hiver invierno", "spring spr frühling frühjahr printemps primavera", "summer sum sommer été verano",
		"autumn aut fall herbst automne otoño",
	} {
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
	for of, named := range map[string]*regexp.Regexp{"period": periodName, "hour": hourName, "week": weekName} {
		if m := named.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			return of, n
		}
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
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= 31 && name[0] != '0' {
		return "number", n
	}
	if _, day, ok := cutWeekday(name + " 1"); ok && !strings.ContainsAny(name, "0123456789") && day != unknownWeekday {
		return "weekday", 1 + (int(day)+6)%7
	}
	t, err := ParseDate(name)
	if f := dateFormat(name); err != nil && f != TimeAuto { // day and month in either order, or a year of two digits
		dmy, mdy := bothWays(name)
		if t = mdy; f == TimeDMY || f == timeSlashes && pointedDate.MatchString(name) {
			t = dmy
		}
	} else if err != nil {
		return "", 0
	}
	return "date", int(t.Unix())
}
