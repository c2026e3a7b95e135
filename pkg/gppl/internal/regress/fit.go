package regress

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// A Fit is the regression at one A. It is immutable.
type Fit struct {
	basis  *Basis
	g      *mat.SymDense
	l      *mat.TriDense // L, LLᵀ = M = QᵀA⁻¹Q + P
	inv    *mat.SymDense // M⁻¹, h×h
	gamma  *mat.VecDense // M⁻¹QᵀA⁻¹y
	v      *mat.VecDense // [1, −γ]
	logDet float64
	quad   float64           // yᵀA⁻¹y minus the part that the mean explains
	prior  float64           // γ₀ᵀPγ₀
	root   [][]doubled.Float // R of GivenDoubled
}

const log2Pi = 1.8378770664093454835606594728112352797

// errIndefinite is the error where rounding has made QᵀA⁻¹Q indefinite.
var errIndefinite = errors.New("the covariance does not distinguish the columns of the basis: HᵀA⁻¹H is singular in float64")

// NewFit solves the regression from G = CᵀA⁻¹C, (1+h)×(1+h), C = [y − Qγ₀, Q]. It takes O(h³). γ₀ (Shift) is nil for an
// unshifted y; otherwise the results are for y − Qγ₀, whose coefficients have the prior N(−γ₀, 1) if any. The units of y and
// of the columns do not matter: powers of two are factored out of M before it is factorised.
func (b *Basis) NewFit(g *mat.SymDense, gamma0 []float64) (*Fit, error) {
	h := b.Len()
	if n := g.SymmetricDim(); n != 1+h {
		panic(fmt.Sprintf("regress: NewFit: G is %d×%d, want 1 + %d", n, n, h))
	}
	f := &Fit{basis: b, g: g}
	m := mat.NewSymDense(h, nil)
	right := mat.NewVecDense(h, nil)
	unit := make([]float64, h) // units of γ in which the diagonal of M is about 1
	for i := range h {
		d := g.At(1+i, 1+i)
		if !b.flat[i] {
			d++
		}
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, errIndefinite
		}
		unit[i] = math.Ldexp(1, -math.Ilogb(d)/2)
		for j := range i {
			m.SetSym(j, i, unit[i]*g.At(1+j, 1+i)*unit[j])
		}
		m.SetSym(i, i, unit[i]*d*unit[i])
		pulled := g.At(0, 1+i)
		if gamma0 != nil && !b.flat[i] {
			pulled -= gamma0[i]
			f.prior += gamma0[i] * gamma0[i]
		}
		right.SetVec(i, unit[i]*pulled)
	}
	size := mat.Norm(m, 1)
	upper, ok := lapack64.Potrf(m.RawSymmetric())
	if !ok {
		return nil, errIndefinite
	}
	f.gamma = mat.VecDenseCopyOf(right)
	lapack64.Potrs(upper, dense.AsColumn(f.gamma.RawVector().Data))
	f.quad = g.At(0, 0) + f.prior - mat.Dot(right, f.gamma)
	f.l = mat.NewTriDense(h, mat.Lower, nil)
	for i, u := range unit {
		f.gamma.SetVec(i, u*f.gamma.AtVec(i))
		f.logDet += 2 * math.Log(m.At(i, i)/u)
		for j := range i + 1 {
			f.l.SetTri(i, j, m.At(j, i)/u)
		}
	}
	if _, ok = lapack64.Potri(upper); !ok || !(size*mat.Norm(m, 1) <= mat.ConditionTolerance) { // m is the inverse
		return nil, errIndefinite
	}
	for i, u := range unit {
		for j := range i + 1 {
			m.SetSym(j, i, u*m.At(j, i)*unit[j])
		}
	}
	f.inv = m
	f.v = mat.NewVecDense(1+h, nil)
	f.v.SetVec(0, 1)
	for i := range h {
		f.v.SetVec(1+i, -f.gamma.AtVec(i))
	}
	return f, nil
}

// Value returns the mean's contribution to the negative log likelihood of y under N(0, A):
//
//	½log|M| − ½yᵀA⁻¹Q M⁻¹ QᵀA⁻¹y − (h_flat/2)·log 2π,  M = QᵀA⁻¹Q + P,
//
// P = 1 on the diagonal for columns with a Gaussian prior, 0 elsewhere. With flat columns alone the sum is the restricted
// likelihood, NLL(y − Hβ̂) + ½log|HᵀA⁻¹H| − ½log|HᵀH| − (h/2)·log 2π: the density of n − h orthonormal contrasts free of β.
// With Gaussian columns alone it is the likelihood under N(0, A + HBHᵀ).
func (f *Fit) Value() float64 {
	return 0.5*(f.logDet+f.quad-f.g.At(0, 0)) - 0.5*float64(f.basis.count)*log2Pi
}

