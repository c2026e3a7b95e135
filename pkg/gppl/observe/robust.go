package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// RobustSettings configures FitRobust. The zero value is recommended.
type RobustSettings struct {
	// Fit trains the kernel in each round; 0 evaluations mean 20 a round.
	Fit gppl.Settings
	// MaxRounds bounds the rounds; 0 means 200.
	MaxRounds int
	// Tolerance, in nats, ends training once a round lowers the bound by less; 0 means 1e-5.
	Tolerance float64
}

// Robust is a Gaussian process with Student-t noise, given data:
//
//	y_i = h(x_i)ᵀβ + f(x_i) + ε_i,  ε_i/σ ~ t_ν.
//
// An outlying observation gets a smaller weight instead of distorting f and inflating the noise of all.
type Robust struct {
	// Model has the kernel, the mean and, as Noise, the squared scale σ² of the
	// Student-t. The variance of the noise is σ²·ν/(ν − 2), or +Inf up to ν = 2.
	Model   gppl.Model
	Nu      float64   // ν; at 200, the largest, the noise is practically Gaussian
	Weights []float64 // posterior means of λ_i, where ε_i ~ N(0, σ²/λ_i); at most (ν+1)/ν
	// Bound is an upper bound on the negative log likelihood of the data, in nats, from a posterior in which f and the λ are
	// independent (variational Bayes). It is comparable with the Value of an exact fit with Gaussian noise.
	Bound     float64
	Status    gppl.Status // Converged, Limited or Cancelled
	Reason    string
	Trace     []float64 // the bound after each round; it never rises
	data      gppl.Data
	predicted []float64 // E(y_i − f(x_i))²
}

// FitRobust learns the kernel's parameters of m, the scale and the degrees of freedom of Student-t noise from the data. m.Noise
// is the start value of σ², or its value if it is Fixed; a model that Fit or auto.Fit learnt with Gaussian noise is a good start.
//
// It minimises a variational bound on the negative log likelihood in rounds of three steps, and no step raises the bound:
//
//   - the weights w_i from r_i² = E(y_i − f(x_i))²;
//   - σ² and ν, from the likelihood of the r_i² with the weights integrated out;
//   - the kernel's parameters, by the exact likelihood with the noise variances σ²/w_i
//     (Data.Errors): dense, banded or, for Matérn, by a state space in O(n).
//
// Rounds converge linearly to a minimum: a few dozen suffice where the noise is well determined. There may be several minima,
// since outliers can also be signal. On a time series there are two starts, m and auto.StartFrom of the series without its
// spikes; the result with the lower bound is kept. (Tipping and Lawrence 2005; Jylänki, Vanhatalo and Vehtari 2011 compare
// with EP.)
//
// FitRobust returns an error if the kernel contains white noise, which Student-t noise replaces, if the data have known
// errors, if there are fewer than five observations, or if more than half of them have one value, as the likelihood then has
// no maximum. It also returns the errors of NewExact. If ctx ends, it returns the result so far with ctx's error.
func FitRobust(ctx context.Context, m gppl.Model, d gppl.Data, s RobustSettings) (*Robust, error) {
	if err := cmp.Or(m.CheckPlain("Student-t noise", d), m.Check(), d.Check()); err != nil {
		return nil, err
	}
	switch {
	case capability.Nugget(m.Kernel) > 0:
		return nil, fmt.Errorf("observe: Student-t noise stands for all white noise, but the kernel %v has its own: leave it out",
			m.Kernel)
	case d.Errors != nil || d.Relative != nil:
		return nil, errors.New("observe: Student-t noise is not combined with known errors: leave one of them out")
	case d.Len() < 5:
		return nil, fmt.Errorf("observe: %d observations: Student-t noise wants five or more", d.Len())
	case mostlyOne(d.Y) > 0:
		return nil, fmt.Errorf("observe: %d of %d observations have one value: Student-t noise takes all others for outliers, and"+
			" its scale would be 0", mostlyOne(d.Y), d.Len())
	}
	rounds := cmp.Or(s.MaxRounds, 200)
	tolerance := cmp.Or(s.Tolerance, 1e-5)
	s.Fit.MaxEvaluations = cmp.Or(s.Fit.MaxEvaluations, 20)
	s.Fit.NoStandardErrors = true
	r, err := robustFrom(ctx, m, d, s, rounds, tolerance)
	if err != nil || d.X.Dim() != 1 {
		return r, err
	}
	// A kernel learnt with outliers may have treated them as signal.
	start, err := auto.StartFrom(ctx, m, withoutSpikes(d))
	if err != nil {
		return r, ctx.Err()
	}
	other, err := robustFrom(ctx, start, d, s, rounds, tolerance)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err == nil && other.Bound < r.Bound {
		r = other
	}
	return r, nil
}

// mostlyOne returns how many numbers share one value if these are more than half, else 0.
func mostlyOne(y []float64) int {
	sorted := slices.Sorted(slices.Values(y))
	middle, count := sorted[len(sorted)/2], 0 // a value of more than half is in the middle
	for _, v := range y {
		if v == middle {
			count++
		}
	}
	if 2*count <= len(y) {
		return 0
	}
	return count
}

