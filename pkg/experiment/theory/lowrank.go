package theory

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// lowRank is the Gram matrix K = U·diag(λ)·Uᵀ of a smooth kernel without noise, with its r eigenvalues above rounding in
// descending order. For an SE kernel r is about 2.7 times the range divided by the lengthscale, for any n. Spectra then take
// n²r flops instead of 4n³/3.
type lowRank struct {
	root []float64  // √λ
	u    *mat.Dense // n×r
	rest float64    // tr(K − UΛUᵀ)
}

// newLowRank factorises K by pivoted Cholesky until the diagonal of the remainder is below 1e-14 of the variance. The singular
// values of the factor are √λ.
func newLowRank(k gppl.Kernel, x gppl.Inputs) (*lowRank, error) {
	n := x.Len()
	gram := mat.NewSymDense(n, nil)
	raw := gram.RawSymmetric()
	for i := range n {
		row := raw.Data[i*raw.Stride : (i+1)*raw.Stride]
		for j := i; j < n; j++ {
			row[j] = math.Abs(x.At(i)[0] - x.At(j)[0])
		}
		k.Cov(row[i:], row[i:])
		row[i] += capability.Nugget(k)
	}
	var pivoted mat.PivotedCholesky
	pivoted.Factorize(gram, 1e-14*gram.At(0, 0)) // returns false: the rank is deficient, as expected
	r := pivoted.Rank()
	upper, pivots := pivoted.RawU(), pivoted.ColumnPivots(nil)
	b := mat.NewDense(n, r, nil) // K = BBᵀ
	l := &lowRank{rest: mat.Trace(gram)}
	for c, row := range pivots {
		for j := range min(r, c+1) {
			b.Set(row, j, upper.At(j, c))
		}
	}
	var qr mat.QR
	qr.Factorize(b)
	var q, upperR mat.Dense
	qr.QTo(&q)
	qr.RTo(&upperR)
	var svd mat.SVD
	if !svd.Factorize(upperR.Slice(0, r, 0, r), mat.SVDThin) {
		return nil, fmt.Errorf("theory: the eigenvalues of the Gram matrix of %v did not converge", k)
	}
	var v mat.Dense
	svd.UTo(&v)
	l.root = svd.Values(nil)
	l.u = new(mat.Dense)
	l.u.Mul(q.Slice(0, n, 0, r), &v)
	for _, s := range l.root {
		l.rest -= s * s
	}
	return l, nil
}

// eigenvalues returns the r largest eigenvalues of K in descending order. The other n − r are 0 to rounding.
func (l *lowRank) eigenvalues() []float64 {
	return squared(l.root)
}

// top returns the design whose columns are the eigenvectors of the largest eigenvalues.
func (l *lowRank) top() gppl.Design { return columns{"Eigen", l.u, 0} }

// meanProjected returns tr(ΩᵀKΩ)/k.
func (l *lowRank) meanProjected(p *gppl.Projection) (float64, error) {
	c, err := l.projected(p)
	if err != nil {
		return 0, err
	}
	_, k := c.Dims()
	norm := mat.Norm(c, 2)
	return norm * norm / float64(k), nil
}

// projected returns C = Λ^½UᵀΩ, r×k.
func (l *lowRank) projected(p *gppl.Projection) (*mat.Dense, error) {
	omega, err := p.Omega(context.Background())
	if err != nil {
		return nil, err
	}
	var c mat.Dense
	c.Mul(l.u.T(), omega)
	for i, s := range l.root {
		floats.Scale(s, c.RawRowView(i))
	}
	return &c, nil
}

// conditional returns the factor X (r×r) of K − KΩ(ΩᵀKΩ + noise·I)⁻¹ΩᵀK =
// UXᵀXUᵀ. With C = Λ^½UᵀΩ it is Λ^½(I + CCᵀ/noise)⁻¹Λ^½ in the coordinates of U.
func (l *lowRank) conditional(p *gppl.Projection, noise float64) (*mat.Dense, error) {
	c, err := l.projected(p)
	if err != nil {
		return nil, err
	}
	r := len(l.root)
	inner := mat.NewSymDense(r, nil)
	inner.SymOuterK(1/noise, c)
	for i := range r {
		inner.SetSym(i, i, inner.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(inner) {
		return nil, fmt.Errorf("theory: I + CCᵀ/%g cannot be factorised", noise)
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var x mat.Dense
	err = x.Solve(&lower, mat.NewDiagDense(r, l.root))
	return &x, err
}

// conditionalTrace returns the trace of K − KΩ(ΩᵀKΩ + noise·I)⁻¹ΩᵀK.
func (l *lowRank) conditionalTrace(p *gppl.Projection, noise float64) (float64, error) {
	x, err := l.conditional(p, noise)
	if err != nil {
		return 0, err
	}
	norm := mat.Norm(x, 2)
	return norm * norm, nil
}

// conditionalEigenvalues returns the r largest eigenvalues of K − KΩ(ΩᵀKΩ + noise·I)⁻¹ΩᵀK in descending order. The other n − r
// are 0 to rounding.
func (l *lowRank) conditionalEigenvalues(p *gppl.Projection, noise float64) ([]float64, error) {
	x, err := l.conditional(p, noise)
	if err != nil {
		return nil, err
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDNone) {
		return nil, fmt.Errorf("theory: the singular values of the conditional covariance did not converge")
	}
	return squared(svd.Values(nil)), nil
}

func squared(v []float64) []float64 { return floats.MulTo(make([]float64, len(v)), v, v) }