// Quad returns yᵀA⁻¹y minus the part that the mean explains: (y − Hβ̂)ᵀA⁻¹(y − Hβ̂) + β̂ᵀB⁻¹β̂.
func (f *Fit) Quad() float64 { return f.quad }

// Beta returns β̂ = Tγ̂, the generalised least-squares estimate or, with Gaussian priors, the posterior mean.
func (f *Fit) Beta() []float64 {
	var b mat.VecDense
	b.MulVec(f.basis.T, f.gamma)
	return b.RawVector().Data
}

// Covariance returns the covariance of β given y, TM⁻¹Tᵀ: (HᵀA⁻¹H + B⁻¹)⁻¹.
func (f *Fit) Covariance() *mat.SymDense {
	h := f.basis.Len()
	var half, all mat.Dense
	half.Mul(f.basis.T, f.inv)
	all.Mul(&half, f.basis.T.T())
	c := mat.NewSymDense(h, nil)
	for i := range h {
		for j := i; j < h; j++ {
			c.SetSym(i, j, 0.5*(all.At(i, j)+all.At(j, i)))
		}
	}
	return c
}

// Contrast returns v = [1, −γ̂], the weights of C = [y, Q] whose sum is y − Hβ̂: then A⁻¹(y − Hβ̂) = (A⁻¹C)v.
func (f *Fit) Contrast() []float64 { return mat.VecDenseCopyOf(f.v).RawVector().Data }

// Predict returns the regression's contribution to a prediction at an input x* whose basis is q = h*T (Basis.Apply). c =
// k*ᵀA⁻¹C has 1+h entries; c[0] is the mean without regression:
//
//	mean = qᵀγ̂ + cᵀv,  more = rᵀM⁻¹r,  r = q − c[1:],
//
// so that the prediction is N(mean, k** − k*ᵀA⁻¹k* + more) (Rasmussen and Williams 2006, eq. 2.41 and 2.42).
func (f *Fit) Predict(q, c []float64) (mean, more float64) {
	if len(q) != f.basis.Len() || len(c) != 1+f.basis.Len() {
		panic(fmt.Sprintf("regress: Predict: len(q) = %d and len(c) = %d for %d columns", len(q), len(c), f.basis.Len()))
	}
	r := make([]float64, len(q))
	mean = c[0]
	for j, qj := range q {
		r[j] = qj - c[1+j]
		mean += r[j] * f.gamma.AtVec(j)
	}
	return mean, f.Form(r, r)
}

// Form returns rᵀM⁻¹s. For rows r and s of A⁻¹Q it is the amount that the regression subtracts from an entry of A⁻¹, for
// leave-one-out.
func (f *Fit) Form(r, s []float64) float64 {
	return mat.Inner(mat.NewVecDense(len(r), r), f.inv, mat.NewVecDense(len(s), s))
}

// StdErr returns the standard errors of β.
func (f *Fit) StdErr() []float64 {
	c := f.Covariance()
	errors := make([]float64, f.basis.Len())
	for j := range errors {
		errors[j] = math.Sqrt(c.At(j, j))
	}
	return errors
}

// Root sets r, (1+h)×(1+h) and row-major, to R = [v, [0; L⁻ᵀ]] where M = LLᵀ, with which the gradient of the whole value is
//
//	½tr(A⁻¹∂A) − ½⟨RRᵀ, CᵀA⁻¹ ∂A A⁻¹C⟩,  RRᵀ = vvᵀ + [0, 0; 0, M⁻¹],  v = [1, −γ̂].
func (f *Fit) Root(r []float64) {
	h := f.basis.Len()
	if len(r) != (1+h)*(1+h) {
		panic(fmt.Sprintf("regress: Root: len(r) = %d for %d columns", len(r), h))
	}
	clear(r)
	for i := range 1 + h {
		r[i*(1+h)] = f.v.AtVec(i)
	}
	part := blas64.General{Rows: h, Cols: h, Stride: 1 + h, Data: r[1+h+1:]}
	for i := range h {
		part.Data[i*part.Stride+i] = 1
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, f.l.RawTriangular(), part)
}

// Whiten replaces a, h×n, by L⁻¹a, M = LLᵀ: aᵀM⁻¹a is then its square.
func (f *Fit) Whiten(a blas64.General) {
	blas64.Trsm(blas.Left, blas.NoTrans, 1, f.l.RawTriangular(), a)
}
