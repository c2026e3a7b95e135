package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// CSVBlock holds rows of a csv file that follow one another.
type CSVBlock struct {
	X, Y    []float64
	Lines   []int        // number of the line of each row
	Skipped int          // number of rows left out because x or y is missing
	Bad     []CSVProblem // rows that could not be read, in order
	Bytes   int          // length of the text

	index int
	also  [][]float64 // values of each column of CSVOptions.Also; y of a row may then be NaN
	keys  [][]int32   // numbers of the texts of each column of texts
}

// The text that proves how a file is written has at least provingSize bytes and provingRows rows; other chunks have chunkSize
// bytes.
const (
	provingSize = 256 << 10
	provingRows = 10
	chunkSize   = 128 << 10
)

// table holds a csv file and how it is read.
type table struct {
	opt     CSVOptions
	rep     CSVReport
	codes   []float64     // numbers in CSVOptions.Missing
	comment rune          // begins lines that are left out; 0 for none
	counted bool          // x is the number of the row
	count   int           // number of rows
	named   bool          // the first line has the names of the columns
	width   int           // number of fields of a row
	sorts   []sort        // kinds of the cells of the first columns
	columns []int         // columns of numbers: x, y, and CSVOptions.Also
	numbers []numberStyle // styles of these columns
	keys    []textColumn  // columns of CSVOptions.Keys
	watched *Watch
	mu      sync.Mutex // guards rep and keys while rows are read
}

// newTable panics on options that no file can have: these are a mistake of the caller.
func newTable(opt CSVOptions) *table {
	switch {
	case opt.DecimalComma && opt.DecimalPoint:
		panic("dataset: CSVOptions.DecimalComma and CSVOptions.DecimalPoint are both set")
	case strings.ContainsRune("\"\r\n\ufeff\ufffd", opt.Comma) || opt.Comma < 0:
		panic(fmt.Sprintf("dataset: CSVOptions.Comma = %q cannot separate fields", opt.Comma))
	case opt.Time != TimeAuto && !slices.Contains(TimeFormats, opt.Time):
		panic(fmt.Sprintf("dataset: CSVOptions.Time = %q is not a format", opt.Time))
	}
	t := &table{opt: opt}
	for _, m := range opt.Missing {
		if v, _, ok := readNumber(m, strings.Contains(m, ",")); ok {
			t.codes = append(t.codes, v)
		}
	}
	return t
}

// stream passes a table to visit block by block. A goroutine reads the text, and each worker the rows of a chunk. The blocks
// before one that fails have been passed on, too, so that the error of the lowest index is the first in the file.
func (t *table) stream(r io.Reader, workers int, visit func(worker int, b *CSVBlock) error) error {
	head, rest, err := t.open(r)
	if err != nil {
		return err
	}
	if t.counted {
		workers = 1
	}
	var mu sync.Mutex
	var first error
	at := 0 // block of first
	failed := func(block int, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && (first == nil || block < at) {
			first, at = err, block
		}
		return first != nil
	}
	type batch struct {
		index int
		chunk
		rows []row // rows of the head; nil for other chunks
	}
	queue := make(chan batch, workers)
	var wait parallel.Group
	for w := range workers {
		wait.Go(func() {
			defer func() { // the reader must not wait if visit panics
				for range queue {
				}
			}()
			for next := range queue {
				if next.rows == nil {
					next.rows = t.rowsOf(next.chunk)
				}
				b := t.read(next.rows)
				b.index, b.Bytes = next.index, len(next.text)
				failed(next.index, visit(w, b))
			}
		})
	}
	next := batch{rows: head}
	for !failed(next.index, err) && err == nil {
		queue <- next
		next = batch{index: next.index + 1}
		next.chunk, err = rest.next(chunkSize)
		if err == io.EOF {
			break
		}
	}
	close(queue)
	wait.Wait()
	if first == nil {
		t.rep.Several = t.watched.Several()
	}
	return first
}

// rowsOf returns the rows of a chunk.
func (t *table) rowsOf(c chunk) []row {
	rows := c.rows(t.opt.Comma, t.comment)
	if t.counted {
		t.addNumbers(rows)
	}
	return rows
}

// addNumbers writes numbers before the cells of rows, from the number of the rows before them on.
func (t *table) addNumbers(rows []row) {
	for i := range rows {
		t.count++
		rows[i].cells = append([]string{strconv.Itoa(t.count)}, rows[i].cells...)
	}
}

