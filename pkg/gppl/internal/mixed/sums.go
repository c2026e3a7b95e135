package mixed

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Circle holds sums over a series on a circle about its middle.
type Circle struct {
	Period  float64
	Moments fourier.Moments
	Columns blas64.General // ΦᵀY: cos, sin by turns
	Squares blas64.General // YᵀY
}

// partScratch is the working memory for the products of a part with its predecessors.
type partScratch struct{ gram, half, whole blas64.General }

// FillSums is Fill from sums over the data, for B = Noise·I and all waves on the circle. Moving waves have their lines on it
// (SetLines).
func (f *Factor) FillSums() {
	f.Allocate()
	f.mirrored.Set(f.Circle.Moments)
	f.parts, f.movedParts = f.parts[:0], f.movedParts[:0]
	for _, w := range f.terms {
		f.parts, f.movedParts = w.appendColumns(f.parts, f.movedParts)
	}
	parallel.Within(f.Ctx, len(f.parts), f.fillPart)
	parallel.Within(f.Ctx, len(f.movedParts), f.fillMoved)
	f.size = f.size[:0]
	for b := range dense.Blocks(f.columns) { // tiles on the diagonal are whole
		t := f.T.At(b, b)
		for i := range t.Rows {
			f.size = append(f.size, math.Sqrt(f.Noise*max(0, t.Data[i*t.Stride+i])))
			for j := range i {
				t.Data[j*t.Stride+i] = t.Data[i*t.Stride+j]
			}
		}
	}
	for i := range f.ZZ.Data {
		f.ZZ.Data[i] = f.Circle.Squares.Data[i] / f.Noise
	}
	for b := range dense.Blocks(f.columns) {
		verify.Tampered("mixed sums", f.T.At(b, b).Data)
	}
}

// productsOfPart sets the rows of a part of EᵀE and Eᵀz, the last part first.
func (f *Factor) productsOfPart(k int) {
	own := &f.parts[len(f.parts)-1-k]
	scratch := f.products.Get()
	count, cols := len(own.Features), own.First+own.Rank
	scratch.half = dense.Reshape(scratch.half, count, cols)
	for i := range len(f.parts) - k {
		p := &f.parts[i]
		dst := scratch.half
		dst.Cols, dst.Data = p.Rank, dst.Data[p.First:]
		scratch.gram = f.productsWith(dst, own.Features, p, scratch.gram)
	}
	scratch.whole = dense.Reshape(scratch.whole, own.Rank, cols)
	own.adjoint(scratch.whole, 1/f.Noise, scratch.half)
	for a := range own.Rank {
		values := dense.Row(scratch.whole, a).Data
		i := (own.First + a) / dense.Tile
		for j := 0; j*dense.Tile < cols && j <= i; j++ {
			t := f.T.At(i, j)
			copy(t.Data[(own.First+a-i*dense.Tile)*t.Stride:][:min(t.Cols, cols-j*dense.Tile)], values[j*dense.Tile:])
		}
	}
	scratch.gram = f.columnsAt(scratch.gram, own.Features)
	own.adjoint(dense.Rows(f.B, own.First, own.Rank), 1/f.Noise, scratch.gram)
	f.products.Put(scratch)
}

// productsWith sets dst to the sums of features with the columns of a part, in the working memory of gram, which it returns.
func (f *Factor) productsWith(dst blas64.General, features []fourier.Feature, p *Columns, gram blas64.General) blas64.General {
	if p.isLine {
		f.mirrored.Along(dense.Column(dst, 0), features, p.Features[0], p.z.Data, p.scale)
		return gram
	}
	gram = dense.Reshape(gram, len(features), len(p.Features))
	f.Circle.Moments.Gram(gram, features, p.Features)
	p.times(dst, gram)
	return gram
}

// productsOfMoved sets a row of E′ᵀE and of E′ᵀz.
func (f *Factor) productsOfMoved(k int) {
	own := &f.movedParts[k]
	scratch := f.products.Get()
	dst := dense.Rows(f.Moved, own.First, 1)
	for i := range f.parts {
		p := &f.parts[i]
		scratch.half = dense.Reshape(scratch.half, len(own.Features), p.Rank)
		scratch.gram = f.productsWith(scratch.half, own.Features, p, scratch.gram)
		part := dst
		part.Cols, part.Data = p.Rank, dst.Data[p.First:]
		own.adjoint(part, 1/f.Noise, scratch.half)
	}
	scratch.gram = f.columnsAt(scratch.gram, own.Features)
	own.adjoint(dense.Rows(f.MovedB, own.First, 1), 1/f.Noise, scratch.gram)
	f.products.Put(scratch)
}

