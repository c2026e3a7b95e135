package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/text"
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

// table is a csv file and how it is read.
type table struct {
	opt     CSVOptions
	rep     CSVReport
	whole   bool      // the file is read as a whole; otherwise its head proves how it is written
	codes   []float64 // of CSVOptions.Missing, the numbers
	comment rune      // begins lines that are left out; 0 for none
	named   bool      // the first line has the names of the columns
	utf8    bool      // the head is UTF-8
	width   int       // fields of a row
	cols    []column  // x, y and those of CSVOptions.Also
	keys    []keyColumn
	found   bool // a date or a number was found in the column of x

	more  CSVMore
	noX   int // rows with y and without x
	mu    sync.Mutex
	err   error
	errAt int // the block of err
}

// column is one of numbers.
type column struct {
	at    int // from 0
	style numberStyle
}

// columnOf returns the index of the column that spec names or, if no name fits, numbers from 1; an empty spec is the number
// otherwise.
func (t *table) columnOf(spec string, otherwise int) (int, *CSVProblem) {
	names := t.rep.Columns
	if spec == "" {
		spec = strconv.Itoa(otherwise)
	} else if i := slices.Index(names, spec); i >= 0 {
		if slices.Index(names[i+1:], spec) >= 0 {
			return 0, problem("more than one column is named %s: choose it by number", quoted(spec))
		}
		return i, nil
	}
	if n, err := strconv.Atoi(spec); err == nil && 1 <= n && n <= len(names) {
		return n - 1, nil
	}
	p := problem("no column %s; there is %s alone, and x and y are two columns", quoted(spec), t.column(0))
	if len(names) == 1 {
		return 0, p.hint(`awk '{print NR ";" $0}' FILE puts numbers 1, 2, 3, … before the lines; %s names another separator`,
			Setting{Field: "Comma"})
	}
	const most = 6 // columns that are listed
	have := make([]string, min(len(names), most))
	for i := range have {
		have[i] = t.column(i)
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
func (t *table) name(i int) string {
	if t.rep.Columns[i] == "" {
		return strconv.Itoa(i + 1)
	}
	return t.rep.Columns[i]
}

// StreamCSV reads two columns of a csv file of any size as [ReadCSV] does. The first 1000 rows must prove how dates and numbers
// are written; a later row that does not fit is a problem. It calls visit for each block of rows from as many goroutines as there
// are workers, numbered from 0: in any order, or in the order of the file with one worker. visit must not keep a block. A row
// that cannot be read does not end the reading: it is among the bad rows of its block, and of the report.
//
// The error is the first in the file, whatever the workers: of the file as a whole (no text, no such column, dates that are
// ambiguous in all rows), of visit, or of a row longer than 2 MiB. Memory is bounded: some 1 MiB for each worker.
func StreamCSV(r io.Reader, opt CSVOptions, workers int, visit func(worker int, b *CSVBlock) error) (CSVReport, error) {
	if workers < 1 {
		panic(fmt.Sprintf("dataset: StreamCSV: %d workers", workers))
	}
	opt.Also, opt.Keys = nil, nil
	t := &table{opt: opt}
	if err := t.stream(r, workers, visit); err != nil {
		return t.rep, fmt.Errorf("dataset: CSV: %w", err)
	}
	return t.rep, nil
}

// blockRows are the rows of a block.
const blockRows = 4096

// stream reads a table block by block.
func (t *table) stream(r io.Reader, atOnce int, visit func(worker int, b *CSVBlock) error) error {
	t.opt.check()
	head, rest, err := t.open(r)
	if err != nil {
		return err
	}
	queue, spare := make(chan *CSVBlock, atOnce), make(chan *CSVBlock, 2*atOnce+1)
	var wait parallel.Group
	for w := range atOnce {
		wait.Go(func() {
			defer func() { // the reader must not wait if visit panics
				for range queue {
				}
			}()
			for b := range queue {
				if !t.fail(b.index, nil) {
					t.fail(b.index, visit(w, b))
				}
				spare <- b
			}
		})
	}
	for i, read := 0, 0; err == nil && !t.fail(i, nil); i++ {
		b := new(CSVBlock)
		select {
		case b = <-spare:
		default:
		}
		b.reset(i, len(t.cols)-2, len(t.keys))
		for n := 0; n < blockRows && err == nil; n++ {
			var next row
			if len(head) > 0 {
				next, head = head[0], head[1:]
			} else {
				next, err = rest.next()
			}
			if err == nil {
				t.add(b, next)
			}
		}
		b.Bytes, read = rest.bytes-read, rest.bytes
		t.rep.Bad.Add(b.Bad...)
		t.rep.Skipped += b.Skipped
		t.rep.Rows += b.Skipped
		if len(b.X)+len(b.Bad)+b.Skipped > 0 {
			queue <- b
		}
		if err != nil && err != io.EOF {
			t.fail(i+1, err)
		}
	}
	close(queue)
	wait.Wait()
	if t.err == nil && t.noX > t.rep.Rows-t.rep.Skipped {
		return t.refuseMerged(t.noX, t.noX+t.rep.Rows-t.rep.Skipped)
	}
	return t.err
}

// reset empties a block for the rows of another.
func (b *CSVBlock) reset(index, also, keys int) {
	*b = CSVBlock{X: b.X[:0], Y: b.Y[:0], Lines: b.Lines[:0], Bad: b.Bad[:0], index: index, also: b.also, keys: b.keys}
	if b.also == nil {
		b.also, b.keys = make([][]float64, also), make([][]int32, keys)
	}
}

// fail keeps the error that is the first in the file, and reports whether one is known in a block or above it.
func (t *table) fail(block int, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && (t.err == nil || block < t.errAt) {
		t.err, t.errAt = err, block
	}
	return t.err != nil && t.errAt <= block
}

// add adds a row to a block, or what is wrong with it.
func (t *table) add(b *CSVBlock, r row) {
	wrong := r.wrong
	if used := r.used(t.width); wrong == nil && used != t.width {
		wrong = problem("wrong number of fields: %d instead of %d: %s", used, t.width, quoted(r.at(0))).hint(hintOf(r.at(0)))
	}
	if wrong == nil {
		var at int
		if at, wrong = t.addCells(b, r); wrong != nil {
			wrong.Column, wrong.Cell = t.column(at), r.at(at)
		}
	}
	if wrong != nil {
		wrong.Line = r.line
		b.Bad = append(b.Bad, *wrong)
	}
}

// addCells adds the cells of a row, or returns what is wrong with one and in which column.
func (t *table) addCells(b *CSVBlock, r row) (at int, wrong *CSVProblem) {
	x, y := trim(r.cells[t.rep.X]), trim(r.cells[t.rep.Y])
	lacksX, lacksY := t.missing(x, false), t.missing(y, true)
	switch {
	case lacksX && !t.opt.SkipMissing:
		return t.rep.X, missingValue(x)
	case lacksY && !t.opt.SkipMissing:
		return t.rep.Y, missingValue(y)
	case lacksX || lacksY:
		b.Skipped++
	}
	if lacksX && !lacksY {
		t.noX++
	}
	if lacksX || lacksY && len(b.also)+len(b.keys) == 0 {
		return 0, nil
	}
	vx, d, ok := t.readX(x)
	if !ok && !utf8.ValidString(x) {
		x = utf8Text(x)
		vx, d, ok = t.readX(x)
	}
	switch {
	case !ok:
		return t.rep.X, t.wrongX(x)
	case t.rep.Time == TimeNumber && t.beyond(vx):
		return t.rep.X, t.tooLarge(x)
	}
	vy, wrong := t.number(1, y, lacksY)
	if wrong != nil {
		return t.rep.Y, wrong
	}
	for j := range b.also {
		at := t.cols[2+j].at
		cell := trim(r.cells[at])
		v, wrong := t.number(2+j, cell, t.missing(cell, true))
		if wrong != nil {
			return at, wrong
		}
		b.also[j] = append(b.also[j][:len(b.X)], v)
	}
	for j := range t.keys {
		id, wrong := t.keys[j].number(r.at(t.keys[j].at))
		if wrong != nil {
			return t.keys[j].at, wrong
		}
		b.keys[j] = append(b.keys[j][:len(b.X)], id)
	}
	if !lacksY {
		t.rep.Rows++
	}
	t.rep.ShortYears = t.rep.ShortYears || d.short
	b.X, b.Y, b.Lines = append(b.X, vx), append(b.Y, vy), append(b.Lines, r.line)
	return 0, nil
}

// trim is strings.TrimSpace, at once for what needs none.
func trim(s string) string {
	if len(s) > 0 && s[0] > ' ' && s[0] < utf8.RuneSelf && s[len(s)-1] > ' ' && s[len(s)-1] < utf8.RuneSelf {
		return s
	}
	return strings.TrimSpace(s)
}

// missing reports whether a cell stands for a missing value: by its text or, in a column of numbers, by its value.
func (t *table) missing(cell string, number bool) bool {
	if cell == "" {
		return true
	}
	if c := cell[min(1, len(cell)-1)] | ' '; c == 'a' || c == 'u' || c == 'n' || c == '/' {
		switch strings.ToLower(cell) {
		case "na", "n/a", "nan", "-nan", "null":
			return true
		}
	}
	if slices.Contains(t.opt.Missing, cell) || !number || len(t.codes) == 0 {
		return slices.Contains(t.opt.Missing, cell)
	}
	point, _, byPoint := readNumber(cell, false)
	comma, _, byComma := readNumber(cell, true)
	return byPoint && slices.Contains(t.codes, point) || byComma && slices.Contains(t.codes, comma)
}

// number reads a number of the k-th of the columns that are read; NaN if it is missing.
func (t *table) number(k int, text string, missing bool) (v float64, wrong *CSVProblem) {
	if missing {
		return math.NaN(), nil
	}
	v, ok := t.cols[k].style.value(text)
	if !ok && !utf8.ValidString(text) {
		text = utf8Text(text)
		v, ok = t.cols[k].style.value(text)
	}
	switch {
	case !ok:
		return 0, t.cols[k].style.wrong(text)
	case t.beyond(v):
		return 0, t.tooLarge(text)
	}
	return v, nil
}

func (t *table) beyond(v float64) bool { return t.opt.Limit != 0 && math.Abs(v) > t.opt.Limit }

func (t *table) tooLarge(text string) *CSVProblem {
	return problem("%s is beyond ±%g", quoted(text), t.opt.Limit).
		hint("if it stands for a missing value: %s; else scale the column", Setting{"Missing", text})
}

func missingValue(text string) *CSVProblem {
	return problem("missing value %s", quoted(text)).hint("%s leaves such rows out", Setting{Field: "SkipMissing"})
}
