package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// choose finds the columns by the options, the names and the first row of values.
func (s *csvStream) choose(names, first []string) error {
	s.rep.Columns = names
	s.rep.Years = s.opt.merged.years || s.opt.merged.labels
	for _, i := range s.opt.merged.columns {
		s.rep.Merged = append(s.rep.Merged, columnName(names, i))
	}
	if slices.ContainsFunc(s.opt.head, func(row []string) bool { return len(row) < len(names) }) {
		s.opt.head = nil // its rows are split otherwise, at a remark
	}
	x := s.xBesideKeys(names, first)
	var wrong severalErrors
	s.checkPeriods(names, first, x, &wrong)
	x = s.chooseXY(names, first, x, &wrong)
	if wrong == nil && s.passesWords(x) {
		s.rep.Levels = s.levels(names)
	}
	s.checkSides(names, &wrong)
	s.findPeriod(names, first, x, &wrong)
	s.placeColumns(names, x, &wrong)
	if wrong != nil {
		return wrong
	}
	name := names[s.rep.X]
	s.numbers.named, s.numbers.counts = dateName.MatchString(name), name != "" && counter.MatchString(name)
	s.styles, s.finders = make([]numberStyle, len(s.columns)), make([]styleFinder, len(s.columns))
	if s.opt.Time != TimeAuto {
		s.format(s.opt.Time)
	}
	return nil
}

// xBesideKeys is xOf, or the first column that is no key.
func (s *csvStream) xBesideKeys(names, first []string) xColumns {
	x := s.xOf(names, first)
	if len(x.columns) == 1 && s.isKey(names, x.columns[0]) {
		for i := range names {
			if !s.isKey(names, i) {
				return oneColumn(i)
			}
		}
	}
	return x
}

// checkPeriods refuses days if it is open which they are, and periods of a year if it is open how long they are.
func (s *csvStream) checkPeriods(names, first []string, x xColumns, wrong *severalErrors) {
	if len(first) < len(names) {
		return
	}
	at := x.columns[0]
	years := s.opt.X == "" && len(x.columns) == 1 && isYear(first[at])
	if x.before[0] != "" && s.rows().yearLast(at) {
		wrong.add(fmt.Errorf("%s: %s may have its year last: write dates as 2015-01-31", columnName(names, at), quoted(first[at])))
	}
	months := x.periods == 12 || len(x.columns) == 1 && s.yearPeriods(at) == "M"
	for i, name := range names {
		if months && weeksName.MatchString(name) && !s.rows().constant(i) && s.rows().all(i, within(4, 5)) {
			wrong.add(fmt.Errorf("%s: periods of four or five weeks are no months: write the first day of each period, as 2015-01-31",
				columnName(names, i)))
		}
		if years && partNames["period"].MatchString(name) && kindOfTime(first[i]) == "period" {
			wrong.add(fmt.Errorf("%s: periods up to %d may be months, or have four weeks each: "+
				"write months as 2015-01, or the first day of each period", columnName(names, i), s.rows().periods(i)))
		}
	}
	if thirds.MatchString(names[at]) && periodOf(first[at]) == "quarter" {
		wrong.add(fmt.Errorf("%s: %s seems to be one of three parts of a year, and is read as a quarter: "+
			"write the first month of each as 2015-05", columnName(names, at), quoted(first[at])))
	}
}

// chooseXY chooses x and y by the options and, where these name none, by xOf and yOf. It returns the columns of x.
func (s *csvStream) chooseXY(names, first []string, x xColumns, wrong *severalErrors) xColumns {
	var err error
	if s.rep.X, err = column(names, s.opt.X, x.columns[0]+1); err != nil {
		wrong.add(fmt.Errorf("x: %w", err))
	}
	y := len(names) // of a wide table
	if s.wide == nil {
		y = s.yOf(names, first, x)
	}
	if s.rep.Y, err = column(names, s.opt.Y, y); err != nil {
		wrong.add(fmt.Errorf("y: %w", err))
	} else if s.opt.Y == "" {
		wrong.add(s.checkText(names, first))
	}
	if s.opt.X != "" || slices.Contains(x.columns, s.rep.Y) {
		return oneColumn(s.rep.X)
	}
	return x
}

