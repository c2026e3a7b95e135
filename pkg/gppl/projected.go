package gppl

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

var _ Loss = (*Projected)(nil)

// Projected is the projected likelihood: the negative log likelihood of the k
// projections z = Ωᵀy of the n observations,
//
//	PL  = ½zᵀS⁻¹z + ½log|S| + (k/2)·log 2π,  S = Ωᵀ(K + σ²I)Ω
//	∂PL = ½⟨S⁻¹ − ββᵀ, Ωᵀ∂AΩ⟩,               β = S⁻¹z
//
// (the paper's eq. (GP_pdf_projected); its eq. (PL_NLL) prints an inverse too
// many). ΩᵀKΩ is a sum over the terms of a sum of kernels, each by the engine
// that suits it: see Explain. Densely, the value takes n²k flops and the
// gradient as many more, in memory for O(nk + k²) numbers; on a time series,
// engines that use the structure of the kernel need far less.
type Projected struct {
	model      Model
	proj       *Projection
	directions directions
	x          Inputs
	params     []Param
	kernel     kernelAt
	split      split
	scale      scaling
	whole      *projectedTerm   // the kernel as one
	terms      []*projectedTerm // or term by term; nil if x is no time series
	use        []*projectedTerm // what the last evaluation used
	z          []float64        // Ωᵀy
	oto        []float64        // ΩᵀΩ, k×k; nil where it is I
	gram       []float64        // ΩᵀKΩ, k×k
	factor     *dense.Lower
	inv        *dense.Lower
	v          []float64 // S⁻¹ − ββᵀ, k×k
	beta       []float64
	report     LossReport

	size     float64   // |y|
	residual *residual // what the projections leave of y; nil: not used

	noise  float64 // of the last evaluation, with the nugget
	jitter float64 // of the last evaluation
	fill   func()  // fillS, made once so that calls need not allocate
}

