package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// differentiator is a projected engine that can set s (k×k) to
// Ωᵀ(∂K/∂log θ_p)Ω, for the kernel that gram was called with, with derivatives.
// It may overwrite what contract needs, but nothing that it needs itself.
type differentiator interface {
	derivative(s []float64, k Kernel, p int)
}

var (
	_ differentiator = (*denseProjected)(nil)
	_ differentiator = (*spectralProjected)(nil)
	_ differentiator = (*stateSpaceProjected)(nil)
	_ differentiator = (*interpolated)(nil)
)

// derivativeAt sets dst[i] = ∂k(r[i])/∂log θ_p, one Contract each. grad has an
// entry per parameter.
func derivativeAt(dst, r []float64, k Kernel, p int, grad []float64) {
	one := [1]float64{1}
	for i := range r {
		clear(grad)
		k.Contract(grad, one[:], r[i:i+1])
		dst[i] = grad[p]
	}
}

// derivative is gram with ∂K in the place of K.
func (e *denseProjected) derivative(s []float64, kernel Kernel, p int) {
	size := len(kernel.Params())
	e.sandwich(s, func(r []float64) { derivativeAt(r, r, kernel, p, make([]float64, size)) })
}

// derivative weighs the features by ∂c_m.
func (e *spectralProjected) derivative(s []float64, kernel Kernel, p int) {
	kept := len(e.series.c)
	c := make([]float64, kept)
	e.series.derivative(c, kernel, p)
	k := e.k
	e.kept = e.kept[:0]
	for m := range min(kept, e.m) {
		e.kept = append(e.kept, m)
	}
	e.series.c, c = c, e.series.c
	e.weigh()
	e.multiply(s[:k*k])
	e.series.c = c
}

// derivative sets dst to ∂c/∂log θ_p. It overwrites the samples.
func (s *cosineSeries) derivative(dst []float64, k Kernel, p int) {
	grad := make([]float64, len(k.Params()))
	derivativeAt(s.g, s.tau, k, p, grad)
	if s.window != nil {
		for j, w := range s.window {
			s.g[j] *= w
		}
	} else {
		derivativeAt(dst, s.mirror, k, p, grad)
		add(s.g, dst)
	}
	s.plan.Coefficients(dst, s.g)
}

// derivative is the chain rule from the components, one after the other, to
// parameter p.
func (e *stateSpaceProjected) derivative(s []float64, k Kernel, p int) {
	clear(s)
	grad := make([]float64, len(k.Params()))
	w := make([]float64, 2*len(e.components))
	for i := range w {
		clear(grad)
		w[i] = 1
		e.markov.contract(grad, w)
		w[i] = 0
		part := e.value[i/2]
		if i%2 == 1 {
			part = e.slope[i/2]
		}
		if grad[p] != 0 {
			blas64.Axpy(grad[p], vec(part.Data), vec(s))
		}
	}
}

// derivative in the log of the variance is S₀, in that of the lengthscale the
// slope of the interpolation.
func (e *interpolated) derivative(s []float64, _ Kernel, p int) {
	weights := e.weight
	if p == e.lengthAt {
		weights = e.slope
	}
	packed := make([]float64, e.packed)
	for q, w := range weights {
		blas64.Axpy(e.v*w, vec(e.panel.s[q]), vec(packed))
	}
	i := 0
	for a := range e.k {
		for b, x := range packed[i : i+a+1] {
			s[a*e.k+b], s[b*e.k+a] = x, x
		}
		i += a + 1
	}
}

// derivative sets s (k×k) to ∂S/∂log θ_p at the parameters of the last call of
// project with derivatives; the noise is the last parameter.
func (l *Projected) derivative(s []float64, theta []float64, p int) error {
	clear(s)
	if noise := l.noiseSlope(theta, p); noise != 0 {
		l.addNoise(s, noise)
	}
	part := make([]float64, len(s))
	for _, t := range l.use {
		if p < t.offset || p >= t.offset+len(t.kernel.Params()) {
			continue
		}
		if d, ok := t.engine.(differentiator); ok {
			d.derivative(part, t.kernel, p-t.offset)
		} else if err := t.difference(part, l.noise, p-t.offset, l.reach()); err != nil {
			return err
		}
		add(s, part)
	}
	return nil
}

// noiseSlope returns the derivative of the noise variance, with the nugget, in
// log θ_p.
func (l *Projected) noiseSlope(theta []float64, p int) float64 {
	last := len(theta) - 1
	if p == last {
		return theta[last]
	}
	grad := make([]float64, last)
	contractNugget(grad, l.kernel.at(theta[:last]), 1)
	return grad[p]
}

// reach returns the extent of the inputs, the farthest that a pair can be apart.
func (l *Projected) reach() float64 {
	var d float64
	for j := range l.x.Dim() {
		lo, hi := l.x.Range(j)
		d = math.Hypot(d, hi-lo)
	}
	return d
}

// difference sets s to ∂S₀/∂log θ_p by central differences of the eighth order,
// for an engine that is exact but has no derivative. In log θ the covariance turns
// ten times as fast as its steepness says at most, where it is small; the step is a
// tenth of what it takes for that. The error is some 1e-10, rounding included.
func (t *projectedTerm) difference(s []float64, noise float64, p int, span float64) error {
	weights := [...]float64{4. / 5, -1. / 5, 4. / 105, -1. / 280}
	step := 0.01 / max(1, steepness(t.kernel, span))
	clear(s)
	params := values(t.kernel.Params())
	at := make([]float64, len(params))
	part := make([]float64, len(s))
	for i, w := range weights {
		for _, side := range []float64{1, -1} {
			copy(at, params)
			at[p] *= math.Exp(side * float64(i+1) * step)
			if err := t.engine.gram(part, t.kernel.WithParams(at), noise, false); err != nil {
				return err
			}
			blas64.Axpy(side*w/step, vec(part), vec(s))
		}
	}
	return nil
}

// addNoise adds noise·ΩᵀΩ to s.
func (l *Projected) addNoise(s []float64, noise float64) {
	if l.oto != nil {
		blas64.Axpy(noise, vec(l.oto), vec(s))
		return
	}
	for i := 0; i < len(s); i += len(l.z) + 1 {
		s[i] += noise
	}
}
