package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Coordinates z of a point u = u₀ + Mz turn second derivatives of about H into the identity: MMᵀ = H⁻¹. nil coordinates are u
// itself.
type Coordinates struct {
	m     *mat.Dense
	u0, u []float64
}

// NewCoordinates returns the coordinates at u₀ for H, with eigenvalues raised to at least floor; nil if the eigenvalues do not
// converge.
func NewCoordinates(u0 []float64, h *mat.SymDense, floor float64) *Coordinates {
	var e mat.EigenSym
	if !e.Factorize(h, true) {
		return nil
	}
	m := new(mat.Dense)
	e.VectorsTo(m)
	for j, lambda := range e.Values(nil) {
		scale := 1 / math.Sqrt(max(lambda, floor))
		for i := range u0 {
			m.Set(i, j, scale*m.At(i, j))
		}
	}
	return &Coordinates{m, u0, make([]float64, len(u0))}
}

// From replaces u₀ by another point, which is kept.
func (c *Coordinates) From(u0 []float64) { c.u0 = u0 }

// Point returns u₀ + Mz, in working memory.
func (c *Coordinates) Point(z []float64) []float64 {
	if c == nil {
		return z
	}
	mat.NewVecDense(len(z), c.u).MulVec(c.m, mat.NewVecDense(len(z), z))
	floats.Add(c.u, c.u0)
	return c.u
}

// Slope sets grad to the gradient in z, given the gradient in u.
func (c *Coordinates) Slope(grad, inU []float64) {
	if c == nil {
		copy(grad, inU)
		return
	}
	mat.NewVecDense(len(grad), grad).MulVec(c.m.T(), mat.NewVecDense(len(inU), inU))
}

// Balanced returns a direction in which all derivatives contribute equally to the slope, except those below a thousandth of
// the largest, and the slope.
func Balanced(grad []float64) (d []float64, slope float64) {
	var most float64
	for _, g := range grad {
		most = max(most, math.Abs(g))
	}
	least := most
	for _, g := range grad {
		least = min(least, max(math.Abs(g), 1e-3*most))
	}
	d = make([]float64, len(grad))
	for j, g := range grad {
		if most > 0 {
			d[j] = math.Copysign(least/max(math.Abs(g), least), g)
		}
		slope += d[j] * g
	}
	return d, slope
}
