package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
)

// Bounds of the head, which is read to find out how a file is written: its rows and its cells.
const (
	headRows  = 1000
	headCells = 1 << 20
)

// open finds out how a file is written. It returns the rows that it read for that, and what reads the others.
func (t *table) open(r io.Reader) (head []row, rest *rowReader, err error) {
	text, ansi, err := decoded(r)
	if err != nil {
		return nil, nil, err
	}
	t.ansi = ansi
	begin, _ := text.Peek(headSize)
	if end := bytes.LastIndexByte(begin, '\n'); len(begin) > headSize/2 && end >= 0 {
		begin = begin[:end+1] // whole lines
	}
	comment := t.comment(begin)
	t.opt.Comma = cmp.Or(t.opt.Comma, separator(begin, comment))
	t.rep.Comma = t.opt.Comma
	rest = newRows(text, t.opt.Comma, comment)
	for cells := 0; len(head) < headRows && cells < headCells; {
		row, err := rest.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		head, cells = append(head, row), cells+len(row.cells)
	}
	if len(head) == 0 {
		return nil, nil, errors.New("the file is empty")
	}
	first := slices.IndexFunc(head, func(r row) bool { return r.wrong == nil }) // rows above it are problems
	if first < 0 {
		return nil, nil, head[0].wrong.whole()
	}
	if err := t.header(head[first:]); err != nil {
		return nil, nil, err
	}
	below := head[first:]
	if t.named {
		below = head[first+1:]
		head = slices.Concat(head[:first], below)
	}
	if t.opt.X == RowNumber && !slices.Contains(t.rep.Columns, RowNumber) {
		for i := range head {
			head[i] = head[i].numbered(i + 1)
		}
		below, rest.numbered = head[first:], len(head)
		t.rep.Columns, t.sorts, t.width = append([]string{RowNumber}, t.rep.Columns...), append([]sort{number}, t.sorts...), t.width+1
	}
	if err := t.choose(below); err != nil {
		return nil, nil, err
	}
	head, err = t.prove(head, rest)
	return head, rest, err
}

// comment returns what begins a comment: #, or % if the file begins with it; 0 for nothing.
func (t *table) comment(head []byte) rune {
	comment := '#'
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("%")) {
		comment = '%'
	}
	if comment == t.opt.Comma {
		return 0
	}
	if bytes.Contains(append([]byte("\n"), head...), []byte{'\n', byte(comment)}) {
		t.rep.Comment = comment
	}
	return comment
}

// separator returns what divides the most lines of the head into equally many fields: of several a tab, ;, | or , in this order,
// and blanks if none divides half of the lines.
func separator(head []byte, comment rune) rune {
	best, most := ' ', 0
	for _, comma := range "\t;|," {
		rows := newRows(bufio.NewReader(bytes.NewReader(head)), comma, comment)
		var read []row
		for row, err := rows.next(); err == nil && len(read) < headRows; row, err = rows.next() {
			row.cells = row.cells[:row.used(0)]
			read = append(read, row)
		}
		if _, n := usualWidth(read); n > most && 2*n >= len(read) {
			best, most = comma, n
		}
	}
	return best
}

// usualWidth is the number of fields, at least two, that the most rows have, and the number of these rows.
func usualWidth(rows []row) (width, most int) {
	count := map[int]int{}
	for _, r := range rows {
		n := r.used(0)
		if count[n]++; n > 1 && count[n] > most {
			width, most = n, count[n]
		}
	}
	return width, most
}

// sort is what a cell is.
type sort byte

const (
	blank sort = iota // or missing
	word
	number
	dated
)

func (t *table) sortOf(cell string) sort {
	if t.missing(cell, true) {
		return blank
	}
	if fits, _ := dateFits(cell); fits != 0 {
		return dated
	}
	if new(numberFinder).add(cell, 0) {
		return number
	}
	return word
}

// findSorts finds what most of the first cells of each column are.
func (t *table) findSorts(rows []row) {
	const most = 1000 // columns that are looked at
	t.sorts = make([]sort, t.width)
	for at := range t.sorts[:min(t.width, most)] {
		var count [dated + 1]int
		for _, row := range rows[:min(len(rows), 50)] {
			count[t.sortOf(row.at(at))]++
		}
		count[blank] = 0
		t.sorts[at] = sort(slices.Index(count[:], slices.Max(count[:])))
	}
}

