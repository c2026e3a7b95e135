// Package spectral factorises A = ΦCΦᵀ + σ²I, where Φ (n×p) are the features by which a series represents a function at the
// distances of n observations (fourier.Expansion), from sums over the observations alone. Products of features with one
// another, ΦᵀΦ, are moments, and products with the columns Y of the data, ΦᵀY, do not depend on the function. Once the sums
// are known, the only step whose time grows with n is a prediction where the series does not represent the function. With D =
// |C|^½, C = DJD, J = ±1,
//
//	T = J + σ⁻²·DΦᵀΦD = LJLᵀ,  B = DΦᵀY,  H = T⁻¹B
//	YᵀA⁻¹Y = σ⁻²(YᵀY − σ⁻²BᵀH),  log|A| = n·log σ² + log|det T|
//
// (Rasmussen and Williams 2006, eq. A.9 and A.10). ΦᵀΦ is Toeplitz plus Hankel. With weights w of the observations all inner
// products are weighted, and log|A| lacks Σ log w.
package spectral

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Sums holds the sums over n observations with c columns.
type Sums struct {
	N       int
	Moments fourier.Moments // up to twice the highest frequency; the first is n, or the sum of the weights
	Columns blas64.General  // ΦᵀY: cos, sin by turns
	Squares blas64.General  // YᵀY
}

// Factor is T of one function. It is working memory, which belongs to one goroutine until its last change.
type Factor struct {
	fourier.Expansion
	Ctx   context.Context
	Sums  Sums
	Noise float64 // σ²

	T      *dense.Lower   // L
	B, H   blas64.General // DΦᵀY and T⁻¹DΦᵀY, p×c
	G      blas64.General // YᵀA⁻¹Y
	Errors []float64      // see Forms
	Diag   []float64      // diagonal of T⁻¹
	Q      []float64      // derivatives in the coefficients of the series

	inverse *dense.Lower   // L⁻¹, computed at the first call
	u       blas64.General // HR
	row, z  []float64      // a row of ΦᵀΦ; L⁻¹e_i
	coef    []float64      // σ⁻²DH
	missed  []leftOut

	fillRow func(int) // the loop that runs in parallel, made once
}

// leftOut describes the content of a column at the frequencies left out.
type leftOut struct{ sum, most float64 }

// Factorise sets T and B for the current features and sums, in p³/3 flops. The error is dense.NotPositive.
func (f *Factor) Factorise() error {
	p, columns := len(f.Features), f.Sums.Columns
	if f.fillRow == nil {
		f.fillRow = f.fillRowOfTiles
	}
	if f.T == nil || f.T.N() != p {
		f.T, f.inverse = dense.NewLower(p), nil
	}
	f.T.Ctx = f.Ctx
	parallel.Within(f.Ctx, dense.Blocks(p), f.fillRow)
	f.T.EachDiagonal(func(i int, v *float64) { *v += f.Sign(i) })
	f.B = dense.Reshape(f.B, p, columns.Cols)
	for i, feature := range f.Features {
		row := dense.Row(f.B, i).Data
		for j, v := range dense.Row(columns, int(feature)).Data {
			row[j] = f.Root[i] * v
		}
	}
	return f.T.CholeskySigned(dense.Blocks(f.Negative))
}

// fillRowOfTiles sets a row of tiles of T − J, the longest row first.
func (f *Factor) fillRowOfTiles(k int) {
	i := dense.Blocks(f.T.N()) - 1 - k
	for j := range i + 1 {
		t := f.T.At(i, j)
		f.scaledGram(t, f.Sums.Moments, i*dense.Tile, j*dense.Tile, f.Noise)
	}
}

// scaledGram sets a block of DΦᵀVΦD/by, from the given row and column on, for the moments of V.
func (f *Factor) scaledGram(dst blas64.General, moments fourier.Moments, row, col int, by float64) {
	moments.Gram(dst, f.Features[row:row+dst.Rows], f.Features[col:col+dst.Cols])
	for a := range dst.Rows {
		scale := f.Root[row+a] / by
		values := dst.Data[a*dst.Stride:][:dst.Cols]
		for b := range values {
			values[b] *= scale * f.Root[col+b]
		}
	}
}

// LogDet returns log|A|, weights aside.
func (f *Factor) LogDet() float64 { return float64(f.Sums.N)*math.Log(f.Noise) + f.T.LogDet() }

// Solve sets H.
func (f *Factor) Solve() {
	f.H = dense.Reshape(f.H, f.B.Rows, f.B.Cols)
	dense.Copy(f.H, f.B)
	f.T.Solve(f.H)
}

// Signed returns the rows of a, p×m, whose sign in J is 1, and those where it is −1.
func (f *Factor) Signed(a blas64.General) (plus, minus blas64.General) {
	kept := min(f.Negative, a.Rows)
	return dense.Rows(a, 0, kept), dense.Rows(a, kept, a.Rows-kept)
}

