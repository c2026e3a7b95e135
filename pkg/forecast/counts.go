package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Counting says that the values of a series are counts, and how they arise from the latent value g that models describe.
type Counting struct {
	Likelihood string `json:"likelihood"` // poisson, negbinomial, binomial or bernoulli
	// Sizes are exposures of counts, or numbers of trials; nil means all 1. SizeName is their column. Forecasts take the last.
	Sizes    []float64 `json:"sizes,omitempty"`
	SizeName string    `json:"size_name,omitempty"`
	// Because is the reason for modelling the values as counts when no likelihood was named; "" if one was.
	Because string `json:"because,omitempty"`
}

// Likelihoods are the values of ReadOptions.Likelihood. "" and "gaussian" mean a normal distribution of y or of log y, "student"
// one of Student's t instead (Series.Student).
var Likelihoods = []string{"auto", "gaussian", "student", "poisson", "negbinomial", "binomial", "bernoulli"}

// startShape is the shape at which that of a negative binomial distribution begins: a variance of μ + μ²/3.
const startShape = 3

// likelihood returns the likelihood with a shape; 0 means the start value.
func (c *Counting) likelihood(shape float64) observe.Likelihood {
	switch c.Likelihood {
	case "poisson":
		return observe.Poisson{}
	case "negbinomial":
		return observe.NegBinomial{Shape: cmp.Or(shape, startShape)}
	case "binomial", "bernoulli":
		return observe.Binomial{}
	}
	panic("forecast: no likelihood of counts " + c.Likelihood)
}

// shapeOf returns the shape of a likelihood, 0 if it has none.
func shapeOf(l observe.Likelihood) float64 {
	if n, ok := l.(observe.NegBinomial); ok {
		return n.Shape
	}
	return 0
}

// varies reports whether each observation may have a variation of its own on the scale of g, the noise of the model. A negative
// binomial distribution already has one, and single trials cannot show it.
func (c *Counting) varies() bool { return c.Likelihood == "poisson" || c.Likelihood == "binomial" }

// noVariation is the noise variance that stands for no variation.
const noVariation = 1e-6

// Params returns the parameters of the best model, except variances that stand for zero: of the white term in a model without a
// signal, and of the noise if the likelihood includes it.
func (a *Analysis) Params() []gppl.FittedParam {
	return slices.DeleteFunc(slices.Clone(a.Result.Params), func(p gppl.FittedParam) bool {
		return p.Unit == gppl.UnitY2 && p.IsFixed() && p.Value <= noVariation
	})
}

// size returns the size of the i-th observation.
func (c *Counting) size(i int) float64 { return sizeAt(c.Sizes, i) }

// sizeAt returns the i-th of sizes; nil means all 1.
func sizeAt(sizes []float64, i int) float64 {
	if sizes == nil {
		return 1
	}
	return sizes[i]
}

// part returns the counting of the observations from ≤ i < to.
func (c *Counting) part(from, to int) *Counting {
	if c == nil || c.Sizes == nil {
		return c
	}
	p := *c
	p.Sizes = c.Sizes[from:to]
	return &p
}

// check returns an error for an impossible y or size.
func (c *Counting) check(y, size float64) error {
	err := c.likelihood(0).Check(y, size)
	if err != nil && c.Likelihood == "bernoulli" {
		return fmt.Errorf("%v is neither 0 nor 1", y)
	}
	return err
}

// checkCounting returns an error for impossible observations.
func (s *Series) checkCounting(y []float64) error {
	c := s.Counting
	if !slices.Contains(Likelihoods[3:], c.Likelihood) {
		return fmt.Errorf("a likelihood %q: it is one of %s", c.Likelihood, strings.Join(Likelihoods[3:], ", "))
	}
	if c.Sizes != nil && len(c.Sizes) != len(y) {
		return fmt.Errorf("%d sizes of %d observations", len(c.Sizes), len(y))
	}
	if c.Likelihood == "binomial" && c.Sizes == nil {
		return errors.New("a binomial distribution needs the number of trials of each observation: " +
			"name their column by ReadOptions.Size")
	}
	for i, v := range y {
		if err := c.check(v, c.size(i)); err != nil {
			return fmt.Errorf("observation %d: %w", i, err)
		}
	}
	return nil
}

// Count makes the values of a series counts of a likelihood: one of Likelihoods but the first three. Sizes are the exposures of
// the observations or their numbers of trials; nil means all 1. It is an error if a value is impossible.
func (s *Series) Count(likelihood string, sizes []float64) error {
	before := s.Counting
	s.Counting = &Counting{Likelihood: likelihood, Sizes: sizes}
	if err := s.checkCounting(s.Y); err != nil {
		s.Counting = before
		return fmt.Errorf("forecast: %w", err)
	}
	return nil
}

