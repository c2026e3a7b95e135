package testkit

import (
	"encoding/json"
	"testing"
)

// Must returns a function that returns v, or ends the test with err: testkit.Must(f())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// Must2 does as Must with two values.
func Must2[T, U any](v T, w U, err error) func(testing.TB) (T, U) {
	return func(tb testing.TB) (T, U) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v, w
	}
}

// JSON returns v as JSON, or ends the test.
func JSON(tb testing.TB, v any) []byte {
	tb.Helper()
	return Must(json.Marshal(v))(tb)
}

// SameJSON ends the test unless again, written as JSON, equals first.
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