// NewProjected returns the projected likelihood of the data under the
// projection p, to be trained from the parameters of m.
func NewProjected(m Model, d Data, p *Projection, opts ...Option) (*Projected, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	if m.Mean != nil {
		return nil, fmt.Errorf("gppl: this loss takes no mean function yet, and the model has the mean %v", m.Mean)
	}
	if d.Errors != nil {
		return nil, fmt.Errorf("gppl: this loss takes no known errors of observations yet")
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	n, k := p.Dims()
	if n != d.Len() {
		return nil, fmt.Errorf("gppl: the projection is of %d observations, but x and y have %d", n, d.Len())
	}
	directions := directionsOf(p, d.X, o)
	l := &Projected{
		model: m, proj: p, directions: directions, x: d.X, params: m.Params(), kernel: kernelAt{family: m.Kernel},
		size:   blas64.Nrm2(vec(d.Y)),
		z:      directions.project(d.Y),
		gram:   make([]float64, k*k),
		factor: dense.NewLower(k), inv: dense.NewLower(k),
		v: make([]float64, k*k), beta: make([]float64, k),
	}
	if !p.Orthonormal {
		omega := p.Omega().RawMatrix()
		l.oto = make([]float64, k*k)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, omega, omega, 0, blas64.General{Rows: k, Cols: k, Stride: k, Data: l.oto})
	}
	l.fill = l.fillS
	l.plan(d.X, o)
	l.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// plan sets up the engines: for the whole kernel, and for each term of a sum.
func (l *Projected) plan(x Inputs, o options) {
	d := l.directions
	all := newDenseProjected(x, d)
	n, span := float64(x.Len()), extent(x)
	defer func() {
		for _, t := range append(l.terms[:len(l.terms):len(l.terms)], l.whole) {
			t.n, t.span, t.directionError = n, span, d.bound()
		}
	}()
	if x.Dim() != 1 || !l.split.of(l.model.Kernel) {
		l.whole = newProjectedTerm(d.k, o, all)
		return
	}
	series := newLine(x, nil)
	moments := &waveMoments{waves: d.waves}
	state := newStateSpaceProjected(series, d)
	banded := newBandedProjected(series, d)
	spectral := newSpectralProjected(x, series, d, moments, o.tolerance)
	term := func(k Kernel) *projectedTerm {
		engines := []projectedEngine{state, spectral, banded, all}
		base := newProjectedTerm(d.k, options{tolerance: o.tolerance}, engines...)
		if e := newInterpolated(k, base, d.n, d.k); e != nil {
			t := newProjectedTerm(d.k, o, append([]projectedEngine{e}, engines...)...)
			e.size = func() float64 { return t.size }
			return t
		}
		return newProjectedTerm(d.k, o, engines...)
	}
	if len(l.split.signal) == 1 {
		l.whole = term(l.split.signal[0])
		l.terms = []*projectedTerm{l.whole}
		return
	}
	l.whole = newProjectedTerm(d.k, o, state, spectral, banded, all)
	for _, k := range l.split.signal {
		// Each term needs engines of its own: they keep what contract needs.
		state, banded, spectral = newStateSpaceProjected(series, d), newBandedProjected(series, d), newSpectralProjected(x, series, d, moments, o.tolerance)
		l.terms = append(l.terms, term(k))
	}
}

// projectedTerm is one kernel with the engines that may compute ΩᵀKΩ.
type projectedTerm struct {
	k       int
	n, span float64 // the number of observations, and the largest distance there is

	directionError float64 // what the directions add to the error of each engine
	engines        []projectedEngine
	choice         choice
	scaling        scaling
	failed         uint // engines whose answer failed its check, at this evaluation
	gram           []float64
	kernel         Kernel
	offset         int // of its first parameter in the whole kernel
	engine         projectedEngine
	size           float64 // the largest entry of gram over the variance, at the last evaluation
}

// largest returns the largest entry of gram: positive semi-definite, it is on
// the diagonal.
func (t *projectedTerm) largest() float64 {
	var v float64
	for i := 0; i < len(t.gram); i += t.k + 1 {
		v = max(v, t.gram[i])
	}
	return v
}

func newProjectedTerm(k int, o options, engines ...projectedEngine) *projectedTerm {
	var names []string
	for _, e := range engines {
		names = append(names, e.name())
	}
	return &projectedTerm{k: k, engines: engines, choice: newChoice(o, o.tolerance*float64(k), names), gram: make([]float64, k*k)}
}

// forecast asks all engines and returns what the best of them expects.
func (t *projectedTerm) forecast(k Kernel, offset int, noise float64) forecast {
	t.kernel, t.offset = k, offset
	blur := float64(t.k)*phases(k, t.span, noise, math.Sqrt(t.n)) + t.directionError
	for i, e := range t.engines {
		t.choice.candidates[i] = e.forecast(k, noise)
		t.choice.candidates[i].err += blur
	}
	if i := t.choice.next(t.failed); i >= 0 {
		return t.choice.candidates[i]
	}
	return cannot("no engine takes it")
}

// compute sets gram by the best engine that succeeds.
func (t *projectedTerm) compute(noise float64, derivatives bool) error {
	failed := t.failed
	if failed == 0 {
		t.choice.lastErr = nil
	}
	for {
		i := t.choice.next(failed)
		if i < 0 {
			return t.choice.refused()
		}
		err := t.engines[i].gram(t.gram, t.kernel, noise, derivatives)
		if err == nil {
			t.engine = t.engines[i]
			t.choice.took(i)
			t.size = t.largest() / variance(t.kernel)
			return nil
		}
		failed |= 1 << i
		t.choice.failed(i, err)
	}
}

// WithSetup counts d, the time that drawing the projection took, as part of the
// set-up, and returns l.
func (l *Projected) WithSetup(d time.Duration) *Projected {
	l.report.Setup += d
	return l
}

func (l *Projected) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Projected) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Projected) Report() LossReport {
	r := l.report
	var names []string
	for _, t := range l.use {
		names = append(names, t.choice.engines())
	}
	r.Engine = strings.Join(names, " + ")
	return r
}

// Explain says which engines were considered at the last evaluation, what each
// was expected to cost and to err, and which was taken, for each term of the
// kernel.
func (l *Projected) Explain() string {
	var b strings.Builder
	for _, t := range l.use {
		fmt.Fprintf(&b, "%v: ", t.kernel)
		t.choice.explain(&b)
	}
	return b.String()
}

func (l *Projected) String() string {
	n, k := l.proj.Dims()
	if l.residual != nil {
		return fmt.Sprintf("PL + residual (n=%d, k=%d, %s)", n, k, l.proj.Design)
	}
	return fmt.Sprintf("PL (n=%d, k=%d, %s)", n, k, l.proj.Design)
}

func (l *Projected) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	l.whole.failed = 0
	for _, t := range l.terms {
		t.failed = 0
	}
	for {
		value, failed, err := l.evaluate(grad, theta)
		if failed == nil {
			return value, err
		}
		// An answer failed its check: the next engine.
		failed.failed |= 1 << failed.choice.chosen
		failed.choice.failed(failed.choice.chosen, err)
	}
}

