package forecast

import (
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// factor is the factorised covariance A = K + HBHᵀ + σ²I of the latest observations. HBHᵀ is the covariance of the trend, if there is
// one.
type factor struct {
	model gppl.Model
	from  int // the first observation in it
	x, z  []float64
	chol  mat.Cholesky
	alpha *mat.VecDense // A⁻¹z
}

// factorise returns the factor of the latest observations, at most most; it keeps the last one.
func (a *Analysis) factorise(most int) (*factor, error) {
	same := func(f *factor) bool { return len(f.x) == min(most, len(a.Series.X)) }
	return a.factor.get(same, func() (*factor, error) {
		data, err := a.standardised()
		if err != nil {
			return nil, fmt.Errorf("forecast: %w", err)
		}
		return a.newFactor(a.Result.Model, data, most)
	})
}

// newFactor returns the factor of a model and the latest of all observations, at most most.
func (a *Analysis) newFactor(m gppl.Model, data gppl.Data, most int) (*factor, error) {
	f := &factor{model: m, from: max(0, data.Len()-most), x: a.Series.X, z: data.Y}
	f.x, f.z = f.x[f.from:], f.z[f.from:]
	n := len(f.x)
	gram := mat.NewSymDense(n, nil)
	row := make([]float64, n)
	for i := range n {
		r := row[:n-i]
		gppl.Covariance(r, m.Kernel, gppl.Scalars(f.x[i:i+1]), gppl.Scalars(f.x[i:]))
		noise := m.Noise + gppl.Nugget(m.Kernel)
		if data.Relative != nil {
			noise *= data.Relative[f.from+i] * data.Relative[f.from+i]
		}
		r[0] += noise
		if data.Errors != nil {
			r[0] += data.Errors[f.from+i] * data.Errors[f.from+i]
		}
		for j, v := range r {
			gram.SetSym(i, i+j, v)
		}
	}
	trend, err := a.trendBasis(m, f.x)
	if err != nil {
		return nil, err
	}
	if trend != nil {
		gram.SymRankK(gram, 1, trend)
	}
	if !f.chol.Factorize(gram) {
		return nil, errors.New("forecast: the covariance of the observations is singular to working precision: " +
			"the learnt noise is too small")
	}
	f.alpha = mat.NewVecDense(n, nil)
	return f, f.solve(f.alpha, mat.NewVecDense(n, f.z))
}

// innovations returns L⁻¹z, A = LLᵀ.
func (f *factor) innovations() ([]float64, error) { return f.whiten(f.z) }

// whiten returns L⁻¹v.
func (f *factor) whiten(v []float64) ([]float64, error) {
	var e mat.VecDense
	err := sound(e.SolveVec(f.chol.RawU().T(), mat.NewVecDense(len(v), v)))
	return e.RawVector().Data, err
}

// rows returns V = U⁻¹, where A = UᵀU: the products of its rows are A⁻¹. It takes n³/3 flops, on two processors.
func (f *factor) rows() blas64.Triangular {
	v := mat.NewTriDense(len(f.x), mat.Upper, nil)
	v.Copy(f.chol.RawU())
	invertUpper(v.RawTriangular())
	return v.RawTriangular()
}

// invertUpper replaces a triangle, without zeros on its diagonal, by its inverse:
//
//	⎛A  C⎞⁻¹   ⎛A⁻¹  −A⁻¹CB⁻¹⎞
//	⎝   B⎠   = ⎝      B⁻¹    ⎠
func invertUpper(v blas64.Triangular) {
	const small = 64
	if v.N <= small {
		lapack64.Trtri(v)
		return
	}
	n, m := v.N/2, v.N-v.N/2
	a, b := v, v
	a.N = n
	b.N, b.Data = m, v.Data[n*v.Stride+n:]
	part := func(row, col, rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: v.Stride, Data: v.Data[row*v.Stride+n+col:]}
	}
	beside := func(one, other func()) {
		var wait sync.WaitGroup
		wait.Go(other)
		one()
		wait.Wait()
	}
	beside(func() { invertUpper(a) }, func() { invertUpper(b) })
	left := func(c blas64.General) func() { return func() { blas64.Trmm(blas.Left, blas.NoTrans, -1, a, c) } }
	beside(left(part(0, 0, n, m/2)), left(part(0, m/2, n, m-m/2)))
	right := func(c blas64.General) func() { return func() { blas64.Trmm(blas.Right, blas.NoTrans, 1, b, c) } }
	beside(right(part(0, 0, n/2, m)), right(part(n/2, 0, n-n/2, m)))
}

// solve is A⁻¹ of a column.
func (f *factor) solve(to, column *mat.VecDense) error { return sound(f.chol.SolveVecTo(to, column)) }

// sound returns an error of gonum but that of a large condition number, beside which there is a solution.
func sound(err error) error {
	if err == nil || errors.As(err, new(mat.Condition)) {
		return nil
	}
	return fmt.Errorf("forecast: %w", err)
}
