// Package timeline orders the times of a series, picks observations, measures what times cover, and writes seconds for people.
package timeline

import (
	"cmp"
	"fmt"
	"slices"
)

// Order returns the indices that sort t, so that t[order[i]] ascends; equal times keep their order. It is nil if t is already
// sorted.
func Order(t []float64) []int {
	if slices.IsSorted(t) {
		return nil
	}
	return Ascending(t)
}

// Ascending does as Order, and returns 0, 1, … if t is sorted already.
func Ascending(t []float64) []int {
	type place struct {
		t  float64
		at int
	}
	places := make([]place, len(t)) // they have their times, since sorting indices alone looks these up anew at each comparison
	for i, v := range t {
		places[i] = place{v, i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.at, b.at)) })
	order := make([]int, len(t))
	for i, p := range places {
		order[i] = p.at
	}
	return order
}

// Steps returns 0, 1, …, n − 1, which serve as the times of a series without times.
func Steps(n int) []float64 {
	t := make([]float64, n)
	for i := range t {
		t[i] = float64(i)
	}
	return t
}

// Range returns the indices from, …, to − 1.
func Range(from, to int) []int {
	indices := make([]int, to-from)
	for i := range indices {
		indices[i] = from + i
	}
	return indices
}

// Pick returns the values at the given indices, copied; nil of nil.
func Pick[T any](values []T, at []int) []T {
	if values == nil {
		return nil
	}
	picked := make([]T, len(at))
	for k, i := range at {
		picked[k] = values[i]
	}
	return picked
}

// Coverage returns the length of the range of the sorted times t, at least one, where a gap of more than twenty times the median
// spacing counts as twenty times that.
func Coverage(t []float64) float64 {
	span := t[len(t)-1] - t[0]
	gaps := make([]float64, 0, len(t))
	for i, v := range t[1:] {
		if v > t[i] {
			gaps = append(gaps, v-t[i])
		}
	}
	if len(gaps) == 0 {
		return span
	}
	slices.Sort(gaps)
	limit := 20 * gaps[len(gaps)/2]
	var sum float64
	for _, g := range gaps {
		sum += min(g, limit)
	}
	return sum
}

// Seconds writes a predicted time with three digits, in µs, ms or s.
func Seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", 1e6*s)
	case s < 1:
		return fmt.Sprintf("%.3g ms", 1e3*s)
	}
	return fmt.Sprintf("%.3g s", s)
}
