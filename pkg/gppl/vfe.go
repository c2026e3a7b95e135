package gppl

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

var _ Loss = (*VFE)(nil)

// VFE is the variational free energy of the sparse GP with m inducing inputs
// Z, an upper bound on the exact negative log likelihood (Titsias 2009, eq. 9;
// the paper's L_VFE, negated):
//
//	−ELBO = −log N(y | 0, Q + σ²I) + tr(K − Q)/2σ²,  Q = K_xu K_uu⁻¹ K_ux
//
// computed from K_uu = LLᵀ, Φ = σ⁻¹K_xu L⁻ᵀ (n×m) and B = I + ΦᵀΦ, which stays
// well conditioned. The gradient includes the inducing inputs, which are trained
// along with the model unless FixInducing was asked for. Densely, value and
// gradient take about 6nm² flops, in memory for O(nm) numbers; a smooth kernel
// on the line that p features represent takes 2mp² + 6m²p, whatever n is.
type VFE struct {
	model   Model
	data    Data
	z       Inputs
	opt     VFEOptions
	params  []Param
	scale   scaling
	hyper   int // parameters of the model; those of Z follow
	yy      float64
	engines []vfeEngine
	choice  choice
	work    vfeWork
	report  LossReport
}

// VFEOptions says how a VFE loss treats its inducing inputs. The zero value is
// the method as Titsias published it; NoiseInGram and Repulsion are what the
// authors of the paper do differently, to reproduce their figures.
type VFEOptions struct {
	FixInducing bool // keep Z where it is
	// NoiseInGram puts K_uu + σ²I in the place of K_uu. The bound stays an upper
	// bound on the exact NLL, but a looser one, and worse the larger σ² is.
	NoiseInGram bool
	// Repulsion, if not 0, adds Repulsion·Σ_{i<j} exp(−|z_i − z_j|²/s²) to the
	// loss, with s = RepulsionRange (0 means 1, in the unit of x), which keeps
	// inducing inputs apart. What is minimised is then no longer a bound.
	Repulsion, RepulsionRange float64
}

// vfeWork is the state of one factorisation, and room for the gradient.
type vfeWork struct {
	kernel  Kernel
	noise   float64
	z       Inputs
	luu, lb *dense.Lower   // factors of K_uu and of B
	phiPhi  blas64.General // ΦᵀΦ, m×m
	c       []float64      // L_B⁻¹Φᵀy
	bInvC   []float64      // B⁻¹Φᵀy = L_B⁻ᵀc
	engine  vfeEngine

	bInv, e blas64.General // m×m
	u, r    []float64      // K_uu⁻¹K_ux β; distances within Z
	traceG  float64        // of the weight on ∂K_uu
	steep   float64        // what rounding of a distance does to a covariance, at least 1
	worst   float64        // 1/λ, the smallest eigenvalue of K_uu
}

// vfeEngine does what involves all n observations.
type vfeEngine interface {
	name() string
	forecast(w *vfeWork, k Kernel, noise float64, z Inputs) forecast
	// project sets phiPhi = ΦᵀΦ and phiY = Φᵀy for the kernel, noise and Z of w,
	// whose luu is factorised.
	project(w *vfeWork, phiY []float64) error
	// contract sets grad and gradZ to what ∂K_xu contributes to the gradient in
	// the logs of the kernel's parameters and in Z, its weight being
	// Φe − βuᵀ with β = (y − ΦB⁻¹Φᵀy)/σ², and returns |β|².
	contract(grad, gradZ []float64, w *vfeWork) (beta2 float64)
	// inexact is the error of an entry of K_xu, relative to the variance, over
	// what K_uu has as well.
	inexact() float64
}

// vfeRounding is a margin over what first-order perturbation says of the rounding
// of the bound. Over random cases no value needed more than 1 (TestRandomVFE).
const vfeRounding = 4

