package gppl

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// Informed is a loss that knows its Fisher information: PL, and PL with the residual.
type Informed interface {
	Loss
	// Information returns the Fisher information in the logs of all parameters at
	// the natural values theta.
	Information(theta []float64) (*mat.SymDense, error)
}

var _ Informed = (*Projected)(nil)

// FisherScoring returns a fresh method for Settings.Method: Newton's method with the
// Fisher information instead of the Hessian, u ← u − I⁻¹g, and a line search. The
// information is positive semi-definite everywhere, which the Hessian of a likelihood
// is not, and steps need no scale. An iteration also computes the information; for PL
// with p parameters that costs about p evaluations. L-BFGS, the default, takes about
// as many iterations and is therefore faster (TestFisherScoring prints them). The loss
// must be Informed.
func FisherScoring() optimize.Method { return &optimize.Newton{Linesearcher: &optimize.Backtracking{}} }

// hessian sets h to the Fisher information at u in raw parameters. If there is none, it
// sets a matrix that is not positive definite, for which gonum uses steepest descent.
func (o *objective) hessian(h *mat.SymDense, u []float64) {
	at := make([]float64, len(o.theta))
	copy(at, o.theta) // the parameters that are fixed
	slope := make([]float64, len(u))
	for j, i := range o.trained {
		t := o.through[i]
		at[i] = t.Natural(u[j])
		slope[j] = t.Slope(u[j]) / at[i] // ∂log θ/∂u
	}
	o.informed++
	information := o.loss.(Informed).Information
	if l, ok := o.loss.(*Projected); ok {
		information = func(theta []float64) (*mat.SymDense, error) { return l.InformationContext(o.ctx, theta) }
	}
	info, err := information(at)
	if err != nil {
		h.Zero()
		return
	}
	for a, i := range o.trained {
		for b := a; b < len(u); b++ {
			h.SetSym(a, b, info.At(i, o.trained[b])*slope[a]*slope[b])
		}
	}
}
