package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read to find out how a file is written: rows of its head, rows of a file that is read whole, and columns.
const (
	headRows    = 1000
	mostRows    = 4 << 20
	mostColumns = 1 << 17
)

// open finds out how a file is written. It returns the rows that it read for that, and what reads the others.
func (t *table) open(r io.Reader) (head []row, rest *rowReader, err error) {
	text, err := decoded(r)
	if err != nil {
		return nil, nil, err
	}
	begin, _ := text.Peek(headSize)
	if end := bytes.LastIndexByte(begin, '\n'); len(begin) > headSize/2 && end >= 0 {
		begin = begin[:end+1] // whole lines
	}
	for _, m := range t.opt.Missing {
		if v, _, ok := readNumber(m, strings.Contains(m, ",")); ok {
			t.codes = append(t.codes, v)
		}
	}
	t.utf8 = utf8.Valid(begin)
	t.findComment(begin)
	t.opt.Comma = cmp.Or(t.opt.Comma, separator(begin, t.comment))
	t.rep.Comma = t.opt.Comma
	rest = newRows(text, t.opt.Comma, t.comment)
	for cells := 0; len(head) < headRows && cells < headRows*mostColumns/100; cells += len(head[len(head)-1].cells) {
		row, err := rest.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if len(row.cells) > mostColumns {
			return nil, nil, fmt.Errorf("line %d has more than %d columns: write a file with fewer", row.line, mostColumns)
		}
		head = append(head, row.clone())
	}
	whole := slices.DeleteFunc(slices.Clone(head), func(r row) bool { return r.wrong != nil })
	switch {
	case len(head) == 0:
		return nil, nil, errors.New("the file is empty")
	case len(whole) == 0:
		return nil, nil, &CSVError{Problems: []CSVProblem{*head[0].wrong}}
	}
	if err := t.header(whole); err != nil {
		return nil, nil, err
	}
	if t.named {
		names := whole[0].line // a row above it may be unreadable
		head, whole = slices.DeleteFunc(head, func(r row) bool { return r.line == names }), whole[1:]
	}
	if err := t.choose(whole); err != nil {
		return nil, nil, err
	}
	head, err = t.prove(head, rest)
	return head, rest, err
}

// findComment finds what begins a comment: #, or % if the file begins with it.
func (t *table) findComment(head []byte) {
	t.comment = '#'
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("%")) {
		t.comment = '%'
	}
	if t.comment == t.opt.Comma {
		t.comment = 0
	} else if bytes.Contains(append([]byte("\n"), head...), []byte{'\n', byte(t.comment)}) {
		t.rep.Comment = t.comment
	}
}

// separator returns what divides the most lines of the head into equally many fields: of several a tab, ;, | or , in this order,
// and blanks if none divides half of the lines.
func separator(head []byte, comment rune) rune {
	best, most := ' ', 0
	for _, comma := range "\t;|," {
		rows := newRows(bytes.NewReader(head), comma, comment)
		count, fields, total := map[int]int{}, 0, 0
		for row, err := rows.next(); err == nil && total < headRows; row, err = rows.next() {
			used := row.used(0)
			total++
			if count[used]++; used > 1 && count[used] > count[fields] {
				fields = used
			}
		}
		if n := count[fields]; fields > 1 && 2*n >= total && n > most {
			best, most = comma, n
		}
	}
	return best
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

// sortBelow returns what most of the first cells of a column are.
func (t *table) sortBelow(rows []row, column int) (most sort) {
	var count [dated + 1]int
	for _, row := range rows[:min(len(rows), 50)] {
		count[t.sortOf(row.at(column))]++
	}
	count[blank] = 0
	return sort(slices.Index(count[:], slices.Max(count[:])))
}

// header finds whether the first line has the names of the columns: if it has a word above values, or no value.
func (t *table) header(rows []row) error {
	if err := t.refuseTitle(rows); err != nil {
		return err
	}
	for _, row := range rows { // separators at the ends of all lines end no column
		t.width = max(t.width, min(row.used(1), len(rows[0].cells)))
	}
	const most = 1000 // columns that are looked at
	words, values := false, false
	for i := range min(t.width, most) {
		s := t.sortOf(rows[0].at(i))
		words = words || s == word && t.sortBelow(rows[1:], i) > word
		values = values || s > word
	}
	t.rep.Columns = make([]string, t.width)
	t.named = !t.opt.NoHeader && (words || !values)
	t.rep.Headless = !t.opt.NoHeader && !t.named
	for i := range t.rep.Columns {
		if t.named {
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
		t.more.KeyColumns = append(t.more.KeyColumns, find(k, 1))
	}
	next := func(from int) int { // the next column, from 1, that tells no series apart
		for slices.Contains(t.more.KeyColumns, from-1) {
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
	t.cols = []column{{at: t.rep.X}, {at: t.rep.Y}}
	for _, spec := range t.opt.Also {
		at := find(spec, 1)
		t.cols = append(t.cols, column{at: at})
		t.more.Names, t.more.Columns = append(t.more.Names, t.rep.Columns[at]), append(t.more.Columns, at)
	}
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	t.watch(rows)
	if len(rows) == 0 {
		return nil
	}
	if t.opt.Time == TimeAuto {
		if err := t.refuseParts(rows); err != nil {
			return err
		}
	}
	return t.refuseColumns(rows)
}

// prove reads on until the columns show how they are written, and returns all rows that were read. Of a stream the head must show
// it.
func (t *table) prove(head []row, rest *rowReader) ([]row, error) {
	x := newTimeFinder(t.opt, t.rep.Columns[t.rep.X])
	finders := []*numberFinder{&x.number}
	for range t.cols[1:] {
		finders = append(finders, &numberFinder{between: t.opt.Comma})
	}
	for i, settled := 0, false; !settled && i < mostRows; i++ {
		if i == len(head) && !t.whole {
			break
		}
		if i == len(head) {
			row, err := rest.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			head = append(head, row.clone())
		}
		if t.opt.MaxRows > 0 && i > t.opt.MaxRows {
			return nil, ErrTooManyRows
		}
		settled = true
		for k, c := range t.cols {
			cell := head[i].at(c.at)
			switch {
			case t.missing(cell, k > 0):
			case k == 0:
				x.add(cell, head[i].line)
			default:
				finders[k].add(cell, head[i].line)
			}
			settled = settled && (k == 0 && x.settled() || k > 0 && finders[k].proof != 0)
		}
	}
	var wrong CSVError
	add := func(at, line int, cell string, p *CSVProblem) {
		if p != nil {
			p.Line, p.Column, p.Cell = line, t.column(at), cell
			wrong.Add(*p)
		}
	}
	var p *CSVProblem
	t.rep.Time, t.rep.Numbers, p = x.format()
	add(t.rep.X, x.line, x.cell, p)
	if t.rep.Dates() {
		t.rep.Period = x.period
	}
	pointed := x.number.count == 0 && strings.Contains(x.cell, ".")
	for k, f := range finders {
		if k > 0 || f.count > 0 {
			t.cols[k].style, p = f.style(t.opt, pointed)
			add(t.cols[k].at, f.line, f.cell, p)
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	t.found = x.cell != ""
	y := t.cols[1].style
	t.rep.Unit, t.rep.Guessed, t.rep.DecimalComma = y.unit, y.guess, y.comma && !t.opt.DecimalComma
	return head, nil
}