// withoutSpikes returns the series with spikes replaced by the median of their seven neighbours, for a start. A spike differs
// from that median by more than four times the median difference over the whole series, in the scale of a standard deviation
// (Hampel 1974).
func withoutSpikes(d gppl.Data) gppl.Data {
	const reach, far, toSigma = 3, 4, 1.4826
	n := d.Len()
	clean := d.Pick(timeline.Ascending(d.X.Coordinate(0)))
	y := slices.Clone(clean.Y)
	medians, distances := make([]float64, n), make([]float64, n)
	for i := range n {
		near := slices.Clone(y[max(0, i-reach):min(n, i+reach+1)])
		slices.Sort(near)
		medians[i] = near[len(near)/2]
		distances[i] = math.Abs(y[i] - medians[i])
	}
	sorted := slices.Clone(distances)
	slices.Sort(sorted)
	limit := far * toSigma * sorted[n/2]
	for i, distance := range distances {
		if distance > limit {
			clean.Y[i] = medians[i]
		}
	}
	return clean
}

// robustFrom is FitRobust from one start.
func robustFrom(ctx context.Context, m gppl.Model, d gppl.Data, s RobustSettings, rounds int,
	tolerance float64) (*Robust, error) {
	params := m.Params()
	e := robustWork{settings: s, data: d, model: m, noiseFixed: params[len(params)-1].IsFixed()}
	e.noise = student{nu: 4, scale2: m.Noise} // between Cauchy's tails and the normal's: no observation is discarded at once
	r := &Robust{data: d, Status: gppl.Limited, Reason: fmt.Sprintf("%d rounds", rounds)}
	best := math.Inf(1)
	for range rounds {
		if err := e.expect(ctx); err != nil {
			if ended := ctx.Err(); ended != nil && e.r2 != nil {
				r.Status, r.Reason = gppl.Cancelled, ended.Error()
				break
			}
			return nil, err
		}
		bound, err := e.learn(ctx)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if ctx.Err() != nil {
			r.Status, r.Reason = gppl.Cancelled, ctx.Err().Error()
			break
		}
		r.Trace = append(r.Trace, bound)
		if best-bound < tolerance {
			r.Status, r.Reason = gppl.Converged, fmt.Sprintf("the last of %d rounds lowered the bound by %.2g nats",
				len(r.Trace), best-bound)
			best = min(best, bound)
			break
		}
		best = bound
	}
	e.describe(r, best)
	return r, ctx.Err()
}

// robustWork is the state of FitRobust.
type robustWork struct {
	settings   RobustSettings
	data       gppl.Data
	model      gppl.Model // holds the current kernel
	noise      student
	noiseFixed bool
	r2         []float64 // E(y_i − f(x_i))²; nil before the first round
}

// gaussian returns the model and data of Gaussian noise with the variances σ²/w_i: the least of them, σ²·ν/(ν+1), is the
// model's, the rest are errors. Without r2 all are σ².
func gaussian(m gppl.Model, d gppl.Data, noise student, r2 []float64) (gppl.Model, gppl.Data) {
	if r2 == nil {
		m.Noise = noise.scale2
		return m, d
	}
	m.Noise = noise.scale2 / noise.most()
	d.Errors = make([]float64, d.Len())
	for i, r := range r2 {
		// σ²/w − σ²ν/(ν+1) = r²/(ν+1)
		d.Errors[i] = math.Sqrt(r / (noise.nu + 1))
	}
	return m, d
}

// expect sets r2 from the posterior of f given the weights.
func (e *robustWork) expect(ctx context.Context) error {
	m, d := gaussian(e.model, e.data, e.noise, e.r2)
	p, err := gppl.NewPosterior(ctx, m, d)
	if err != nil {
		return err
	}
	mean, variances, err := p.Latent(ctx, d.X)
	if err != nil {
		return err
	}
	r2 := make([]float64, len(mean))
	for i, f := range mean {
		r2[i] = (d.Y[i]-f)*(d.Y[i]-f) + variances[i]
	}
	e.r2 = r2
	return nil
}

// learn sets ν and σ² given r2, trains the kernel, and returns the bound.
func (e *robustWork) learn(ctx context.Context) (bound float64, err error) {
	defer parallel.Stopped(&err)
	if e.noiseFixed {
		e.noise.nu = bestNu(ctx, e.r2, e.noise)
	} else {
		e.noise, _ = studentOf(ctx, e.r2, e.noise.scale2)
	}
	return e.learnKernel(ctx)
}

// bestNu returns the ν of the largest likelihood at a given σ², by a golden section of its logarithm.
func bestNu(ctx context.Context, r2 []float64, s student) float64 {
	value := func(logNu float64) (sum float64) {
		parallel.Look(ctx)
		s.nu = math.Exp(logNu)
		for _, r := range r2 {
			sum -= s.logDensity(r)
		}
		return sum
	}
	return math.Exp(numeric.Minimum(value, math.Log(leastNu), math.Log(mostNu), nuTolerance))
}

