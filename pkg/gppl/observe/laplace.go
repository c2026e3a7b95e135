package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// Laplace is the negative log likelihood of observations that are not Gaussian, by Laplace's approximation:
//
//	y_i ~ p(y | g_i),  g_i = h(x_i)ᵀβ + f(x_i) + ε_i,  ε_i ~ N(0, σ²)
//	−log q(y | θ) = −Σ log p(y_i | ĝ_i) + ½αᵀĝ + ½log|A| + ½Σ log W_i,  A = K + σ²I + W⁻¹
//
// with ĝ the mode of the posterior, W_i = −∂²log p/∂g² and α_i = ∂log p/∂g there (Rasmussen and Williams 2006, sections 3.4 and
// 5.5). The noise σ² of the model is independent variation of each observation on the latent scale, as in a log-normal mixture of
// Poisson distributions; for none, fix it at a small value. With Gaussian p it is [gppl.Exact].
//
// Each Newton step towards ĝ, and the value, comes from a Gaussian model with the known errors W^−½, by the engines of the exact
// likelihood: O(n) with Matérn kernels. The gradient is analytic, with the term of ∂ĝ/∂θ, and takes three more gradients of the
// Gaussian model. It is safe for concurrent use and keeps nothing between calls.
type Laplace struct {
	model      gppl.Model
	data       gppl.Data // y as observed
	sizes      []float64
	likelihood Likelihood
	options    []gppl.Option
	gaussian   *gppl.Exact // loss of the guesses, each with an error of 1
	start      []float64   // latent values from which Newton's method begins
}

var _ gppl.Loss = (*Laplace)(nil)

// NewLaplace returns the loss of data whose y are drawn from a likelihood. Sizes are n exposures or numbers of trials; nil
// means ones. NewLaplace returns an error if an observation is impossible, or if the data have errors.
func NewLaplace(
	ctx context.Context, m gppl.Model, d gppl.Data, likelihood Likelihood, sizes []float64, opts ...gppl.Option,
) (*Laplace, error) {
	if err := cmp.Or(m.CheckPlain("a likelihood of counts", d), m.Check()); err != nil {
		return nil, err
	}
	if d.Errors != nil || d.Relative != nil {
		return nil, fmt.Errorf("observe: a %v likelihood is not combined with known errors: leave one of them out", likelihood)
	}
	if sizes == nil {
		sizes = slices.Repeat([]float64{1}, d.Len())
	}
	if likelihood == nil {
		panic("observe: NewLaplace: the likelihood is nil")
	}
	if len(sizes) != d.Len() {
		panic(fmt.Sprintf("observe: NewLaplace: %d sizes of %d observations", len(sizes), d.Len()))
	}
	for i, y := range d.Y {
		if err := likelihood.Check(y, sizes[i]); err != nil {
			return nil, fmt.Errorf("observe: observation %d: %w", i, err)
		}
	}
	l := &Laplace{model: m, data: d, sizes: slices.Clone(sizes), likelihood: likelihood, options: opts}
	if err := l.check(gppl.Values(l.Params())); err != nil {
		return nil, err
	}
	guess, err := l.Guess().WithErrors(slices.Repeat([]float64{1}, d.Len()))
	if err != nil {
		return nil, err
	}
	l.start = guess.Y
	l.gaussian, err = gppl.NewExact(ctx, m, guess, opts...)
	return l, err
}

// StartAt returns the same loss with Newton's method beginning at the mode at theta. Near theta an evaluation then takes half
// as many steps.
func (l *Laplace) StartAt(ctx context.Context, theta []float64) (*Laplace, error) {
	s, err := l.mode(ctx, theta)
	if err != nil {
		return nil, err
	}
	from := *l
	from.start = s.g
	return &from, nil
}

// Guess returns data for [auto.StartFrom]: for each observation the latent value at which it is the expected one.
func (l *Laplace) Guess() gppl.Data {
	d := l.data
	d.Y = make([]float64, d.Len())
	for i, y := range l.data.Y {
		d.Y[i] = l.likelihood.Guess(y, l.sizes[i])
	}
	return d
}

