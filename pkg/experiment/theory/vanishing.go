package theory

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Vanishing follows ΔI and its two terms as Σ = Cov(Y|Z) shrinks, and fits the powers of Σ with which they fall. The paper
// states a power of 2.
type Vanishing struct {
	Points []Shrunk // in descending order of Sigma
	Fitted int      // number of last points to which slopes are fitted
	Slopes []Slopes // one for each parameter
	Off    float64  // largest difference between the sum of the terms and I_Y − I_Z, divided by I_Y
}

// Shrunk holds ΔI and its terms at one size of Σ, for each parameter.
type Shrunk struct {
	K                       int     // number of projections; n for noisy observations of all of y
	Noise                   float64 // variance of the noise added to the observations, 0 if none
	Sigma                   float64 // tr Σ
	Quadratic, Cross, Total []float64
}

// Slopes are the derivatives of the logs of ΔI and its terms in log tr Σ: the powers of Σ with which they fall.
type Slopes struct{ Quadratic, Cross, Total float64 }

// toN lets k go to n with Sphere projections; the projections of a smaller k are the first columns of a larger k. Results are
// averaged over seeds. The last six points, to which slopes are fitted, have ten times as many seeds, because there the result
// depends on which direction is left out.
func (s study) toN(seeds int) (v Vanishing, err error) {
	const fitted = 6
	iy := s.info.Data()
	for _, missing := range []int{s.n - 1, s.n * 9 / 10, s.n * 3 / 4, s.n / 2, s.n / 3, s.n / 5, s.n / 10, s.n / 15, 6, 4, 3, 2, 1} {
		point := newShrunk(s.params())
		point.K = s.n - missing
		if last := len(v.Points) - 1; last >= 0 && v.Points[last].K >= point.K {
			continue // happens for small n
		}
		v.Points = append(v.Points, point)
	}
	for seed := range 10 * seeds {
		all, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, s.x, s.n, uint64(seed+1))
		if err != nil {
			return v, err
		}
		omega, err := all.Omega(context.Background())
		if err != nil {
			return v, err
		}
		for i := range v.Points {
			point, runs := &v.Points[i], seeds
			if i >= len(v.Points)-fitted {
				runs = 10 * seeds
			}
			if seed >= runs {
				continue
			}
			p, err := gppl.NewProjection(context.Background(), columns{"Sphere", omega, 0}, s.x, point.K, 0)
			if err != nil {
				return v, err
			}
			m, err := measure(s.info, p)
			if err != nil {
				return v, err
			}
			trace, _, err := s.info.ConditionalTrace(context.Background(), p)
			if err != nil {
				return v, err
			}
			share := 1 / float64(runs)
			point.Sigma += share * trace
			for a := range s.params() {
				point.Quadratic[a] += share * m.loss.Quadratic.At(a, a)
				point.Cross[a] += share * m.loss.Cross.At(a, a)
				v.Off = max(v.Off, math.Abs(m.loss.Total().At(a, a)+m.iz.At(a, a)-iy.At(a, a))/iy.At(a, a))
			}
		}
	}
	v.fit(fitted)
	return v, nil
}

// noisy observes all of y with added noise of variance τ², Z = Y + τE, and lets τ → 0. Then Σ = A − A(A+τ²I)⁻¹A
// shrinks in norm and not only in rank. The theorem's proof holds for any such Z. With B = A + τ²I the terms are
//
//	½tr((K̄Σ)²) = ½τ⁴tr((B⁻¹A⁻¹Ȧ)²),  tr(K̄ΣK̄(A−Σ)) = τ²tr(B⁻¹ȦB⁻¹A⁻¹Ȧ).
func (s study) noisy() (v Vanishing, err error) {
	a, iy := s.info.Covariance(), s.info.Data()
	for exponent := 4.0; exponent >= -6; exponent -= 0.5 {
		point := newShrunk(s.params())
		point.K, point.Noise = s.n, math.Pow(10, exponent)
		b := mat.NewSymDense(s.n, nil)
		b.CopySym(a)
		for i := range s.n {
			b.SetSym(i, i, b.At(i, i)+point.Noise)
		}
		var cholA, cholB mat.Cholesky
		if !cholA.Factorize(a) || !cholB.Factorize(b) {
			return v, fmt.Errorf("theory: the covariance of %d observations cannot be factorised", s.n)
		}
		var sigma mat.Dense // τ²B⁻¹A
		if err := cholB.SolveTo(&sigma, a); err != nil {
			return v, err
		}
		point.Sigma = point.Noise * mat.Trace(&sigma)
		for p := range s.params() {
			var g, h, bh, bg, square mat.Dense // B⁻¹Ȧ, A⁻¹Ȧ, B⁻¹A⁻¹Ȧ, B⁻¹(B⁻¹Ȧ)ᵀ
			dot := s.info.Derivative(p)
			err := errors.Join(cholB.SolveTo(&g, dot), cholA.SolveTo(&h, dot))
			if err := errors.Join(err, cholB.SolveTo(&bh, &h), cholB.SolveTo(&bg, g.T())); err != nil {
				return v, err
			}
			square.Mul(&bh, &bh)
			point.Quadratic[p] = 0.5 * point.Noise * point.Noise * mat.Trace(&square)
			square.Mul(&bg, &h)
			point.Cross[p] = point.Noise * mat.Trace(&square)
			square.Mul(&g, &g)
			iz := 0.5 * mat.Trace(&square)
			v.Off = max(v.Off, math.Abs(point.Quadratic[p]+point.Cross[p]+iz-iy.At(p, p))/iy.At(p, p))
		}
		v.Points = append(v.Points, point)
	}
	v.fit(7)
	return v, nil
}

func newShrunk(params int) Shrunk {
	return Shrunk{Quadratic: make([]float64, params), Cross: make([]float64, params), Total: make([]float64, params)}
}

// fit sets each Total to the sum of its two terms, and fits Slopes to the last count points.
func (v *Vanishing) fit(count int) {
	for _, p := range v.Points {
		floats.AddTo(p.Total, p.Quadratic, p.Cross)
	}
	v.Fitted = count
	last := v.Points[len(v.Points)-count:]
	slope := func(term func(Shrunk) float64) float64 {
		var sigma, delta []float64
		for _, p := range last {
			sigma, delta = append(sigma, math.Log(p.Sigma)), append(delta, math.Log(term(p)))
		}
		_, beta := stat.LinearRegression(sigma, delta, nil, false)
		return beta
	}
	for a := range last[0].Total {
		v.Slopes = append(v.Slopes, Slopes{
			Quadratic: slope(func(p Shrunk) float64 { return p.Quadratic[a] }),
			Cross:     slope(func(p Shrunk) float64 { return p.Cross[a] }),
			Total:     slope(func(p Shrunk) float64 { return p.Total[a] }),
		})
	}
}
