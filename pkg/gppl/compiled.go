package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// compiled is a model at one θ in the form that engines know: A = K + σ²I, where
// K is the continuous covariance, a sum of terms, and σ² all of the white noise,
// the kernel's nugget included.
type compiled struct {
	ctx      context.Context // context of the evaluation, which engines check
	kernel   Kernel
	series   decay   // the same
	own      float64 // the noise variance of the model itself
	noise    float64 // σ², with the nugget
	variance float64 // k(0)
	split    split   // the terms of K; none where it is white noise alone
	state    stateSpace
	hasState bool // K is a sum of Markov processes without waves: state has them

	theta []float64 // parameters of the kernel, which is made anew only if they change
	whole bool      // all of the above belongs to theta: no kernel panicked on the way
	plain []int     // the parameters whose derivatives are not in their logs (see Placed)
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
		m.series.Kernel = m.kernel
		m.variance = variance(m.kernel)
		m.split.set(m.kernel)
		m.state.calm = true
		m.hasState = m.state.expand(m.kernel, 0)
		m.whole = true
	}
	nugget := capability.Nugget(m.kernel)
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

// naturalGradient converts derivatives in logs (or in locations) to derivatives in θ.
// The last one, in the log of the total noise, is first divided between the model's
// noise and the nugget.
func (m *compiled) naturalGradient(grad, theta []float64) {
	shareNoise(grad, m.kernel, m.own, m.noise)
	for i := range grad {
		if !slices.Contains(m.plain, i) {
			grad[i] /= theta[i]
		}
	}
}

// split is the signal of a kernel as a sum of terms. It serves one family of
// kernels.
type split struct {
	signal []Kernel // the terms, but for those that are white noise alone
	offset []int    // index of each term's first parameter in the whole kernel
	end    []int    // index of its last parameter, plus one
	params int      // number of parameters of the whole kernel
}

const noSignal = "the kernel is white noise alone"

// set splits k, reusing memory. It reports false if there is no signal.
func (s *split) set(k Kernel) bool {
	s.signal, s.offset, s.end = s.signal[:0], s.offset[:0], s.end[:0]
	if s.params == 0 {
		s.params = len(k.Params())
	}
	s.add(k, 0, s.params)
	return len(s.signal) > 0
}

func (s *split) add(k Kernel, offset, end int) {
	if sum, ok := k.(Sum); ok {
		for i, p := range sum.parts {
			s.add(p, offset+sum.offset[i], offset+sum.offset[i+1])
		}
		return
	}
	if reach(k, 0.5) == 0 { // zero everywhere
		return
	}
	s.signal = append(s.signal, k)
	s.offset, s.end = append(s.offset, offset), append(s.end, end)
}

// own returns the part of a gradient that belongs to the parameters of term i.
func (s *split) own(grad []float64, i int) []float64 { return grad[s.offset[i]:s.end[i]] }

// shareNoise divides the derivative in the log of the total noise variance, last in
// grad, among the model's own noise and the parameters that k's nugget depends on.
func shareNoise(grad []float64, k Kernel, own, total float64) {
	last := len(grad) - 1
	slope := grad[last] / total
	grad[last] = slope * own
	contractNugget(grad[:last], k, slope)
}

// A FactorError is the error of a covariance that cannot be factorised, or that does not determine the coefficients of a mean.
type FactorError struct {
	Kernel Kernel
	Noise  float64 // variance
	Err    error   // why, with the row where it is known
	What   string  // names the matrix that could not be factorised
}

func (e *FactorError) Error() string {
	return fmt.Sprintf("%s (kernel %v, noise variance %.4g)", e.What, e.Kernel, e.Noise)
}

// Unwrap returns Err.
func (e *FactorError) Unwrap() error { return e.Err }

// notFactorised returns the FactorError of err, which says in the words of format what was to be factorised.
func notFactorised(k Kernel, noise float64, err error, format string, args ...any) error {
	return &FactorError{k, noise, err, fmt.Sprintf(format, args...)}
}
