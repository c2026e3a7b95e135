package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// row is a row of a file.
type row struct {
	cells []string
	line  int
	wrong *CSVProblem // why it cannot be read; nil if it can
}

func (r row) clone() row {
	r.cells = slices.Clone(r.cells)
	return r
}

// at returns the text of a cell, "" behind the last.
func (r row) at(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	return utf8Text(strings.TrimSpace(r.cells[column]))
}

// used returns the number of cells; empty ones behind the first width do not count.
func (r row) used(width int) int {
	n := len(r.cells)
	for n > width && strings.TrimSpace(r.cells[n-1]) == "" {
		n--
	}
	return n
}

// rowReader reads the rows of a file: by encoding/csv or, where lines have no quotation mark, by dividing them, which is faster.
type rowReader struct {
	text           *tableText
	buffer         *bufio.Reader
	csv            *csv.Reader // on the buffer
	comma, comment rune
	line, csvLine  int // that were read, and those of them by csv
	bytes          int
	rest           string // whole lines without quotation marks
	cells          []string
}

func newRows(r io.Reader, comma, comment rune) *rowReader {
	text := &tableText{r: r, blanks: comma == ' ', line: 1, begins: true}
	if text.blanks {
		comma = '\t'
	}
	buffer := bufio.NewReaderSize(text, headSize)
	c := csv.NewReader(buffer) // which takes the buffer for its own
	c.Comma, c.Comment, c.FieldsPerRecord, c.TrimLeadingSpace, c.ReuseRecord = comma, comment, -1, comma != '\t', true
	return &rowReader{text: text, buffer: buffer, csv: c, comma: comma, comment: comment}
}

// next returns the next row that is not blank, whose cells hold until the next call; io.EOF if there is none.
func (r *rowReader) next() (row, error) {
	for {
		if r.rest == "" && r.comma < utf8.RuneSelf {
			r.fill()
		}
		found, err := row{}, error(nil)
		if r.rest == "" {
			found, err = r.nextCSV()
		} else {
			found = r.nextLine()
		}
		if err != nil || found.wrong != nil || found.used(0) > 0 {
			return found, err
		}
	}
}

// fill takes the whole lines above the next quotation mark from the buffer.
func (r *rowReader) fill() {
	lines, _ := r.buffer.Peek(r.buffer.Buffered())
	if quote := bytes.IndexByte(lines, '"'); quote >= 0 {
		lines = lines[:quote]
	}
	lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	r.rest = string(lines)
	r.buffer.Discard(len(lines))
	r.bytes += len(lines)
}

// nextLine divides a line; a comment has no cells.
func (r *rowReader) nextLine() row {
	line := ""
	line, r.rest, _ = strings.Cut(r.rest, "\n")
	line = strings.TrimSuffix(line, "\r")
	r.line++
	r.cells = r.cells[:0]
	if line == "" || rune(line[0]) == r.comment {
		return row{}
	}
	for at := strings.IndexByte(line, byte(r.comma)); at >= 0; at = strings.IndexByte(line, byte(r.comma)) {
		r.cells, line = append(r.cells, line[:at]), line[at+1:]
	}
	r.cells = append(r.cells, line)
	return row{r.cells, r.line, nil}
}

// nextCSV reads a row by encoding/csv.
func (r *rowReader) nextCSV() (row, error) {
	r.text.row = 0
	from := r.csv.InputOffset()
	cells, err := r.csv.Read()
	r.bytes += int(r.csv.InputOffset() - from)
	if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
		line := r.line + wrong.StartLine - r.csvLine
		r.line, r.csvLine = r.line+wrong.Line-r.csvLine, wrong.Line
		p := problem("quotation marks do not match: a field is not closed, or has one within")
		p.Line = line
		return row{nil, line, p.hint(`write "" for that, and " before and after the field`)}, nil
	}
	if err != nil {
		return row{}, err
	}
	first, _ := r.csv.FieldPos(0)
	line := r.line + first - r.csvLine
	for _, cell := range cells {
		first += strings.Count(cell, "\n")
	}
	r.line, r.csvLine = r.line+first-r.csvLine, first
	return row{cells, line, nil}, nil
}

// tableText is the text of a table. It refuses NUL bytes and rows that are too long. If blanks divide fields, it makes a tab of
// each run of them outside of quotation marks.
type tableText struct {
	r      io.Reader
	blanks bool
	line   int
	row    int  // bytes of the row
	quoted bool // a quotation mark is open
	blank  bool // the byte before was a blank
	begins bool // a line begins
}

func (t *tableText) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	const longest = 2 << 20 // bytes of a row
	if t.row += n; t.row > longest {
		return 0, fmt.Errorf("a row above line %d is longer than 2 MiB, or a quotation mark is not closed", t.line)
	}
	if nul := bytes.IndexByte(p[:n], 0); nul >= 0 {
		return 0, fmt.Errorf("line %d holds a NUL byte: this is no text file, or UTF-16 without a byte order mark (iconv -f UTF-16LE "+
			"-t UTF-8 FILE decodes that)", t.line+bytes.Count(p[:nul], []byte("\n")))
	}
	if err == io.ErrUnexpectedEOF {
		err = errors.New("the gzip archive was cut off: what it holds ends before its end")
	}
	t.line += bytes.Count(p[:n], []byte("\n"))
	if t.blanks {
		n = t.tabs(p[:n])
	}
	return n, err
}

// tabs makes a tab of each run of blanks and tabs, and none of one at the beginning of a line. It returns the length of the rest.
func (t *tableText) tabs(text []byte) int {
	out := text[:0]
	for _, c := range text {
		blank := !t.quoted && (c == ' ' || c == '\t')
		if blank && (t.blank || t.begins) {
			continue
		}
		if blank {
			c = '\t'
		}
		out = append(out, c)
		t.blank, t.begins, t.quoted = blank, c == '\n', t.quoted != (c == '"')
	}
	return len(out)
}