// setCounting makes the values of a file counts, if the options ask for it or leave it open.
func (s *Series) setCounting(o ReadOptions, y []float64, m dataset.CSVMore, order []int) error {
	switch o.Likelihood {
	case "", "gaussian", "student":
		if o.Size != "" {
			return errors.New("sizes are those of counts or of shares: ReadOptions.Likelihood says which")
		}
		if o.Likelihood == "student" {
			s.Student = new(Student)
		}
		return nil
	case "auto":
		if o.Size == "" {
			s.Counting = guessCounting(y)
			return nil
		}
		s.Counting = &Counting{Likelihood: "negbinomial"}
	default:
		s.Counting = &Counting{Likelihood: o.Likelihood}
	}
	c := s.Counting
	if o.Size != "" {
		at := o.sizeColumn()
		c.SizeName = alsoName(m, at)
		c.Sizes = timeline.Pick(m.Values[at], order)
	}
	if err := wrongValues(y, m, order, func(i int, v float64) error { return c.check(v, c.size(i)) }); err != nil {
		return err
	}
	return s.checkCounting(y)
}

// Likelihood names the distribution of observations in the best model, with its shape or degrees of freedom; "" for a normal one.
func (a *Analysis) Likelihood() string {
	if s := a.Series.Student; s != nil {
		return fmt.Sprintf("Student-t (%.3g degrees of freedom)", s.Nu)
	}
	c, shape := a.Series.Counting, 0.0
	if len(a.members) > 0 {
		shape = a.members[0].shape
	}
	switch {
	case c == nil:
		return ""
	case c.Likelihood == "bernoulli":
		return "Bernoulli"
	}
	return c.likelihood(shape).String()
}

// countingNames name the likelihoods in a sentence.
var countingNames = map[string]string{
	"poisson": "counts with a Poisson distribution", "negbinomial": "counts with a negative binomial distribution",
	"binomial": "numbers of successes with a binomial distribution", "bernoulli": "events, 0 or 1, with a probability that changes",
}

// note says in a sentence how the values are modelled.
func (c *Counting) note(name string) string {
	text := fmt.Sprintf("%s is modelled as %s", name, countingNames[c.Likelihood])
	if c.Because != "" {
		text += ", since " + c.Because + ": ReadOptions.Likelihood: \"gaussian\" models them as any other values"
	}
	if c.SizeName != "" {
		text += fmt.Sprintf(". Their sizes are in column %s; the forecast uses the last, %v", c.SizeName, c.Sizes[len(c.Sizes)-1])
	}
	return text + "."
}

const (
	// fewCounts is the median below which whole numbers may be counts whose distribution is far from normal. A normal one at 20 or
	// more has less than 1e-5 of its mass below 0.
	fewCounts = 20
	// leastCounts is the fewest observations that guessCounting models as counts.
	leastCounts = 20
	// counted is the least ratio, of the variance about neighbouring values to the mean, that guessCounting accepts. It is 1 for
	// Poisson counts, and more if their rate changes; grades, ages and serial numbers have less.
	counted = 0.5
)

// guessCounting returns the counting of values that are plainly counts, nil for others: 0 and 1, or whole numbers from 0 with a
// median below fewCounts that scatter about their neighbours like counts, whose variance is about their mean or more, and about
// those of a strong season, which a schedule repeats. Counts are negative binomial if they scatter more than a Poisson
// distribution.
func guessCounting(y []float64) *Counting {
	if len(y) < leastCounts || slices.ContainsFunc(y, func(v float64) bool { return v < 0 || v != math.Trunc(v) }) {
		return nil
	}
	middle, n := median(y), float64(len(y))
	ratio := scatter(y, 1)
	switch most := slices.Max(y); {
	case most == 1:
		return &Counting{Likelihood: "bernoulli", Because: "its values are 0 and 1"}
	case middle >= fewCounts || ratio < counted:
		return nil
	}
	late := y[max(0, len(y)-remembered):]
	below := min(counted, 1-3*math.Sqrt(3/float64(len(late)))) // three standard errors
	if lags := seasonPeaks(late); len(lags) > 0 && scatter(late, lags[0]) < below {
		return nil
	}
	c := &Counting{Likelihood: "poisson", Because: fmt.Sprintf(
		"its values are whole numbers from 0 with a median of %v, scattered as counts are", middle)}
	// The ratio is 1 for a Poisson distribution, with a standard error of about √(3/n + 1/2S) for S events.
	if excess := ratio - 1; excess > 2*math.Sqrt(3/n+0.5/floats.Sum(y)) {
		c.Likelihood = "negbinomial"
	}
	return c
}