// Forms sets G, given H, and Errors to bounds on the errors of its diagonal, in addition to the effect of a relative error of
// A. With a = σ⁻²Dh, the coefficients of the fit to a column y,
//
//	yᵀA⁻¹y = σ⁻²(yᵀy − 2aᵀΦᵀy + aᵀ(ΦᵀΦ + σ²C⁻¹)a)
//
// is stationary in a, so only the rounding of yᵀy, Φᵀy and ΦᵀΦ matters. The remainder ΔK of the series changes the form by
// αᵀΔKα, α = A⁻¹y: with the features beyond those kept, where Φᵀα = σ⁻²(Φᵀy − ΦᵀΦa) is known, by Σ c_m·|α̂_m|². The error of
// the value is half of that; the other half is for the derivatives, which err by more.
func (f *Factor) Forms() {
	p, c := f.H.Rows, f.H.Cols
	f.G = dense.Reshape(f.G, c, c)
	dense.LowRankForms(f.G, f.Sums.Squares, f.B, f.H, f.Noise)
	f.coef = dense.Resize(f.coef, p*c)
	for i, root := range f.Root {
		for j := range c {
			f.coef[i*c+j] = root * f.H.Data[i*f.H.Stride+j] / f.Noise
		}
	}
	tail := f.leftOut()
	f.Errors = dense.Resize(f.Errors, c)
	for j, missed := range f.missed {
		var sum float64
		for i := range p {
			sum += math.Abs(f.coef[i*c+j])
		}
		yy := f.Sums.Squares.Data[j*f.Sums.Squares.Stride+j]
		f.Errors[j] = fourier.RoundedForm(yy, sum*math.Sqrt(f.Sums.Moments[0]), f.Noise) + missed.sum + tail*missed.most
	}
}

// leftOut sets missed to Σ c_m·|α̂_m|² and the largest |α̂_m|² of each column over the frequencies left out, in order, as far
// as there are moments. It returns Σ c_m over the tail of the series beyond the moments, where the largest |α̂_m|² replaces
// the unknown ones.
func (f *Factor) leftOut() (tail float64) {
	f.missed = dense.Resize(f.missed, f.Sums.Columns.Cols)
	clear(f.missed)
	kept := 0
	for m, c := range f.Series.C {
		parallel.Look(f.Ctx)
		if c == 0 {
			continue
		}
		if kept < len(f.Leading) && f.Leading[kept] == m {
			kept++
			continue
		}
		if m > f.Probed {
			tail += math.Abs(c)
			continue
		}
		f.row, f.z = f.gramRow(f.row, fourier.Cos(m)), f.gramRow(f.z, fourier.Sin(m))
		for j := range f.missed {
			power := f.hat(fourier.Cos(m), f.row, j) + f.hat(fourier.Sin(m), f.z, j)
			f.missed[j].sum += math.Abs(c) * power
			f.missed[j].most = max(f.missed[j].most, power)
		}
	}
	return tail
}

// hat returns |α̂|² of a column at a feature, given a row of ΦᵀΦ.
func (f *Factor) hat(feature fourier.Feature, row []float64, j int) float64 {
	columns := f.Sums.Columns
	coef := blas64.Vector{N: len(row), Inc: columns.Cols}
	if len(row) > 0 {
		coef.Data = f.coef[j:]
	}
	a := (columns.Data[int(feature)*columns.Stride+j] - blas64.Dot(dense.Vec(row), coef)) / f.Noise
	return a * a
}

// gramRow returns the products of a feature with the kept ones, in the memory of dst if possible.
func (f *Factor) gramRow(dst []float64, feature fourier.Feature) []float64 {
	p := len(f.Features)
	dst = dense.Resize(dst, p)
	one := [1]fourier.Feature{feature}
	f.Sums.Moments.Gram(blas64.General{Rows: 1, Cols: p, Stride: max(1, p), Data: dst}, one[:], f.Features)
	return dst
}

// Invert sets Diag, the diagonal of T⁻¹ = L⁻ᵀJL⁻¹, in p³/3 flops.
func (f *Factor) Invert() {
	p := f.T.N()
	if f.inverse == nil {
		f.inverse = dense.NewLower(p)
	}
	f.Diag = dense.Resize(f.Diag, p)
	f.T.InverseDiagonal(f.Diag, f.inverse)
}

// Slopes sets Q to the derivatives of ½log|A| − ½⟨UUᵀ, A⟩, U = A⁻¹YR held, in the coefficients of the series,
//
//	½[1 − J_f(T⁻¹)_ff − σ⁻⁴J_f·|(HR)_f|²]/c_f
//
// for both features f of a frequency: log|A| gives the first two terms, and ΦᵀU = σ⁻²D⁻¹JHR the last. It returns the
// derivative in log σ². Forms and Invert must come first.
func (f *Factor) Slopes(r blas64.General) (noise float64) {
	f.u = dense.Combine(f.u, f.H, r)
	f.Q = dense.Resize(f.Q, len(f.Series.C))
	clear(f.Q)
	var trace, hh float64
	for i, feature := range f.Features {
		j := f.Sign(i)
		var square float64
		for _, u := range f.u.Data[i*f.u.Stride:][:f.u.Cols] {
			square += u * u
		}
		trace += j * f.Diag[i]
		hh += j * square
		if c := j * f.Root[i] * f.Root[i]; c != 0 {
			f.Q[feature.Frequency()] += 0.5 * (1 - j*(f.Diag[i]+square/(f.Noise*f.Noise))) / c
		}
	}
	f.slopeAtZeros(r)
	trA := float64(f.Sums.N-len(f.Features)) + trace // σ²·tr A⁻¹
	uu := dense.Form(f.G, r) - hh/(f.Noise*f.Noise)  // σ²·|U|²
	return 0.5 * (trA - uu)
}

