package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/inducing"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// denseVFE holds Φ and goes through its rows in blocks, in 5nm² flops.
type denseVFE struct {
	x           Inputs
	columns     blas64.General // C, n×c
	m           int
	rows        observed.Noise
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
	beta   blas64.General // of one block of rows
	beta2  float64        // |β|²
	noise  float64        // twice the derivative in σ², if there are known errors
	back   blas64.General // ΦB⁻¹ of one block of rows, for that
	w, r   []float64      // weights and distances, Tile×m
	dist   []float64      // for addSlopes
}

func newDenseVFE(x Inputs, columns blas64.General, z Inputs, rows observed.Noise) *denseVFE {
	return &denseVFE{x: x, columns: columns, m: z.Len(), rows: rows}
}

func (e *denseVFE) name() string { return EngineDense }

func (e *denseVFE) inexact() float64 { return 0 }

func (e *denseVFE) forecast(w *vfeWork) choice.Forecast {
	n, m := float64(e.x.Len()), float64(e.m)
	return choice.Forecast{
		Bytes:   8 * (n*m + parallel.Lanes*m*(m+2*dense.Tile)),
		Seconds: n * m * (6*m/flopRate + 2*pairSeconds) / 2,
		Err:     n * rounding(w.variance, w.noise),
	}
}

// init makes room, once.
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

// eachBlock calls f for every block of rows, lane by lane in parallel, after
// reset for each lane.
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

func (p *denseVFEProjection) phiBlock(b int) blas64.General {
	return dense.RowBlock(p.phi, b)
}

func (e *denseVFE) project(w *vfeWork) (vfeProjection, error) {
	p := e.projections.Get()
	if p.engine == nil {
		p.init(e)
	}
	m := e.m
	scale := 1 / math.Sqrt(w.noise)
	p.eachBlock(w.ctx, func(own *vfeLane, b int) {
		phi := p.phiBlock(b)
		block := phi.Data[:phi.Rows*m]
		distances(block, e.x.block(b), w.z)
		w.kernel.Cov(block, block)
		w.Luu.SolveLTRight(phi)
		w.rows.divide(phi, b*dense.Tile, scale)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, phi, phi, 1, own.phiPhi)
		columns := dense.Rows(w.rows.columns, b*dense.Tile, phi.Rows)
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
		phi, x := p.phiBlock(b), e.x.block(b)
		size := phi.Rows * m
		weight := blas64.General{Rows: phi.Rows, Cols: m, Stride: m, Data: own.w[:size]}
		r := own.r[:size]
		beta := dense.Combine(own.beta, dense.Rows(w.rows.columns, b*dense.Tile, phi.Rows), w.R) // (C − ΦB⁻¹ΦᵀC)R/σ²
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
		if w.rows.scale != nil {
			if e.rows.Known != nil {
				own.noise += own.slopeOfNoise(phi, beta, w, &e.rows, b*dense.Tile)
			}
			dense.ScaleRows(weight, w.rows.back[b*dense.Tile:])
		}
		distances(r, x, w.z)
		w.kernel.Contract(own.grad, weight.Data, r)
		own.dist = addSlopes(own.slope, weight.Data, r, own.dist, x, w.z, w.kernel)
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
	w.rows.slope = 0
	for _, own := range p.lanes {
		w.rows.slope += own.noise
		dense.Add(grad, own.grad)
		dense.Add(gradZ, own.slope)
		beta2 += own.beta2
	}
	return beta2, nil
}

// divide divides the rows of a, from observation first on, by √λ_i or, where all have one
// noise variance, multiplies them by scale.
func (r *vfeRows) divide(a blas64.General, first int, scale float64) {
	if r.scale == nil {
		blas64.Scal(scale, dense.Vec(a.Data[:a.Rows*a.Cols]))
		return
	}
	dense.ScaleRows(a, r.scale[first:])
}

// slopeOfNoise returns what a block of rows, from observation first on, has of twice the
// derivative of the bound in σ²:
//
//	Σ_i e_i²[1 − φ_iᵀB⁻¹φ_i − |β_i|² − (k(0)/λ_i − |φ_i|²)]/λ_i.
func (l *vfeLane) slopeOfNoise(phi, beta blas64.General, w *vfeWork, rows *observed.Noise, first int) (slope float64) {
	l.back = dense.Reshape(l.back, phi.Rows, phi.Cols)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, w.BInv, 0, l.back)
	for i := range phi.Rows {
		row, b := dense.Vec(phi.Data[i*phi.Stride:][:phi.Cols]), dense.Vec(beta.Data[i*beta.Stride:][:beta.Cols])
		precision := w.rows.scale[first+i] * w.rows.scale[first+i]
		taken := blas64.Dot(row, dense.Vec(l.back.Data[i*l.back.Stride:][:phi.Cols]))
		slope += rows.Weight(first+i) * precision * (1 - taken - blas64.Dot(b, b) - w.variance*precision + blas64.Dot(row, row))
	}
	return slope
}

