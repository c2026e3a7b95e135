package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
)

// withoutBOM returns a reader of r without the UTF-8 byte order mark that spreadsheet programs put first.
func withoutBOM(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	// An error here is met again, and reported, by the first read.
	if head, _ := b.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		b.Discard(3)
	}
	return b
}

// parseFinite reads a number. "NaN" and "Inf" parse as numbers in Go but are no observations.
func parseFinite(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not a finite number", quoted(text))
	}
	return v, nil
}

// quoted quotes text for a message; text that is long, as binary data read by mistake tends to be, is cut.
func quoted(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(text)
}
