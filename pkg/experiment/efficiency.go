package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// Efficiency is the share of the information in the data about each parameter that a loss keeps: the variance of the best
// unbiased estimate divided by the variance of the loss's minimiser, both to first order at the truth. It is 1 if nothing is
// lost; for PL alone it is the squared ratio of the Cramér–Rao standard errors.
type Efficiency struct {
	Design   string
	Residual bool // whether the loss includes the residual energy
	K        int
	Kept     []float64 // for each parameter of the model; NaN if H is singular to rounding
}

// Efficiencies computes an [Efficiency] at the true parameters of a draw of SE with l = 5 for every design and k of the
// curves. It costs O(n³) once.
func Efficiencies(s scales.Scale) (es []Efficiency, params []gppl.Param, err error) {
	source := CurveSources(s)[0]
	source.Seed = 1
	sample, err := source.Load()
	if err != nil {
		return nil, nil, err
	}
	model := source.Truth()
	params = model.Params()
	info, err := fisher.New(context.Background(), model, sample.Train.X)
	if err != nil {
		return nil, nil, err
	}
	all, err := fisher.StdErrLog(info.Data(), params)
	if err != nil {
		return nil, nil, err
	}
	for _, design := range CurveDesigns {
		for _, residual := range []bool{false, true} {
			for _, k := range CurveOrders(s) {
				omega, err := gppl.NewProjection(context.Background(), Designs[design], sample.Train.X, k, 1)
				if err != nil {
					return nil, nil, fmt.Errorf("experiment: %w", err)
				}
				cov, err := godambe(info, omega, residual)
				var singular mat.Condition
				if err != nil && !errors.As(err, &singular) {
					return nil, nil, err
				}
				e := Efficiency{Design: design, Residual: residual, K: k}
				for i := range all {
					kept := math.NaN()
					if err == nil {
						kept = all[i] * all[i] / cov.At(i, i)
						if math.Abs(kept) < 1e-9 { // the variance is infinite but for rounding
							kept = 0
						}
					}
					e.Kept = append(e.Kept, kept)
				}
				es = append(es, e)
			}
		}
	}
	return es, params, nil
}

// godambe returns the covariance of the minimiser of PL, or of PL with the residual energy, to first order at the model of info,
// in the logs of the parameters: H⁻¹JH⁻ᵀ, where J is the covariance of the score and H its sensitivity (Godambe 1960).
// Unlike the inverse information, it is valid when the remainder is not white. The score of parameter a is ½(yᵀB_a y − tr
// B_a A) with
//
//	B_a = ΩM_aΩᵀ + c_a I,  M_a = S⁻¹∂_aS S⁻¹ − c_a I,  c_a = ∂_aτ/τ²,  τ = (tr A − tr S)/(n−k)
//
// so that H_ab = ½tr B_a∂_bA and J_ab = ½tr(B_aAB_bA) need only k×k matrices; without the residual c = 0. O(n²k + p²k³).
func godambe(info *fisher.Information, omega *gppl.Projection, residual bool) (*mat.Dense, error) {
	n, k := omega.Dims()
	a := info.Covariance()
	p := len(info.Params())
	directions, err := omega.Omega(context.Background())
	if err != nil {
		return nil, err
	}
	var ao, s, aa mat.Dense
	ao.Mul(a, directions)
	s.Mul(directions.T(), &ao)
	aa.Mul(ao.T(), &ao) // ΩᵀA²Ω
	var factor mat.Cholesky
	if !factor.Factorize(symmetric(&s)) {
		return nil, fmt.Errorf("experiment: the covariance of %d projections cannot be factorised", k)
	}
	tau := (mat.Trace(a) - mat.Trace(&s)) / float64(n-k)
	var square float64 // tr A²
	for _, v := range a.RawSymmetric().Data {
		square += v * v
	}
	m, ms, ds := make([]mat.Dense, p), make([]mat.Dense, p), make([]mat.Dense, p)
	c, whole := make([]float64, p), make([]float64, p)
	for i := range p {
		dot := info.Derivative(i)
		var do mat.Dense
		do.Mul(dot, directions)
		ds[i].Mul(directions.T(), &do)
		whole[i] = mat.Trace(dot)
		if residual {
			c[i] = (whole[i] - mat.Trace(&ds[i])) / float64(n-k) / (tau * tau)
		}
		var half mat.Dense
		if err := factor.SolveTo(&half, &ds[i]); err != nil {
			return nil, err
		}
		if err := factor.SolveTo(&m[i], half.T()); err != nil {
			return nil, err
		}
		for j := range k {
			m[i].Set(j, j, m[i].At(j, j)-c[i])
		}
		ms[i].Mul(&m[i], &s)
	}
	h, j := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil)
	for x := range p {
		for y := range p {
			h.Set(x, y, 0.5*(inner(&m[x], &ds[y])+c[x]*whole[y]))
			j.Set(x, y, 0.5*(inner(&ms[x], ms[y].T())+c[y]*inner(&m[x], &aa)+c[x]*inner(&m[y], &aa)+c[x]*c[y]*square))
		}
	}
	// H scaled by each parameter's own sensitivity is singular only if a combination of parameters is not identified.
	unit := make([]float64, p)
	for i := range unit {
		unit[i] = 1 / math.Sqrt(math.Abs(h.At(i, i)))
	}
	scale := func(m *mat.Dense) {
		m.Apply(func(x, y int, v float64) float64 { return v * unit[x] * unit[y] }, m)
	}
	scale(h)
	scale(j)
	var left, cov mat.Dense
	if err := left.Solve(h, j); err != nil {
		return nil, fmt.Errorf("experiment: the parameters are not identified: %w", err)
	}
	if err := cov.Solve(h, left.T()); err != nil {
		return nil, fmt.Errorf("experiment: the parameters are not identified: %w", err)
	}
	scale(&cov)
	return &cov, nil
}

// inner returns Σ a_ij·b_ij, which is tr ab for a symmetric b.
func inner(a, b mat.Matrix) (sum float64) {
	rows, cols := a.Dims()
	for i := range rows {
		for j := range cols {
			sum += a.At(i, j) * b.At(i, j)
		}
	}
	return sum
}

// symmetric returns the symmetric part of a.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, 0.5*(a.At(i, j)+a.At(j, i)))
		}
	}
	return s
}