// scatter returns Σ (y_i − y_{i−lag})²/Σ (y_i + y_{i−lag}), which is 1 in expectation for Poisson counts whose rate repeats after
// lag; 0 for zeros.
func scatter(y []float64, lag int) float64 {
	var squares, sums float64
	for i := lag; i < len(y); i++ {
		d := y[i] - y[i-lag]
		squares, sums = squares+d*d, sums+y[i]+y[i-lag]
	}
	if sums == 0 {
		return 0
	}
	return squares / sums
}

// counts are observations as the likelihood of counts sees them, for a latent value z = g − centre.
type counts struct {
	of         *Counting
	likelihood observe.Likelihood // of z
	raw        gppl.Data
	sizes      []float64 // of z
	// compared and trained say that models are compared and trained by Laplace's method, not by one Gaussian approximation.
	compared, trained bool
}

// newCounts returns the observations of a series about a centre, with the start value of the shape of the likelihood.
func newCounts(s *Series, centre float64) (*counts, error) {
	in, err := s.inputs(s.X)
	if err != nil {
		return nil, err
	}
	d, err := gppl.NewData(in, s.Y)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	c := &counts{of: s.Counting, raw: d, sizes: make([]float64, len(s.Y))}
	for i := range c.sizes {
		c.sizes[i] = s.Counting.size(i)
	}
	switch l := s.Counting.likelihood(0).(type) {
	case observe.Binomial:
		c.likelihood = centred{l, centre}
	default: // the rate is size·eᶻ⁺ᶜ
		c.likelihood = l
		floats.Scale(math.Exp(centre), c.sizes)
	}
	return c, nil
}

// centreOf returns the latent value at which all observations together equal their expectation.
func (c *Counting) centreOf(y []float64) float64 {
	var sum, size float64
	for i, v := range y {
		sum, size = sum+v, size+c.size(i)
	}
	return c.likelihood(0).Guess(sum, size)
}

// overCounts returns the observations from ≤ i < to on the scale of z, whose Gaussian values are guesses until linearised.
func (v yScale) overCounts(s *Series, from, to int) (yScale, error) {
	c, err := newCounts(s.part(from, to), v.scaling.Mean)
	if err != nil {
		return v, err
	}
	v.counts = c
	loss, err := c.loss(gppl.Model{Kernel: whiteTerm, Noise: 1}, c.likelihood)
	if err != nil {
		return v, fmt.Errorf("forecast: %w", err)
	}
	v.data = loss.Guess()
	return v, nil
}

func (c *counts) loss(m gppl.Model, l observe.Likelihood) (*observe.Laplace, error) {
	return observe.NewLaplace(m, c.raw, l, c.sizes)
}

// linearised returns counts as the Gaussian model at the end of Laplace's method sees them, for a model and a shape of the
// likelihood: pseudo-observations with known errors, on which models are then trained. Other observations are Gaussian already.
func (v yScale) linearised(ctx context.Context, m gppl.Model, shape float64) (yScale, error) {
	if v.counts == nil {
		return v, nil
	}
	c := *v.counts
	l := observe.Likelihood(c.of.likelihood(shape))
	if b, ok := c.likelihood.(centred); ok {
		l = b
	}
	loss, err := c.loss(m, held{l})
	if err != nil {
		return v, fmt.Errorf("forecast: %w", err)
	}
	if _, v.data, err = loss.Gaussian(ctx, m.Values()); err != nil {
		return v, fmt.Errorf("forecast: %w", err)
	}
	c.likelihood, c.trained, v.counts = l, false, &c
	return v, nil
}

// comparedCounts returns the loss of Laplace's method at a shape of the likelihood, with the gradient of its Gaussian
// approximation there: the curvature for the evidence then takes a tenth of the time, and neglects only third derivatives.
func (v yScale) comparedCounts(ctx context.Context, m gppl.Model, shape float64, opts ...gppl.Option) (gppl.Loss, error) {
	at, err := v.linearised(ctx, m, shape)
	if err != nil {
		return nil, err
	}
	gaussian, err := gppl.NewExact(m, at.data, opts...)
	if err != nil {
		return nil, err
	}
	loss, err := v.counts.loss(m, held{at.counts.likelihood})
	return curvedAs{loss, gaussian}, err
}

// curvedAs is a loss whose gradient is that of another.
type curvedAs struct {
	gppl.Loss
	other gppl.Loss
}

