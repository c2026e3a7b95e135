package sums

import "github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"

// OneValue reports whether one observation has nearly all of Σy². One value has the same power at all frequencies; the power of
// white noise has a standard deviation as large as its mean, and a signal's a larger one. With the share q of Σy² in one value
// the squared ratio of standard deviation to mean is (1 − q)(1 + q): ¼ at q = 0.87. It is false for fewer than about sixty
// observations. It takes O(M), M the number of frequencies of s.
func (s *Sums) OneValue() bool {
	lo, hi := s.Extent()
	h := s.header
	return periodogram.NewCircle(s.Moments(), s.Values(), (lo-h.Origin)/h.Period, (hi-h.Origin)/h.Period).OneValue(h.Highest)
}
