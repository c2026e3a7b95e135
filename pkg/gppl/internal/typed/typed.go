// Package typed reads and writes JSON values of an interface as the name of their type with its fields.
package typed

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
)

// Strict decodes exactly one JSON value with no unknown fields into v.
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

// Name returns the name of the type of v, or of what it points to.
func Name(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// Read returns a value of the type of zero with the fields of a JSON object, which
// may be missing.
func Read[T any](zero T, fields json.RawMessage) (T, error) {
	t := reflect.TypeOf(zero)
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	read := reflect.New(t)
	if fields != nil {
		if err := Strict(fields, read.Interface()); err != nil {
			return zero, err
		}
	}
	if !pointer {
		read = read.Elem()
	}
	return read.Interface().(T), nil
}
