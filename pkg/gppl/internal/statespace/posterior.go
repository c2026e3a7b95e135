package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Posterior sets row i of means, m×c, and variance[i] to the mean from each column y of C and the variance of the latent
// process, without noise, at the inputs at, in any order:
//
//	mean = K_*ᵀA⁻¹y,  variance = diag(K_** − K_*ᵀA⁻¹K_*)
//
// in O((n + m)·D³ + m·log m), where n counts the inputs after the first of at. variance may be nil. Between two inputs the
// state comes from the earlier one by Φ, with mean x and covariance P, and the information of all later ones from the next by
// Φᵀ: hᵀ(x + Pr), hᵀ(P − PNP)h. The variance has an absolute error of a few 1e-16·Σv; it is never negative.
func (f *Filter) Posterior(means blas64.General, variance, at []float64) {
	f.PosteriorOf(means, variance, at, nil)
}

// PosteriorOf is Posterior for a view at each of the inputs at; nil means no views.
func (f *Filter) PosteriorOf(means blas64.General, variance, at []float64, view []int) {
	if len(view) != len(at) && (view != nil || len(f.system.viewed.views) > 0) {
		panic(fmt.Sprintf("statespace: %d views of %d inputs", len(view), len(at)))
	}
	if means.Rows != len(at) || means.Cols != f.cols || variance != nil && len(variance) != len(at) {
		panic(fmt.Sprintf("statespace: room for %d×%d means and %d variances at %d inputs, with %d columns",
			means.Rows, means.Cols, len(variance), len(at), f.cols))
	}
	for i, s := range at {
		if math.IsNaN(s) {
			panic(fmt.Sprintf("statespace: input %d is NaN", i))
		}
	}
	order := timeline.Range(0, len(at)) // order from the last to the first
	if len(f.system.blocks) > 0 {
		places := f.places(at)
		slices.SortFunc(order, func(a, b int) int { return sign(places[b].Sub(places[a])) })
		if f.system.doubled != nil {
			f.posteriorDoubled(means, variance, places, view, order)
		} else {
			f.posteriorBlocks(means, variance, places, view, order)
		}
		return
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
	d, last := f.dim, len(f.t)
	m, p := make([]float64, f.cols*d), make([]float64, d*d) // state after an observation
	x, cov := make([]float64, d), make([]float64, d*d)
	info := make([]float64, f.cols*d) // r of each column
	r, n := make([]float64, d), make([]float64, d*d)
	clear(f.n)
	for i := last - 1; i >= -1 && len(order) > 0; i-- {
		f.lookAt(i)
		// info and f.n hold the information of the observations after i, at input i+1, or at the last input for places beyond
		// it.
		before, next := math.Inf(-1), min(i+1, last-1)
		if i >= 0 {
			before = f.t[i]
			f.recall(i)
			f.update(p, i)
			for c := range f.cols {
				mean, e := f.observed(c, i)
				f.move(m[c*d:][:d], mean, e)
			}
		} else {
			clear(m)
			clear(p)
		}
		for len(order) > 0 && (i < 0 || at[order[0]] >= f.t[i]) {
			f.lookAt(len(order))
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
			// r and N at input i are from before its observation, as the next round expects.
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
				_, e := f.observed(c, i)
				f.inform(info[c*d:][:d], e, i)
			}
		}
	}
}

// places returns inputs in the filter's time, exactly: with exposures, it begins at their origin.
func (f *Filter) places(at []float64) []doubled.Float {
	all := make([]doubled.Float, len(at))
	for i, v := range at {
		if all[i] = doubled.Of(v); f.system.exposures != nil && !math.IsInf(v, 0) {
			all[i] = doubled.Difference(v, f.system.exposures.origin)
		}
	}
	return all
}

