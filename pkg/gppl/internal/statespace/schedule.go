package statespace

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// A Schedule says when exposures begin and end. The state at an end has a number for each exposure open there: first for the
// one that ends, then for those that began before and end later. It is immutable.
type Schedule struct {
	origin       float64 // origin of starts, ends and the filter's inputs
	starts, ends []doubled.Float
	shares       []float64 // 1/δ; 0 for an exposure of length 0
	open         []int     // the exposures open at each end, one list after another, ascending
	at           []int     // start of each end's list in open, and finally its length
	slots        int
}

// NewSchedule returns the schedule of exposures of the given lengths, in the order of their ends. Starts, ends and the
// filter's inputs are relative to origin; the inputs of Posterior are absolute. It keeps starts and ends.
func NewSchedule(origin float64, starts, ends []doubled.Float, lengths []float64) *Schedule {
	n := len(ends)
	if len(starts) != n || len(lengths) != n {
		panic(fmt.Sprintf("statespace: %d starts, %d ends and %d lengths", len(starts), n, len(lengths)))
	}
	s := &Schedule{origin: origin, starts: starts, ends: ends, shares: make([]float64, n), at: []int{0}}
	order := make([]int, n) // exposures in the order of their starts
	for i := range order {
		order[i] = i
		if lengths[i] > 0 {
			s.shares[i] = 1 / lengths[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(starts[a].Sub(starts[b])) })
	var active []int
	for i := range n {
		for len(order) > 0 && before(starts[order[0]], ends[i]) {
			if j := order[0]; j > i {
				place, _ := slices.BinarySearch(active, j)
				active = slices.Insert(active, place, j)
			}
			order = order[1:]
		}
		if len(active) > 0 && active[0] == i {
			active = active[1:]
		}
		s.open = append(append(s.open, i), active...)
		s.at = append(s.at, len(s.open))
		s.slots = max(s.slots, 1+len(active))
	}
	return s
}

// Slots returns the largest number of exposures open at the same time.
func (s *Schedule) Slots() int { return max(1, s.slots) }

// openAt returns the exposures open at the end of exposure i, itself first; none if there is no such exposure.
func (s *Schedule) openAt(i int) []int {
	if i < 0 || i >= len(s.ends) {
		return nil
	}
	return s.open[s.at[i]:s.at[i+1]]
}

func sign(x doubled.Float) int {
	switch {
	case x.Hi < 0 || x.Hi == 0 && x.Lo < 0:
		return -1
	case x.Hi > 0 || x.Lo > 0:
		return 1
	}
	return 0
}

func before(a, b doubled.Float) bool { return sign(a.Sub(b)) < 0 }

// A stride is a step of an Exposed: consecutive spans of time, each with the same exposures open throughout.
type stride struct {
	spans []float64 // the first may be infinite
	slots []slot    // slots of the state at the end
	cuts  []doubled.Float
}

// slot is a number of the state at the end of a stride: the integral of f over an exposure so far, relative to the exposure's
// length.
type slot struct {
	carry int     // place in the state at the beginning; −1 if it begins with 0
	from  int     // the first span that it includes; the number of spans if none
	share float64 // factor of the integral
	value bool    // f at the end, for an exposure of length 0
}

// set sets d to the step from one place to another, with the exposures open at the end of i. carried returns the place of slot
// p, of exposure j, in the state at the beginning.
func (d *stride) set(s *Schedule, i int, from, to doubled.Float, endless, arrives bool, carried func(p, j int) int) {
	open := s.openAt(i)
	d.cuts, d.spans = append(d.cuts[:0], from), d.spans[:0]
	for _, j := range open {
		at := s.starts[j]
		if (endless || before(from, at)) && before(at, to) {
			d.cuts = append(d.cuts, at)
		}
	}
	if len(d.cuts) > 2 {
		slices.SortFunc(d.cuts[1:], func(a, b doubled.Float) int { return sign(a.Sub(b)) })
		d.cuts = slices.CompactFunc(d.cuts, func(a, b doubled.Float) bool { return a == b })
	}
	for k := range d.cuts {
		end := to
		if k+1 < len(d.cuts) {
			end = d.cuts[k+1]
		}
		d.spans = append(d.spans, max(0, end.Sub(d.cuts[k]).Hi))
	}
	if endless {
		d.spans[0] = infinity
	}
	d.slots = d.slots[:0]
	for range s.Slots() {
		d.slots = append(d.slots, slot{-1, len(d.spans), 0, false})
	}
	for p, j := range open {
		k := &d.slots[p]
		k.share, k.carry = s.shares[j], carried(p, j)
		k.value = p == 0 && arrives && k.share == 0
		switch at := s.starts[j]; {
		case k.share == 0 || !before(at, to):
		case !endless && !before(from, at):
			k.from = 0
		default:
			k.from = 1 + slices.Index(d.cuts[1:], at)
		}
	}
}

// into sets d to the step from the previous end to the end of exposure i.
func (d *stride) into(s *Schedule, i int) { d.until(s, i, s.ends[i], true) }

// until sets d to the step from the end before exposure i's to a place no later than exposure i's end.
func (d *stride) until(s *Schedule, i int, at doubled.Float, arrives bool) {
	var from doubled.Float
	if i > 0 {
		from = s.ends[i-1]
	}
	previous, next := s.openAt(i-1), 0
	d.set(s, i, from, at, i == 0, arrives, func(_, j int) int {
		for next < len(previous) && previous[next] < j {
			next++
		}
		if next < len(previous) && previous[next] == j {
			return next
		}
		return -1
	})
}

// onward sets d to the step from a place to the end of exposure i.
func (d *stride) onward(s *Schedule, i int, at doubled.Float) {
	d.set(s, i, at, s.ends[i], false, true, func(p, j int) int {
		if s.shares[j] > 0 && before(s.starts[j], at) {
			return p
		}
		return -1
	})
}

var infinity = math.Inf(1)
