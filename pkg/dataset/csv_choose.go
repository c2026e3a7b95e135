package dataset

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// xColumns are the columns that x is made of, in the order of a date: one, as a rule.
type xColumns struct {
	columns []int
	before  []string // what is written before each of them
	after   string
}

func oneColumn(i int) xColumns { return xColumns{columns: []int{i}, before: []string{""}} }

// partNames are what columns with parts of a date are named.
var partNames = map[string]*regexp.Regexp{
	"year":  regexp.MustCompile(`(?i)^(year|yr|yyyy|jahr|année|annee|an|año|anno|jaar|ano)$`),
	"month": regexp.MustCompile(`(?i)^(month|mon|mm|mo|monat|mois|mes|mese|maand|mês)$`),
	"day":   regexp.MustCompile(`(?i)^(day|dd|tag|jour|día|dia|giorno|dag)$`),
	"hour":  regexp.MustCompile(`(?i)^(hour|hr|hh|stunde|heure|hora|ora|uur)$`),
	"time":  regexp.MustCompile(`(?i)^(time|uhrzeit|zeit|heure|hora|ora|tijd)$`),
}

// counter is what a column that only counts the rows is named.
var counter = regexp.MustCompile(`(?i)^(|unnamed: ?0|index|row|id|#|no\.?|nr\.?)$`)

// xOf finds the columns of x where the options name none, by the names and the first row of values. They are year and month, with the day
// and the hour if there are such columns; a date with its time of day; the first date behind a column that counts the rows; or the first
// column.
func xOf(names, first []string) xColumns {
	if len(first) < len(names) || len(names) < 3 {
		return oneColumn(0)
	}
	part := func(name string, fits func(cell string) bool) int {
		return slices.IndexFunc(names, func(n string) bool {
			return partNames[name].MatchString(n) && fits(first[slices.Index(names, n)])
		})
	}
	date := slices.IndexFunc(first[:len(names)], func(cell string) bool { return dateFormat(cell) != TimeAuto })
	within := func(lo, hi int) func(cell string) bool {
		return func(cell string) bool {
			n, err := strconv.Atoi(cell)
			return err == nil && n >= lo && n <= hi
		}
	}
	if year, month := part("year", within(1000, 2999)), part("month", func(cell string) bool { return within(1, 12)(cell) || monthOf(cell) > 0 && len(cell) > 2 }); date < 0 && year >= 0 && month >= 0 {
		x := xColumns{columns: []int{year, month}, before: []string{"", "-"}}
		day, hour := part("day", within(1, 31)), part("hour", within(0, 23))
		if day >= 0 {
			x.columns, x.before = append(x.columns, day), append(x.before, "-")
		}
		if day >= 0 && hour >= 0 {
			x.columns, x.before, x.after = append(x.columns, hour), append(x.before, " "), ":00"
		}
		return x
	}
	counts := counter.MatchString(names[0]) && within(0, 1)(first[0])
	if date < 0 || date > 0 && !counts {
		return oneColumn(0)
	}
	x := oneColumn(date)
	if clocks := part("time", clock.MatchString); clocks >= 0 && !strings.Contains(first[date], ":") {
		x.columns, x.before = append(x.columns, clocks), append(x.before, " ")
	}
	return x
}

// isKey reports whether a column tells series apart.
func (s *csvStream) isKey(names []string, i int) bool {
	return slices.ContainsFunc(s.opt.Keys, func(spec string) bool {
		j, err := column(names, spec, len(names)+1)
		return err == nil && j == i
	})
}

// TextColumnError is the error of a y that no option names and whose first value is words, where a column behind it begins with a number.
type TextColumnError struct {
	Column  string // its name, quoted, and number
	Name    string
	Cell    string
	Numbers string // the name of the column behind it, or its number
}

func (e *TextColumnError) Error() string {
	return fmt.Sprintf("y: %s begins with %q, no number, and CSVOptions.Y names no other column, such as %s%s", e.Column, e.Cell, e.Numbers, missingHint)
}