// checkSides refuses a y that no option names if another column says on which side of an account its numbers stand, or has those
// of the other side.
func (s *csvStream) checkSides(names []string, wrong *severalErrors) {
	signed := !s.rows().all(s.rep.Y, func(cell string) bool { return !strings.Contains(cell, "-") })
	y := sideNamed.FindStringSubmatch(names[s.rep.Y])
	for i := 0; i < len(names) && s.opt.Y == ""; i++ {
		cells := map[string]bool{}
		s.rows().all(i, func(cell string) bool { cells[cell] = true; return len(cells) < 3 })
		if of := slices.Collect(maps.Keys(cells)); len(of) == 2 && areSides(of[0], of[1]) && !signed {
			wrong.add(fmt.Errorf("y: %s says on which side of an account each number of %s stands: "+
				"write a minus before those of one side, or say CSVOptions.Y", columnName(names, i), columnName(names, s.rep.Y)))
		} else if len(of) == 1 && sidesName.MatchString(names[i]) && !signed && s.wide == nil {
			s.side, s.sideAt = of[0], i
		} else if other := sideNamed.FindStringSubmatch(names[i]); y != nil && other != nil && (y[1] == "") != (other[1] == "") &&
			s.rows().apart(i, s.rep.Y) {
			wrong.add(fmt.Errorf("y: %s has the numbers of one side of an account, and %s those of the other: "+
				"write one column, with a minus before those of one side, or say CSVOptions.Y",
				columnName(names, s.rep.Y), columnName(names, i)))
		}
	}
}

// findPeriod finds what dates without a day name, and refuses those of other calendars.
func (s *csvStream) findPeriod(names, first []string, x xColumns, wrong *severalErrors) {
	if len(x.columns) == 1 && s.opt.Time == TimeAuto {
		s.sign = s.periodSign(names[s.rep.X], s.rep.X)
	}
	s.rep.FourWeeks = s.sign == "P" || x.periods == fourWeeks ||
		s.wide != nil && s.wide.kind == "period" && len(s.wide.columns) == fourWeeks
	if len(first) < len(names) {
		return
	}
	text := withSign(s.sign, x.text(func(column int) string { return first[column] }))
	s.rep.Period, s.spaced = periodOf(text), spacedYear.MatchString(text)
	if err := otherCalendar(text); err != nil && s.opt.Time == TimeAuto {
		wrong.add(fmt.Errorf("%s: %w", columnName(names, s.rep.X), err))
	}
}

// placeColumns numbers the columns that are read: x, y and those that the options name besides.
func (s *csvStream) placeColumns(names []string, x xColumns, wrong *severalErrors) {
	s.places = slices.Repeat([]int{-1}, len(names))
	place := func(column int) int {
		if s.places[column] < 0 {
			s.places[column] = len(s.columns)
			s.columns = append(s.columns, column)
		}
		return s.places[column]
	}
	if s.side != "" {
		s.sideAt = place(s.sideAt)
	}
	s.x, s.parts = place(s.rep.X), x
	for i, column := range x.columns {
		s.parts.columns[i] = place(column)
	}
	s.y = place(s.rep.Y)
	for _, spec := range s.opt.Also { // where there is none, reading ends
		i, err := column(names, spec, len(names)+1)
		wrong.add(err)
		s.also = append(s.also, place(i))
		s.more.Columns, s.more.Names = append(s.more.Columns, i), append(s.more.Names, names[i])
	}
	for _, spec := range s.opt.Keys {
		i, err := column(names, spec, len(names)+1)
		s.searched = append(s.searched, i)
		wrong.add(err)
	}
	for _, i := range s.searched {
		s.keys = append(s.keys, keyColumn{place: place(i), of: map[string]int32{}})
		s.more.KeyColumns = append(s.more.KeyColumns, i)
	}
}

