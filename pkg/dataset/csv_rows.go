package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rowScanner walks through the rows of a block.
type rowScanner struct {
	s      *csvStream
	block  textBlock
	line   int      // of the row
	fields [][]byte // of the row: those of csvStream.places
	quoted quotedRow
	plain  bool   // the row has no quotation mark
	joined []byte // x of parts

	unfolded     int    // rows that were made of a wide one
	rest, folded []byte // its part of the time, and the time
}

// scan goes to the next row that is neither blank nor a comment; more is false where there is none. After an error, of a row that
// cannot be split, it may go on.
func (r *rowScanner) scan() (more bool, err error) {
	b := &r.block
	if r.unfolded > 0 && r.unfolded < len(r.s.wide.texts) {
		r.unfold()
		return true, nil
	}
	r.unfolded = 0
	for len(b.text) > 0 {
		line, after := b.text, []byte(nil)
		if end := bytes.IndexByte(b.text, '\n'); end >= 0 {
			line, after = b.text[:end], b.text[end+1:]
		}
		r.line = b.line
		b.line++
		if r.s.skips(line) {
			b.text = after
			continue
		}
		var blank bool
		if r.plain = !b.quotes || bytes.IndexByte(line, '"') < 0; r.plain {
			b.text = after
			blank, err = r.split(line)
		} else {
			size, failure := r.quoted.read(b.text, r.s.comma)
			record := b.text[:size]
			b.text = b.text[size:]
			b.line += bytes.Count(record[:size-1], newline)
			if failure != nil {
				return true, failure.onLine(r.line)
			}
			blank, err = r.choose(record)
		}
		if !blank {
			if err == nil && r.s.wide != nil {
				r.unfold()
			}
			return true, err
		}
	}
	return false, nil
}

// skips reports whether a line is empty, a comment or drawn.
func (s *csvStream) skips(line []byte) bool {
	return len(line) == 0 || len(s.comment) > 0 && bytes.HasPrefix(line, s.comment) || isRuler(line)
}

// split finds the fields of a line without quotation marks.
func (r *rowScanner) split(line []byte) (blank bool, err error) {
	comma, places := r.s.comma, r.s.places
	field, rest := 0, line
	for {
		end := bytes.IndexByte(rest, comma[0])
		if len(comma) > 1 {
			end = bytes.Index(rest, comma)
		}
		text := rest
		if end >= 0 {
			text = rest[:end]
		}
		if field < len(places) {
			if k := places[field]; k >= 0 {
				r.fields[k] = text
			}
		} else if len(bytes.TrimSpace(text)) > 0 {
			if short, ok := withoutRemark(line); ok {
				return r.split(short)
			}
			if comma[0] == ' ' && unicode.IsLetter(firstRune(string(text))) { // as Provisional
				return r.split(bytes.TrimRight(line[:len(line)-len(rest)], " "))
			}
			return false, r.s.ragged(bytes.Count(line, comma)+1, line)
		}
		field++
		if end < 0 {
			break
		}
		rest = rest[end+len(comma):]
	}
	if field == 1 && len(places) != 1 && len(bytes.TrimSpace(line)) == 0 {
		return true, nil
	}
	if field < len(places) && !r.short(field) && !r.lastYear(field) {
		return false, r.s.ragged(field, line)
	}
	return false, nil
}

// aRow is a row of a wide table below others.
var aRow = regexp.MustCompile(`(?m)^\s*\d`)

// lastYear reports whether a row that ends after n fields is the last of a wide table between blanks, as the year that has not
// ended. Its other cells are empty. A row above would have blank cells at places that nobody knows.
func (r *rowScanner) lastYear(n int) bool {
	s := r.s
	if s.wide == nil || s.comma[0] != ' ' || n <= s.wide.from || aRow.Match(r.block.text) {
		return false
	}
	for _, k := range s.places[n:] {
		if k >= 0 {
			r.fields[k] = nil
		}
	}
	return true
}

// short reports whether a row may end after n fields: the columns behind are not read, and have no names or are behind the end of
// most rows.
func (r *rowScanner) short(n int) bool {
	for i := n; i < len(r.s.places); i++ {
		named := i >= len(r.s.rep.Columns) || r.s.rep.Columns[i] != "" || r.s.opt.NoHeader
		if r.s.places[i] >= 0 || named && (r.s.opt.shortest == 0 || n < r.s.opt.shortest) {
			return false
		}
	}
	return n > 1
}