// Params returns the parameters of the model, noise variance last, and then the likelihood's.
func (l *Laplace) Params() []gppl.Param {
	params := l.model.Params()
	if s, ok := l.likelihood.(Shaped); ok {
		params = append(params, s.Params()...)
	}
	return params
}

// split returns the parameters of the model and of the likelihood. It panics if their number is wrong.
func (l *Laplace) split(theta []float64) (model, own []float64) {
	if n := len(l.Params()); len(theta) != n {
		panic(fmt.Sprintf("observe: Laplace: len(theta) = %d, want %d parameters", len(theta), n))
	}
	n := len(l.model.Params())
	return theta[:n], theta[n:]
}

// check returns an error if a parameter of the likelihood is out of range: the Gaussian models check their own.
func (l *Laplace) check(theta []float64) error {
	model, own := l.split(theta)
	for i, p := range l.Params()[len(model):] {
		if v := own[i]; !numeric.IsFinite(v) || p.IsScale() && v <= 0 {
			return fmt.Errorf("observe: parameter %q (index %d) = %v: want a finite number, and a positive one for a scale",
				p.Name, len(model)+i, v)
		}
	}
	return nil
}

// Model returns the model at theta, without the parameters of the likelihood.
func (l *Laplace) Model(theta []float64) gppl.Model {
	model, _ := l.split(theta)
	return l.model.WithParams(model)
}

// Likelihood returns the likelihood at theta.
func (l *Laplace) Likelihood(theta []float64) Likelihood {
	_, own := l.split(theta)
	if s, ok := l.likelihood.(Shaped); ok {
		return s.WithParams(own)
	}
	return l.likelihood
}

// Report says that this is a likelihood, and which engine computes the Gaussian models at the start.
func (l *Laplace) Report() gppl.LossReport {
	engine, _ := l.gaussian.Cost(l.model.Values())
	return gppl.LossReport{Engine: "Laplace, " + engine, Likelihood: true}
}

func (l *Laplace) String() string {
	return fmt.Sprintf("Laplace (n=%d, %v)", l.data.Len(), l.likelihood)
}

// ValueGrad implements [gppl.Loss].
func (l *Laplace) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if grad != nil && len(grad) != len(theta) {
		panic(fmt.Sprintf("observe: Laplace: len(grad) = %d, want %d parameters", len(grad), len(theta)))
	}
	s, err := l.mode(ctx, theta)
	if err != nil {
		return 0, err
	}
	return s.valueGrad(grad)
}

// mode holds the mode of the posterior at one θ.
type mode struct {
	ctx        context.Context
	loss       *Laplace
	theta      []float64 // parameters of the model
	likelihood Likelihood
	model      gppl.Model
	exact      *gppl.Exact // uses the engine that is cheapest at θ
	noise      float64     // σ² plus the white noise of the kernel
	g          []float64   // ĝ
	joint      float64     // Σ log p(y_i | ĝ_i) − ½αᵀĝ
	at         []Derivatives
}

const (
	mostNewton = 100   // steps; some five are usual
	leastShare = 1e-12 // least share of a step
	newtonDone = 1e-5  // in posterior standard deviations: the next step, which is quadratically smaller, is left out
	mostTurned = 1e-4  // largest relative change of any W_i in the last step: where there is no mode, W shrinks with every step
)

