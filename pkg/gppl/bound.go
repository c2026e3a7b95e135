package gppl

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/ends"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"
)

// A transform that levels off hides a gradient from the optimiser: at a bound the derivative in the raw parameter vanishes,
// whatever the derivative in the parameter itself. The limits of a transform are found by evaluating it, whatever its type.
// Derivatives of the loss in the parameter itself decide whether a parameter close to a bound is held there or has its optimum
// there.

const (
	// besideBound is the share of the way between two bounds within which a value is close to one of them. For a positive
	// parameter the way is measured in its logarithm.
	besideBound = 0.05
	// leastCurvature is the second derivative, in nats per squared unit of log θ or per squared width of the range, above which
	// the data determine a parameter: a standard error of about 3.
	leastCurvature = 0.1
	// offOptimum is the distance to the optimum, in standard errors, from which the optimum counts as beyond the bound.
	offOptimum = 0.05
	// unfinished is how many nats a training that did not converge may still gain on the way to a bound.
	unfinished = 0.05
	// farther is the factor from its start beyond which few data can determine a parameter.
	farther = 1e8
)

// bound is a limit that a parameter is close to.
type bound struct {
	at       float64 // the limit; 0 or +Inf for the end of the float range
	upper    bool
	ended    bool    // the parameter went further from its start than most data can tell; there is no limit
	scale    float64 // factor on derivatives: θ for a parameter in its log
	distance float64 // distance to the limit, in units of scale
}

// boundOf returns the limit that theta is close to, if there is one.
func boundOf(p Param, t transform.Transform, theta float64) (b bound, close bool) {
	lo, hi := ends.Of(t.Natural)
	if !p.IsScale() {
		width := hi - lo
		if math.IsInf(width, 0) { // at most one limit: the unit is the way from it to the start
			limit := lo
			if math.IsInf(lo, 0) {
				limit = hi
			}
			width = max(math.Abs(p.Value-limit), 0.01*math.Abs(limit))
		}
		if math.IsInf(width, 0) || !(width > 0) {
			return b, false
		}
		b = nearer(theta, lo, hi, (theta-lo)/width, (hi-theta)/width)
		b.scale = width
		return b, b.distance < besideBound
	}
	lo = max(lo, 0)
	below, above := math.Log(theta/lo), math.Log(hi/theta)
	b = nearer(theta, lo, hi, below, above)
	b.scale = theta
	reach := besideBound
	if width := below + above; !math.IsInf(width, 0) {
		reach = besideBound * width
	} else if !b.upper {
		reach = math.Ln2 // up to twice a floor
	}
	if b.distance < min(reach, math.Ln2) {
		return b, true
	}
	if ratio := theta / p.Value; ratio < 1/farther || ratio > farther {
		return bound{upper: ratio > 1, ended: true, scale: theta}, true
	}
	return b, false
}

// nearer returns the nearer of two bounds; below and above are the distances to them.
func nearer(theta, lo, hi, below, above float64) bound {
	if above < below {
		return bound{at: hi, upper: true, distance: max(above, 0)}
	}
	return bound{at: lo, distance: max(below, 0)}
}

// pull holds the derivatives of the loss at a parameter close to a bound, in its log or in units of the range.
type pull struct {
	slope, curve float64
	known        bool // both derivatives are known, not the slope alone
}

// settled reports whether the optimum is here, and the data determine it.
func (f pull) settled() bool {
	return f.known && f.curve >= leastCurvature && math.Abs(f.slope) <= offOptimum*math.Sqrt(f.curve)
}

// steep reports whether the slope exceeds what rounding leaves at a minimum.
func (f pull) steep() bool {
	const flat = 0.01 // nats per unit
	return math.Abs(f.slope) > flat && !(f.known && f.curve > 0 && math.Abs(f.slope) <= offOptimum*math.Sqrt(f.curve))
}

// pullAt returns the derivatives of the loss in parameter i at theta. It takes three evaluations, whose places do not depend
// on the transform. ok is false if the loss has no derivatives there.
func (o *objective) pullAt(theta []float64, i int, b bound) (f pull, ok bool) {
	at, grad := append([]float64(nil), theta...), make([]float64, len(theta))
	slope := func(step float64) (float64, bool) {
		scale := b.scale
		if at[i] = theta[i] + step*b.scale; o.params[i].IsScale() {
			at[i] = theta[i] * math.Exp(step)
			scale = at[i]
		}
		o.checks++
		_, err := o.loss.ValueGrad(o.ctx, grad, at)
		return grad[i] * scale, err == nil && !math.IsNaN(grad[i])
	}
	above, one := slope(numeric.GradientStep)
	below, two := slope(-numeric.GradientStep)
	f.curve, f.known = (above-below)/(2*numeric.GradientStep), one && two
	f.slope, ok = slope(0)
	return f, ok
}

// bounded adds a warning for each parameter that is held at a bound. It returns why training did not move a parameter that the
// loss pulls away from a bound, or "".
func (o *objective) bounded(r *Result, win StartResult) (stuck string) {
	for _, i := range o.trained {
		if i >= len(r.Params) || r.Params[i].Negligible {
			continue
		}
		p := &r.Params[i]
		b, close := boundOf(o.params[i], o.through[i], p.Value)
		if !close {
			continue
		}
		if o.ctx.Err() != nil {
			p.AtBound = b.ended
			continue
		}
		f, known := o.pullAt(win.Theta, i, b)
		outward := f.slope < 0 == b.upper
		switch {
		case known && f.settled():
		case known && !b.ended && f.steep() && outward:
			if r.Status != Converged && r.Status != Stopped && math.Abs(f.slope)*b.distance > unfinished {
				continue // training was still moving it
			}
			p.AtBound = true
			r.warn("%s", b.warning(*p, o.through[i], o.unit(i), f))
		case known && !b.ended && f.steep():
			if r.Status != Converged {
				continue
			}
			p.AtBound = true
			stuck = fmt.Sprintf("%s did not leave %.6g, close to the %s bound %.6g of its transform (%v), which levels"+
				" off there, although"+
				" the loss falls away from it by %.2g nats per unit of %s: start further from the bound", p.Name, p.Value, b.side(), b.at,
				o.through[i], math.Abs(f.slope), o.unit(i))
			r.warn("%s", stuck)
		case known || b.ended:
			p.AtBound = true
			r.warn("%s was driven to %.3g, the end of its range: the data or the projections do not determine it", p.Name, p.Value)
		}
	}
	return stuck
}

// unit names the unit of derivatives in parameter i.
func (o *objective) unit(i int) string {
	if o.params[i].IsScale() {
		return "its logarithm"
	}
	return "its range"
}

func (b bound) side() string {
	if b.upper {
		return "upper"
	}
	return "lower"
}

// warning says that a parameter is held at the bound.
func (b bound) warning(p FittedParam, t transform.Transform, unit string, f pull) string {
	move := "decreasing"
	if b.upper {
		move = "increasing"
	}
	return fmt.Sprintf("the optimal value found for %s, %.6g, is close to the specified %s bound %.6g (transform"+
		" %v), towards which the"+
		" loss still falls, by %.2g nats per unit of %s: %s the bound and training again may find a better value", p.Name, p.Value,
		b.side(), b.at, t, math.Abs(f.slope), unit, move)
}
