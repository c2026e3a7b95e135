package fourier

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
)

// CircleSums holds sums over data on one circle. It is immutable.
type CircleSums struct {
	Origin, Period float64
	Highest        int            // highest frequency computed
	Moments        Moments        // moments up to twice Highest
	Columns        blas64.General // ΦᵀC: cos, sin by turns, up to Highest
}

// Circles keeps the sums over data that were computed last. It is safe for concurrent use. The zero value is empty.
type Circles struct {
	Most int // number of sums kept; 0 means maxCircles

	mu    sync.Mutex // held while sums are computed
	known atomic.Pointer[[]*CircleSums]
}

// maxCircles is the default number of sums kept. Training uses one at a time, or a few in turn; goroutines with distant
// parameters use one each.
const maxCircles = 4

// On returns the sums on a circle up to a frequency and no further, so they do not depend on what was asked before. The caller
// must not change them.
func (s *Circles) On(origin, period float64, highest int,
	sums func(origin, period float64, m int) (Moments, blas64.General)) *CircleSums {
	find := func() *CircleSums {
		for _, c := range s.kept() {
			if c.Origin == origin && c.Period == period && c.Highest == highest {
				return c
			}
		}
		return nil
	}
	if c := find(); c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := find(); c != nil {
		return c
	}
	c := &CircleSums{Origin: origin, Period: period, Highest: highest}
	c.Moments, c.Columns = sums(origin, period, highest)
	known := slices.Insert(slices.Clone(s.kept()), 0, c)
	known = known[:min(len(known), cmp.Or(s.Most, maxCircles))]
	s.known.Store(&known)
	return c
}

// kept returns the sums kept, the last first.
func (s *Circles) kept() []*CircleSums {
	if known := s.known.Load(); known != nil {
		return *known
	}
	return nil
}

// Forget drops all sums.
func (s *Circles) Forget() { s.known.Store(nil) }

// Ladder rounds x up to a power of two, or to one of the other powers of 2^(1/each). Periods and numbers of frequencies are
// rounded so: there are few of them, so that sums over data are computed rarely, and they depend on the kernel alone, so that
// no digit depends on the kernels asked for before.
func Ladder(x, each float64) float64 { return math.Exp2(math.Ceil(each*math.Log2(x)-1e-9) / each) }

// leastRung is the least number of frequencies for which sums are computed.
const leastRung = 16

// Rung returns the highest frequency of the sums that suit waves up to a frequency: at most √2 times as high.
func Rung(highest int) int { return int(math.Ceil(Ladder(float64(max(highest, leastRung)), 2))) }
