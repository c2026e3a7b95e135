package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	headSize = 64 << 10 // bytes of a file that tell its encoding and its separator
	longest  = 2 << 20  // bytes that a row has at most
	mark     = "\ufeff" // byte order mark of UTF-8
)

// notTables list the first bytes of files that are mistaken for csv files, and what to do with them.
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
// from Windows-1252, which includes Latin-1, if its head is no UTF-8. A file that is no table is an error.
func decoded(r io.Reader) (io.Reader, error) {
	text := bufio.NewReaderSize(r, headSize)
	head, _ := text.Peek(headSize) // the first read meets an error again
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		unpacked, err := gzip.NewReader(text)
		if err != nil {
			return nil, fmt.Errorf("this is a gzip archive that cannot be unpacked: %w", err)
		}
		return decoded(unpacked)
	}
	begin := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \r\n\t")
	for _, t := range notTables {
		if bytes.HasPrefix(begin, []byte(t.begin)) {
			return nil, errors.New(t.is)
		}
	}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		return nil, errors.New(`lines end with \r alone: tr '\r' '\n' < FILE makes lines that end with \n`)
	}
	end := len(head) // end of the last whole character
	for end > 0 && len(head)-end < utf8.UTFMax && !utf8.FullRune(head[end-1:]) {
		end--
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return transform.NewReader(text, unicode.BOMOverride(transform.Nop)), nil
	case !utf8.Valid(head[:end]):
		return charmap.Windows1252.NewDecoder().Reader(text), nil
	case bytes.HasPrefix(head, []byte(mark)):
		text.Discard(len(mark))
	}
	return text, nil
}

// chunk is some whole rows of a text.
type chunk struct {
	text string
	line int // number of the first line, from 1
}

// chunkReader divides a text into chunks, at line ends that no quotation marks enclose.
type chunkReader struct {
	text io.Reader
	left []byte // text of a row that has begun
	line int    // number of the line where left begins
}

// next returns a chunk of about the given size, or one row if that is longer; io.EOF if there is none.
func (c *chunkReader) next(size int) (chunk, error) {
	quote := []byte{'"'}
	buffer, end, ended := c.left, 0, false
	for !ended && end == 0 {
		if len(buffer) > longest {
			return chunk{}, fmt.Errorf("the row at line %d is longer than 2 MiB, or a quotation mark is not closed", c.line)
		}
		buffer = slices.Grow(buffer, size)
		for full := len(buffer) + size; !ended && len(buffer) < full; {
			n, err := c.text.Read(buffer[len(buffer):full])
			buffer = buffer[:len(buffer)+n]
			switch {
			case errors.Is(err, io.ErrUnexpectedEOF):
				return chunk{}, errors.New("the gzip archive was cut off: what it holds ends before its end")
			case err == io.EOF:
				ended = true
			case err != nil:
				return chunk{}, err
			}
		}
		end = bytes.LastIndexByte(buffer, '\n') + 1
		for quotes := bytes.Count(buffer[:end], quote); quotes%2 == 1; { // an end within quotation marks moves before them
			before := bytes.LastIndexByte(buffer[:bytes.LastIndexByte(buffer[:end], '"')], '\n') + 1
			quotes, end = quotes-bytes.Count(buffer[before:end], quote), before
		}
	}
	if ended {
		end = len(buffer)
	}
	found := chunk{string(buffer[:end]), c.line}
	c.left, c.line = bytes.Clone(buffer[end:]), c.line+strings.Count(found.text, "\n")
	if end == 0 {
		return found, io.EOF
	}
	bad, what := strings.IndexByte(found.text, 0), "holds a NUL byte: this is no text file, or UTF-16 without a byte order mark "+
		"(iconv -f UTF-16LE -t UTF-8 FILE decodes that)"
	if bad < 0 && !utf8.ValidString(found.text) {
		bad = strings.IndexRune(found.text, utf8.RuneError)
		what = "is no UTF-8, as the lines above are (iconv -f WINDOWS-1252 -t UTF-8 FILE decodes what it may be)"
	}
	if bad >= 0 {
		return found, fmt.Errorf("line %d %s", found.line+strings.Count(found.text[:bad], "\n"), what)
	}
	return found, nil
}

