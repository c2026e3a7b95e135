package mixed

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Verify compares L(Lᵀh) with Eᵀz, quantities from the sums on a circle with recomputed ones, and one diagonal entry of T⁻¹
// with |L⁻¹e_i|² by a substitution. Solve and Invert must come first. rows compares products of a column where the caller sets
// B; it is nil for a diagonal B. form is an entry of YᵀA⁻¹Y: it makes the choice of compared columns vary with the parameters.
func (f *Factor) Verify(form float64, rows func(a *Again) error) error {
	for j := range f.H.Cols {
		off, size := f.residual(j)
		if err := verify.Near("the solution of a linear system", off, 0, 1e-9*size); err != nil {
			return err
		}
	}
	first := f.terms[0].Coef[0]
	if f.Circle != nil {
		a := f.Again(verify.Pick(max(1, f.Strong()), f.Noise, first, form))
		if rows == nil {
			rows = f.verifyRow
		}
		if err := rows(&a); err != nil {
			return err
		}
		for _, w := range f.terms {
			if w.Moving < 0 {
				continue
			}
			if err := f.verifyLines(w); err != nil {
				return err
			}
		}
	}
	i := verify.Pick(len(f.Diag), f.Noise, first, form)
	return verify.Near("an entry of an inverse", f.Diag[i], f.solved(i), verify.GradientTrust*math.Abs(f.Diag[i]))
}

// residual returns the largest difference between L(Lᵀh) and Eᵀz in column j, and the size of the terms.
func (f *Factor) residual(j int) (off, size float64) {
	f.residue = dense.Reshape(f.residue, f.H.Rows, 1)
	blas64.Copy(dense.Column(f.H, j), dense.Column(f.residue, 0))
	f.T.MulLT(f.residue)
	f.T.MulL(f.residue)
	for i, length := range f.Length {
		b := f.B.Data[i*f.B.Stride+j]
		off = max(off, math.Abs(f.residue.Data[i]-b))
		size = max(size, math.Abs(b), math.Abs(f.H.Data[i*f.H.Stride+j])*(1+length))
	}
	return off, size
}

// solved returns |L⁻¹e_i|², an entry of the diagonal of T⁻¹, by a substitution.
func (f *Factor) solved(i int) float64 {
	f.back = dense.Resize(f.back, f.columns)
	f.T.SolveUnit(f.back, i)
	return blas64.Dot(dense.Vec(f.back), dense.Vec(f.back))
}

// verifyRow compares a recomputed row of T, times h, with the sums over the data.
func (f *Factor) verifyRow(a *Again) error {
	for k := range f.H.Cols {
		fitted, data, size := a.Row(k)
		if err := verify.Near("a row of a linear system", fitted+f.Noise*f.H.Data[a.Column*f.H.Stride+k], data,
			verify.Backward*size); err != nil {
			return err
		}
	}
	return nil
}

// verifyLines compares the lines of one frequency and of its derivative with the wave near the end of the data.
func (f *Factor) verifyLines(w *Term) error {
	span := f.Data.T[len(f.Data.T)-1] - f.Data.T[0]
	// Frequency 0 is left out, since its sine is 0.
	i, t := min(1+verify.Pick(max(1, len(w.Lines)-1), f.Noise, w.Coef[0], w.Period), len(w.Lines)-1), 0.49*span
	_, turns := math.Modf(float64(i) * (t / w.Period))
	want, _ := math.Sincos(2 * math.Pi * turns)
	sum, moved := w.lineAt(i, t, f.Circle.Period)
	rounding := 1e-12 * (1 + float64(i)*t/w.Period)
	if err := verify.Near("a wave as waves of a circle", sum, want, rounding); err != nil {
		return err
	}
	return verify.Near("the derivative of a wave as waves of a circle", moved, t*want, t*100*rounding)
}
