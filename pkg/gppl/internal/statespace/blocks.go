package statespace

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// What a Filter does with blocks: the formulas at Filter, for an h that turns and a Φ with a square on its diagonal for each
// unit, the state of one process. P and N are symmetric and kept by pairs of units (u, v ≤ u), d_u×d_v each, one after another: a
// pair goes to ΦᵤPᵤᵥΦᵥᵀ by itself, whatever the number of units. What an observation fixes, hᵀx, is no number of the state: P −
// s·k·kᵀ is a difference there, and rounding costs v/σ², as in dense algebra, where for Components it costs √(v/σ²).

// system is what a Filter knows of its blocks.
type system struct {
	blocks []Block
	units  []piece
	rows   []int       // where the pairs of a unit begin in P, and the size of P at the end
	phi, q [][]float64 // Φ and Q of the process of each block at each input, n×d×d
	low    [][]float64 // what Q has beyond float64, of exposures where the filter is doubled; else nil
	h      []float64   // of each unit, n×units
	phases []float64   // 2π(t − origin)/p of each block with weights, n each
	gain   []float64   // Ph, n×D
	origin float64
	twos   bool  // all processes have two numbers
	matern bool  // and are Matérn 3/2
	firsts []int // where the derivatives of each block begin
	viewed viewed

	exposures *Schedule     // those that end at each input; nil: none
	doubled   *doubledState // nil: in float64
}

// room is what a Filter with blocks works in.
type room struct {
	ahead, zero     []float64   // as P
	g, gk, u, uk, q []float64   // D each
	seen            []float64   // h of each unit
	phi, noise, low [][]float64 // of each block over a gap that is none of the inputs'
	slopes          []float64   // of a process
	forms           [][]float64 // the adjoints of Φ and of Q of each block, d×d each
	pair            [4][]float64
	rates           []float64 // a and e⁻ᵃ of each block, where all are Matérn 3/2
	turned          []float64 // Pq at their first numbers
	tilted          []float64 // of each block, what the means add to the derivative in its lengthscale
	views           []float64 // the derivatives in h of each view, D each
	windows         []windows // of each block
}

// factorisePairs is Factorise ByPairs. It keeps the blocks.
func (f *Filter) factorisePairs(columns blas64.General, blocks []Block, noise float64) error {
	if columns.Cols > 0 && columns.Rows != len(f.t) {
		panic(fmt.Sprintf("statespace: %d observations at %d inputs", columns.Rows, len(f.t)))
	}
	if err := checkBlocks(blocks); err != nil {
		return err
	}
	if err := f.begin(columns.Cols, noise); err != nil {
		return err
	}
	f.cs = f.cs[:0]
	f.system.doubled = nil
	f.setBlocks(blocks)
	if f.system.viewed.views != nil {
		if err := f.setViews(blocks); err != nil {
			return err
		}
	}
	f.makeRoom(columns.Cols)
	if columns.Cols == 0 {
		columns = blas64.General{Rows: len(f.t), Cols: 1, Stride: 1, Data: f.errs[:len(f.t)]}
		clear(columns.Data)
	}
	var err error
	defer f.beside.Wait()
	f.quad, err = f.forwardBlocks(columns)
	return err
}

// fewSteps is how many transitions of a block are set before another processor has begun to help.
const fewSteps = 4096

