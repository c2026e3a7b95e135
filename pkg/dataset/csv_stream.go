package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// CSVBlock is a part of a CSV file: rows that follow one another.
type CSVBlock struct {
	X, Y    []float64
	Lines   []int         // of each row
	Skipped int           // rows left out because x or y is missing
	Bad     []CSVRowError // rows that could not be read, in order
	Bytes   int           // of text
}

// CSVRowError is a row that could not be read.
type CSVRowError struct {
	Line int
	Err  error // without the line
}

func (e CSVRowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e CSVRowError) Unwrap() error { return e.Err }

// StreamCSV reads two columns of a CSV file of any size in the formats of [ReadCSV]. It calls visit for each block of rows from as
// many goroutines as there are workers, numbered from 0: in any order, or in the order of the file with one worker. visit must not
// keep a block. A row that cannot be read does not end the reading: it is among the bad rows of its block. A row with a missing
// value is left out. If CSVOptions.Comma is 0, the first line determines the separator. The first row determines whether x are
// dates or numbers.
//
// The error is that of the file as a whole (no text, no such column), of visit, or of a quoted field that is never closed. Rows with
// quoted fields are read by one worker, at a fifth of the speed. The report has no SHA256.
func StreamCSV(r io.Reader, opt CSVOptions, workers int, visit func(worker int, b *CSVBlock) error) (CSVReport, error) {
	opt.check()
	if workers < 1 {
		panic(fmt.Sprintf("dataset: StreamCSV: %d workers", workers))
	}
	s := &csvStream{opt: opt, visit: visit, size: blockSize}
	err := s.run(r, workers)
	s.rep.Comma, s.rep.Comment = s.opt.Comma, s.opt.Comment
	if err != nil {
		return s.rep, fmt.Errorf("dataset: CSV: %w", err)
	}
	return s.rep, nil
}

const (
	blockSize = 256 << 10
	// longestLine is the longest line that is read.
	longestLine = 16 << 20
)

type csvStream struct {
	opt     CSVOptions
	visit   func(worker int, b *CSVBlock) error
	rep     CSVReport
	names   []string
	missing map[string]bool
	suspect [256]bool // bytes with which a missing value may begin
	plainX  bool      // x are numbers with a decimal point
	isoX    bool      // x are dates, wanted in seconds
	size    int       // of a block
	parseX  func(string) (float64, error)

	mu  sync.Mutex
	err error
}

// textBlock is some whole lines.
type textBlock struct {
	text []byte
	line int // of the first
}

func (s *csvStream) run(r io.Reader, workers int) error {
	text, err := tableText(r, &s.opt, true)
	if err != nil {
		return err
	}
	s.missing = map[string]bool{}
	for _, m := range s.opt.Missing {
		s.missing[m] = true
		if m != "" {
			s.suspect[m[0]] = true
		}
	}
	lines := &lineSplitter{r: text, line: 1, size: s.size}
	first, err := s.header(lines)
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}

	queue := make(chan textBlock, workers)
	free := make(chan []byte, 2*workers+2)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			var b CSVBlock
			for t := range queue {
				if s.failed() == nil {
					s.fail(s.plain(w, t, &b))
				}
				select {
				case free <- t.text[:0]:
				default:
				}
			}
		})
	}
	for block := first; err == nil && s.failed() == nil; {
		if bytes.IndexByte(block.text, '"') >= 0 || !s.simple() {
			s.fail(s.quoted(block, io.MultiReader(bytes.NewReader(block.text), lines.rest())))
			break
		}
		if err := s.detect(block); err != nil {
			s.fail(err)
			break
		}
		queue <- block
		select {
		case lines.spare = <-free:
		default:
		}
		block, err = lines.next()
	}
	close(queue)
	wait.Wait()
	if err != nil && err != io.EOF {
		s.fail(err)
	}
	return s.failed()
}