var spacedYear = regexp.MustCompile(`^\pL+\.? ?\d{2}$`)

// isKey reports whether a column tells series apart, by the options.
func (s *csvStream) isKey(names []string, i int) bool {
	return slices.ContainsFunc(s.opt.Keys, func(spec string) bool {
		j, err := column(names, spec, len(names)+1)
		return err == nil && j == i
	})
}

// empty reports whether a column has no name, and no value in the first rows.
func (s *csvStream) empty(i int) bool {
	return len(s.opt.head) > 1 && !slices.ContainsFunc(s.opt.head, func(row []string) bool { return row[i] != "" })
}

// hasNumber reports whether the first value of a column is a number.
func (s *csvStream) hasNumber(first []string, i int) bool {
	for _, row := range s.rows() {
		if cell := row[i]; !s.isMissing([]byte(cell)) {
			return isNumber(cell)
		}
	}
	return isNumber(first[i])
}

// isLabel reports whether a cell is words, and no number, date or missing value.
func (s *csvStream) isLabel(cell string) bool {
	_, truth := truthOf(cell)
	value := isNumber(cell) || isDate(cell) || truth || infinite.MatchString(cell)
	return strings.ContainsFunc(cell, unicode.IsLetter) && !value && !s.isMissing([]byte(cell))
}

// labels reports whether a column begins with words, which words for true and false are too if others stand below them.
func (s *csvStream) labels(first []string, i int) bool {
	letter := func(cell string) bool { return len(cell) == 1 && cell[0] >= 'A' && !isTrueOrFalse(cell) } // M beside F is not missing
	return s.isLabel(first[i]) || isTrueOrFalse(first[i]) &&
		slices.ContainsFunc(s.rows(), func(row []string) bool { return s.isLabel(row[i]) || letter(row[i]) })
}

// counts reports whether a column counts the rows, by its name and the first of them, or by more of them.
func (s *csvStream) counts(names []string, i int) bool {
	fewest, from := 10, 1 // rows, and the greatest first number
	if counter.MatchString(names[i]) {
		fewest, from = 5, math.MaxInt // as of rows that were chosen from others
	}
	if names[i] == "" || len(s.opt.head) < fewest {
		return false
	}
	last, any := 0, false // numbers so far
	for _, row := range s.opt.head[1:] {
		switch n, err := strconv.Atoi(row[i]); {
		case err != nil && !any: // a row of words
		case err != nil || any && n != last+1 || !any && n > from:
			return false
		default:
			last, any = n, true
		}
	}
	return any
}

// decimalYears reports whether a column has the year of x with the fraction that has passed.
func (s *csvStream) decimalYears(i int, x xColumns) bool {
	if len(x.columns) == 1 {
		return false
	}
	rows := s.rows()
	return len(rows) >= fewestDates && !slices.ContainsFunc(rows, func(row []string) bool {
		year, _, fraction := strings.Cut(row[i], ".")
		return !fraction || year != row[x.columns[0]] || !isWhole(year)
	})
}

// passesWords reports whether y is not looked for in a column of words, as labels of rows are: the first rows have different x,
// so that they may be one series. Words that tell the rows of an x apart are those of several.
func (s *csvStream) passesWords(x xColumns) bool {
	rows := s.rows()
	met := map[string]bool{}
	with := 0 // an x
	for _, row := range rows {
		if row[x.columns[0]] != "" {
			met[x.text(func(column int) string { return row[column] })] = true
			with++
		}
	}
	return s.opt.PassLabels && len(s.opt.Keys) == 0 && with >= fewestDates && len(met) == with
}

