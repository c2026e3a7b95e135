package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// headSize is how much of a file is looked at to tell its encoding and its separator.
const headSize = 64 << 10

// notTables are the first bytes of files that are mistaken for csv files, and what to do with them.
var notTables = []struct{ begin, is string }{
	{"PK\x03\x04", "this is a zip archive or a spreadsheet (xlsx, ods): unpack it, or save the sheet as csv"},
	{"\xd0\xcf\x11\xe0", "this is an Excel file (xls): save the sheet as csv"},
	{"PAR1", `this is a Parquet file: duckdb -c "COPY (FROM 'FILE') TO 'FILE.csv'" makes a csv file of it`},
	{"%PDF-", "this is a PDF file, not csv"},
	{"<", "this is HTML or XML, not csv: was a page of a web server saved in place of the data?"},
	{"{", jsonText}, {"[{", jsonText}, {"[[", jsonText},
}

const jsonText = `this is JSON: duckdb -c "COPY (FROM read_json('FILE')) TO 'FILE.csv'" makes a csv file of an array of objects`

// decoded returns the text in r as UTF-8: unpacked from gzip, without a byte order mark, decoded from UTF-16 if it has one, and
// from Windows-1252 where it is no UTF-8. A file that is no table is an error.
func decoded(r io.Reader) (*bufio.Reader, *orWindows1252, error) {
	packed := bufio.NewReaderSize(r, headSize)
	if begin, _ := packed.Peek(2); string(begin) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, nil, fmt.Errorf("this is a gzip archive that cannot be unpacked: %w", err)
		}
		return decoded(unpacked)
	}
	raw, _ := packed.Peek(headSize) // the first read meets an error again
	begin := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), " \r\n\t")
	for _, t := range notTables {
		if bytes.HasPrefix(begin, []byte(t.begin)) {
			return nil, nil, errors.New(t.is)
		}
	}
	other := new(orWindows1252)
	text := bufio.NewReaderSize(transform.NewReader(packed, unicode.BOMOverride(other)), headSize)
	head, _ := text.Peek(headSize)
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		return nil, nil, errors.New(`lines end with \r alone: tr '\r' '\n' < FILE makes lines that end with \n`)
	}
	return text, other, nil
}

// orWindows1252 passes UTF-8 and decodes other bytes from Windows-1252, which includes Latin-1.
type orWindows1252 struct {
	transform.NopResetter
	met bool // a byte that is no UTF-8 was met
}

func (d *orWindows1252) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if n := min(len(dst), len(src)); utf8.Valid(src[:n]) {
		nDst, nSrc = copy(dst, src[:n]), n
	}
	for nSrc < len(src) {
		r, size := utf8.DecodeRune(src[nSrc:])
		if r == utf8.RuneError && size == 1 {
			if !atEOF && !utf8.FullRune(src[nSrc:]) {
				return nDst, nSrc, transform.ErrShortSrc
			}
			r, d.met = charmap.Windows1252.DecodeByte(src[nSrc]), true
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += size
	}
	return nDst, nSrc, nil
}

// row is a row of a file.
type row struct {
	cells []string
	line  int         // from 1
	wrong *CSVProblem // why it cannot be read; nil if it can
}

// numbered returns the row with its number in front.
func (r row) numbered(n int) row {
	r.cells = append([]string{strconv.Itoa(n)}, r.cells...)
	return r
}

// at returns the text of a cell, "" behind the last.
func (r row) at(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[column])
}

// used returns the number of cells; empty ones behind the first width do not count.
func (r row) used(width int) int {
	n := len(r.cells)
	for n > width && strings.TrimSpace(r.cells[n-1]) == "" {
		n--
	}
	return n
}

// rowReader divides a text into rows: lines without a quotation mark at the separators, which is fast, and others by
// encoding/csv, which takes from it the lines that it needs.
type rowReader struct {
	text    *bufio.Reader
	comma   string      // a blank stands for any run of blanks and tabs
	comment string      // begins lines that are left out; "" for none
	quoted  *csv.Reader // of this reader
	ahead   string      // what quoted reads next

	rest  string   // whole lines
	line  int      // that were read
	size  int      // bytes of the row so far
	bytes int      // that were read
	spare []string // for the cells of further rows

	numbered int // unless 0, the number of the last row, which begins each row
}

func newRows(text *bufio.Reader, comma, comment rune) *rowReader {
	r := &rowReader{text: text, comma: string(comma)}
	if comment != 0 {
		r.comment = string(comment)
	}
	r.quoted = csv.NewReader(r)
	r.quoted.Comma, r.quoted.FieldsPerRecord, r.quoted.TrimLeadingSpace = comma, -1, comma != '\t'
	return r
}