// NewVFE returns the variational free energy of the data with inducing inputs
// z, to be trained from the parameters of m and from z. KMeans(x, m, seed)
// gives a good z to start from.
func NewVFE(m Model, d Data, z Inputs, opt VFEOptions, opts ...Option) (*VFE, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	o, err := optionsOf(opts)
	if err != nil {
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
	l := &VFE{model: m, data: d, z: z, opt: opt, params: m.Params()}
	l.hyper = len(l.params)
	var transform Transform = Free{}
	if opt.FixInducing {
		transform = Fixed{}
	}
	for i, v := range z.at {
		l.params = append(l.params, Param{Name: inducingName(i, z.d), Value: v, Transform: transform, Unit: unitX, Role: RoleInput})
	}
	l.yy = blas64.Dot(vec(d.Y), vec(d.Y))
	l.work.init(z)
	if d.X.Dim() == 1 {
		l.engines = append(l.engines, newSpectralVFE(newLine(d.X, d.Y)))
	}
	l.engines = append(l.engines, newDenseVFE(d, z))
	var names []string
	for _, e := range l.engines {
		names = append(names, e.name())
	}
	l.choice = newChoice(o, o.tolerance*float64(d.Len()), names)
	l.report = LossReport{Setup: time.Since(start)}
	return l, nil
}

func inducingName(i, d int) string {
	if d == 1 {
		return fmt.Sprintf("inducing input %d", i)
	}
	return fmt.Sprintf("inducing input %d.%d", i/d, i%d)
}

func (w *vfeWork) init(z Inputs) {
	m := z.Len()
	w.luu, w.lb = dense.NewLower(m), dense.NewLower(m)
	w.phiPhi, w.bInv, w.e = newGeneral(m, m), newGeneral(m, m), newGeneral(m, m)
	w.c, w.bInvC, w.u, w.r = make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m*m)
}

// WithSetup counts d, the time that choosing the inducing inputs took, as part
// of the set-up, and returns l.
func (l *VFE) WithSetup(d time.Duration) *VFE {
	l.report.Setup += d
	return l
}

func (l *VFE) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *VFE) Model(theta []float64) Model { return l.model.WithParams(theta[:l.hyper]) }
func (l *VFE) String() string              { return fmt.Sprintf("VFE (n=%d, m=%d)", l.data.Len(), l.z.Len()) }

func (l *VFE) Report() LossReport {
	r := l.report
	r.Engine = l.choice.engines()
	return r
}

// Explain says which engines were considered at the last evaluation, what each
// was expected to cost and to err, and which was taken.
func (l *VFE) Explain() string {
	var b strings.Builder
	l.choice.explain(&b)
	return b.String()
}

// Inducing returns the inducing inputs at theta.
func (l *VFE) Inducing(theta []float64) Inputs {
	return Inputs{l.z.d, append([]float64(nil), theta[l.hyper:]...)}
}

func (l *VFE) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	w, last := &l.work, l.hyper-1
	jitter, err := l.factorise(l.model.Kernel.WithParams(theta[:last]), theta[last], Inputs{l.z.d, theta[l.hyper:]})
	l.report.note(&l.choice, jitter)
	if err != nil {
		return 0, err
	}
	n, m := l.data.Len(), l.z.Len()
	slack := float64(n)*variance(w.kernel)/w.noise - trace(w.phiPhi) // tr(K − Q)/σ²
	quad := (l.yy - blas64.Dot(vec(w.c), vec(w.c))) / w.noise        // yᵀC⁻¹y, C = Q + σ²I
	if grad != nil {
		trBInv, beta2 := w.contract(grad[:last], grad[l.hyper:], n)
		// σ²·tr C⁻¹ = n − m + tr B⁻¹
		grad[last] = 0.5 * (float64(n-m) + trBInv - w.noise*beta2 - slack)
		if l.opt.NoiseInGram {
			grad[last] += w.noise * w.traceG
		}
		if e, is := w.engine.(interface{ verified() error }); is {
			if err := e.verified(); err != nil {
				return 0, err
			}
		}
		if jitter == 0 {
			if err := verifyScale(grad[:l.hyper], &l.scale, w.kernel, float64(n), quad); err != nil {
				return 0, err
			}
		}
		shareNoise(grad[:l.hyper], w.kernel, theta[last], w.noise)
		toNatural(grad[:l.hyper], theta[:l.hyper])
	}
	value := 0.5 * (float64(n)*(log2Pi+math.Log(w.noise)) + w.lb.LogDet() + quad + slack)
	l.choice.promise(quad, w.perturbation(float64(n), quad, grad != nil), value, float64(n))
	l.report.promise(l.choice.bound())
	if l.opt.Repulsion != 0 {
		var gradZ []float64
		if grad != nil {
			gradZ = grad[l.hyper:]
		}
		value += l.opt.Repulsion * repulsion(gradZ, w.z, orDefault(l.opt.RepulsionRange, 1), l.opt.Repulsion)
	}
	return value, nil
}

