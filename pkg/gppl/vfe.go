package gppl

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/inducing"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// VFE is the variational free energy of the sparse GP with m inducing inputs Z, an upper bound on the exact negative log
// likelihood (Titsias 2009, eq. 9; the paper's L_VFE, negated):
//
//	−ELBO = −log N(y | 0, Q + σ²I) + tr(K − Q)/2σ²,  Q = K_xu K_uu⁻¹ K_ux
//
// computed from K_uu = LLᵀ, Φ = σ⁻¹K_xu L⁻ᵀ (n×m) and B = I + ΦᵀΦ, which stays well conditioned. The gradient includes the
// inducing inputs, which are trained with the model unless FixInducing is set. Densely, value and gradient take about 6nm² flops,
// in memory for O(nm) numbers; a smooth kernel on the line that p features represent takes 2mp² + 6m²p, whatever n is.
//
// With known errors (Data.Errors) of variances D, σ²I becomes σ²I + D: each observation is weighted by its own noise, in the
// dense engine. With errors known up to their scale (Data.Relative), rows are divided by the errors, in both engines.
//
// It is safe for concurrent use; each evaluation under way has its own working memory.
type VFE struct {
	model   Model
	data    Data
	z       Inputs
	opt     VFEOptions
	params  []Param
	scale   scaling
	span    float64             // the largest distance between inputs
	hyper   int                 // number of parameters of the model; the inducing inputs Z follow
	mean    *regress.Regression // nil for a mean of zero
	columns blas64.General      // C, n×c: y and the basis of the mean
	cc      blas64.General      // CᵀC
	rows    observed.Noise      // known errors of the observations
	engines []vfeEngine
	chosen
	works *parallel.Pool[vfeWork]
}

// VFEOptions says how a VFE loss treats its inducing inputs. The zero value is
// the method as Titsias published it; NoiseInGram reproduces the code of the paper's authors.
type VFEOptions struct {
	FixInducing bool // keep Z where it is
	// NoiseInGram replaces K_uu with K_uu + σ²I. The bound remains an upper bound
	// on the exact NLL, but a looser one, the more so the larger σ² is.
	NoiseInGram bool
}

// vfeWork is the working memory of one evaluation: the model, the engine chosen for it, one factorisation, and memory for the
// gradient.
type vfeWork struct {
	compiled
	choice.Selection
	inducing.Bound
	x, z  Inputs
	rows  inducing.Rows // the observations, each divided by its own noise
	least float64       // the least noise variance of an observation
	added float64       // jitter added to K_uu
	value float64

	variances []float64 // k(x, x) of each observation; nil if all have the same

	r     []float64 // distances within Z
	slope []float64 // workspace of addSlopes
	steep float64   // relative error of a covariance per relative error of a distance, at least 1
	worst float64   // 1/λ, for the smallest eigenvalue λ of K_uu
}

// vfeEngine computes the products over all n observations. Apart from caches it does not change, and it is safe for concurrent
// use.
type vfeEngine interface {
	name() string
	// estimate predicts the cost and error of an evaluation, with K_uu factorised in w.
	estimate(w *vfeWork) choice.Estimate
	// project sets PhiPhi = ΦᵀΦ and C = ΦᵀC for the model and Z of w.
	project(w *vfeWork) (vfeProjection, error)
	// inexact is the error of an entry of K_xu, relative to the variance, in addition to the error that entries of K_uu have too.
	inexact() float64
}

// vfeProjection is the observations as one model sees them. It is for one goroutine.
type vfeProjection interface {
	// contract sets grad and gradZ to what ∂K_xu contributes to the gradient in the logs of the kernel's parameters and in Z, its
	// weight being Φe − βuᵀ with β = (C − ΦB⁻¹ΦᵀC)R/σ², n×c, and returns |β|². It is an error if the answer fails its check.
	contract(grad, gradZ []float64, w *vfeWork) (beta2 float64, err error)
	// release returns its memory to the pool.
	release()
}

