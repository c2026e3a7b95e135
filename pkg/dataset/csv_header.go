package dataset

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	likeRows = 102 // from the first on, by which it is judged whether the first is one of them: more than a day of quarter-hours
	// farFirst is how far the first x may be from the second, in units of what the other x of these rows span.
	farFirst = 10
)

// headless reports whether the first line of a table is a row like those below it, so that the table has no header: its x is a
// date written as the next one is, or a number from which the next ones go on; every column of numbers begins with one, and so
// does at least one beside x. A header may be of numbers as well: years above columns, or 0, 1, 2 as a program counts them; x
// does not go on from these, or they are whole numbers above fractions.
func headless(rows [][]string, opt CSVOptions) bool {
	if len(rows) < 3 || len(rows[0]) < 2 {
		return false
	}
	first, second := rows[0], rows[1]
	x, err := column(make([]string, len(first)), opt.X, 1)
	if err != nil {
		return false // it is a name
	}
	for _, spec := range append([]string{opt.Y}, slices.Concat(opt.Also, opt.Keys)...) {
		if _, err := column(make([]string, len(first)), spec, 1); err != nil {
			return false
		}
	}
	dates := slices.IndexFunc(second, func(cell string) bool { return isDate(cell) || isDay(cell) })
	if opt.X == "" && dates > 0 && goesOn(rows, dates) {
		x = dates // behind a count or a station
	}
	if !goesOn(rows, x) {
		return false
	}
	beside := false
	for i := range first {
		if i == x || !isNumber(second[i]) {
			continue
		}
		if first[i] == "" || strings.EqualFold(first[i], "nan") || strings.EqualFold(first[i], "na") {
			continue
		}
		whole := func(row []string) bool { return isWhole(row[i]) || !isNumber(row[i]) }
		if !isNumber(first[i]) || isWhole(first[i]) && !slices.ContainsFunc(rows[1:], whole) {
			return false
		}
		beside = true
	}
	return beside
}

// isDay reports whether a cell is a day written 20240131.
func isDay(cell string) bool {
	days, _ := numberDateOf(TimeYYYYMMDD)
	v, err := strconv.Atoi(cell)
	_, ok := days.seconds(float64(v))
	return err == nil && ok && days.likely(float64(v))
}

// goesOn reports whether the first x is one of the others' kind.
func goesOn(rows [][]string, x int) bool {
	if f := eitherOrder(rows[1][x]); f != TimeAuto {
		return eitherOrder(rows[0][x]) == f
	}
	if isDay(rows[0][x]) && isDay(rows[1][x]) {
		return true
	}
	var v []float64
	w, _ := splitNumber(rows[1][x])
	for _, row := range rows {
		value, err := numberStyle{unit: w.unit}.value(row[x])
		if err != nil {
			return false
		}
		v = append(v, value)
	}
	if v[0] == v[1] && isWhole(rows[0][x]) && v[0] >= 1500 && v[0] < 2200 { // a year in several rows, which names no column
		return true
	}
	step := v[1] - v[0]
	return step*(v[2]-v[1]) > 0 && step*step <= farFirst*farFirst*(v[len(v)-1]-v[1])*(v[len(v)-1]-v[1])
}

