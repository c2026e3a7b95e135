package statespace

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Memory of a Filter.

// begin sets the noise and the number of columns.
func (f *Filter) begin(cols int, noise float64) error {
	if !(noise >= 0 && noise <= math.MaxFloat64) {
		return fmt.Errorf("statespace: noise variance %v must be finite and not negative", noise)
	}
	f.noise, f.cols = noise, cols
	f.setOwn()
	return nil
}

// setOwn sets the noise variance of each input, where they differ.
func (f *Filter) setOwn() {
	if f.known == nil && f.share == nil {
		f.own = nil
		return
	}
	f.own = dense.Resize(f.own, len(f.t))
	for i := range f.own {
		f.own[i] = f.noise * f.shareAt(i)
		if f.known != nil {
			f.own[i] += f.known[i]
		}
	}
}

// makeRoom allocates the memory of the factorisation.
func (f *Filter) makeRoom(cols int) {
	n, d := len(f.t), f.dim
	size := d * d
	if len(f.system.blocks) > 0 {
		size = f.system.rows[len(f.system.units)]
		f.system.gain = dense.Resize(f.system.gain, n*d)
	}
	rows, _ := f.means()
	f.mean, f.errs = dense.Resize(f.mean, rows*n*d), dense.Resize(f.errs, max(1, cols)*n)
	f.marks, f.recalled = f.marks[:0], 0
	if rows < cols {
		f.marks = dense.Resize(f.marks, (n+chunk-1)/chunk*cols*d)
	}
	f.gram = dense.Resize(f.gram, cols*cols)
	clear(f.gram)
	f.after, f.scaled = dense.Resize(f.after, cols*d), dense.Resize(f.scaled, 2*cols*chunk)
	clear(f.after)
	f.cov, f.inv = dense.Resize(f.cov, n*size), dense.Resize(f.inv, n)
	f.allocate()
}

// allocate allocates working memory for the current components.
func (f *Filter) allocate() {
	if len(f.system.blocks) > 0 {
		f.allocateBlocks()
		return
	}
	d := f.dim
	f.work = dense.Resize(f.work, 3*d+5*d*d+2*9*len(f.cs))
	free := f.work
	take := func(size int) (x []float64) {
		x, free = free[:size:size], free[size:]
		clear(x)
		return x
	}
	f.r, f.k, f.w = take(d), take(d), take(d)
	f.p, f.n, f.m, f.x = take(d*d), take(d*d), take(d*d), take(d*d)
	f.phi = take(d * d)
	f.block, f.q = f.block[:0], f.q[:0]
	for _, comp := range f.cs {
		dd := comp.dim() * comp.dim()
		f.block, f.q = append(f.block, take(dd)), append(f.q, take(dd))
	}
}

// allocateBlocks allocates working memory for the current blocks.
func (f *Filter) allocateBlocks() {
	s, d := &f.system, f.dim
	r := &f.blockWork
	size := s.rows[len(s.units)]
	r.ahead, r.zero = dense.Resize(r.ahead, size), dense.Resize(r.zero, size)
	clear(r.zero)
	for _, v := range []*[]float64{&r.g, &r.gk, &r.u, &r.uk, &r.q, &r.turned} {
		*v = dense.Resize(*v, d)
	}
	r.rates, r.tilted = dense.Resize(r.rates, 2*len(s.blocks)), dense.Resize(r.tilted, len(s.blocks))
	r.observed, r.views = dense.Resize(r.observed, len(s.units)), dense.Resize(r.views, len(s.viewed.views)*d)
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