// mode finds ĝ by Newton's method; the log posterior is concave. A step is halved until the log posterior does not fall.
func (l *Laplace) mode(ctx context.Context, theta []float64) (*mode, error) {
	if err := l.check(theta); err != nil {
		return nil, err
	}
	n := l.data.Len()
	s := &mode{
		ctx: ctx, loss: l, theta: theta[:len(l.model.Params())], likelihood: l.Likelihood(theta), model: l.Model(theta),
		g: l.start, at: make([]Derivatives, n),
	}
	s.noise = s.model.Noise + capability.Nugget(s.model.Kernel)
	s.exact = l.gaussian
	if engine, _ := l.gaussian.Cost(s.model.Values()); engine != "" {
		s.exact = l.gaussian.OnlyEngine(engine)
	}
	if _, err := s.look(s.g); err != nil {
		return nil, err
	}
	var alpha []float64 // (K + σ²I)⁻¹g, where g is in its range
	best := math.Inf(-1)
	for step := range mostNewton {
		y, errs := s.pseudo()
		next, nextAlpha, err := s.smooth(y, errs)
		if err != nil {
			return nil, err
		}
		var size, change, turned float64
		for i, d := range s.at {
			size -= d.D2 * (next[i] - s.g[i]) * (next[i] - s.g[i])
		}
		full, fullAlpha := next, nextAlpha
		for share := 1.0; ; share /= 2 {
			if share < 1 {
				next, nextAlpha = towards(s.g, full, share), towards(alpha, fullAlpha, share)
			}
			value, err := s.look(next)
			if value -= 0.5 * floats.Dot(nextAlpha, next); err == nil && (step == 0 || value >= best-1e-12*math.Abs(best)) {
				change, best = value-best, value
				break
			}
			if step == 0 || share < leastShare {
				return nil, fmt.Errorf("observe: %v: Newton's method finds no better latent values after %d steps (%w)", l, step, err)
			}
		}
		s.g, alpha = next, nextAlpha
		for i, d := range s.at {
			turned = max(turned, math.Abs(d.D2*errs[i]*errs[i]+1))
		}
		if step > 0 && turned < mostTurned && math.Sqrt(size/float64(n)) < newtonDone &&
			math.Abs(change) < 1e-6*(1+math.Abs(best)) {
			s.joint = best
			return s, nil
		}
	}
	err := fmt.Errorf("observe: %v: Newton's method has not found the mode within %d steps", l, mostNewton)
	if l.model.Mean != nil {
		err = fmt.Errorf("%w: where all observations that a coefficient of the mean concerns are 0, or all are successes, it has no"+
			" bound: give it a prior (gppl.GaussianBeta)", err)
	}
	return nil, err
}

// towards returns a + share·(b − a).
func towards(a, b []float64, share float64) []float64 {
	out := slices.Clone(a)
	floats.Scale(1-share, out)
	floats.AddScaled(out, share, b)
	return out
}

// look sets the derivatives at g and returns Σ log p.
func (s *mode) look(g []float64) (sum float64, err error) {
	for i, v := range g {
		d := s.likelihood.LogDensity(s.loss.data.Y[i], s.loss.sizes[i], v)
		if !(d.D2 < 0) || math.IsInf(d.Value, 0) || math.IsNaN(d.Value+d.D1+d.D3) || math.IsInf(d.D2, 0) {
			return 0, fmt.Errorf("observe: observation %d, y = %v: the log density at g = %v is %v, with a second derivative of %v",
				i, s.loss.data.Y[i], v, d.Value, d.D2)
		}
		s.at[i] = d
		sum += d.Value
	}
	return sum, nil
}

// pseudo returns the Gaussian data whose posterior mode is the end of a Newton step from g: y = g + ∂log p/W with the errors
// W^−½.
func (s *mode) pseudo() (y, errs []float64) {
	y, errs = make([]float64, len(s.g)), make([]float64, len(s.g))
	for i, at := range s.at {
		errs[i] = 1 / math.Sqrt(-at.D2)
		y[i] = s.g[i] - at.D1/at.D2
	}
	return y, errs
}

// gaussian returns the pseudo-observations as data.
func (s *mode) gaussian() (gppl.Data, error) {
	y, errs := s.pseudo()
	d, err := gppl.NewData(s.loss.data.X, y)
	if err != nil {
		return d, err
	}
	return d.WithErrors(errs)
}

// evaluate calls f with the likelihood of Gaussian data by the engine of θ or, if that refuses or misses the tolerance, by all
// engines.
func (s *mode) evaluate(y, errs []float64, f func(*gppl.Exact) error) error {
	for {
		exact, err := s.exact.WithObservations(y, errs)
		if err != nil {
			return err
		}
		err = f(exact)
		if s.exact == s.loss.gaussian || err == nil && exact.Report().LastInexact == 0 {
			return err
		}
		s.exact = s.loss.gaussian
	}
}