// vfeRounding is a margin over what first-order perturbation says of the rounding
// of the bound. Over random cases no value needed more than 1 (TestRandomVFE).
const vfeRounding = 4

// NewVFE returns the variational free energy of the data with inducing inputs z, to be trained from the parameters of m and from
// z. d.X.KMeans gives a good z to start from.
func NewVFE(ctx context.Context, m Model, d Data, z Inputs, opt VFEOptions, opts ...Option) (*VFE, error) {
	start := time.Now()
	d, o, err := checked(m, d, opts)
	if err == nil {
		err = m.CheckPlain("VFE", d)
	}
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
	l := &VFE{model: m, data: d, z: z, opt: opt, params: m.trained(), scale: scalingOf(m.Kernel), span: extent(d.X)}
	l.hyper = len(l.params)
	var moved transform.Transform = transform.Free{}
	if opt.FixInducing {
		moved = transform.Fixed{}
	}
	for i, v := range z.at {
		l.params = append(l.params, Param{Name: inducingName(i, z.d), Value: v, Transform: moved, Unit: UnitX, Role: RoleInput})
	}
	if l.mean, l.columns, err = dataColumns(ctx, m, d); err != nil {
		return nil, err
	}
	l.cc = dense.New(l.columns.Cols, l.columns.Cols)
	dense.Square(l.cc, l.columns, 0)
	l.rows = d.rowNoise()
	l.tally, l.works = new(tally), new(parallel.Pool[vfeWork])
	if d.X.Dim() == 1 && l.rows.Known == nil && !isPlaced(m.Kernel) { // features cannot weight single observations
		series := observed.Sorted(d.X.at)
		series.SetNoise(l.rows)
		series.SetColumns(l.columns)
		l.engines = append(l.engines, &spectralVFE{exact: newSpectralExact(series, options{tolerance: defaultTolerance})})
	}
	l.engines = append(l.engines, &denseVFE{x: d.X, columns: l.columns, m: z.Len()})
	l.chooser = choice.New(o.Limits, o.tolerance*float64(d.Len()), engineNamesOf(l.engines))
	l.tally.report = LossReport{Setup: time.Since(start)}
	return l, nil
}

func inducingName(i, d int) string {
	if d == 1 {
		return fmt.Sprintf("inducing input %d", i)
	}
	return fmt.Sprintf("inducing input %d.%d", i/d, i%d)
}

// WithSetup counts d, the time that choosing the inducing inputs took, as part of the set-up, and returns l.
func (l *VFE) WithSetup(d time.Duration) *VFE {
	l.tally.setUp(d)
	return l
}

func (l *VFE) Params() []Param { return append([]Param(nil), l.params...) }
func (l *VFE) negligible(p int, noise float64) bool {
	return p == l.hyper-1 && l.rows.Negligible(noise, nil)
}

func (l *VFE) Model(theta []float64) Model { return l.model.WithParams(theta[:l.hyper]) }
func (l *VFE) String() string              { return fmt.Sprintf("VFE (n=%d, m=%d)", l.data.Len(), l.z.Len()) }

// Inducing returns the inducing inputs at theta.
func (l *VFE) Inducing(theta []float64) Inputs {
	return Vectors(append([]float64(nil), theta[l.hyper:]...), l.z.d)
}

func (l *VFE) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	defer parallel.Stopped(&err)
	w := l.works.Get()
	w.ctx = ctx
	value, err = l.evaluateIn(w, grad, theta)
	l.works.Put(w)
	return value, err
}

func (l *VFE) evaluateIn(w *vfeWork, grad, theta []float64) (float64, error) {
	theta = l.rows.Positive(theta, l.hyper-1)
	if err := l.evaluate(w, grad, theta); err != nil {
		return 0, err
	}
	if grad != nil {
		w.naturalGradient(grad[:l.hyper], theta[:l.hyper])
	}
	return w.value, checkAnswer(l.params, w.value, grad, theta)
}

