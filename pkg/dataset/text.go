package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// headSize is how much of a file is looked at to tell its encoding and its separator.
const headSize = 16 << 10

// headLines are the lines that the first headSize bytes have whole. An error of reading is met again by the first read.
func headLines(r *bufio.Reader) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		head, _ := r.Peek(headSize)
		full := len(head) == headSize
		for len(head) > 0 {
			line, rest, whole := bytes.Cut(head, newline)
			if !whole && full || !yield(line) {
				return
			}
			head = rest
		}
	}
}

// decoded returns a reader of the text in r as UTF-8 with \n for line ends: it leaves a byte order mark out, and translates
// UTF-16 with or without such a mark, and \r\n and a lone \r. It unpacks gzip. What is no text is an error, at once where
// the first bytes tell, else of the read that meets a NUL byte.
func decoded(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, headSize)
	head, _ := b.Peek(headSize) // an error here is met again, and reported, by the first read
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("this is a gzip archive that cannot be unpacked: %w", err)
		}
		return decoded(unpacked)
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.start)) {
			return nil, errors.New(s.is)
		}
	}
	var source io.Reader = b
	switch {
	case bytes.HasPrefix(head, byteOrderMark):
		b.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		b.Discard(2)
		source = &utf16Reader{r: b, order: binary.LittleEndian}
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		b.Discard(2)
		source = &utf16Reader{r: b, order: binary.BigEndian}
	default:
		if order := utf16Order(head); order != nil {
			source = &utf16Reader{r: b, order: order}
		}
	}
	text := bufio.NewReaderSize(&lineReader{r: source, line: 1}, headSize)
	return text, otherText(text)
}

// utf16Order is the order of bytes of text in UTF-16 without a byte order mark, mostly of ASCII characters: every other byte of
// head is NUL more often than not, and no byte between is. It is nil for other text.
func utf16Order(head []byte) binary.ByteOrder {
	var nul [2]int
	for i, c := range head {
		if c == 0 {
			nul[i%2]++
		}
	}
	switch {
	case max(nul[0], nul[1]) <= len(head)/4 || min(nul[0], nul[1]) > 0:
		return nil
	case nul[0] > 0:
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// utf16Reader translates UTF-16 to UTF-8; half a surrogate pair becomes U+FFFD.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	left  []byte // encoded, not yet delivered
	buf   [2 * utf8.UTFMax]byte
}

func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.left) == 0 {
			if u.left, err = u.next(); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], u.left)
		u.left = u.left[k:]
		n += k
	}
	return n, nil
}

// next returns the next character, or what half a pair and the character after it give.
func (u *utf16Reader) next() ([]byte, error) {
	first, err := u.unit()
	if err != nil {
		return nil, err
	}
	if !utf16.IsSurrogate(first) {
		return utf8.AppendRune(u.buf[:0], first), nil
	}
	if pair, _ := u.r.Peek(2); len(pair) == 2 {
		if r := utf16.DecodeRune(first, rune(u.order.Uint16(pair))); r != utf8.RuneError {
			u.r.Discard(2)
			return utf8.AppendRune(u.buf[:0], r), nil
		}
	}
	return utf8.AppendRune(u.buf[:0], utf8.RuneError), nil
}

func (u *utf16Reader) unit() (rune, error) {
	var b [2]byte
	switch _, err := io.ReadFull(u.r, b[:]); err {
	case nil:
		return rune(u.order.Uint16(b[:])), nil
	case io.ErrUnexpectedEOF:
		return 0, errors.New("the UTF-16 text ends within a character: the file was cut off")
	default:
		return 0, err
	}
}

// lineReader makes \n of \r\n and of a lone \r, and refuses NUL bytes.
type lineReader struct {
	r    io.Reader
	line int
	cr   bool  // the byte before was \r
	err  error // of the last read; a Peek that met it must not hide it from the reads after
}

func (l *lineReader) Read(p []byte) (n int, err error) {
	for n == 0 && l.err == nil && len(p) > 0 {
		var got int
		if got, l.err = l.r.Read(p); l.err == io.ErrUnexpectedEOF { // which io.ReadAtLeast means otherwise
			l.err = errors.New("the gzip archive was cut off: what it holds ends before its end")
		}
		if !l.cr && bytes.IndexByte(p[:got], '\r') < 0 && bytes.IndexByte(p[:got], 0) < 0 {
			l.line += bytes.Count(p[:got], newline)
			return got, l.err
		}
		for _, c := range p[:got] {
			lf := c == '\n'
			if lf && l.cr {
				l.cr = false
				continue
			}
			l.cr = c == '\r'
			switch {
			case c == 0:
				l.err = fmt.Errorf("line %d holds a NUL byte: this is no text file, "+
					"or one that was not closed properly (remove what follows)", l.line)
				return n, l.err
			case lf || l.cr:
				c = '\n'
				l.line++
			}
			p[n] = c
			n++
		}
	}
	return n, l.err
}

// lineEditor writes other text in the place of each line. A line longer than the buffer stays as it is.
type lineEditor struct {
	lines *bufio.Reader
	edit  func(line []byte) []byte
	left  []byte // of the text
	long  bool   // a line goes on
	err   error
}

func (l *lineEditor) Read(p []byte) (n int, err error) {
	if len(l.left) == 0 && l.err == nil {
		long := l.long
		l.left, l.err = l.lines.ReadSlice('\n')
		if l.long = l.err == bufio.ErrBufferFull; l.long {
			l.err = nil
		} else if !long {
			l.left = l.edit(l.left)
		}
	}
	n = copy(p, l.left)
	if l.left = l.left[n:]; len(l.left) > 0 {
		return n, nil
	}
	return n, l.err
}

var newline = []byte("\n")

// parseFinite reads a decimal number. strconv.ParseFloat reads "NaN", "Inf", "0x1p3" and "1_000", too, which are no observations.
func parseFinite(text string) (float64, error) {
	if isDecimal(text) {
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(v, 0) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%s is not a finite number", quoted(text))
}

// isDecimal reports whether text is [+-] digits [. digits] [e [+-] digits], with a digit before or after the point.
func isDecimal(text string) bool {
	digits := func() (n int) {
		for n < len(text) && '0' <= text[n] && text[n] <= '9' {
			n++
		}
		text = text[n:]
		return n
	}
	accept := func(chars string) bool {
		if text == "" || !strings.Contains(chars, text[:1]) {
			return false
		}
		text = text[1:]
		return true
	}
	accept("+-")
	n := digits()
	if accept(".") {
		n += digits()
	}
	if n == 0 {
		return false
	}
	if accept("eE") {
		accept("+-")
		if digits() == 0 {
			return false
		}
	}
	return text == ""
}

// latin1 is text in Latin-1, whose bytes are its characters.
func latin1(text []byte) string {
	runes := make([]rune, len(text))
	for i, b := range text {
		runes[i] = rune(b)
	}
	return string(runes)
}

// quoted quotes text for a message; text that is long, as binary data read by mistake tends to be, is cut.
func quoted(text string) string {
	const most, widest = 40, 80 // runes of text, bytes of what is written for them
	runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))])
	if len(runes) > most {
		runes = runes[:most]
	}
	cut := len(string(runes)) < len(text) && utf8.ValidString(text)
	if utf8.ValidString(text) {
		text = string(runes)
	} else if len(text) > most {
		text, cut = text[:most], true
	}
	q := strconv.Quote(text)
	for len(q) > widest {
		text, cut = text[:len(text)/2], true
		q = strconv.Quote(text)
	}
	if cut {
		q += "…"
	}
	return q
}