// simple reports whether fields may be split at bytes.
func (s *csvStream) simple() bool {
	return s.opt.Comma < utf8.RuneSelf && s.opt.Comment < utf8.RuneSelf
}

func (s *csvStream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *csvStream) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// header reads the header, or the width of the first row where there is none, and returns what follows it in its block.
func (s *csvStream) header(lines *lineSplitter) (b textBlock, err error) {
	var rows *rowReader
	var row []string
	for err = io.EOF; err == io.EOF; { // no row yet
		if b, err = lines.next(); err != nil {
			return b, err
		}
		rows = rowsOf(bytes.NewReader(b.text), &s.opt)
		rows.before = b.line - 1
		row, err = rows.next()
	}
	if known := (rowError{}); errors.As(err, &known) {
		err = rowError{known.line + rows.before, known.error}
	}
	if err != nil {
		return b, err
	}
	s.names = make([]string, len(row))
	s.opt.header(s.names, row)
	if !s.opt.NoHeader {
		at := int(rows.table.InputOffset())
		b = textBlock{b.text[at:], b.line + bytes.Count(b.text[:at], newline)}
	}
	if s.rep.X, err = column(s.names, s.opt.X, 1); err != nil {
		return b, fmt.Errorf("x: %w", err)
	}
	if s.rep.Y, err = column(s.names, s.opt.Y, 2); err != nil {
		return b, fmt.Errorf("y: %w", err)
	}
	s.rep.Columns = s.names
	if s.opt.Time != TimeAuto {
		s.format(s.opt.Time)
	}
	return b, nil
}

// format sets how x is read.
func (s *csvStream) format(f TimeFormat) {
	s.rep.Time = f
	s.parseX = s.opt.parser(f, new(Series))
	s.plainX = f == TimeNumber && !s.opt.DecimalComma
	s.isoX = f == TimeISO && s.opt.Seconds
}

// detect finds out how x is written, from the first row that has both values, or, of dates such as 3/4/2000, from the first of the
// block that has the day or the month first beyond doubt.
func (s *csvStream) detect(b textBlock) error {
	var row csvRow
	var order orderColumn
	line := b.line
	for text := b.text; s.parseX == nil && len(text) > 0; line++ {
		var one []byte
		one, text, _ = bytes.Cut(text, newline)
		if s.split(&row, one) != nil || row.blank || s.isMissing(row.x) || s.isMissing(row.y) {
			continue
		}
		if dateFormat(string(row.x)) == timeSlashes {
			order.waiting = append(order.waiting, waitingDate{0, line, string(row.x)})
			continue
		}
		s.formatOf(string(row.x))
	}
	return s.settle(&order)
}

// settle sets how x is written where the dates of a block left it open.
func (s *csvStream) settle(order *orderColumn) error {
	if s.parseX != nil || len(order.waiting) == 0 {
		return nil
	}
	f, err := order.undecided(columnName(s.names, s.rep.X))
	if err == nil {
		s.format(f)
	}
	return err
}

func (s *csvStream) formatOf(x string) {
	f := dateFormat(x)
	if f == TimeAuto {
		f = TimeNumber
	}
	s.format(f)
}

// first sets how x is written by a single one.
func (s *csvStream) first(x string, line int) error {
	if dateFormat(x) == timeSlashes {
		return s.settle(&orderColumn{[]waitingDate{{0, line, x}}})
	}
	s.formatOf(x)
	return nil
}

// csvRow is the two fields of a line that matter.
type csvRow struct {
	x, y  []byte
	blank bool // no row at all
}