// header finds whether the first line has the names of the columns: if it has a word above values, or no value.
func (t *table) header(rows []row) error {
	if err := t.refuseTitle(rows); err != nil {
		return err
	}
	for _, row := range rows { // separators at the ends of all lines end no column
		t.width = max(t.width, min(row.used(1), len(rows[0].cells)))
	}
	t.findSorts(rows[1:])
	words, values := false, false
	for at, below := range t.sorts {
		s := t.sortOf(rows[0].at(at))
		words, values = words || s == word && below > word, values || s > word
	}
	t.rep.Columns = make([]string, t.width)
	t.named = !t.opt.NoHeader && (words || !values)
	t.rep.Headless = !t.opt.NoHeader && !t.named
	if t.named {
		for i := range t.rep.Columns {
			t.rep.Columns[i] = strings.Clone(rows[0].at(i))
		}
	}
	if t.opt.NoHeader {
		return nil
	}
	return t.refuseWide(rows[0])
}

// choose finds the columns that are read. All that is wrong with them is one error.
func (t *table) choose(rows []row) error {
	var wrong CSVError
	find := func(spec string, otherwise int) int {
		at, p := t.columnOf(spec, otherwise)
		if p != nil {
			wrong.Add(*p)
		}
		return at
	}
	for _, k := range t.opt.Keys {
		t.rep.Also.KeyColumns = append(t.rep.Also.KeyColumns, find(k, 1))
	}
	next := func(from int) int { // the next column, from 1, that tells no series apart
		for slices.Contains(t.rep.Also.KeyColumns, from-1) {
			from++
		}
		return from
	}
	t.rep.X = find(t.opt.X, next(1))
	y := 2
	if t.opt.X == "" {
		y = t.rep.X + 2
	}
	t.rep.Y = find(t.opt.Y, next(y))
	t.numbers = []column{{at: t.rep.X}, {at: t.rep.Y}}
	for _, spec := range t.opt.Also {
		at := find(spec, 1)
		t.numbers = append(t.numbers, column{at: at})
		t.rep.Also.Names, t.rep.Also.Columns = append(t.rep.Also.Names, t.rep.Columns[at]), append(t.rep.Also.Columns, at)
	}
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	for _, at := range t.rep.Also.KeyColumns {
		t.keys = append(t.keys, keyColumn{at: at, ids: map[string]int32{}, asked: true, filled: at != t.rep.Y})
	}
	t.watched = t.newWatch(rows)
	return t.refuseShape(rows)
}

// columnOf returns the index of the column that spec names or, if no name fits, numbers from 1; an empty spec is the number
// otherwise.
func (t *table) columnOf(spec string, otherwise int) (int, *CSVProblem) {
	const most = 6 // columns that are listed
	names := t.rep.Columns
	if spec == "" {
		spec = strconv.Itoa(otherwise)
	} else if i := slices.Index(names, spec); i >= 0 {
		if slices.Contains(names[i+1:], spec) {
			return 0, problem("more than one column is named %s: choose it by number", quoted(spec))
		}
		return i, nil
	}
	if n, err := strconv.Atoi(spec); err == nil && 1 <= n && n <= len(names) {
		return n - 1, nil
	}
	if len(names) == 1 {
		return 0, problem("no column %s; there is %s alone, and x and y are two columns", quoted(spec), t.column(0)).
			hint("%s takes the number of the row for x; %s names another separator", Setting{"X", RowNumber}, Setting{Field: "Comma"})
	}
	var have []string
	for i := range min(len(names), most) {
		have = append(have, t.column(i))
	}
	if len(names) > most {
		near := text.Nearest(spec, names)
		have = append(have, fmt.Sprintf("… of %d columns, of which %s is the nearest", len(names), quoted(near)))
	}
	return 0, problem("no column %s; there are %s", quoted(spec), strings.Join(have, ", "))
}

// column is the number and the name of a column.
func (t *table) column(i int) string {
	if t.rep.Columns[i] == "" {
		return fmt.Sprintf("column %d", i+1)
	}
	return fmt.Sprintf("column %d (%s)", i+1, quoted(t.rep.Columns[i]))
}

// name is the name of a column, or its number if it has none.
func (t *table) name(i int) string { return cmp.Or(t.rep.Columns[i], strconv.Itoa(i+1)) }

// newWatch watches, if no option names keys, the columns of words or whole numbers that repeat in the sample: y too, if no option
// names it.
func (t *table) newWatch(rows []row) *Watch {
	const most = 6
	var columns []int
	for at := 0; at < t.width && len(t.opt.Keys) == 0 && len(columns) < most; at++ {
		texts := map[string]bool{}
		for _, row := range rows {
			if cell := row.at(at); isWhole(cell) || t.sortOf(cell) == word {
				texts[cell] = true
			} else {
				texts = nil
				break
			}
		}
		if texts != nil && t.free(at) && 2*len(texts) <= len(rows) {
			columns = append(columns, at)
		}
	}
	return NewWatch(columns...)
}
