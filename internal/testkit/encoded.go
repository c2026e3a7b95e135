package testkit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"unicode/utf16"
)

// UTF16 returns a text in UTF-16. It has a mark of the byte order, U+FEFF, if the text has it.
func UTF16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// Gzip returns a text packed by gzip.
func Gzip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}
