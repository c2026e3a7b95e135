package gppl

import (
	"fmt"
	"math"
)

// inUnits is θ = unit·u: a parameter of any sign as training moves it.
type inUnits float64

func (s inUnits) Natural(u float64) float64 { return float64(s) * u }
func (s inUnits) Raw(theta float64) float64 { return theta / float64(s) }
func (s inUnits) Slope(float64) float64     { return float64(s) }
func (s inUnits) String() string            { return fmt.Sprintf("in units of %.3g", float64(s)) }

// rawTransforms returns the transforms between natural values and the raw ones that training
// moves: those of the parameters, but for places on the axis of x (change points, inducing
// inputs), which are counted in the shortest lengthscale or period that the parameters have. A
// step of one is then as large for them as it is for a logarithm, and a change of the unit of
// x changes nothing: neither the path of the optimiser nor where its gradient is small.
func rawTransforms(params []Param) []Transform {
	shortest := math.Inf(1)
	for _, p := range params {
		if p.Unit == UnitX && p.IsScale() && p.Value > 0 {
			shortest = min(shortest, p.Value)
		}
	}
	all := make([]Transform, len(params))
	for i, p := range params {
		if all[i] = transformOf(p); all[i] == (Free{}) && p.Unit == UnitX && !math.IsInf(shortest, 1) {
			all[i] = inUnits(shortest)
		}
	}
	return all
}
