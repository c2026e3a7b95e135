package gppl

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// metric maps z, about in standard errors, to raw parameters: u = u₀ + Mz with MMᵀ = H⁻¹, H the information of Settings.Guide at the start.
// BFGS, which moves in z, then meets about the same curvature in every direction. A nil metric is z = u − u₀.
type metric struct {
	m *mat.Dense
	u []float64 // see point
}

// guideFloor is the least information, in nats per squared unit of a raw parameter, that is told from none.
const guideFloor = 1

// newMetric returns the metric of a guide at u, in the raw parameters of o, or nil if it has no information there.
func (o *objective) newMetric(guide Informed, u []float64) *metric {
	h := mat.NewSymDense(len(u), nil)
	o.information(h, u, guide.Information)
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		return nil
	}
	m := new(mat.Dense)
	e.VectorsTo(m)
	for j, lambda := range e.Values(nil) {
		scale := 1 / math.Sqrt(max(lambda, guideFloor))
		for i := range u {
			m.Set(i, j, scale*m.At(i, j))
		}
	}
	return &metric{m, make([]float64, len(u))}
}

// point returns u₀ + Mz, in working memory.
func (m *metric) point(u0, z []float64) []float64 {
	if m == nil {
		return z
	}
	mat.NewVecDense(len(z), m.u).MulVec(m.m, mat.NewVecDense(len(z), z))
	for i, v := range u0 {
		m.u[i] += v
	}
	return m.u
}

// slope sets grad to that in z, given that in u.
func (m *metric) slope(grad, inU []float64) {
	if m == nil {
		copy(grad, inU)
		return
	}
	mat.NewVecDense(len(grad), grad).MulVec(m.m.T(), mat.NewVecDense(len(inU), inU))
}
