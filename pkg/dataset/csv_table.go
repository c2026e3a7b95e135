package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// CSVBlock are rows of a csv file that follow one another.
type CSVBlock struct {
	X, Y    []float64
	Lines   []int        // of each row
	Skipped int          // rows left out because x or y is missing
	Bad     []CSVProblem // rows that could not be read, in order
	Bytes   int          // of text

	index int
	also  [][]float64 // of each column of CSVOptions.Also; y of a row may then be NaN
	keys  [][]int32   // of each column of texts
}

// blockRows are the rows of a block.
const blockRows = 4096

func (t *table) newBlock(index, rows int) *CSVBlock {
	return &CSVBlock{index: index, X: make([]float64, 0, rows), Y: make([]float64, 0, rows), Lines: make([]int, 0, rows),
		also: make([][]float64, len(t.numbers)-2), keys: make([][]int32, len(t.keys))}
}

// table is a csv file and how it is read.
type table struct {
	opt     CSVOptions
	rep     CSVReport
	whole   bool      // the file is read as a whole; otherwise its head proves how it is written
	codes   []float64 // of CSVOptions.Missing, the numbers
	ansi    *orWindows1252
	named   bool   // the first line has the names of the columns
	sorts   []sort // of the first columns
	width   int    // fields of a row
	numbers []column
	unit    float64     // how many units of a Unix time are a second; 0 for other x
	keys    []keyColumn // of CSVOptions.Keys
	watched *Watch
}

// newTable panics on options that no file can have: a mistake of the caller.
func newTable(opt CSVOptions, whole bool) *table {
	switch {
	case opt.DecimalComma && opt.DecimalPoint:
		panic("dataset: CSVOptions.DecimalComma and CSVOptions.DecimalPoint are both set")
	case strings.ContainsRune("\"\r\n\ufeff\ufffd", opt.Comma) || opt.Comma < 0:
		panic(fmt.Sprintf("dataset: CSVOptions.Comma = %q cannot separate fields", opt.Comma))
	case opt.Time != TimeAuto && !slices.Contains(TimeFormats, opt.Time):
		panic(fmt.Sprintf("dataset: CSVOptions.Time = %q is not a format", opt.Time))
	}
	t := &table{opt: opt, whole: whole}
	for _, m := range opt.Missing {
		if v, _, ok := readNumber(m, strings.Contains(m, ",")); ok {
			t.codes = append(t.codes, v)
		}
	}
	return t
}

// StreamCSV reads two columns of a csv file of any size as [ReadCSV] does. The first 1000 rows must prove how dates and numbers
// are written; a later row that does not fit is a problem. It calls visit for each block of rows from as many goroutines as there
// are workers, numbered from 0: in any order, or in the order of the file with one worker. A row that cannot be read does not end
// the reading: it is among the bad rows of its block, and of the report. CSVReport.Several is known at the end alone: that the
// rows are those of several series.
//
// The error is the first in the file, whatever the workers: of the file as a whole (no text, no such column, dates that are
// ambiguous in all rows), of visit, or of a row longer than 2 MiB. Memory is bounded: some 1 MiB for each worker, and 8 MiB if
// columns may tell series apart.
func StreamCSV(r io.Reader, opt CSVOptions, workers int, visit func(worker int, b *CSVBlock) error) (CSVReport, error) {
	if workers < 1 {
		panic(fmt.Sprintf("dataset: StreamCSV: %d workers", workers))
	}
	opt.Also, opt.Keys = nil, nil
	t := newTable(opt, false)
	if err := t.stream(r, workers, visit); err != nil {
		return t.rep, fmt.Errorf("dataset: CSV: %w", err)
	}
	t.rep.Several = t.watched.Several()
	return t.rep, nil
}

// stream passes a table to visit block by block. The blocks before one that fails have been passed on, too, so that the error of
// the lowest index is the first in the file.
func (t *table) stream(r io.Reader, workers int, visit func(worker int, b *CSVBlock) error) error {
	head, rest, err := t.open(r)
	if err != nil {
		return err
	}
	ahead := readAhead(rest)
	defer ahead.stop()
	var mu sync.Mutex
	var first error
	at := 0 // its block
	failed := func(block int, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && (first == nil || block < at) {
			first, at = err, block
		}
		return first != nil
	}
	queue := make(chan *CSVBlock, workers)
	var wait parallel.Group
	for w := range workers {
		wait.Go(func() {
			defer func() { // the reader must not wait if visit panics
				for range queue {
				}
			}()
			for b := range queue {
				failed(b.index, visit(w, b))
			}
		})
	}
	for i := 0; err == nil && !failed(i, nil); i++ {
		b := t.newBlock(i, blockRows)
		if head, err = t.fill(b, head, ahead, blockRows); err != io.EOF {
			failed(i+1, err)
		}
		if len(b.X)+len(b.Bad)+b.Skipped > 0 {
			queue <- b
		}
	}
	close(queue)
	wait.Wait()
	return first
}

