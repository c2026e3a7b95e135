package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
)

// open finds out how a file is written. It returns the rows that it read for that, and a reader of the others.
func (t *table) open(r io.Reader) (head []row, rest *chunkReader, err error) {
	text, err := decoded(r)
	if err != nil {
		return nil, nil, err
	}
	rest = &chunkReader{text: text, line: 1}
	begin, err := rest.next(provingSize)
	for more := (chunk{}); err == nil && strings.Count(begin.text, "\n") < provingRows; begin.text += more.text {
		more, err = rest.next(provingSize)
	}
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	t.findComment(begin.text)
	t.opt.Comma = cmp.Or(t.opt.Comma, separator(begin, t.comment))
	t.rep.Comma = t.opt.Comma
	head = t.rowsOf(begin)
	switch {
	case len(head) == 0:
		return nil, nil, errors.New("the file is empty")
	case head[0].wrong != nil:
		return nil, nil, head[0].wrong.whole()
	}
	if p := t.header(head); p != nil {
		return nil, nil, p.whole()
	}
	if t.named {
		head = head[1:]
	}
	if t.opt.X == RowNumber && !slices.Contains(t.rep.Columns, RowNumber) {
		t.counted = true
		t.addNumbers(head)
		t.rep.Columns, t.sorts, t.width = append([]string{RowNumber}, t.rep.Columns...), append([]sort{number}, t.sorts...), t.width+1
	}
	for _, is := range t.sorts {
		t.rep.Numeric = append(t.rep.Numeric, is == number)
	}
	if err := t.choose(head); err != nil {
		return nil, nil, err
	}
	if len(head) > 0 {
		if p := cmp.Or(t.refuseParts(head), t.refuseWords(head), t.refuseMerged(head)); p != nil {
			return nil, nil, p.whole()
		}
	}
	return head, rest, t.prove(head)
}

// findComment finds what begins a comment: #, or % if the file begins with it.
func (t *table) findComment(head string) {
	t.comment = '#'
	if strings.HasPrefix(strings.TrimSpace(head), "%") {
		t.comment = '%'
	}
	if t.comment == t.opt.Comma {
		t.comment = 0
	} else if strings.Contains("\n"+head, "\n"+string(t.comment)) {
		t.rep.Comment = t.comment
	}
}

// separator returns the character that divides the most lines of a file's beginning into equally many fields. If several do, it
// is the first of a tab, ;, | and a comma; if none divides half of the lines, it is a blank.
func separator(begin chunk, comment rune) rune {
	if end := strings.LastIndexByte(begin.text[:min(len(begin.text), headSize)], '\n'); end >= 0 {
		begin.text = begin.text[:end+1]
	}
	best, most := ' ', 0
	for _, comma := range "\t;|," {
		rows := begin.rows(comma, comment)
		if _, n := usualWidth(rows); n > most && 2*n >= len(rows) {
			best, most = comma, n
		}
	}
	return best
}

// usualWidth returns the number of fields that the most rows have, if that is at least two, and the number of these rows.
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

// sort is the kind of a cell.
type sort byte

const (
	blank sort = iota // empty or missing
	word
	number
	dated
)

func (t *table) sortOf(cell string) sort {
	switch {
	case t.missing(cell, true):
		return blank
	case dateFits(cell, anyFormat) != 0:
		return dated
	case new(numberFinder).add(cell, 0):
		return number
	}
	return word
}

// header finds whether the first line has the names of the columns: if it has a word above values, or no value.
func (t *table) header(rows []row) *CSVProblem {
	if p := t.refuseTitle(rows); p != nil {
		return p
	}
	for _, row := range rows { // separators at the ends of all lines end no column
		t.width = max(t.width, min(row.used(1), len(rows[0].cells)))
	}
	const most, several = 1000, 50 // numbers of columns and rows that are looked at
	t.sorts = make([]sort, t.width)
	words, values := false, false
	for at := range t.sorts[:min(t.width, most)] {
		var count [dated + 1]int
		for _, row := range rows[1:min(len(rows), several)] {
			count[t.sortOf(row.at(at))]++
		}
		count[blank] = 0
		t.sorts[at] = sort(slices.Index(count[:], slices.Max(count[:])))
		first := t.sortOf(rows[0].at(at))
		words, values = words || first == word && t.sorts[at] > word, values || first > word
	}
	t.rep.Columns = make([]string, t.width)
	if t.opt.NoHeader {
		return nil
	}
	t.named = words || !values
	t.rep.Headless = !t.named
	if t.named {
		for i := range t.rep.Columns {
			t.rep.Columns[i] = strings.Clone(rows[0].at(i))
		}
	}
	return t.refuseHeader(rows)
}

