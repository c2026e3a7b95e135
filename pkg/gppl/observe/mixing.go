package observe

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// mixing accelerates the iteration u ← F(u) by what its latest steps tell of F (Anderson 1965; Walker and Ni 2011): with the
// changes r = F(u) − u, and ΔU and ΔR the differences of u and of r between steps,
//
//	u ← u + βr − (ΔU + βΔR)γ,  γ = argmin |W(r − ΔRγ)|.
//
// A mode that a step carries beyond the fixed point, and one that approaches it slowly, end alike within a few steps.
type mixing struct {
	u, r   []float64   // the latest ones
	du, dr [][]float64 // differences, the latest first
}

// mostMixed is the number of differences that are kept. With two, Censored took the fewest rounds in searches over hours of solar
// power, more than half of which are 0; with four or eight it took some more, and without any over three times as many.
const mostMixed = 2

// next returns the next u for the change r, and keeps both. The weights W ≥ 0 put the entries on one scale.
func (m *mixing) next(u, r, weights []float64, share float64) []float64 {
	if m.u != nil {
		du, dr := make([]float64, len(u)), make([]float64, len(u))
		floats.SubTo(du, u, m.u)
		floats.SubTo(dr, r, m.r)
		m.du, m.dr = append([][]float64{du}, m.du...), append([][]float64{dr}, m.dr...)
		m.du, m.dr = m.du[:min(mostMixed, len(m.du))], m.dr[:min(mostMixed, len(m.dr))]
	}
	m.u, m.r = u, r
	next := make([]float64, len(u))
	floats.AddScaledTo(next, u, share, r)
	if len(m.dr) == 0 || len(u) < len(m.dr) {
		return next
	}
	changes, want := mat.NewDense(len(u), len(m.dr), nil), mat.NewVecDense(len(u), nil)
	for i, w := range weights {
		want.SetVec(i, w*r[i])
		for k, dr := range m.dr {
			changes.Set(i, k, w*dr[i])
		}
	}
	var by mat.VecDense
	if err := by.SolveVec(changes, want); err != nil { // differences that hardly differ
		return next
	}
	for k := range m.dr {
		if g := by.AtVec(k); !math.IsNaN(g) {
			floats.AddScaled(next, -g, m.du[k])
			floats.AddScaled(next, -g*share, m.dr[k])
		}
	}
	return next
}
