package search

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// shapeOf returns the shape parameter of a likelihood, 0 if it has none.
func shapeOf(l observe.Likelihood) float64 {
	if n, ok := l.(observe.NegBinomial); ok {
		return n.Shape
	}
	return 0
}

// counts holds the observations for the likelihood of counts, with a latent value z = g − centre.
type counts struct {
	of         *series.Counting
	likelihood observe.Likelihood // likelihood of z
	raw        gppl.Data
	sizes      []float64 // sizes that multiply the rate of z
	// compared and trained say that models are compared and trained by Laplace's method, not by one Gaussian approximation.
	compared, trained bool
}

// newCounts returns the observations of a series about a centre. The shape of the likelihood has its start value.
func newCounts(s *series.Series, centre float64) (*counts, error) {
	in, err := s.Inputs(s.X)
	if err != nil {
		return nil, err
	}
	d, err := gppl.NewData(in, s.Y)
	if err != nil {
		return nil, err
	}
	c := &counts{of: s.Counting, raw: d, sizes: make([]float64, len(s.Y))}
	for i := range c.sizes {
		c.sizes[i] = s.Counting.Size(i)
	}
	switch l := s.Counting.Distribution(0).(type) {
	case observe.Binomial:
		c.likelihood = centred{l, centre}
	default: // the rate is size·eᶻ⁺ᶜ
		c.likelihood = l
		floats.Scale(math.Exp(centre), c.sizes)
	}
	return c, nil
}

// overCounts returns the observations from ≤ i < to on the scale of z. Their Gaussian values are guesses until Linearised.
func (v YScale) overCounts(s *series.Series, from, to int) (YScale, error) {
	c, err := newCounts(s.Part(from, to), v.Scaling.Mean)
	if err != nil {
		return v, err
	}
	v.counts = c
	loss, err := c.loss(context.Background(), gppl.Model{Kernel: WhiteTerm, Noise: 1}, c.likelihood)
	if err != nil {
		return v, err
	}
	v.Data = loss.Guess()
	return v, nil
}

func (c *counts) loss(ctx context.Context, m gppl.Model, l observe.Likelihood) (*observe.Laplace, error) {
	return observe.NewLaplace(ctx, m, c.raw, l, c.sizes)
}

// Linearised replaces observations that are not Gaussian by pseudo-observations with known errors, on which models are then
// trained: censored values by expectation propagation, counts by Laplace's method, both at a model and a shape of the likelihood.
// Gaussian observations are returned as they are.
func (v YScale) Linearised(ctx context.Context, m gppl.Model, shape float64) (YScale, error) {
	if v.ends != nil {
		return v.propagated(ctx, m)
	}
	if v.counts == nil {
		return v, nil
	}
	c := *v.counts
	l := observe.Likelihood(c.of.Distribution(shape))
	if b, ok := c.likelihood.(centred); ok {
		l = b
	}
	loss, err := c.loss(ctx, m, held{l})
	if err != nil {
		return v, err
	}
	if _, v.Data, err = loss.Gaussian(ctx, m.Values()); err != nil {
		return v, err
	}
	c.likelihood, c.trained, v.counts = l, false, &c
	return v, nil
}

// comparedCounts returns the loss of Laplace's method at a shape of the likelihood, with the gradient of its Gaussian
// approximation there. The curvature for the evidence then takes a tenth of the time; only third derivatives are neglected.
func (v YScale) comparedCounts(ctx context.Context, m gppl.Model, shape float64, opts ...gppl.Option) (gppl.Loss, error) {
	at, err := v.Linearised(ctx, m, shape)
	if err != nil {
		return nil, err
	}
	gaussian, err := gppl.NewExact(ctx, m, at.Data, opts...)
	if err != nil {
		return nil, err
	}
	loss, err := v.counts.loss(ctx, m, held{at.counts.likelihood})
	return curvedAs{loss, gaussian}, err
}

// curvedAs is a loss with the gradient of another loss.
type curvedAs struct {
	gppl.Loss
	other gppl.Loss
}

func (l curvedAs) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if grad == nil {
		return l.Loss.ValueGrad(ctx, nil, theta)
	}
	return l.other.ValueGrad(ctx, grad, theta)
}

// latest returns the latest k observations.
func (v YScale) latest(k int) YScale {
	v.Data = Latest(v.Data, k)
	if v.counts != nil {
		c := *v.counts
		c.raw, c.sizes = Latest(c.raw, k), c.sizes[max(0, len(c.sizes)-k):]
		v.counts = &c
	}
	if v.ends != nil {
		e := *v.ends
		e.raw = Latest(e.raw, k)
		v.ends = &e
	}
	return v
}

// Gaussian returns a function whose result is the latest k observations as Gaussian ones. Counts and censored values are
// approximated at a model, once for each k.
func (v YScale) Gaussian(m gppl.Model, shape float64) func(ctx context.Context, k int) (gppl.Data, error) {
	if v.counts == nil && v.ends == nil {
		return func(_ context.Context, k int) (gppl.Data, error) { return Latest(v.Data, k), nil }
	}
	var mu sync.Mutex
	made := map[int]gppl.Data{}
	return func(ctx context.Context, k int) (gppl.Data, error) {
		mu.Lock()
		defer mu.Unlock()
		if d, ok := made[k]; ok {
			return d, nil
		}
		at, err := v.latest(k).Linearised(ctx, m, shape)
		if err == nil {
			made[k] = at.Data
		}
		return at.Data, err
	}
}

// Approximated returns all observations. The latest k are Gaussian by the approximation at a model; the others are guesses that
// nobody uses.
func (v YScale) Approximated(ctx context.Context, m gppl.Model, shape float64, k int) (gppl.Data, error) {
	late, err := v.Gaussian(m, shape)(ctx, k)
	n := v.Data.Len()
	if err != nil || k == n {
		return late, err
	}
	y, errs := slices.Clone(v.Data.Y), slices.Repeat([]float64{1}, n)
	copy(y[n-k:], late.Y)
	copy(errs[n-k:], late.Errors)
	d, err := gppl.NewData(v.Data.X, y)
	if err != nil {
		return d, err
	}
	return d.WithErrors(errs)
}

// shapeIn returns the shape of the likelihood in a result, 0 if it has none.
func shapeIn(r *gppl.Result) float64 {
	if i := slices.IndexFunc(r.Params, func(p gppl.FittedParam) bool { return p.Name == "shape" }); i >= 0 && i == len(r.Params)-1 {
		return r.Params[i].Value
	}
	return 0
}

// withShape adds the weak prior of the shape of a likelihood.
func withShape(b beliefs, l observe.Likelihood) beliefs {
	if _, ok := l.(observe.Shaped); ok {
		b.weak, b.given = append(b.weak, prior.LogNormal{Mu: math.Log(series.StartShape), Sigma: 1.5}), append(b.given, nil)
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