// posteriorBlocks is Posterior for the inputs in order, from the last to the first.
func (f *Filter) posteriorBlocks(means blas64.General, variance []float64, at []doubled.Float, view, order []int) {
	s, d, last := &f.system, f.dim, len(f.t)
	size := s.rows[len(s.units)]
	m := make([]float64, f.cols*d)    // state after an observation
	info := make([]float64, f.cols*d) // r of each column
	x, r := make([]float64, d), make([]float64, d)
	clear(f.n)
	for i := last - 1; i >= -1 && len(order) > 0; i-- {
		f.lookAt(i)
		src, g, inv := f.blockWork.zero, f.blockWork.g, 0.
		clear(g)
		clear(m)
		if i >= 0 {
			src, g, inv = f.cov[i*size:][:size], s.gain[i*d:][:d], f.inv[i]
			f.recall(i)
			f.gainBlocks(i)
			for c := range f.cols {
				mean, e := f.observed(c, i)
				f.move(m[c*d:][:d], mean, e)
			}
		}
		for len(order) > 0 && (i < 0 || f.reached(at[order[0]], i)) {
			f.lookAt(len(order))
			o := order[0]
			order = order[1:]
			h := f.blockWork.observed
			s.look(h, at[o].Hi)
			f.over(i+1, at[o], seenBy(view, o), false)
			f.advance(f.blockWork.ahead, f.blockWork.u, src, g, inv, h, -1)
			for c := range f.cols {
				f.turn(x, m[c*d:][:d], -1)
				means.Data[o*means.Stride+c] = s.see(h, x)
			}
			v := s.see(h, f.blockWork.u)
			if i+1 < last {
				f.over(i+1, at[o], seenBy(view, o), true)
				f.turn(x, f.blockWork.u, -1)
				for c := range f.cols {
					means.Data[o*means.Stride+c] += dot(x, info[c*d:][:d])
				}
				s.multiply(r, f.n, x)
				v -= dot(x, r)
			}
			if variance != nil {
				variance[o] = max(0, v)
			}
		}
		if i >= 0 {
			f.gainBlocks(i)
			if i+1 < last {
				for c := range f.cols {
					f.turnBack(f.w, info[c*d:][:d], i+1)
					copy(info[c*d:], f.w)
				}
				f.pull(f.n, i+1)
			}
			s.multiply(x, f.n, f.k)
			s.absorb(f.n, s.hAt(i), x, dot(f.k, x)+f.inv[i])
			for c := range f.cols {
				_, e := f.observed(c, i)
				f.informBlocks(info[c*d:][:d], e, i)
			}
		}
	}
}

// choleskyRoot sets l, lower triangular, to a root of c, which may be singular: a pivot within rounding gets a column of
// zeros.
func choleskyRoot(l, c []float64, d int) {
	clear(l)
	for j := range d {
		pivot := c[j*d+j]
		for _, v := range l[j*d:][:j] {
			pivot -= v * v
		}
		if !(pivot > 4*0x1p-52*c[j*d+j]) {
			continue
		}
		pivot = math.Sqrt(pivot)
		l[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
			v := c[i*d+j]
			for k, w := range l[j*d:][:j] {
				v -= l[i*d+k] * w
			}
			l[i*d+j] = v / pivot
		}
	}
}

// triangularise makes the first columns of a, rows×cols, upper triangular by reflections.
func triangularise(a []float64, rows, cols, first int) {
	for j := range first {
		var largest float64
		for i := j; i < rows; i++ {
			largest = max(largest, math.Abs(a[i*cols+j]))
		}
		if largest == 0 {
			continue
		}
		var square float64
		for i := j; i < rows; i++ {
			v := a[i*cols+j] / largest
			square += v * v
		}
		norm := math.Sqrt(square)
		head := a[j*cols+j] / largest
		scale := norm * (norm + math.Abs(head)) // ½|v|², where v is the column minus its image, over largest²
		image := -math.Copysign(norm, head)
		a[j*cols+j] = (head - image) * largest
		for k := j + 1; k < cols; k++ {
			var dot float64
			for i := j; i < rows; i++ {
				dot += a[i*cols+j] / largest * a[i*cols+k]
			}
			dot /= scale
			for i := j; i < rows; i++ {
				a[i*cols+k] -= dot * (a[i*cols+j] / largest)
			}
		}
		a[j*cols+j] = image * largest
		for i := j + 1; i < rows; i++ {
			a[i*cols+j] = 0
		}
	}
}