func (l curvedAs) ValueGrad(grad, theta []float64) (float64, error) {
	if grad == nil {
		return l.Loss.ValueGrad(nil, theta)
	}
	return l.other.ValueGrad(grad, theta)
}

// latest returns the latest k observations.
func (v yScale) latest(k int) yScale {
	v.data = latest(v.data, k)
	if v.counts != nil {
		c := *v.counts
		c.raw, c.sizes = latest(c.raw, k), c.sizes[max(0, len(c.sizes)-k):]
		v.counts = &c
	}
	return v
}

// gaussian returns a function that returns the latest k observations as Gaussian ones: for counts, by the approximation at a
// model, computed once for each k.
func (v yScale) gaussian(m gppl.Model, shape float64) func(ctx context.Context, k int) (gppl.Data, error) {
	if v.counts == nil {
		return func(_ context.Context, k int) (gppl.Data, error) { return latest(v.data, k), nil }
	}
	var mu sync.Mutex
	made := map[int]gppl.Data{}
	return func(ctx context.Context, k int) (gppl.Data, error) {
		mu.Lock()
		defer mu.Unlock()
		if d, ok := made[k]; ok {
			return d, nil
		}
		at, err := v.latest(k).linearised(ctx, m, shape)
		if err == nil {
			made[k] = at.data
		}
		return at.data, err
	}
}

// approximated returns all observations. The latest k are Gaussian by the approximation at a model, the others unused guesses.
func (v yScale) approximated(ctx context.Context, m gppl.Model, shape float64, k int) (gppl.Data, error) {
	late, err := v.gaussian(m, shape)(ctx, k)
	n := v.data.Len()
	if err != nil || k == n {
		return late, err
	}
	y, errs := slices.Clone(v.data.Y), slices.Repeat([]float64{1}, n)
	copy(y[n-k:], late.Y)
	copy(errs[n-k:], late.Errors)
	d, err := gppl.NewData(v.data.X, y)
	if err != nil {
		return d, err
	}
	return d.WithErrors(errs)
}

// piloted linearises the observations at a rough signal learnt from them: one Gaussian approximation compares all structures.
func (p *policy) piloted(v yScale) (yScale, error) {
	c := v.counts
	mean, err := policyMean(stationary{}, "linear", c.raw.X)
	if err != nil {
		return v, err
	}
	m := gppl.Model{Kernel: (stationary{}).signal("Laplace", p.extent, false), Noise: startNoise, Mean: mean}
	if !c.of.varies() {
		m.Noise = noVariation
		m = m.Fix(gppl.NoiseName)
	}
	loss, err := c.loss(scaled(m, p.extent.span), c.likelihood)
	if err != nil {
		return v, fmt.Errorf("forecast: %w", err)
	}
	prior, err := withBeliefs(loss, withShape(beliefsOf(stationary{}, m, p.extent, nil, 1), c.likelihood))
	if err != nil {
		return v, fmt.Errorf("forecast: %w", err)
	}
	r, err := gppl.Fit(p.ctx, prior, nil,
		gppl.Settings{GradientTolerance: pilotGradient, MaxEvaluations: pilotEvaluations, NoStandardErrors: true})
	if err != nil {
		return v, fmt.Errorf("forecast: a first model of the counts: %w", err)
	}
	return v.linearised(p.ctx, plain(r).Model, shapeIn(r))
}

// ofNamed visits the kernels that the user named for counts, which start from the Gaussian approximation.
func (p *policy) ofNamed(fixed bool, visit func(of candidate, q proposal) error) error {
	if fixed {
		return nil
	}
	for _, name := range p.options.Kernels {
		k, err := ParseKernel(name)
		if err != nil {
			return err
		}
		m := auto.StartFrom(gppl.Model{Kernel: k, Noise: startNoise}, p.scales[0].data)
		theta := m.Values()
		for i, q := range m.Params() {
			if q.Role == gppl.RolePeriod && len(p.seasons) > 0 {
				theta[i] = p.seasons[0].period
			}
		}
		if err := visit(stationary{}, proposal{terms: termsOf(m.WithParams(theta).Kernel), noise: startNoise}); err != nil {
			return err
		}
	}
	return nil
}

// countFinalists is the number of candidates that are trained by Laplace's method itself.
const countFinalists = 2

// The pilot need not reach its optimum.
const (
	pilotGradient    = 0.5
	pilotEvaluations = 15
)

// shapeIn returns the shape of the likelihood in a result, 0 if there is none.
func shapeIn(r *gppl.Result) float64 {
	if i := slices.IndexFunc(r.Params, func(p gppl.FittedParam) bool { return p.Name == "shape" }); i >= 0 && i == len(r.Params)-1 {
		return r.Params[i].Value
	}
	return 0
}

