package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// posteriorBlocks is Posterior for the inputs in order, from the last to the first.
func (f *Filter) posteriorBlocks(means blas64.General, variance, at []float64, order []int) {
	s, d, last := &f.system, f.dim, len(f.t)
	size := s.rows[len(s.units)]
	m := make([]float64, f.cols*d)    // after an observation
	info := make([]float64, f.cols*d) // r of each column
	x, r := make([]float64, d), make([]float64, d)
	clear(f.n)
	for i := last - 1; i >= -1 && len(order) > 0; i-- {
		before, src, g, inv := math.Inf(-1), f.room.zero, f.room.g, 0.
		clear(g)
		clear(m)
		if i >= 0 {
			before, src, g, inv = f.t[i], f.cov[i*size:][:size], s.gain[i*d:][:d], f.inv[i]
			f.gainBlocks(i)
			for c := range f.cols {
				mean, e := f.seen(c, i)
				f.move(m[c*d:][:d], mean, e)
			}
		}
		for len(order) > 0 && (i < 0 || at[order[0]] >= f.t[i]) {
			o := order[0]
			order = order[1:]
			h := f.room.seen
			s.look(h, at[o])
			f.over(at[o] - before)
			f.advance(f.room.ahead, f.room.u, src, g, inv, h, -1)
			for c := range f.cols {
				f.turn(x, m[c*d:][:d], -1)
				means.Data[o*means.Stride+c] = s.see(h, x)
			}
			v := s.see(h, f.room.u)
			if i+1 < last {
				f.over(f.t[i+1] - at[o])
				f.turn(x, f.room.u, -1)
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
				_, e := f.seen(c, i)
				f.informBlocks(info[c*d:][:d], e, i)
			}
		}
	}
}
