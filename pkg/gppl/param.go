package gppl

import (
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// A Param is one hyperparameter of a kernel or a model.
type Param struct {
	Name      string              // for people: no code reads it
	Value     float64             // the natural value
	Transform transform.Transform // through which the parameter is optimised; nil means transform.Log
	Unit      string              // UnitX, UnitY2, or "" for a pure number
	Role      Role                // its function in the kernel
}

// String returns the name, the value and its unit, if there is one.
func (p Param) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s = %.6g %s", p.Name, p.Value, p.Unit))
}

// A Role is the function of a parameter in its kernel or model. Start values, checks of
// gradients and warnings depend on it; the likelihood does not. go doc RoleUnknown lists all roles.
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
	// RoleCoefficient is a factor of any sign that multiplies a function or its derivative in a channel.
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

// transformOf returns the transform of p, Log where none is given.
func transformOf(p Param) transform.Transform {
	if p.Transform == nil {
		return transform.Log{}
	}
	return p.Transform
}

// IsFixed reports whether the optimiser leaves p alone.
func (p Param) IsFixed() bool {
	_, fixed := p.Transform.(transform.Fixed)
	return fixed
}

// IsScale reports whether p must be positive. All parameters must, except Free ones and, even when fixed, locations on the
// axis of x and coefficients.
func (p Param) IsScale() bool {
	_, free := p.Transform.(transform.Free)
	return !free && p.Role != RoleLocation && p.Role != RoleInput && p.Role != RoleCoefficient
}

// checkParams returns an error that names the first parameter whose value in theta is
// not finite, or not positive where it must be. Losses check their arguments by it. It panics if the lengths differ.
func checkParams(params []Param, theta []float64) error {
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

// checkEvaluation is checkParams for a loss, whose gradient, unless it is nil, has an entry for each parameter.
func checkEvaluation(params []Param, grad, theta []float64) error {
	if grad != nil && len(grad) != len(params) {
		panic(fmt.Sprintf("gppl: len(grad) = %d, want %d parameters", len(grad), len(params)))
	}
	return checkParams(params, theta)
}

// Values returns the natural values of params, from which a loss with these Params starts.
func Values(params []Param) []float64 {
	theta := make([]float64, len(params))
	for i, p := range params {
		theta[i] = p.Value
	}
	return theta
}

// RawTransforms returns the transforms between natural values and the raw ones that Fit moves. They are the parameters' own,
// except for locations on the axis of x (change points, inducing inputs), which are measured in the shortest lengthscale or
// period of the parameters. A step of one is then as large for them as for a logarithm, and a change of the unit of x changes
// neither the path of the optimiser nor the place where its gradient is small.
func RawTransforms(params []Param) []transform.Transform {
	shortest := math.Inf(1)
	for _, p := range params {
		if p.Unit == UnitX && p.IsScale() && p.Value > 0 {
			shortest = min(shortest, p.Value)
		}
	}
	all := make([]transform.Transform, len(params))
	for i, p := range params {
		if all[i] = transformOf(p); all[i] == (transform.Free{}) && p.Unit == UnitX && !math.IsInf(shortest, 1) {
			all[i] = transform.Units(shortest)
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
