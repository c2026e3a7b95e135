package gppl

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// What is left out is predicted from a factorisation of all the data: with P = A⁻¹, or
// with a mean P = A⁻¹ − A⁻¹QM⁻¹QᵀA⁻¹, and α = Py,
//
//	y_i given the others ~ N(y_i − α_i/P_ii, 1/P_ii),
//
// and the same with blocks in the place of entries (Rasmussen and Williams 2006, eq.
// 5.12; Dubrule 1983 with a mean, whose coefficients are then those without y_i).
// A factor of A gives both (inverter); any other posterior tells them at the data: it is
// Cᵢ − (σ²A⁻¹C)ᵢ, with the variance σ² − σ⁴(A⁻¹)ᵢᵢ, σ² with what is known of yᵢ's own error.

// LeaveOneOut returns the mean and variance of each observation y_i given all others
// under the model m, its noise and known error included. The parameters are not
// learned again. One factorisation serves all n: the cost is that of a posterior and
// its prediction at the n inputs. It is an error if m or d is not valid, or as for
// NewPosterior. (Rasmussen and Williams 2006, eq. 5.12; Dubrule 1983 with a mean.)
func LeaveOneOut(m Model, d Data, opts ...Option) (mean, variances []float64, err error) {
	blocks := make([][]int, d.Len())
	for i := range blocks {
		blocks[i] = []int{i}
	}
	return LeaveBlockOut(m, d, blocks, opts...)
}

// LeaveBlockOut is LeaveOneOut with the observations of a block left out together:
// mean[i] and variances[i] are those of y_i given all observations outside its own
// block, and NaN for an observation that is in no block. Blocks hold indices into d. A
// block of b observations costs O(b³) more. It is an error if an index is out of range
// or occurs twice, or if the observations outside a block do not determine a coefficient of
// the mean with a flat prior.
func LeaveBlockOut(m Model, d Data, blocks [][]int, opts ...Option) (mean, variances []float64, err error) {
	if err := checkBlocks(blocks, d.Len()); err != nil {
		return nil, nil, err
	}
	p, err := NewPosterior(m, d, opts...)
	if err != nil {
		return nil, nil, err
	}
	_, columns, err := dataColumns(m, d)
	if err != nil {
		return nil, nil, err
	}
	l := leaver{p: p, columns: columns, noise: make([]float64, d.Len()), x: d.X, y: d.Y}
	rows := d.rowNoise()
	rows.set(l.noise, d.Len(), m.Noise+Nugget(m.Kernel))
	for i := range l.noise {
		l.noise[i] += p.jitter
	}
	mean, variances = make([]float64, d.Len()), make([]float64, d.Len())
	for i := range mean {
		mean[i], variances[i] = math.NaN(), math.NaN()
	}
	single := true
	for _, block := range blocks {
		single = single && len(block) <= 1
		if l.p.mean == nil || len(block) == 0 {
			continue
		}
		if j, lost := l.p.mean.basis.Lost(block); lost {
			return nil, nil, fmt.Errorf("gppl: %s cannot be left out: the others do not determine column %q of the mean: give it a prior (GaussianBeta)",
				observations(block), m.Mean.Columns()[j].Name)
		}
	}
	if single {
		return mean, variances, l.ones(mean, variances, blocks)
	}
	for _, block := range blocks {
		if err := l.block(mean, variances, block); err != nil {
			return nil, nil, err
		}
	}
	return mean, variances, nil
}

func checkBlocks(blocks [][]int, n int) error {
	seen := make([]bool, n)
	for b, block := range blocks {
		for _, i := range block {
			if i < 0 || i >= n {
				return fmt.Errorf("gppl: block %d has the index %d, but there are %d observations", b, i, n)
			}
			if seen[i] {
				return fmt.Errorf("gppl: observation %d is in block %d and in one before it, or twice", i, b)
			}
			seen[i] = true
		}
	}
	return nil
}

// observations says which a block has.
func observations(block []int) string {
	if len(block) == 1 {
		return fmt.Sprintf("observation %d", block[0])
	}
	return fmt.Sprintf("%d observations from %d on", len(block), block[0])
}

// leaver leaves observations out of a posterior.
type leaver struct {
	p       *Posterior
	columns blas64.General // C
	noise   []float64      // of each observation
	x       Inputs
	y       []float64
}

