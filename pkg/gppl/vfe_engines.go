package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/inducing"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// denseVFE holds Φ and goes through its rows in blocks, in 5nm² flops.
type denseVFE struct {
	x           Inputs
	columns     blas64.General // C, n×c
	m           int
	projections parallel.Pool[denseVFEProjection]
}

// denseVFEProjection is Φ at one model.
type denseVFEProjection struct {
	engine *denseVFE
	phi    blas64.General // Φ, n×m
	lanes  []vfeLane
}

// vfeLane is the working memory of one lane: a share of the blocks of rows.
type vfeLane struct {
	phiPhi blas64.General // ΦᵀΦ of the lane's rows, m×m
	phiC   blas64.General // ΦᵀC of the lane's rows, m×c
	grad   []float64      // ∂/∂log θ of the kernel's parameters
	slope  []float64      // ∂/∂Z, m×d
	beta   blas64.General // weights of one block of rows
	beta2  float64        // |β|²
	noise  float64        // twice the derivative in σ², if there are known errors
	back   blas64.General // ΦB⁻¹ of one block of rows, for that
	w, r   []float64      // weights and distances, Tile×m
	each   []float64      // workspace of addSlopes
}

func (e *denseVFE) name() string { return EngineDense }

func (e *denseVFE) inexact() float64 { return 0 }

func (e *denseVFE) estimate(w *vfeWork) choice.Estimate {
	n, m := float64(e.x.Len()), float64(e.m)
	return choice.Estimate{
		Bytes:   8 * (n*m + parallel.Lanes*m*(m+2*dense.Tile)),
		Seconds: n * m * (6*m/choice.FlopRate + 2*pairSeconds) / 2,
		Err:     n * rounding(w.variance, w.least),
	}
}

// init allocates memory, once.
func (p *denseVFEProjection) init(e *denseVFE) {
	n, m, c := e.x.Len(), e.m, e.columns.Cols
	p.engine, p.phi = e, dense.New(n, m)
	for range min(parallel.Lanes, dense.Blocks(n)) {
		p.lanes = append(p.lanes, vfeLane{
			phiPhi: dense.New(m, m), phiC: dense.New(m, c), slope: make([]float64, m*e.x.d),
			beta: dense.New(dense.Tile, c), w: make([]float64, dense.Tile*m), r: make([]float64, dense.Tile*m),
		})
	}
}

func (p *denseVFEProjection) release() { p.engine.projections.Put(p) }

// eachBlock calls f for every block of rows, lane by lane in parallel, after reset for each lane.
func (p *denseVFEProjection) eachBlock(ctx context.Context, f func(own *vfeLane, b int), reset func(own *vfeLane)) {
	nb := dense.Blocks(p.phi.Rows)
	parallel.For(len(p.lanes), func(c int) {
		reset(&p.lanes[c])
		for b := c; b < nb; b += len(p.lanes) {
			parallel.Look(ctx)
			f(&p.lanes[c], b)
		}
	})
}

func (e *denseVFE) project(w *vfeWork) (vfeProjection, error) {
	p := e.projections.Get()
	if p.engine == nil {
		p.init(e)
	}
	m := e.m
	p.eachBlock(w.ctx, func(own *vfeLane, b int) {
		phi := dense.RowBlock(p.phi, b)
		block := phi.Data[:phi.Rows*m]
		covariances(block, w.kernel, e.x.block(b), w.z)
		w.Luu.SolveLTRight(phi)
		w.rows.Divide(phi, b*dense.Tile, w.noise)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, phi, phi, 1, own.phiPhi)
		columns := dense.Rows(w.rows.Columns, b*dense.Tile, phi.Rows)
		if columns.Cols == 1 {
			blas64.Gemv(blas.Trans, 1, phi, dense.Column(columns, 0), 1, dense.Column(own.phiC, 0))
		} else {
			dense.Gemm(blas.Trans, blas.NoTrans, 1, phi, columns, 1, own.phiC)
		}
	}, func(own *vfeLane) {
		clear(own.phiPhi.Data)
		clear(own.phiC.Data)
	})
	clear(w.PhiPhi.Data)
	clear(w.C.Data)
	for _, own := range p.lanes {
		dense.Add(w.PhiPhi.Data, own.phiPhi.Data)
		dense.Add(w.C.Data, own.phiC.Data)
	}
	return p, nil
}

