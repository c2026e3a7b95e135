package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// covarianceProduct returns k(x, t)·α, len(x)×c, for α with a row for each of t. It works along the line in O(n + m) for
// Markovian terms, by waves for smooth terms, and otherwise from the covariances themselves. Its error is a Draw's, relative
// to k(0)·Σ|α|.
func covarianceProduct(ctx context.Context, k Kernel, x, t Inputs, alpha blas64.General) (blas64.General, error) {
	dst := dense.New(x.Len(), alpha.Cols)
	if x.Len() == 0 || t.Len() == 0 {
		return dst, nil
	}
	var terms split
	terms.set(k)
	n, m := float64(t.Len()), float64(x.Len())
	if x.Dim() != 1 || isPlaced(k) {
		return dst, addProduct(ctx, dst, k, x, t, alpha)
	}
	lo, hi := x.Range(0)
	first, last := t.Range(0)
	span := max(hi, last) - min(lo, first)
	direct := n * m * 0.5 * pairSeconds
	for _, term := range terms.signal {
		states, waves := estimateStates(term, x.Len()+t.Len()), estimateWaveDraws(term, x.Len()+t.Len(), span)
		var err error
		switch {
		case !states.Reason.Given() && states.Seconds < direct && (waves.Reason.Given() || states.Seconds < waves.Seconds):
			err = addStates(ctx, dst, term, x, t, alpha)
		case !waves.Reason.Given() && waves.Seconds < direct:
			err = addWaves(ctx, dst, term, span, x, t, alpha)
		default:
			err = addProduct(ctx, dst, term, x, t, alpha)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// addProduct adds k(x, t)·α by the covariances.
func addProduct(ctx context.Context, dst blas64.General, k Kernel, x, t Inputs, alpha blas64.General) error {
	const columns = 1024
	return parallel.Parts(ctx, x.Len(), dense.Tile, func(from, to int) {
		for i := 0; i < t.Len(); i += columns {
			parallel.Look(ctx)
			end := min(t.Len(), i+columns)
			c := crossCovariance(x.Slice(from, to), t.Slice(i, end), k)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, c, dense.Rows(alpha, i, end-i), 1, dense.Rows(dst, from, to-from))
		}
	})
}

// addStates adds k(x, t)·α along the line.
func addStates(ctx context.Context, dst blas64.General, k Kernel, x, t Inputs, alpha blas64.General) error {
	var s stateSpace
	if !s.expand(k, drawnEps) {
		panic(fmt.Sprintf("gppl: %v has no state space", k))
	}
	at, of := observed.Sorted(x.at), observed.Sorted(t.at)
	part := dense.New(dst.Rows, dst.Cols)
	if err := statespace.Covariances(ctx, part, at.T, of.T, s.blocks, of.SortRows(alpha)); err != nil {
		return err
	}
	for i := range part.Rows {
		dense.Add(dense.Row(dst, at.Input(i)).Data, dense.Row(part, i).Data)
	}
	return nil
}

// addWaves adds k(x, t)·α = Σ_m c_m·(cos·Σ α cos + sin·Σ α sin).
func addWaves(ctx context.Context, dst blas64.General, k Kernel, span float64, x, t Inputs, alpha blas64.General) error {
	sets, _, err := waveSets(k, span)
	if err != nil {
		return err
	}
	for _, s := range sets {
		from, to := fourier.NewPoints(t.at, t.at[0], s.period), fourier.NewPoints(x.at, t.at[0], s.period)
		from.Ctx, to.Ctx = ctx, ctx
		sums := dense.New(2*len(s.coef), alpha.Cols)
		from.NUFFT(sums, alpha, 0, drawnTolerance)
		cos, sin, values := make([]float64, len(s.coef)), make([]float64, len(s.coef)), make([]float64, dst.Rows)
		for j := range alpha.Cols {
			for m, c := range s.coef {
				cos[m], sin[m] = c*sums.Data[2*m*sums.Stride+j], c*sums.Data[(2*m+1)*sums.Stride+j]
			}
			clear(values)
			to.Synthesise(values, cos, sin, drawnTolerance)
			for i, v := range values {
				dst.Data[i*dst.Stride+j] += v
			}
		}
	}
	return nil
}