// withoutRemark returns a line, which has too many fields, without what stands after a # that follows a blank.
func withoutRemark(line []byte) (short []byte, ok bool) {
	at := bytes.IndexByte(line, '#')
	if at < 1 || line[at-1] != ' ' && line[at-1] != '\t' {
		return line, false
	}
	return bytes.TrimRight(line[:at], " \t"), true
}

// choose takes the fields from a row with quotation marks.
func (r *rowScanner) choose(record []byte) (blank bool, err error) {
	q, places := &r.quoted, r.s.places
	n := len(q.ends)
	if n == 1 && len(places) != 1 && len(bytes.TrimSpace(q.field(0))) == 0 {
		return true, nil
	}
	for field := range n {
		if field >= len(places) {
			if len(bytes.TrimSpace(q.field(field))) > 0 {
				return false, r.s.ragged(n, record)
			}
		} else if k := places[field]; k >= 0 {
			r.fields[k] = q.field(field)
		}
	}
	if n < len(places) && !r.short(n) {
		return false, r.s.ragged(n, record)
	}
	return false, nil
}

// lineOf is where a column of the row begins.
func (r *rowScanner) lineOf(column int) int {
	if r.plain {
		return r.line
	}
	return r.line + r.quoted.below[column]
}

// ragged is the error of a row with n fields, where the first has another number.
func (s *csvStream) ragged(n int, record []byte) error {
	hint := ""
	if n == 1 {
		for _, c := range ",;\t|" {
			if c != s.opt.Comma && bytes.ContainsRune(record, c) {
				hint = fmt.Sprintf(" (are fields separated by %q there, and by %q before?)", c, s.opt.Comma)
				break
			}
		}
	}
	switch {
	case hint != "" || n > len(s.places):
	case s.opt.Comma == ' ':
		hint = " (a blank cell? write NA there)"
	default:
		hint = " (no row of the table? remove the line)"
	}
	if s.opt.Comma == ',' && n > len(s.places) && digitsAround.Match(record[:min(len(record), longestQuote)]) {
		hint = " (a comma within a number? quote such numbers, or separate fields by semicolons)"
	}
	text := strings.TrimSuffix(string(record[:min(len(record), longestQuote)]), "\n")
	err := fmt.Errorf("wrong number of fields: %d, where the first line has %d: %s%s", n, len(s.places), quoted(text), hint)
	return raggedError{err, n, text}
}

// digitsAround is a comma that may be one of a number.
var digitsAround = regexp.MustCompile(`\d,\d`)

// raggedError is the error of a row with another number of fields than the first.
type raggedError struct {
	error
	fields int
	text   string
}

// longestQuote is as much of a text as can matter to quoted.
const longestQuote = 1 << 10

// quotedRow is a row with quotation marks: a field that begins with one ends at the next, holds a doubled one once, and may hold
// line ends.
type quotedRow struct {
	text  []byte // of all fields, without the marks
	ends  []int  // of each field in text
	below []int  // the number of lines of the row above each field
}

func (q *quotedRow) field(i int) []byte {
	if i == 0 {
		return q.text[:q.ends[0]]
	}
	return q.text[q.ends[i-1]:q.ends[i]]
}

// quoteError is a row whose quotation marks do not match.
type quoteError struct {
	bare  bool // a mark within a field that none opens; else a field that is not closed
	open  bool // up to the end of the text
	lines int  // from the row to the error
}

// onLine is the error of a row at a line.
func (e *quoteError) onLine(line int) error {
	if e.bare {
		return errors.New("a quotation mark \" within a field: remove it, or double it and quote the field")
	}
	return fmt.Errorf("a field that a quotation mark \" opens is not closed as it should be, up to line %d", line+e.lines)
}

