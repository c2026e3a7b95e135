package doubled

import (
	"fmt"
	"math"
)

// Lower is a lower triangle, row by row: Lower[i] has i+1 entries. It holds a
// symmetric matrix, or a triangular one.
type Lower [][]Float

// NewLower returns a triangle of n rows, all zero.
func NewLower(n int) Lower {
	all := make([]Float, n*(n+1)/2)
	l := make(Lower, n)
	for i := range l {
		l[i], all = all[:i+1:i+1], all[i+1:]
	}
	return l
}

// Cholesky replaces a symmetric matrix A by its factor L, A = LLᵀ, in n³/6
// multiply-adds. It is an error if a pivot is not positive.
func (l Lower) Cholesky() error {
	for i, row := range l {
		for j := range i {
			row[j] = row[j].Sub(Dot(row[:j], l[j])).Div(l[j][j])
		}
		pivot := row[i].Sub(Dot(row[:i], row))
		if !(pivot.Hi > 0) || math.IsInf(pivot.Hi, 1) {
			return fmt.Errorf("pivot %d of %d is %.3g", i, len(l), pivot.Hi)
		}
		row[i] = pivot.Sqrt()
	}
	return nil
}

// LogDet returns log|LLᵀ|.
func (l Lower) LogDet() (sum Float) {
	for i, row := range l {
		sum = sum.Add(Log(row[i]))
	}
	return sum.Scale(2)
}

// Solve returns x with Lx = b.
func (l Lower) Solve(b []Float) []Float {
	x := make([]Float, len(b))
	for i, row := range l {
		x[i] = b[i].Sub(Dot(row[:i], x)).Div(row[i])
	}
	return x
}

// Upper is the transpose of a lower triangle: Upper[j][k−j] is entry (k, j) of
// it, so that its columns are contiguous.
type Upper [][]Float

// Invert returns L⁻¹, by columns, in n³/6 multiply-adds.
func (l Lower) Invert() Upper {
	n := len(l)
	inv := make(Upper, n)
	for j := range inv {
		col := make([]Float, n-j)
		col[0] = Of(1).Div(l[j][j])
		for i := j + 1; i < n; i++ {
			col[i-j] = Dot(l[i][j:i], col).Div(l[i][i]).Neg()
		}
		inv[j] = col
	}
	return inv
}

// MulTrans returns L⁻ᵀx.
func (u Upper) MulTrans(x []Float) []Float {
	y := make([]Float, len(x))
	for j, col := range u {
		y[j] = Dot(col, x[j:])
	}
	return y
}

// Inverse returns entry (i, j), i ≥ j, of A⁻¹ = L⁻ᵀL⁻¹. All of them take n³/6
// multiply-adds.
func (u Upper) Inverse(i, j int) Float { return Dot(u[i], u[j][i-j:]) }
