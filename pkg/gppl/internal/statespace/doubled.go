package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Where an observation fixes hᵀx to a small part of its variance, P − s·k·kᵀ is a difference that loses the digits of float64. A
// doubled factorisation keeps P, m, e, k, s, N and r in double-double, and Φ, Q and h in float64. Rounding of these, relative to
// each of their numbers, is amplified by √(v/σ²), rounding of P by v/σ². A doubled factorisation takes about twenty times as
// long.

// Sharp reports whether Q of a process keeps its relative digits over a short gap.
func Sharp(p Process) bool {
	switch p := p.(type) {
	case *Matern, *Oscillator, Constant, Turn:
		return true
	case *Kronecker:
		return Sharp(p.X) && Sharp(p.Y)
	case *Exposed:
		return Sharp(p.X)
	}
	return false
}

// FactoriseDoubled is Factorise in double-double, for a filter with views. Methods that sweep again use these digits too:
// Gradient, ViewSlopes and PosteriorOf. It takes n·(D² + (c + 1)·D) numbers of 16 bytes.
func (f *Filter) FactoriseDoubled(columns blas64.General, blocks []Block, noise float64) error {
	if columns.Rows != len(f.t) || columns.Cols == 0 {
		panic(fmt.Sprintf("statespace: %d×%d observations at %d inputs", columns.Rows, columns.Cols, len(f.t)))
	}
	if f.system.viewed.views == nil {
		panic("statespace: FactoriseDoubled without views")
	}
	if err := checkBlocks(blocks); err != nil {
		return err
	}
	if err := f.begin(columns.Cols, noise); err != nil {
		return err
	}
	f.cs, f.marks = f.cs[:0], f.marks[:0]
	if f.twice == nil {
		f.twice = new(doubledState)
	}
	f.system.doubled = f.twice
	f.setBlocks(blocks)
	if err := f.setViews(blocks); err != nil {
		return err
	}
	f.allocate()
	n, d, c := len(f.t), f.dim, f.cols
	s := f.system.doubled
	s.cov, s.gain, s.s, s.mean = again(s.cov, n*d*d), again(s.gain, n*d), again(s.s, n), again(s.mean, n*c*d)
	s.errs, s.gram = again(s.errs, n*c), again(s.gram, c*c)
	clear(s.gram)
	if err := f.forwardDoubled(columns); err != nil {
		return err
	}
	f.gram = dense.Resize(f.gram, c*c)
	for i, v := range s.gram {
		f.gram[i] = v.Hi
	}
	f.quad = f.gram[0]
	return nil
}

// again returns memory for size numbers, x's if it suffices.
func again(x []doubled.Float, size int) []doubled.Float {
	if cap(x) < size {
		return make([]doubled.Float, size)
	}
	return x[:size]
}

// GramDoubled returns CᵀA⁻¹C, by rows, after FactoriseDoubled.
func (f *Filter) GramDoubled() (rows [][]doubled.Float) {
	for i := range f.cols {
		rows = append(rows, f.system.doubled.gram[i*f.cols:][:f.cols])
	}
	return rows
}

// carryDoubled sets p = ΦPΦᵀ + Q by the transitions of input i, or of those in blockWork if i < 0. It uses work, D×D.
func (f *Filter) carryDoubled(p, work []doubled.Float, i int) {
	d := f.dim
	f.leftDoubled(work, p, i)
	for iu := range f.system.units {
		u := &f.system.units[iu]
		for iv := range iu + 1 {
			v := &f.system.units[iv]
			phi := f.phiOf(v, i)
			for a := u.at; a < u.at+u.dim; a++ {
				for b := range v.dim {
					x := doubled.DotTimes(phi[b*v.dim:][:v.dim], work[a*d+v.at:])
					p[a*d+v.at+b], p[(v.at+b)*d+a] = x, x
				}
			}
		}
		q, low := f.noiseOf(u, i), f.lowOf(u, i)
		for a := range u.dim {
			for b := range a + 1 {
				at, mirror := (u.at+a)*d+u.at+b, (u.at+b)*d+u.at+a
				own := doubled.Of(q[a*u.dim+b])
				if low != nil {
					own.Lo = low[a*u.dim+b]
				}
				x := p[at].Add(own.Times(u.scale))
				p[at], p[mirror] = x, x
			}
		}
	}
}