// next returns the next row that is not blank; io.EOF if there is none.
func (r *rowReader) next() (row, error) {
	for {
		r.size = 0
		line, err := r.nextLine()
		if err != nil {
			return row{}, err
		}
		found := row{line: r.line}
		switch {
		case r.comment != "" && strings.HasPrefix(line, r.comment):
		case strings.IndexByte(line, '"') < 0:
			found.cells = r.divide(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		default:
			r.ahead = line
			if found.cells, err = r.quoted.Read(); errors.As(err, new(*csv.ParseError)) {
				found.wrong = problem("quotation marks do not match: a field is not closed, or has one within").
					hint(`write "" for that, and " before and after the field`)
				found.wrong.Line, err = found.line, nil
			}
		}
		if err != nil || found.wrong != nil || found.used(0) > 0 {
			if r.numbered > 0 && err == nil {
				r.numbered++
				found = found.numbered(r.numbered)
			}
			return found, err
		}
	}
}

// divide divides a line without quotation marks.
func (r *rowReader) divide(line string) []string {
	if r.comma == " " {
		return strings.Fields(line)
	}
	n := strings.Count(line, r.comma) + 1
	if n > len(r.spare) {
		r.spare = make([]string, max(n, 1024))
	}
	cells := r.spare[:n:n]
	r.spare = r.spare[n:]
	for i := range cells {
		cells[i], line, _ = strings.Cut(line, r.comma)
	}
	return cells
}

// Read gives encoding/csv a line, or a part of one.
func (r *rowReader) Read(p []byte) (n int, err error) {
	if r.ahead == "" {
		if r.ahead, err = r.nextLine(); err != nil {
			return 0, err
		}
	}
	n = copy(p, r.ahead)
	r.ahead = r.ahead[n:]
	return n, nil
}

// longest bounds the bytes of a row.
const longest = 2 << 20

// nextLine returns the next line with its end. NUL bytes and rows that are too long are errors.
func (r *rowReader) nextLine() (line string, err error) {
	if r.rest == "" {
		if err := r.fill(); err != nil {
			return "", err
		}
	}
	end := strings.IndexByte(r.rest, '\n') + 1
	if end == 0 {
		end = len(r.rest)
	}
	line, r.rest = r.rest[:end], r.rest[end:]
	r.line, r.size, r.bytes = r.line+1, r.size+len(line), r.bytes+len(line)
	if r.size > longest {
		return "", fmt.Errorf("the row at line %d is longer than 2 MiB, or a quotation mark is not closed", r.line)
	}
	if strings.IndexByte(line, 0) >= 0 {
		return "", fmt.Errorf("line %d holds a NUL byte: this is no text file, or UTF-16 without a byte order mark (iconv -f UTF-16LE "+
			"-t UTF-8 FILE decodes that)", r.line)
	}
	return line, nil
}

// fill reads a line, and takes the whole lines that were read with it.
func (r *rowReader) fill() error {
	line, err := r.text.ReadSlice('\n')
	for err == bufio.ErrBufferFull && len(r.rest) <= longest {
		r.rest += string(line)
		line, err = r.text.ReadSlice('\n')
	}
	more, _ := r.text.Peek(r.text.Buffered())
	more = more[:bytes.LastIndexByte(more, '\n')+1]
	r.rest += string(line) + string(more)
	r.text.Discard(len(more))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the gzip archive was cut off: what it holds ends before its end")
	case err == io.EOF && r.rest != "" || err == bufio.ErrBufferFull:
		return nil
	}
	return err
}

// rowsAhead are the rows of a reader, which divides lines in a goroutine of its own while the rows before them are read.
type rowsAhead struct {
	batches chan rowBatch
	spare   chan []row // of batches that were taken
	done    chan struct{}
	reading parallel.Group
	now     rowBatch
	taken   int // rows of now
	bytes   int // of text since they were last counted
}

// rowBatch are rows that follow one another, and what ended them.
type rowBatch struct {
	rows  []row
	bytes int
	err   error
}

// readAhead begins to read; stop must follow.
func readAhead(r *rowReader) *rowsAhead {
	const ahead, rows = 2, 1024
	a := &rowsAhead{batches: make(chan rowBatch, ahead), spare: make(chan []row, ahead+2), done: make(chan struct{})}
	a.reading.Go(func() {
		defer close(a.batches)
		for ended := false; !ended; {
			var b rowBatch
			select {
			case b.rows = <-a.spare:
			default:
				b.rows = make([]row, 0, rows)
			}
			for len(b.rows) < rows && b.err == nil {
				var next row
				if next, b.err = r.next(); b.err == nil {
					b.rows = append(b.rows, next)
				}
			}
			b.bytes, r.bytes, ended = r.bytes, 0, b.err != nil
			select {
			case a.batches <- b:
			case <-a.done:
				return
			}
		}
	})
	return a
}

// next returns the next row; io.EOF if there is none.
func (a *rowsAhead) next() (row, error) {
	for a.taken == len(a.now.rows) {
		if a.now.err != nil {
			return row{}, a.now.err
		}
		select {
		case a.spare <- a.now.rows[:0]:
		default:
		}
		b, ok := <-a.batches
		if !ok {
			return row{}, io.ErrUnexpectedEOF // stop tells of the panic that ended the reading
		}
		a.now, a.taken, a.bytes = b, 0, a.bytes+b.bytes
	}
	a.taken++
	return a.now.rows[a.taken-1], nil
}

// stop ends the reading.
func (a *rowsAhead) stop() {
	close(a.done)
	a.reading.Wait()
}