// split finds the fields of a line without quotation marks.
func (s *csvStream) split(row *csvRow, line []byte) error {
	row.blank = false
	comma := byte(s.opt.Comma)
	width := len(s.names)
	if s.opt.Comment != 0 && len(line) > 0 && line[0] == byte(s.opt.Comment) {
		row.blank = true
		return nil
	}
	field, rest := 0, line
	for {
		end := bytes.IndexByte(rest, comma)
		text := rest
		if end >= 0 {
			text = rest[:end]
		}
		switch {
		case field == s.rep.X && field == s.rep.Y:
			row.x, row.y = text, text
		case field == s.rep.X:
			row.x = text
		case field == s.rep.Y:
			row.y = text
		case field >= width && len(bytes.TrimSpace(text)) > 0:
			return s.ragged(line)
		}
		field++
		if end < 0 {
			break
		}
		rest = rest[end+1:]
	}
	if field == 1 && width != 1 && len(bytes.TrimSpace(line)) == 0 || len(line) == 0 {
		row.blank = true
		return nil
	}
	if field < width {
		return s.ragged(line)
	}
	row.x, row.y = trim(row.x), trim(row.y)
	return nil
}

// ragged is the error of a line with another number of fields than the first.
func (s *csvStream) ragged(line []byte) error {
	comma := string(s.opt.Comma)
	hint := ""
	if n := strings.Count(string(line), comma) + 1; n == 1 {
		for _, c := range ",;\t|" {
			if c != s.opt.Comma && bytes.ContainsRune(line, c) {
				hint = fmt.Sprintf(" (are fields separated by %q there, and by %q before?)", c, s.opt.Comma)
				break
			}
		}
	}
	return fmt.Errorf("wrong number of fields: %d, where the first line has %d: %s%s", strings.Count(string(line), comma)+1, len(s.names), quoted(string(line)), hint)
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

// plain reads lines without quotation marks.
func (s *csvStream) plain(worker int, t textBlock, b *CSVBlock) error {
	b.reset(len(t.text))
	var row csvRow
	line := t.line
	for text := t.text; len(text) > 0; line++ {
		var one []byte
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			one, text = text[:end], text[end+1:]
		} else {
			one, text = text, nil
		}
		err := s.split(&row, one)
		if err == nil && !row.blank {
			err = s.row(b, row.x, row.y, line)
		}
		if err != nil {
			b.Bad = append(b.Bad, CSVRowError{line, err})
		}
	}
	return s.deliver(worker, b)
}

func (b *CSVBlock) reset(size int) {
	*b = CSVBlock{X: b.X[:0], Y: b.Y[:0], Lines: b.Lines[:0], Bad: b.Bad[:0], Bytes: size}
}

func (s *csvStream) deliver(worker int, b *CSVBlock) error {
	s.mu.Lock()
	s.rep.Rows += len(b.X) + b.Skipped
	s.rep.Skipped += b.Skipped
	s.mu.Unlock()
	return s.visit(worker, b)
}

// row adds a row to b.
func (s *csvStream) row(b *CSVBlock, xtext, ytext []byte, line int) error {
	if s.isMissing(xtext) || s.isMissing(ytext) {
		b.Skipped++
		return nil
	}
	x, ok := 0.0, false
	if s.plainX {
		x, ok = decimal(xtext)
	} else if s.isoX {
		x, ok = isoSeconds(xtext)
	}
	var err error
	if !ok {
		if x, err = s.parseX(string(xtext)); err != nil {
			return fmt.Errorf("%s: %w", columnName(s.names, s.rep.X), s.opt.explain(err, string(xtext), s.rep.Time, false))
		}
	}
	y, ok := 0.0, false
	if !s.opt.DecimalComma {
		y, ok = decimal(ytext)
	}
	if !ok {
		if y, err = s.opt.number(string(ytext)); err != nil {
			return fmt.Errorf("%s: %w%s", columnName(s.names, s.rep.Y), err, s.opt.numberHint(string(ytext)))
		}
	}
	if s.opt.beyond(y) {
		return fmt.Errorf("%s: %w", columnName(s.names, s.rep.Y), s.opt.limitError(string(ytext)))
	}
	if s.rep.Time == TimeNumber && s.opt.beyond(x) {
		return fmt.Errorf("%s: %w", columnName(s.names, s.rep.X), s.opt.limitError(string(xtext)))
	}
	b.X, b.Y, b.Lines = append(b.X, x), append(b.Y, y), append(b.Lines, line)
	return nil
}

