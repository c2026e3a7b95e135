package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// headSize is how much of a file is looked at to tell its encoding and its separator.
const headSize = 64 << 10

const (
	htmlPage = "this is HTML or XML, not csv: was a page of a web server saved in place of the data?"
	jsonText = `this is JSON: duckdb -c "COPY (FROM read_json('FILE')) TO 'FILE.csv'" makes a csv file of an array of objects`
)

// notTables are the first bytes of files that are mistaken for csv files, and what to do with them.
var notTables = []struct{ begin, is string }{
	{"PK\x03\x04", "this is a zip archive or a spreadsheet (xlsx, ods): unpack it, or save the sheet as csv"},
	{"\xd0\xcf\x11\xe0", "this is an Excel file (xls): save the sheet as csv"},
	{"PAR1", `this is a Parquet file: duckdb -c "COPY (FROM 'FILE') TO 'FILE.csv'" makes a csv file of it`},
	{"BZh", "this is a bzip2 archive: unpack it first (bunzip2)"},
	{"\xfd7zXZ\x00", "this is an xz archive: unpack it first (unxz)"},
	{"\x28\xb5\x2f\xfd", "this is a zstd archive: unpack it first (unzstd)"},
	{"\xff\xfe\x00\x00", "the text is UTF-32: save it as UTF-8"},
	{"%PDF-", "this is a PDF file, not csv"},
	{"<!", htmlPage}, {"<html", htmlPage}, {"<HTML", htmlPage}, {"<?xml", htmlPage},
	{"{", jsonText}, {"[{", jsonText}, {"[[", jsonText},
}

// decoded returns a reader of the text in r: unpacked from gzip, without a byte order mark, decoded from UTF-16 if it has one.
// Text in another encoding than UTF-8 stays as it is: [utf8Text] decodes its cells. A file that is no table is an error.
func decoded(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, headSize)
	head, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("this is a gzip archive that cannot be unpacked: %w", err)
		}
		return decoded(unpacked)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		b.Discard(len("\xef\xbb\xbf"))
	case bytes.Equal(head, []byte("\xff\xfe\x00\x00")): // UTF-32, which notTables has
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		b = bufio.NewReaderSize(decoder.Reader(b), headSize)
	}
	head, _ = b.Peek(headSize) // the first read meets an error again
	begin := strings.TrimLeft(string(head[:min(len(head), 1024)]), " \r\n\t")
	for _, t := range notTables {
		if strings.HasPrefix(begin, t.begin) {
			return nil, errors.New(t.is)
		}
	}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		return nil, errors.New(`lines end with \r alone: tr '\r' '\n' < FILE makes lines that end with \n`)
	}
	return b, nil
}

// utf8Text returns the text of a cell: as it is if it is UTF-8, else decoded from Windows-1252, which includes Latin-1.
func utf8Text(cell string) string {
	if utf8.ValidString(cell) {
		return cell
	}
	text, _ := charmap.Windows1252.NewDecoder().String(cell) // what it lacks becomes U+FFFD
	return text
}
