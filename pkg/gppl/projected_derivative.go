package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// differentiator is a projected covariance, computed with derivatives, that can set
// s (k×k) to Ωᵀ(∂K/∂log θ_p)Ω, p being a parameter of its term.
type differentiator interface {
	derivative(s []float64, p int)
}

var (
	_ differentiator = (*denseGram)(nil)
	_ differentiator = (*spectralGram)(nil)
	_ differentiator = (*stateSpaceGram)(nil)
	_ differentiator = (*interpolatedGram)(nil)
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

// derivative is ΩᵀKΩ with ∂K instead of K.
func (g *denseGram) derivative(s []float64, p int) { g.multiply(s, p) }

// derivative weighs the features by ∂c_m.
func (g *spectralGram) derivative(s []float64, p int) {
	c := make([]float64, len(g.series.c))
	g.series.derivative(c, g.term.kernel, p)
	all := make([]int, min(len(c), g.m))
	for m := range all {
		all[m] = m
	}
	g.weigh(c, all)
	g.multiply(s)
}

// derivative sets dst to ∂c/∂log θ_p.
func (s *cosineSeries) derivative(dst []float64, k Kernel, p int) {
	grad := make([]float64, len(k.Params()))
	samples := make([]float64, len(s.tau))
	derivativeAt(samples, s.tau, k, p, grad)
	if s.window != nil {
		for j, w := range s.window {
			samples[j] *= w
		}
	} else {
		derivativeAt(dst, s.mirror, k, p, grad)
		dense.Add(samples, dst)
	}
	s.plan.Coefficients(dst, samples)
}

// derivative is the chain rule from the components, one after the other, to
// parameter p.
func (g *stateSpaceGram) derivative(s []float64, p int) {
	clear(s)
	markov := &g.term.markov
	grad := make([]float64, g.term.end-g.term.offset)
	w := make([]float64, 2*len(markov.components))
	for i := range w {
		clear(grad)
		w[i] = 1
		markov.contract(grad, w)
		w[i] = 0
		part := g.value[i/2]
		if i%2 == 1 {
			part = g.slope[i/2]
		}
		if grad[p] != 0 {
			blas64.Axpy(grad[p], dense.Vec(part.Data), dense.Vec(s))
		}
	}
}

// derivative in the log of the variance is S₀, in that of the lengthscale the
// slope of the interpolation.
func (g *interpolatedGram) derivative(s []float64, p int) {
	weights := &g.weight
	if p == g.engine.lengthAt {
		weights = &g.slope
	}
	packed := make([]float64, g.engine.packed)
	for q, w := range weights {
		blas64.Axpy(g.v*w, dense.Vec(g.panel.s[q]), dense.Vec(packed))
	}
	unpack(s, packed, g.engine.k)
}

// noiseSlope returns the derivative of the noise variance, with the nugget, in log θ_p,
// the model's own being the last.
func (m *compiled) noiseSlope(p, last int) float64 {
	if p == last {
		return m.own
	}
	grad := make([]float64, last)
	contractNugget(grad, m.kernel, 1)
	return grad[p]
}

// difference sets s to ∂S₀/∂log θ_p by central differences of the eighth order,
// for an engine that is exact but has no derivative. In log θ the covariance turns
// ten times as fast as its steepness says at most, where it is small; the step is a
// tenth of what it takes for that. The error is some 1e-10, rounding included.
func (t *termCall) difference(s []float64, p int) error {
	weights := [...]float64{4. / 5, -1. / 5, 4. / 105, -1. / 280}
	step := 0.01 / max(1, steepness(t.kernel, t.span))
	clear(s)
	params := values(t.kernel.Params())
	at := make([]float64, len(params))
	var moved compiledTerm
	for i, w := range weights {
		for _, side := range []float64{1, -1} {
			copy(at, params)
			at[p] *= math.Exp(side * float64(i+1) * step)
			moved.set(t.kernel.WithParams(at), 0, len(at), t.noise, t.cond)
			gram, err := t.engines[t.chosen].gram(&moved, false)
			if err != nil {
				return err
			}
			blas64.Axpy(side*w/step, dense.Vec(gram.covariance()), dense.Vec(s))
			gram.release()
		}
	}
	return nil
}
