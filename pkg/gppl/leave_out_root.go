package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// With a root A = LLᵀ, P = WᵀW for W = (I − ΠΠᵀ)L⁻¹, Π an orthonormal basis of L⁻¹Q (and of the priors' rows, below),
// and what is predicted for a block B is a least-squares problem. Of W_B = ΘR, Θ orthonormal,
//
//	P_BB⁻¹ = R⁻¹R⁻ᵀ,   P_BB⁻¹α_B = R⁻¹Θᵀ·L⁻¹y,
//
// which costs rounding the root of what P_BB itself would. The predictions are linear in y, with the weights −Z in
// y_B − Zᵀy, Z = L⁻ᵀΘR⁻ᵀ. A change δA of A then changes them by Zᵀ·δA·α′, and their covariance by
// ZᵀδAZ, where α′ = α − Zα_B is without the block. Rounding is such a change, of entries about ε√(A_ii·A_jj).

// rootNoise is the size of δA, relative to √(A_ii·A_jj) and √n, that factorising and the covariances bring: in units of
// 2⁻⁵³ (TestRandomLeaveOut).
const rootNoise = 8

// covarianceNoise returns the size of δA relative to √(A_ii·A_jj).
func covarianceNoise(k Kernel, x Inputs) float64 {
	return rootNoise*math.Sqrt(float64(x.Len()))*0x1p-53 + phases(k, extent(x), 1, 1)/variance(k)
}

// rooted leaves out by a factor of A.
type rooted struct {
	*leaver
	of      exactPosterior
	base    [][]float64 // Π, by columns: n + h numbers, of which the last h are of the priors
	half    []float64   // L⁻¹y less what is in Π
	alpha   []float64   // Py
	weight  []float64   // √(ε·A_ii + jitter), for each row of L
	epsilon float64
}

