// Package projected is the algebra of the likelihood of k projections z = ΩᵀY of n observations, where Y has c columns, y first,
//
//	PL = ½zᵀS⁻¹z + ½log|S| + (k/2)·log 2π,  S = Ωᵀ(K + σ²E + D)Ω,
//
// where E are the squares of relative errors and D the variances of known ones, with or without the energy of what the
// projections leave of y.
package projected

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Directions are the columns of Ω as a likelihood uses them: by waves, without a matrix, or as a matrix.
type Directions struct {
	N, K  int
	Mass  float64               // n or, from sums, the sum of weights: Σ_i K_ii/k(0)
	Waves *fourier.Waves        // nil: by Omega
	Omega func() blas64.General // Ω, n×k, formed when it is first asked for
}

// Project returns Ωᵀy.
func (d Directions) Project(y []float64) []float64 {
	if d.Waves != nil {
		return d.Waves.Project(y)
	}
	z := make([]float64, d.K)
	blas64.Gemv(blas.Trans, 1, d.Omega(), dense.Vec(y), 0, dense.Vec(z))
	return z
}

// ProjectColumns returns ΩᵀY, k×c, until ctx ends (parallel.Look).
func (d Directions) ProjectColumns(ctx context.Context, y blas64.General) blas64.General {
	z := dense.New(d.K, y.Cols)
	for j := range y.Cols {
		parallel.Look(ctx)
		blas64.Copy(dense.Vec(d.Project(dense.Slice(dense.Column(y, j)))), dense.Column(z, j))
	}
	return z
}

// rest returns y − Ωz, in O(nk), until ctx ends (parallel.Look).
func (d Directions) rest(ctx context.Context, y, z []float64) []float64 {
	rest := slices.Clone(y)
	if d.Waves != nil {
		points := d.Waves.Points()
		points.Ctx = ctx
		d.Waves.Basis.Subtract(rest, z, points)
	} else {
		blas64.Gemv(blas.NoTrans, -1, d.Omega(), dense.Vec(z), 1, dense.Vec(rest))
	}
	return rest
}

// Matrix returns Ω, formed if need be. That of waves is made from moments, orthonormal within Bound, so that z and S agree
// whatever engine makes them.
func (d Directions) Matrix() blas64.General {
	if d.Waves == nil {
		return d.Omega()
	}
	return d.Waves.Matrix()
}

// Forming returns the seconds that Matrix is expected to take, for an estimate.
func (d Directions) Forming() float64 {
	if d.Waves == nil {
		return 0
	}
	n, k := float64(d.N), float64(d.K)
	return n * k * (k/choice.FlopRate + 15e-9) / 2
}

// Formed returns the bytes of Matrix, if it is still to be formed.
func (d Directions) Formed() float64 {
	if d.Waves == nil {
		return 0
	}
	return 8 * float64(d.N) * float64(d.K)
}

// Bound bounds the error of PL because ΩᵀΩ is I only up to rounding, E, for a form zᵀS⁻¹z of one per projection: ½tr(S⁻¹σ²E) +
// ½σ²βᵀEβ, where σ²S⁻¹ ≤ I. It is 0 for an Ω that is not by waves.
func (d Directions) Bound() float64 {
	if d.Waves == nil {
		return 0
	}
	return d.Waves.Bound()
}
