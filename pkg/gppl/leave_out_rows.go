package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// rowed leaves out by rows of A⁻¹, as the Toeplitz engine makes them: W = P_B·, with
//
//	y_B given the others ~ N(y_B − Sα_B, S),  S = P_BB⁻¹,
//
// and Z = SW tells what a change of A does, as in leave_out_root.go.
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
	copy(r.alpha, row(solved, 0).Data)
	if c := l.p.mean; c != nil {
		clear(r.alpha)
		for j, v := range c.fit.Contrast() {
			blas64.Axpy(v, row(solved, j), dense.Vec(r.alpha))
		}
		r.basis = dense.New(solved.Rows-1, n)
		copyGeneral(r.basis, rowsFrom(solved, 1, solved.Rows-1))
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
		work := r.of.work.get()
		defer r.of.work.put(work)
		v, at := row(w, j), r.place[block[j]]
		work.cross = dense.Resize(work.cross, n)
		clear(work.cross)
		work.cross[at] = 1
		r.of.factor.factor.Solve(v.Data, work.cross, &work.work)
		r.of.factor.factor.Refine(v.Data, work.cross, &work.work)
		lengths[j] = blas64.Nrm2(v)
		for k := range r.basis.Rows {
			blas64.Axpy(-r.basis.Data[k*r.basis.Stride+at], row(r.basis, k), v)
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
	addDiagonal(inverse, 1)
	p.SolveL(inverse)
	p.SolveLT(inverse)
	z := dense.New(b, n)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, w, 0, z)
	rest := append([]float64(nil), r.alpha...) // α less Zα_B
	for j := range block {
		blas64.Axpy(-alpha[j], row(z, j), dense.Vec(rest))
	}
	for j, i := range block {
		v, sd := inverse.Data[j*inverse.Stride+j], math.Sqrt(inverse.Data[j*inverse.Stride+j])
		mean[i], variances[i] = r.y[i]-blas64.Dot(row(inverse, j), dense.Vec(alpha)), v
		size := r.weight * blas64.Nrm2(row(z, j))
		var spread float64
		for k, s := range row(inverse, j).Data {
			spread += r.weight * lengths[k] * math.Abs(s)
		}
		rounded := r.weight*blas64.Nrm2(dense.Vec(rest)) + math.Sqrt(r.epsilon)*r.length
		if err := r.trust(block, max(size, spread)/sd*max(max(size, spread)/sd, rounded)); err != nil {
			return err
		}
	}
	return nil
}

// ranks returns where each observation stands in the series, nil if x was sorted.
func (l *line) ranks() []int {
	if l.order == nil {
		return nil
	}
	rank := make([]int, len(l.order))
	for i, o := range l.order {
		rank[o] = i
	}
	return rank
}