// choose finds the columns that are read. All problems with them make one error.
func (t *table) choose(rows []row) error {
	var wrong CSVError
	find := func(spec string, otherwise int) int {
		at, p := t.columnOf(spec, otherwise)
		if p != nil {
			wrong.Add(*p)
		}
		return at
	}
	keys := &t.rep.Also.KeyColumns
	for _, k := range t.opt.Keys {
		*keys = append(*keys, find(k, 1))
		t.keys = append(t.keys, newTextColumn((*keys)[len(*keys)-1]))
	}
	next := func(from int) int { // returns the next column, from 1, that tells no series apart
		for slices.Contains(*keys, from-1) {
			from++
		}
		return from
	}
	t.rep.X = find(t.opt.X, next(1))
	y := 2
	if t.opt.X == "" {
		y = t.rep.X + 2
	}
	if y = next(y); t.opt.Y == "" && y < t.width && t.isTime(y-1, rows) {
		t.rep.Passed = t.rep.Columns[y-1]
		y = next(y + 1)
	}
	t.rep.Y = find(t.opt.Y, y)
	t.columns = []int{t.rep.X, t.rep.Y}
	for _, spec := range t.opt.Also {
		at := find(spec, 1)
		t.columns = append(t.columns, at)
		t.rep.Also.Names, t.rep.Also.Columns = append(t.rep.Also.Names, t.rep.Columns[at]), append(t.rep.Also.Columns, at)
	}
	t.watched = NewWatch(t.mayTellApart(rows)...)
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	return nil
}

var nameOfTime = regexp.MustCompile(`(?i)year|date|time|jahr|datum|zeit|année|julian|epoch`)

// isTime reports whether a column is a time, as x is: numbers that rise in all rows beside dates, under a name of a time.
func (t *table) isTime(at int, rows []row) bool {
	last := math.Inf(-1)
	for _, r := range rows {
		v, ok := decimal(r.at(at))
		if !ok || v <= last {
			return false
		}
		last = v
	}
	return t.sorts[t.rep.X] == dated && nameOfTime.MatchString(t.rep.Columns[at])
}

// columnOf returns the index of the column that spec names or, if no name fits, the column with this number from 1. For an empty
// spec it is the number otherwise.
func (t *table) columnOf(spec string, otherwise int) (int, *CSVProblem) {
	const most = 6 // number of columns that are listed
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
		have = append(have, fmt.Sprintf("… of %d columns, of which %s is the nearest", len(names), quoted(text.Nearest(spec, names))))
	}
	return 0, problem("no column %s; there are %s", quoted(spec), strings.Join(have, ", "))
}

// column returns the number and the name of a column.
func (t *table) column(i int) string {
	if t.rep.Columns[i] == "" {
		return fmt.Sprintf("column %d", i+1)
	}
	return fmt.Sprintf("column %d (%s)", i+1, quoted(t.rep.Columns[i]))
}

// free reports whether no option gives a column a role.
func (t *table) free(at int) bool {
	return at != t.rep.X && (at != t.rep.Y || t.opt.Y == "") && !slices.Contains(t.rep.Also.Columns, at)
}

// mayTellApart returns, if no option names keys, the columns of words or whole numbers that repeat in the sample, even y if no
// option names it.
func (t *table) mayTellApart(rows []row) (columns []int) {
	for at := 0; at < t.width && len(t.opt.Keys) == 0 && len(columns) < mostWatched; at++ {
		texts := map[string]bool{}
		other := slices.IndexFunc(rows, func(r row) bool {
			cell := r.at(at)
			texts[cell] = true
			return !isWhole(cell) && t.sortOf(cell) != word
		})
		if other < 0 && t.free(at) && 2*len(texts) <= len(rows) {
			columns = append(columns, at)
		}
	}
	return columns
}

// prove finds how the columns are written by the rows of the head. All columns that these do not prove make one error.
func (t *table) prove(head []row) error {
	x := newTimeFinder(t.opt, t.rep.Columns[t.rep.X])
	finders := []*numberFinder{&x.numberFinder}
	for range t.columns[1:] {
		finders = append(finders, &numberFinder{comma: t.opt.Comma})
	}
	for i, settled := 0, false; !settled && i < len(head); i++ {
		r := head[i]
		if cell := r.at(t.rep.X); !t.missing(cell, false) {
			x.add(cell, r.line)
		}
		settled = x.settled()
		for k, f := range finders[1:] {
			if cell := r.at(t.columns[k+1]); !t.missing(cell, true) {
				f.add(cell, r.line)
			}
			settled = settled && f.proof != ""
		}
	}
	var wrong CSVError
	add := func(at int, p *CSVProblem) {
		if p != nil {
			p.Column = t.column(at)
			wrong.Add(*p)
		}
	}
	var p *CSVProblem
	t.rep.Time, t.rep.Numbers, p = x.format()
	add(t.rep.X, p)
	if t.rep.Dates() {
		t.rep.Period, t.rep.Local = x.period, x.local
	}
	unproven := func(f *numberFinder) bool { return f.marks != "" && f.proof == "" }
	pointed := slices.ContainsFunc(finders, unproven) && t.pointed(head[:min(len(head), 100)])
	t.numbers = make([]numberStyle, len(finders))
	for k, f := range finders {
		if k > 0 || f.count > 0 {
			t.numbers[k], p = f.style(t.opt, pointed)
			add(t.columns[k], p)
		}
	}
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	y := t.numbers[1]
	t.rep.Unit, t.rep.DecimalComma = y.unit, y.comma && !t.opt.DecimalComma
	return nil
}

// pointed reports whether a column, read or not, has cells with a decimal point.
func (t *table) pointed(rows []row) bool {
	for at := range t.width {
		f := numberFinder{}
		for _, r := range rows {
			if cell := r.at(at); !t.missing(cell, true) && f.add(cell, r.line) && f.proof == "." {
				return true
			}
		}
	}
	return false
}