// evaluate sets w to the bound and its factors and, unless grad is nil, grad to its
// derivatives in the logs of the model's parameters, and in Z.
func (l *VFE) evaluate(w *vfeWork, grad, theta []float64) error {
	theta = l.rows.Positive(theta, l.hyper-1)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return err
	}
	if err := w.compile(l.model.Kernel, theta[:l.hyper]); err != nil {
		return err
	}
	if needed := inducing.Bytes(l.z.Len()); needed > l.chooser.Memory {
		return &MemoryError{What: fmt.Sprintf("the bound of m = %d inducing inputs",
			l.z.Len()), Needed: needed, Limit: l.chooser.Memory}
	}
	w.least = l.rows.Least(w.noise)
	w.Init(l.z.Len(), l.columns.Cols)
	w.Luu.Ctx, w.Lb.Ctx = w.ctx, w.ctx
	w.x, w.z = l.data.X, Vectors(theta[l.hyper:], l.z.d)
	if !isStationary(w.kernel) {
		w.variances = dense.Resize(w.variances, w.x.Len())
		variancesAt(w.variances, w.kernel, w.x)
	}
	l.chooser.Begin(&w.Selection)
	err := l.factorise(w)
	if err == nil {
		blur := float64(l.data.Len()) * phases(w.kernel, l.span, w.least, 1)
		for i, e := range l.engines {
			w.Candidates[i] = l.chooser.Limited(e.estimate(w))
			w.Candidates[i].Err += blur
		}
		err = l.chooser.Evaluate(&w.Selection,
			func(i int) (choice.Outcome, error) { return l.attempt(l.engines[i], w.Candidates[i].Err, w, grad) })
	}
	l.tally.note(&w.Selection, w.added)
	if err != nil {
		return kernelFault(w.kernel, l.data.X, l.span, asRefusal(err))
	}
	return nil
}

// attempt evaluates by one engine. expected is the error bound of its estimate.
func (l *VFE) attempt(engine vfeEngine, expected float64, w *vfeWork, grad []float64) (o choice.Outcome, err error) {
	w.rows.Set(&l.rows, l.columns, l.cc, w.noise)
	w.rows.Variance, w.rows.Variances = w.variance, w.variances
	w.Unit = w.rows.Unit
	p, err := engine.project(w)
	if err != nil {
		return o, err
	}
	o, err = l.bound(engine, p, expected, w, grad)
	p.release()
	return o, err
}

// bound computes the value, and its derivatives, of a projection by one engine.
func (l *VFE) bound(engine vfeEngine, p vfeProjection, expected float64, w *vfeWork,
	grad []float64) (o choice.Outcome, err error) {
	if err := w.Factorise(w.rows.Squares); err != nil {
		return o, notFactorised(w.kernel, w.noise, err, "gppl: B = I + ΦᵀΦ of %d inducing inputs cannot be factorised: %v",
			w.C.Rows, err)
	}
	n, m, last := l.data.Len(), l.z.Len(), l.hyper-1
	slack := w.rows.Prior() - dense.Trace(w.PhiPhi) // tr(K − Q)/σ²
	added, err := l.mean.Complete(w.R, w.G)
	if err != nil {
		return o, notFactorised(w.kernel, w.noise, err, "gppl: %v", err)
	}
	w.value = 0.5*(float64(n)*log2Pi+w.rows.Logs+w.Lb.LogDet()+w.G.Data[0]+slack) + added
	quad := dense.Form(w.G, w.R)
	w.Complete()
	size := dense.Spread(dense.Diagonal(w.G), w.R)
	o = choice.Outcome{Value: w.value, Terms: float64(n), Form: quad, Size: size}
	if grad != nil {
		trBInv, beta2, err := w.contract(p, grad[:last], grad[l.hyper:])
		if err != nil {
			return o, err
		}
		// σ²·tr C⁻¹ = n − m + tr B⁻¹
		grad[last] = 0.5 * (float64(n-m) + trBInv - w.noise*beta2 - slack)
		if l.rows.Known != nil {
			grad[last] = 0.5 * w.noise * w.rows.Slope
		}
		if l.opt.NoiseInGram {
			grad[last] += w.noise * w.TraceG
		}
	}
	o.Shared, o.Extra = w.perturbation(engine.inexact(), float64(n), size, grad != nil)
	cancelled := 0x1p-53 * vfeRounding / w.Unit * dense.Spread(dense.Diagonal(w.rows.Squares), w.R) // the rounding error in g
	o.Shared, o.Extra = o.Shared+cancelled, o.Extra+cancelled
	if grad != nil && w.added == 0 && l.rows.Known == nil { // known errors do not scale with the variances
		return o, verifyScale(grad[:l.hyper], &l.scale, w.kernel, float64(n), quad,
			choice.Completed(expected, size, float64(n))+o.Extra)
	}
	return o, nil
}

