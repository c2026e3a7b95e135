package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Information returns the Fisher information of the projections at the natural
// values theta, p×p in the logs of the parameters, noise last,
//
//	I_Z[a][b] = ½tr(S⁻¹∂_aS·S⁻¹∂_bS),
//
// plus, for NewResidual, the information of the residual energy, modelled as white noise: ½(n−k)·∂_a log τ·∂_b log τ. With a mean
// it is the information of the restricted likelihood, which is smaller by the part that determines the coefficients.
//
// It uses the matrices ∂S of the engine that trains. It takes p products of k×k matrices and p times the cost of S, so its cost
// does not grow with n if training does not. It is an error if a parameter is out of range or S cannot be factorised.
// theta is not modified.
func (l *Projected) Information(ctx context.Context, theta []float64) (info *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	theta = l.rows.Positive(theta, len(l.params)-1)
	if err := checkParams(l.params, theta); err != nil {
		return nil, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	info, err = l.informationIn(c, theta)
	l.done(c)
	return info, err
}

func (l *Projected) informationIn(c *projectedCall, theta []float64) (*mat.SymDense, error) {
	if err := l.begin(c, theta); err != nil {
		return nil, err
	}
	err := l.covariance(c, true)
	l.note(c)
	if err != nil {
		return nil, err
	}
	if c.jitter > 0 { // jitter would count as known noise
		return nil, fmt.Errorf("gppl: the information of %d projections is lost in rounding: their covariance needed jitter of %.3g"+
			" (kernel %v, noise variance %.4g)", l.data.K, c.jitter, c.kernel, c.noise)
	}
	p, k := len(theta), l.data.K
	white := make([]blas64.General, p) // L⁻¹∂SL⁻ᵀ
	slope := make([]float64, p)        // ∂τ
	for a := range p {
		parallel.Look(c.ctx)
		white[a] = dense.New(k, k)
		slope[a] = l.derivative(white[a], c, a)
		c.L.Whiten(white[a])
	}
	if l.mean == nil {
		return c.Factor.Information(white, slope, nil), nil
	}
	mean, err := l.given(c)
	if err != nil {
		return nil, notFactorised(c.kernel, c.noise, err, "gppl: %v", err)
	}
	return c.Factor.Information(white, slope, mean), nil
}

// derivative sets s (k×k), which is 0, to ∂S/∂log θ_p of a call that has computed S with
// derivatives, and returns ∂τ/∂log θ_p; the noise is the last parameter.
func (l *Projected) derivative(s blas64.General, c *projectedCall, p int) (slope float64) {
	last := len(l.params) - 1
	noise := c.noiseSlope(p, last)
	if noise != 0 {
		c.AddNoise(s, noise)
	}
	part := make([]float64, len(s.Data))
	for _, t := range c.use {
		if p < t.offset || p >= t.end {
			continue
		}
		t.gram.derivative(part, p-t.offset)
		dense.Add(s.Data, part)
	}
	var prior float64
	if r := l.data.Residual; r != nil && p < last {
		grad := make([]float64, last)
		contractVariances(grad, c.kernel, l.conditioned.X, r.N, func(int) float64 { return 1 })
		prior = grad[p]
	}
	return c.RemainderSlope(s, noise, prior)
}

// noiseSlope returns the derivative of the noise variance, with the nugget, in log θ_p, the model's own being the last.
func (m *compiled) noiseSlope(p, last int) float64 {
	if p == last {
		return m.own
	}
	grad := make([]float64, last)
	contractNugget(grad, m.kernel, 1)
	return grad[p]
}