// row is a row of a file.
type row struct {
	cells []string
	line  int         // number of its first line, from 1
	wrong *CSVProblem // says why it cannot be read; nil if it can
}

// at returns the text of a cell, "" for one after the last.
func (r row) at(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[column])
}

// used returns the number of cells; empty ones after the first width do not count.
func (r row) used(width int) int {
	n := len(r.cells)
	for n > width && strings.TrimSpace(r.cells[n-1]) == "" {
		n--
	}
	return n
}

// rowReader divides a chunk into rows: lines without a quotation mark at the separators, which is fast, and others by
// encoding/csv, which takes from it the lines that it needs.
type rowReader struct {
	rest    chunk
	comma   string      // a blank stands for any run of blanks and tabs
	comment string      // begins lines that are left out; "" for none
	quoted  *csv.Reader // reads from this reader
	ahead   string      // text that quoted reads next
	spare   []string    // memory for the cells of further rows
}

// rows returns the rows of a chunk that are not blank.
func (c chunk) rows(comma, comment rune) (rows []row) {
	r := &rowReader{rest: c, comma: string(comma)}
	if comment != 0 {
		r.comment = string(comment)
	}
	rows = make([]row, 0, strings.Count(c.text, "\n")+1)
	for r.rest.text != "" {
		found := row{line: r.rest.line}
		line := r.nextLine()
		switch {
		case r.comment != "" && strings.HasPrefix(line, r.comment):
		case strings.IndexByte(line, '"') >= 0:
			r.ahead = line
			var err error
			if found.cells, err = r.csv(comma).Read(); errors.As(err, new(*csv.ParseError)) {
				found.wrong = problem("quotation marks do not match: a field is not closed, or has one within").
					hint(`write "" for that, and " before and after the field`)
				found.wrong.Line = found.line
			}
		case r.comma == " ":
			found.cells = strings.Fields(line)
		default:
			found.cells = r.divide(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		if found.wrong != nil || found.used(0) > 0 {
			rows = append(rows, found)
		}
	}
	return rows
}

// divide divides a line at the separators.
func (r *rowReader) divide(line string) []string {
	n := strings.Count(line, r.comma) + 1
	if n > len(r.spare) {
		r.spare = make([]string, n+strings.Count(r.rest.text, r.comma)+strings.Count(r.rest.text, "\n"))
	}
	cells := r.spare[:n:n]
	r.spare = r.spare[n:]
	for i := range cells {
		cells[i], line, _ = strings.Cut(line, r.comma)
	}
	return cells
}

// csv returns the reader of rows with quotation marks.
func (r *rowReader) csv(comma rune) *csv.Reader {
	if r.quoted == nil {
		r.quoted = csv.NewReader(r)
		r.quoted.Comma, r.quoted.FieldsPerRecord, r.quoted.TrimLeadingSpace = comma, -1, comma != '\t'
	}
	return r.quoted
}

// Read gives encoding/csv a line or a part of one.
func (r *rowReader) Read(p []byte) (n int, err error) {
	if r.ahead == "" {
		r.ahead = r.nextLine()
	}
	if r.ahead == "" {
		return 0, io.EOF
	}
	n = copy(p, r.ahead)
	r.ahead = r.ahead[n:]
	return n, nil
}

// nextLine returns the next line with its end.
func (r *rowReader) nextLine() (line string) {
	end := strings.IndexByte(r.rest.text, '\n') + 1
	if end == 0 {
		end = len(r.rest.text)
	}
	line, r.rest.text = r.rest.text[:end], r.rest.text[end:]
	r.rest.line++
	return line
}