// byRoot leaves out by a factor of A.
func (l *leaver) byRoot(of exactPosterior, mean, variances []float64, blocks [][]int) error {
	r := newRooted(l, of)
	const batch = dense.Tile
	errs := make([]error, len(blocks))
	var lots [][2]int // of blocks, with a batch of observations each or one block
	for from := 0; from < len(blocks); {
		to, count := from+1, len(blocks[from])
		for to < len(blocks) && count+len(blocks[to]) <= batch {
			count += len(blocks[to])
			to++
		}
		lots = append(lots, [2]int{from, to})
		from = to
	}
	parallel.Within(l.ctx, len(lots), func(k int) { r.lot(mean, variances, blocks, lots[k], errs) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func newRooted(l *leaver, of exactPosterior) *rooted {
	n, h := len(l.y), l.columns.Cols-1
	r := &rooted{leaver: l, of: of, alpha: make([]float64, n), weight: make([]float64, n)}
	r.epsilon = covarianceNoise(l.p.model.Kernel, l.x)
	columns := dense.New(n, 1+h)
	for i := range n {
		at := r.row(i)
		blas64.Copy(dense.Row(l.columns, i), dense.Row(columns, at))
		r.weight[at] = math.Sqrt(r.epsilon*(variance(l.p.model.Kernel)+l.noise[i]) + l.p.jitter)
	}
	of.of.factor.SolveL(columns)
	column := func(j int) []float64 {
		c := make([]float64, n+h)
		blas64.Copy(dense.Column(columns, j), dense.Vec(c[:n]))
		return c
	}
	for j := range h {
		c := column(1 + j)
		if !l.p.mean.basis.IsFlat(j) {
			c[n+j] = 1
		}
		project(c, r.base)
		blas64.Scal(1/blas64.Nrm2(dense.Vec(c)), dense.Vec(c))
		r.base = append(r.base, c)
	}
	r.half = column(0)
	for j, prior := range l.priorMeans() {
		if !math.IsNaN(prior) {
			r.half[n+j] = prior
		}
	}
	project(r.half, r.base)
	copy(r.alpha, r.half)
	r.of.of.factor.SolveLT(dense.AsColumn(r.alpha))
	return r
}

// row returns the row of L of observation i.
func (r *rooted) row(i int) int {
	if r.of.rows == nil {
		return i
	}
	return r.of.rows[i]
}

// project subtracts from v what it has in an orthonormal basis.
func project(v []float64, basis [][]float64) {
	for range 2 { // again, against rounding
		for _, b := range basis {
			blas64.Axpy(-blas64.Dot(dense.Vec(b), dense.Vec(v)), dense.Vec(b), dense.Vec(v))
		}
	}
}

// lot leaves out the blocks of a lot, each on its own.
func (r *rooted) lot(mean, variances []float64, blocks [][]int, lot [2]int, errs []error) {
	var at []int
	for _, block := range blocks[lot[0]:lot[1]] {
		at = append(at, block...)
	}
	n := len(r.alpha)
	w := dense.New(n, len(at))
	for j, i := range at {
		w.Data[r.row(i)*w.Stride+j] = 1
	}
	r.of.of.factor.SolveL(w)
	rows := dense.New(len(at), len(r.half)) // Wᵀ
	for i := range n {
		for j := range at {
			rows.Data[j*rows.Stride+i] = w.Data[i*w.Stride+j]
		}
	}
	for b := lot[0]; b < lot[1]; b++ {
		part := dense.Rows(rows, 0, len(blocks[b]))
		errs[b] = r.block(mean, variances, blocks[b], part)
		rows.Data = rows.Data[len(blocks[b])*rows.Stride:]
	}
}

// block leaves out one block, the columns of L⁻¹ of which are the rows of w. It spoils w.
func (r *rooted) block(mean, variances []float64, block []int, w blas64.General) error {
	b := len(block)
	if b == 0 {
		return nil
	}
	theta, lengths := make([][]float64, b), make([]float64, b)
	root := dense.New(b, b) // R
	for j := range b {
		v := w.Data[j*w.Stride:][:w.Cols]
		project(v, r.base)
		lengths[j] = blas64.Nrm2(dense.Vec(v))
		for range 2 {
			for k, t := range theta[:j] {
				c := blas64.Dot(dense.Vec(t), dense.Vec(v))
				blas64.Axpy(-c, dense.Vec(t), dense.Vec(v))
				root.Data[k*root.Stride+j] += c
			}
		}
		d := blas64.Nrm2(dense.Vec(v))
		if !(d > 0) {
			return &lostError{r.p.engine, block, math.Inf(1)}
		}
		blas64.Scal(1/d, dense.Vec(v))
		root.Data[j*root.Stride+j] = d
		theta[j] = v
	}
	inverse := dense.New(b, b) // R⁻¹
	dense.AddDiagonal(inverse, 1)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: b, Stride: root.Stride, Data: root.Data}, inverse)
	for j, i := range block {
		var t, v float64
		for k := j; k < b; k++ {
			c := inverse.Data[j*inverse.Stride+k]
			t += c * blas64.Dot(dense.Vec(theta[k]), dense.Vec(r.half))
			v += c * c
		}
		mean[i], variances[i] = r.y[i]-t, v
	}
	return r.check(block, theta, inverse, lengths, variances)
}

// check is an error if rounding, as a change of A, moves what is predicted for a block by more than is trusted. A bound
// that takes no more work comes first: zᵀAz = P_ii⁻¹ gives |Dz|² ≤ (1 + v/σ²)·P_ii⁻¹ with D² the diagonal of A.
func (r *rooted) check(block []int, theta [][]float64, inverse blas64.General, lengths, variances []float64) error {
	least := math.Inf(1)
	for _, s := range r.noise {
		least = min(least, s-r.p.jitter)
	}
	v := variance(r.p.model.Kernel)
	b := float64(len(block))
	form := blas64.Nrm2(dense.Vec(r.half))
	if bound := (r.epsilon*(1+v/least) + r.p.jitter/least) * (math.Sqrt(b) + 2*form); bound <= leaveOutTrust {
		return nil
	}
	n := len(r.alpha)
	z := dense.New(n, len(block)) // ΘR⁻ᵀ, then Z
	for j := range block {
		for k := j; k < len(block); k++ {
			blas64.Axpy(inverse.Data[j*inverse.Stride+k], dense.Vec(theta[k][:n]), dense.Column(z, j))
		}
	}
	r.of.of.factor.SolveLT(z)
	alpha := append([]float64(nil), r.alpha...) // α′
	for j, i := range block {
		blas64.Axpy(-r.alpha[r.row(i)], dense.Column(z, j), dense.Vec(alpha))
	}
	weigh := func(x blas64.Vector) float64 {
		var sum float64
		for i, w := range r.weight {
			v := w * x.Data[i*x.Inc]
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	rest := weigh(dense.Vec(alpha)) + math.Sqrt(r.epsilon)*form
	for j, i := range block {
		size, sd := weigh(dense.Column(z, j)), math.Sqrt(variances[i])
		var spread float64 // Σ_k |W_k|·|S_jk|
		for k := range block {
			s := blas64.Dot(dense.Row(inverse, j), dense.Row(inverse, k))
			spread += lengths[k] * math.Abs(s)
		}
		off := size / sd * max(size/sd, rest, math.Sqrt(r.epsilon)*spread/sd)
		if err := r.trust(block, off); err != nil {
			return err
		}
	}
	return nil
}

// rowed leaves out by rows of A⁻¹, as the Toeplitz engine makes them: W = P_B·, with
//
//	y_B given the others ~ N(y_B − Sα_B, S),  S = P_BB⁻¹,
//
// and Z = SW tells what a change of A does, as above.
type rowed struct {
	*leaver
	of      *toeplitzPosterior
	place   []int          // on the grid, of each observation
	basis   blas64.General // M^(−½)QᵀA⁻¹, h×grid
	alpha   []float64      // Py on the grid
	weight  float64        // √ of the size of δA
	epsilon float64        // and relative to v + σ²
}

// byRows leaves out by the Toeplitz engine. Its factor is that of another A, which it measures.
func (l *leaver) byRows(of *toeplitzPosterior, mean, variances []float64, blocks [][]int) error {
	k, n := l.p.model.Kernel, of.factor.engine.grid.n
	most := variance(k) + l.noise[0]
	r := &rowed{leaver: l, of: of, place: make([]int, len(l.y)), alpha: make([]float64, n)}
	const margin = 16 // Backward measures δA in one direction
	_, slopes := of.factor.engine.count(k)
	r.epsilon = margin*(covarianceNoise(k, l.x)+of.factor.factor.Backward()/most) + 4*of.factor.engine.grid.off*slopes/most
	r.weight = math.Sqrt(r.epsilon * most)
	for i := range r.place {
		at := i
		if of.rows != nil {
			at = of.rows[i]
		}
		r.place[i] = of.factor.engine.grid.place[at]
	}
	solved := of.factor.Alpha // (A⁻¹C)ᵀ
	copy(r.alpha, dense.Row(solved, 0).Data)
	if c := l.p.mean; c != nil {
		clear(r.alpha)
		for j, v := range c.fit.Contrast() {
			blas64.Axpy(v, dense.Row(solved, j), dense.Vec(r.alpha))
		}
		r.basis = dense.New(solved.Rows-1, n)
		dense.Copy(r.basis, dense.Rows(solved, 1, solved.Rows-1))
		c.fit.Whiten(r.basis)
	}
	errs := make([]error, len(blocks))
	parallel.Within(l.ctx, len(blocks), func(b int) { errs[b] = r.block(mean, variances, blocks[b]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// block leaves out one block.
func (r *rowed) block(mean, variances []float64, block []int) error {
	b, n := len(block), len(r.alpha)
	if b == 0 {
		return nil
	}
	w, lengths := dense.New(b, n), make([]float64, b)
	parallel.For(b, func(j int) {
		work := r.of.work.Get()
		defer r.of.work.Put(work)
		v, at := dense.Row(w, j), r.place[block[j]]
		work.cross = dense.Resize(work.cross, n)
		clear(work.cross)
		work.cross[at] = 1
		r.of.factor.factor.Solve(v.Data, work.cross, &work.work)
		r.of.factor.factor.Refine(v.Data, work.cross, &work.work)
		lengths[j] = blas64.Nrm2(v)
		for k := range r.basis.Rows {
			blas64.Axpy(-r.basis.Data[k*r.basis.Stride+at], dense.Row(r.basis, k), v)
		}
	})
	p := dense.NewLower(b)
	alpha := make([]float64, b)
	p.EachTile(func(bi, bj int, t blas64.General) {
		for i := range t.Rows {
			for j := range t.Cols {
				t.Data[i*t.Stride+j] = w.Data[(bi*dense.Tile+i)*w.Stride+r.place[block[bj*dense.Tile+j]]]
			}
		}
	})
	for j, i := range block {
		alpha[j] = r.alpha[r.place[i]]
	}
	if err := p.Cholesky(); err != nil {
		return &lostError{r.p.engine, block, math.Inf(1)}
	}
	inverse := dense.New(b, b) // S
	dense.AddDiagonal(inverse, 1)
	p.SolveL(inverse)
	p.SolveLT(inverse)
	z := dense.New(b, n)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, w, 0, z)
	rest := append([]float64(nil), r.alpha...) // α less Zα_B
	for j := range block {
		blas64.Axpy(-alpha[j], dense.Row(z, j), dense.Vec(rest))
	}
	for j, i := range block {
		v, sd := inverse.Data[j*inverse.Stride+j], math.Sqrt(inverse.Data[j*inverse.Stride+j])
		mean[i], variances[i] = r.y[i]-blas64.Dot(dense.Row(inverse, j), dense.Vec(alpha)), v
		size := r.weight * blas64.Nrm2(dense.Row(z, j))
		var spread float64
		for k, s := range dense.Row(inverse, j).Data {
			spread += r.weight * lengths[k] * math.Abs(s)
		}
		rounded := r.weight*blas64.Nrm2(dense.Vec(rest)) + math.Sqrt(r.epsilon)*r.length
		if err := r.trust(block, max(size, spread)/sd*max(max(size, spread)/sd, rounded)); err != nil {
			return err
		}
	}
	return nil
}