// withShape adds the weak prior of the shape of a likelihood.
func withShape(b beliefs, l observe.Likelihood) beliefs {
	if _, ok := l.(observe.Shaped); ok {
		b.weak, b.given = append(b.weak, gppl.LogNormal{Mu: math.Log(startShape), Sigma: 1.5}), append(b.given, nil)
	}
	return b
}

// held is a likelihood whose parameters are not learnt.
type held struct{ observe.Likelihood }

// centred is a likelihood of z = g − by.
type centred struct {
	observe.Likelihood
	by float64
}

func (l centred) LogDensity(y, size, z float64) observe.Derivatives {
	return l.Likelihood.LogDensity(y, size, z+l.by)
}
func (l centred) Guess(y, size float64) float64    { return l.Likelihood.Guess(y, size) - l.by }
func (l centred) Mean(size, z float64) float64     { return l.Likelihood.Mean(size, z+l.by) }
func (l centred) Variance(size, z float64) float64 { return l.Likelihood.Variance(size, z+l.by) }
func (l centred) CDF(y, size, z float64) float64   { return l.Likelihood.CDF(y, size, z+l.by) }

// sizesAt returns the sizes of new observations: those of a test if known, otherwise those of the last observations up to x.
func (a *Analysis) sizesAt(x []float64) []float64 {
	c := a.Series.Counting
	if a.sizes != nil || c.Sizes == nil {
		return a.sizes
	}
	out := make([]float64, len(x))
	for i, v := range x {
		at, found := slices.BinarySearch(a.Series.X, v)
		if !found {
			at = max(0, at-1)
		}
		out[i] = c.Sizes[at]
	}
	return out
}

// together combines the parts of the draws of a member into one: a normal distribution of g with their mean and variance.
func together(parts []Part) Part {
	one := parts[0]
	if len(parts) == 1 {
		return one
	}
	n := float64(len(parts))
	one.Weight *= n
	one.Mean, one.LatentVar, one.NoisyVar = slices.Clone(one.Mean), slices.Clone(one.LatentVar), slices.Clone(one.NoisyVar)
	for j := range one.Mean {
		var sum, squares, latent, noisy float64
		for _, p := range parts {
			sum, latent, noisy = sum+p.Mean[j], latent+p.LatentVar[j], noisy+p.NoisyVar[j]
		}
		for _, p := range parts {
			squares += (p.Mean[j] - sum/n) * (p.Mean[j] - sum/n)
		}
		one.Mean[j], one.LatentVar[j], one.NoisyVar[j] = sum/n, (latent+squares)/n, (noisy+squares)/n
	}
	return one
}

// countsOf returns the distribution of the counts that parts forecast; latent omits the variation of single observations.
func countsOf(parts []Part, latent bool) *observe.Counts {
	var weights []float64
	var all []*observe.Counts
	for _, p := range parts {
		variances := p.NoisyVar
		if latent {
			variances = p.LatentVar
		}
		weights, all = append(weights, p.Weight), append(all, observe.NewCounts(p.Observed, p.Mean, variances, p.Sizes))
	}
	return observe.Mixed(weights, all)
}

// forecastCounts summarises parts of counts.
func forecastCounts(ctx context.Context, x []float64, when []string, parts []Part) (f *Forecast, err error) {
	f = &Forecast{X: x, When: when, Parts: parts, Counts: countsOf(parts, false)}
	if f.Mean, f.NoisyVar, err = f.Counts.ExpectedContext(ctx); err != nil {
		return nil, err
	}
	if _, f.LatentVar, err = countsOf(parts, true).RatesContext(ctx); err != nil {
		return nil, err
	}
	return f.banded(ctx)
}

// Zeros returns the probability of 0 at each x of a forecast of counts.
func (f *Forecast) Zeros() (p []float64) {
	p = make([]float64, len(f.X))
	for i := range p {
		p[i] = f.Counts.CDF(i, 0)
	}
	return p
}

// predictedCounts is a forecast of counts as a Predictive.
type predictedCounts struct{ *observe.Counts }

var _ Predictive = predictedCounts{}

// Mean returns the medians, the point forecasts with the least absolute error.
func (p predictedCounts) Mean() []float64 { return p.Counts.Quantile(0.5) }

// Standardised returns the normal quantile of the middle of the jump of the distribution function at each y.
func (p predictedCounts) Standardised(y []float64) []float64 {
	z := p.PIT(y, slices.Repeat([]float64{0.5}, len(y)))
	for i, u := range z {
		z[i] = numeric.NormalQuantile(min(max(u, 1e-12), 1-1e-12))
	}
	return z
}
