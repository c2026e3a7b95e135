package statespace

import (
	"fmt"
	"math"
	"slices"
)

// Posterior sets mean and variance to those of the latent process, noise apart,
// at the inputs at, in any order, given y:
//
//	mean = K_*ᵀA⁻¹y,  variance = diag(K_** − K_*ᵀA⁻¹K_*)
//
// in O((n + m)·D³ + m·log m). variance may be nil. Between two inputs the state
// comes from the earlier one by Φ, with mean x and covariance P, and the
// information of all later ones from the next by Φᵀ: hᵀ(x + Pr), hᵀ(P − PNP)h.
// The variance has an absolute error of a few 1e-16·Σv; it is never negative.
func (f *Filter) Posterior(mean, variance, at, y []float64, cs []Component, noise float64) error {
	if len(y) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d observations at %d inputs", len(y), len(f.t)))
	}
	if len(mean) != len(at) || variance != nil && len(variance) != len(at) {
		panic(fmt.Sprintf("statespace: room for %d means and %d variances at %d inputs", len(mean), len(variance), len(at)))
	}
	for i, s := range at {
		if math.IsNaN(s) {
			panic(fmt.Sprintf("statespace: input %d is NaN", i))
		}
	}
	if err := f.prepare(cs, noise); err != nil {
		return err
	}
	if _, err := f.forward(y); err != nil {
		return err
	}
	order := make([]int, len(at)) // from the last to the first
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case at[a] > at[b]:
			return -1
		case at[a] < at[b]:
			return 1
		}
		return 0
	})
	d := f.dim
	m, p := make([]float64, d), make([]float64, d*d) // after an observation
	x, cov := make([]float64, d), make([]float64, d*d)
	r, n := make([]float64, d), make([]float64, d*d)
	clear(f.r)
	clear(f.n)
	for i := len(f.t) - 1; i >= -1; i-- {
		// f.r and f.n are the information of the observations after i, at
		// input i+1.
		if i >= 0 {
			f.update(m, p, i, f.alpha[i])
		}
		for len(order) > 0 && (i < 0 || at[order[0]] >= f.t[i]) {
			o := order[0]
			order = order[1:]
			if i >= 0 {
				f.jump(at[o] - f.t[i])
			} else {
				f.jump(math.Inf(1))
			}
			f.predict(x, cov, m, p)
			if i+1 < len(f.t) {
				f.jump(f.t[i+1] - at[o])
				apply(r, f.phiT, f.r)
				f.sandwich(n, f.phiT, f.n)
			} else {
				clear(r)
				clear(n)
			}
			mu, s := x[0], cov[0]
			for a := range d {
				mu += cov[a] * r[a]
				for b := range d {
					s -= cov[a] * cov[b] * n[a*d+b]
				}
			}
			mean[o] = mu
			if variance != nil {
				variance[o] = max(0, s)
			}
		}
		if i >= 0 {
			// What r and N are at input i is before its observation; the
			// next round wants them there.
			if i+1 < len(f.t) {
				f.transitions(i + 1)
				apply(f.w, f.phiT, f.r)
				copy(f.r, f.w)
				f.sandwich(f.n, f.phiT, f.n)
			}
			f.observe(i)
		}
	}
	return nil
}

// jump sets block, q, phi and phiT to those of a gap, which may be infinite.
func (f *Filter) jump(gap float64) {
	for c, comp := range f.cs {
		a := comp.rate() * gap
		if gap == 0 {
			a = 0 // even at an infinite rate
		}
		if !(a < far) {
			comp.transition(f.block[c], f.q[c], 0, 0, 1)
			continue
		}
		e := math.Exp(-a)
		comp.transition(f.block[c], f.q[c], a, e, gamma(comp.Order, a, e))
	}
	f.assemble()
}
