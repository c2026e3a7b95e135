package projected

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Residual is the remainder of y, and of the columns beside it, outside the projections. Its energy is modelled as white noise
// with its expected variance,
//
//	τ = σ² + (n·k(0) − tr ΩᵀKΩ)/(n−k).
type Residual struct {
	N, DoF float64 // n, or the sum of weights, and n−k
	known  float64 // (ΣD − tr ΩᵀDΩ)/(n−k), D being the known variances
	Share  float64 // the same average of E; 1 where E is I
	// ΣE/(n−k) and ΣD/(n−k) before the part in the projections is subtracted; 0 without E or D
	spread, spreadKnown float64
	Rest                []float64      // y − Ωz; nil from sums
	Energy              blas64.General // RᵀR of the remainders of all columns, c×c

	LogWeights float64 // Σ log w, from sums
	Rounding   float64 // error bound of the energy, from sums
}

// NewResidual returns what remains of columns (n×c), y first, outside the directions d, given the projections z (k×c) of columns
// on d. It panics with a parallel.Stop once ctx has ended.
func NewResidual(ctx context.Context, d Directions, columns, z blas64.General) *Residual {
	r := &Residual{N: float64(d.N), DoF: float64(d.N - d.K), Share: 1, Energy: dense.New(z.Cols, z.Cols)}
	all := dense.New(columns.Rows, columns.Cols)
	for j := range columns.Cols {
		parallel.Look(ctx)
		rest := d.rest(ctx, dense.Slice(dense.Column(columns, j)), dense.Slice(dense.Column(z, j)))
		blas64.Copy(dense.Vec(rest), dense.Column(all, j))
		if j == 0 {
			r.Rest = rest
		}
	}
	dense.Mul(ctx, r.Energy, blas.Trans, all, all)
	return r
}

// SetNoise sets the averages of E and D from their diagonals; nil means that E is I, and that there is no D.
func (r *Residual) SetNoise(of *Data, scale, known []float64) {
	if scale != nil {
		r.Share, r.spread = r.average(scale, of.OtO), floats.Sum(scale)/r.DoF
	}
	if known != nil {
		r.known, r.spreadKnown = r.average(known, of.Known), floats.Sum(known)/r.DoF
	}
}

// average returns (ΣD − tr ΩᵀDΩ)/(n−k), given D and ΩᵀDΩ.
func (r *Residual) average(d, projected []float64) (mean float64) {
	for _, v := range d {
		mean += v
	}
	k := int(r.N - r.DoF)
	for i := range k {
		mean -= projected[i*(k+1)]
	}
	return mean / r.DoF
}

// Remainder sets Tau of a factor whose S0 is set, where prior is n·k(0); to 0 without a residual. It returns an error if Tau
// is not positive.
func (f *Factor) Remainder(prior float64) error {
	r := f.of.Residual
	if f.Tau = 0; r == nil {
		return nil
	}
	k := f.of.Z.Rows
	for i := range k {
		prior -= f.S0[i*(k+1)]
	}
	if f.Tau = r.Share*f.noise + r.known + prior/r.DoF; !(f.Tau > 0) {
		return fmt.Errorf("gppl: the variance outside %d projections is %.4g by rounding (noise variance %.4g)",
			k, f.Tau, f.noise)
	}
	return nil
}

// RemainderSlope returns the derivative of τ in a parameter, given ∂S, ∂σ² and n·∂k(0); 0 without a residual.
func (f *Factor) RemainderSlope(dS blas64.General, noise, prior float64) float64 {
	r := f.of.Residual
	if r == nil {
		return 0
	}
	self := r.N // sum over all observations: n·∂(k(0) + σ²), with Σe² instead of n for σ²
	if f.of.OtO != nil {
		self = r.Share * r.DoF
		for i := range f.of.Z.Rows {
			self += f.of.OtO[i*(f.of.Z.Rows+1)]
		}
	}
	return (self*noise + prior - dense.Trace(dS)) / r.DoF
}

// ResidualRounding bounds the error of the value, in nats, because τ loses digits where n·k(0) − tr S₀ cancels and where ΩᵀΩ
// is not I. signal is n·k(0), and bound is the directions' own. size is the larger of the residual's terms and its form. Both
// results are 0 without a residual.
func (f *Factor) ResidualRounding(signal, bound float64) (nats, size float64) {
	r := f.of.Residual
	if r == nil {
		return 0, 0
	}
	energy := dense.Form(r.Energy, f.R)
	lost := 8 * 0x1p-53 * (signal/r.DoF + f.Tau) / f.Tau // relative error of τ
	lost += 8 * 0x1p-53 * (f.noise*r.spread + r.spreadKnown) / f.Tau
	lost += bound * dense.LargestOnDiagonal(f.S0, f.of.Z.Rows) / (r.DoF * f.Tau)
	nats = 0.5 * ((r.DoF+energy/f.Tau)*lost + r.Rounding/f.Tau)
	return nats, max(r.DoF, energy/f.Tau)
}
