// Package lists has the two loops over a slice that package slices lacks.
package lists

import "slices"

// Map returns f of each value; nil for none.
func Map[T, U any](values []T, f func(T) U) (all []U) {
	all = slices.Grow(all, len(values))
	for _, v := range values {
		all = append(all, f(v))
	}
	return all
}

// Count returns how many values satisfy is.
func Count[T any](values []T, is func(T) bool) (n int) {
	for _, v := range values {
		if is(v) {
			n++
		}
	}
	return n
}
