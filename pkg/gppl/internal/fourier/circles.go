package fourier

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
)

// CircleSums are sums over data on one circle. They do not change.
type CircleSums struct {
	Origin, Period float64
	Windowed       bool           // for functions that a window cuts, which die out within the period or not
	Highest        int            // frequency that is computed; −1 for none
	Moments        Moments        // up to twice that
	Columns        blas64.General // ΦᵀC: cos, sin by turns, up to Highest
}

// sameCircle tells sums that differ in their number alone.
func (c *CircleSums) sameCircle(o *CircleSums) bool {
	return c.Origin == o.Origin && c.Period == o.Period && c.Windowed == o.Windowed
}

// Circles keep sums over data for reuse: those on the few circles that were begun last. They are safe for concurrent use. The
// zero value is empty.
type Circles struct {
	Most int // circles that are kept; 0 for maxCircles

	mu    sync.Mutex // held while sums are computed
	known atomic.Pointer[[]*CircleSums]
}

// maxCircles is how many circles are kept. Training takes one at a time, or
// two in turn; goroutines that are far from one another take one each.
const maxCircles = 4

// Known returns what is known, the circle that was begun last first. It is not to be changed.
func (s *Circles) Known() []*CircleSums {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

// find returns what is known on a circle that suits, nil if there is none.
func (s *Circles) find(suits func(c *CircleSums) bool) *CircleSums {
	for _, c := range s.Known() {
		if suits(c) {
			return c
		}
	}
	return nil
}

// Begin returns what is known on a circle that suits. If none does, the proposed one is known from now on, with no sums yet.
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
		s.put(c)
	}
	return c
}

// Grow returns the sums on a circle with frequencies up to at least m. If they have to be computed, it calls sums with what is
// known there, for frequencies up to spare.
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
	s.put(&grown)
	return &grown
}

// Forget drops all sums.
func (s *Circles) Forget() { s.known.Store(nil) }

// put stores c under the lock, replacing the sums on the same circle.
func (s *Circles) put(c *CircleSums) {
	known := slices.DeleteFunc(append([]*CircleSums{c}, s.Known()...), func(o *CircleSums) bool { return o != c && o.sameCircle(c) })
	known = known[:min(len(known), cmp.Or(s.Most, maxCircles))]
	s.known.Store(&known)
}
