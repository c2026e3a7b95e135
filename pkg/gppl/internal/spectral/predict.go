package spectral

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Observations holds the observations behind a Factor's sums.
type Observations struct {
	Points    *fourier.Points // points on the circle of the sums
	Columns   blas64.General  // Y, n×c
	Weights   []float64       // nil means that all are 1
	Tolerance float64         // tolerance of sums over them
}

// At returns g = Dφ(x), p×m, at m points on the circle of the sums, and L⁻¹g. Means are then gᵀH/σ² and covariances gᵀT⁻¹g′,
// where the features represent the covariances of x with the observations.
func (f *Factor) At(ctx context.Context, x *fourier.Points) (g, solved blas64.General) {
	phi := dense.New(x.N(), len(f.Features))
	x.Features(phi, 0, f.Features)
	g, solved = dense.New(phi.Cols, phi.Rows), dense.New(phi.Cols, phi.Rows)
	for i, root := range f.Root {
		for j := range phi.Rows {
			g.Data[i*g.Stride+j] = root * phi.Data[j*phi.Stride+i]
		}
	}
	dense.Copy(solved, g)
	f.T.Within(ctx).SolveL(solved)
	return g, solved
}

// Regress predicts at any m inputs, whose covariances with the observations are k, from the features that come nearest to them,
// and the remainder r = k − ΦDg:
//
//	g = σ⁻²T⁻¹DΦᵀk,  r = σ²A⁻¹k
//	mean = σ⁻²gᵀJH + rᵀα,  α = A⁻¹Y = σ⁻²(Y − σ⁻²ΦDH)
//	kᵀA⁻¹k = gᵀJg + σ⁻²rᵀr
//
// where kᵀA⁻¹k is stationary in g, so the rounding of g enters squared and nothing cancels. It adds the means, m×c, to means,
// returns g, p×m, and calls visit with r, a block of its rows at a time: n×m in all. cross(i, ni, j, nj) returns the covariances
// of ni observations, from i on, with nj inputs, from j on. It takes O(nmp). It returns an error if ctx ends.
func (f *Factor) Regress(ctx context.Context, means blas64.General, of Observations, cross func(i, ni, j, nj int) blas64.General,
	visit func(r blas64.General)) (g blas64.General, err error) {
	n, q, p, c := of.Points.N(), means.Rows, len(f.Features), means.Cols
	if g, err = f.fitted(ctx, q, of, cross); err != nil {
		return g, err
	}
	// Dg, and beside it σ⁻²DH, by which A⁻¹Y = σ⁻²(Y − σ⁻²ΦDH) follows.
	dg, jh := dense.New(p, q+c), dense.New(p, c)
	for i, root := range f.Root {
		row, h := dg.Data[i*dg.Stride:], dense.Row(f.H, i)
		blas64.Axpy(root, dense.Row(g, i), dense.Vec(row[:q]))
		blas64.Axpy(root/f.Noise, h, dense.Vec(row[q:q+c]))
		blas64.Axpy(f.Sign(i)/f.Noise, h, dense.Row(jh, i))
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, g, jh, 1, means)
	const rows, strip = 1024, 64
	phi, fit, alpha := dense.New(min(n, rows), p), dense.New(min(n, rows), q+c), dense.New(min(n, rows), c)
	for from := 0; from < n; from += rows {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		count := min(rows, n-from)
		phi.Rows, fit.Rows, alpha.Rows = count, count, count
		r := cross(from, count, 0, q)
		parallel.For((count+strip-1)/strip, func(s int) {
			first := s * strip
			a, b := dense.Rows(phi, first, min(strip, count-first)), dense.Rows(fit, first, min(strip, count-first))
			of.Points.Features(a, from+first, f.Features)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, dg, 0, b)
		})
		for i := range count {
			fitted := dense.Row(fit, i).Data
			blas64.Axpy(-1, dense.Vec(fitted[:q]), dense.Row(r, i))
			for j, v := range dense.Row(of.Columns, from+i).Data {
				alpha.Data[i*alpha.Stride+j] = (v - fitted[q+j]) / f.Noise
			}
			if of.Weights != nil {
				root := math.Sqrt(of.Weights[from+i])
				blas64.Scal(root, dense.Row(r, i))
				blas64.Scal(root, dense.Row(alpha, i))
			}
		}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, r, alpha, 1, means)
		visit(r)
	}
	return g, nil
}

// fitted returns the g of Regress for q inputs, in batches whose covariances with all observations fit 32 MB.
func (f *Factor) fitted(ctx context.Context, q int, of Observations,
	cross func(i, ni, j, nj int) blas64.General) (g blas64.General, err error) {
	n := of.Points.N()
	g = dense.New(len(f.Features), q)
	size := max(1, min(128, (4<<20)/n))
	for from := 0; from < q; from += size { // σ⁻²DΦᵀk
		if err := ctx.Err(); err != nil {
			return g, err
		}
		k := cross(0, n, from, min(q, from+size)-from)
		for i, w := range of.Weights {
			blas64.Scal(w, dense.Row(k, i))
		}
		sums := dense.New(f.Sums.Columns.Rows, k.Cols)
		of.Points.Sums(sums, k, 0, of.Tolerance)
		for i, feature := range f.Features {
			for j, v := range dense.Row(sums, int(feature)).Data {
				g.Data[i*g.Stride+from+j] = f.Root[i] / f.Noise * v
			}
		}
	}
	f.T.Within(ctx).Solve(g)
	return g, nil
}