// checkText returns a TextColumnError if the first value of y is words.
func (s *csvStream) checkText(names, first []string) error {
	words := func(i int) bool {
		cell := first[i]
		return strings.ContainsFunc(cell, unicode.IsLetter) && !strings.ContainsAny(cell, "0123456789") && !s.isMissing([]byte(cell)) && !infinite.MatchString(cell)
	}
	if len(first) < len(names) || !words(s.rep.Y) {
		return nil
	}
	for i := s.rep.Y + 1; i < len(names); i++ {
		if _, err := strconv.ParseFloat(first[i], 64); err == nil && !s.isKey(names, i) {
			numbers := strconv.Itoa(i + 1)
			if !s.opt.NoHeader {
				numbers = fmt.Sprintf("%q", names[i])
			}
			return &TextColumnError{columnName(names, s.rep.Y), names[s.rep.Y], first[s.rep.Y], numbers}
		}
	}
	return nil
}

// choose finds the columns by the options, the names and the first row of values.
func (s *csvStream) choose(names, first []string) (err error) {
	s.rep.Columns = names
	x := xOf(names, first)
	if len(x.columns) == 1 && s.isKey(names, x.columns[0]) {
		if at := slices.IndexFunc(names, func(name string) bool { return !s.isKey(names, slices.Index(names, name)) }); at >= 0 {
			x = oneColumn(at)
		}
	}
	var wrong severalErrors
	if s.rep.X, err = column(names, s.opt.X, x.columns[0]+1); err != nil {
		wrong = append(wrong, fmt.Errorf("x: %w", err))
	}
	y := 2
	if behind := slices.Max(x.columns) + 1; s.opt.X == "" && behind > 1 && behind < len(names) {
		y = behind + 1
	} else if s.opt.X != "" && s.rep.X == 1 && len(names) > 2 {
		y = 3
	}
	for s.opt.Y == "" && y < len(names) && s.isKey(names, y-1) {
		y++
	}
	if s.rep.Y, err = column(names, s.opt.Y, y); err != nil {
		wrong = append(wrong, fmt.Errorf("y: %w", err))
	}
	if err == nil && s.opt.Y == "" {
		if err := s.checkText(names, first); err != nil {
			wrong = append(wrong, err)
		}
	}
	if s.opt.X != "" || slices.Contains(x.columns, s.rep.Y) {
		x = oneColumn(s.rep.X)
	}
	s.places = make([]int, len(names))
	for i := range s.places {
		s.places[i] = -1
	}
	place := func(column int) int {
		if s.places[column] < 0 {
			s.places[column] = len(s.columns)
			s.columns = append(s.columns, column)
		}
		return s.places[column]
	}
	s.x, s.parts = place(s.rep.X), x
	for i, column := range x.columns {
		s.parts.columns[i] = place(column)
	}
	s.y = place(s.rep.Y)
	for _, spec := range s.opt.Also {
		i, err := column(names, spec, len(names)+1)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.also = append(s.also, place(i))
		s.more.Columns, s.more.Names = append(s.more.Columns, i), append(s.more.Names, names[i])
	}
	for _, spec := range s.opt.Keys {
		i, err := column(names, spec, len(names)+1)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.searched = append(s.searched, i)
	}
	if wrong != nil {
		return wrong.one()
	}
	for _, i := range s.searched {
		s.keys = append(s.keys, keyColumn{place: place(i), of: map[string]int32{}})
		s.more.KeyColumns = append(s.more.KeyColumns, i)
	}
	s.styles, s.finders = make([]numberStyle, len(s.columns)), make([]styleFinder, len(s.columns))
	if s.opt.Time != TimeAuto {
		s.format(s.opt.Time)
	}
	return nil
}

// x is the text of x in a row: nothing if a part of it is missing.
func (r *rowScanner) x() []byte {
	p := r.s.parts
	if len(p.columns) == 1 {
		return trim(r.fields[r.s.x])
	}
	r.joined = r.joined[:0]
	for i, place := range p.columns {
		cell := trim(r.fields[place])
		if r.s.isMissing(cell) {
			return nil
		}
		r.joined = append(append(r.joined, p.before[i]...), cell...)
	}
	r.joined = append(r.joined, p.after...)
	return r.joined
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