// lowOf returns the low parts of noiseOf, nil if there are none.
func (f *Filter) lowOf(u *piece, i int) []float64 {
	switch {
	case !f.system.sharpens(u.block):
		return nil
	case i < 0:
		return f.blockWork.low[u.block]
	}
	return f.system.low[u.block][i*u.dim*u.dim:][:u.dim*u.dim]
}

// leftDoubled sets dst = ΦP of a symmetric P.
func (f *Filter) leftDoubled(dst, p []doubled.Float, i int) {
	d := f.dim
	for iu := range f.system.units {
		u := &f.system.units[iu]
		phi := f.phiOf(u, i)
		for a := range u.dim {
			for b := range d {
				dst[(u.at+a)*d+b] = doubled.DotTimes(phi[a*u.dim:][:u.dim], p[b*d+u.at:])
			}
		}
	}
}

// turnDoubled sets dst = Φx.
func (f *Filter) turnDoubled(dst, x []doubled.Float, i int) {
	for iu := range f.system.units {
		u := &f.system.units[iu]
		phi := f.phiOf(u, i)
		for a := range u.dim {
			dst[u.at+a] = doubled.DotTimes(phi[a*u.dim:][:u.dim], x[u.at:])
		}
	}
}

// turnBackDoubled sets dst = Φᵀx.
func (f *Filter) turnBackDoubled(dst, x []doubled.Float, i int) {
	for iu := range f.system.units {
		u := &f.system.units[iu]
		phi := f.phiOf(u, i)
		for b := range u.dim {
			var sum doubled.Float
			for a := range u.dim {
				sum = sum.Add(x[u.at+a].Times(phi[a*u.dim+b]))
			}
			dst[u.at+b] = sum
		}
	}
}

// pullDoubled sets m = ΦᵀMΦ of a symmetric M. It uses work, D×D.
func (f *Filter) pullDoubled(m, work []doubled.Float, i int) {
	d := f.dim
	for a := range d {
		f.turnBackDoubled(work[a*d:][:d], m[a*d:][:d], i) // MΦ
	}
	x := make([]doubled.Float, d)
	for b := range d {
		for a := range d {
			x[a] = work[a*d+b]
		}
		f.turnBackDoubled(m[b*d:][:d], x, i)
	}
}

// lessDoubled sets dst = P − g·gᵀ/s.
func lessDoubled(dst, p, g []doubled.Float, s doubled.Float) {
	d := len(g)
	for a := range d {
		k := g[a].Div(s)
		for b := range a + 1 {
			x := p[a*d+b].Sub(k.Mul(g[b]))
			dst[a*d+b], dst[b*d+a] = x, x
		}
	}
}

// multiplyDoubled sets dst = Mx of a symmetric M.
func multiplyDoubled(dst, m, x []doubled.Float) {
	d := len(x)
	for a := range d {
		dst[a] = doubled.Dot(m[a*d:][:d], x)
	}
}

func addScaledDoubled(dst []doubled.Float, c doubled.Float, x []doubled.Float) {
	for i, v := range x {
		dst[i] = dst[i].Add(c.Mul(v))
	}
}

