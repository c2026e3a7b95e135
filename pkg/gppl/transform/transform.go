// Package transform provides the maps between the raw values that training moves and the natural values of parameters.
package transform

import (
	"fmt"
	"math"
)

// A Transform maps an unconstrained raw value u, which the optimiser moves, to the natural value θ. A nil Transform of a
// gppl.Param means Log.
type Transform interface {
	// Natural returns θ(u).
	Natural(u float64) float64
	// Raw returns u(θ); it is ±Inf or NaN where θ is out of range.
	Raw(theta float64) float64
	// Slope returns dθ/du at u.
	Slope(u float64) float64
	fmt.Stringer
}

var (
	_ Transform = Log{}
	_ Transform = Softplus{}
	_ Transform = Interval{}
	_ Transform = Cycles{}
	_ Transform = Fixed{}
	_ Transform = Free{}
)

// Log is θ = exp(u), the transform of a positive scale: the default.
type Log struct{}

func (Log) Natural(u float64) float64 { return math.Exp(u) }
func (Log) Raw(theta float64) float64 { return math.Log(theta) }
func (Log) Slope(u float64) float64   { return math.Exp(u) }
func (Log) String() string            { return "log" }

// Softplus is θ = log(1 + exp(u)) + Floor: positive, linear for large u, never below Floor. The paper's code trains the noise
// through it, with a floor of 1e-6.
type Softplus struct{ Floor float64 }

func (s Softplus) Natural(u float64) float64 {
	// log(1+e^u) without overflow for large u or loss of digits for small u.
	return max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) + s.Floor
}

func (s Softplus) Raw(theta float64) float64 {
	t := theta - s.Floor
	// log(e^t − 1) = t + log(1 − e^−t)
	return t + math.Log(-math.Expm1(-t))
}

func (s Softplus) Slope(u float64) float64 {
	if u >= 0 {
		return 1 / (1 + math.Exp(-u))
	}
	e := math.Exp(u)
	return e / (1 + e)
}

func (s Softplus) String() string { return fmt.Sprintf("softplus+%g", s.Floor) }

// Interval is θ = Lo + (Hi − Lo)/(1 + exp(−u)): between the two bounds, which may have any sign and are never crossed. Far below
// Hi it moves θ − Lo as Log does. A bound that is not below the other, or not finite, is an error of gppl.Model.Check, as is a
// value that does not lie between them. If the optimum lies beyond a bound, training ends there, and the result says so
// (gppl.FittedParam.AtBound).
type Interval struct{ Lo, Hi float64 }

func (b Interval) Natural(u float64) float64 {
	e := math.Exp(-math.Abs(u))
	share := (b.Hi - b.Lo) * (e / (1 + e)) // share of the way from the nearer bound
	if u < 0 {
		return b.Lo + share
	}
	return b.Hi - share
}

func (b Interval) Raw(theta float64) float64 {
	if !(b.Lo < b.Hi) {
		return math.NaN()
	}
	return math.Log((theta - b.Lo) / (b.Hi - theta))
}

func (b Interval) Slope(u float64) float64 {
	e := math.Exp(-math.Abs(u))
	return (b.Hi - b.Lo) * (e / ((1 + e) * (1 + e)))
}

func (b Interval) String() string { return fmt.Sprintf("%g to %g", b.Lo, b.Hi) }

// Cycles is the transform of a period that is short compared with the range Span of x. The data determine its number of cycles
// over the range, to a small part of one:
//
//	Span/θ = 1 + log(1 + exp(u/4)),
//
// A step of u therefore moves a period by the same number of cycles everywhere. The period is below Span. In its log, a step
// that suits the other parameters would span many maxima of the likelihood.
type Cycles struct{ Span float64 }

// cyclesUnit is the number of cycles over the range per raw unit: a maximum of the likelihood is about one unit wide.
const cyclesUnit = 0.25

func (c Cycles) Natural(u float64) float64 { return c.Span / (1 + Softplus{}.Natural(cyclesUnit*u)) }

func (c Cycles) Raw(theta float64) float64 { return Softplus{}.Raw(c.Span/theta-1) / cyclesUnit }

func (c Cycles) Slope(u float64) float64 {
	p := c.Natural(u)
	return -p * p / c.Span * cyclesUnit * Softplus{}.Slope(cyclesUnit*u)
}

func (c Cycles) String() string { return fmt.Sprintf("cycles over %.4g", c.Span) }

// Fixed keeps a parameter at its value: the optimiser does not move it.
type Fixed struct{}

func (Fixed) Natural(u float64) float64 { return u }
func (Fixed) Raw(theta float64) float64 { return theta }
func (Fixed) Slope(float64) float64     { return 0 }
func (Fixed) String() string            { return "fixed" }

// Free is θ = u, for parameters of any sign: locations on the axis of x. gppl.Fit moves these
// in units of the shortest lengthscale or period of the start.
type Free struct{}

func (Free) Natural(u float64) float64 { return u }
func (Free) Raw(theta float64) float64 { return theta }
func (Free) Slope(float64) float64     { return 1 }
func (Free) String() string            { return "free" }

// Units is θ = unit·u, for a parameter of any sign in units of its own.
type Units float64

func (s Units) Natural(u float64) float64 { return float64(s) * u }
func (s Units) Raw(theta float64) float64 { return theta / float64(s) }
func (s Units) Slope(float64) float64     { return float64(s) }
func (s Units) String() string            { return fmt.Sprintf("in units of %.3g", float64(s)) }
