package gppl

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

var _ Loss = (*VFE)(nil)

// VFE is the variational free energy of the sparse GP with m inducing inputs
// Z, an upper bound on the exact negative log likelihood (Titsias 2009, eq. 9;
// the paper's L_VFE, negated):
//
//	−ELBO = −log N(y | 0, Q + σ²I) + tr(K − Q)/2σ²,  Q = K_xu K_uu⁻¹ K_ux
//
// computed from K_uu = LLᵀ, Φ = σ⁻¹K_xu L⁻ᵀ (n×m) and B = I + ΦᵀΦ, which stays
// well conditioned. Value and gradient take about 6nm² flops, in memory for
// O(nm) numbers. The gradient includes the inducing inputs, which are trained
// along with the model unless FixInducing was asked for.
type VFE struct {
	model  Model
	data   Data
	z      Inputs
	params []Param
	hyper  int // parameters of the model; those of Z follow
	yy     float64
	work   vfeWork
	report LossReport
}

// VFEOptions says how a VFE loss treats its inducing inputs.
type VFEOptions struct {
	FixInducing bool // keep Z where it is
}

// vfeWork is the state of one factorisation, and room for the gradient.
type vfeWork struct {
	kernel  Kernel
	noise   float64
	z       Inputs
	luu, lb *dense.Lower   // factors of K_uu and of B
	phi     blas64.General // Φ, n×m
	c       []float64      // L_B⁻¹Φᵀy
	bInvC   []float64      // B⁻¹Φᵀy = L_B⁻ᵀc
	lanes   []vfeLane

	bInv, e blas64.General // m×m
	u, r    []float64      // K_uu⁻¹K_ux β; distances within Z
}

// vfeLane is the working memory of one lane: a share of the blocks of rows.
type vfeLane struct {
	phiPhi blas64.General // ΦᵀΦ of the lane's rows, m×m
	phiY   []float64      // Φᵀy of the lane's rows
	grad   []float64      // ∂/∂log θ of the kernel's parameters
	slope  []float64      // ∂/∂Z, m×d
	beta   []float64      // of one block of rows
	beta2  float64        // |β|²
	w, r   []float64      // weights and distances, Tile×m
}

// NewVFE returns the variational free energy of the data with inducing inputs
// z, to be trained from the parameters of m and from z. KMeans(x, m, seed)
// gives a good z to start from.
func NewVFE(m Model, d Data, z Inputs, opt VFEOptions) (*VFE, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	if err := z.check("inducing inputs"); err != nil {
		return nil, err
	}
	if z.Dim() != d.X.Dim() {
		return nil, fmt.Errorf("gppl: the inducing inputs have dimension %d, x has %d", z.Dim(), d.X.Dim())
	}
	if z.Len() > d.Len() {
		return nil, fmt.Errorf("gppl: m = %d inducing inputs for n = %d observations: want m ≤ n", z.Len(), d.Len())
	}
	l := &VFE{model: m, data: d, z: z, params: m.Params()}
	l.hyper = len(l.params)
	var transform Transform = Free{}
	if opt.FixInducing {
		transform = Fixed{}
	}
	for i, v := range z.at {
		l.params = append(l.params, Param{Name: inducingName(i, z.d), Value: v, Transform: transform, Unit: unitX})
	}
	l.yy = blas64.Dot(vec(d.Y), vec(d.Y))
	l.work.init(d.Len(), z)
	l.report = LossReport{Engine: "dense", Setup: time.Since(start)}
	return l, nil
}

func inducingName(i, d int) string {
	if d == 1 {
		return fmt.Sprintf("inducing input %d", i)
	}
	return fmt.Sprintf("inducing input %d.%d", i/d, i%d)
}

func (w *vfeWork) init(n int, z Inputs) {
	m := z.Len()
	w.luu, w.lb = dense.NewLower(m), dense.NewLower(m)
	w.phi, w.bInv, w.e = newGeneral(n, m), newGeneral(m, m), newGeneral(m, m)
	w.c, w.bInvC, w.u, w.r = make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m*m)
	for range min(lanes, dense.Blocks(n)) {
		w.lanes = append(w.lanes, vfeLane{
			phiPhi: newGeneral(m, m), phiY: make([]float64, m), slope: make([]float64, len(z.at)),
			beta: make([]float64, dense.Tile), w: make([]float64, dense.Tile*m), r: make([]float64, dense.Tile*m),
		})
	}
}

// WithSetup counts d, the time that choosing the inducing inputs took, as part
// of the set-up, and returns l.
func (l *VFE) WithSetup(d time.Duration) *VFE {
	l.report.Setup += d
	return l
}