// factorise computes L for the kernel, noise variance and Z of w.
func (l *VFE) factorise(w *vfeWork) (err error) {
	var onDiagonal float64
	if l.opt.NoiseInGram || w.variance == 0 { // K_uu of no signal is 0, and so is Q
		onDiagonal = w.noise
	}
	w.added, err = w.Luu.CholeskyWithJitter(w.variance, func() { fillGram(w.Luu, w.z, w.kernel, onDiagonal) })
	if err != nil {
		return notFactorised(w.kernel, w.noise, err, "gppl: the covariance of %d inducing inputs cannot be factorised: %v",
			w.z.Len(), err)
	}
	w.worst = w.InverseNorm()
	w.steep = max(1, steepness(w.kernel, l.span))
	return nil
}

// perturbation returns errors of the value, to first order (inducing.Bound.Norms): shared is due to the rounding of K_uu, the
// same for all engines, and all also has the errors of K_xu. W is large where inducing inputs nearly coincide, whatever the
// condition of K_uu. A derivative, above all in an inducing input, has the errors of W itself, which are greater by up to the
// condition number κ of K_uu; the largest factor found was about √κ, since ∂K is small where K_uu is nearly singular. form is
// yᵀC⁻¹y ≥ σ²|β|². With a gradient, its weights are at hand; otherwise they take 2m³ flops.
func (w *vfeWork) perturbation(inexact, n, form float64, gradient bool) (shared, all float64) {
	if !gradient {
		w.Weigh()
	}
	v := w.variance
	w2, u2 := w.Norms()
	shared = 0x1p-53 * w.steep * v * (w2 + u2)
	if all = shared; inexact > 0 {
		all += inexact * v * math.Sqrt(n) * (2*math.Sqrt(w2/w.least) + math.Sqrt(u2*max(0, form)/w.least))
	}
	margin := float64(vfeRounding)
	if gradient && all > 0 {
		margin *= math.Sqrt(1 + v*w.worst)
	}
	return margin * shared, margin * all
}

// contract sets grad and gradZ to the gradient in the log of the kernel's
// parameters and in Z (inducing.Bound.Weights), and returns tr B⁻¹ and |β|².
func (w *vfeWork) contract(p vfeProjection, grad, gradZ []float64) (trBInv, beta2 float64, err error) {
	trBInv = w.Weights()
	if beta2, err = p.contract(grad, gradZ, w); err != nil {
		return 0, 0, err
	}
	g := w.Inner()
	w.r = dense.Resize(w.r, len(g.Data))
	contractions(grad, w.kernel, g.Data, w.z, w.z, w.r)
	for i := range g.Data {
		g.Data[i] *= 2 // a point moves in its row and in its column
	}
	w.slope = addSlopes(gradZ, g.Data, w.slope, w.z, w.z, w.kernel)

	contractVariances(grad, w.kernel, w.x, 0.5*w.rows.Precision, func(i int) float64 { return 0.5 * w.rows.PrecisionOf(i) })
	return trBInv, beta2, nil
}

func (l *VFE) conditionedAt(ctx context.Context, theta []float64) (of *regress.Conditioned, err error) {
	if l.mean == nil {
		return nil, nil
	}
	w := l.works.Get()
	w.ctx = ctx
	if err = l.evaluate(w, nil, theta); err == nil {
		of, err = l.mean.Given(w.G)
	}
	l.works.Put(w)
	return of, err
}
