package gppl

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
)

// NewResidual returns the projected likelihood that keeps one statistic more:
// the energy r = |y − Ωz|² of what the projections leave of y, taken for white
// of the variance τ that the model gives it in the mean,
//
//	L  = PL + ½[(n−k)·log τ + r/τ + (n−k)·log 2π]
//	τ  = σ² + (n·k(0) − tr ΩᵀKΩ)/(n−k)
//	∂L = ∂PL + ½((n−k)/τ − r/τ²)∂τ
//
// so that it is, like the exact one, a likelihood of all of y: equal to it where
// the model's remainder is white, at k = n above all. The score is unbiased
// whatever the remainder is. A white remainder is what projections on the
// signal's whole spectrum leave (Spectral); with fewer L is a quasi-likelihood,
// whose curvature promises smaller standard errors than it has.
//
// It is PL's trace weight changed on the diagonal, at no cost beyond O(nk) once.
// The directions must be orthonormal: it is an error if they are Raw.
func NewResidual(m Model, d Data, p *Projection, opts ...Option) (*Projected, error) {
	start := time.Now()
	if !p.Orthonormal {
		return nil, fmt.Errorf("gppl: the residual energy needs orthonormal directions, and %s has none", p.Design)
	}
	l, err := NewProjected(m, d, p, opts...)
	if err != nil {
		return nil, err
	}
	n, k := p.Dims()
	if n > k {
		rest := l.directions.rest(d.Y, l.z)
		l.residual = &residual{dof: float64(n - k), n: float64(n), rest: rest, energy: blas64.Dot(vec(rest), vec(rest))}
	}
	l.report.Setup = time.Since(start)
	return l, nil
}

// residual is what the projections leave of y.
type residual struct {
	n, dof float64   // n and n−k
	rest   []float64 // y − Ωz
	energy float64   // r = |rest|²
}

// nll returns ½[(n−k)·log 2πτ + r/τ] and its derivative in τ.
func (r *residual) nll(tau float64) (value, slope float64) {
	return 0.5 * (r.dof*(math.Log(tau)+log2Pi) + r.energy/tau), 0.5 * (r.dof - r.energy/tau) / tau
}

// remainder returns τ at the parameters of the last call of project.
func (l *Projected) remainder() (float64, error) {
	var signal float64
	for _, t := range l.use {
		signal += l.residual.n * variance(t.kernel)
	}
	k := len(l.z)
	for i := range k {
		signal -= l.gram[i*(k+1)]
	}
	tau := l.noise + signal/l.residual.dof
	if !(tau > 0) {
		return 0, fmt.Errorf("gppl: the variance of what %d projections leave is %.4g by rounding (noise variance %.4g)", k, tau, l.noise)
	}
	return tau, nil
}

// addRemainder prepares grad and v so that ½(grad + ⟨v, ∂S₀⟩) includes
// slope·∂(n·k(0) − tr S₀)/(n−k).
func (l *Projected) addRemainder(grad []float64, slope float64) {
	r := l.residual
	c := 2 * slope / r.dof
	k := len(l.z)
	for i := range k {
		l.v[i*(k+1)] -= c
	}
	for _, t := range l.use {
		contractVariance(grad[t.offset:t.offset+len(t.kernel.Params())], t.kernel, r.n*c)
	}
}