// setBlocks sets the transitions into each input, and h there.
func (f *Filter) setBlocks(blocks []Block) {
	s, n := &f.system, len(f.t)
	s.blocks = append(s.blocks[:0], blocks...)
	s.units, f.dim = units(s.units, blocks)
	s.rows, s.twos, s.matern, s.firsts = s.rows[:0], true, s.viewed.views == nil, s.firsts[:0]
	first := 0
	for b := range blocks {
		p, is := blocks[b].Process.(*Matern)
		s.matern = s.matern && is && p.Order == 1
		s.firsts = append(s.firsts, first)
		first += blocks[b].derivatives()
	}
	size := 0
	for _, u := range s.units {
		s.rows = append(s.rows, size)
		size += u.dim * (u.at + u.dim)
		s.twos = s.twos && u.dim == 2
	}
	s.rows = append(s.rows, size)
	if n > 0 {
		s.origin = f.t[0] + 0.5*(f.t[n-1]-f.t[0])
	}
	for len(s.phi) < len(blocks) {
		s.phi, s.q, s.low = append(s.phi, nil), append(s.q, nil), append(s.low, nil)
	}
	s.phases = dense.Resize(s.phases, n*len(blocks))
	for b, block := range blocks {
		d := block.Process.Dim()
		s.phi[b], s.q[b] = dense.Resize(s.phi[b], n*d*d), dense.Resize(s.q[b], n*d*d)
		if s.low[b] = s.low[b][:0]; s.sharpens(b) {
			s.low[b] = dense.Resize(s.low[b], n*d*d)
		}
	}
	step := chunk
	if n < fewSteps {
		step = fewSteps
	}
	parts := (n + step - 1) / step
	parallel.Within(f.Ctx, parts*len(blocks), func(part int) {
		from := part % parts * step
		f.setSteps(part/parts, from, min(from+step, n))
	})
	turning := false
	for b, block := range blocks {
		if block.Weights != nil {
			turning = true
			for i, t := range f.t {
				s.phases[b*n+i] = 2 * math.Pi * (t - s.origin) / block.Period
			}
		}
	}
	s.h = dense.Resize(s.h, n*len(s.units))
	if !turning {
		for i := range s.h {
			s.h[i] = 1
		}
		return
	}
	for i, t := range f.t {
		s.look(s.h[i*len(s.units):][:len(s.units)], t)
	}
}

// setSteps sets the transitions of a block into inputs from to to.
func (f *Filter) setSteps(b, from, to int) {
	s, process := &f.system, f.system.blocks[b].Process
	d := process.Dim()
	exposed, _ := process.(*Exposed)
	var w windows
	for i := from; i < to; i++ {
		at := i * d * d
		phi, q := s.phi[b][at:][:d*d], s.q[b][at:][:d*d]
		if exposed != nil && s.exposures != nil {
			st := f.strideInto(&w, i)
			exposed.step(phi, q, &w, st)
			if s.sharpens(b) {
				exposed.sharpen(q, s.low[b][at:], &w, st)
			}
			continue
		}
		gap := math.Inf(1)
		if i > 0 {
			gap = f.t[i] - f.t[i-1]
		}
		if i-1 > from && gap == f.t[i-1]-f.t[i-2] { // regular inputs take the same steps
			copy(phi, s.phi[b][at-d*d:])
			copy(q, s.q[b][at-d*d:])
			continue
		}
		process.Transition(phi, q, gap)
	}
}

// look sets h to that of each unit at t. The phase is reduced exactly, but for the rounding of what t − origin leaves.
func (s *system) look(h []float64, t float64) {
	at := 0
	for _, b := range s.blocks {
		if b.Weights == nil {
			h[at] = 1
			at++
			continue
		}
		away := t - s.origin
		back := away + s.origin // away + lost is t − origin exactly
		lost := (t - back) + ((back - away) - s.origin)
		turns := math.Round(away / b.Period)
		sin, cos := math.Sincos(2 * math.Pi * (math.FMA(-turns, b.Period, away) + lost) / b.Period)
		c, v := 1., 0.
		for range b.First {
			c, v = c*cos-v*sin, v*cos+c*sin
		}
		for j := range b.Weights {
			h[at] = c
			at++
			if b.First+j > 0 {
				h[at] = v
				at++
			}
			c, v = c*cos-v*sin, v*cos+c*sin
		}
	}
}

// allocateBlocks makes room to work in.
func (f *Filter) allocateBlocks() {
	s, d := &f.system, f.dim
	r := &f.room
	size := s.rows[len(s.units)]
	r.ahead, r.zero = dense.Resize(r.ahead, size), dense.Resize(r.zero, size)
	clear(r.zero)
	for _, v := range []*[]float64{&r.g, &r.gk, &r.u, &r.uk, &r.q, &r.turned} {
		*v = dense.Resize(*v, d)
	}
	r.rates, r.tilted = dense.Resize(r.rates, 2*len(s.blocks)), dense.Resize(r.tilted, len(s.blocks))
	r.seen, r.views = dense.Resize(r.seen, len(s.units)), dense.Resize(r.views, len(s.viewed.views)*d)
	for len(r.windows) < len(s.blocks) {
		r.windows = append(r.windows, windows{})
	}
	for b := range r.windows {
		r.windows[b].reset()
	}
	widest, slopes := 0, 0
	for b, block := range s.blocks {
		dim := block.Process.Dim()
		if b == len(r.phi) {
			r.phi, r.noise, r.forms, r.low = append(r.phi, nil), append(r.noise, nil), append(r.forms, nil), append(r.low, nil)
		}
		if s.sharpens(b) {
			r.low[b] = dense.Resize(r.low[b], dim*dim)
		}
		r.phi[b], r.noise[b], r.forms[b] = dense.Resize(r.phi[b], dim*dim), dense.Resize(r.noise[b], dim*dim),
			dense.Resize(r.forms[b], 2*dim*dim)
		widest, slopes = max(widest, dim), max(slopes, 2*dim*dim*block.Params)
	}
	r.slopes = dense.Resize(r.slopes, slopes)
	for i := range r.pair {
		r.pair[i] = dense.Resize(r.pair[i], widest*widest)
	}
	f.r, f.k, f.w = dense.Resize(f.r, d), dense.Resize(f.k, d), dense.Resize(f.w, d)
	f.n = dense.Resize(f.n, size)
}