// slopeAtZeros sets the derivatives in the coefficients that cross zero, where 1 − J_f(T⁻¹)_ff has lost the digits that the
// division needs: with s = DΦᵀφ_f,
//
//	½(φ_fᵀA⁻¹φ_f − |φ_fᵀU|²),  φ_fᵀA⁻¹φ_f = σ⁻²(φ_fᵀφ_f − σ⁻²sᵀT⁻¹s)
//
// without a division, in p² flops for each of these few.
func (f *Factor) slopeAtZeros(r blas64.General) {
	for _, m := range f.Leading {
		if !f.Series.Crosses(m) {
			continue
		}
		f.Q[m] = f.slopeOf(fourier.Cos(m), r)
		if m > 0 {
			f.Q[m] += f.slopeOf(fourier.Sin(m), r)
		}
	}
}

// slopeOf returns ½(φᵀA⁻¹φ − |φᵀU|²) of a feature.
func (f *Factor) slopeOf(feature fourier.Feature, r blas64.General) float64 {
	f.row = f.gramRow(f.row, feature)
	var own [1]float64
	one := [1]fourier.Feature{feature}
	f.Sums.Moments.Gram(dense.AsColumn(own[:]), one[:], one[:])
	columns := f.Sums.Columns
	var uu float64
	for k := range r.Cols { // φᵀA⁻¹YR = σ⁻²(φᵀY − σ⁻²sᵀH)R
		var u float64
		for j := range r.Rows {
			u += columns.Data[int(feature)*columns.Stride+j] * r.Data[j*r.Stride+k]
		}
		for i, g := range f.row {
			u -= g * f.Root[i] * f.u.Data[i*f.u.Stride+k] / f.Noise
		}
		uu += u * u / (f.Noise * f.Noise)
	}
	for i, root := range f.Root {
		f.row[i] *= root
	}
	f.T.SolveL(dense.AsColumn(f.row))
	form := (own[0] - f.signedSquare(f.row)/f.Noise) / f.Noise
	return 0.5 * (form - uu)
}

// signedSquare returns vᵀJv.
func (f *Factor) signedSquare(v []float64) float64 {
	kept := min(f.Negative, len(v))
	plus, minus := dense.Vec(v[:kept]), dense.Vec(v[kept:])
	return blas64.Dot(plus, plus) - blas64.Dot(minus, minus)
}

// Verify compares one diagonal entry of T⁻¹, which came from all of L⁻¹, with |L⁻¹e_i|² by a substitution, and H with a row of
// T recomputed from the moments. Forms and Invert must come first.
func (f *Factor) Verify() error {
	p := len(f.Features)
	if p == 0 {
		return nil
	}
	i := f.picked()
	trust := verify.GradientTrust * math.Abs(f.Diag[i])
	if f.Negative < p { // squares of both signs were added
		trust = verify.GradientTrust
	}
	if err := verify.Near("an entry of an inverse", f.Diag[i], f.entry(i), trust); err != nil {
		return err
	}
	return f.verifyRow(i)
}

// picked returns the index of the feature that checks compare.
func (f *Factor) picked() int { return verify.Pick(len(f.Features), f.Noise, f.Root[0], f.G.Data[0]) }

// entry returns entry i of the diagonal of T⁻¹ by a substitution, in p²/3 flops, independently of Invert.
func (f *Factor) entry(i int) float64 {
	f.z = dense.Resize(f.z, len(f.Features))
	f.T.SolveUnit(f.z, i)
	return f.signedSquare(f.z)
}

// verifyRow compares row i of T, recomputed from the moments, times H with its required value.
func (f *Factor) verifyRow(i int) error {
	f.row = f.gramRow(f.row, f.Features[i])
	n := f.Sums.Moments[0]
	own := math.Sqrt(1 + f.Root[i]*f.Root[i]*n/f.Noise)
	for c := range f.H.Cols {
		b, want := f.Sign(i)*f.H.Data[i*f.H.Stride+c], f.B.Data[i*f.B.Stride+c]
		var size float64
		for j, g := range f.row {
			h := f.H.Data[j*f.H.Stride+c]
			b += g * f.Root[i] * f.Root[j] / f.Noise * h
			size += (1 + f.Root[j]*math.Sqrt(n/f.Noise)) * math.Abs(h) // at least |T_ij|·|h_j|, over own
		}
		if err := verify.Near("a row of a linear system", b, want, verify.Backward*(own*size+math.Abs(want))); err != nil {
			return err
		}
	}
	return nil
}
