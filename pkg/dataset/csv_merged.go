package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// merged says where a value stands once for several rows below it, as spreadsheets write tables to be read by people.
type merged struct {
	columns  []int // of which blank cells have the value above them
	years    bool  // years have rows of their own, above their months or quarters
	quarters bool  // and so have quarters, above their months
	labels   bool  // years are above words, the same below each year
}

func (m merged) any() bool { return m.years || m.labels || len(m.columns) > 0 }

// mergedOf finds it by the first rows.
func (opt CSVOptions) mergedOf(rows [][]string) (m merged) {
	if opt.Comma == ' ' { // no cell is blank
		return m
	}
	if m = opt.yearRows(rows); !m.any() {
		m.columns = opt.mergedColumns(rows)
	}
	return m
}

// mergedColumns returns the columns that have a value in the first of its rows and nothing below it: the first columns, where the
// one behind them tells the rows of a value apart, or one of years behind one of months or quarters.
func (opt CSVOptions) mergedColumns(rows [][]string) []int {
	isName := func(cell string) bool { return !isNumber(cell) && dateFormat(cell) == TimeAuto }
	for len(rows) > 0 && !opt.NoHeader && !slices.ContainsFunc(rows[0], func(cell string) bool { return !isName(cell) }) {
		rows = rows[1:] // names, or units
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return len(row) < width }) // remarks
	n := 0
	for n+2 < width && isMerged(rows, n) {
		n++
	}
	if first := timeline.Range(0, n); n > 0 && tellsApart(rows, first, n) {
		return first
	}
	const most = 4 // first columns
	for i := 1; i+1 < width && i < most && len(rows) > 0; i++ {
		months := slices.Contains([]string{"month", "quarter"}, kindOfTime(rows[0][i-1]))
		if year := []int{i}; months && kindOfTime(rows[0][i]) == "year" && isMerged(rows, i) && tellsApart(rows, year, i-1) {
			return year
		}
	}
	return nil
}

// isMerged reports whether a column has a value in the first row and none in at least half of the others, and values of one kind,
// years, other times or names, each other than the one above it.
func isMerged(rows [][]string, column int) bool {
	kind := func(cell string) string {
		switch kind := kindOfTime(cell); {
		case kind == "year":
			return kind
		case dateFormat(cell) != TimeAuto || kind == "month" || kind == "quarter":
			return "time"
		case strings.ContainsFunc(cell, unicode.IsLetter) && !isNumber(cell) && !total.MatchString(cell):
			return "name"
		}
		return ""
	}
	const fewest = 4 // rows
	if len(rows) < fewest || rows[0][column] == "" {
		return false
	}
	blank, last := 0, ""
	for _, row := range rows {
		switch cell := row[column]; {
		case cell == "":
			blank++
		case cell == last || kind(cell) != kind(rows[0][column]) && !total.MatchString(cell):
			return false
		default:
			last = cell
		}
	}
	return 2*blank >= len(rows)-1 && kind(last) != "" // the last of the first rows may begin a pair
}

// tellsApart reports whether a column tells the rows of each value of merged columns apart: by words or dates, or by whole
// numbers that ascend.
func tellsApart(rows [][]string, merged []int, column int) bool {
	some := func(cell string) bool { return cell != "" }
	var met []string // with this value
	last := 0
	for _, row := range rows {
		if slices.ContainsFunc(merged, func(i int) bool { return row[i] != "" }) {
			met, last = nil, -1
		}
		cell := row[column]
		if cell == "" && !slices.ContainsFunc(row[column:], some) {
			continue // a value in a row of its own
		}
		n, err := strconv.Atoi(cell)
		ascends, names := err == nil && n > last, err != nil && some(cell) && (!isNumber(cell) || dateFormat(cell) != TimeAuto)
		if !ascends && !names || slices.Contains(met, cell) {
			return false
		}
		if met = append(met, cell); err == nil {
			last = n
		}
	}
	return true
}

