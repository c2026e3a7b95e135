package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// CSVBlock is a part of a CSV file: rows that follow one another.
type CSVBlock struct {
	X, Y    []float64
	Lines   []int         // of each row
	Skipped int           // rows left out because x or y is missing
	Bad     []CSVRowError // rows that could not be read, in order
	Bytes   int           // of text

	also  [][]float64 // of each column of CSVOptions.Also; y of a row may then be NaN
	keys  [][]int32   // of each column of CSVOptions.Keys; y of a row may then be NaN
	open  int         // rows without y
	noX   int         // rows with y that have no x
	short yearRange

	headers int // lines that repeat the header
}

// CSVRowError is a row that could not be read.
type CSVRowError struct {
	Line int
	Err  error // without the line

	turn  bool   // the order of day and month seems to be another one from this row on
	words string // that x, or the row, begins with where a number or a date is wanted: of a total or a source, if below the table
}

func (e CSVRowError) Error() string {
	if _, ok := e.Err.(cellError); ok { // it begins with the column
		return fmt.Sprintf("line %d, %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e CSVRowError) Unwrap() error { return e.Err }

// cellError is what is wrong with a cell of a row.
type cellError struct {
	column string
	error
}

func (e cellError) Error() string { return fmt.Sprintf("%s: %v", e.column, e.error) }
func (e cellError) Unwrap() error { return e.error }

const blockSize = 256 << 10

// mostHeld is how much text is read to find out how dates are written: 12 days, within which 3/4/2000 stays ambiguous, at a row a
// second.
const mostHeld = 32 << 20

// mostStyled is how much text is read for a number that shows its decimal sign. Columns of whole numbers have none.
const mostStyled = 1 << 20

// csvStream reads a table block by block. All that reads csv goes through it.
type csvStream struct {
	opt   CSVOptions
	visit func(worker int, b *CSVBlock) error
	rep   CSVReport
	more  CSVMore // its columns
	size  int     // of a block

	comma, comment []byte
	places         []int  // of each column in the fields that are read; -1 for none
	side           string // of an account, in the first rows, and the place of its column; "" for none
	sideAt         int
	wide           *wide    // nil for a table with a row for each observation
	x, y           int      // places
	parts          xColumns // of x, by places
	sign           string   // of the period that x of one column is: Q or W; "" where cells say it or there is none
	also           []int    // places
	keys           []keyColumn
	keysMet        int   // texts of all of them
	keysMay        bool  // be beyond the bounds
	searched       []int // columns of the texts
	columns        []int // of each place

	styles  []numberStyle // of each place
	finders []styleFinder // of each place, until the styles are known
	missing map[string]bool
	codes   []float64 // numbers that stand for a missing value
	suspect [256]bool // bytes with which a missing value may begin
	plainX  bool      // x are numbers with a decimal point
	isoX    bool      // x are dates, wanted in seconds
	named   bool      // years of x may have two digits
	spaced  bool      // the first of them is one such as Jan 15
	parseX  dateParser
	order   dateOrder
	numbers numberOrder
	dateX   *numberDate // of x that are numbers for dates, wanted in seconds
	first   int         // line of the row that decided how x is written; 0 for none

	mu    sync.Mutex
	rest  unread
	short yearRange
	noX   int // rows with y that have no x
	err   error
	errAt int // the block of err
}

func (s *csvStream) run(r io.Reader, atOnce int) error {
	text, err := tableText(r, &s.opt)
	s.rep.Comma, s.rep.Comment, s.rep.Title, s.rep.Headless = s.opt.Comma, s.opt.Comment, s.opt.title, s.opt.headless
	s.rep.Declared, s.rep.Coarser = s.opt.declared, s.opt.coarser
	if err != nil {
		return err
	}
	s.comma, s.comment = encoded(s.opt.Comma), encoded(s.opt.Comment)
	s.missing = map[string]bool{}
	for _, m := range s.opt.Missing {
		s.missing[m] = true
		if m != "" {
			s.suspect[m[0]] = true
		}
		s.addCode(m)
	}
	blocks := &rowSplitter{s: s, r: text, line: 1}
	block, err := s.header(blocks)
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}

	s.rest.next = block.index
	queue := make(chan textBlock, atOnce)
	free := make(chan []byte, 2*atOnce+2)
	var wait parallel.Group
	for w := range atOnce {
		wait.Go(func() {
			returned := false
			defer func() {
				if !returned { // visit panicked: the reader must not wait
					s.fail(-1, errPanicked)
					for range queue {
					}
				}
			}()
			rows := rowScanner{s: s, fields: s.fields()}
			var b CSVBlock
			for t := range queue {
				if s.wants(t.index) {
					rows.block = t
					s.fail(t.index, s.read(w, &rows, &b))
				}
				select {
				case free <- t.text[:0]:
				default:
				}
			}
			returned = true
		})
	}
	var held []textBlock // until it is known how the cells are written
	settled, refused := false, error(nil)
	send := func() {
		for _, b := range held {
			queue <- b
		}
		held = held[:0]
	}
	for size := 0; err == nil && s.wants(math.MaxInt); block, err = blocks.next() {
		held = append(held, block)
		if !settled {
			size += len(block.text)
			if x, numbers := s.detect(block); !x && size < mostHeld || !numbers && size < mostStyled {
				continue
			}
			if refused = s.settle(); refused != nil {
				err = refused
				break
			}
			settled = true
		}
		send()
		select {
		case blocks.spare = <-free:
		default:
		}
	}
	if !settled && refused == nil {
		if refused = s.settle(); refused == nil {
			send()
		}
	}
	if err == io.EOF {
		err = refused
	}
	close(queue)
	wait.Wait()
	s.fail(math.MaxInt, err)
	if s.err == nil && s.rep.ShortYears {
		s.err = s.short.check(columnName(s.rep.Columns, s.rep.X), s.opt.Seconds, s.spaced)
	}
	tables := len(s.keys) == 0 && len(s.rest.totals) > 0 && s.rest.again() // below one another
	return s.rest.settle(&s.rep, tables, s.err)
}

// errPanicked stops reading; the panic is raised in its place.
var errPanicked = errors.New("a call panicked")

// fail keeps the error that is the first in the file.
func (s *csvStream) fail(block int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && (s.err == nil || block < s.errAt) {
		s.err, s.errAt = err, block
	}
}

// wants reports whether no error is known above a block.
func (s *csvStream) wants(block int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == nil || block < s.errAt
}

// header reads the header, or the width of the first row where there is none, and returns what follows it in its block.
func (s *csvStream) header(blocks *rowSplitter) (b textBlock, err error) {
	var row quotedRow
	for size := 0; ; b.text = b.text[size:] {
		if len(b.text) == 0 {
			if b, err = blocks.next(); err != nil {
				return b, err
			}
		}
		line, _, _ := bytes.Cut(b.text, newline)
		if size = min(len(line)+1, len(b.text)); s.skips(line) {
			b.line++
			continue
		}
		if n := bytes.Count(line, s.comma) + 1; n > mostColumns {
			return b, fmt.Errorf("line %d has %d columns, more than %d: write a file with fewer", b.line, n, mostColumns)
		}
		var failure *quoteError
		if size, failure = row.read(b.text, s.comma); failure != nil {
			return b, fmt.Errorf("line %d: %w", b.line, failure.onLine(b.line))
		}
		if len(row.ends) > 1 || len(bytes.TrimSpace(row.field(0))) > 0 {
			break
		}
		b.line += bytes.Count(b.text[:size], newline)
	}
	names := make([]string, len(row.ends))
	from := s.opt.names
	if !s.opt.NoHeader {
		from = nil
		for i := range names {
			from = append(from, string(row.field(i)))
		}
		size, _ := row.read(b.text, s.comma)
		b.line += bytes.Count(b.text[:size], newline)
		b.text = b.text[size:]
	}
	for i, name := range from[:min(len(from), len(names))] {
		names[i] = strings.TrimSpace(cellText([]byte(name)))
		if strings.HasPrefix(names[i], "<") {
			names[i] = bracketed.ReplaceAllString(names[i], "$1")
		}
	}
	if s.opt.rowNames {
		names = append([]string{""}, names...)
	}
	if s.opt.unnamed {
		names = append(names, "")
	}
	if err := s.cutWords(blocks, &b, s.opt.wordRows()); err != nil {
		return b, err
	}
	first, err := s.firstRow(blocks, &b)
	if err != nil {
		return b, err
	}
	first = s.rows().fullest(first)
	if s.wide, err = s.wideOf(names, first); err != nil {
		return b, err
	}
	if s.wide == nil {
		return b, s.choose(names, first)
	}
	var head [][]string
	if names = s.wide.header(names); !s.opt.NoHeader {
		head = slices.Repeat([][]string{names}, 1+s.rep.Words)
	}
	s.opt.head = append(head, s.wide.rows(s.rows())...)
	if err = s.choose(names, s.wide.row(first, 0)); err == nil {
		s.unfoldsAt()
	}
	return b, err
}

// cutWords leaves out the rows of words below the header.
func (s *csvStream) cutWords(blocks *rowSplitter, b *textBlock, rows int) (err error) {
	var row quotedRow
	for s.rep.Words = rows; rows > 0; {
		if len(b.text) == 0 {
			if *b, err = blocks.next(); err != nil {
				return err
			}
		}
		line, _, _ := bytes.Cut(b.text, newline)
		size := min(len(line)+1, len(b.text))
		if !s.skips(line) && len(bytes.TrimSpace(line)) > 0 {
			size, _ = row.read(b.text, s.comma) // which was read before
			rows--
		}
		b.line += bytes.Count(b.text[:size], newline)
		b.text = b.text[size:]
	}
	return nil
}

// format sets how x is read.
func (s *csvStream) format(f TimeFormat) {
	s.rep.Time = f
	s.parseX = s.opt.parser(f, func(text string) (float64, error) { return s.styles[s.x].value(text) })
	if d, ok := numberDateOf(f); ok && s.opt.Seconds {
		s.dateX = &d
	}
	s.isoX = f == TimeISO && s.opt.Seconds
	s.named = slices.Contains([]TimeFormat{TimeNamed, TimeQuarter, TimeDMY, TimeMDY, TimeFiscal}, f)
}

// detect looks at the rows of a block until it is known how x and the numbers are written. Of the two, it reports which is known.
func (s *csvStream) detect(b textBlock) (x, numbers bool) {
	rows := rowScanner{s: s, block: b, fields: s.fields()}
	for {
		if x, numbers = s.parseX != nil, s.styled(); x && numbers {
			return x, numbers
		}
		more, err := rows.scan()
		if !more {
			return x, numbers
		}
		if err != nil && s.numbers.met && s.wordsOf(&rows, 0, err) != "" { // what is below decides nothing
			return true, true
		}
		if err != nil {
			continue
		}
		text := rows.x()
		leftOut := s.missingAt(s.y, trim(rows.fields[s.y])) && !(s.keepsOpen() && s.opt.SkipMissing)
		if leftOut || total.Match(text) || s.isHeader(rows.fields) || s.isMissing(text) {
			continue
		}
		if !x {
			s.detectX(text, &rows)
		}
		if !bytes.ContainsAny(text, "0123456789") { // a remark below the table, as "Source: Office, 2021", says nothing of its numbers
			continue
		}
		for place := range s.finders {
			if cell := trim(rows.fields[place]); !s.missingAt(place, cell) {
				s.finders[place].add(cell, rows.lineOf(s.columns[place]), s.opt)
			}
		}
	}
}

// detectX takes an x: the first decides how all are written or, of dates such as 3/4/2000, the first in which the day cannot be a
// month. Numbers that may stand for dates do so unless one of them cannot.
func (s *csvStream) detectX(x []byte, rows *rowScanner) {
	if s.numbers.met {
		v, ok := s.numberX(x)
		ok = ok && !s.missingAt(s.y, trim(rows.fields[s.y])) && !(s.numbers.form.format == TimeYYYYMM && meanMonth.Match(x))
		if ok && !s.numbers.add(v) {
			s.format(TimeNumber)
		}
		return
	}
	f := s.order.add(cellText(x), rows.lineOf(s.rep.X))
	if f == timeSlashes {
		return
	}
	s.first = rows.line
	if v, ok := s.numberX(x); f != TimeNumber || !s.opt.NumberDates || !ok || !s.numbers.add(v) {
		s.format(f)
	}
}

// isNumber reports whether a place is that of numbers, and not of dates or parts of them.
func (s *csvStream) isNumber(place int) bool {
	return place == s.y || slices.Contains(s.also, place) || place == s.x &&
		slices.Contains([]TimeFormat{TimeNumber, TimeExcel, TimeYYYYdMM, TimeYYYYdQ}, s.rep.Time)
}

// styled reports whether all columns of numbers have shown how they are written.
func (s *csvStream) styled() bool {
	for place := range s.finders {
		if f := &s.finders[place]; !(f.met && f.done) && s.isNumber(place) {
			return false
		}
	}
	return true
}

// numberX reads an x as a number.
func (s *csvStream) numberX(text []byte) (v float64, ok bool) {
	if v, ok = decimal(text); ok {
		return v, true
	}
	style := numberStyle{comma: s.opt.DecimalComma}
	if w, split := splitNumber(cellText(text)); split && !s.opt.DecimalPoint {
		sign, _ := w.sign()
		style.comma = style.comma || sign == ','
	}
	v, err := style.value(cellText(text))
	return v, err == nil
}

// settle decides how x is written where no row does.
func (s *csvStream) settle() error {
	if s.parseX == nil && s.numbers.met {
		f := s.numbers.format()
		if f != TimeNumber {
			s.rep.Numbers = s.numbers.form.like
		}
		if !s.numbers.within(s.opt.Within) {
			f = TimeNumber
		}
		s.format(f)
	}
	var wrong severalErrors
	if s.parseX == nil && (s.order.met || s.order.pairs.months != "") {
		f, bySteps, err := s.order.settle(columnName(s.rep.Columns, s.rep.X), s.opt)
		if err != nil {
			wrong.add(err)
		} else {
			s.rep.BySteps = bySteps
			s.format(f)
		}
	}
	for place := range s.finders {
		f := &s.finders[place]
		if !s.isNumber(place) {
			continue
		}
		wrong.add(f.settle(columnName(s.rep.Columns, s.columns[place]), s.opt.Comma, s.opt.decimalSign(), s.opt.pointedDates()))
		if s.styles[place] = f.style; f.guess && place == s.y {
			s.rep.Guessed = f.open.text
		}
	}
	if wrong != nil {
		return wrong
	}
	switch s.rep.Time {
	case TimeYYYYMM, TimeMMYYYY, TimeYYYYdMM:
		s.rep.Period = "month"
	case TimeYYYYdQ:
		s.rep.Period = "quarter"
	case TimeFiscal:
		if s.rep.Period != "year" { // the rows before may have been read as months
			s.rep.Period = "fiscal year"
		}
	case TimeNumber:
		s.rep.Period = ""
	}
	s.plainX = (s.rep.Time == TimeNumber || s.dateX != nil) && s.styles[s.x].plain()
	unit := s.styles[s.y].unit
	unit = unit[strings.IndexByte(unit, '=')+1:] // a name is none
	s.rep.Unit, s.rep.DecimalComma, s.rep.Asked = unit, s.styles[s.y].comma, s.opt.DecimalComma || s.opt.DecimalPoint
	return nil
}

// trim is bytes.TrimSpace, at once for what needs none.
func trim(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[0] < utf8.RuneSelf && b[len(b)-1] > ' ' && b[len(b)-1] < utf8.RuneSelf {
		return b
	}
	return bytes.TrimSpace(b)
}

func (s *csvStream) isMissing(b []byte) bool {
	return len(b) == 0 || s.suspect[b[0]] && s.missing[string(b)]
}

// read reads a block.
func (s *csvStream) read(worker int, rows *rowScanner, b *CSVBlock) error {
	b.reset(len(rows.block.text), len(s.also), len(s.keys))
	for {
		more, err := rows.scan()
		if !more {
			break
		}
		line, place := rows.line, 0
		if err == nil { // otherwise the fields are not those of this row
			header := s.parseX == nil && s.isHeader(rows.fields) // all rows are, or have no x or no y
			if !header {
				place, err = s.row(b, rows, line)
				header = err != nil && s.isHeader(rows.fields)
			}
			if header {
				b.headers++
				continue
			}
			if err != nil {
				column, name := s.columns[place], ""
				if name = columnName(s.rep.Columns, column); s.wide != nil && place == s.wide.value {
					name = columnName(s.wide.names, s.wide.columns[rows.unfolded-1])
				}
				line, err = rows.lineOf(column), cellError{name, err}
			}
		}
		if err != nil {
			words := s.wordsOf(rows, place, err)
			if words != "" && s.wide != nil { // one line, and not one for each of its cells
				rows.unfolded = len(s.wide.texts)
			}
			b.Bad = append(b.Bad, CSVRowError{Line: line, Err: err, words: words})
		}
	}
	if row, found := s.turned(b); found {
		at, _ := slices.BinarySearchFunc(b.Bad, row.Line, func(r CSVRowError, line int) int { return r.Line - line })
		b.Bad = slices.Insert(b.Bad, at, row)
	}
	rest := unreadOf(b)
	s.mu.Lock()
	s.rest.add(rows.block.index, rest)
	s.rep.Rows += len(b.X) - b.open + b.Skipped
	s.rep.Skipped += b.Skipped
	s.noX += b.noX
	s.rep.Headers += b.headers
	s.rep.ShortYears = s.rep.ShortYears || b.short.short
	s.short.join(b.short)
	s.mu.Unlock()
	return s.visit(worker, b)
}

// bracketed is a name as programs of exchanges have it: <DATE>.
var bracketed = regexp.MustCompile(`^<(\w+)>$`)

// startsWithWord is how a total or a source begins, and no cell that was cut off.
var startsWithWord = regexp.MustCompile(`^(?:["*([©†‡¹²³> ]*(?:\d[)\]]\s*|C\)|[a-z]\)\s*)?\pL{3}|\(\d+ rows?\)|\d+ rows? in set)`)

// meanMonth is the thirteenth month as which the BLS and the EIA write the mean, or the total, of a year: 2015M13, 201513.
var meanMonth = regexp.MustCompile(`^\d{4}(?:[-_ ]?M|-M|-?)13$`)

// countsRows is how programs of databases say how many rows they wrote: (96 rows affected).
var countsRows = regexp.MustCompile(`^\(\d+( rows?\b|$)`)

// alone is what may stand below a table of several columns: the value that stands for a missing one, or a code and not the begin
// of a row that was cut off, or one whole field.
var alone = regexp.MustCompile(`^\s*(?:-9+(?:\.9+)?|\*+|\d{0,2}\pL.*|` +
	`"(?:\d{1,2}|\.{2,3})?"?[,;]?"?\pL.*|\d{1,2}[,;]"\pL.*"|"[^"]*")\s*$`)

// wordsOf is the text of a row that is none, if it begins with a word and has too few fields or words for x.
func (s *csvStream) wordsOf(rows *rowScanner, place int, err error) string {
	text, ragged := "", raggedError{}
	switch {
	case errors.As(err, &ragged):
		if text = cellText([]byte(ragged.text)); ragged.fields >= len(s.places) {
			return ""
		}
		if 2*ragged.fields < len(s.places) && alone.MatchString(text) {
			return text
		}
	case errors.As(err, new(cellError)) && place == s.x:
		if text = cellText(rows.x()); s.wide != nil && rows.rest != nil {
			text = cellText(rows.rest)
		}
		if countsRows.MatchString(text) || total.MatchString(text) {
			return text
		}
		if meanMonth.MatchString(text) {
			return text + ", a mean or a total"
		}
		if strings.ContainsAny(text, "0123456789") || infinite.MatchString(text) {
			return ""
		}
	}
	if !startsWithWord.MatchString(text) {
		return ""
	}
	return text
}

var byteOrderMark = []byte("\xef\xbb\xbf") // stands before the header once more where files were put below one another

// isHeader reports whether a row has the names of the columns for values, as where a logger began once more or files were put
// below one another.
func (s *csvStream) isHeader(fields [][]byte) bool {
	if s.opt.NoHeader {
		return false
	}
	for place, column := range s.columns {
		cell := bytes.TrimPrefix(trim(fields[place]), byteOrderMark)
		if name := s.rep.Columns[column]; name == "" || string(cell) != name || isNumber(name) {
			return false
		}
	}
	return true
}

// keepsOpen reports whether rows without y matter.
func (s *csvStream) keepsOpen() bool { return len(s.also)+len(s.keys) > 0 }

func (b *CSVBlock) reset(size, also, keys int) {
	*b = CSVBlock{X: b.X[:0], Y: b.Y[:0], Lines: b.Lines[:0], Bad: b.Bad[:0], Bytes: size, also: b.also, keys: b.keys}
	if b.also == nil {
		b.also, b.keys = make([][]float64, also), make([][]int32, keys)
	}
	for j := range b.also {
		b.also[j] = b.also[j][:0]
	}
}

// row adds the row that was scanned to b. An error is of the field at a place.
func (s *csvStream) row(b *CSVBlock, rows *rowScanner, line int) (place int, err error) {
	fields := rows.fields
	xtext, ytext := rows.x(), trim(fields[s.y])
	if s.side != "" && areSides(s.side, string(trim(fields[s.sideAt]))) {
		return s.sideAt, styleError{fmt.Errorf("%s stands on the other side of the account than the numbers above: "+
			"write a minus before those of one side, or say CSVOptions.Y", columnName(s.rep.Columns, s.rep.Y))}
	}
	open := 0 // rows without y
	if noX, noY := s.isMissing(xtext), s.missingAt(s.y, ytext); noX || noY {
		if !s.opt.SkipMissing {
			place, text := s.y, ytext
			if noX {
				place, text = s.x, xtext
			}
			return place, fmt.Errorf("missing value %s (CSVOptions.SkipMissing leaves such rows out)", quoted(string(text)))
		}
		b.Skipped++
		if noX && !noY {
			b.noX++
		}
		if noX || !s.keepsOpen() {
			return 0, nil
		}
		open = 1
	}
	x, ok := 0.0, false
	if s.plainX {
		if x, ok = decimal(xtext); ok && s.dateX != nil {
			x, ok = s.dateX.seconds(x)
		}
	} else if s.isoX {
		x, ok = isoSeconds(xtext)
	}
	if !ok {
		var short bool
		x, short, err = s.parseX(cellText(xtext))
		if number, flagged := withoutFlag(cellText(xtext), ""); err != nil && flagged {
			if plain, years, wrong := s.parseX(number); wrong == nil {
				x, short, err = plain, years, nil
				s.keepFirst(&s.rep.Flagged, string(xtext))
			}
		}
		if err != nil {
			return s.x, s.opt.explain(err, cellText(xtext), s.rep.Time, line == s.first)
		}
		if s.named {
			b.short.add(x, short)
		}
	}
	if s.rep.Time == TimeNumber && s.opt.beyond(x) {
		return s.x, s.opt.limitError(string(xtext))
	}
	y, ok := 0.0, false
	if open == 0 && s.styles[s.y].plain() {
		y, ok = decimal(ytext)
	}
	if !ok || s.opt.beyond(y) {
		if y, err = s.number(s.y, ytext); err != nil {
			return s.y, err
		}
	}
	for j, place := range s.also {
		v, err := s.number(place, trim(fields[place]))
		if err != nil {
			return place, err
		}
		b.also[j] = append(b.also[j][:len(b.X)], v)
	}
	if place, err = s.keyNumbers(b, fields); err != nil {
		return place, err
	}
	b.X, b.Y, b.Lines = append(b.X, x), append(b.Y, y), append(b.Lines, line)
	b.open += open
	return 0, nil
}

// keepFirst keeps the first of some texts, in the order of the alphabet: that of the file depends on the workers.
func (s *csvStream) keepFirst(of *string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *of == "" || text < *of {
		*of = text
	}
}

// number reads a number at a place; NaN if it is missing.
func (s *csvStream) number(place int, text []byte) (v float64, err error) {
	if s.missingAt(place, text) {
		return math.NaN(), nil
	}
	ok := false
	if s.styles[place].plain() {
		v, ok = decimal(text)
	}
	if !ok {
		if v, err = s.styles[place].value(cellText(text)); err != nil {
			if number, flagged := withoutFlag(cellText(text), s.styles[place].unit); flagged {
				if v, err := s.styles[place].value(number); err == nil && !s.opt.beyond(v) {
					s.keepFirst(&s.rep.Flagged, string(text))
					return v, nil
				}
			}
			if limit, is := bytes.CutPrefix(text, []byte("<")); is {
				if v, err := s.styles[place].value(cellText(trim(limit))); err == nil && v > 0 {
					s.keepFirst(&s.rep.Limit, string(text))
					return v / 2, nil
				}
			}
			if !utf8.Valid(text) {
				err = noNumber(string(text)) // which shows the bytes
			}
			return 0, hinted(err, string(text))
		}
	}
	if s.opt.beyond(v) {
		return 0, s.opt.limitError(string(text))
	}
	return v, nil
}