// columnsAt returns the sums of the columns of the data with features, in the memory of dst.
func (f *Factor) columnsAt(dst blas64.General, features []fourier.Feature) blas64.General {
	dst = dense.Reshape(dst, len(features), f.B.Cols)
	for i, feature := range features {
		copy(dense.Row(dst, i).Data, dense.Row(f.Circle.Columns, int(feature)).Data)
	}
	return dst
}

// Sums sets dst, 2(m+1)×(c+p+s), to the sums of the first features with the columns (Y, C^½Φ, its derivatives). FillSums must
// come first.
func (f *Factor) Sums(dst blas64.General, features []fourier.Feature) {
	for i, feature := range features {
		copy(dense.Row(dst, i).Data, dense.Row(f.Circle.Columns, int(feature)).Data)
	}
	c := f.B.Cols
	fill := func(p *Columns, first int) {
		const rows = 1024 // number of rows at a time
		scratch := f.products.Get()
		for from := 0; from < dst.Rows; from += rows {
			own := features[from:min(from+rows, dst.Rows)]
			into := dense.Rows(dst, from, len(own))
			into.Cols, into.Data = p.Rank, into.Data[first+p.First:]
			scratch.gram = f.productsWith(into, own, p, scratch.gram)
		}
		f.products.Put(scratch)
	}
	parallel.Within(f.Ctx, len(f.parts), func(i int) { fill(&f.parts[i], c) })
	parallel.Within(f.Ctx, len(f.movedParts), func(i int) { fill(&f.movedParts[i], c+f.columns) })
}

// Strong returns the number of columns of E that the data determine, at least as long as the prior's. The rows of T for the
// others hardly contain EᵀE.
func (f *Factor) Strong() (count int) {
	for _, length := range f.Length {
		if length >= 1 {
			count++
		}
	}
	return count
}

// Again recomputes products of one column from the sums.
type Again struct {
	Column int // index of the column among all
	f      *Factor
	part   *Columns
	weight []float64 // weights of the part's features in the column
	size   float64   // Σ|weight|
}

// Again recomputes the given one of the strong columns or, if there are none, of all columns.
func (f *Factor) Again(which int) (a Again) {
	all := f.Strong() == 0
	a = Again{f: f, part: &f.parts[0]}
	at := 0
search:
	for i := range f.parts {
		p := &f.parts[i]
		for k := range p.Rank {
			if !all && f.Length[p.First+k] < 1 {
				continue
			}
			if which--; which < 0 {
				a.part, at = p, k
				break search
			}
		}
	}
	a.Column = a.part.First + at
	f.work = dense.Resize(f.work, len(a.part.Features))
	a.weight = f.work
	a.part.weights(a.weight, at)
	for _, w := range a.weight {
		a.size += math.Abs(w)
	}
	return a
}

// Row returns the column's row of σ²EᵀE times column k of H, its product with column k of the data, and the size of their terms.
func (a *Again) Row(k int) (fitted, data, size float64) {
	f := a.f
	for i, feature := range a.part.Features {
		data += a.weight[i] * f.Circle.Columns.Data[int(feature)*f.Circle.Columns.Stride+k]
	}
	var added float64
	for i := range f.parts {
		p := &f.parts[i]
		f.along = dense.Reshape(f.along, len(a.part.Features), p.Rank)
		f.strip = f.productsWith(f.along, a.part.Features, p, f.strip)
		for b := range p.Rank {
			h := f.H.Data[(p.First+b)*f.H.Stride+k]
			fitted += h * blas64.Dot(dense.Vec(a.weight), dense.Column(f.along, b))
			added += math.Abs(h) * f.size[p.First+b]
		}
	}
	yy := f.Circle.Squares
	return fitted, data, a.size * math.Sqrt(float64(len(f.Lambda))) * (added + math.Sqrt(yy.Data[k*(yy.Stride+1)]))
}

// Wave returns the sum of the column with a feature, and the size of the terms.
func (a *Again) Wave(feature fourier.Feature) (sum, size float64) {
	f := a.f
	f.strip = dense.Reshape(f.strip, len(a.part.Features), 1)
	f.Circle.Moments.Gram(f.strip, a.part.Features, []fourier.Feature{feature})
	return blas64.Dot(dense.Vec(a.weight), dense.Column(f.strip, 0)), a.size * float64(len(f.Lambda))
}