// forwardDoubled is forward.
func (f *Filter) forwardDoubled(columns blas64.General) error {
	s, n, d, c := f.system.doubled, len(f.t), f.dim, f.cols
	scale := f.noise*f.most.share + f.most.known + f.system.viewed.most
	logs := logSum{prod: 1}
	p, work := make([]doubled.Float, d*d), make([]doubled.Float, d*d)
	after, k := make([]doubled.Float, c*d), make([]doubled.Float, d)
	for i := range n {
		if i%chunk == 0 {
			parallel.Look(f.Ctx)
		}
		h := s.h[f.system.viewed.of[i]]
		cov, g := s.cov[i*d*d:][:d*d], s.gain[i*d:][:d]
		f.carryDoubled(p, work, i)
		copy(cov, p)
		multiplyDoubled(g, cov, h)
		v := doubled.Dot(h, g).Add(doubled.Of(f.noiseAt(i)))
		if !(v.Hi > tiny*scale) {
			return NotPositive{i}
		}
		s.s[i] = v
		logs.add(v.Hi / scale)
		for a := range d {
			k[a] = g[a].Div(v)
		}
		for j := range c {
			x, m := after[j*d:][:d], s.mean[(i*c+j)*d:][:d]
			f.turnDoubled(m, x, i)
			e := doubled.Of(columns.Data[i*columns.Stride+j]).Sub(doubled.Dot(h, m))
			s.errs[i*c+j] = e
			copy(x, m)
			addScaledDoubled(x, e, k)
		}
		lessDoubled(p, cov, g, v)
		for a := range c {
			scaled := s.errs[i*c+a].Div(v)
			for b := range a + 1 {
				x := s.gram[a*c+b].Add(scaled.Mul(s.errs[i*c+b]))
				s.gram[a*c+b], s.gram[b*c+a] = x, x
			}
		}
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return nil
}

// mixDoubled sets m and e to the mean and error of column j of CR at an input.
func (f *Filter) mixDoubled(m []doubled.Float, r blas64.General, i, j int) (e doubled.Float) {
	s, d, c := f.system.doubled, f.dim, f.cols
	clear(m)
	for a := range c {
		w := doubled.Of(r.Data[a*r.Stride+j])
		if s.low.Rows > 0 {
			w.Lo = s.low.Data[a*s.low.Stride+j]
		}
		if w.Hi != 0 {
			e = e.Add(s.errs[i*c+a].Mul(w))
			addScaledDoubled(m, w, s.mean[(i*c+a)*d:][:d])
		}
	}
	return e
}

// backwardDoubled is backwardBlocks.
func (f *Filter) backwardDoubled(grad []float64, r blas64.General) {
	y, s, n, d, last := &f.system, f.system.doubled, len(f.t), f.dim, len(grad)-1
	clear(grad)
	clear(f.blockWork.views)
	numbers := func(size int) []doubled.Float { return make([]doubled.Float, size) }
	rs, ms, es := make([][]doubled.Float, r.Cols), make([][]doubled.Float, r.Cols), make([]doubled.Float, r.Cols)
	for j := range rs {
		rs[j], ms[j] = numbers(d), numbers(d)
	}
	inform, m, kept, carried, work := numbers(d*d), numbers(d*d), numbers(d*d), numbers(d*d), numbers(d*d)
	k, u, x, column := numbers(d), numbers(d), numbers(d), numbers(d)
	for i := n - 1; i >= 0; i-- {
		if i%chunk == 0 {
			parallel.Look(f.Ctx)
		}
		h, cov, g, v := s.h[y.viewed.of[i]], s.cov[i*d*d:][:d*d], s.gain[i*d:][:d], s.s[i]
		for a := range d {
			k[a] = g[a].Div(v)
		}
		multiplyDoubled(u, inform, k)
		c := doubled.Of(1).Div(v).Add(doubled.Dot(k, u))
		diag := c
		// In h: P(c·h − Nk − Σ α_j·r_j) − Σ α_j·m_j, where r_j includes this observation.
		for a := range d {
			x[a] = c.Mul(h[a]).Sub(u[a])
		}
		clear(column)
		for j := range rs {
			es[j] = f.mixDoubled(ms[j], r, i, j)
			alpha := es[j].Div(v).Sub(doubled.Dot(k, rs[j]))
			addScaledDoubled(rs[j], alpha, h)
			diag = diag.Sub(alpha.Mul(alpha))
			addScaledDoubled(x, alpha.Neg(), rs[j])
			addScaledDoubled(column, alpha.Neg(), ms[j])
		}
		views := f.blockWork.views[y.viewed.of[i]*d:][:d]
		for a := range d {
			views[a] += doubled.Dot(cov[a*d:][:d], x).Add(column[a]).Hi
		}
		grad[last] += 0.5 * f.noise * diag.Hi
		if f.own != nil {
			f.diag[i] = diag.Hi
		}
		for a := range d {
			for b := range a + 1 {
				w := inform[a*d+b].Sub(h[a].Mul(u[b])).Sub(u[a].Mul(h[b])).Add(c.Mul(h[a]).Mul(h[b]))
				inform[a*d+b], inform[b*d+a] = w, w
				for j := range rs {
					w = w.Sub(rs[j][a].Mul(rs[j][b]))
				}
				m[a*d+b], m[b*d+a] = w, w
			}
		}
		if i > 0 {
			lessDoubled(kept, s.cov[(i-1)*d*d:][:d*d], s.gain[(i-1)*d:][:d], s.s[i-1])
			f.leftDoubled(carried, kept, i) // ΦP′
			for j := range rs {             // mean of the step
				es[j] = f.mixDoubled(ms[j], r, i-1, j)
				e := es[j].Div(s.s[i-1])
				addScaledDoubled(ms[j], e, s.gain[(i-1)*d:][:d])
			}
		}
		for iu := range y.units {
			t := &y.units[iu]
			dd := t.dim * t.dim
			forms := f.blockWork.forms[t.block]
			z, q := forms[:dd], forms[dd:2*dd]
			clear(z)
			noise, low := f.noiseOf(t, i), f.lowOf(t, i)
			var sum doubled.Float
			for b := range t.dim {
				if i > 0 {
					for l := range d {
						column[l] = carried[l*d+t.at+b]
					}
				}
				for a := range t.dim {
					w, own := m[(t.at+a)*d+t.at+b], doubled.Of(noise[a*t.dim+b])
					if low != nil {
						own.Lo = low[a*t.dim+b]
					}
					q[a*t.dim+b] = 0.5 * t.scale * w.Hi
					sum = sum.Add(w.Mul(own))
					if i == 0 {
						continue
					}
					in := doubled.Dot(m[(t.at+a)*d:][:d], column)
					for j := range rs {
						in = in.Sub(rs[j][t.at+a].Mul(ms[j][t.at+b]))
					}
					z[a*t.dim+b] = in.Hi
				}
			}
			grad[y.firsts[t.block]] += 0.5 * t.scale * sum.Hi
			if low != nil { // the derivatives in the parameters, without q in the forms
				f.contractNoise(grad[y.firsts[t.block]+1:], m, t, i)
				clear(q)
			}
		}
		f.contractForms(grad, i)
		f.pullDoubled(inform, work, i)
		for j := range rs {
			f.turnBackDoubled(x, rs[j], i)
			copy(rs[j], x)
		}
	}
	f.chainViews(grad)
}

// contractNoise adds ½·tr(M∂Q) of a unit of exposures in each parameter of its process to grad.
func (f *Filter) contractNoise(grad []float64, m []doubled.Float, t *piece, i int) {
	e := f.system.blocks[t.block].Process.(*Exposed)
	ws := &f.blockWork.windows[t.block]
	for p, dq := range e.noiseDoubled(ws, f.strideInto(ws, i), e.Params).dq {
		var sum doubled.Float
		for a := range t.dim {
			sum = sum.Add(doubled.Dot(dq[a*t.dim:][:t.dim], m[(t.at+a)*f.dim+t.at:]))
		}
		grad[p] += 0.5 * t.scale * sum.Hi
	}
}

// posteriorDoubled is posteriorBlocks.
func (f *Filter) posteriorDoubled(means blas64.General, variance []float64, at []doubled.Float, view, order []int) {
	s, d, c, last := f.system.doubled, f.dim, f.cols, len(f.t)
	numbers := func(size int) []doubled.Float { return make([]doubled.Float, size) }
	m, info, inform, p, ahead, work := numbers(c*d), numbers(c*d), numbers(d*d), numbers(d*d), numbers(d*d), numbers(d*d)
	g, x, k, u, observed, turned := numbers(d), numbers(d), numbers(d), numbers(d), numbers(c), numbers(c*d)
	for i := last - 1; i >= -1 && len(order) > 0; i-- {
		clear(m)
		clear(p)
		if i >= 0 {
			v := s.s[i]
			for a := range d {
				k[a] = s.gain[i*d+a].Div(v)
			}
			lessDoubled(p, s.cov[i*d*d:][:d*d], s.gain[i*d:][:d], v)
			copy(m, s.mean[i*c*d:][:c*d])
			for j := range c {
				addScaledDoubled(m[j*d:][:d], s.errs[i*c+j], k)
			}
		}
		for len(order) > 0 && (i < 0 || f.reached(at[order[0]], i)) {
			o := order[0]
			order = order[1:]
			h := s.h[view[o]]
			f.over(i+1, at[o], view[o], false)
			copy(ahead, p)
			f.carryDoubled(ahead, work, -1)
			multiplyDoubled(g, ahead, h)
			v := doubled.Dot(h, g)
			for j := range c {
				f.turnDoubled(turned[j*d:][:d], m[j*d:][:d], -1)
				observed[j] = doubled.Dot(h, turned[j*d:][:d])
			}
			if i+1 < last {
				f.over(i+1, at[o], view[o], true)
				future := f.aheadDoubled(ahead, turned, inform, info, i+1)
				f.turnDoubled(x, g, -1)
				for j := range c {
					observed[j] = observed[j].Add(doubled.Dot(x, future[d+j]))
				}
				for a := range d {
					v = v.Sub(x[a].Mul(doubled.Dot(x, future[a])))
				}
			}
			for j := range c {
				means.Data[o*means.Stride+j] = observed[j].Hi
			}
			if variance != nil {
				variance[o] = max(0, v.Hi)
			}
		}
		if i >= 0 {
			h, v := s.h[f.system.viewed.of[i]], s.s[i]
			if i+1 < last {
				for j := range c {
					f.turnBackDoubled(x, info[j*d:][:d], i+1)
					copy(info[j*d:], x)
				}
				f.pullDoubled(inform, work, i+1)
			}
			multiplyDoubled(u, inform, k)
			w := doubled.Of(1).Div(v).Add(doubled.Dot(k, u))
			for a := range d {
				for b := range d {
					inform[a*d+b] = inform[a*d+b].Sub(h[a].Mul(u[b])).Sub(u[a].Mul(h[b])).Add(w.Mul(h[a]).Mul(h[b]))
				}
			}
			for j := range c {
				r := info[j*d:][:d]
				alpha := s.errs[i*c+j].Div(v).Sub(doubled.Dot(k, r))
				addScaledDoubled(r, alpha, h)
			}
		}
	}
}

// aheadDoubled returns N and the r of each column at input i, by rows, for the step to it from an earlier place with the
// covariance p and the means of the columns. inform and info belong to the step from input i − 1. The two steps by way of the
// place make the covariance of input i, and its means, differ by roundings of Φ and Q. With N⁻¹ = P + Λ⁻¹, where Λ is the
// information of the observations from input i on about the state, replacing P by P − E turns N into (1 − NE)⁻¹N, and reducing
// means by δ turns r into (1 − NE)⁻¹(r + Nδ). It changes p.
func (f *Filter) aheadDoubled(p, means, inform, info []doubled.Float, i int) (future [][]doubled.Float) {
	s, d, c := f.system.doubled, f.dim, f.cols
	before, moved := make([]doubled.Float, d*d), make([]doubled.Float, d)
	f.carryDoubled(p, before, -1)
	for k := range p {
		p[k] = s.cov[i*d*d+k].Sub(p[k])
	}
	less, future := make([][]doubled.Float, d), make([][]doubled.Float, d+c) // 1 − NE and, by columns, the right-hand sides
	for a := range less {
		less[a] = make([]doubled.Float, d)
		for b := range d {
			less[a][b] = doubled.Dot(inform[a*d:][:d], p[b*d:][:d]).Neg()
		}
		less[a][a] = less[a][a].Add(doubled.Of(1))
		future[a] = slices.Clone(inform[a*d:][:d])
	}
	for j := range c {
		f.turnDoubled(moved, means[j*d:][:d], -1)
		for a := range d {
			moved[a] = s.mean[(i*c+j)*d+a].Sub(moved[a])
		}
		right := make([]doubled.Float, d)
		multiplyDoubled(right, inform, moved)
		for a := range d {
			right[a] = right[a].Add(info[j*d+a])
		}
		future[d+j] = right
	}
	solveDoubled(less, future)
	return future
}

// solveDoubled sets each b to A⁻¹b, by elimination with pivots. It changes A, given by rows.
func solveDoubled(a [][]doubled.Float, b [][]doubled.Float) {
	n := len(a)
	for k := range n {
		most := k
		for i := k + 1; i < n; i++ {
			if a[i][k].Abs().Hi > a[most][k].Abs().Hi {
				most = i
			}
		}
		a[k], a[most] = a[most], a[k]
		for _, x := range b {
			x[k], x[most] = x[most], x[k]
		}
		for i := k + 1; i < n; i++ {
			w := a[i][k].Div(a[k][k]).Neg()
			addScaledDoubled(a[i][k:], w, a[k][k:])
			for _, x := range b {
				x[i] = x[i].Add(w.Mul(x[k]))
			}
		}
	}
	for _, x := range b {
		for i := n - 1; i >= 0; i-- {
			x[i] = x[i].Sub(doubled.Dot(a[i][i+1:], x[i+1:])).Div(a[i][i])
		}
	}
}