// smooth returns the posterior mean of g given Gaussian data (for pseudo, the end of a Newton step), and α = A⁻¹y without the
// part that the mean of the model explains.
func (s *mode) smooth(y, errs []float64) (g, alpha []float64, err error) {
	alpha = make([]float64, len(y))
	err = s.evaluate(y, errs, func(exact *gppl.Exact) error {
		_, err := exact.Residuals(s.ctx, alpha, nil, nil, s.theta)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	g = y // WithObservations has copied y
	for i, at := range s.at {
		g[i] += alpha[i] / at.D2
	}
	return g, alpha, nil
}

// valueGrad returns the loss, and sets grad unless it is nil.
func (s *mode) valueGrad(grad []float64) (value float64, err error) {
	y, errs := s.pseudo()
	if grad == nil {
		return s.value(errs)
	}
	alpha, variances := make([]float64, len(y)), make([]float64, len(y))
	err = s.evaluate(y, errs, func(exact *gppl.Exact) (err error) {
		value, err = exact.Residuals(s.ctx, alpha, variances, grad[:len(s.theta)], s.theta)
		return err
	})
	if err != nil {
		return 0, err
	}
	if form := floats.Dot(y, alpha); form < mostForm*float64(len(y)) {
		value = s.completed(value - 0.5*form)
	} else if value, err = s.value(errs); err != nil {
		return 0, err
	}
	for i, at := range s.at {
		w := -1 / at.D2
		variances[i] = max(0, w-w*w*variances[i]) // posterior variance of g
	}
	return value, s.implicit(grad, y, errs, variances)
}

// mostForm is the largest yᵀA⁻¹y per pseudo-observation y that is subtracted from a value: engines err by a share of it, and it
// has no bound where a W_i is tiny.
const mostForm = 100

// value returns the loss.
func (s *mode) value(errs []float64) (value float64, err error) {
	err = s.evaluate(make([]float64, len(errs)), errs, func(exact *gppl.Exact) (err error) {
		value, err = exact.ValueGrad(s.ctx, nil, s.theta)
		return err
	})
	return s.completed(value), err
}

// completed returns the loss from the loss of Gaussian data that are all 0, which has the determinants alone.
func (s *mode) completed(value float64) float64 {
	value -= s.joint
	for _, at := range s.at {
		value += 0.5*math.Log(-at.D2) - 0.5*math.Log(2*math.Pi)
	}
	return value
}

// implicit adds to grad the part through ∂ĝ/∂θ = W⁻¹A⁻¹∂K α, and sets the derivatives in the parameters of the likelihood.
// With u_i = ½v_i ∂³log p and the posterior variances v, the part is −(A⁻¹W⁻¹u)ᵀ∂K α: the difference of the gradients for
// Gaussian data shifted by ±W⁻¹u, which is exact, since these are quadratic.
func (s *mode) implicit(grad, y, errs, variances []float64) error {
	u, shift := make([]float64, len(y)), make([]float64, len(y))
	for i, at := range s.at {
		u[i] = 0.5 * variances[i] * at.D3
		shift[i] = -u[i] / at.D2
	}
	if size := floats.Norm(shift, 2); size > 0 {
		scale := floats.Norm(y, 2) / size
		var grads [2][]float64
		for k, sign := range []float64{scale, -scale} {
			moved := slices.Clone(y)
			floats.AddScaled(moved, sign, shift)
			grads[k] = make([]float64, len(s.theta))
			err := s.evaluate(moved, errs, func(exact *gppl.Exact) error {
				_, err := exact.ValueGrad(s.ctx, grads[k], s.theta)
				return err
			})
			if err != nil {
				return err
			}
		}
		for p := range s.theta {
			grad[p] += (grads[0][p] - grads[1][p]) / (2 * scale)
		}
	}
	shaped, ok := s.likelihood.(Shaped)
	if !ok {
		return nil
	}
	for p := range shaped.Params() {
		var err error
		if grad[len(s.theta)+p], err = s.slope(shaped, p, u, variances, errs); err != nil {
			return err
		}
	}
	return nil
}

// slope returns the derivative in a parameter of the likelihood: −Σ ∂log p + ½Σ v ∂W − uᵀ(K⁻¹ + W)⁻¹ ∂(∂log p/∂g).
func (s *mode) slope(shaped Shaped, p int, u, variances, errs []float64) (sum float64, err error) {
	y := make([]float64, len(u))
	for i, at := range s.at {
		d := shaped.Slopes(p, s.loss.data.Y[i], s.loss.sizes[i], s.g[i])
		sum += -d.Value - 0.5*variances[i]*d.D2
		y[i] = -d.D1 / at.D2
	}
	g, _, err := s.smooth(y, errs)
	return sum - floats.Dot(u, g), err
}

// Correction is the error of Laplace's approximation of a likelihood, by importance sampling of the latent values.
type Correction struct {
	Nats   float64 // nats to add to the loss
	StdErr float64 // standard error of Nats
	K      float64 // k̂ of the weights: above 0.7 they are unreliable (see package psis)
}

// Correct draws latent values from Laplace's approximation at theta and weighs them (Pareto smoothed). It returns an error if
// K is above 0.7: the posterior is then too far from a Gaussian, or has too many dimensions, for this correction. It costs as
// much as Posterior.Sample.
func (l *Laplace) Correct(ctx context.Context, theta []float64, draws int, seed uint64) (c Correction, err error) {
	s, err := l.mode(ctx, theta)
	if err != nil {
		return c, err
	}
	_, logs, err := s.draw(draws, seed)
	if err != nil {
		return c, err
	}
	weights, err := psis.Smooth(logs)
	if err != nil {
		return c, fmt.Errorf("observe: %v: %w", l, err)
	}
	least := slices.Index(logs, slices.Min(logs)) // a weight that is not smoothed sets the scale of all
	c.Nats = math.Log(weights.Weights[least]) + math.Log(float64(draws)) - logs[least]
	c.StdErr, c.K = math.Sqrt(max(0, 1/weights.ESS-1/float64(draws))), weights.K
	if !(c.K <= psis.Reliable) {
		return c, fmt.Errorf("observe: %v: importance weights cannot correct it: k̂ = %.2f is above %.1f", l, c.K, psis.Reliable)
	}
	return c, nil
}

// draw returns draws of g from Laplace's approximation, and the logs of their importance weights. The mean weight is the ratio of
// the likelihood to its approximation.
func (s *mode) draw(draws int, seed uint64) (g [][]float64, logs []float64, err error) {
	l := s.loss
	d, err := s.gaussian()
	if err != nil {
		return nil, nil, err
	}
	p, err := gppl.NewPosterior(s.ctx, s.model, d, l.options...)
	if err != nil {
		return nil, nil, err
	}
	drawn, err := p.Sample(s.ctx, d.X, draws, seed)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range drawn {
		g = append(g, one.F)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	logs = make([]float64, draws)
	for k, values := range g {
		if err := s.ctx.Err(); err != nil {
			return nil, nil, err
		}
		for i, at := range s.at {
			w := -1 / at.D2
			total := s.noise + w
			// Given f and the pseudo-observation y, g is N(f + share·(y − f), w·share). Sample has added a nugget to f, which is a part
			// of that variance; (own + noise²/w)·(w/total)² is the rest, with own the noise without the nugget.
			rest := (s.model.Noise*w + s.noise*s.noise) * w / (total * total)
			values[i] += s.noise/total*(d.Y[i]-values[i]) + math.Sqrt(rest)*rnd.NormFloat64()
			by := values[i] - s.g[i]
			logs[k] += s.likelihood.LogDensity(l.data.Y[i], l.sizes[i], values[i]).Value - (at.Value + at.D1*by + 0.5*at.D2*by*by)
		}
	}
	return g, logs, nil
}
