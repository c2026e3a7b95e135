package gppl

import (
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// A Param is one hyperparameter: its name, its natural value, the transform through which it is optimised, its unit (UnitX,
// UnitY2, or "" for a pure number), and its role in the kernel. Names are for people: no code reads them.
type Param struct {
	Name      string
	Value     float64
	Transform Transform
	Unit      string
	Role      Role
}

// A Role is the function of a parameter in its kernel or model. Start values, checks of
// gradients and warnings depend on it; the likelihood does not.
type Role int

const (
	// RoleUnknown is the zero value: the parameter starts at 1, and nothing is checked.
	RoleUnknown Role = iota
	// RoleVariance is a variance that scales the kernel: multiplying all variances of a kernel, other than a Product, by c
	// multiplies k by c, so that Σ ∂k/∂log v = k. Losses check gradients by this identity: if it does not hold, they reject every
	// gradient. For a Product it holds factor by factor.
	RoleVariance
	// RoleLengthscale is a distance over which the kernel falls, in the unit of x.
	RoleLengthscale
	// RolePeriod is a distance after which the kernel repeats, in the unit of x. Start values are taken from the periodogram.
	RolePeriod
	// RoleShape is a pure number of about 1 that shapes the kernel.
	RoleShape
	// RoleNoise is the variance of white noise, of a model or of White.
	RoleNoise
	// RoleInput is a coordinate of an inducing input.
	RoleInput
	// RoleLocation is a location on the axis of x, of any sign: its transform is Free.
	RoleLocation
	// RoleCoefficient is a factor of any sign, by which a channel sees a function or its derivative.
	RoleCoefficient
)

// String returns the role in lower case.
func (r Role) String() string {
	names := [...]string{"unknown", "variance", "lengthscale", "period", "shape", "noise", "input", "location", "coefficient"}
	if r < 0 || int(r) >= len(names) {
		return fmt.Sprintf("Role(%d)", int(r))
	}
	return names[r]
}

// A Transform maps an unconstrained raw value u, which the optimiser moves, to
// the natural value θ. A nil Transform stands for Log.
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

// Interval is θ = Lo + (Hi − Lo)/(1 + exp(−u)): between the two bounds, which may have any sign and are never crossed. Far
// below Hi it moves θ − Lo as Log does. A bound that is not below the other, or not finite, is an error of Model.Check, as is a
// value that does not lie between them. If the optimum lies beyond a bound, training ends there, and the result says so
// (FittedParam.AtBound).
type Interval struct{ Lo, Hi float64 }

func (b Interval) Natural(u float64) float64 {
	e := math.Exp(-math.Abs(u))
	share := (b.Hi - b.Lo) * (e / (1 + e)) // of the way from the bound that is nearer
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

// Cycles is the transform of a period that is short against the range Span of x: its cycles over the range are what the
// data determine, to a small part of one,
//
//	Span/θ = 1 + log(1 + exp(u/4)),
//
// so that a step of u moves a period by as many cycles wherever it is. The period is below Span. In its log, a step that suits
// the other parameters would be as wide as many maxima of the likelihood.
type Cycles struct{ Span float64 }

// cyclesUnit is the cycles over the range that a raw unit is: a maximum of the likelihood is about one wide.
const cyclesUnit = 0.25

func (c Cycles) Natural(u float64) float64 { return c.Span / (1 + Softplus{}.Natural(cyclesUnit*u)) }

func (c Cycles) Raw(theta float64) float64 { return Softplus{}.Raw(c.Span/theta-1) / cyclesUnit }

func (c Cycles) Slope(u float64) float64 {
	p := c.Natural(u)
	return -p * p / c.Span * cyclesUnit * Softplus{}.Slope(cyclesUnit*u)
}

func (c Cycles) String() string { return fmt.Sprintf("cycles over %.4g", c.Span) }

// Fixed keeps a parameter at its value: the optimiser does not see it.
type Fixed struct{}

func (Fixed) Natural(u float64) float64 { return u }
func (Fixed) Raw(theta float64) float64 { return theta }
func (Fixed) Slope(float64) float64     { return 0 }
func (Fixed) String() string            { return "fixed" }

// Free is θ = u, for parameters of any sign: locations on the axis of x. Fit moves these
// in units of the shortest lengthscale or period of the start.
type Free struct{}

func (Free) Natural(u float64) float64 { return u }
func (Free) Raw(theta float64) float64 { return theta }
func (Free) Slope(float64) float64     { return 1 }
func (Free) String() string            { return "free" }

// transformOf returns the transform of p, Log where none is given.
func transformOf(p Param) Transform {
	if p.Transform == nil {
		return Log{}
	}
	return p.Transform
}

// IsFixed reports whether the optimiser leaves p alone.
func (p Param) IsFixed() bool {
	_, fixed := p.Transform.(Fixed)
	return fixed
}

// IsScale reports whether p must be positive: every parameter but Free ones and, also when they are fixed, places on the axis of
// x and coefficients.
func (p Param) IsScale() bool {
	_, free := p.Transform.(Free)
	return !free && p.Role != RoleLocation && p.Role != RoleInput && p.Role != RoleCoefficient
}

// CheckParams returns an error that names the first parameter whose value in theta is
// not finite, or not positive where it must be. Losses check their arguments by it. It panics if the lengths differ.
func CheckParams(params []Param, theta []float64) error {
	if len(params) != len(theta) {
		panic(fmt.Sprintf("gppl: len(theta) = %d, want %d parameters", len(theta), len(params)))
	}
	for i, p := range params {
		v := theta[i]
		if !numeric.IsFinite(v) {
			return fmt.Errorf("gppl: parameter %q (index %d) = %v is not finite", p.Name, i, v)
		}
		if p.IsScale() && v <= 0 {
			return fmt.Errorf("gppl: parameter %q (index %d) = %v is not positive", p.Name, i, v)
		}
	}
	return nil
}

// checkEvaluation is CheckParams for a loss, whose gradient, unless it is nil, has an entry for each parameter.
func checkEvaluation(params []Param, grad, theta []float64) error {
	if grad != nil && len(grad) != len(params) {
		panic(fmt.Sprintf("gppl: len(grad) = %d, want %d parameters", len(grad), len(params)))
	}
	return CheckParams(params, theta)
}

// Values returns the natural values of params: where a loss whose Params they are starts from.
func Values(params []Param) []float64 {
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	return theta
}

// Units is θ = unit·u, the transform of a parameter of any sign as training moves it.
type Units float64

func (s Units) Natural(u float64) float64 { return float64(s) * u }
func (s Units) Raw(theta float64) float64 { return theta / float64(s) }
func (s Units) Slope(float64) float64     { return float64(s) }
func (s Units) String() string            { return fmt.Sprintf("in units of %.3g", float64(s)) }

// RawTransforms returns the transforms between natural values and the raw ones that Fit moves: those of the parameters, but for
// places on the axis of x (change points, inducing inputs), which are counted in the shortest lengthscale or period that the
// parameters have. A step of one is then as large for them as it is for a logarithm, and a change of the unit of x changes
// nothing: neither the path of the optimiser nor where its gradient is small.
func RawTransforms(params []Param) []Transform {
	shortest := math.Inf(1)
	for _, p := range params {
		if p.Unit == UnitX && p.IsScale() && p.Value > 0 {
			shortest = min(shortest, p.Value)
		}
	}
	all := make([]Transform, len(params))
	for i, p := range params {
		if all[i] = transformOf(p); all[i] == (Free{}) && p.Unit == UnitX && !math.IsInf(shortest, 1) {
			all[i] = Units(shortest)
		}
	}
	return all
}

func namesOf(params []Param) string {
	var names []string
	for _, p := range params {
		if p.Role != RoleInput {
			names = append(names, fmt.Sprintf("%q", p.Name))
		}
	}
	return strings.Join(names, ", ")
}
