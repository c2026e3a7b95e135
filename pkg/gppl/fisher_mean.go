package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// A mean with flat coefficients leaves of y its contrasts Nᵀy, N being an orthonormal basis
// of what is orthogonal to the flat columns H: that is what the restricted likelihood
// sees. So the information of a model with a mean is that of contrasts, with NᵀAN and NᵀȦN
// in the place of A and Ȧ. What projections see is the contrasts of z, by N_z orthogonal
// to ΩᵀH; since (ΩN_z)ᵀH = 0 these are projections of the contrasts of y, by NᵀΩN_z, which is
// orthonormal if Ω is. All that holds of I_Y, I_Z and ΔI holds of them. Columns with
// a normal prior belong to the covariance, which they add HBHᵀ to.

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
		of := vec(mat.Col(nil, j, h))
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

// seen returns Ω, or that of the contrasts of p. It is an error if there are none.
func (i *Information) seen(p *Projection) (blas64.General, error) {
	i.check(p)
	omega := p.Omega().RawMatrix()
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