// sharpens reports whether Q of a block is kept in twice the digits.
func (s *system) sharpens(b int) bool {
	_, exposed := s.blocks[b].Process.(*Exposed)
	return exposed && s.exposures != nil && s.doubled != nil
}

// step returns Φ and Q of unit u at input i, without its scale.
func (s *system) step(u *piece, i int) (phi, q []float64) {
	dd := u.dim * u.dim
	return s.phi[u.block][i*dd:][:dd], s.q[u.block][i*dd:][:dd]
}

// over sets the transitions from input i−1 to a place before input i that is seen by a view or, if onward, from there to input i.
// Input −1 and input n are infinitely far.
func (f *Filter) over(i int, at doubled.Float, view int, onward bool) {
	gap, from, to := math.Inf(1), seenBy(f.system.viewed.of, i-1), view
	if i > 0 {
		gap = at.Hi - f.t[i-1]
	}
	if onward {
		gap, from, to = f.t[i]-at.Hi, view, seenBy(f.system.viewed.of, i)
	}
	for b, block := range f.system.blocks {
		phi, noise, d := f.room.phi[b], f.room.noise[b], block.Process.Dim()
		if e, ok := block.Process.(*Exposed); ok && f.system.exposures != nil {
			ws := &f.room.windows[b]
			st := f.halfway(ws, i, at, onward)
			e.step(phi, noise, ws, st)
			if f.system.sharpens(b) {
				e.sharpen(noise, f.room.low[b], ws, st)
				swapFirst(f.room.low[b], d, e.Slots, !onward, !onward)
			}
			swapFirst(phi, d, e.Slots, !onward, onward) // f is seen between the inputs, not its average
			swapFirst(noise, d, e.Slots, !onward, !onward)
		} else {
			block.Process.Transition(phi, noise, gap)
		}
		if f.system.viewed.views != nil && f.system.doubled == nil {
			f.system.viewed.through(phi, noise, b, from, to, d)
		}
	}
}

// turn sets dst = Φx of input i, of the gap in room if i < 0; dst may not be x.
func (f *Filter) turn(dst, x []float64, i int) {
	if f.system.twos && i >= 0 {
		for j := range f.system.units {
			p := f.system.phi[f.system.units[j].block][4*i : 4*i+4 : 4*i+4]
			a, b := x[2*j], x[2*j+1]
			dst[2*j], dst[2*j+1] = p[0]*a+p[1]*b, p[2]*a+p[3]*b
		}
		return
	}
	for j := range f.system.units {
		u := &f.system.units[j]
		apply(dst[u.at:][:u.dim], f.phiOf(u, i), x[u.at:][:u.dim])
	}
}

// turnBack sets dst = Φᵀx.
func (f *Filter) turnBack(dst, x []float64, i int) {
	if f.system.twos && i >= 0 {
		for j := range f.system.units {
			p := f.system.phi[f.system.units[j].block][4*i : 4*i+4 : 4*i+4]
			a, b := x[2*j], x[2*j+1]
			dst[2*j], dst[2*j+1] = p[0]*a+p[2]*b, p[1]*a+p[3]*b
		}
		return
	}
	for j := range f.system.units {
		u := &f.system.units[j]
		phi := f.phiOf(u, i)
		to := dst[u.at:][:u.dim]
		clear(to)
		for a, v := range x[u.at:][:u.dim] {
			addScaled(to, v, phi[a*u.dim:])
		}
	}
}

