package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// viewedPosterior is the posterior of f, its derivative and the signal in each channel, given observations of channels or
// averages over exposures.
type viewedPosterior struct {
	filter *statespace.Filter
	views  int  // number of views of the observations; f's follows, then f′'s
	sloped bool // whether f has a derivative
}

// posterior is Exact.Posterior.
func (l *viewed) posterior(ctx context.Context, theta []float64) (*Posterior, error) {
	of := *l
	of.options.posterior, of.tally, of.calls = true, new(tally), new(parallel.Pool[viewedCall])
	c := of.calls.Get()
	if _, err := of.evaluate(ctx, c, nil, theta); err != nil {
		return nil, err
	}
	c.filter.Ctx = nil // predictions have their own context, not the evaluation's
	inexact := of.tally.get().LastInexact
	return &Posterior{model: l.model.WithParams(theta), engine: EngineStateSpace, dim: 1, inexact: inexact, mean: c.fit,
		viewed: &viewedPosterior{filter: c.filter, views: len(c.channels), sloped: differentiable(c.linear.blocks)}}, nil
}

// Derivative returns the mean and variance of f′ at each x, per unit of x, for a model with channels. It returns an error if f
// has no derivative, or if the observations are averages over exposures.
func (p *Posterior) Derivative(ctx context.Context, x Inputs) (mean, variances []float64, err error) {
	switch {
	case len(p.model.Channels) == 0:
		return nil, nil, errNoChannels("Derivative")
	case !p.viewed.sloped:
		return nil, nil, fmt.Errorf("gppl: the derivative of %v is not available, or the observations are averages over exposures",
			p.model.Kernel)
	}
	return p.view(ctx, x, p.viewed.views+1, nil)
}

// Channel returns the mean and variance of the signal in a channel at each x, with its offset and without its noise: a new
// observation adds the noise variance. It panics if there is no channel with this index.
func (p *Posterior) Channel(ctx context.Context, channel int, x Inputs) (mean, variances []float64, err error) {
	if len(p.model.Channels) == 0 {
		return nil, nil, errNoChannels("Channel")
	}
	if channel < 0 || channel >= len(p.model.Channels) {
		panic(fmt.Sprintf("gppl: Posterior.Channel: channel = %d, and there are %d", channel, len(p.model.Channels)))
	}
	offset := mat.NewDense(1, p.columns()-1, nil)
	offset.Set(0, channel, 1)
	return p.view(ctx, x, channel, offset)
}

// errNoChannels is the error of a method that requires channels when the model has none.
func errNoChannels(method string) error {
	return fmt.Errorf("gppl: Posterior.%s requires a model with Channels: use Latent or Noisy", method)
}

// function returns the mean and variance of f at each x: with channels the process alone, otherwise with the mean.
func (p *Posterior) function(ctx context.Context, x Inputs) (mean, variances []float64, err error) {
	var h *mat.Dense
	if len(p.model.Channels) == 0 && p.model.Mean != nil {
		if err := x.check("x"); err != nil {
			return nil, nil, err
		}
		if h, err = basisAt(p.model.Mean, x); err != nil {
			return nil, nil, err
		}
	}
	return p.view(ctx, x, p.viewed.views, h)
}

// view returns the mean and variance of a view of the filter at each x. h has the columns of the mean, one row for each x or
// one for all, or is nil for a mean of 0.
func (p *Posterior) view(ctx context.Context, x Inputs, view int, h *mat.Dense) (mean, variances []float64, err error) {
	defer parallel.Stopped(&err)
	p.checkDim(x)
	n, cols := x.Len(), p.columns()
	mean, variances = make([]float64, n), make([]float64, n)
	if n == 0 {
		return mean, variances, nil
	}
	if err := x.check("x"); err != nil {
		return nil, nil, err
	}
	views, means := make([]int, n), dense.New(n, cols)
	for i := range views {
		views[i] = view
	}
	reader := p.viewed.filter.Reader()
	reader.Ctx = ctx
	reader.PosteriorOf(means, variances, x.at, views)
	if p.mean == nil {
		return means.Data, variances, nil
	}
	if h == nil {
		h = mat.NewDense(1, cols-1, nil)
	}
	q := p.mean.Basis.Apply(h)
	rows, _ := q.Dims()
	for i := range mean {
		m, more := p.mean.PredictSharply(q.RawRowView(i%rows), means.Data[i*means.Stride:][:cols])
		mean[i] = m
		variances[i] += more
	}
	return mean, variances, nil
}
