package spectral

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// A Part is what some of the noise has of the derivative in all of it. The noise of observation i is σ²/w_i, and that which grows σ²v_i/w_i².
// With V = diag(v), U = A⁻¹YR,
//
//	Σ_i σ²v_i·(A⁻¹ − UUᵀ)_ii/w_i² = Σ v_i/w_i − σ⁻²·tr T⁻¹DΦᵀVΦD − σ⁻²·|V^½(Y − ΦDH/σ²)R|²
//
// takes the sums with the weights v in the place of w.
type Part struct {
	Diagonal float64         // Σ v_i/w_i
	Squares  blas64.General  // YᵀVY
	Moments  fourier.Moments // sums of v
	Columns  blas64.General  // ΦᵀVY
	Fitted   blas64.General  // DΦᵀVΦDH, p×c
	Traces   []float64       // they add up to tr T⁻¹DΦᵀVΦD
}

// Fit sets Fitted and Traces of a part whose sums are set, once Invert is done, in 2p³/3 flops. In the trace, products of a feature with
// those before its block count twice, and products with those after it are left out.
func (f *Factor) Fit(part *Part) {
	p, c := f.H.Rows, f.H.Cols
	nb := dense.Blocks(p)
	part.Fitted, part.Traces = dense.New(p, c), make([]float64, p)
	parallel.Within(f.Ctx, nb, func(k int) {
		i := nb - 1 - k // the longest row first
		rows := dense.Width(p, i)
		inverse, gram := dense.New(rows, dense.Tile), dense.New(rows, p)
		f.scaledGram(gram, part.Moments, i*dense.Tile, 0, 1)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, gram, f.H, 0, dense.Rows(part.Fitted, i*dense.Tile, rows))
		for j := range i + 1 {
			tile := blas64.General{Rows: rows, Cols: dense.Width(p, j), Stride: dense.Width(p, j), Data: inverse.Data}
			f.inverse.InverseTile(tile, i, j)
			times := 1.0
			if j < i {
				times = 2
			}
			for a := range rows {
				part.Traces[i*dense.Tile+a] += times * blas64.Dot(dense.Row(tile, a), dense.Vec(gram.Data[a*gram.Stride+j*dense.Tile:][:tile.Cols]))
			}
		}
	})
}

// Rest returns what the weights w have, for which DΦᵀWΦD = σ²(T − J), less a part that is fitted.
func (f *Factor) Rest(part *Part) *Part {
	p, c := f.H.Rows, f.H.Cols
	rest := &Part{
		Squares: dense.Difference(f.Sums.Squares, part.Squares), Columns: dense.Difference(dense.Rows(f.Sums.Columns, 0, part.Columns.Rows), part.Columns),
		Fitted: dense.New(p, c), Traces: make([]float64, p), Diagonal: float64(f.Sums.N) - part.Diagonal,
	}
	for i := range p {
		for j := range c {
			rest.Fitted.Data[i*c+j] = f.Noise*(f.B.Data[i*f.B.Stride+j]-f.Sign(i)*f.H.Data[i*f.H.Stride+j]) - part.Fitted.Data[i*c+j]
		}
		rest.Traces[i] = f.Noise*(1-f.Sign(i)*f.Diag[i]) - part.Traces[i]
	}
	return rest
}

// Share returns half of what a part has, for the R of Slopes. It spoils Squares. With B = DΦᵀVΦD the last sum of a part is
// Rᵀ(YᵀVY − HᵀDΦᵀVY/σ² − its transpose + HᵀBH/σ⁴)R.
func (f *Factor) Share(part *Part, r blas64.General) float64 {
	var trace float64
	for _, t := range part.Traces {
		trace += t
	}
	c, squares := f.H.Cols, part.Squares
	for i, feature := range f.Features {
		h, cross := f.H.Data[i*f.H.Stride:][:c], part.Columns.Data[int(feature)*part.Columns.Stride:][:c]
		for a := range c {
			for b := range c {
				of := h[a]*(part.Fitted.Data[i*c+b]/f.Noise-f.Root[i]*cross[b]) - h[b]*f.Root[i]*cross[a]
				squares.Data[a*squares.Stride+b] += of / f.Noise
			}
		}
	}
	return 0.5 * (part.Diagonal - (trace+dense.Form(squares, r))/f.Noise)
}

// Again makes what a part has of feature i again, by substitutions: its trace, with the size of what was added, and the row of
// DΦᵀVΦD. Entry(i) was the last call.
func (f *Factor) Again(part *Part, i int) (trace, size float64, gram []float64) {
	p := f.H.Rows
	row := dense.New(1, p)
	f.scaledGram(row, part.Moments, i, 0, 1)
	blas64.Scal(-1, dense.Vec(f.z[min(f.Negative, p):])) // from L⁻¹e_i to T⁻¹e_i = L⁻ᵀJL⁻¹e_i
	f.T.SolveLT(dense.AsColumn(f.z))
	block := i / dense.Tile
	first, end := block*dense.Tile, block*dense.Tile+dense.Width(p, block)
	for j, g := range row.Data[:end] {
		term := g * f.z[j]
		if j < first {
			term *= 2
		}
		trace += term
		size += math.Abs(term)
	}
	return trace, size, row.Data
}
