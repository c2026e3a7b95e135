package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// mergedColumns is how many of the first columns have merged cells, as spreadsheets write them: a value in the first of its rows, and nothing below it. Of the first rows at
// least half have no value there; values are years, months, dates or names, each other than the one above it; and the column behind tells the rows of a value
// apart, by words or dates, or by whole numbers that ascend.
func (opt CSVOptions) mergedColumns(rows [][]string) (n int) {
	for len(rows) > 0 && !opt.NoHeader && !slices.ContainsFunc(rows[0], func(cell string) bool { return isNumber(cell) || dateFormat(cell) != TimeAuto }) {
		rows = rows[1:] // names, or units
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return len(row) < width }) // remarks
	for n+2 < width && isMerged(rows, n) {
		n++
	}
	if n == 0 || !tellsApart(rows, n) {
		return 0
	}
	return n
}

// isMerged reports whether a column has values of one kind as mergedColumns wants them.
func isMerged(rows [][]string, column int) bool {
	kind := func(cell string) string {
		n, err := strconv.Atoi(cell)
		k, _ := timeNamed(cell)
		switch {
		case err == nil && n >= 1500 && n < 2200:
			return "year"
		case dateFormat(cell) != TimeAuto || k == "month" || k == "quarter":
			return "time"
		case err == nil || isNumber(cell):
			return ""
		case strings.ContainsFunc(cell, unicode.IsLetter) && !total.MatchString(cell):
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

// tellsApart reports whether a column tells the rows of each value in the columns before it apart.
func tellsApart(rows [][]string, column int) bool {
	var met []string // with this value
	last := 0
	for _, row := range rows {
		if slices.ContainsFunc(row[:column], func(cell string) bool { return cell != "" }) {
			met, last = nil, -1
		}
		cell := row[column]
		if cell == "" {
			if slices.ContainsFunc(row[column:], func(cell string) bool { return cell != "" }) {
				return false
			}
			continue // a value in a row of its own
		}
		n, err := strconv.Atoi(cell)
		if slices.Contains(met, cell) || err == nil && n <= last || err != nil && isNumber(cell) && dateFormat(cell) == TimeAuto {
			return false
		}
		if met = append(met, cell); err == nil {
			last = n
		}
	}
	return true
}

// yearRows reports whether the first column has months or quarters without a year, each in some rows below one of its year.
func (opt CSVOptions) yearRows(rows [][]string) bool {
	if opt.NoHeader || len(rows) < 2 {
		return false
	}
	var met []string // below a year
	years := 0
	for _, row := range rows[1:] {
		switch kind, _ := timeNamed(row[0]); {
		case kind == "year" && (years == 0 || len(met) > 1):
			met = nil
			years++
		case years > 0 && (kind == "month" || kind == "quarter") && !slices.Contains(met, row[0]):
			met = append(met, row[0])
		case len(met) > 1 && !isNumber(row[0]) && dateFormat(row[0]) == TimeAuto && kind == "": // a total, or a remark
		default:
			return false
		}
	}
	return years > 1 || len(met) >= fewestDates
}

// withYear is a line with the year above it behind its first cell, or nothing for one of a year.
func (m *mergedReader) withYear(line []byte) []byte {
	cell, rest, _ := bytes.Cut(line, []byte(string(m.opt.Comma)))
	name := strings.Trim(string(cell), "\" \t\n")
	switch kind, _ := timeNamed(name); {
	case kind == "year":
		m.year = name
		return newline
	case (kind == "month" || kind == "quarter") && m.year != "":
		return append([]byte(name+" "+m.year+string(m.opt.Comma)), rest...)
	}
	return line
}

// mergedReader writes the value above into blank cells of the first columns, in lines that have other cells; or a year behind its months, where it has a row of its own. A value ends those of the columns behind it.
type mergedReader struct {
	lines  *bufio.Reader
	opt    CSVOptions
	above  [][]byte // of each column
	year   string   // of CSVOptions.years
	begun  bool     // the header was read
	within bool     // quotation marks, at the beginning of a line
	left   []byte
}

func (m *mergedReader) Read(p []byte) (n int, err error) {
	if len(m.left) == 0 {
		line, err := m.lines.ReadBytes('\n')
		if m.left = line; !m.within && len(bytes.TrimSpace(line)) > 0 && !(m.opt.Comment != 0 && bytes.HasPrefix(line, []byte(string(m.opt.Comment)))) {
			switch {
			case !m.begun && !m.opt.NoHeader:
			case m.opt.years:
				m.left = m.withYear(line)
			default:
				m.left = m.filled(line)
			}
			m.begun = true
		}
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			m.within = !m.within
		}
		if len(m.left) == 0 {
			return 0, err
		}
	}
	n = copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// filled is a line with the values above in its blank cells.
func (m *mergedReader) filled(line []byte) (full []byte) {
	comma := []byte(string(m.opt.Comma))
	var cells [][]byte
	rest := line
	for range m.above {
		cell, behind, more := bytes.Cut(rest, comma)
		if !more || bytes.Count(cell, []byte{'"'})%2 == 1 {
			return line // a remark, or a separator within quotation marks
		}
		cells, rest = append(cells, cell), behind
	}
	blank := func(cell []byte) bool { return len(bytes.Trim(cell, "\" \t\n"+string(comma))) == 0 }
	for i, cell := range cells {
		if !blank(cell) {
			m.above[i] = slices.Clone(cell)
			clear(m.above[i+1:])
		} else if !blank(rest) {
			cells[i] = m.above[i]
		}
	}
	return append(bytes.Join(append(cells, nil), comma), rest...)
}

// underTimes makes one header of two, of which the upper has a time only above the first of its columns: years above months or quarters, months or quarters above years, months above
// days, days above hours. It is an error if some of these columns have no time, as totals of the years.
func underTimes(r *bufio.Reader, opt *CSVOptions) (*bufio.Reader, error) {
	const mostAbove = 20 // lines
	_, starts, ends := tableLines(r, *opt)
	head, _ := r.Peek(headSize)
	for i := 0; i+2 < len(starts) && i < mostAbove && !opt.NoHeader; i++ {
		for _, c := range separatorsOf(*opt) {
			if !beginsWithTime(head[starts[i]:], string(c)) {
				continue
			}
			upper, lower := lineCells(head[starts[i]:], c), lineCells(head[starts[i+1]:], c)
			names, err := joinedNames(upper, lower)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", ends[i]+1, err)
			}
			if names == nil {
				continue
			}
			opt.anyOrder = true
			instead := string(head[:starts[i]]) + strings.Repeat("\n", ends[i+1]-ends[i]) + `"` + strings.Join(names, `"`+string(c)+`"`) + "\"\n"
			size := starts[i+1] + bytes.IndexByte(head[starts[i+1]:], '\n') + 1
			return cut(r, size, instead), nil
		}
	}
	return r, nil
}

// beginsWithTime reports whether the first cell of a line that is not empty, but for that of its first column, is a year or a smaller part of it, down to a day.
func beginsWithTime(text []byte, comma string) bool {
	line, _, _ := bytes.Cut(text, newline)
	_, rest, found := bytes.Cut(line, []byte(comma))
	name := bytes.TrimLeft(rest, "\" "+comma)
	if end := bytes.IndexAny(name, "\""+comma); end >= 0 {
		name = name[:end]
	}
	kind, _ := timeNamed(string(bytes.TrimSpace(name[:min(len(name), longestDate)])))
	return found && slices.Contains([]string{"year", "quarter", "month", "date"}, kind)
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

// joinedNames are the names of columns from two rows of a header; nil if these are none.
func joinedNames(upper, lower []string) (names []string, err error) {
	from := 1
	for from < len(upper) && upper[from] == "" {
		from++
	}
	if from+fewestWide > len(lower) || from >= len(upper) || len(upper) > len(lower) || joinedTime(upper[from], lower[from]) == "" {
		return nil, nil
	}
	names = slices.Clone(lower)
	above, times, blanks, without := "", 0, 0, -1
	for k := from; k < len(lower); k++ {
		if k < len(upper) && upper[k] != "" && upper[k] != above {
			above = upper[k]
		} else {
			blanks++
		}
		if name := joinedTime(above, lower[k]); name != "" {
			if names[k] = name; without >= 0 && times > 0 { // times behind a column without one
				return nil, fmt.Errorf("%s below %s is a column between those of times: remove such columns (totals, means), or write one row for each time", quoted(lower[without]), quoted(upper[from]))
			}
			times++
		} else if names[k] = strings.TrimSpace(above + " " + lower[k]); without < 0 {
			without = k
		}
	}
	if times < fewestWide || 2*blanks < times {
		return nil, nil
	}
	return names, nil
}

// joinedTime is the time that a name of a column gives with the one above it; "" if it is none.
func joinedTime(above, name string) string {
	k, t := timeNamed(above)
	of, at := timeNamed(name)
	if of == "year" {
		k, of, t, at = of, k, at, t
	}
	switch day := strings.TrimSuffix(name, "."); {
	case k == "year" && of == "month":
		return fmt.Sprintf("%dM%02d", t, at)
	case k == "year" && of == "quarter":
		return fmt.Sprintf("%dQ%d", t, at)
	case k == "date" && of == "number" || k == "date" && isWhole(day): // a day of a month
		first := time.Unix(int64(t), 0).UTC()
		if n, _ := strconv.Atoi(day); periodOf(above) == "month" && n > 0 && n <= 31 {
			return first.AddDate(0, 0, n-1).Format(time.DateOnly)
		}
	case k == "date" && of == "clock" && periodOf(above) == "":
		return time.Unix(int64(t), 0).UTC().Format(time.DateOnly) + wideText(of, name, at, 0)
	}
	return ""
}

var _ io.Reader = (*mergedReader)(nil)