// yearRows finds years in the first column, each in a row of its own: above months, quarters or weeks, of which totals and
// remarks may stand below; or above at least two words, which are the same below all years.
func (opt CSVOptions) yearRows(rows [][]string) (m merged) {
	if opt.NoHeader || len(rows) < 2 || kindOfTime(rows[1][0]) != "year" {
		return m
	}
	var below [][]string // each year
	years, labels, kinds := true, true, map[string]bool{}
	for _, row := range rows[1:] {
		kind := kindOfTime(row[0])
		if kind == "year" {
			years = years && (len(below) == 0 || len(below[len(below)-1]) > 1)
			below = append(below, nil)
			continue
		}
		met := &below[len(below)-1]
		kinds[kind] = true
		part := kind == "month" || kind == "quarter" || kind == "week"
		other := kind == "" && !isNumber(row[0]) && dateFormat(row[0]) == TimeAuto
		years = years && (part && !slices.Contains(*met, row[0]) || other && len(*met) > 1)
		if labels = labels && other && row[0] != ""; part || labels {
			*met = append(*met, row[0])
		}
	}
	last := len(below) - 1 // of which the first rows may not have all
	labels = labels && last > 0 && len(below[0]) > 1
	for k, words := range below {
		n := len(below[0])
		if k == last {
			n = min(n, len(words))
			words = words[:n]
		}
		labels = labels && slices.Equal(words, below[0][:n])
	}
	years = years && (last > 0 || len(below[0]) >= fewestDates)
	return merged{years: years, quarters: years && kinds["month"] && kinds["quarter"], labels: labels}
}

// unmerger writes the value above into blank cells of lines that have others, or the year above to the first cell.
type unmerger struct {
	opt    CSVOptions
	above  [][]byte // of each column
	year   string
	begun  bool // the header was read
	within bool // quotation marks, at the beginning of a line
}

func (m *unmerger) line(line []byte) []byte {
	within := m.within
	if bytes.Count(line, []byte{'"'})%2 == 1 {
		m.within = !within
	}
	if within || len(bytes.TrimSpace(line)) == 0 || m.opt.Comment != 0 && bytes.HasPrefix(line, []byte(string(m.opt.Comment))) {
		return line
	}
	header := !m.begun && !m.opt.NoHeader
	m.begun = true
	switch {
	case header && m.opt.merged.labels:
		return append([]byte(timeColumn+string(m.opt.Comma)), line...)
	case header:
		return line
	case m.opt.merged.years || m.opt.merged.labels:
		return m.withYear(line)
	}
	return m.filled(line)
}

// withYear is a line with the year above it, or nothing for one of a year.
func (m *unmerger) withYear(line []byte) []byte {
	comma := string(m.opt.Comma)
	cell, rest, _ := bytes.Cut(line, []byte(comma))
	name := strings.Trim(string(cell), "\" \t\n")
	switch joined, kind := joinedTime(m.year, name), kindOfTime(name); {
	case kind == "year":
		m.year = name
		return newline
	case m.opt.merged.quarters && kind == "quarter":
		return newline
	case m.opt.merged.labels && len(bytes.Trim(rest, "\" \t\n"+comma)) > 0: // no remark
		return append([]byte(m.year+comma), line...)
	case joined != "":
		return append([]byte(joined+comma), rest...)
	}
	return line
}

// filled is a line with the values above in its blank cells. A value ends those of the columns behind it.
func (m *unmerger) filled(line []byte) []byte {
	comma := []byte(string(m.opt.Comma))
	var cells [][]byte
	rest := line
	for range 1 + slices.Max(m.opt.merged.columns) {
		cell, behind, more := bytes.Cut(rest, comma)
		if !more || bytes.Count(cell, []byte{'"'})%2 == 1 {
			return line // a remark, or a separator within quotation marks
		}
		cells, rest = append(cells, cell), behind
	}
	blank := func(cell []byte) bool { return len(bytes.Trim(cell, "\" \t\n"+string(comma))) == 0 }
	for k, i := range m.opt.merged.columns {
		if !blank(cells[i]) {
			m.above[k] = slices.Clone(cells[i])
			clear(m.above[k+1:])
		} else if !blank(rest) {
			cells[i] = m.above[k]
		}
	}
	return append(bytes.Join(append(cells, nil), comma), rest...)
}