// addSlopes adds Σ_i w_ij ∂k(|x_i − z_j|)/∂z_j to slope (row-major m×d). It
// overwrites r, the distances, and returns dist, memory that it may have used.
func addSlopes(slope, w, r, dist []float64, x, z Inputs, k Kernel) []float64 {
	m, d := z.Len(), z.d
	if d == 1 {
		k.Slope(r, r)
		for i, xi := range x.at {
			for j, zj := range z.at {
				s := w[i*m+j] * r[i*m+j]
				if zj < xi {
					s = -s
				}
				slope[j] += s
			}
		}
		return dist
	}
	dist = append(dist[:0], r...)
	k.Slope(r, r)
	for i := range x.Len() {
		xi := x.At(i)
		for j := range m {
			if dist[i*m+j] == 0 {
				continue
			}
			s := w[i*m+j] * r[i*m+j] / dist[i*m+j]
			for c, zc := range z.At(j) {
				slope[j*d+c] += s * (zc - xi[c])
			}
		}
	}
	return dist
}

// vfeRows describes how the noise of the observations enters VFE. If it is σ² for all,
// formulas divide by it. If errors are known up to their scale, rows of K_xu and of C
// are divided by e_i, and the same formulas hold. With known errors, rows of Φ and of C
// are divided by the square roots of λ_i = σ²e_i² + s_i², and σ² is 1 in the formulas.
type vfeRows struct {
	unit      float64        // σ², or 1
	logs      float64        // Σ log λ_i
	precision float64        // Σ 1/λ_i
	cc        blas64.General // CᵀC, of the rows as they are divided
	slope     float64        // twice the derivative in σ², if there are known errors

	scale   []float64      // 1/√λ_i with known errors, else 1/(σe_i); nil where the noise is even
	back    []float64      // by which weights on K_xu are multiplied: 1/√λ_i, or 1/e_i
	columns blas64.General // C, divided
}

// set prepares an evaluation with the noise variance σ².
func (r *vfeRows) set(l *VFE, noise float64) {
	n := float64(l.data.Len())
	if l.rows.Even() {
		r.unit, r.logs, r.precision, r.cc, r.columns = noise, n*math.Log(noise), n/noise, l.cc, l.columns
		return
	}
	if r.scale == nil {
		r.scale = make([]float64, l.data.Len())
		r.back = make([]float64, l.data.Len())
		r.columns = dense.New(l.columns.Rows, l.columns.Cols)
		r.cc = dense.New(l.cc.Rows, l.cc.Cols)
	}
	r.unit, r.logs, r.precision = noise, 0, 0
	if l.rows.Known != nil {
		r.unit = 1
	}
	for i := range r.scale {
		inUnits := l.rows.Weight(i) // λ_i over the unit
		v := noise * inUnits
		if l.rows.Known != nil {
			v += l.rows.Known[i]
			inUnits = v
		}
		r.logs += math.Log(v)
		r.precision += 1 / v
		r.scale[i], r.back[i] = 1/math.Sqrt(v), 1/math.Sqrt(inUnits)
	}
	dense.Copy(r.columns, l.columns)
	dense.ScaleRows(r.columns, r.back)
	dense.Square(r.cc, r.columns, 0)
}

// spectralVFE takes K_xu from the features of a smooth kernel, and all that involves the data from sums over them (inducing.Features).
type spectralVFE struct {
	exact       *spectralExact // the data
	projections parallel.Pool[spectralVFEProjection]
}

// spectralVFEProjection is the features at one model.
type spectralVFEProjection struct {
	inducing.Features
	engine *spectralVFE
}

// vfeEps bounds the sum of the coefficients that are left out, relative to the
// variance. It is near rounding, since errors of K_xu are divided by the square root of
// the smallest eigenvalue of K_uu.
const vfeEps = 1e-13

func newSpectralVFE(l *observed.Line) *spectralVFE {
	return &spectralVFE{exact: newSpectralExact(l, options{tolerance: defaultTolerance})}
}

func (e *spectralVFE) name() string     { return EngineSpectral }
func (e *spectralVFE) inexact() float64 { return vfeEps }

func (e *spectralVFE) forecast(w *vfeWork) choice.Forecast {
	if !w.hasSignal() {
		return choice.Cannot(noSignal)
	}
	f := e.exact.forecast(&w.compiled)
	if f.Reason.Given() {
		return f
	}
	if lo, hi := w.z.Range(0); lo < e.exact.Lo || hi > e.exact.Lo+e.exact.Span {
		return choice.Cannot("an inducing input lies outside the data")
	}
	frequencies, _, why := e.exact.frequencies(w.kernel, vfeEps) // more than the exact likelihood needs
	if why.Given() {
		return choice.Forecast{Reason: why}
	}
	p, m := 2*frequencies-1, float64(w.z.Len())
	if p > maxDenseFeatures {
		return tooMany(frequencies)
	}
	n, v := float64(e.exact.N), w.variance
	if condition := v * w.worst; condition*vfeEps > 1 {
		return choice.Forecast{Reason: choice.Because("the inducing inputs nearly coincide: their covariance has condition %.1g", condition)}
	}
	f.Err = vfeRounding * n * (2*vfeEps*v/w.noise*math.Sqrt(v*w.worst) + rounding(v, w.noise))
	f.Bytes = 2 * 8 * (p*p + 2*m*p + 5*m*m)
	f.Seconds = (2*m*p*p+8*m*m*p)/(2*flopRate) + p*p*1.5e-9 + 2*m*p*15e-9
	return f
}

func (e *spectralVFE) project(w *vfeWork) (vfeProjection, error) {
	f := e.projections.Get()
	f.engine = e
	sums, err := e.exact.expand(&f.Expansion, w.kernel, vfeEps)
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
	return beta2, contractSeries(f.Series, grad, f.Q, w.kernel)
}
