// Package must ends a test where a call fails that the test takes for granted.
package must

import "testing"

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