// repulsion returns Σ_{i<j} exp(−|z_i − z_j|²/s²) and, unless grad is nil, adds
// weight times its derivatives in z (row-major m×d) to it. O(m²d).
func repulsion(grad []float64, z Inputs, s, weight float64) float64 {
	var sum float64
	m, d := z.Len(), z.d
	for i := range m {
		for j := range i {
			a, b := z.At(i), z.At(j)
			var r2 float64
			for c := range d {
				r2 += (a[c] - b[c]) * (a[c] - b[c])
			}
			e := math.Exp(-r2 / (s * s))
			sum += e
			if grad == nil {
				continue
			}
			for c := range d {
				g := -2 * weight * e * (a[c] - b[c]) / (s * s)
				grad[i*d+c] += g
				grad[j*d+c] -= g
			}
		}
	}
	return sum
}

// factorise computes L, Φ, L_B and c for one kernel, noise variance and Z.
func (l *VFE) factorise(k Kernel, noise float64, z Inputs) (jitter float64, err error) {
	m, w := z.Len(), &l.work
	if err := checkVariance(k); err != nil {
		return 0, err
	}
	noise += Nugget(k)
	w.kernel, w.noise, w.z = k, noise, z
	var onDiagonal float64
	if l.opt.NoiseInGram || variance(k) == 0 { // K_uu of no signal is 0, and so is Q
		onDiagonal = noise
	}
	jitter, err = choleskyWithJitter(w.luu, variance(k), func() { fillGram(w.luu, z, k, onDiagonal) })
	if err != nil {
		return jitter, fmt.Errorf("gppl: the covariance of %d inducing inputs cannot be factorised: %w (kernel %v)", m, err, k)
	}
	w.worst = w.inverseNorm()
	w.steep = max(1, steepness(k, extent(l.data.X)))
	blur := float64(l.data.Len()) * phases(k, extent(l.data.X), noise, 1)
	for i, e := range l.engines {
		l.choice.candidates[i] = e.forecast(w, k, noise, z)
		l.choice.candidates[i].err += blur
	}
	l.choice.lastErr = nil
	var failed uint
	for {
		i := l.choice.next(failed)
		if i < 0 {
			return jitter, l.choice.refused()
		}
		w.engine = l.engines[i]
		if err = w.project(); err == nil {
			l.choice.took(i)
			return jitter, nil
		}
		failed |= 1 << i
		l.choice.failed(i, err)
	}
}

// project computes ΦᵀΦ, L_B and c by the engine.
func (w *vfeWork) project() error {
	if err := w.engine.project(w, w.c); err != nil {
		return err
	}
	m := len(w.c)
	w.lb.EachTile(func(i, j int, t blas64.General) {
		for a := range t.Rows {
			copy(t.Data[a*t.Stride:][:t.Cols], w.phiPhi.Data[(i*dense.Tile+a)*m+j*dense.Tile:])
		}
	})
	w.lb.AddDiagonal(1)
	if err := w.lb.Cholesky(); err != nil {
		return fmt.Errorf("gppl: B = I + ΦᵀΦ of %d inducing inputs cannot be factorised: %w (kernel %v, noise variance %.4g)", m, err, w.kernel, w.noise)
	}
	w.lb.SolveL(columnOf(w.c))
	copy(w.bInvC, w.c)
	w.lb.SolveLT(columnOf(w.bInvC))
	return nil
}