// levels returns the name of a column of words, no days or months, whose texts alternate in the first rows, each with a level of
// its own: y is much closer to the last with the same text than to the one above, as of two devices that take turns. It is "" if
// there is none.
func (s *csvStream) levels(names []string) string {
	const fewest, closer = 5, 3.0 // rows of a text in the mean, and times
	rows := s.rows()
	for i, name := range names {
		last := map[string]float64{}
		own, others, turns := 0.0, 0.0, 0
		for r, row := range rows {
			kind := kindOfTime(row[i])
			y, ok := s.numberX([]byte(row[s.rep.Y]))
			if !ok || kind != "" && kind != "period" || !s.isLabel(row[i]) {
				turns = 0
				break
			}
			before, met := last[row[i]]
			if last[row[i]] = y; r == 0 || row[i] == rows[r-1][i] || !met {
				continue
			}
			above, _ := s.numberX([]byte(rows[r-1][s.rep.Y]))
			own, others, turns = own+math.Abs(y-before), others+math.Abs(y-above), turns+1
		}
		if name != "" && len(last) > 1 && fewest*len(last) <= len(rows) && 3*turns >= len(rows) && others > closer*own {
			return name
		}
	}
	return ""
}

// yOf numbers the column of y where the options name none, from 1: the first behind x that has standard deviations, else the one
// behind x, or the first where x is the last; but no key, and no standard deviations, date, code, part of a date or empty column
// where another column has numbers, nor a time of day if x has one.
func (s *csvStream) yOf(names, first []string, x xColumns) int {
	whole := len(first) >= len(names)
	if s.opt.X == "" && len(x.columns) == len(names) && len(names) > 1 { // a date and what is no time of day, then
		return len(names)
	}
	y := s.yFrom(names, first, x)
	isX := func(i int) bool { return slices.Contains(x.columns, i) }
	may := func(i int) bool { return s.mayBeY(names, first, i, x) && !isX(i) }
	passes := s.passesWords(x) && whole
	if i := slices.IndexFunc(names, valueName.MatchString); passes && i >= 0 && y <= len(names) && !isX(i) {
		instead := s.isLabel(first[y-1]) || s.rows().constant(y-1)
		if instead && (isNumber(first[i]) || s.isMissing([]byte(first[i]))) {
			return i + 1
		}
	}
	sure := withErrors(names)
	for i := y - 1; i < len(names) && whole; i++ {
		if sure[strings.ToLower(names[i])] && may(i) && s.hasNumber(first, i) {
			return i + 1
		}
	}
	for i := y - 1; i < len(names); i++ {
		if passes && s.labels(first, i) || !may(i) {
			continue
		}
		if i == y-1 && !s.rows().blank(i) || s.isKey(names, y-1) || s.hasNumber(first, i) {
			return i + 1
		}
	}
	for i := 0; i < y-1 && s.opt.X == "" && whole; i++ { // before x
		if may(i) && s.hasNumber(first, i) && !counter.MatchString(names[i]) {
			return i + 1
		}
	}
	for y < len(names) && (s.isKey(names, y-1) || s.empty(y-1)) {
		y++
	}
	return y
}

// yFrom is the column from which y is looked for, numbered from 1: the one behind x, or the first of numbers if x is the last.
func (s *csvStream) yFrom(names, first []string, x xColumns) (y int) {
	switch behind := slices.Max(x.columns) + 1; {
	case s.opt.X == "" && behind > 1 && behind < len(names):
		return behind + 1
	case s.opt.X == "" && behind > 1:
		y = 1
		for y < len(names)-1 && (counter.MatchString(names[y-1]) || len(first) >= len(names) && !isNumber(first[y-1])) {
			y++
		}
		return y
	case s.opt.X != "" && s.rep.X == 1 && len(names) > 2:
		return 3
	}
	return 2
}