func (s *csvStream) complete(x, y string) bool {
	return x != "" && y != "" && !s.missing[x] && !s.missing[y]
}

// detectQuoted is detect for a block with quotation marks, as far as its rows can be read.
func (s *csvStream) detectQuoted(b textBlock) error {
	rows := rowsOf(bytes.NewReader(b.text), &s.opt)
	rows.width = len(s.names)
	var order orderColumn
	for s.parseX == nil {
		row, err := rows.next()
		if err != nil {
			break
		}
		x, y := strings.TrimSpace(row[s.rep.X]), strings.TrimSpace(row[s.rep.Y])
		switch line, _ := rows.table.FieldPos(s.rep.X); {
		case !s.complete(x, y):
		case dateFormat(x) == timeSlashes:
			order.waiting = append(order.waiting, waitingDate{0, line + b.line - 1, strings.Clone(x)})
		default:
			s.formatOf(x)
		}
	}
	return s.settle(&order)
}

// quoted reads all that is left, with quotation marks, in one goroutine.
func (s *csvStream) quoted(first textBlock, r io.Reader) error {
	if err := s.detectQuoted(first); err != nil {
		return err
	}
	rows := rowsOf(r, &s.opt)
	rows.width, rows.before = len(s.names), first.line-1
	var b CSVBlock
	const most = 4096
	from := int64(0)
	for {
		b.reset(0)
		var err error
		for len(b.X)+len(b.Bad)+b.Skipped < most && err == nil {
			var row []string
			row, err = rows.next()
			line, bad := 0, error(nil)
			switch {
			case err == io.EOF:
				continue
			case err == nil:
				line, _ = rows.table.FieldPos(0)
				line += rows.before
				x, y := strings.TrimSpace(row[s.rep.X]), strings.TrimSpace(row[s.rep.Y])
				if s.parseX == nil && s.complete(x, y) { // the first block had no such row
					if failure := s.first(x, line); failure != nil {
						return failure
					}
				}
				bad = s.row(&b, []byte(x), []byte(y), line)
			default:
				var known rowError
				if !errors.As(err, &known) {
					continue
				}
				line, bad, err = known.line+rows.before, known.error, nil
			}
			if bad != nil {
				b.Bad = append(b.Bad, CSVRowError{line, bad})
			}
		}
		to := rows.table.InputOffset()
		b.Bytes, from = int(to-from), to
		if failure := s.deliver(0, &b); failure != nil {
			return failure
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// lineSplitter cuts text into blocks of whole lines.
type lineSplitter struct {
	r     io.Reader
	line  int    // of the next block
	carry []byte // the beginning of a line
	spare []byte // memory for a block
	size  int
	err   error
}

// next returns the next block, or io.EOF.
func (l *lineSplitter) next() (textBlock, error) {
	buf := append(l.spare[:0], l.carry...)
	l.spare, l.carry = nil, l.carry[:0]
	for {
		if len(buf) > longestLine {
			return textBlock{}, fmt.Errorf("line %d is longer than %d MB", l.line, longestLine>>20)
		}
		if l.err != nil {
			if l.err != io.EOF {
				return textBlock{}, l.err
			}
			if len(buf) == 0 {
				return textBlock{}, io.EOF
			}
			return l.block(buf), nil
		}
		have := len(buf)
		if free := cap(buf) - have; free < l.size {
			buf = append(buf, make([]byte, l.size)...)[:have]
		}
		var n int
		n, l.err = io.ReadAtLeast(l.r, buf[have:have+l.size], (l.size+1)/2)
		if l.err == io.ErrUnexpectedEOF {
			l.err = io.EOF
		}
		buf = buf[:have+n]
		if end := bytes.LastIndexByte(buf[have:], '\n'); end >= 0 {
			end += have + 1
			l.carry = append(l.carry, buf[end:]...)
			return l.block(buf[:end]), nil
		}
	}
}

func (l *lineSplitter) block(text []byte) textBlock {
	b := textBlock{text, l.line}
	l.line += bytes.Count(text, newline)
	return b
}

// rest is what next has not returned.
func (l *lineSplitter) rest() io.Reader {
	carry := io.Reader(bytes.NewReader(l.carry))
	if l.err == io.EOF {
		return carry
	}
	if l.err != nil {
		return io.MultiReader(carry, failing{l.err})
	}
	return io.MultiReader(carry, l.r)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decimal reads [+-] digits [. digits] [e [+-] digits] if it has so few digits that the result is exact but for one rounding (Clinger
// 1990): a mantissa below 2^53 times or over a power of ten up to 10^22. Otherwise ok is false.
func decimal(b []byte) (v float64, ok bool) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	digits, exponent := 0, 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mantissa = 10*mantissa + uint64(b[i]-'0')
		digits++
	}
	if i < len(b) && b[i] == '.' {
		i++
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			mantissa = 10*mantissa + uint64(b[i]-'0')
			digits++
			exponent--
		}
	}
	if digits == 0 || digits > 18 {
		return 0, false
	}
	if i < len(b) && b[i]|' ' == 'e' {
		i++
		sign := 1
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			if b[i] == '-' {
				sign = -1
			}
			i++
		}
		from, e := i, 0
		for ; i < len(b) && i-from < 4 && b[i]-'0' <= 9; i++ {
			e = 10*e + int(b[i]-'0')
		}
		if i == from {
			return 0, false
		}
		exponent += sign * e
	}
	if i < len(b) || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		return 0, false
	}
	if v = float64(mantissa); exponent < 0 {
		v /= powersOfTen[-exponent]
	} else {
		v *= powersOfTen[exponent]
	}
	if negative {
		v = -v
	}
	return v, true
}