func (l *VFE) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *VFE) Model(theta []float64) Model { return l.model.WithParams(theta[:l.hyper]) }
func (l *VFE) Report() LossReport          { return l.report }
func (l *VFE) String() string              { return fmt.Sprintf("VFE (n=%d, m=%d)", l.data.Len(), l.z.Len()) }

// Inducing returns the inducing inputs at theta.
func (l *VFE) Inducing(theta []float64) Inputs {
	return Inputs{l.z.d, append([]float64(nil), theta[l.hyper:]...)}
}

func (l *VFE) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	w := &l.work
	last := l.hyper - 1
	jitter, err := w.factorise(l.model.Kernel.WithParams(theta[:last]), theta[last], l.data, Inputs{l.z.d, theta[l.hyper:]})
	l.report.Jitter = max(l.report.Jitter, jitter)
	if err != nil {
		return 0, err
	}
	n, m := l.data.Len(), l.z.Len()
	slack := float64(n)*variance(w.kernel)/w.noise - w.tracePhiPhi() // tr(K − Q)/σ²
	quad := (l.yy - blas64.Dot(vec(w.c), vec(w.c))) / w.noise        // yᵀC⁻¹y, C = Q + σ²I
	if grad != nil {
		trBInv, beta2 := w.contract(grad[:last], grad[l.hyper:], l.data)
		// σ²·tr C⁻¹ = n − m + tr B⁻¹
		grad[last] = 0.5 * (float64(n-m) + trBInv - w.noise*beta2 - slack)
		toNatural(grad[:l.hyper], theta[:l.hyper])
	}
	return 0.5 * (float64(n)*(log2Pi+math.Log(w.noise)) + w.lb.LogDet() + quad + slack), nil
}

// factorise computes L, Φ, L_B and c for one kernel, noise variance and Z.
func (w *vfeWork) factorise(k Kernel, noise float64, d Data, z Inputs) (jitter float64, err error) {
	m := z.Len()
	w.kernel, w.noise, w.z = k, noise, z
	jitter, err = choleskyWithJitter(w.luu, variance(k), func() { fillGram(w.luu, z, k, 0) })
	if err != nil {
		return jitter, fmt.Errorf("gppl: the covariance of %d inducing inputs cannot be factorised: %w (kernel %v)", m, err, k)
	}
	scale := 1 / math.Sqrt(noise)
	w.eachBlock(func(own *vfeLane, b int) {
		phi := w.phiBlock(b)
		block := phi.Data[:phi.Rows*m]
		distances(block, d.X.block(b), z)
		k.Cov(block, block)
		w.luu.SolveLTRight(phi)
		for i := range block {
			block[i] *= scale
		}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, phi, phi, 1, own.phiPhi)
		blas64.Gemv(blas.Trans, 1, phi, vec(d.Y[b*dense.Tile:][:phi.Rows]), 1, vec(own.phiY))
	}, func(own *vfeLane) {
		clear(own.phiPhi.Data)
		clear(own.phiY)
	})
	w.lb.EachTile(func(i, j int, t blas64.General) {
		clear(t.Data)
		for _, own := range w.lanes {
			for a := range t.Rows {
				row := t.Data[a*t.Stride:][:t.Cols]
				for b, v := range own.phiPhi.Data[(i*dense.Tile+a)*m+j*dense.Tile:][:t.Cols] {
					row[b] += v
				}
			}
		}
	})
	w.lb.AddDiagonal(1)
	if err := w.lb.Cholesky(); err != nil {
		return jitter, fmt.Errorf("gppl: B = I + ΦᵀΦ of %d inducing inputs cannot be factorised: %w (kernel %v, noise variance %.4g)", m, err, k, noise)
	}
	clear(w.c)
	for _, own := range w.lanes {
		for a, v := range own.phiY {
			w.c[a] += v
		}
	}
	w.lb.SolveL(columnOf(w.c))
	copy(w.bInvC, w.c)
	w.lb.SolveLT(columnOf(w.bInvC))
	return jitter, nil
}

// eachBlock calls f for every block of rows, lane by lane in parallel, after
// reset for each lane.
func (w *vfeWork) eachBlock(f func(own *vfeLane, b int), reset func(own *vfeLane)) {
	nb := dense.Blocks(w.phi.Rows)
	parallel.For(len(w.lanes), func(c int) {
		reset(&w.lanes[c])
		for b := c; b < nb; b += len(w.lanes) {
			f(&w.lanes[c], b)
		}
	})
}

// tracePhiPhi returns tr ΦᵀΦ = tr Q/σ².
func (w *vfeWork) tracePhiPhi() float64 {
	var s float64
	for _, own := range w.lanes {
		s += trace(own.phiPhi)
	}
	return s
}