// fill reads at most most rows into a block: first the rows of the head, then further ones. It returns the rows of the head
// that it did not read, and io.EOF behind the last row.
func (t *table) fill(b *CSVBlock, head []row, rest *rowsAhead, most int) (_ []row, err error) {
	for n := 0; n < most; n++ {
		var next row
		if len(head) > 0 {
			next, head = head[0], head[1:]
		} else if next, err = rest.next(); err != nil {
			break
		}
		if p := t.add(b, next); p != nil {
			p.Line = next.line
			b.Bad = append(b.Bad, *p)
		}
	}
	b.Bytes, rest.bytes = rest.bytes, 0
	t.rep.Bad.Add(b.Bad...)
	t.rep.Skipped += b.Skipped
	t.rep.Rows += b.Skipped
	return head, err
}

// add adds a row to a block, or returns what is wrong with it.
func (t *table) add(b *CSVBlock, r row) *CSVProblem {
	if r.wrong != nil {
		return r.wrong
	}
	if used := r.used(t.width); used != t.width {
		return problem("wrong number of fields: %d instead of %d: %s", used, t.width, quoted(r.at(0))).hint(hintOf(r.at(0)))
	}
	x, y := r.at(t.rep.X), r.at(t.rep.Y)
	lacksX, lacksY := t.missing(x, false), t.missing(y, true)
	switch {
	case lacksX && !t.opt.SkipMissing:
		return t.in(r, t.rep.X, missingValue(x))
	case lacksY && !t.opt.SkipMissing:
		return t.in(r, t.rep.Y, missingValue(y))
	case lacksX || lacksY:
		b.Skipped++
	}
	if lacksX || lacksY && len(b.also)+len(b.keys) == 0 {
		return nil
	}
	vx, d, wrong := t.readX(x)
	if wrong != nil {
		return t.in(r, t.rep.X, wrong)
	}
	vy := math.NaN()
	if !lacksY {
		if vy, wrong = t.numbers[1].read(y, t.opt.Limit); wrong != nil {
			return t.in(r, t.rep.Y, wrong)
		}
	}
	for j := range b.also {
		c, v := &t.numbers[2+j], math.NaN()
		if cell := r.at(c.at); !t.missing(cell, true) {
			if v, wrong = c.read(cell, t.opt.Limit); wrong != nil {
				return t.in(r, c.at, wrong)
			}
		}
		b.also[j] = append(b.also[j][:len(b.X)], v)
	}
	for j := range t.keys {
		id, wrong := t.keys[j].number(r.at(t.keys[j].at))
		if wrong != nil {
			return t.in(r, t.keys[j].at, wrong)
		}
		b.keys[j] = append(b.keys[j][:len(b.X)], id)
	}
	if !lacksY {
		t.rep.Rows++
		if len(t.watched.keys) > 0 {
			t.watched.Add(vx, r.at)
		}
	}
	t.rep.ShortYears = t.rep.ShortYears || d.short
	b.X, b.Y, b.Lines = append(b.X, vx), append(b.Y, vy), append(b.Lines, r.line)
	return nil
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

// collect takes the rows of a file with y as a series. Further columns are in the report, with open rows apart.
func (t *table) collect(b *CSVBlock) (s Series) {
	m := &t.rep.Also
	m.Values, m.OpenValues = make([][]float64, len(b.also)), make([][]float64, len(b.also))
	m.Keys, m.OpenKeys = make([][]int32, len(b.keys)), make([][]int32, len(b.keys))
	for _, k := range t.keys {
		m.KeyTexts = append(m.KeyTexts, k.texts)
	}
	if len(b.also)+len(b.keys) == 0 { // rows without y have been skipped
		m.Lines = b.Lines
		return Series{X: b.X, Y: b.Y}
	}
	for i, y := range b.Y {
		x, lines, values, keys := &s.X, &m.Lines, m.Values, m.Keys
		if math.IsNaN(y) {
			x, lines, values, keys = &m.OpenX, &m.OpenLines, m.OpenValues, m.OpenKeys
		} else {
			s.Y = append(s.Y, y)
		}
		*x, *lines = append(*x, b.X[i]), append(*lines, b.Lines[i])
		for j := range values {
			values[j] = append(values[j], b.also[j][i])
		}
		for j := range keys {
			keys[j] = append(keys[j], b.keys[j][i])
		}
	}
	return s
}
