package gppl

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// ChannelPosterior is the Gaussian process of a ChannelModel given observations of all its channels: f, its derivative, and what
// each channel sees of it. It includes the uncertainty of the offsets. It is safe for concurrent use.
type ChannelPosterior struct {
	model   ChannelModel
	mean    *regress.Conditioned
	filter  *statespace.Filter
	sloped  bool
	inexact float64
}

// NewChannelPosterior conditions m on the observations d of the channels; see NewChannels. It takes O(n·D³).
func NewChannelPosterior(ctx context.Context, m ChannelModel, d Data, channel []int, opts ...Option) (*ChannelPosterior, error) {
	return newChannelPosterior(ctx, m, d, channel, nil, opts)
}

// NewExposurePosterior is NewChannelPosterior for observations that are averages over exposures. It predicts f at x, not
// averages.
func NewExposurePosterior(
	ctx context.Context, m ChannelModel, d Data, channel []int, exposure []float64, opts ...Option,
) (*ChannelPosterior, error) {
	if len(exposure) != d.Len() {
		panic(fmt.Sprintf("gppl: NewExposurePosterior: len(exposure) = %d, want len(d.Y) = %d", len(exposure), d.Len()))
	}
	return newChannelPosterior(ctx, m, d, channel, exposure, opts)
}

func newChannelPosterior(ctx context.Context, m ChannelModel, d Data, channel []int, exposure []float64,
	opts []Option) (post *ChannelPosterior, err error) {
	defer parallel.Stopped(&err)
	l, err := newChannels(ctx, m, d, channel, exposure, append(opts[:len(opts):len(opts)], forPosterior))
	if err != nil {
		return nil, err
	}
	c := l.calls.Get()
	if _, err := l.evaluate(ctx, c, nil, Values(m.Params())); err != nil {
		return nil, err
	}
	c.filter.Ctx = nil
	return &ChannelPosterior{model: m, mean: c.fit, filter: c.filter, sloped: differentiable(c.linear.blocks),
		inexact: l.Report().LastInexact}, nil
}

// Inexact returns the error bound, in nats, of the likelihood of the data by the same factorisation, if it could not keep the
// tolerance (LossReport.LastInexact) or if y is so far from the model that a mean may be off by more than 0.01 standard
// deviations, else 0. Means and variances may then be off by much more than rounding.
func (p *ChannelPosterior) Inexact() float64 { return p.inexact }

// Function returns the mean and variance of f at each x: the process itself, without offsets. x is scalar and finite.
func (p *ChannelPosterior) Function(ctx context.Context, x []float64) (mean, variances []float64, err error) {
	return p.view(ctx, x, len(p.model.Channels), -1)
}

// Derivative returns the mean and variance of f′, per unit of x. It is an error if f has none, or with exposures.
func (p *ChannelPosterior) Derivative(ctx context.Context, x []float64) (mean, variances []float64, err error) {
	if !p.sloped {
		return nil, nil, fmt.Errorf("gppl: the derivative of %v is not available, or the observations are averages over exposures",
			p.model.Kernel)
	}
	return p.view(ctx, x, len(p.model.Channels)+1, -1)
}

// Channel returns the mean and variance of what the channel with the given index sees, its offset included but not its noise: a
// new observation has the noise variance in addition. It panics if there is no such channel.
func (p *ChannelPosterior) Channel(ctx context.Context, channel int, x []float64) (mean, variances []float64, err error) {
	if channel < 0 || channel >= len(p.model.Channels) {
		panic(fmt.Sprintf("gppl: ChannelPosterior.Channel: channel = %d, and there are %d", channel, len(p.model.Channels)))
	}
	return p.view(ctx, x, channel, channel)
}

// Offsets returns the offset of each channel, and then the coefficients of the model's Mean.
func (p *ChannelPosterior) Offsets() []Coefficient { return coefficients(p.mean) }

// view returns what a view of the filter sees, with the offset of a channel unless that is −1.
func (p *ChannelPosterior) view(ctx context.Context, x []float64, view, offset int) (mean, variances []float64, err error) {
	defer parallel.Stopped(&err)
	n, cols := len(x), p.mean.Len()
	mean, variances = make([]float64, n), make([]float64, n)
	if n == 0 {
		return mean, variances, nil
	}
	if err := Scalars(x).check("x"); err != nil {
		return nil, nil, err
	}
	views, means := slices.Repeat([]int{view}, n), dense.New(n, cols)
	row := mat.NewDense(1, cols-1, nil)
	if offset >= 0 {
		row.Set(0, offset, 1)
	}
	q := p.mean.Basis.Apply(row).RawRowView(0)
	reader := p.filter.Reader()
	reader.Ctx = ctx
	reader.PosteriorOf(means, variances, x, views)
	for i := range mean {
		m, more := p.mean.PredictSharply(q, means.Data[i*means.Stride:][:cols])
		mean[i] = m
		variances[i] += more
	}
	return mean, variances, nil
}
