package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// With a mean with flat coefficients, the restricted likelihood sees only the contrasts Nᵀy,
// where N is an orthonormal basis of the complement of the flat columns H. The information of
// a model with a mean is therefore that of the contrasts, with NᵀAN and NᵀȦN instead of A and
// Ȧ. Projections see the contrasts of z, by N_z orthogonal to ΩᵀH. Since (ΩN_z)ᵀH = 0, these
// are projections of the contrasts of y by NᵀΩN_z, which is orthonormal if Ω is. All
// properties of I_Y, I_Z and ΔI hold for them. Columns with a normal prior belong to the
// covariance, to which they add HBHᵀ.

// contrasts replaces gram and dot by those of the contrasts of y.
func (i *Information) contrasts() error {
	h, err := basisAt(i.model.Mean, i.x)
	if err != nil {
		return err
	}
	if err := CheckBasis(i.model.Mean, i.x); err != nil {
		return err
	}
	n := i.x.Len()
	var flat []int
	for j, column := range i.model.Mean.Columns() {
		if math.IsInf(column.Variance, 1) {
			flat = append(flat, j)
			continue
		}
		of := dense.Vec(mat.Col(nil, j, h))
		blas64.Ger(column.Variance, of, of, i.gram)
	}
	if len(flat) == 0 {
		return nil
	}
	if n <= len(flat) {
		return fmt.Errorf("gppl: %d observations and %d flat coefficients leave no contrasts to inform about", n, len(flat))
	}
	columns := mat.NewDense(n, len(flat), nil)
	for k, j := range flat {
		columns.SetCol(k, mat.Col(nil, j, h))
	}
	var qr mat.QR
	qr.Factorize(columns)
	var q mat.Dense
	qr.QTo(&q)
	i.flat = columns.RawMatrix()
	i.free = mat.DenseCopyOf(q.Slice(0, n, len(flat), n)).RawMatrix()
	i.gram = i.sandwich(i.gram)
	for p, dot := range i.dot {
		i.dot[p] = i.sandwich(dot)
	}
	return nil
}

// sandwich returns NᵀaN.
func (i *Information) sandwich(a blas64.General) blas64.General {
	return multiply(blas.Trans, i.free, multiply(blas.NoTrans, a, i.free))
}

// span returns an orthonormal basis of the span of Ω, on which alone all depends. In coordinates where A = I rounding
// turns the span by √(‖A‖/σ²) times as much as it turns the basis. It is an error if that is too much.
func (i *Information) span(p *Projection) (blas64.General, error) {
	i.check(p)
	omega := p.Omega().RawMatrix()
	if p.Orthonormal {
		return omega, nil
	}
	q, f := orthonormalBasis(omega)
	root := math.Sqrt(max(1, trace(i.gram))) / i.factor.MinDiagonal()
	if f.dependent != nil {
		return q, fmt.Errorf("gppl: the information of the %s projection of n = %d observations: columns %v (from 0) vanish or depend on those before them: the condition of Ω is %.2g",
			p.Design, q.Rows, f.dependent, f.cond)
	}
	if !(turned(f.rows, f.cond)*root <= unsound) {
		return q, fmt.Errorf("gppl: the information of %d projections is lost in rounding: the condition of Ω is %.2g, its first %d columns are sound (noise variance %.4g)",
			q.Cols, f.cond, f.leading, i.model.Noise)
	}
	return q, nil
}

// seen returns an orthonormal basis of what p sees, with a mean of the contrasts. It is an error if there
// are no contrasts, or if rounding decides the basis.
func (i *Information) seen(p *Projection) (blas64.General, error) {
	omega, err := i.span(p)
	if err != nil {
		return omega, err
	}
	if i.free.Rows == 0 {
		return omega, nil
	}
	// The left singular vectors of ΩᵀH that belong to no singular value.
	projected := multiply(blas.Trans, omega, i.flat)
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(projected.Rows, projected.Cols, projected.Data), mat.SVDFullU) {
		return omega, fmt.Errorf("gppl: the projected basis of the mean %v has no singular values", i.model.Mean)
	}
	const rounding = 1e-12
	values := svd.Values(nil)
	rank := 0
	for _, s := range values {
		if s > rounding*values[0] {
			rank++
		}
	}
	k := omega.Cols
	if rank == k {
		return omega, fmt.Errorf("gppl: %d projections and %d flat coefficients leave no contrasts to inform about", k, rank)
	}
	var u mat.Dense
	svd.UTo(&u)
	free := mat.DenseCopyOf(u.Slice(0, k, rank, k)).RawMatrix()
	return multiply(blas.Trans, i.free, multiply(blas.NoTrans, omega, free)), nil
}