// inverseNorm returns 1/λ for the smallest eigenvalue λ of K_uu, by three steps of
// inverse iteration from a vector that no eigenvector is orthogonal to. O(m²).
func (w *vfeWork) inverseNorm() (norm float64) {
	const golden = 0.6180339887498949
	x := w.u
	for i := range x {
		_, fraction := math.Modf(golden * float64(i+1))
		x[i] = fraction - 0.5
	}
	for range 3 {
		w.luu.SolveL(columnOf(x))
		w.luu.SolveLT(columnOf(x))
		if norm = blas64.Nrm2(vec(x)); math.IsInf(norm, 1) {
			break
		}
		blas64.Scal(1/norm, vec(x))
	}
	return norm
}

// perturbation returns what the rounding of K_uu and what is wrong with K_xu do to
// the value, to first order. An observation is interpolated with the weights
// W = K_xu K_uu⁻¹, so that errors of size ε in the covariances move Q by W·ε·Wᵀ and
// the value by at most
//
//	ε(|W|²/σ² + |u|²) from K_uu,  ε(2√n·|W|/σ² + √n·|β||u|) from K_xu
//
// in Frobenius norms. W is large where inducing inputs nearly coincide, whatever
// the condition of K_uu. A derivative, above all in an inducing input, has the
// errors of W itself, which are greater by up to the condition number κ of K_uu;
// √κ is what was found at most, since ∂K has little where K_uu is near singular.
// form is yᵀC⁻¹y ≥ σ²|β|². With a gradient, its weights are at hand; otherwise they
// take 2m³ flops.
func (w *vfeWork) perturbation(n, form float64, gradient bool) float64 {
	if !gradient {
		w.weigh()
	}
	v := variance(w.kernel)
	u2 := blas64.Dot(vec(w.u), vec(w.u))
	w2 := max(0, 2*w.traceG-u2) // |W|²/σ²
	err := 0x1p-53 * w.steep * v * (w2 + u2)
	if e := w.engine.inexact(); e > 0 {
		err += e * v * math.Sqrt(n) * (2*math.Sqrt(w2/w.noise) + math.Sqrt(u2*max(0, form)/w.noise))
	}
	if gradient && err > 0 {
		err *= math.Sqrt(1 + v*w.worst)
	}
	return vfeRounding * err
}

// weigh sets u, and traceG to the trace of the weight on ∂K_uu as contract does,
// or a little more: B⁻¹ ≤ I.
func (w *vfeWork) weigh() {
	copy(w.u, w.bInvC)
	w.luu.SolveLT(columnOf(w.u))
	blas64.Scal(1/math.Sqrt(w.noise), vec(w.u))
	copy(w.e.Data, w.phiPhi.Data)
	w.luu.SolveLRight(w.e)
	w.luu.SolveLT(w.e)
	w.traceG = 0.5 * (trace(w.e) + blas64.Dot(vec(w.u), vec(w.u)))
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

// contract sets grad and gradZ to the gradient in the log of the kernel's
// parameters and in Z, and returns tr B⁻¹ and |β|². With C = Q + σ²I, β = C⁻¹y
// and u = K_uu⁻¹K_ux β, the weights are
//
//	on ∂K_xu: Φ(B⁻¹ − I)L⁻¹/σ − βuᵀ
//	on ∂K_uu: ½[L⁻ᵀ(B + B⁻¹ − 2I)L⁻¹ + uuᵀ]
//	on each ∂k(x, x): 1/2σ²
func (w *vfeWork) contract(grad, gradZ []float64, n int) (trBInv, beta2 float64) {
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

	beta2 = w.engine.contract(grad, gradZ, w)

	// K_uu, with B⁻¹ at hand and B − I = ΦᵀΦ.
	g := w.bInv
	add(g.Data, w.phiPhi.Data)
	addDiagonal(g, -1)
	w.luu.SolveLRight(g)
	w.luu.SolveLT(g)
	blas64.Ger(1, vec(w.u), vec(w.u), g)
	for i := range g.Data {
		g.Data[i] *= 0.5
	}
	w.traceG = trace(g)
	distances(w.r, w.z, w.z)
	w.kernel.Contract(grad, g.Data, w.r)
	for i := range g.Data {
		g.Data[i] *= 2 // a point moves in its row and in its column
	}
	addSlopes(gradZ, g.Data, w.r, w.z, w.z, w.kernel)

	contractVariance(grad, w.kernel, float64(n)/(2*w.noise))
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
