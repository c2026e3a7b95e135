package statespace

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// A Filter treats blocks by the formulas at Filter, for an h that turns and a Φ with a square on its diagonal for each unit, the
// state of one process. P and N are symmetric and kept by pairs of units (u, v ≤ u), d_u×d_v each, one after another: each pair
// goes to ΦᵤPᵤᵥΦᵥᵀ separately, for any number of units. The observed hᵀx is not a number of the state: P − s·k·kᵀ is a difference
// there, and rounding is amplified by v/σ², as in dense algebra; with BySum it is amplified by √(v/σ²).

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

// fewSteps is the number of transitions of a block that one processor sets before another could have started.
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

// setSteps sets the transitions of a block into the inputs from … to−1.
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

// over sets the transitions from input i−1 to a place before input i that a view observes or, if onward, from there to input
// i. Inputs −1 and n are infinitely far.
func (f *Filter) over(i int, at doubled.Float, view int, onward bool) {
	gap, from, to := math.Inf(1), seenBy(f.system.viewed.of, i-1), view
	if i > 0 {
		gap = at.Hi - f.t[i-1]
	}
	if onward {
		gap, from, to = f.t[i]-at.Hi, view, seenBy(f.system.viewed.of, i)
	}
	for b, block := range f.system.blocks {
		phi, noise, d := f.blockWork.phi[b], f.blockWork.noise[b], block.Process.Dim()
		if e, ok := block.Process.(*Exposed); ok && f.system.exposures != nil {
			ws := &f.blockWork.windows[b]
			st := f.halfway(ws, i, at, onward)
			e.step(phi, noise, ws, st)
			if f.system.sharpens(b) {
				e.sharpen(noise, f.blockWork.low[b], ws, st)
				swapFirst(f.blockWork.low[b], d, e.Slots, !onward, !onward)
			}
			swapFirst(phi, d, e.Slots, !onward, onward) // between the inputs f is observed, not its average
			swapFirst(noise, d, e.Slots, !onward, !onward)
		} else {
			block.Process.Transition(phi, noise, gap)
		}
		if f.system.viewed.views != nil && f.system.doubled == nil {
			f.system.viewed.through(phi, noise, b, from, to, d)
		}
	}
}

// advance sets dst = Φ(P − g·gᵀ/s)Φᵀ + Q and next = dst·h, where src is P, by the transitions of input i or, if i < 0, of the
// gap in blockWork.
func (f *Filter) advance(dst, next, src, g []float64, inv float64, h []float64, i int) {
	s := &f.system
	k := f.blockWork.gk
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
	p, x := f.blockWork.pair[0], f.blockWork.pair[1]
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

// forwardBlocks is forward for blocks.
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
	clear(f.blockWork.g)
	src, g, inv := f.blockWork.zero, f.blockWork.g, 0.
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

// solveBlocks is Solve for blocks.
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