// underTimes makes one header of two, of which the upper has a time above the first of its columns alone: years above months or
// quarters or the other way round, months above days, days above hours.
func underTimes(r *bufio.Reader, opt *CSVOptions) *bufio.Reader {
	const mostAbove = 20 // lines
	_, starts, ends := tableLines(r, *opt)
	head, _ := r.Peek(headSize)
	for i := 0; i+2 < len(starts) && i < mostAbove && !opt.NoHeader; i++ {
		for _, c := range separatorsOf(*opt) {
			if !timeAbove(head[starts[i]:], string(c)) { // most lines, which may be long
				continue
			}
			names := joinedNames(lineCells(head[starts[i]:], c), lineCells(head[starts[i+1]:], c))
			if names == nil {
				continue
			}
			opt.anyOrder = true
			quotedNames := `"` + strings.Join(names, `"`+string(c)+`"`) + "\"\n"
			instead := string(head[:starts[i]]) + strings.Repeat("\n", ends[i+1]-ends[i]) + quotedNames
			return cut(r, starts[i+1]+bytes.IndexByte(head[starts[i+1]:], '\n')+1, instead)
		}
	}
	return r
}

// timeAbove reports whether the first cell of a line behind its first column that is not empty is a time down to a day.
func timeAbove(text []byte, comma string) bool {
	line, _, _ := bytes.Cut(text, newline)
	_, rest, _ := bytes.Cut(line, []byte(comma))
	name := bytes.TrimLeft(rest, "\" "+comma)
	if end := bytes.IndexAny(name, "\""+comma); end >= 0 {
		name = name[:end]
	}
	kind := kindOfTime(string(bytes.TrimSpace(name[:min(len(name), longestDate)])))
	return slices.Contains([]string{"year", "quarter", "month", "date"}, kind)
}

// lineCells are those of the first line of a text.
func lineCells(text []byte, comma rune) (cells []string) {
	var row quotedRow
	line, _, _ := bytes.Cut(text, newline)
	if _, failure := row.read(line, []byte(string(comma))); failure != nil {
		return nil
	}
	for i := range row.ends {
		cells = append(cells, strings.ReplaceAll(cellText(trim(row.field(i))), `"`, ""))
	}
	return cells
}

// joinedNames are the names of columns from two rows of a header: a time where the two make one, else their words. It is nil for
// other rows: of which fewer than three columns make times, or of which the upper has a time for each.
func joinedNames(upper, lower []string) (names []string) {
	from := 1
	for from < len(upper) && upper[from] == "" {
		from++
	}
	if from >= len(upper) || len(upper) > len(lower) {
		return nil
	}
	names = slices.Clone(lower)
	above, times, repeats := "", 0, 0
	for k := from; k < len(lower); k++ {
		if k < len(upper) && upper[k] != "" && upper[k] != above {
			above = upper[k]
		} else {
			repeats++
		}
		name := joinedTime(above, lower[k])
		if name == "" && k == from {
			return nil
		}
		if name != "" {
			times++
		}
		names[k] = cmp.Or(name, strings.TrimSpace(above+" "+lower[k]))
	}
	if times < fewestWide || 2*repeats < times {
		return nil
	}
	return names
}

// joinedTime is the time that a name, of a column or a row, makes with the one above it; "" if it is none.
func joinedTime(above, name string) string {
	k, t := timeNamed(above)
	of, at := timeNamed(name)
	if of == "year" {
		k, of, t, at = of, k, at, t
	}
	switch day := strings.TrimSuffix(name, "."); {
	case k == "year" && of == "month":
		return fmt.Sprintf("%dM%02d", t, at)
	case k == "year" && (of == "quarter" || of == "week"):
		return fmt.Sprintf("%d%s", t, wideText(of, name, at, 0))
	case k == "date" && isWhole(day): // a day of a month
		first := time.Unix(int64(t), 0).UTC()
		if n, _ := strconv.Atoi(day); periodOf(above) == "month" && n > 0 && n <= 31 {
			return first.AddDate(0, 0, n-1).Format(time.DateOnly)
		}
	case k == "date" && of == "clock" && periodOf(above) == "":
		return time.Unix(int64(t), 0).UTC().Format(time.DateOnly) + wideText(of, name, at, 0)
	}
	return ""
}