// read reads the row that text begins with, and returns its size with the line end.
func (q *quotedRow) read(text, comma []byte) (size int, failure *quoteError) {
	q.text, q.ends, q.below = q.text[:0], q.ends[:0], q.below[:0]
	at, lines := 0, 0
	next := 0 // where the line after that of at begins, once it was looked for
	lineEnd := func() int {
		if next > at {
			return next // a line of many fields is searched once
		}
		if next = len(text); at < next {
			if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
				next = at + end + 1
			}
		}
		return next
	}
	for {
		q.below = append(q.below, lines)
		if at == len(text) || text[at] != '"' {
			field := bytes.TrimSuffix(text[at:lineEnd()], newline)
			end := bytes.Index(field, comma)
			if end >= 0 {
				field = field[:end]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				return next, &quoteError{bare: true, lines: lines}
			}
			q.text = append(q.text, field...)
			q.ends = append(q.ends, len(q.text))
			if end < 0 {
				return next, nil
			}
			at += end + len(comma)
			continue
		}
		at++
		for {
			end := bytes.IndexByte(text[at:], '"')
			if end < 0 {
				rest := bytes.TrimSuffix(text[at:], newline)
				return len(text), &quoteError{open: true, lines: lines + bytes.Count(rest, newline)}
			}
			q.text = append(q.text, text[at:at+end]...)
			lines += bytes.Count(text[at:at+end], newline)
			at += end + 1
			if at == len(text) || text[at] != '"' {
				break
			}
			q.text = append(q.text, '"')
			at++
		}
		q.ends = append(q.ends, len(q.text))
		switch {
		case at == len(text):
			return at, nil
		case text[at] == '\n':
			return at + 1, nil
		case !bytes.HasPrefix(text[at:], comma):
			return lineEnd(), &quoteError{lines: lines}
		}
		at += len(comma)
	}
}

// textBlock is some whole rows.
type textBlock struct {
	text   []byte
	line   int // of the first
	index  int // of the block
	quotes bool
}

// Limits of a row: its bytes, with the line end, and its columns, eight times as many as a spreadsheet has. They bound the memory
// for a file that is no table.
const (
	longestLine = 2 << 20
	mostColumns = 1 << 17
)

// rowSplitter cuts text into blocks of whole rows.
type rowSplitter struct {
	s     *csvStream
	r     io.Reader
	line  int    // of the next block
	index int    // of the next block
	carry []byte // the beginning of a row
	spare []byte // memory for a block
	err   error  // after what is in carry
	row   quotedRow
	open  bool // the row at the end of the text has a quoted field that is not closed
}

// next returns the next block, or io.EOF. A row longer than longestLine and a quoted field that is never closed are errors, after
// the blocks above them.
func (l *rowSplitter) next() (textBlock, error) {
	buf := append(l.spare[:0], l.carry...)
	l.spare, l.carry = nil, l.carry[:0]
	for {
		end, quotes := l.whole(buf)
		if end > 0 {
			l.carry = append(l.carry, buf[end:]...)
			b := textBlock{buf[:end], l.line, l.index, quotes}
			l.line += bytes.Count(b.text, newline)
			l.index++
			return b, nil
		}
		if l.err != nil {
			return textBlock{}, l.err
		}
		have := len(buf)
		most := min(l.s.size, longestLine+1-have)
		if most <= 0 {
			l.err = fmt.Errorf("line %d is longer than %d MiB: rows of a table are shorter "+
				"(does a separator, or the end of the line, have another form?)", l.line, longestLine>>20)
			if l.open {
				l.err = fmt.Errorf("line %d: a field that a quotation mark \" opens is not closed within %d MiB", l.line, longestLine>>20)
			}
			return textBlock{}, l.err
		}
		if cap(buf)-have < most {
			buf = append(buf, make([]byte, most)...)[:have]
		}
		var n int
		n, l.err = io.ReadAtLeast(l.r, buf[have:have+most], (most+1)/2)
		if l.err == io.ErrUnexpectedEOF {
			l.err = io.EOF
		}
		buf = buf[:have+n]
	}
}

// whole returns how many bytes of text are whole rows, and whether text has quotation marks.
func (l *rowSplitter) whole(text []byte) (size int, quotes bool) {
	final := l.err == io.EOF
	if bytes.IndexByte(text, '"') < 0 {
		if final {
			return len(text), false
		}
		return bytes.LastIndexByte(text, '\n') + 1, false
	}
	for size < len(text) {
		line := text[size:]
		end := bytes.IndexByte(line, '\n') + 1
		if end > 0 {
			line = line[:end]
		}
		if bytes.IndexByte(line, '"') < 0 || l.s.skips(line) {
			if l.open = false; end == 0 && !final {
				break
			}
			size += len(line)
			continue
		}
		n, failure := l.row.read(text[size:], l.s.comma)
		if l.open = failure != nil && failure.open; !final && (l.open || text[size+n-1] != '\n') {
			break
		}
		if failure != nil && !failure.bare && failure.lines > 0 { // what follows cannot be told from the field
			from := l.line + bytes.Count(text[:size], newline)
			l.err = fmt.Errorf("line %d: %w", from, failure.onLine(from))
			break
		}
		size += n
	}
	return size, true
}

// encoded is a character that separates or starts something as bytes; nothing for 0.
func encoded(r rune) []byte {
	if r == 0 {
		return nil
	}
	return utf8.AppendRune(nil, r)
}
