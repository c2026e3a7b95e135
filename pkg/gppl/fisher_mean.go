package gppl

import (
	"fmt"
	"math"
	"strings"

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
	return dense.Product(blas.Trans, i.free, dense.Product(blas.NoTrans, a, i.free))
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
	root := math.Sqrt(max(1, dense.Trace(i.gram))) / i.factor.MinDiagonal()
	if f.dependent != nil {
		return q, fmt.Errorf("%w: the condition of Ω is %.2g", f.error(p.Design, q.Cols), f.cond)
	}
	if !(turned(f.rows, f.cond)*root <= unsound) {
		return q, fmt.Errorf("gppl: the information of %d projections is lost in rounding, with a noise variance of %.4g: %w", q.Cols, i.model.Noise, f.error(p.Design, q.Cols))
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
	projected := dense.Product(blas.Trans, omega, i.flat)
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
	return dense.Product(blas.Trans, i.free, dense.Product(blas.NoTrans, omega, free)), nil
}

// NotIdentified is the error of StdErrLog where the information matrix is
// singular: the data, or their projections, do not determine some combinations of the
// parameters.
type NotIdentified struct {
	Params []Param    // the parameters without a standard error
	Null   *mat.Dense // q×r: orthonormal directions in the logs of all q parameters about which there is no information
}

func (e *NotIdentified) Error() string {
	var names []string
	for _, p := range e.Params {
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	q, r := e.Null.Dims()
	return fmt.Sprintf("gppl: the information is singular in %d of %d directions: %s not identified", r, q, strings.Join(names, ", "))
}

// singular is a lower bound on the smallest eigenvalue of an information matrix, scaled
// to a unit diagonal: below it, rounding of about 1e-13 in the matrix leaves at most
// two correct digits.
const singular = 1e-11

// StdErrLog returns the Cramér–Rao bounds √(I⁻¹)_pp on the standard errors of
// the logs of the parameters, from their information matrix (q×q); the standard error
// of a parameter θ itself is about θ times as large. A parameter that is not identified
// gets +Inf, and the error is then a *NotIdentified that names it; the other values are
// still correct. Parameters are not identified if the matrix, scaled to a unit
// diagonal, has an eigenvalue below 1e-11, or if a diagonal entry of the unscaled
// matrix is below 1e-20 of the largest. It panics if len(params) is not q. A matrix
// with entries that are not finite is an error.
func StdErrLog(info mat.Symmetric, params []Param) ([]float64, error) {
	q := info.SymmetricDim()
	if len(params) != q {
		panic(fmt.Sprintf("gppl: StdErrLog: len(params) = %d, want %d", len(params), q))
	}
	var largest float64
	for a := range q {
		for b := range q {
			if v := info.At(a, b); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("gppl: the information about %q and %q is %v", params[a].Name, params[b].Name, v)
			}
		}
		largest = max(largest, info.At(a, a))
	}
	scale := make([]float64, q) // 1/√I_pp; 0 where nothing is known, which leaves a row and a column of zeros
	for a := range q {
		if d := info.At(a, a); d > 1e-20*largest {
			scale[a] = 1 / math.Sqrt(d)
		}
	}
	scaled := mat.NewSymDense(q, nil)
	for a := range q {
		for b := range a + 1 {
			scaled.SetSym(a, b, info.At(a, b)*scale[a]*scale[b])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) {
		return nil, fmt.Errorf("gppl: the eigenvalues of the information matrix did not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	se := make([]float64, q)
	var null []float64 // the directions as rows
	err := &NotIdentified{}
	lost := make([]bool, q)
	for c, value := range e.Values(nil) {
		for a := range q {
			v := vectors.At(a, c)
			if value > singular {
				se[a] += v * v * scale[a] * scale[a] / value
				continue
			}
			lost[a] = lost[a] || math.Abs(v) > 1e-6 // less is rounding
			if scale[a] > 0 {
				v *= scale[a]
			}
			null = append(null, v)
		}
	}
	for a, p := range params {
		se[a] = math.Sqrt(se[a])
		if lost[a] {
			se[a] = math.Inf(1)
			err.Params = append(err.Params, p)
		}
	}
	if null == nil {
		return se, nil
	}
	err.Null = mat.DenseCopyOf(mat.NewDense(len(null)/q, q, null).T())
	orthonormalise(err.Null.RawMatrix())
	return se, err
}