// learnKernel trains the kernel given the weights, and returns the bound.
func (e *robustWork) learnKernel(ctx context.Context) (bound float64, err error) {
	m, d := gaussian(e.model, e.data, e.noise, e.r2)
	m = m.Fix(gppl.NoiseName)
	loss, err := gppl.NewExact(ctx, m, d)
	if err != nil {
		return 0, err
	}
	r, err := gppl.Fit(ctx, loss, nil, e.settings.Fit)
	if err != nil {
		return 0, err
	}
	e.model.Kernel = r.Model.Kernel
	bound = r.Value
	for _, r := range e.r2 {
		bound -= e.noise.slack(r)
	}
	return bound, nil
}

// describe sets the results.
func (e *robustWork) describe(r *Robust, bound float64) {
	r.Model, r.Nu, r.Bound = e.model, e.noise.nu, bound
	r.Model.Noise = e.noise.scale2
	r.predicted = slices.Clone(e.r2)
	for _, v := range e.r2 {
		r.Weights = append(r.Weights, e.noise.weight(v))
	}
}

func (r *Robust) noise() student { return student{r.Nu, r.Model.Noise} }

// Posterior conditions on the data with their weights. Its Latent values are values of f
// with the mean. Its Noisy values lack the tails of the noise: use Predict instead.
func (r *Robust) Posterior(ctx context.Context, opts ...gppl.Option) (*gppl.Posterior, error) {
	m, d := gaussian(r.Model, r.data, r.noise(), r.predicted)
	return gppl.NewPosterior(ctx, m, d, opts...)
}

// studentComponents is the number of components of a mixture: its quantiles from 0.1 % to 99.9 % are within 1e-3 of the scale
// for ν ≥ 2.
const studentComponents = 64

// Predict returns the distribution of a new observation at each x, tails included: a mixture
// of Gaussians over quantiles of λ, each with the variance of f plus σ²/λ.
func (r *Robust) Predict(ctx context.Context, x gppl.Inputs) (*draws.Mixture, error) {
	return r.predict(ctx, x, []gppl.Model{r.Model}, studentComponents)
}

// PredictUncertain is Predict averaged over the kernel's parameters (NewUncertain) with the
// given priors; weights and noise keep their learnt values.
func (r *Robust) PredictUncertain(ctx context.Context, x gppl.Inputs, s draws.UncertainSettings,
	priors ...gppl.ParamPrior) (*draws.Mixture, *draws.Uncertain, error) {
	m, d := gaussian(r.Model, r.data, r.noise(), r.predicted)
	exact, err := gppl.NewExact(ctx, m.Fix(gppl.NoiseName), d)
	if err != nil {
		return nil, nil, err
	}
	loss, err := gppl.NewMAP(exact, priors...)
	if err != nil {
		return nil, nil, err
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		return nil, nil, err
	}
	u, err := draws.NewUncertain(ctx, loss, result, s)
	if err != nil {
		return nil, nil, err
	}
	mixture, err := r.predict(ctx, x, u.Models, studentComponents/4)
	return mixture, u, err
}

// predict averages over models with the kernels of the given ones, with the given number of components of the noise in each.
func (r *Robust) predict(ctx context.Context, x gppl.Inputs, models []gppl.Model, components int) (*draws.Mixture, error) {
	noise, weights := StudentNoise{r.Nu, r.Model.Noise}.Mixture(components)
	mixture := &draws.Mixture{}
	for _, of := range models {
		m, d := gaussian(r.Model, r.data, r.noise(), r.predicted)
		m.Kernel = of.Kernel
		p, err := gppl.NewPosterior(ctx, m, d)
		if err != nil {
			return nil, err
		}
		mean, variances, err := p.Latent(ctx, x)
		if err != nil {
			return nil, err
		}
		for c, own := range noise {
			v := make([]float64, len(variances))
			for i := range v {
				v[i] = variances[i] + own
			}
			mixture.Weights = append(mixture.Weights, weights[c]/float64(len(models)))
			mixture.Means, mixture.Variances = append(mixture.Means, mean), append(mixture.Variances, v)
		}
	}
	return mixture, nil
}

// String renders the outcome and the observations with the smallest weights.
func (r *Robust) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Student-t noise, ν = %.3g, σ = %.4g: bound %.6g nats, %s (%s)\n  %v",
		r.Nu, math.Sqrt(r.Model.Noise), r.Bound, r.Status, r.Reason, r.Model)
	const doubted = 0.3
	var at []int
	for i, w := range r.Weights {
		if w < doubted {
			at = append(at, i)
		}
	}
	slices.SortFunc(at, func(i, j int) int {
		return cmp.Compare(r.Weights[i], r.Weights[j])
	})
	fmt.Fprintf(&b, "\n  %d of %d observations have a weight below %.1f", len(at), len(r.Weights), doubted)
	for k, i := range at {
		if k == 5 {
			b.WriteString(", …")
			break
		}
		fmt.Fprintf(&b, "%s x = %.6g (%.2g)", map[bool]string{true: ":", false: ","}[k == 0], r.data.X.At(i)[0], r.Weights[i])
	}
	return b.String()
}
