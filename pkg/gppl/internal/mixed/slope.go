package mixed

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Slopes sets slope to the derivatives in the coefficients of a term. It returns an error if a block of T⁻¹ does not have the
// known diagonal.
func (f *Factor) Slopes(slope []float64, w *Term) error {
	clear(slope)
	if len(w.Packets) == 0 {
		f.featureSlopes(slope, w)
		return nil
	}
	for i := range w.Packets {
		if p := &w.Packets[i]; p.Rank() > 0 {
			if err := f.packetSlopes(slope, w, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// featureSlopes adds the derivatives in the coefficients of a term without packets: ½(1 − (T⁻¹)_ff − |u_f|²)/c.
func (f *Factor) featureSlopes(slope []float64, w *Term) {
	at := -1
	for a, feature := range w.Features {
		if !feature.IsSin() {
			at++
		}
		i := w.First + a
		square := 1 - f.Diag[i]
		for _, u := range dense.Row(f.U, i).Data {
			square -= u * u
		}
		if c := w.Coef[at]; c > 0 {
			slope[at] += 0.5 * square / c
		}
	}
}

// packetSlopes adds the derivatives in the coefficients of a packet, given its block of T⁻¹: with V = ½(I − T⁻¹ − UUᵀ) for its
// columns they are diag(U V Uᵀ)/c, where the outer U is the packet's.
func (f *Factor) packetSlopes(slope []float64, w *Term, p *Packet) error {
	f.block = dense.Reshape(f.block, p.Rank(), p.Rank())
	f.strip = f.Inverse.InverseBlock(f.block, w.First+p.First, f.strip)
	inverse := f.block
	verify.Tampered("mixed block", inverse.Data)
	for a, want := range f.Diag[w.First+p.First:][:p.Rank()] {
		d := inverse.Data[a*inverse.Stride+a]
		if err := verify.Near("a block of an inverse", d, want, verify.GradientTrust*math.Abs(d)); err != nil {
			return err
		}
		inverse.Data[a*inverse.Stride+a]--
	}
	u := dense.Rows(f.U, w.First+p.First, p.Rank())
	dense.Gemm(blas.NoTrans, blas.Trans, -0.5, u, u, -0.5, inverse)
	f.along = dense.Reshape(f.along, p.Count, p.Rank())
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, p.U, inverse, 0, f.along)
	for m := range p.Count {
		if c := w.Coef[p.At+m]; c > 0 {
			slope[p.At+m] += blas64.Dot(dense.Row(p.U, m), dense.Row(f.along, m)) / c
		}
	}
	return nil
}

// MovedSlope returns the derivative in the log of the period of a term whose frequencies move with it; R is as in U = A⁻¹YR. The
// derivative of the cosine at the angle a = 2πm(t − t₀)/P is a·sin a, of the sine −a·cos a.
func (f *Factor) MovedSlope(w *Term, r blas64.General) (slope float64) {
	p := f.columns
	f.work = dense.Resize(f.work, dense.Tile*dense.Tile)
	// tr(E′ᵀE·T⁻¹), for the blocks of T⁻¹ that have rows or columns of the term.
	first, end := w.First, w.First+len(w.Features)
	for i := range dense.Blocks(p) {
		for j := range i + 1 {
			r0, c0 := i*dense.Tile, j*dense.Tile
			rows, cols := dense.Width(p, i), dense.Width(p, j)
			if !(r0 < end && r0+rows > first || c0 < end && c0+cols > first) {
				continue
			}
			t := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: f.work}
			f.Inverse.InverseTile(t, i, j)
			for a := max(0, first-r0); a < min(rows, end-r0); a++ {
				slope += f.movedDot(w, r0+a-first, c0, dense.Row(t, a))
			}
			if i == j {
				continue
			}
			for b := max(0, first-c0); b < min(cols, end-c0); b++ {
				slope += f.movedDot(w, c0+b-first, r0, dense.Column(t, b))
			}
		}
	}
	for a := range w.Features {
		partner, sign := w.Partner(a)
		if sign == 0 {
			continue
		}
		at := w.Moving + partner
		for k := range r.Cols { // E′ᵀzR − E′ᵀEhR
			v := blas64.Dot(dense.Row(f.MovedB, at), dense.Column(r, k)) - blas64.Dot(dense.Row(f.Moved, at), dense.Column(f.U, k))
			slope -= sign * w.Angle(a) * v * f.U.Data[(w.First+a)*f.U.Stride+k]
		}
	}
	return slope
}

// movedDot returns a part of row a of E′ᵀE·T⁻¹, times the angle, with the columns of E from the given one on.
func (f *Factor) movedDot(w *Term, a, from int, inverse blas64.Vector) float64 {
	partner, sign := w.Partner(a)
	if sign == 0 {
		return 0
	}
	own := f.Moved.Data[(w.Moving+partner)*f.Moved.Stride+from:][:inverse.N]
	return sign * w.Angle(a) * blas64.Dot(dense.Vec(own), inverse)
}

// ScaleSlope returns the derivative in the log of a factor of all λ, given tr RᵀYᵀA⁻¹YR: λ_i(A⁻¹)_ii sums to n − tr(I − T⁻¹).
func (f *Factor) ScaleSlope(form float64) float64 {
	var trace float64
	for _, d := range f.Diag {
		trace += d
	}
	uu := form - blas64.Dot(dense.Vec(f.U.Data), dense.Vec(f.U.Data))
	return 0.5 * (float64(len(f.Lambda)-f.columns) + trace - uu)
}

// NoiseSlope returns ½Σ_i w_i·(A⁻¹ − UUᵀ)_ii, where R is as in U = A⁻¹YR: the derivative in a number whose changes, multiplied by
// w_i, add to each λ_i.
func (f *Factor) NoiseSlope(r blas64.General, weight func(i int) float64) float64 {
	var sum float64
	f.Residuals(r, true, func(i int, _, own float64) { sum += weight(i) * own })
	return 0.5 * sum
}

// Residuals calls visit with each U_i0, the first entry of a row of U = A⁻¹YR, and, if full, with (A⁻¹ − UUᵀ)_ii. The field U
// must be set to hR, for at least the first column. Where z and E are divided by the roots of Λ, they are
//
//	λ_i^−½·((z_i − E_ih)R)_0,  λ_i⁻¹·(1 − |L⁻¹E_i|² − |((z_i − E_ih)R)|²).
func (f *Factor) Residuals(r blas64.General, full bool, visit func(i int, first, own float64)) {
	p, s, c := f.columns, f.Shift, f.B.Cols
	f.eachChunk(func() {
		count := f.rows.Cols
		rest := dense.New(r.Cols, count) // Rᵀ(z − Eh)ᵀ
		dense.Gemm(blas.Trans, blas.NoTrans, 1, r, dense.Rows(f.rows, p+s, c), 0, rest)
		dense.Gemm(blas.Trans, blas.NoTrans, -1, f.U, dense.Rows(f.rows, 0, p), 1, rest)
		left := slices.Repeat([]float64{1}, count)
		if full {
			solved := dense.New(p, count)
			dense.Copy(solved, dense.Rows(f.rows, 0, p))
			parallel.Within(f.Ctx, (count+block-1)/block, func(k int) {
				part := solved
				part.Data, part.Cols = part.Data[k*block:], min(block, count-k*block)
				f.T.SolveL(part)
			})
			dense.AddSquares(left, -1, solved)
			dense.AddSquares(left, -1, rest)
		}
		for i, v := range left {
			lambda := f.Lambda[f.from+i]
			visit(f.from+i, rest.Data[i]/math.Sqrt(lambda), v/lambda)
		}
	})
}

// At returns the columns e = C^½φ(x) of all terms at some x, p×len(x).
func (f *Factor) At(x []float64) blas64.General {
	e, scratch := dense.New(f.columns, len(x)), new(rows)
	for _, w := range f.terms {
		scratch.points.Set(x, f.Data.Middle, w.Period)
		w.fillAt(dense.Rows(e, w.First, w.Size), &scratch.points, 0, scratch)
	}
	return e
}

// Regress sets means to kᵀA⁻¹Y for covariances k of the observations with some x; cross returns count rows of k, from a given row
// on. With κ = B^−½k it returns g = T⁻¹Eᵀκ, and calls visit with r = κ − Eg, a block of rows at a time: kᵀA⁻¹k = rᵀr + gᵀg.
func (f *Factor) Regress(ctx context.Context, means blas64.General, cross func(from, count int) blas64.General,
	visit func(r blas64.General)) (g blas64.General) {
	n := len(f.Data.T)
	e := dense.New(f.columns, block)
	each := func(visit func(from int, k blas64.General)) {
		for from := 0; from < n; from += block {
			parallel.Look(ctx)
			e.Cols = min(block, n-from)
			f.whitened(e, from)
			k := cross(from, e.Cols)
			f.whiten(k, from)
			visit(from, k)
		}
	}
	g = dense.New(f.columns, means.Rows)
	each(func(_ int, k blas64.General) { dense.Gemm(blas.NoTrans, blas.NoTrans, 1, e, k, 1, g) })
	f.T.Within(ctx).Solve(g)
	clear(means.Data)
	each(func(from int, k blas64.General) {
		z := dense.New(k.Rows, means.Cols) // z − Eh
		dense.Copy(z, dense.Rows(f.Data.Columns, from, z.Rows))
		f.whiten(z, from)
		dense.Gemm(blas.Trans, blas.NoTrans, -1, e, f.H, 1, z)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, k, z, 1, means)
		dense.Gemm(blas.Trans, blas.NoTrans, -1, e, g, 1, k)
		visit(k)
	})
	return g
}

// whiten divides rows, from an observation on, by the root of λ.
func (f *Factor) whiten(a blas64.General, from int) {
	for i := range a.Rows {
		blas64.Scal(1/math.Sqrt(f.Lambda[from+i]), dense.Row(a, i))
	}
}
