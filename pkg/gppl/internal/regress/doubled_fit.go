package regress

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// GivenDoubled is Given for a G in double-double, which distinguishes coefficients whose information differs by 1e20. It sets
// g to the G of [y − Qγ̂, Q], in which nothing cancels: values, Fit.Value and Quad use this g, while Contrast, Root and
// Predict use the columns [y, Q].
func (r *Regression) GivenDoubled(g blas64.General, wide [][]doubled.Float) (*Conditioned, error) {
	if r == nil {
		g.Data[0] = wide[0][0].Hi
		return nil, nil
	}
	b := r.Basis
	h := b.Len()
	if len(wide) != 1+h || g.Rows != 1+h || g.Cols != 1+h {
		panic(fmt.Sprintf("regress: GivenDoubled: G is %d×%d and has room for %d×%d, want 1 + %d", len(wide), len(wide), g.Rows,
			g.Cols, h))
	}
	f := &Fit{basis: b, l: mat.NewTriDense(h, mat.Lower, nil), inv: mat.NewSymDense(h, nil), gamma: mat.NewVecDense(h, nil),
		v: mat.NewVecDense(1+h, nil)}
	l, right := newWide(h, h), make([]doubled.Float, h) // L by rows
	for i := range h {
		right[i] = wide[0][1+i]
		if !b.flat[i] {
			right[i] = right[i].Sub(doubled.Of(r.Gamma0[i]))
			f.prior += r.Gamma0[i] * r.Gamma0[i]
		}
		for j := range i + 1 {
			v := wide[1+i][1+j]
			if i == j && !b.flat[i] {
				v = v.Add(doubled.Of(1))
			}
			whole := v.Hi
			if v = v.Sub(doubled.Dot(l[i][:j], l[j])); i > j {
				l[i][j] = v.Div(l[j][j])
				continue
			}
			const rounding = 1e-27 // relative rounding of double-double, with a margin for sums
			if !(v.Hi > rounding*whole) || math.IsInf(whole, 1) {
				return nil, errIndefinite
			}
			l[i][i] = v.Sqrt()
		}
	}
	gamma, inverse := solveWide(l, right), newWide(h, h)
	for i := range h {
		unit := make([]doubled.Float, h)
		unit[i] = doubled.Of(1)
		inverse[i] = solveWide(l, unit)
	}
	f.v.SetVec(0, 1)
	v := make([]doubled.Float, 1+h)
	v[0] = doubled.Of(1)
	for i := range h {
		f.gamma.SetVec(i, gamma[i].Hi)
		f.v.SetVec(1+i, -gamma[i].Hi)
		v[1+i] = doubled.Of(-gamma[i].Hi)
		f.logDet += 2 * math.Log(l[i][i].Hi)
		for j := range i + 1 {
			f.l.SetTri(i, j, l[i][j].Hi)
			f.inv.SetSym(i, j, inverse[i][j].Hi)
		}
	}
	for i := range 1 + h {
		for j := range 1 + h {
			g.Data[i*g.Stride+j] = wide[i][j].Hi
		}
	}
	f.root = newWide(1+h, 1+h)
	for i := range 1 + h {
		f.root[i][0] = doubled.Of(1)
		if i == 0 {
			continue
		}
		f.root[i][0] = gamma[i-1].Neg()
		unit := make([]doubled.Float, h)
		unit[i-1] = doubled.Of(1)
		solveBack(l, unit)
		for a, x := range unit {
			f.root[1+a][i] = x
		}
	}
	var form doubled.Float
	for i := range 1 + h {
		x := doubled.Dot(wide[i], v)
		form = form.Add(x.Mul(v[i]))
		if i > 0 {
			g.Data[i], g.Data[i*g.Stride] = x.Hi, x.Hi
		}
	}
	g.Data[0] = form.Hi
	f.quad = form.Hi
	for i := range h {
		if !b.flat[i] {
			s := f.gamma.AtVec(i) + r.Gamma0[i]
			f.quad += s * s
		}
	}
	f.g = dense.Symmetric(g)
	return &Conditioned{r, f}, nil
}

// Determined returns tr M⁻¹QᵀA⁻¹Q, the number of coefficients that the data determine: one for each without a prior, and a
// part of one for each other.
func (f *Fit) Determined() (count float64) {
	for i, flat := range f.basis.flat {
		if count++; !flat {
			count -= f.inv.At(i, i)
		}
	}
	return count
}

// solveWide returns x with LLᵀx = b.
func solveWide(l [][]doubled.Float, b []doubled.Float) []doubled.Float {
	n := len(b)
	x := make([]doubled.Float, n)
	for i := range n {
		x[i] = b[i].Sub(doubled.Dot(l[i][:i], x)).Div(l[i][i])
	}
	solveBack(l, x)
	return x
}

// solveBack sets x to L⁻ᵀx.
func solveBack(l [][]doubled.Float, x []doubled.Float) {
	for i := len(x) - 1; i >= 0; i-- {
		for j := i + 1; j < len(x); j++ {
			x[i] = x[i].Sub(l[j][i].Mul(x[j]))
		}
		x[i] = x[i].Div(l[i][i])
	}
}

// RootDoubled returns the R of gradients (Fit.Root), by rows, after GivenDoubled.
func (c *Conditioned) RootDoubled() [][]doubled.Float {
	if c == nil {
		return [][]doubled.Float{{doubled.Of(1)}}
	}
	return c.Fit.root
}

// Determined is Fit.Determined, 0 for nil.
func (c *Conditioned) Determined() float64 {
	if c == nil {
		return 0
	}
	return c.Fit.Determined()
}

// PredictSharply is Predict with a variance, |L⁻¹r|², in which no large numbers cancel.
func (c *Conditioned) PredictSharply(q, means []float64) (mean, more float64) {
	if c == nil {
		return means[0], 0
	}
	mean, _ = c.Predict(q, means)
	r := dense.New(len(q), 1)
	for j, v := range q {
		r.Data[j] = v - means[1+j]
	}
	c.Fit.Whiten(r)
	for _, v := range r.Data {
		more += v * v
	}
	return mean, more
}
