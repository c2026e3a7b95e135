// Package leaveout predicts some of y ~ N(Hβ, A) from all others, from a factorisation of the whole A. With P = A⁻¹ or, with a
// mean, P = A⁻¹ − A⁻¹HM⁻¹HᵀA⁻¹,
//
//	y_B given the others ~ N(y_B − P_BB⁻¹(Py)_B, P_BB⁻¹)
//
// (Rasmussen and Williams 2006, eq. 5.12; Dubrule 1983 with a mean). It estimates what rounding does to each prediction.
package leaveout

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Trust is the largest error from rounding that is accepted: of a prediction, in its standard deviations, and of its variance,
// relative to itself. The error is an estimate: the documented bound of a hundredth leaves a margin of three.
const Trust = 0.003

// A LostError says that rounding is not small compared with the standard deviation of a prediction.
type LostError struct {
	Block int     // index among the blocks left out
	Off   float64 // error in standard deviations
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the prediction of block %d may be %.2g of its standard deviation off", e.Block, e.Off)
}

// trusted returns an error if a prediction is off by more than Trust.
func trusted(block int, off float64) error {
	if off <= Trust {
		return nil
	}
	return &LostError{block, off}
}

// Root leaves observations out by a root L of A = LLᵀ. P = WᵀW for W = (I − ΠΠᵀ)L⁻¹, Π an orthonormal basis of L⁻¹H (and of the
// priors' rows), and the prediction of a block B is a least-squares problem. With W_B = ΘR, Θ orthonormal,
//
//	P_BB⁻¹ = R⁻¹R⁻ᵀ,   P_BB⁻¹α_B = R⁻¹Θᵀ·L⁻¹y,
//
// Rounding is amplified only by the root of the factor by which it would be amplified in P_BB itself. The predictions are linear
// in y, with the weights −Z in y_B − Zᵀy, Z = L⁻ᵀΘR⁻ᵀ. A change δA of A then changes them by Zᵀ·δA·α′, and their covariance by
// ZᵀδAZ, where α′ = α − Zα_B is α without the block. Rounding is such a change, of entries about ε√(A_ii·A_jj).
type Root struct {
	Factor interface {
		SolveL(b blas64.General)
		SolveLT(b blas64.General)
	}
	Variance float64   // v, the variance of the signal: A_ii = v + Noise[i]
	Noise    []float64 // includes the jitter
	Jitter   float64
	Epsilon  float64 // relative size of δA
}

// root is Root with quantities derived from the columns.
type root struct {
	*Root
	y      []float64
	base   [][]float64 // Π, by columns of n + h numbers; the last h belong to the priors
	half   []float64   // L⁻¹y minus its projection on Π
	alpha  []float64   // Py
	weight []float64   // √(ε·A_ii + jitter)
	form   float64     // √(yᵀPy)
}

// Leave sets mean and variances of the observations in blocks, each block on its own, for columns [y, H], n×(1+h). The
// coefficient of each column of H is normal about its prior mean with variance 1, or flat if that mean is NaN. Leave takes
// O(n²b) for a block of b observations with a dense L. It returns a LostError if rounding spoils a prediction.
func (r *Root) Leave(ctx context.Context, mean, variances []float64, columns blas64.General, priors []float64,
	blocks [][]int) error {
	s := r.prepare(columns, priors)
	const batch = dense.Tile
	errs := make([]error, len(blocks))
	var lots [][2]int // ranges of blocks, each with a batch of observations or one block
	for from := 0; from < len(blocks); {
		to, count := from+1, len(blocks[from])
		for to < len(blocks) && count+len(blocks[to]) <= batch {
			count += len(blocks[to])
			to++
		}
		lots = append(lots, [2]int{from, to})
		from = to
	}
	leave := func(lots [][2]int) error {
		parallel.Within(ctx, len(lots), func(k int) { s.lot(ctx, mean, variances, blocks, lots[k], errs) })
		return cmp.Or(errs...)
	}
	first := min(1, len(lots)) // if rounding matters the first lot fails, which saves the others
	if err := leave(lots[:first]); err != nil {
		return err
	}
	return leave(lots[first:])
}

func (r *Root) prepare(c blas64.General, priors []float64) *root {
	n, h := c.Rows, c.Cols-1
	s := &root{Root: r, y: dense.Slice(dense.Column(c, 0)), alpha: make([]float64, n), weight: make([]float64, n)}
	columns := dense.New(n, 1+h)
	dense.Copy(columns, c)
	for i := range n {
		s.weight[i] = math.Sqrt(r.Epsilon*(r.Variance+r.Noise[i]) + r.Jitter)
	}
	r.Factor.SolveL(columns)
	column := func(j int) []float64 {
		v := make([]float64, n+h)
		blas64.Copy(dense.Column(columns, j), dense.Vec(v[:n]))
		return v
	}
	for j := range h {
		v := column(1 + j)
		if !math.IsNaN(priors[j]) {
			v[n+j] = 1
		}
		project(v, s.base)
		blas64.Scal(1/blas64.Nrm2(dense.Vec(v)), dense.Vec(v))
		s.base = append(s.base, v)
	}
	s.half = column(0)
	for j, prior := range priors {
		if !math.IsNaN(prior) {
			s.half[n+j] = prior
		}
	}
	project(s.half, s.base)
	s.form = blas64.Nrm2(dense.Vec(s.half))
	copy(s.alpha, s.half)
	r.Factor.SolveLT(dense.AsColumn(s.alpha))
	return s
}

