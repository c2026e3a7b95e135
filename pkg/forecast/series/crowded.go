package series

import (
	"math"
	"sort"
)

// Rows that are much closer than Series.Step, or at one x, are at one place, and say little of how y changes with x. Where the
// latest rows are at few places, a model is learnt from more of the series, and from fewer of the rows at a place.

// placeBefore numbers the places by their distance in steps before the last observation.
func (s *Series) placeBefore(i int) float64 { return math.Round((s.X[len(s.X)-1] - s.X[i]) / s.Step) }

// Reaching returns the number of latest observations, at least n, that are at n/4 places or more; all if the series has fewer.
func (s *Series) Reaching(n int) int {
	const share = 4 // rows to a place, at most
	places, i := 0, len(s.X)
	for i > 0 && (len(s.X)-i < n || places < n/share) {
		if i--; i == len(s.X)-1 || s.placeBefore(i) != s.placeBefore(i+1) {
			places++
		}
	}
	return len(s.X) - i
}

// Spread returns at most most of the observations from an index on, and as many places as that allows: the same number at each
// place with more, evenly chosen, or the latest places with one if there are too many.
func (s *Series) Spread(from, most int) *Series {
	var begins []int // of places
	for i := from; i < len(s.X); i++ {
		if i == from || s.placeBefore(i) != s.placeBefore(i-1) {
			begins = append(begins, i)
		}
	}
	begins = append(begins, len(s.X))
	rows := func(limit int) (n int) {
		for k := range begins[1:] {
			n += min(limit, begins[k+1]-begins[k])
		}
		return n
	}
	limit := max(1, sort.Search(most, func(limit int) bool { return rows(limit+1) > most }))
	var at []int
	for k := range begins[1:] {
		count := begins[k+1] - begins[k]
		kept := min(limit, count)
		for j := range kept {
			at = append(at, begins[k]+j*count/kept)
		}
	}
	return s.pick(at[max(0, len(at)-most):])
}

// pick returns some observations, with the step and the regressors of the whole.
func (s *Series) pick(at []int) *Series {
	p := s.Part(0, len(s.X))
	p.X, p.Y, p.Errors = nil, nil, nil
	var sizes []float64
	for _, i := range at {
		p.X, p.Y = append(p.X, s.X[i]), append(p.Y, s.Y[i])
		if s.Errors != nil {
			p.Errors = append(p.Errors, s.Errors[i])
		}
		if s.Counting != nil && s.Counting.Sizes != nil {
			sizes = append(sizes, s.Counting.Sizes[i])
		}
	}
	if sizes != nil {
		p.Counting.Sizes = sizes // of a copy: that of part
	}
	return p
}

// Thinned returns the observations from an index on that are a multiple of every steps before the last, so that a missing one
// does not shift those before it, or one in every of them if most steps differ or they have errors of their own.
func (s *Series) Thinned(from, every int) *Series {
	var at []int
	last := s.X[len(s.X)-1]
	for i := from; i < len(s.X); i++ {
		before := len(s.X) - 1 - i
		if !s.NeedsDense() {
			before = int(math.Round((last - s.X[i]) / s.Step))
		}
		if before%every == 0 {
			at = append(at, i)
		}
	}
	p := s.pick(at)
	p.Step = float64(every) * s.Step
	return p
}
