package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
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