func (f *Filter) phiOf(u *piece, i int) []float64 {
	if i < 0 {
		return f.room.phi[u.block]
	}
	phi, _ := f.system.step(u, i)
	return phi
}

func (f *Filter) noiseOf(u *piece, i int) []float64 {
	if i < 0 {
		return f.room.noise[u.block]
	}
	_, q := f.system.step(u, i)
	return q
}

// hAt returns h of each unit at input i.
func (s *system) hAt(i int) []float64 { return s.h[i*len(s.units):][:len(s.units)] }

// see returns hᵀx.
func (s *system) see(h, x []float64) (y float64) {
	for j := range s.units {
		y += h[j] * x[s.units[j].at]
	}
	return y
}

// advance sets dst = Φ(P − g·gᵀ/s)Φᵀ + Q and next = dst·h, where src is P, by the transitions of input i or, if i < 0, of the
// gap in room.
func (f *Filter) advance(dst, next, src, g []float64, inv float64, h []float64, i int) {
	s := &f.system
	k := f.room.gk
	for a, v := range g {
		k[a] = v * inv
	}
	clear(next)
	if s.matern && i >= 0 {
		f.advanceMatern(dst, next, src, g, k, h, i)
		return
	}
	if s.twos {
		f.advance2(dst, next, src, g, k, h, i)
		return
	}
	at := 0
	p, x := f.room.pair[0], f.room.pair[1]
	for iu := range s.units {
		u := &s.units[iu]
		phi := f.phiOf(u, i)
		for iv := range iu + 1 {
			v := &s.units[iv]
			size := u.dim * v.dim
			for a := range u.dim {
				for b := range v.dim {
					p[a*v.dim+b] = src[at+a*v.dim+b] - k[u.at+a]*g[v.at+b]
				}
			}
			y := dst[at:][:size]
			leftRight(y, x, phi, p, f.phiOf(v, i), u.dim, v.dim)
			if iu == iv {
				for a, q := range f.noiseOf(u, i) {
					y[a] += u.scale * q
				}
			}
			addPair(next, y, h, s, iu, iv)
			at += size
		}
	}
}

// addPair adds the products of a pair of a symmetric matrix, and of its mirror image, with h to dst.
func addPair(dst, y, h []float64, s *system, iu, iv int) {
	u, v := &s.units[iu], &s.units[iv]
	for a := range u.dim {
		dst[u.at+a] += y[a*v.dim] * h[iv]
	}
	if iu == iv {
		return
	}
	addScaled(dst[v.at:][:v.dim], h[iu], y)
}

// leftRight sets dst = A·P·Bᵀ, m×n. It uses x, m×n.
func leftRight(dst, x, a, p, b []float64, m, n int) {
	for i := range m {
		row := x[i*n:][:n]
		clear(row)
		for j, w := range a[i*m:][:m] {
			addScaled(row, w, p[j*n:])
		}
		for j := range n {
			var v float64
			for k, w := range b[j*n:][:n] {
				v += w * row[k]
			}
			dst[i*n+j] = v
		}
	}
}

