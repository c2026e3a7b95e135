// Package lists has the loops that make or count a slice and that package slices lacks.
package lists

import "slices"

// Of returns f(0), …, f(n − 1), called in this order.
func Of[T any](n int, f func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

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