var powersOfTen = func() (p [23]float64) {
	for i := range p {
		p[i] = math.Pow10(i)
	}
	return p
}()

// isoSeconds reads 2006-01-02, and 2006-01-02T15:04:05 with or without a fraction and a Z or a space for the T, as seconds since 1970.
// For any other form, leap seconds among them, ok is false.
func isoSeconds(b []byte) (v float64, ok bool) {
	const date, clock = len("2006-01-02"), len("2006-01-02T15:04:05")
	if len(b) != date && len(b) < clock {
		return 0, false
	}
	bad := b[4] != '-' || b[7] != '-'
	number := func(from, to int) (n int) {
		for _, c := range b[from:to] {
			bad = bad || c-'0' > 9
			n = 10*n + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second, nanos := 0, 0, 0, 0
	if len(b) > date {
		bad = bad || b[10] != 'T' && b[10] != ' ' || b[13] != ':' || b[16] != ':'
		hour, minute, second = number(11, 13), number(14, 16), number(17, 19)
		rest := bytes.TrimSuffix(b[clock:], []byte("Z"))
		if len(rest) > 0 {
			bad = bad || rest[0] != '.' || len(rest) < 2 || len(rest) > 10
			scale := 1_000_000_000
			for _, c := range rest[1:] {
				bad = bad || c-'0' > 9
				scale /= 10
				nanos += scale * int(c-'0')
			}
		}
	}
	if bad || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	last := daysBefore[month+1] - daysBefore[month]
	if month == 2 && leap {
		last++
	}
	if day > last {
		return 0, false
	}
	days := 365*(year-1970) + (year+3)/4 - (year+99)/100 + (year+399)/400 - 478 + daysBefore[month] + day - 1
	if month > 2 && leap {
		days++
	}
	return float64(((days*24+hour)*60+minute)*60+second) + 1e-9*float64(nanos), true
}

// daysBefore are the days of a year before each month from 1 on.
var daysBefore = [14]int{1: 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}