// ones leaves out one observation at a time.
func (l *leaver) ones(mean, variances []float64, blocks [][]int) error {
	var at []int
	for _, b := range blocks {
		at = append(at, b...)
	}
	if len(at) == 0 {
		return nil
	}
	all, precisions := newGeneral(len(at), l.columns.Cols), make([]float64, len(at))
	if err := l.diagonal(all, precisions, at); err != nil {
		return err
	}
	for j, i := range at {
		precision, solved := precisions[j], row(all, j).Data
		alpha := solved[0]
		if c := l.p.mean; c != nil {
			precision -= c.fit.Form(solved[1:], solved[1:])
			alpha = blas64.Dot(vec(solved), vec(c.fit.Contrast()))
		}
		if !(precision > 0) {
			return fmt.Errorf("gppl: %s cannot be left out: what it adds to the others is lost in rounding", observations([]int{i}))
		}
		mean[i], variances[i] = l.y[i]-alpha/precision, 1/precision
	}
	return nil
}

// diagonal sets precisions to the entries of the diagonal of A⁻¹ at the observations, and solved to
// their rows of A⁻¹C.
func (l *leaver) diagonal(solved blas64.General, precisions []float64, at []int) error {
	if p, ok := l.p.predictor.(inverter); ok {
		p.inverseDiagonal(solved, precisions, at)
		return nil
	}
	if err := l.p.predictor.latent(context.Background(), solved, precisions, l.x.Pick(at)); err != nil {
		return err
	}
	for j, i := range at {
		precisions[j] = (1 - precisions[j]/l.noise[i]) / l.noise[i]
	}
	l.solve(solved, at)
	return nil
}

// solve turns posterior means at the observations into their rows of A⁻¹C.
func (l *leaver) solve(means blas64.General, at []int) {
	for j, i := range at {
		for c, m := range row(means, j).Data {
			means.Data[j*means.Stride+c] = (l.columns.Data[i*l.columns.Stride+c] - m) / l.noise[i]
		}
	}
}

// inverse sets block to the rows and columns of A⁻¹ at the observations, and solved to their rows
// of A⁻¹C.
func (l *leaver) inverse(solved blas64.General, block *dense.Lower, at []int) error {
	if p, ok := l.p.predictor.(inverter); ok {
		p.inverseBlock(solved, block, at)
		return nil
	}
	if err := l.p.predictor.joint(context.Background(), solved, block, l.x.Pick(at)); err != nil {
		return err
	}
	// D⁻¹ − D⁻¹·cov·D⁻¹, D the noise.
	precision := make([]float64, len(at))
	for j, i := range at {
		precision[j] = 1 / l.noise[i]
	}
	block.EachTile(func(bi, bj int, t blas64.General) {
		for a := range t.Rows {
			for b := range t.Cols {
				t.Data[a*t.Stride+b] *= -precision[bi*dense.Tile+a] * precision[bj*dense.Tile+b]
			}
		}
	})
	block.AddDiagonals(precision)
	l.solve(solved, at)
	return nil
}

// block leaves out one block.
func (l *leaver) block(mean, variances []float64, at []int) error {
	n := len(at)
	if n == 0 {
		return nil
	}
	solved, cov := newGeneral(n, l.columns.Cols), dense.NewLower(n) // P_BB
	if err := l.inverse(solved, cov, at); err != nil {
		return err
	}
	alpha := make([]float64, n)
	for j := range at {
		alpha[j] = solved.Data[j*solved.Stride]
	}
	if c := l.p.mean; c != nil {
		blas64.Gemv(blas.NoTrans, 1, solved, vec(c.fit.Contrast()), 0, vec(alpha))
		rows := newGeneral(solved.Cols-1, n)
		for j := range n {
			for k := range rows.Rows {
				rows.Data[k*rows.Stride+j] = solved.Data[j*solved.Stride+1+k]
			}
		}
		c.fit.Whiten(rows)
		addOuter(cov, -1, rows)
	}
	if err := cov.Cholesky(); err != nil {
		return fmt.Errorf("gppl: %s cannot be left out: what they add to the others is lost in rounding: %w", observations(at), err)
	}
	// P_BB⁻¹α_B, and the diagonal of P_BB⁻¹.
	cov.SolveL(columnOf(alpha))
	cov.SolveLT(columnOf(alpha))
	inverse := newGeneral(n, n)
	addDiagonal(inverse, 1)
	cov.SolveL(inverse)
	for j, i := range at {
		var v float64
		for k := j; k < n; k++ {
			w := inverse.Data[k*inverse.Stride+j]
			v += w * w
		}
		mean[i], variances[i] = l.y[i]-alpha[j], v
	}
	return nil
}
