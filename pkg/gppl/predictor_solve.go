package gppl

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// A solver is a predictor that solves with A = K + Λ, for draws from a posterior.
type solver interface {
	// observations returns the conditions of the predictor.
	observations(ctx context.Context) (*conditions, error)
}

// conditions are observations with the matrix A of their engine, whose rows may have another order.
type conditions struct {
	x       Inputs
	lambda  []float64      // Λ
	columns blas64.General // C, n×c
	seconds float64        // estimated seconds of solve for one column
	// solve replaces b, n×m, by A⁻¹b.
	solve func(ctx context.Context, b blas64.General) error
}

// errNoObservations is the error of a posterior that has only sums over its observations.
var errNoObservations = errors.New("gppl: the observations are known by their sums alone")

// onLine returns the conditions of a series; its columns are solved one by one.
func onLine(l *observed.Line, lambda []float64, seconds float64, solve func(ctx context.Context, b []float64)) *conditions {
	return &conditions{x: Scalars(l.T), lambda: lambda, columns: l.Columns, seconds: seconds,
		solve: func(ctx context.Context, b blas64.General) error {
			return parallel.Parts(ctx, b.Cols, 1, func(j, _ int) {
				column := make([]float64, b.Rows)
				blas64.Copy(dense.Column(b, j), dense.Vec(column))
				solve(ctx, column)
				blas64.Copy(dense.Vec(column), dense.Column(b, j))
			})
		}}
}

// weighted returns Λ = σ²W⁻¹.
func weighted(l *observed.Line, noise float64) []float64 {
	lambda := make([]float64, len(l.T))
	for i := range lambda {
		if lambda[i] = noise; l.Weights != nil {
			lambda[i] /= l.Weights[i]
		}
	}
	return lambda
}

// lowRank replaces b by (Λ + EEᵀ)⁻¹b = Λ⁻¹(b − E·T⁻¹EᵀΛ⁻¹b), T = I + EᵀΛ⁻¹E: project returns T⁻¹Eᵀ of its argument, and fit
// returns E times its argument.
func lowRank(b, lambda []float64, project, fit func([]float64) []float64) {
	w := make([]float64, len(b))
	for i, v := range b {
		w[i] = v / lambda[i]
	}
	for i, v := range fit(project(w)) {
		b[i] = (b[i] - v) / lambda[i]
	}
}

// givenBySolve is predictor.given by solves with A, using κᵀA⁻¹C = (A⁻¹κ)ᵀC.
func givenBySolve(ctx context.Context, data *conditions, means blas64.General, cov *dense.Lower, of functionals) error {
	k := of(data.x, 0, means.Rows)
	solved := dense.New(k.Rows, k.Cols)
	dense.Copy(solved, k)
	if err := data.solve(ctx, solved); err != nil {
		return err
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, solved, data.columns, 0, means)
	cov.SubtractProduct(transposed(k), transposed(solved))
	return ctx.Err()
}

func transposed(a blas64.General) blas64.General {
	t := dense.New(a.Cols, a.Rows)
	for i := range a.Rows {
		blas64.Copy(dense.Row(a, i), dense.Column(t, i))
	}
	return t
}