// firstRows are the cells of the first rows of a table.
func firstRows(r *bufio.Reader, opt CSVOptions) (rows [][]string) {
	var row quotedRow
	for line := range headLines(r) {
		if len(rows) == likeRows {
			break
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 || opt.Comment != 0 && bytes.HasPrefix(text, []byte(string(opt.Comment))) || isRuler(text) {
			continue
		}
		var cells []string
		quotes := bytes.IndexByte(text, '"') >= 0
		if opt.Comma == ' ' && quotes {
			line, _ = io.ReadAll(&blankReader{r: bufio.NewReader(bytes.NewReader(text))})
		}
		if opt.Comma == ' ' && !quotes {
			if cells = strings.Fields(string(text)); len(rows) > 0 && len(cells) > len(rows[0]) {
				short, _ := withoutRemark(text)
				cells = strings.Fields(string(short))
			}
		} else if _, failure := row.read(line, []byte(string(opt.Comma))); failure != nil {
			break
		} else {
			for i := range row.ends {
				cells = append(cells, cellText(trim(row.field(i))))
			}
		}
		if len(rows) == 0 || !slices.Equal(cells, rows[0]) || slices.ContainsFunc(cells, isNumber) { // no header once more
			rows = append(rows, cells)
		}
	}
	return rows
}

// likeBefore is how many of the first rows have as many cells as the first, or as the second if that has one more.
func likeBefore(rows [][]string) int {
	for i := 1; i < len(rows); i++ {
		if n := len(rows[i]); n != len(rows[i-1]) && !(i == 1 && n == len(rows[0])+1) {
			return i
		}
	}
	return len(rows)
}

// evenHead takes the first rows as far as they have as many cells as the first. If most rows below the header end before it does,
// as where its last columns are for remarks, it fills them up with empty cells, and notes how many a row has at least.
func (opt *CSVOptions) evenHead(rows [][]string) {
	const fewest = 3 // rows
	if len(rows) == 0 {
		return
	}
	if opt.unnamed = opt.lacksName(rows); opt.unnamed {
		opt.head = rows
		return
	}
	width, counts := len(rows[0]), map[int]int{}
	for _, row := range rows[1:] {
		counts[len(row)]++
	}
	shortest := width
	for n := range counts {
		shortest = min(shortest, n)
	}
	n := counts[shortest]
	most := shortest > 1 && shortest < width && n >= fewest && 2*n >= len(rows)
	if opt.NoHeader || opt.Comma == ' ' || !most {
		if i := slices.IndexFunc(rows, func(row []string) bool { return len(row) != width }); i >= 0 {
			rows = rows[:i]
		}
		opt.head = rows
		return
	}
	opt.shortest = shortest
	for i, row := range rows {
		rows[i] = append(row, make([]string, max(0, width-len(row)))...)[:width]
	}
	opt.head = rows
}

// lacksName reports whether rows have one field more than the header and the rows about the series below it, as where marks stand
// behind the values. It fills up what is shorter.
func (opt *CSVOptions) lacksName(rows [][]string) bool {
	width := len(rows[0])
	about := slices.IndexFunc(rows, func(row []string) bool { return len(row) == width+1 })
	have := func(rows [][]string, fields int) bool {
		return !slices.ContainsFunc(rows, func(row []string) bool { return len(row) != fields })
	}
	if opt.NoHeader || opt.Comma == ' ' || width < 2 || about < 2 || !have(rows[:about], width) || !have(rows[about:], width+1) {
		return false
	}
	if (CSVOptions{head: rows}).aboutRows() != about-1 {
		return false
	}
	for i := range rows[:about] {
		rows[i] = append(rows[i], "")
	}
	return true
}

// eitherOrder is dateFormat, or timeSlashes for all that have day and month in either order.
func eitherOrder(text string) TimeFormat {
	f := dateFormat(text)
	if f == TimeDMY || f == TimeMDY {
		return timeSlashes
	}
	return f
}

func isNumber(cell string) bool {
	_, ok := splitNumber(cell)
	return ok
}

func isWhole(cell string) bool {
	_, err := strconv.Atoi(cell)
	return err == nil
}

const (
	// mostWordRows is how many rows of words may stand below the header: units, and what else loggers write there.
	mostWordRows = 3
	// mostAbout is how many rows of words and their values may stand there, as statistical offices tell of a series above its dates,
	// and fewestDates how many dates must follow.
	mostAbout, fewestDates = 12, 3
)

// rdbWidth is what tables of the USGS have below their names: the width of a column and whether it has texts, dates or numbers.
var rdbWidth = regexp.MustCompile(`^\d{1,3}[sdn]$`)

// wordRows returns how many rows below the header have words only, as units or a second line of names, above one with a number
// or a date; or how many begin with words, or with nothing, above the first column's dates.
func (opt CSVOptions) wordRows() (n int) {
	if opt.NoHeader || len(opt.head) == 0 {
		return 0
	}
	if n = opt.aboutRows(); n > 0 {
		return n
	}
	if opt.numbersColumns() {
		return 1
	}
	for _, row := range opt.head[1:] {
		words, values := false, false
		for _, cell := range row {
			value := isNumber(cell) && !rdbWidth.MatchString(cell) || isDate(cell) || clock.MatchString(cell) || isTruth(cell)
			words, values = words || cell != "" && !value, values || value
		}
		if values {
			return n
		}
		if n++; !words || n > mostWordRows {
			return 0
		}
	}
	return 0
}

// numbersColumns reports whether the row below the header numbers the columns, as offices of statistics do: 1, 2, 3 or (1), (2),
// (3) above dates or years.
func (opt CSVOptions) numbersColumns() bool {
	if len(opt.head) < fewestDates {
		return false
	}
	for i, cell := range opt.head[1] {
		if n := strconv.Itoa(i + 1); strings.Trim(cell, "()") != n && !(i == 0 && cell == "") {
			return false
		}
	}
	then := opt.head[2][0]
	return isDate(then) || kindOfTime(then) == "year"
}

// aboutRows are the rows above the dates of the first column, of which some begin with words.
func (opt CSVOptions) aboutRows() (n int) {
	words, dates := false, 0
	for _, row := range opt.head[1:] {
		cell := row[0]
		v, err := ParseNumber(cell)
		switch isDate := dateFormat(cell) != TimeAuto || err == nil && (MayBeDate(v) || v >= 1500 && v < 2200 && len(cell) == 4); {
		case isDate:
			if dates++; dates == fewestDates && words {
				return n
			}
		case dates > 0 || err == nil:
			return 0
		default:
			words = words || strings.ContainsFunc(cell, unicode.IsLetter)
			if n++; n > mostAbout {
				return 0
			}
		}
	}
	return 0
}

// isRuler reports whether a line is drawn: of ---, === or ___, with + and | where the columns meet.
func isRuler(line []byte) bool {
	if len(line) < 3 || bytes.IndexByte([]byte("-=_+| "), line[0]) < 0 || len(bytes.Trim(line, "-=_+|: ")) > 0 {
		return false
	}
	return bytes.Contains(line, []byte("---")) || bytes.Contains(line, []byte("===")) || bytes.Contains(line, []byte("___"))
}
