package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// compiled is a model at one θ in the form that engines know: A = K + σ²I, where
// K is the continuous covariance, a sum of terms, and σ² all of the white noise,
// the kernel's nugget included.
type compiled struct {
	ctx      context.Context // of the evaluation, at which engines look
	kernel   Kernel
	own      float64 // the noise variance of the model itself
	noise    float64 // σ², with the nugget
	variance float64 // k(0)
	split    split   // the terms of K; none where it is white noise alone
	markov   markov  // K as a sum of Markov components
	isMarkov bool

	theta []float64 // of the kernel, which is made anew only where they differ
	whole bool      // all of the above belongs to theta: no kernel panicked on the way
	plain []int     // the parameters whose derivatives are not in their logs (see placed)
}

// compile sets m to the family's kernel at theta, noise variance last. It is an
// error unless the prior variance is a positive finite number.
func (m *compiled) compile(family Kernel, theta []float64) error {
	last := len(theta) - 1
	if m.kernel == nil {
		for i, p := range family.Params() {
			if p.Role == RoleLocation {
				m.plain = append(m.plain, i)
			}
		}
	}
	if !m.whole || !slices.Equal(theta[:last], m.theta) {
		m.whole = false
		m.theta = append(m.theta[:0], theta[:last]...)
		m.kernel = family.WithParams(m.theta)
		m.variance = variance(m.kernel)
		m.split.of(m.kernel)
		m.isMarkov = m.markov.of(m.kernel)
		m.whole = true
	}
	nugget := Nugget(m.kernel)
	m.own, m.noise = theta[last], theta[last]+nugget
	return checkVariance(m.kernel, m.variance+nugget)
}

// checkVariance is an error unless v, the prior variance of k, is a positive finite
// number.
func checkVariance(k Kernel, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("gppl: the prior variance of %v is %v: a parameter is too small or too large to compute with", k, v)
	}
	return nil
}

// hasSignal reports whether K is more than white noise.
func (m *compiled) hasSignal() bool { return len(m.split.signal) > 0 }

// naturalGradient converts derivatives in logs (or in locations), with that of the
// total noise last, to derivatives in θ. First it divides the derivative of the noise
// between the model's noise and the nugget.
func (m *compiled) naturalGradient(grad, theta []float64) {
	shareNoise(grad, m.kernel, m.own, m.noise)
	if m.plain == nil {
		toNatural(grad, theta)
		return
	}
	for i := range grad {
		if !slices.Contains(m.plain, i) {
			grad[i] /= theta[i]
		}
	}
}
