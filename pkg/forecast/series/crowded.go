package series

import (
	"math"
	"sort"
)

// Rows that are much closer than Series.Step, or at one x, are at one place. They say little about how y changes with x. If the
// latest rows are at few places, a model is learnt from a longer stretch of the series and from fewer rows at each place.

// placeBefore numbers the places by their distance in steps before the last observation.
func (s *Series) placeBefore(i int) float64 { return math.Round((s.X[len(s.X)-1] - s.X[i]) / s.Step) }

// Reaching returns the number of latest observations, at least n, that are at n/4 places or more; all if the series has fewer.
func (s *Series) Reaching(n int) int {
	const share = 4 // average number of rows at a place, at most
	places, i := 0, len(s.X)
	for i > 0 && (len(s.X)-i < n || places < n/share) {
		if i--; i == len(s.X)-1 || s.placeBefore(i) != s.placeBefore(i+1) {
			places++
		}
	}
	return len(s.X) - i
}

// Spread returns at most most of the observations from an index on, at as many places as possible: the same number at each place
// that has more, evenly chosen, or one at each of the latest places if there are too many places.
func (s *Series) Spread(from, most int) *Series {
	var begins []int // index of the first observation at each place
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

// pick returns some observations, with the step and the regressors of the series.
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
		p.Counting.Sizes = sizes // part has made a copy
	}
	return p
}

// Thinned returns the observations from an index on whose distance from the last is a multiple of every steps, so that a missing
// one does not shift the others. If most steps differ, or observations have errors, it returns one in every of them.
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