// forwardBlocks is forward.
func (f *Filter) forwardBlocks(columns blas64.General) (quad float64, err error) {
	s, n, d := &f.system, len(f.t), f.dim
	size := s.rows[len(s.units)]
	scale := f.noise*f.most.share + f.most.known
	if s.viewed.views != nil {
		scale += s.viewed.most
	} else {
		for j := range s.units {
			scale += s.units[j].scale * s.q[s.units[j].block][0]
		}
	}
	if s.one() {
		return f.forwardOne(columns, scale)
	}
	if s.pair() {
		return f.forwardPair(columns, scale)
	}
	_, step := f.means()
	logs := logSum{prod: 1}
	clear(f.w)
	clear(f.room.g)
	src, g, inv := f.room.zero, f.room.g, 0.
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, f.w...)
		scaled, to := f.scaledIn(from), min(from+chunk, n)
		for i := from; i < to; i++ {
			h, cov, gain := s.hAt(i), f.cov[i*size:][:size], s.gain[i*d:][:d]
			f.advance(cov, gain, src, g, inv, h, i)
			v := s.see(h, gain) + f.noiseAt(i)
			if !(v > tiny*scale) {
				return 0, NotPositive{i}
			}
			logs.add(v / scale)
			inv = 1 / v
			f.inv[i], src, g = inv, cov, gain
			for a, p := range gain {
				f.k[a] = p * inv
			}
			y := columns.Data[i*columns.Stride:][:columns.Cols]
			mean := f.mean[i*d:][:d]
			f.turn(mean, f.w, i)
			e := y[0] - s.see(h, mean)
			f.errs[i] = e
			quad += e * e * inv
			f.move(f.w, mean, e)
			for j, yj := range y[1:] {
				at, after := (j+1)*n+i, f.after[j*d:][:d]
				mean := f.mean[(n+j*step+i)*d:][:d]
				f.turn(mean, after, i)
				e := yj - s.see(h, mean)
				f.errs[at], scaled[j*chunk+i-from] = e, e*inv
				f.move(after, mean, e)
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// gainBlocks sets k for input i.
func (f *Filter) gainBlocks(i int) {
	for a, p := range f.system.gain[i*f.dim:][:f.dim] {
		f.k[a] = p * f.inv[i]
	}
}

// informBlocks is inform.
func (f *Filter) informBlocks(r []float64, e float64, i int) (alpha float64) {
	alpha = e*f.inv[i] - dot(f.k, r)
	for j, h := range f.system.hAt(i) {
		r[f.system.units[j].at] += alpha * h
	}
	return alpha
}

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// solveBlocks is Solve.
func (f *Filter) solveBlocks(dst, b []float64) {
	s, after := &f.system, f.r
	clear(after)
	for i, v := range b {
		f.lookAt(i)
		f.turn(f.w, after, i)
		v -= s.see(s.hAt(i), f.w)
		f.gainBlocks(i)
		f.move(after, f.w, v)
		dst[i] = v
	}
	clear(f.r)
	for i := len(dst) - 1; i >= 0; i-- {
		f.lookAt(i)
		f.gainBlocks(i)
		dst[i] = f.informBlocks(f.r, dst[i], i)
		f.turnBack(f.w, f.r, i)
		copy(f.r, f.w)
	}
}

// multiply sets dst = M·x for a symmetric matrix by pairs.
func (s *system) multiply(dst, m, x []float64) {
	clear(dst)
	at := 0
	for iu := range s.units {
		u := &s.units[iu]
		for iv := range iu + 1 {
			v := &s.units[iv]
			for a := range u.dim {
				row := m[at+a*v.dim:][:v.dim]
				for b, w := range row {
					dst[u.at+a] += w * x[v.at+b]
				}
				if iu != iv {
					addScaled(dst[v.at:][:v.dim], x[u.at+a], row)
				}
			}
			at += u.dim * v.dim
		}
	}
}

// absorb takes N from after an observation to before it: N − h·uᵀ − u·hᵀ + c·h·hᵀ, u = Nk, c = kᵀu + 1/s.
func (s *system) absorb(m, h, u []float64, c float64) {
	at := 0
	for iu := range s.units {
		x := &s.units[iu]
		for iv := range iu + 1 {
			y := &s.units[iv]
			for a := range x.dim {
				m[at+a*y.dim] -= u[x.at+a] * h[iv]
			}
			for b := range y.dim {
				m[at+b] -= h[iu] * u[y.at+b]
			}
			m[at] += c * h[iu] * h[iv]
			at += x.dim * y.dim
		}
	}
}

// pull sets N = ΦᵀNΦ by the transitions of input i, of the gap in room if i < 0.
func (f *Filter) pull(m []float64, i int) {
	s := &f.system
	at := 0
	x, y := f.room.pair[0], f.room.pair[1]
	for iu := range s.units {
		u := &s.units[iu]
		a := f.phiOf(u, i)
		for iv := range iu + 1 {
			v := &s.units[iv]
			b := f.phiOf(v, i)
			p := m[at:][:u.dim*v.dim]
			for r := range u.dim { // x = N·B
				row := x[r*v.dim:][:v.dim]
				clear(row)
				for c := range v.dim {
					addScaled(row, p[r*v.dim+c], b[c*v.dim:])
				}
			}
			clear(y[:len(p)])
			for r := range u.dim { // Aᵀx
				for c := range u.dim {
					addScaled(y[c*v.dim:][:v.dim], a[r*u.dim+c], x[r*v.dim:])
				}
			}
			copy(p, y)
			at += len(p)
		}
	}
}
