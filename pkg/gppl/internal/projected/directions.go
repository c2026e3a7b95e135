// Package projected is the algebra of the likelihood of k projections z = ΩᵀY of n observations, where Y has c columns, y first,
//
//	PL = ½zᵀS⁻¹z + ½log|S| + (k/2)·log 2π,  S = Ωᵀ(K + σ²E + D)Ω,
//
// where E holds the squares of relative errors and D the variances of known ones. The energy of the remainder of y, outside
// the projections, may be included.
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

// Directions represents the columns of Ω in a likelihood: by waves, without a matrix, or as a matrix.
type Directions struct {
	N, K  int
	Mass  float64               // n or, from sums, the sum of weights: Σ_i K_ii/k(0)
	Waves *fourier.Waves        // nil if Omega is used
	Omega func() blas64.General // returns Ω, n×k, formed at the first call
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

// ProjectColumns returns ΩᵀY, k×c. It panics with a parallel.Stop once ctx has ended.
func (d Directions) ProjectColumns(ctx context.Context, y blas64.General) blas64.General {
	z := dense.New(d.K, y.Cols)
	for j := range y.Cols {
		parallel.Look(ctx)
		blas64.Copy(dense.Vec(d.Project(dense.Slice(dense.Column(y, j)))), dense.Column(z, j))
	}
	return z
}

// rest returns y − Ωz, in O(nk). It panics with a parallel.Stop once ctx has ended.
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

// Matrix returns Ω, and forms it if necessary. For waves it is computed from moments and orthonormal within Bound, so z and S
// agree for every engine.
func (d Directions) Matrix() blas64.General {
	if d.Waves == nil {
		return d.Omega()
	}
	return d.Waves.Matrix()
}

// Forming estimates the seconds of Matrix.
func (d Directions) Forming() float64 {
	if d.Waves == nil {
		return 0
	}
	n, k := float64(d.N), float64(d.K)
	return n * k * (k/choice.FlopRate + 15e-9) / 2
}

// Formed returns the bytes of Matrix beyond Ω itself.
func (d Directions) Formed() float64 {
	if d.Waves == nil {
		return 0
	}
	return 8 * float64(d.N) * float64(d.K)
}

// Bound bounds the error of PL from the rounding of ΩᵀΩ = I + E, for a form zᵀS⁻¹z of one per projection: ½tr(S⁻¹σ²E) +
// ½σ²βᵀEβ, where σ²S⁻¹ ≤ I. It is 0 for an Ω without waves.
func (d Directions) Bound() float64 {
	if d.Waves == nil {
		return 0
	}
	return d.Waves.Bound()
}
