// Package must ends a test where a call fails that the test takes for granted, and catches panics that it expects.
package must

import (
	"encoding/json"
	"testing"
)

// Get returns a function that returns v, or ends the test with err: must.Get(f())(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// JSON returns v as JSON, or ends the test.
func JSON(tb testing.TB, v any) []byte {
	tb.Helper()
	return Get(json.Marshal(v))(tb)
}

// SameJSON ends the test unless what is written again is what was written first.
func SameJSON(tb testing.TB, first []byte, again any) {
	tb.Helper()
	if second := JSON(tb, again); string(second) != string(first) {
		tb.Fatalf("written and read again:\n%s\nwant\n%s", second, first)
	}
}

// Recover returns what f panics with; nil if it returns.
func Recover(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
