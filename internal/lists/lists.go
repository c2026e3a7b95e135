// Package lists has the loops that make, select from or count a slice and that package slices lacks.
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

// Where returns the values that satisfy is; nil for none.
func Where[T any](values []T, is func(T) bool) (some []T) {
	for _, v := range values {
		if is(v) {
			some = append(some, v)
		}
	}
	return some
}

// Places returns the indices of the values that satisfy is; nil for none.
func Places[T any](values []T, is func(T) bool) (at []int) {
	for i, v := range values {
		if is(v) {
			at = append(at, i)
		}
	}
	return at
}
