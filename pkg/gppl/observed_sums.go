package gppl

import (
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// summed is data that an engine reads by sums. It does not change, but for the sums
// that it keeps.
type summed struct {
	observed
	n        int
	lo, span float64
	kept     keptSums
}

// refuses says why sums cannot represent the data: with known errors in addition to a
// learnt noise variance, the weights of the observations change with it.
func (d *summed) refuses() string {
	if l, ok := d.observed.(*line); ok && l.noise.known != nil {
		return "observations have errors of their own, and sums over the data would change with the noise variance"
	}
	return ""
}

// averaged returns the noise variance of all observations whose precisions add to those
// of the data, n/Σ(w/σ²): σ² without weights.
func (d *summed) averaged(noise float64) float64 { return noise * float64(d.n) / d.precision() }

func (d *summed) read(o observed) {
	d.observed, d.n = o, o.count()
	d.lo, d.span = o.extent()
	d.kept.data = o
}

// circleSums are sums over the data on one circle. They do not change.
type circleSums struct {
	origin, period float64
	windowed       bool            // for kernels that a window cuts, which die out within the period or not
	m              int             // frequencies that are computed
	moments        fourier.Moments // up to frequency 2m
	columns        blas64.General  // ΦᵀC: cos, sin by turns, up to m
}

// sameCircle tells sums that differ in their number alone.
func (c *circleSums) sameCircle(o *circleSums) bool {
	return c.origin == o.origin && c.period == o.period && c.windowed == o.windowed
}

// keptSums keeps the sums over the data that were asked for, to save time: those on
// the few circles that were begun last. It is safe for concurrent use.
type keptSums struct {
	data  observed
	mu    sync.Mutex // held while sums are computed
	known atomic.Pointer[[]*circleSums]
}

// keptCircles bounds how many circles are kept. Training takes one at a time, or
// two in turn; goroutines that are far from one another take one each.
const keptCircles = 4

// find returns what is known on a circle that suits, nil if there is none.
func (s *keptSums) find(suits func(c *circleSums) bool) *circleSums {
	if known := s.known.Load(); known != nil {
		for _, c := range *known {
			if suits(c) {
				return c
			}
		}
	}
	return nil
}

// begin is find where there must be one: if none suits, the one that is proposed
// is known from now on, with no sums yet.
func (s *keptSums) begin(suits func(c *circleSums) bool, proposed circleSums) *circleSums {
	if c := s.find(suits); c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(suits)
	if c == nil {
		c = new(circleSums)
		*c = proposed
		s.put(c)
	}
	return c
}

// grow returns the sums on a circle with frequencies up to m at least. If they have
// to be computed, they reach up to spare.
func (s *keptSums) grow(c *circleSums, m, spare int) (*circleSums, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.find(c.sameCircle); known != nil && known.m >= m {
		return known, nil
	}
	if fixed, ok := s.data.circle(); ok {
		if spare = fixed.highest; m > spare {
			return nil, &Refusal{Reason: reason{fixed.beyond, float64(m) / fixed.period}.String()}
		}
	}
	grown := *c
	grown.m = spare
	grown.moments, grown.columns = s.data.sums(c.origin, c.period, spare)
	s.put(&grown)
	return &grown, nil
}

// put stores c under the lock, replacing the sums on the same circle.
func (s *keptSums) put(c *circleSums) {
	known := []*circleSums{c}
	if old := s.known.Load(); old != nil {
		known = append(known, *old...)
	}
	known = slices.DeleteFunc(known, func(o *circleSums) bool { return o != c && o.sameCircle(c) })
	known = known[:min(len(known), keptCircles)]
	s.known.Store(&known)
}

// pass returns the time of a pass over the data at the given seconds per observation: 0
// if only their sums are known, since a chooser that counted it would prefer a slower
// engine.
func (d *summed) pass(each float64) (seconds float64) {
	if _, ok := d.circle(); ok {
		return 0
	}
	return float64(d.n) * each
}
