package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// Posterior sets row i of means, m×c, and variance[i] to the mean that each column
// y of C gives and the variance of the latent process, noise apart, at the inputs
// at, in any order:
//
//	mean = K_*ᵀA⁻¹y,  variance = diag(K_** − K_*ᵀA⁻¹K_*)
//
// in O((n + m)·D³ + m·log m), n being the inputs after the first of at. variance may
// be nil. Between two inputs the state comes from the earlier one by Φ, with mean x
// and covariance P, and the information of all later ones from the next by Φᵀ:
// hᵀ(x + Pr), hᵀ(P − PNP)h. The variance has an absolute error of a few 1e-16·Σv; it
// is never negative.
func (f *Filter) Posterior(means blas64.General, variance, at []float64) {
	if means.Rows != len(at) || means.Cols != f.cols || variance != nil && len(variance) != len(at) {
		panic(fmt.Sprintf("statespace: room for %d×%d means and %d variances at %d inputs, with %d columns", means.Rows, means.Cols, len(variance), len(at), f.cols))
	}
	for i, s := range at {
		if math.IsNaN(s) {
			panic(fmt.Sprintf("statespace: input %d is NaN", i))
		}
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
	if len(f.system.blocks) > 0 {
		f.posteriorBlocks(means, variance, at, order)
		return
	}
	d, last := f.dim, len(f.t)
	m, p := make([]float64, f.cols*d), make([]float64, d*d) // after an observation
	x, cov := make([]float64, d), make([]float64, d*d)
	info := make([]float64, f.cols*d) // r of each column
	r, n := make([]float64, d), make([]float64, d*d)
	clear(f.n)
	for i := last - 1; i >= -1 && len(order) > 0; i-- {
		// info and f.n are the information of the observations after i, at
		// input i+1, or at the last of all where they are beyond the inputs.
		before, next := math.Inf(-1), min(i+1, last-1)
		if i >= 0 {
			before = f.t[i]
			f.update(p, i)
			for c := range f.cols {
				mean, e := f.seen(c, i)
				f.move(m[c*d:][:d], mean, e)
			}
		} else {
			clear(m)
			clear(p)
		}
		for len(order) > 0 && (i < 0 || at[order[0]] >= f.t[i]) {
			o := order[0]
			order = order[1:]
			f.jump(at[o] - before)
			f.spread(cov, p)
			// The means before the adjoints: both need their own Φ.
			for c := range f.cols {
				f.forth(x, m[c*d:][:d])
				means.Data[o*means.Stride+c] = x[0]
			}
			s := cov[0]
			if i+1 < last {
				f.jump(f.t[next] - at[o])
				for c := range f.cols {
					f.back(r, info[c*d:][:d])
					for a, v := range cov[:d] {
						means.Data[o*means.Stride+c] += v * r[a]
					}
				}
				f.gather(n, f.n)
				for a := range d {
					for b := range d {
						s -= cov[a] * cov[b] * n[a*d+b]
					}
				}
			}
			if variance != nil {
				variance[o] = max(0, s)
			}
		}
		if i >= 0 {
			// What r and N are at input i is before its observation; the
			// next round wants them there.
			if i+1 < last {
				f.transitions(i + 1)
				for c := range f.cols {
					f.back(f.w, info[c*d:][:d])
					copy(info[c*d:], f.w)
				}
				f.gather(f.n, f.n)
			}
			f.observe(i)
			for c := range f.cols {
				_, e := f.seen(c, i)
				f.inform(info[c*d:][:d], e, i)
			}
		}
	}
}

// jump sets block, q and phi to those of a gap, which may be infinite.
func (f *Filter) jump(gap float64) {
	for c, comp := range f.cs {
		comp.over(f.block[c], f.q[c], gap)
	}
	f.assemble()
}
