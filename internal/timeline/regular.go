package timeline

import "math"

// Regular is a series on a constant step: t_i = t_0 + Place[i]·Step, but for rounding, with places that are missing.
type Regular struct {
	Step    float64
	N       int     // number of places, with the missing ones
	Place   []int   // place of each observation, ascending
	Missing []int   // places without an observation
	Off     float64 // largest distance between an input and its place
}

const (
	// missingShare is the share of places that RegularOf lets be missing: their cost grows with their number times n.
	missingShare = 0.1
	// offGrid is the largest distance of an input from its place, relative to the step, for the series to be called regular at
	// all. What this distance costs in nats depends on the kernel.
	offGrid = 0.02
)

// RegularOf finds the step of an ascending series; ok is false if it has none, if a tenth of the places is missing, or if two
// inputs coincide.
func RegularOf(t []float64) (g Regular, ok bool) { return RegularWithin(t, missingShare, offGrid) }

// RegularWithin does as RegularOf with another share of missing places, relative to the observations, and another distance of an
// input from its place, relative to the step, up to 0.2.
func RegularWithin(t []float64, missing, off float64) (g Regular, ok bool) {
	if len(t) < 2 {
		return g, false
	}
	least := math.Inf(1)
	for i := 1; i < len(t); i++ {
		least = min(least, t[i]-t[i-1])
	}
	// The smallest gap suffers most from the distances of inputs from their places: gaps of one step know better, and the whole
	// range best.
	var sum, count float64
	for i := 1; i < len(t); i++ {
		if gap := t[i] - t[i-1]; gap < 1.5*least {
			sum, count = sum+gap, count+1
		}
	}
	span, places := t[len(t)-1]-t[0], 0.
	for i := 1; i < len(t); i++ {
		places += math.Round((t[i] - t[i-1]) * count / sum)
	}
	if !(least > 0) || !(places <= (1+missing)*float64(len(t))) {
		return g, false
	}
	g.Step = span / places
	g.N = int(places) + 1
	next := 0
	for _, ti := range t {
		p := math.Round((ti - t[0]) / g.Step)
		g.Off = max(g.Off, math.Abs(ti-t[0]-p*g.Step))
		if int(p) < next || g.Off > off*g.Step {
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
