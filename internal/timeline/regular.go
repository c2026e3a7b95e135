package timeline

import "math"

// Regular is a series on a constant step: t_i = t_0 + Place[i]·Step, but for rounding, with places that are missing.
type Regular struct {
	Step    float64
	N       int     // places, the missing ones among them
	Place   []int   // of each observation, in ascending order
	Missing []int   // places without an observation
	Off     float64 // the largest distance between an input and its place
}

const (
	// missingShare is the share of the places that may be missing: what they cost grows with their number times n.
	missingShare = 0.1
	// offGrid is how far from its place an input may be, relative to the step, for the series to be called regular at all. What it
	// costs in nats is another question, which depends on the kernel.
	offGrid = 0.02
)

// RegularOf finds the step of an ascending series; ok is false if it has none, or if two inputs coincide.
func RegularOf(t []float64) (g Regular, ok bool) {
	if len(t) < 2 {
		return g, false
	}
	g.Step = math.Inf(1)
	for i := 1; i < len(t); i++ {
		g.Step = min(g.Step, t[i]-t[i-1])
	}
	span := t[len(t)-1] - t[0]
	places := math.Round(span / g.Step)
	if !(g.Step > 0) || places > (1+missingShare)*float64(len(t)) {
		return g, false
	}
	// The smallest gap suffers most from rounding: the whole range knows better.
	g.Step = span / places
	g.N = int(places) + 1
	next := 0
	for _, ti := range t {
		p := math.Round((ti - t[0]) / g.Step)
		g.Off = max(g.Off, math.Abs(ti-t[0]-p*g.Step))
		if int(p) < next || g.Off > offGrid*g.Step {
			return g, false
		}
		for ; next < int(p); next++ {
			g.Missing = append(g.Missing, next)
		}
		g.Place = append(g.Place, next)
		next++
	}
	return g, true
}