// evaluate is ValueGrad by the engines whose answers have not failed. The term
// whose answer fails its check now is returned with the error.
func (l *Projected) evaluate(grad, theta []float64) (value float64, failed *projectedTerm, err error) {
	k, last := len(l.z), len(theta)-1
	tau, err := l.covariance(theta, grad != nil)
	if err != nil {
		return 0, nil, err
	}
	copy(l.beta, l.z)
	l.factor.SolveL(columnOf(l.beta))
	l.factor.SolveLT(columnOf(l.beta))
	quad := blas64.Dot(vec(l.z), vec(l.beta))
	value = 0.5 * (quad + l.factor.LogDet() + float64(k)*log2Pi)
	var slope float64 // of the residual's part, in τ
	if l.residual != nil {
		var rest float64
		rest, slope = l.residual.nll(tau)
		value += rest
	}
	l.promise(quad, tau, value)
	if grad != nil {
		l.weights()
		if failed, err := l.gradient(grad, slope); err != nil {
			return 0, failed, err
		}
		terms, form := float64(k), quad
		if r := l.residual; r != nil {
			terms, form = terms+r.dof, form+r.energy/tau
		}
		if l.jitter == 0 {
			if err := verifyScale(grad, &l.scale, l.kernel.at(theta[:last]), terms, form, 0); err != nil {
				return 0, nil, err
			}
		}
		shareNoise(grad, l.kernel.at(theta[:last]), theta[last], l.noise)
		toNatural(grad, theta)
	}
	return value, nil, nil
}

// truncated is a projected engine that leaves out a part ΔS₀ and says what that
// does to zᵀS⁻¹z: βᵀΔS₀β, β = S⁻¹z.
type truncated interface {
	leftOut(beta []float64) float64
}

// promise records what the value may err by: what the forecasts of the terms say
// for a form zᵀS⁻¹z of one per projection, completed by the one that it is, and
// what the residual's τ loses where n·k(0) − tr S₀ cancels and where ΩᵀΩ is not I.
func (l *Projected) promise(form, tau, value float64) {
	k := float64(len(l.z))
	nats, limit := summation(value, k), 0.0
	for _, t := range l.use {
		c := &t.choice
		c.last.nats = completed(c.candidates[c.chosen].err, form, k)
		if r := l.residual; r != nil { // what S₀ lacks, τ has too much
			c.last.nats += 0.5 * c.candidates[c.chosen].err * r.energy / (tau * r.dof)
		}
		if e, ok := t.engine.(truncated); ok {
			c.last.nats += 0.5 * e.leftOut(l.beta)
		}
		c.last.limit = c.limit * max(1, form/k)
		nats, limit = nats+c.last.nats, max(limit, c.last.limit)
	}
	if w := l.directions.waves; w != nil {
		var signal float64 // the size of a y that S₀ takes for signal
		for _, t := range l.use {
			signal += math.Sqrt(float64(l.directions.n) * variance(t.kernel) * form)
		}
		nats += w.rounding(l.size+signal) * blas64.Nrm2(vec(l.beta))
	}
	if r := l.residual; r != nil {
		var signal float64
		for _, t := range l.use {
			signal += r.n * variance(t.kernel)
		}
		lost := 8 * 0x1p-53 * (signal/r.dof + tau) / tau // relative, of τ
		lost += l.directions.bound() * l.largest() / (r.dof * tau)
		nats += 0.5 * (r.dof + r.energy/tau) * lost
		limit = max(limit, limit/k*max(r.dof, r.energy/tau))
	}
	l.report.promise(nats, nats <= limit)
}

// largest returns the largest entry of S₀.
func (l *Projected) largest() float64 {
	var v float64
	for i := 0; i < len(l.gram); i += len(l.z) + 1 {
		v = max(v, l.gram[i])
	}
	return v
}

// covariance factorises S at theta and returns τ, or 0 without a residual.
func (l *Projected) covariance(theta []float64, derivatives bool) (tau float64, err error) {
	last := len(theta) - 1
	kernel, noise := l.kernel.at(theta[:last]), theta[last]
	if err := checkVariance(kernel); err != nil {
		return 0, err
	}
	noise += Nugget(kernel)
	if err := l.project(kernel, noise, derivatives); err != nil {
		return 0, err
	}
	l.noise = noise
	jitter, err := choleskyWithJitter(l.factor, variance(kernel)+noise, l.fill)
	l.jitter = jitter
	l.report.Jitter = max(l.report.Jitter, jitter)
	if err != nil {
		return 0, fmt.Errorf("gppl: the covariance of %d projections cannot be factorised: %w (kernel %v, noise variance %.4g)", len(l.z), err, kernel, noise)
	}
	if l.residual == nil {
		return 0, nil
	}
	return l.remainder()
}

