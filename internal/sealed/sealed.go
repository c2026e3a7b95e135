// Package sealed gives an object in JSON a checksum, so that no damage of a file passes for other numbers.
package sealed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"os"
	"strings"

	"github.com/projected-likelihood/gppl/internal/files"
)

// The checksum is the last member of the object: the CRC-64 (ECMA) of the bytes before its comma, without blanks between tokens,
// in 16 hexadecimal digits. Files of sums have the same.
var crcTable = crc64.MakeTable(crc64.ECMA)

const (
	begin = `,"checksum":"`
	form  = begin + `%016x"}`
)

// splitChecksum returns the object before its checksum, without blanks and the last brace, and the checksum, whatever its digits;
// false if there is none. It uses no regular expression: the program that pages carry would grow by 3 %.
func splitChecksum(plain []byte) (object []byte, sum string, ok bool) {
	at := bytes.LastIndex(plain, []byte(begin))
	if at < 0 {
		return nil, "", false
	}
	sum, ok = strings.CutSuffix(string(plain[at+len(begin):]), `"}`)
	return plain[:at], sum, ok && !strings.Contains(sum, `"`) // otherwise it is a member of an inner object
}

// Seal returns the object with its checksum, indented if the object is. It panics if the text is no object with members.
func Seal(object []byte) []byte {
	var plain bytes.Buffer
	if err := json.Compact(&plain, object); err != nil {
		panic("sealed: " + err.Error())
	}
	end := bytes.LastIndexByte(object, '}')
	if end < 0 || plain.Len() <= len("{}") {
		panic("sealed: not an object with members")
	}
	body := bytes.TrimRight(object[:end], " \t\r\n")
	blanks := object[len(body):end] // the closing brace is on a line of its own if the object is indented
	sum := crc64.Checksum(plain.Bytes()[:plain.Len()-1], crcTable)
	member := fmt.Sprintf(form, sum)
	if len(blanks) > 0 {
		member = fmt.Sprintf(",\n  \"checksum\": \"%016x\"%s}", sum, blanks)
	}
	return append(append(bytes.Clone(body), member...), object[end+1:]...)
}

// Writer seals an object that is written piece by piece, without blanks between tokens and without its last brace.
type Writer struct {
	w   io.Writer
	sum uint64
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

func (s *Writer) Write(text []byte) (int, error) {
	n, err := s.w.Write(text)
	s.sum = crc64.Update(s.sum, crcTable, text[:n])
	return n, err
}

// Close writes the checksum, the last brace and a line feed.
func (s *Writer) Close() error {
	_, err := fmt.Fprintf(s.w, form+"\n", s.sum)
	return err
}

// Open returns the object without its checksum, or an error if the checksum does not fit the rest. Text without a checksum, such
// as an older file, is returned as it is, and so is text that is no JSON, for its reader to refuse.
func Open(text []byte) ([]byte, error) {
	var plain bytes.Buffer
	if json.Compact(&plain, text) != nil {
		return text, nil
	}
	object, want, ok := splitChecksum(plain.Bytes())
	if !ok {
		return text, nil
	}
	if got := fmt.Sprintf("%016x", crc64.Checksum(object, crcTable)); got != want {
		return nil, fmt.Errorf("the file is damaged or was changed: its checksum is %s, and %s was written", got, want)
	}
	return append(bytes.Clone(object), '}'), nil
}

// Strict reads exactly one JSON value into v, which must have a field for each of its members.
func Strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// Header says which form an object has.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// Check returns an error unless the header is the wanted one.
func (h Header) Check(want Header) error {
	if h.Format != want.Format {
		return fmt.Errorf("format %q, want %q", h.Format, want.Format)
	}
	if h.Version != want.Version {
		return fmt.Errorf("version %d, this program reads version %d", h.Version, want.Version)
	}
	return nil
}

// Load reads what Save wrote; the UnmarshalJSON of the result opens the object.
func Load[T any](path string) (*T, error) {
	v := new(T)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("gppl: load: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("gppl: load: %s: %w", path, err)
	}
	return v, nil
}

// Save writes v, an object in JSON, to a file with its checksum, indented and ending in a line feed, whole or not at all.
func Save(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("gppl: save: %s: %w", path, err)
	}
	if err := files.WriteBytes(context.Background(), path, append(Seal(b), '\n')); err != nil {
		return fmt.Errorf("gppl: save: %w", err)
	}
	return nil
}