// project subtracts from v its projection on an orthonormal basis.
func project(v []float64, basis [][]float64) {
	for range 2 { // again, against rounding
		for _, b := range basis {
			blas64.Axpy(-blas64.Dot(dense.Vec(b), dense.Vec(v)), dense.Vec(b), dense.Vec(v))
		}
	}
}

// lot leaves out the blocks of a lot, each on its own.
func (r *root) lot(ctx context.Context, mean, variances []float64, blocks [][]int, lot [2]int, errs []error) {
	var at []int
	for _, block := range blocks[lot[0]:lot[1]] {
		at = append(at, block...)
	}
	n := len(r.alpha)
	w := dense.New(n, len(at))
	for j, i := range at {
		w.Data[i*w.Stride+j] = 1
	}
	r.Factor.SolveL(w)
	rows := dense.New(len(at), len(r.half)) // Wᵀ
	for i := range n {
		for j := range at {
			rows.Data[j*rows.Stride+i] = w.Data[i*w.Stride+j]
		}
	}
	for b := lot[0]; b < lot[1]; b++ {
		if count := len(blocks[b]); count > 0 {
			errs[b] = r.block(ctx, mean, variances, b, blocks[b], dense.Rows(rows, 0, count))
			rows.Data = rows.Data[count*rows.Stride:]
		}
	}
}

// block leaves out block b; the rows of w are its columns of L⁻¹. It overwrites w.
func (r *root) block(ctx context.Context, mean, variances []float64, b int, block []int, w blas64.General) error {
	count := len(block)
	theta, lengths := make([][]float64, count), make([]float64, count)
	upper := dense.New(count, count) // R
	for j := range count {
		parallel.Look(ctx)
		v := dense.Row(w, j).Data
		project(v, r.base)
		lengths[j] = blas64.Nrm2(dense.Vec(v))
		for range 2 {
			for k, t := range theta[:j] {
				c := blas64.Dot(dense.Vec(t), dense.Vec(v))
				blas64.Axpy(-c, dense.Vec(t), dense.Vec(v))
				upper.Data[k*upper.Stride+j] += c
			}
		}
		d := blas64.Nrm2(dense.Vec(v))
		if !(d > 0) {
			return &LostError{b, math.Inf(1)}
		}
		blas64.Scal(1/d, dense.Vec(v))
		upper.Data[j*upper.Stride+j] = d
		theta[j] = v
	}
	inverse := dense.New(count, count) // R⁻¹
	dense.AddDiagonal(inverse, 1)
	dense.Trsm(blas.Left, blas.NoTrans, 1,
		blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: count, Stride: upper.Stride, Data: upper.Data}, inverse)
	for j, i := range block {
		var t, v float64
		for k := j; k < count; k++ {
			c := inverse.Data[j*inverse.Stride+k]
			t += c * blas64.Dot(dense.Vec(theta[k]), dense.Vec(r.half))
			v += c * c
		}
		mean[i], variances[i] = r.y[i]-t, v
	}
	return r.check(ctx, b, block, theta, inverse, lengths, variances)
}