// gradient sets grad to ½⟨v, ∂S⟩ + slope·∂τ in the logs of the parameters and,
// last, of the noise variance with the nugget. It overwrites v. It is an
// error, with the term, if what a term contributes fails its check: as its
// variances grow, S₀ does, so that ⟨v, ∂S₀⟩ = ⟨v, S₀⟩, which costs k² flops and
// shares nothing with how the engine contracts.
func (l *Projected) gradient(grad []float64, slope float64) (*projectedTerm, error) {
	clear(grad)
	last := len(grad) - 1
	total := l.noise * (0.5*l.traceV() + slope)
	if l.residual != nil {
		l.addRemainder(grad[:last], slope)
	}
	for _, t := range l.use {
		part := grad[t.offset:last]
		before, _ := t.scaling.derivative(part, t.kernel)
		t.engine.contract(part, l.v, t.kernel)
		after, ok := t.scaling.derivative(part, t.kernel)
		if e, is := t.engine.(interface{ verified() error }); is {
			if err := e.verified(); err != nil {
				return t, err
			}
		}
		if !ok {
			continue
		}
		var want, scale float64
		for i, v := range l.v {
			p := v * t.gram[i]
			want += p
			scale += math.Abs(p)
		}
		if err := verify("the contraction of a projected covariance", after-before, want, 1e-9*(scale+math.Abs(before))); err != nil {
			return t, err
		}
	}
	for p := range grad {
		grad[p] *= 0.5
	}
	grad[last] = total
	return nil, nil
}

// project sets gram to ΩᵀKΩ, term by term, or as a whole where that is cheaper.
func (l *Projected) project(kernel Kernel, noise float64, derivatives bool) error {
	clear(l.gram)
	if l.terms == nil {
		l.whole.forecast(kernel, 0, noise)
		l.use = append(l.use[:0], l.whole)
	} else {
		l.split.of(kernel)
		var apart float64
		refused := false
		for i, t := range l.terms {
			f := t.forecast(l.split.signal[i], l.split.offset[i], noise)
			apart += f.cost()
			refused = refused || f.reason != (reason{})
		}
		l.use = append(l.use[:0], l.terms...)
		if len(l.terms) > 1 {
			if f := l.whole.forecast(kernel, 0, noise); f.reason == (reason{}) && (refused || f.cost() < apart) {
				l.use = append(l.use[:0], l.whole)
			}
		}
	}
	for _, t := range l.use {
		if err := t.compute(noise, derivatives); err != nil {
			return err
		}
		add(l.gram, t.gram)
		l.report.note(&t.choice, 0)
	}
	return nil
}

// fillS sets the factor to S = ΩᵀKΩ + σ²ΩᵀΩ.
func (l *Projected) fillS() {
	k := len(l.z)
	for i := range dense.Blocks(k) {
		for j := range i + 1 {
			t := l.factor.At(i, j)
			for a := range t.Rows {
				from := (i*dense.Tile+a)*k + j*dense.Tile
				row := t.Data[a*t.Stride:][:t.Cols]
				copy(row, l.gram[from:])
				if l.oto != nil {
					blas64.Axpy(l.noise, vec(l.oto[from:from+t.Cols]), vec(row))
				}
			}
		}
	}
	if l.oto == nil {
		l.factor.AddDiagonal(l.noise)
	}
}

// weights sets v = S⁻¹ − ββᵀ.
func (l *Projected) weights() {
	k := len(l.z)
	v := blas64.General{Rows: k, Cols: k, Stride: k, Data: l.v}
	l.inverse(v)
	blas64.Ger(-1, vec(l.beta), vec(l.beta), v)
}

// inverse sets dst to S⁻¹, both triangles.
func (l *Projected) inverse(dst blas64.General) {
	k := dst.Rows
	l.factor.InvertL(l.inv)
	for i := range dense.Blocks(k) {
		for j := range i + 1 {
			tile := dst
			tile.Rows, tile.Cols = dense.Width(k, i), dense.Width(k, j)
			tile.Data = dst.Data[i*dense.Tile*k+j*dense.Tile:]
			l.inv.InverseTile(tile, i, j)
		}
	}
	for a := range k {
		for b := range a {
			dst.Data[b*k+a] = dst.Data[a*k+b]
		}
	}
}

// traceV returns ⟨v, ΩᵀΩ⟩.
func (l *Projected) traceV() float64 {
	if l.oto != nil {
		return blas64.Dot(vec(l.v), vec(l.oto))
	}
	k := len(l.z)
	return trace(blas64.General{Rows: k, Cols: k, Stride: k, Data: l.v})
}
