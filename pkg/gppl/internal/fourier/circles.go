package fourier

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
)

// CircleSums holds sums over data on one circle. It is immutable.
type CircleSums struct {
	Origin, Period float64
	Windowed       bool           // for functions cut by a window, whether or not they decay within the period
	Highest        int            // highest frequency computed; −1 for none
	Moments        Moments        // moments up to twice Highest
	Columns        blas64.General // ΦᵀC: cos, sin by turns, up to Highest
}

// sameCircle reports whether two sums differ at most in their number of frequencies.
func (c *CircleSums) sameCircle(o *CircleSums) bool {
	return c.Origin == o.Origin && c.Period == o.Period && c.Windowed == o.Windowed
}

// Circles keeps sums over data for reuse, on the few circles that were begun last. It is safe for concurrent use. The zero
// value is empty.
type Circles struct {
	Most int // number of circles kept; 0 means maxCircles

	mu    sync.Mutex // held while sums are computed
	known atomic.Pointer[[]*CircleSums]
}

// maxCircles is the default number of circles kept. Training uses one at a time, or two in turn; goroutines with distant
// parameters use one each.
const maxCircles = 4

// Known returns the sums kept, on the circle begun last first. The caller must not change them.
func (s *Circles) Known() []*CircleSums {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

// find returns the sums on a suitable circle, nil if there is none.
func (s *Circles) find(suits func(c *CircleSums) bool) *CircleSums {
	for _, c := range s.Known() {
		if suits(c) {
			return c
		}
	}
	return nil
}

// Begin returns the sums on a suitable circle. If there is none, it keeps the proposed circle from now on, with no sums yet.
func (s *Circles) Begin(suits func(c *CircleSums) bool, proposed CircleSums) *CircleSums {
	if c := s.find(suits); c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(suits)
	if c == nil {
		c = new(CircleSums)
		*c = proposed
		s.put(c, c.sameCircle)
	}
	return c
}

// Exactly returns the sums on a circle up to its highest frequency and no further: they do not depend on what was asked before.
// Sums up to another frequency count as another circle.
func (s *Circles) Exactly(of CircleSums, sums func(origin, period float64, m int) (Moments, blas64.General)) *CircleSums {
	same := func(c *CircleSums) bool { return c.sameCircle(&of) && c.Highest == of.Highest }
	if c := s.find(same); c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.find(same); c != nil {
		return c
	}
	of.Moments, of.Columns = sums(of.Origin, of.Period, of.Highest)
	s.put(&of, same)
	return &of
}

// Grow returns the sums on a circle with frequencies up to at least m. If they have to be computed, it calls sums with the
// sums known on this circle, for frequencies up to spare.
func (s *Circles) Grow(c *CircleSums, m, spare int, sums func(known *CircleSums, m int) (Moments, blas64.General)) *CircleSums {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.find(c.sameCircle); known != nil {
		c = known
	}
	if c.Highest >= m {
		return c
	}
	grown := *c
	grown.Highest = spare
	grown.Moments, grown.Columns = sums(c, spare)
	s.put(&grown, grown.sameCircle)
	return &grown
}

// Forget drops all sums.
func (s *Circles) Forget() { s.known.Store(nil) }

// put stores c under the lock in place of the sums that are the same.
func (s *Circles) put(c *CircleSums, same func(o *CircleSums) bool) {
	known := append([]*CircleSums{c}, slices.DeleteFunc(slices.Clone(s.Known()), same)...)
	known = known[:min(len(known), cmp.Or(s.Most, maxCircles))]
	s.known.Store(&known)
}