// check returns an error if rounding, as a change of A, moves a prediction of a block by more than Trust. A bound at no
// additional cost comes first: zᵀAz = P_ii⁻¹ gives |Dz|² ≤ (1 + v/σ²)·P_ii⁻¹ with D² the diagonal of A.
func (r *root) check(
	ctx context.Context, b int, block []int, theta [][]float64, inverse blas64.General, lengths, variances []float64,
) error {
	least := math.Inf(1)
	for _, s := range r.Noise {
		least = min(least, s-r.Jitter)
	}
	if bound := (r.Epsilon*(1+r.Variance/least) + r.Jitter/least) * (math.Sqrt(float64(len(block))) + 2*r.form); bound <= Trust {
		return nil
	}
	n := len(r.alpha)
	z := dense.New(n, len(block)) // ΘR⁻ᵀ, then Z
	for j := range block {
		parallel.Look(ctx)
		for k := j; k < len(block); k++ {
			blas64.Axpy(inverse.Data[j*inverse.Stride+k], dense.Vec(theta[k][:n]), dense.Column(z, j))
		}
	}
	r.Factor.SolveLT(z)
	alpha := append([]float64(nil), r.alpha...) // α′
	for j, i := range block {
		blas64.Axpy(-r.alpha[i], dense.Column(z, j), dense.Vec(alpha))
	}
	weigh := func(x blas64.Vector) float64 {
		var sum float64
		for i, w := range r.weight {
			v := w * x.Data[i*x.Inc]
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	rest := weigh(dense.Vec(alpha)) + math.Sqrt(r.Epsilon)*r.form
	for j, i := range block {
		parallel.Look(ctx)
		size, sd := weigh(dense.Column(z, j)), math.Sqrt(variances[i])
		var spread float64 // Σ_k |W_k|·|S_jk|
		for k := range block {
			spread += lengths[k] * math.Abs(blas64.Dot(dense.Row(inverse, j), dense.Row(inverse, k)))
		}
		off := size / sd * max(size/sd, rest, math.Sqrt(r.Epsilon)*spread/sd)
		if err := trusted(b, off); err != nil {
			return err
		}
	}
	return nil
}

// Rows leaves observations out by the rows B of P, which is A⁻¹ less the part of the mean (Basis): W = P_B·, with
//
//	y_B given the others ~ N(y_B − Sα_B, S),  S = P_BB⁻¹,
//
// and SW weighs the error by rounding, as Zᵀ of Root does.
type Rows struct {
	Read    func() RowReader // returns a reader for one goroutine
	Y       []float64
	Alpha   []float64      // Py
	Basis   blas64.General // rows whose outer products A⁻¹ contains in addition to P, h×n
	Weight  float64        // √ of the size of δA
	Epsilon float64        // size of δA relative to A_ii
	Length  float64        // √(yᵀPy)
}

// A RowReader sets dst to row i of A⁻¹, as exactly as possible if alone. off is the size of a δA for which the row is exact,
// in addition to Weight².
type RowReader func(dst []float64, i int, alone bool) (off float64)

// Leave is Root.Leave for rows, in O(nb) in addition to reading the b rows of a block.
func (r *Rows) Leave(ctx context.Context, mean, variances []float64, blocks [][]int) error {
	lot := min(128, len(blocks)/8+1) // blocks of one reader; consecutive rows cost it less
	errs := make([]error, len(blocks))
	parallel.Within(ctx, (len(blocks)+lot-1)/lot, func(i int) {
		read := r.Read()
		for b := i * lot; b < min((i+1)*lot, len(blocks)); b++ {
			parallel.Look(ctx)
			if len(blocks[b]) > 0 {
				errs[b] = r.block(ctx, mean, variances, b, blocks[b], read, false)
			}
			if errs[b] != nil {
				errs[b] = r.block(ctx, mean, variances, b, blocks[b], read, true)
			}
		}
	})
	return cmp.Or(errs...)
}

// block leaves out block b.
func (r *Rows) block(ctx context.Context, mean, variances []float64, b int, block []int, read RowReader, alone bool) error {
	count, n, weight := len(block), len(r.Alpha), r.Weight
	w, lengths := dense.New(count, n), make([]float64, count)
	for j, at := range block {
		parallel.Look(ctx)
		v := dense.Row(w, j)
		weight = max(weight, math.Hypot(r.Weight, math.Sqrt(read(v.Data, at, alone))))
		lengths[j] = blas64.Nrm2(v)
		for k := range r.Basis.Rows {
			blas64.Axpy(-r.Basis.Data[k*r.Basis.Stride+at], dense.Row(r.Basis, k), v)
		}
	}
	p, alpha := dense.NewLower(count), make([]float64, count)
	p.Ctx = ctx
	p.EachTile(func(bi, bj int, t blas64.General) {
		for i := range t.Rows {
			for j := range t.Cols {
				t.Data[i*t.Stride+j] = w.Data[(bi*dense.Tile+i)*w.Stride+block[bj*dense.Tile+j]]
			}
		}
	})
	for j, i := range block {
		alpha[j] = r.Alpha[i]
	}
	if err := p.Cholesky(); err != nil {
		return &LostError{b, math.Inf(1)}
	}
	inverse := dense.New(count, count) // S
	dense.AddDiagonal(inverse, 1)
	p.SolveL(inverse)
	p.SolveLT(inverse)
	z := dense.New(count, n)
	dense.Mul(ctx, z, blas.NoTrans, inverse, w)
	rest := append([]float64(nil), r.Alpha...) // α minus Zα_B
	for j := range block {
		blas64.Axpy(-alpha[j], dense.Row(z, j), dense.Vec(rest))
	}
	for j, i := range block {
		parallel.Look(ctx)
		v, sd := inverse.Data[j*inverse.Stride+j], math.Sqrt(inverse.Data[j*inverse.Stride+j])
		mean[i], variances[i] = r.Y[i]-blas64.Dot(dense.Row(inverse, j), dense.Vec(alpha)), v
		size := weight * blas64.Nrm2(dense.Row(z, j))
		var spread float64
		for k, s := range dense.Row(inverse, j).Data {
			spread += weight * lengths[k] * math.Abs(s)
		}
		most := max(size, spread) / sd
		rounded := weight*blas64.Nrm2(dense.Vec(rest)) + math.Sqrt(r.Epsilon)*r.Length
		if err := trusted(b, most*max(most, rounded)); err != nil {
			return err
		}
	}
	return nil
}