func trace(a blas64.General) float64 {
	var s float64
	for i := range a.Rows {
		s += a.Data[i*a.Stride+i]
	}
	return s
}

func columnOf(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

func (w *vfeWork) phiBlock(b int) blas64.General {
	p := w.phi
	p.Rows = dense.Width(w.phi.Rows, b)
	p.Data = p.Data[b*dense.Tile*p.Stride:]
	return p
}

// contract sets grad and gradZ to the gradient in the log of the kernel's
// parameters and in Z, and returns tr B⁻¹ and |β|². With C = Q + σ²I, β = C⁻¹y
// and u = K_uu⁻¹K_ux β, the weights are
//
//	on ∂K_xu: Φ(B⁻¹ − I)L⁻¹/σ − βuᵀ
//	on ∂K_uu: ½[L⁻ᵀ(B + B⁻¹ − 2I)L⁻¹ + uuᵀ]
//	on each ∂k(x, x): 1/2σ²
func (w *vfeWork) contract(grad, gradZ []float64, d Data) (trBInv, beta2 float64) {
	n, m := d.Len(), w.z.Len()
	sigma := math.Sqrt(w.noise)

	clear(w.bInv.Data)
	addDiagonal(w.bInv, 1)
	w.lb.SolveL(w.bInv)
	w.lb.SolveLT(w.bInv)
	trBInv = trace(w.bInv)

	copy(w.e.Data, w.bInv.Data)
	addDiagonal(w.e, -1)
	w.luu.SolveLRight(w.e)
	copy(w.u, w.bInvC)
	w.luu.SolveLT(columnOf(w.u))
	for i := range w.e.Data {
		w.e.Data[i] /= sigma
	}
	for i := range w.u {
		w.u[i] /= sigma
	}

	// K_xu, a block of rows at a time.
	w.eachBlock(func(own *vfeLane, b int) {
		phi, x := w.phiBlock(b), d.X.block(b)
		size := phi.Rows * m
		weight := blas64.General{Rows: phi.Rows, Cols: m, Stride: m, Data: own.w[:size]}
		r := own.r[:size]
		beta := own.beta[:phi.Rows] // (y − ΦB⁻¹Φᵀy)/σ²
		copy(beta, d.Y[b*dense.Tile:])
		blas64.Gemv(blas.NoTrans, -1/w.noise, phi, vec(w.bInvC), 1/w.noise, vec(beta))
		own.beta2 += blas64.Dot(vec(beta), vec(beta))
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, w.e, 0, weight)
		blas64.Ger(-1, vec(beta), vec(w.u), weight)
		distances(r, x, w.z)
		w.kernel.Contract(own.grad, weight.Data, r)
		addSlopes(own.slope, weight.Data, r, x, w.z, w.kernel)
	}, func(own *vfeLane) {
		if own.grad == nil {
			own.grad = make([]float64, len(grad))
		}
		clear(own.grad)
		clear(own.slope)
		own.beta2 = 0
	})
	clear(grad)
	clear(gradZ)
	for _, own := range w.lanes {
		add(grad, own.grad)
		add(gradZ, own.slope)
		beta2 += own.beta2
	}

	// K_uu, with B⁻¹ at hand and B − I = ΦᵀΦ.
	g := w.bInv
	for _, own := range w.lanes {
		add(g.Data, own.phiPhi.Data)
	}
	addDiagonal(g, -1)
	w.luu.SolveLRight(g)
	w.luu.SolveLT(g)
	blas64.Ger(1, vec(w.u), vec(w.u), g)
	for i := range g.Data {
		g.Data[i] *= 0.5
	}
	selfDistances(w.r, w.z)
	w.kernel.Contract(grad, g.Data, w.r)
	for i := range g.Data {
		g.Data[i] *= 2 // a point moves in its row and in its column
	}
	addSlopes(gradZ, g.Data, w.r, w.z, w.z, w.kernel)

	w.kernel.Contract(grad, []float64{float64(n) / (2 * w.noise)}, []float64{Self})
	return trBInv, beta2
}

func add(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

func addDiagonal(a blas64.General, v float64) {
	for i := range a.Rows {
		a.Data[i*a.Stride+i] += v
	}
}

// addSlopes adds Σ_i w_ij ∂k(|x_i − z_j|)/∂z_j to slope (row-major m×d). It
// overwrites r, the distances.
func addSlopes(slope, w, r []float64, x, z Inputs, k Kernel) {
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
		return
	}
	dist := append([]float64(nil), r...)
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
}
