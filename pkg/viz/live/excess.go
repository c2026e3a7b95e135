package live

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Excess compares two likelihoods of one series at the same parameters: the exact one, and the likelihood of the k lowest
// Spectral projections with their residual energy (gppl.NewResidual), as k grows. The kernel has one lengthscale.
type Excess struct {
	Projected
	Y         []float64 `json:"y"`
	Published Losses    `json:"published"`

	exact     *gppl.Exact
	projected []*gppl.Projected // loss for each k
	theta     []float64         // the latest parameters, at which nll and losses were computed
	nll       float64
	losses    []float64
}

// Losses are negative log likelihoods in nats: of all observations, and of At projections with their residual energy.
type Losses struct {
	Exact     float64 `json:"exact"`
	Projected float64 `json:"projected"`
}

// neededRatio is the ratio of signal to noise down to which projections are counted as needed, 2·ξ_c·range in notebook 09.
const neededRatio = 0.1

// Controls returns the lengthscale, the noise variance, and the k whose numbers are read.
func (e *Excess) Controls() []Control {
	return append(e.sliders(), e.readAt())
}

func (e *Excess) check() error {
	if err := e.Projected.check(); err != nil {
		return err
	}
	d, err := e.data()
	if err != nil {
		return err
	}
	if e.exact, err = gppl.NewExact(context.Background(), e.Model.Model, d); err != nil {
		return err
	}
	e.projected = nil
	for _, k := range e.K {
		l, err := e.residual(d, k)
		if err != nil {
			return err
		}
		e.projected = append(e.projected, l)
	}
	return nil
}

func (e *Excess) data() (gppl.Data, error) { return gppl.NewData(gppl.Scalars(e.X), e.Y) }

func (e *Excess) residual(d gppl.Data, k int, opts ...gppl.Option) (*gppl.Projected, error) {
	omega, err := gppl.SpectralProjection(context.Background(), d.X, k)
	if err != nil {
		return nil, err
	}
	return gppl.NewResidual(context.Background(), e.Model.Model, d, omega, opts...)
}

// Publish computes what the figure shows at its own parameters, and keeps it as published.
func (e *Excess) Publish() (*Shown, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	shown, err := e.at([]float64{e.Model.Values()[e.lengthscale()], e.Model.Noise, float64(e.At)})
	if err != nil {
		return nil, err
	}
	e.Published = Losses{e.nll, e.losses[slices.Index(e.K, e.At)]}
	return shown, nil
}

// evaluate computes all losses at theta, unless it already has them.
func (e *Excess) evaluate(theta []float64) (err error) {
	if slices.Equal(theta, e.theta) {
		return nil
	}
	e.theta = nil
	if e.nll, err = e.exact.ValueGrad(context.Background(), nil, theta); err != nil {
		return err
	}
	e.losses = make([]float64, len(e.K))
	for i, l := range e.projected {
		if e.losses[i], err = l.ValueGrad(context.Background(), nil, theta); err != nil {
			return fmt.Errorf("k = %d: %w", e.K[i], err)
		}
	}
	e.theta = theta
	return nil
}

func (e *Excess) at(values []float64) (*Shown, error) {
	at := slices.Index(e.K, int(values[2]))
	if at < 0 {
		return nil, fmt.Errorf("live: k = %g is none of %v", values[2], e.K)
	}
	theta := e.move(values[0], values[1])
	if err := e.evaluate(theta); err != nil {
		return nil, err
	}
	needed, err := e.Model.WithParams(theta).SpectralColumns(gppl.Data{X: gppl.Scalars(e.X)}, neededRatio)
	if err != nil {
		return nil, err
	}
	k := e.k()
	excess := e.losses[at] - e.nll
	return &Shown{
		Title: fmt.Sprintf("Of %d projections with their residual energy, the likelihood is %.2g nats from the exact one", e.K[at],
			math.Abs(excess)),
		Caption: fmt.Sprintf("%d observations and %v, noise variance %.3g; the spectrum needs %d projections.", len(e.X),
			e.Model.WithParams(theta).Kernel, values[1], needed),
		By: byEngine(e.exact.Report().Engine),
		Layers: []Layer{
			{Kind: "line", Name: "exact", X: k, Y: slices.Repeat([]float64{e.nll}, len(k))},
			{Kind: "line", Name: "k projections and their residual energy", X: k, Y: slices.Clone(e.losses)},
		},
		Readings: []Reading{
			{Name: "exact negative log likelihood", Unit: "nats", Value: e.nll, Digits: 3},
			{Name: fmt.Sprintf("of %d projections and the residual energy", e.K[at]), Unit: "nats", Value: e.losses[at], Digits: 3},
			{Name: "excess", Unit: "nats", Value: excess, Digits: 3},
			{Name: "projections that the spectrum needs", Value: float64(needed)},
		},
	}, nil
}

// verify computes both published likelihoods by the engines that are chosen, and by dense linear algebra.
func (e *Excess) verify() (checks []Check, err error) {
	d, err := e.data()
	if err != nil {
		return nil, err
	}
	theta := e.Model.Values()
	for _, engine := range []string{"", gppl.EngineDense} {
		exact, err := gppl.NewExact(context.Background(), e.Model.Model, d, gppl.WithEngine(engine))
		if err != nil {
			return nil, err
		}
		projected, err := e.residual(d, e.At, gppl.WithEngine(engine))
		if err != nil {
			return nil, err
		}
		nll, err := exact.ValueGrad(context.Background(), nil, theta)
		if err != nil {
			return nil, err
		}
		loss, err := projected.ValueGrad(context.Background(), nil, theta)
		if err != nil {
			return nil, err
		}
		allowed := perObservation * float64(d.Len())
		checks = append(checks,
			newCheck("exact negative log likelihood", "nats", byEngine(exact.Report().Engine), e.Published.Exact, nll, allowed),
			newCheck(fmt.Sprintf("the same of %d projections and the residual energy", e.At), "nats",
				byEngine(projected.Report().Engine), e.Published.Projected, loss, allowed))
	}
	return checks, nil
}
