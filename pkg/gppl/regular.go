package gppl

import "math"

// regular is a series on a constant step: t_i = t_0 + place[i]·step, but for
// rounding, with places that are missing.
type regular struct {
	step    float64
	n       int     // places, the missing ones among them
	place   []int   // of each observation, in ascending order
	missing []int   // places without an observation
	off     float64 // the largest distance between an input and its place
}

const (
	// missingShare is the share of the places that may be missing: what they cost
	// grows with their number times n.
	missingShare = 0.1
	// offGrid is how far from its place an input may be, relative to the step, for
	// the series to be called regular at all. What it costs in nats is another
	// question, which depends on the kernel.
	offGrid = 0.02
)

// regularOf finds the step of an ascending series; ok is false if it has none, or
// if two inputs coincide.
func regularOf(t []float64) (g regular, ok bool) {
	if len(t) < 2 {
		return g, false
	}
	g.step = math.Inf(1)
	for i := 1; i < len(t); i++ {
		g.step = min(g.step, t[i]-t[i-1])
	}
	span := t[len(t)-1] - t[0]
	places := math.Round(span / g.step)
	if !(g.step > 0) || places > (1+missingShare)*float64(len(t)) {
		return g, false
	}
	// The smallest gap suffers most from rounding: the whole range knows better.
	g.step = span / places
	g.n = int(places) + 1
	next := 0
	for _, ti := range t {
		p := math.Round((ti - t[0]) / g.step)
		g.off = max(g.off, math.Abs(ti-t[0]-p*g.step))
		if int(p) < next || g.off > offGrid*g.step {
			return g, false
		}
		for ; next < int(p); next++ {
			g.missing = append(g.missing, next)
		}
		g.place = append(g.place, next)
		next++
	}
	return g, true
}