// read reads the rows of a block. Several workers do so at the same time.
func (t *table) read(rows []row) *CSVBlock {
	b := &CSVBlock{X: make([]float64, 0, len(rows)), Y: make([]float64, 0, len(rows)), Lines: make([]int, 0, len(rows)),
		also: make([][]float64, len(t.opt.Also)), keys: make([][]int32, len(t.keys))}
	short, offsets, complete := false, Offsets{}, 0
	for _, r := range rows {
		n := len(b.X)
		at, wrong := t.add(b, r)
		switch {
		case wrong != nil:
			wrong.Line = r.line
			b.Bad = append(b.Bad, *wrong)
		case len(b.X) > n && !math.IsNaN(b.Y[n]):
			complete++
			t.watched.Add(r.line, b.X[n], r.at)
		}
		short = short || at.short
		if len(b.X) > n {
			offsets.add(at.ahead, at.ahead)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rep.ShortYears = t.rep.ShortYears || short
	if len(b.X) > 0 {
		t.rep.Offsets.add(offsets.Least, offsets.Most)
	}
	t.rep.Skipped += b.Skipped
	t.rep.Rows += complete + b.Skipped
	t.rep.Bad.Add(b.Bad...)
	return b
}

// add adds a row to a block and returns its date, or what is wrong with it.
func (t *table) add(b *CSVBlock, r row) (d date, wrong *CSVProblem) {
	if r.wrong != nil {
		return d, r.wrong
	}
	if used := r.used(t.width); used != t.width {
		p := problem("wrong number of fields: %d instead of %d: %s", used, t.width, quoted(r.at(0))).hint(hintOf(r.at(0)))
		if p.Hint.Format == "" && used > 1 && used < t.width {
			p.hint("if it lacks the last ones, cut -d'%c' -f1-%d FILE leaves these columns out", t.opt.Comma, used)
		}
		return d, p
	}
	x, y := r.at(t.rep.X), r.at(t.rep.Y)
	lacksX, lacksY := t.missing(x, false), t.missing(y, true)
	switch {
	case lacksX && !t.opt.SkipMissing:
		return d, t.in(r, t.rep.X, missingValue(x))
	case lacksY && !t.opt.SkipMissing:
		return d, t.in(r, t.rep.Y, missingValue(y))
	case lacksX || lacksY:
		b.Skipped++
	}
	if lacksX || lacksY && len(b.also)+len(b.keys) == 0 {
		return d, nil
	}
	n := len(b.X)
	vx, d, wrong := t.readX(x)
	if wrong != nil {
		return d, t.in(r, t.rep.X, wrong)
	}
	var vy float64
	for j, at := range t.columns[1:] {
		v, cell := math.NaN(), r.at(at)
		if !t.missing(cell, true) {
			if v, wrong = t.numbers[j+1].read(cell, t.opt.Limit); wrong != nil {
				return d, t.in(r, at, wrong)
			}
		}
		if j == 0 {
			vy = v
		} else {
			b.also[j-1] = append(b.also[j-1][:n], v)
		}
	}
	for j := range t.keys {
		text := r.at(t.keys[j].at)
		if text == "" && t.keys[j].at != t.rep.Y {
			return d, t.in(r, t.keys[j].at, problem("an empty cell tells no series apart").
				hint("if cells are merged, write the text in each row"))
		}
		t.mu.Lock()
		b.keys[j] = append(b.keys[j][:n], t.keys[j].number(text))
		t.mu.Unlock()
	}
	b.X, b.Y, b.Lines = append(b.X, vx), append(b.Y, vy), append(b.Lines, r.line)
	return d, nil
}

// in adds to a problem the column and the cell that has it.
func (t *table) in(r row, at int, p *CSVProblem) *CSVProblem {
	p.Column, p.Cell = t.column(at), r.at(at)
	return p
}

func missingValue(text string) *CSVProblem {
	return problem("missing value %s", quoted(text)).hint("%s leaves such rows out", Setting{Field: "SkipMissing"})
}

// missing reports whether a cell stands for a missing value: by its text or, in a column of numbers, by its value.
func (t *table) missing(cell string, number bool) bool {
	if cell == "" || slices.Contains(t.opt.Missing, cell) {
		return true
	}
	if last := cell[len(cell)-1] | ' '; last == 'a' || last == 'n' || last == 'l' {
		switch strings.ToLower(cell) {
		case "na", "n/a", "nan", "-nan", "null":
			return true
		}
	}
	if !number || len(t.codes) == 0 {
		return false
	}
	point, _, byPoint := readNumber(cell, false)
	comma, _, byComma := readNumber(cell, true)
	return byPoint && slices.Contains(t.codes, point) || byComma && slices.Contains(t.codes, comma)
}
