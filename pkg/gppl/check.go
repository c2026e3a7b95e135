package gppl

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Answers are verified where they are made (internal/verify). Fit also checks gradients against values (fit_check.go).

// gradientPromise bounds the error of a derivative in log θ, in units of the error bound of the value (LossReport.LastBound).
const gradientPromise = 20

// verifyScale checks a gradient in logs, noise last, by an identity for every likelihood with a covariance A. Scaling all
// variances and the noise together scales A, so the derivative is ½(terms − yᵀA⁻¹y). The check costs next to nothing and
// detects a wrong sign or a missing part, but not an error of A⁻¹ as a whole. A difference within promise, the error bound of
// the value in nats, is accepted.
func verifyScale(grad []float64, s *scaling, k Kernel, terms, form, promise float64) error {
	last := len(grad) - 1
	sum, ok := s.derivative(grad[:last], k)
	if !ok {
		return nil
	}
	return verify.Near("the derivative in the scale of the covariance", sum+grad[last], 0.5*(terms-form),
		verify.GradientTrust*(terms+math.Abs(form)+math.Abs(grad[last]))+gradientPromise*promise)
}

// checkAnswer returns an error unless the value of a loss at theta, and its gradient unless grad is nil, are finite.
func checkAnswer(params []Param, value float64, grad, theta []float64) error {
	if !numeric.IsFinite(value) {
		return fmt.Errorf("gppl: the loss is %v at %s: a number on the way overflows", value, describe("", at(params, theta)))
	}
	if i := numeric.FirstNotFinite(grad); i >= 0 {
		return fmt.Errorf("gppl: the derivative in %s is %v at %s: check Contract of the kernel, or change the unit of x or y",
			params[i].Name, grad[i], describe("", at(params, theta)))
	}
	return nil
}

// at returns the parameters with other values.
func at(params []Param, theta []float64) []Param {
	moved := slices.Clone(params)
	for i := range moved {
		moved[i].Value = theta[i]
	}
	return moved
}

// kernelFault checks, after every engine has refused the kernel, whether the kernel returns a finite number at every distance:
// at even steps up to span and, if x is known, at the distances from its first point. If it does, kernelFault returns err.
func kernelFault(k Kernel, x Inputs, span float64, err error) error {
	if isPlaced(k) {
		return err
	}
	const steps = 256
	r := make([]float64, steps+1, steps+1+x.Len())
	for i := range r {
		r[i] = span * float64(i) / steps
	}
	if n := x.Len(); n > 0 {
		r = r[:len(r)+n]
		distances(r[steps+1:], x.Slice(0, 1), x)
	}
	c := make([]float64, len(r))
	k.Cov(c, r)
	if i := numeric.FirstNotFinite(c); i >= 0 {
		return fmt.Errorf("gppl: the kernel %v returned %v at distance %v: Cov must return a finite number at every distance",
			k, c[i], r[i])
	}
	return err
}
