package gppl

import (
	"fmt"
	"math"
	"slices"
)

// checkAnswer is an error unless the value of a loss at theta, and its gradient where grad is not nil, are finite.
func checkAnswer(params []Param, value float64, grad, theta []float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("gppl: the loss is %v at %s: a number on the way is beyond float64", value, describe("", at(params, theta)))
	}
	for i, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return fmt.Errorf("gppl: the derivative in %s is %v at %s: check Contract of the kernel, or change the unit of x or y", params[i].Name, g, describe("", at(params, theta)))
		}
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

// kernelFault looks, after no engine could take the kernel, whether it returns what is no number at a distance: at even steps
// up to span and, if x is known, at those from its first point. It returns err if it does not.
func kernelFault(k Kernel, x Inputs, span float64, err error) error {
	if IsPlaced(k) {
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
	for i, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("gppl: the kernel %v returned %v at distance %v: Cov is to return a finite number at every distance", k, v, r[i])
		}
	}
	return err
}