// mayBeY reports whether a column can be y: it is no key, and has neither times nor what stands aside.
func (s *csvStream) mayBeY(names, first []string, i int, x xColumns) bool {
	rows, name := s.rows(), names[i]
	if s.isKey(names, i) || s.empty(i) || s.counts(names, i) || rows.code(i) {
		return false
	}
	if len(first) < len(names) {
		return true
	}
	cell := first[i]
	_, plain := decimal([]byte(cell))
	timed := strings.Contains(x.text(func(column int) string { return first[column] }), ":")
	isTime := !plain && (isDate(cell) || timed && clock.MatchString(cell)) || s.decimalYears(i, x) || julianName.MatchString(name) ||
		rows.digitDates(i) != "" && rows.digitDates(x.columns[0]) == rows.digitDates(i)
	return !isTime && !errorName.MatchString(name) && !asideName.MatchString(name) && !isTruth(cell) &&
		!(isTrueOrFalse(cell) && rows.all(i, isTrueOrFalse))
}

// TextColumnError is the error of a y that no option names and whose first value is words, where a column behind it begins with a
// number.
type TextColumnError struct {
	Column  string // its name, quoted, and number
	Name    string // or its number
	Cell    string
	Numbers string // the name of the column behind it, or its number
}

func (e *TextColumnError) Error() string {
	numbers := e.Numbers
	if !isWhole(numbers) {
		numbers = fmt.Sprintf("%q", numbers)
	}
	return fmt.Sprintf("y: %s begins with %q, no number, and CSVOptions.Y names no other column, such as %s%s",
		e.Column, e.Cell, numbers, missingHint)
}

// eventsAdvice is about rows without a number.
const eventsAdvice = "if each row is an event, write a file with the number of events of each day or hour, zeros included"

// checkText returns an error if the first value of y is words: a TextColumnError, or that of events where no column has numbers.
func (s *csvStream) checkText(names, first []string) error {
	if len(first) < len(names) || !s.labels(first, s.rep.Y) || !unicode.IsLetter(firstRune(first[s.rep.Y])) {
		return nil
	}
	number := func(row []string) bool {
		for i, cell := range row {
			aside := i == s.rep.X || counter.MatchString(names[i]) || asideName.MatchString(names[i])
			if !aside && isNumber(cell) && !isDate(cell) {
				return true
			}
		}
		return false
	}
	dated := dateFormat(first[s.rep.X]) != TimeAuto
	if rows := s.rows(); dated && len(names) > 2 && len(rows) >= fewestDates && !slices.ContainsFunc(rows, number) {
		return fmt.Errorf("y: no column has numbers for it, and %s begins with %s (%s)",
			columnName(names, s.rep.Y), quoted(first[s.rep.Y]), eventsAdvice)
	}
	for i := s.rep.Y + 1; i < len(names); i++ {
		if _, err := strconv.ParseFloat(first[i], 64); err == nil && !s.isKey(names, i) {
			name := func(i int) string { return cmp.Or(names[i], strconv.Itoa(i+1)) }
			return &TextColumnError{columnName(names, s.rep.Y), name(s.rep.Y), first[s.rep.Y], name(i)}
		}
	}
	return nil
}

// firstRow returns the cells of the first row below the header. It stays in b, which holds it whole.
func (s *csvStream) firstRow(blocks *rowSplitter, b *textBlock) ([]string, error) {
	var row quotedRow
	for at := 0; ; {
		for at == len(b.text) {
			next, err := blocks.next()
			if err == io.EOF {
				return nil, nil
			} else if err != nil {
				return nil, err
			}
			b.text, b.index, b.quotes = append(b.text, next.text...), next.index, b.quotes || next.quotes
		}
		line, _, _ := bytes.Cut(b.text[at:], newline)
		if s.skips(line) || len(bytes.TrimSpace(line)) == 0 {
			at += min(len(line)+1, len(b.text)-at)
			continue
		}
		if _, failure := row.read(b.text[at:], s.comma); failure != nil {
			return nil, nil // the error of this row
		}
		cells := make([]string, len(row.ends))
		for i := range cells {
			cells[i] = cellText(trim(row.field(i)))
		}
		return cells, nil
	}
}