func (p *denseVFEProjection) contract(grad, gradZ []float64, w *vfeWork) (beta2 float64, err error) {
	m, e := w.U.Rows, p.engine
	p.eachBlock(w.ctx, func(own *vfeLane, b int) {
		phi, x := dense.RowBlock(p.phi, b), e.x.block(b)
		size := phi.Rows * m
		weight := blas64.General{Rows: phi.Rows, Cols: m, Stride: m, Data: own.w[:size]}
		r := own.r[:size]
		beta := dense.Combine(own.beta, dense.Rows(w.rows.Columns, b*dense.Tile, phi.Rows), w.R) // (C − ΦB⁻¹ΦᵀC)R/σ²
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, w.E, 0, weight)
		if beta.Cols == 1 {
			blas64.Gemv(blas.NoTrans, -1/w.Unit, phi, dense.Column(w.BInvC, 0), 1/w.Unit, dense.Column(beta, 0))
			blas64.Ger(-1, dense.Column(beta, 0), dense.Column(w.U, 0), weight)
		} else {
			dense.Gemm(blas.NoTrans, blas.NoTrans, -1/w.Unit, phi, w.BInvC, 1/w.Unit, beta)
			dense.Gemm(blas.NoTrans, blas.Trans, -1, beta, w.U, 1, weight)
		}
		all := dense.Vec(beta.Data[:beta.Rows*beta.Cols])
		own.beta2 += blas64.Dot(all, all)
		var slope float64
		slope, own.back = w.rows.NoiseSlope(own.back, phi, beta, w.BInv, b*dense.Tile)
		own.noise += slope
		w.rows.Back(weight, b*dense.Tile)
		contractions(own.grad, w.kernel, weight.Data, x, w.z, r)
		own.each = addSlopes(own.slope, weight.Data, own.each, x, w.z, w.kernel)
	}, func(own *vfeLane) {
		if own.grad == nil {
			own.grad = make([]float64, len(grad))
		}
		clear(own.grad)
		clear(own.slope)
		own.beta2, own.noise = 0, 0
	})
	clear(grad)
	clear(gradZ)
	w.rows.Slope = 0
	for _, own := range p.lanes {
		w.rows.Slope += own.noise
		dense.Add(grad, own.grad)
		dense.Add(gradZ, own.slope)
		beta2 += own.beta2
	}
	return beta2, nil
}

// addSlopes adds Σ_i w_ij ∂k(x_i, z_j)/∂z_j to slope (row-major m×d). It returns scratch, in which it works.
func addSlopes(slope, w, scratch []float64, x, z Inputs, k Kernel) []float64 {
	m, d := z.Len(), z.d
	scratch = dense.Resize(scratch, x.Len()*m*d)
	if d == 1 && !isPlaced(k) {
		distances(scratch, x, z)
		k.Slope(scratch, scratch)
		for i, xi := range x.at {
			for j, zj := range z.at {
				s := w[i*m+j] * scratch[i*m+j]
				if zj < xi {
					s = -s
				}
				slope[j] += s
			}
		}
		return scratch
	}
	slopes(scratch, k, x, z)
	for i := range x.Len() {
		for j := range m {
			at := i*m + j
			for axis, s := range scratch[at*d : (at+1)*d] {
				slope[j*d+axis] += w[at] * s
			}
		}
	}
	return scratch
}

// spectralVFE takes K_xu from the features of a smooth kernel, and all that involves the data from sums over them
// (inducing.Features).
type spectralVFE struct {
	exact       *spectralExact // the data
	projections parallel.Pool[spectralVFEProjection]
}

// spectralVFEProjection is the features at one model.
type spectralVFEProjection struct {
	inducing.Features
	engine *spectralVFE
}

// vfeEps bounds the sum of the coefficients that are left out, relative to the variance. It is near rounding, since errors of
// K_xu are divided by the square root of the smallest eigenvalue of K_uu.
const vfeEps = 1e-13

func (e *spectralVFE) name() string     { return EngineSpectral }
func (e *spectralVFE) inexact() float64 { return vfeEps }

func (e *spectralVFE) estimate(w *vfeWork) choice.Estimate {
	if !w.hasSignal() {
		return choice.Cannot(noSignal)
	}
	f := e.exact.estimate(&w.compiled)
	if f.Reason.Given() {
		return f
	}
	if lo, hi := w.z.Range(0); lo < e.exact.Lo || hi > e.exact.Lo+e.exact.Span {
		return choice.Cannot("an inducing input lies outside the data")
	}
	frequencies, _, why := e.exact.Frequencies(&w.series, vfeEps) // more than the exact likelihood needs
	if why.Given() {
		return choice.Estimate{Reason: why}
	}
	p, m := 2*frequencies-1, float64(w.z.Len())
	if p > spectral.MostFeatures {
		return spectral.TooMany(frequencies)
	}
	n, v := float64(e.exact.N), w.variance
	if condition := v * w.worst; condition*vfeEps > 1 {
		return choice.Estimate{Reason: choice.Because("the inducing inputs nearly coincide: their covariance has condition %.1g",
			condition)}
	}
	f.Err = vfeRounding * n * (2*vfeEps*v/w.least*math.Sqrt(v*w.worst) + rounding(v, w.least))
	f.Bytes = 2 * 8 * (p*p + 2*m*p + 5*m*m)
	f.Seconds = (2*m*p*p+8*m*m*p)/(2*choice.FlopRate) + p*p*1.5e-9 + 2*m*p*15e-9
	return f
}

func (e *spectralVFE) project(w *vfeWork) (vfeProjection, error) {
	f := e.projections.Get()
	f.engine = e
	sums, err := e.exact.Expand(&f.Expansion, &w.series, w.variance, vfeEps)
	if err != nil {
		f.release()
		return nil, err
	}
	f.Sums = spectral.Sums{N: e.exact.N, Moments: sums.Moments, Columns: sums.Columns, Squares: e.exact.yy}
	f.Project(w.ctx, &w.Bound, w.z.at, sums.Origin)
	return f, nil
}

func (f *spectralVFEProjection) release() { f.engine.projections.Put(f) }

func (f *spectralVFEProjection) contract(grad, gradZ []float64, w *vfeWork) (beta2 float64, err error) {
	beta2 = f.Contract(&w.Bound, gradZ)
	clear(grad)
	verify.Tampered("VFE q", f.Q)
	return beta2, spectral.ContractSeries(f.Series, grad, f.Q, w.kernel)
}
