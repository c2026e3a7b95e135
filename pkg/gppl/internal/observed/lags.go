package observed

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Lags evaluates a kernel once for each distance between two observations. It serves times that lie on a grid up to rounding,
// and have far fewer distances than pairs: days without weekends, hours with gaps. The distance of a pair is R + e for a
// distance R of the grid, and to first order in e
//
//	k(R + e) = k(R) + e·k′(R),   Σ w·∂k(R + e) = (Σ w)·∂k(R) + (Σ w·e)·∂k′(R).
//
// The rest is below a rounding unless a period or lengthscale is less than a few hundredths of the step. Where all times are
// whole multiples of the step, e is 0.
type Lags struct {
	R              []float64 // the distances 0, u, 2u, … of a grid with step u; empty where a table does not pay
	line           *Line     // series with these times
	step           float64   // u; 0 if the times lie on no grid
	rounded        bool      // some e are not 0
	values, slopes []float64 // the kernel at R
	lanes          [parallel.Lanes]weights
	shifted        []float64 // distances shifted from R
}

// weights holds Σ w and Σ w·e of one lane, for each distance.
type weights struct{ sum, off []float64 }

// A Tabulated kernel depends on the distance alone.
type Tabulated interface {
	Cov(dst, r []float64)
	Slope(dst, r []float64) // returns 0 at 0
	Contract(grad, w, r []float64)
}

const (
	// fewer is the least ratio of pairs to distances at which a table pays: looking up a value is faster than computing it.
	fewer = 4
	// offLags is the largest distance of a time from its place, in steps: its square is below a rounding.
	offLags = 2e-9
)

// Reset sets the distances up to most, which occur in the given number of pairs of observations. It takes O(n) at the first
// call for a line.
func (g *Lags) Reset(l *Line, most float64, pairs int) {
	g.R = g.R[:0]
	if g.line != l {
		g.line = l
		g.step, g.rounded = stepOf(l.T)
	}
	if g.step == 0 || float64(pairs)*g.step < fewer*most {
		return
	}
	for m := range int(math.Round(most/g.step)) + 1 {
		g.R = append(g.R, float64(m)*g.step)
	}
	n := len(g.R)
	g.values, g.slopes, g.shifted = dense.Resize(g.values, n), dense.Resize(g.slopes, n), dense.Resize(g.shifted, n)
	for l := range g.lanes {
		g.lanes[l] = weights{dense.Resize(g.lanes[l].sum, n), dense.Resize(g.lanes[l].off, n)}
	}
}

// stepOf returns the step of a grid that contains all ascending times, 0 if there is none, and whether rounding shifts some of
// them.
func stepOf(t []float64) (step float64, rounded bool) {
	span := t[len(t)-1] - t[0]
	least := 1e-9 * span // least step: no band has as many distances
	for i := 1; i < len(t); i++ {
		for gap := t[i] - t[i-1]; gap > 1e-4*step; { // Euclid's greatest common divisor
			step, gap = gap, math.Abs(math.Remainder(step, gap))
			if step < least {
				return 0, false
			}
		}
	}
	if step == 0 {
		return 0, false
	}
	step = span / math.Round(span/step) // less rounded
	before := 0.
	for i, ti := range t {
		place := math.Round((ti - t[0]) / step)
		off := math.Abs(ti - t[0] - place*step)
		if off > offLags*step || i > 0 && place == before && ti != t[i-1] {
			return 0, false
		}
		rounded = rounded || off > 0
		before = place
	}
	return step, rounded
}

// Evaluate computes the values that Look returns.
func (g *Lags) Evaluate(k Tabulated) {
	k.Cov(g.values, g.R)
	if g.rounded {
		k.Slope(g.slopes, g.R)
	}
}

// Look sets dst to the covariances at the distances r, which may be dst.
func (g *Lags) Look(dst, r []float64) {
	each := 1 / g.step
	if !g.rounded {
		for i, d := range r {
			dst[i] = g.values[int(d*each+0.5)]
		}
		return
	}
	for i, d := range r {
		m := int(d*each + 0.5)
		dst[i] = g.values[m] + (d-g.R[m])*g.slopes[m]
	}
}

// Begin sets the sums of weights to zeros.
func (g *Lags) Begin() {
	for _, l := range g.lanes {
		clear(l.sum)
		clear(l.off)
	}
}

// Add adds the weights of pairs at the distances r to the sums of a lane.
func (g *Lags) Add(lane int, w, r []float64) {
	each, l := 1/g.step, g.lanes[lane]
	if !g.rounded {
		for i, d := range r {
			l.sum[int(d*each+0.5)] += w[i]
		}
		return
	}
	for i, d := range r {
		m := int(d*each + 0.5)
		l.sum[m] += w[i]
		l.off[m] += w[i] * (d - g.R[m])
	}
}

// Contract adds Σ w·∂k, over all pairs added, to the gradient. The derivatives ∂k′ are central differences.
func (g *Lags) Contract(grad []float64, k Tabulated) {
	of := g.lanes[0]
	for _, l := range g.lanes[1:] {
		dense.Add(of.sum, l.sum)
		dense.Add(of.off, l.off)
	}
	k.Contract(grad, of.sum, g.R)
	if !g.rounded {
		return
	}
	const part = 1e-3 // part of a step, within which a kernel distinguishable from noise changes little
	for _, h := range []float64{-part * g.step, part * g.step} {
		for m, r := range g.R {
			g.shifted[m] = max(0, r+h)
			of.sum[m] = of.off[m] / (2 * h)
		}
		of.sum[0] = 0
		k.Contract(grad, of.sum, g.shifted)
	}
}
