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
	N, DoF              float64        // n, or the sum of weights, and n−k
	known               float64        // (ΣD − tr ΩᵀDΩ)/(n−k)
	Share               float64        // the same of E; 1 where E is I
	spread, spreadKnown float64        // ΣE/(n−k) and ΣD/(n−k), of which these are what projections leave; 0 without
	Rest                []float64      // y − Ωz; nil from sums
	Energy              blas64.General // RᵀR of what is left of all columns, c×c

	LogWeights float64 // Σ log w, from sums
	Rounding   float64 // what the energy errs by, from sums
}

// NewResidual returns that of columns (n×c), y first, whose projections are z (k×c), until ctx ends (parallel.Look).
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

// SetNoise sets what the residual has of E and D, the diagonals of which are given; nil: E is I, there is no D.
func (r *Residual) SetNoise(of *Data, scale, known []float64) {
	if scale != nil {
		r.Share, r.spread = r.average(scale, of.OtO), floats.Sum(scale)/r.DoF
	}
	if known != nil {
		r.known, r.spreadKnown = r.average(known, of.Known), floats.Sum(known)/r.DoF
	}
}

// average returns (ΣD − tr ΩᵀDΩ)/(n−k), given D and ΩᵀDΩ.
func (r *Residual) average(d, seen []float64) (mean float64) {
	for _, v := range d {
		mean += v
	}
	k := int(r.N - r.DoF)
	for i := range k {
		mean -= seen[i*(k+1)]
	}
	return mean / r.DoF
}

// Remainder sets Tau of a factor whose S0 is set, where prior is n·k(0); to 0 without a residual. It is an error if Tau is not
// positive.
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
		return fmt.Errorf("gppl: the variance of what %d projections leave is %.4g by rounding (noise variance %.4g)",
			k, f.Tau, f.noise)
	}
	return nil
}

// RemainderSlope returns the derivative of τ in a parameter, given ∂S, ∂σ² and n·∂k(0); 0 where there is no residual.
func (f *Factor) RemainderSlope(dS blas64.General, noise, prior float64) float64 {
	r := f.of.Residual
	if r == nil {
		return 0
	}
	self := r.N // of all observations: n·∂(k(0) + σ²), or Σe² in the place of n for σ²
	if f.of.OtO != nil {
		self = r.Share * r.DoF
		for i := range f.of.Z.Rows {
			self += f.of.OtO[i*(f.of.Z.Rows+1)]
		}
	}
	return (self*noise + prior - dense.Trace(dS)) / r.DoF
}

// ResidualRounding bounds the error of the value because τ loses digits where n·k(0) − tr S₀ cancels and where ΩᵀΩ is not I.
// signal is n·k(0), and bound that of the directions. size is the larger of the terms and of the form that the residual adds.
// Both are 0 without one.
func (f *Factor) ResidualRounding(signal, bound float64) (nats, size float64) {
	r := f.of.Residual
	if r == nil {
		return 0, 0
	}
	energy := dense.Form(r.Energy, f.R)
	lost := 8 * 0x1p-53 * (signal/r.DoF + f.Tau) / f.Tau // relative, of τ
	lost += 8 * 0x1p-53 * (f.noise*r.spread + r.spreadKnown) / f.Tau
	lost += bound * dense.LargestOnDiagonal(f.S0, f.of.Z.Rows) / (r.DoF * f.Tau)
	nats = 0.5 * ((r.DoF+energy/f.Tau)*lost + r.Rounding/f.Tau)
	return nats, max(r.DoF, energy/f.Tau)
}
