package gridded

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
)

// Workspace is scratch memory for Factor. Reused from call to call, it saves allocations. One goroutine at a time may use it, for
// any factor. The zero value is ready.
type Workspace struct {
	// Ctx, unless nil, is checked in all loops: once it has ended, work on this workspace panics with a parallel.Stop.
	Ctx context.Context

	p                   int
	coarseFFT, fineFFT  *fourier.FFT // transforms of p and of 2p numbers
	column              []float64    // p
	fine                []float64
	coarseHat, fineHat  []complex128
	padded              []float64         // ρ, with reach more places at both ends
	weights             [2]blas64.General // w: z×e, for even and odd
	inverse             banded.Matrix
	bands               [2]blas64.General // bands of G + σ⁻⁴hhᵀ, like Factor.bands
	slopes              [2]blas64.General // derivatives with respect to w: e×z
	shares              [chunks]share
	formShare           func(int)
	fillBlock, readInto func(int)
	adjointShare        func(int)
	tile, readTile      func(row, col int, t blas64.General)

	// Operands of the loops that run in parallel.
	f      *Factor
	matrix *banded.Matrix
	h      blas64.General
}

// share is the memory of one share of the grid points.
type share struct {
	window blas64.General
	slopes [2]blas64.General
}

const (
	// chunks is the number of fixed shares of the grid points.
	chunks = 8
	// windows is the number of windows of ρ that are copied at a time.
	windows = 64
)

func (w *Workspace) reset(p int) {
	if w.p == p {
		return
	}
	if w.coarseFFT == nil {
		w.coarseFFT, w.fineFFT = fourier.NewFFT(p), fourier.NewFFT(2*p)
		w.formShare, w.adjointShare = w.formChunk, w.adjointChunk
		w.fillBlock = func(j int) { w.matrix.Block(j, w.tile) }
		w.tile = func(row, col int, t blas64.General) { w.f.tile(row, col, t) }
		w.readInto = func(j int) { w.matrix.Block(j, w.readTile) }
		w.readTile = w.read
	} else {
		w.coarseFFT.Reset(p)
		w.fineFFT.Reset(2 * p)
	}
	w.p = p
	w.column, w.fine = dense.Resize(w.column, p), dense.Resize(w.fine, 2*p)
	w.coarseHat, w.fineHat = dense.Resize(w.coarseHat, p/2+1), dense.Resize(w.fineHat, p+1)
}

// density sets padded to ρ.
func (w *Workspace) density(f *Factor) {
	clear(w.fineHat)
	e := f.points.Moments
	for j := range 2*len(f.s) - 1 {
		w.fineHat[j] = complex(e[2*j], -e[2*j+1])
	}
	w.fineFFT.Sequence(w.fine, w.fineHat)
	z := f.reach
	w.padded = dense.Resize(w.padded, 2*f.p+2*z)
	copy(w.padded, w.fine[2*f.p-z:])
	copy(w.padded[z:], w.fine)
	copy(w.padded[z+2*f.p:], w.fine[:z])
}

// fillWindows sets row i of the window to ρ_(f+z) + ρ_(f−z), z = 0 … reach, and ρ_f for z = 0, f = 2(q+i) + odd.
func (w *Workspace) fillWindows(dst blas64.General, q, odd int) {
	z := w.f.reach
	for i := range dst.Rows {
		at := 2*(q+i) + odd + z
		row := dst.Data[i*dst.Stride:][:z+1]
		up, down := w.padded[at:][:z+1], w.padded[at-z:][:z+1]
		row[0] = up[0]
		for j := 1; j <= z; j++ {
			row[j] = up[j] + down[z-j]
		}
	}
}

// eachWindow calls do for the windows of a share, up to windows at a time, from q.
func (w *Workspace) eachWindow(c, odd int, do func(windows blas64.General, q int)) {
	s := &w.shares[c]
	p := w.f.p
	s.window = dense.Reshape(s.window, windows, w.f.reach+1)
	for q := p * c / chunks; q < p*(c+1)/chunks; q += windows {
		t := s.window
		t.Rows = min(windows, p*(c+1)/chunks-q)
		w.fillWindows(t, q, odd)
		do(t, q)
	}
}

func (w *Workspace) formChunk(c int) {
	for odd := range 2 {
		w.eachWindow(c, odd, func(windows blas64.General, q int) {
			multiply(blas.NoTrans, windows, w.weights[odd], 0, dense.Rows(w.f.bands[odd], q, windows.Rows))
		})
	}
}

// adjoint sets slopes to the derivatives of ½log|A| + ½Σ_j y_jᵀA⁻¹y_j with respect to
// w_d(z), z ≥ 0, by way of H, and returns tr G.
func (w *Workspace) adjoint(f *Factor, h blas64.General) (trace float64) {
	w.density(f)
	w.f, w.matrix, w.h = f, &w.inverse, h
	for odd := range 2 {
		w.bands[odd] = dense.Reshape(w.bands[odd], f.p, f.diagonals(odd))
		clear(w.bands[odd].Data)
		w.slopes[odd] = dense.Reshape(w.slopes[odd], f.diagonals(odd), f.reach+1)
		clear(w.slopes[odd].Data)
	}
	parallel.Within(w.Ctx, w.inverse.Blocks(), w.readInto)
	diagonal := w.bands[0]
	for g := range h.Rows {
		v := h.Data[g*h.Stride]
		at := &diagonal.Data[g*diagonal.Stride]
		trace += *at
		*at += v * v / (f.noise * f.noise)
	}
	for j := 1; j < h.Cols; j++ {
		w.addProducts(f, dense.Column(h, j))
	}
	parallel.Within(w.Ctx, chunks, w.adjointShare)
	scale := 0.5 / (f.noise * float64(2*f.p))
	for odd := range 2 {
		out := w.slopes[odd].Data
		for c := range w.shares {
			for i, v := range w.shares[c].slopes[odd].Data {
				out[i] += scale * v
			}
		}
	}
	w.f, w.matrix, w.h = nil, nil, blas64.General{}
	return trace
}

func (w *Workspace) adjointChunk(c int) {
	s := &w.shares[c]
	for odd := range 2 {
		s.slopes[odd] = dense.Reshape(s.slopes[odd], w.f.diagonals(odd), w.f.reach+1)
		clear(s.slopes[odd].Data)
		w.eachWindow(c, odd, func(windows blas64.General, q int) {
			multiply(blas.Trans, dense.Rows(w.bands[odd], q, windows.Rows), windows, 1, s.slopes[odd])
		})
	}
}

// addProducts adds σ⁻⁴hhᵀ for one more column of h, twice beside the diagonal.
func (w *Workspace) addProducts(f *Factor, h blas64.Vector) {
	scale := 1 / (f.noise * f.noise)
	for g := range f.p {
		hg := scale * h.Data[g*h.Inc]
		w.bands[0].Data[g*w.bands[0].Stride] += hg * h.Data[g*h.Inc]
		for d := 1; d <= min(f.band, f.p-1-g); d++ {
			b := &w.bands[d&1]
			b.Data[(g+d>>1)*b.Stride+d>>1] += 2 * hg * h.Data[(g+d)*h.Inc]
		}
	}
}

// read sets the entries of bands in a tile of G: G's own on the diagonal, twice G + σ⁻⁴hhᵀ beside it, for the first
// column of h.
func (w *Workspace) read(row, col int, t blas64.General) {
	f := w.f
	scale := 1 / (f.noise * f.noise)
	h, stride := w.h.Data, w.h.Stride
	for i := range t.Rows {
		in := t.Data[i*t.Stride:][:t.Cols]
		hi := scale * h[(row+i)*stride]
		for j, v := range in {
			at, d := row+i, col+j-row-i
			if d < 0 {
				if row == col {
					continue // the tile on the diagonal has both triangles
				}
				at, d = col+j, -d
			}
			if d > f.band {
				continue
			}
			if d > 0 {
				v = 2 * (v + hi*h[(col+j)*stride])
			}
			b := &w.bands[d&1]
			b.Data[(at+d>>1)*b.Stride+d>>1] = v
		}
	}
}
