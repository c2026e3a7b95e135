package live

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// Forecast is a learnt model of the first part of a series and its forecast of the rest, in the units of the series. The model is
// fitted to standardised observations, (y − Mean)/Scale. While a reader moves the controls, Mean and Scale of the published
// figure stay, so that parameter values keep their meaning.
type Forecast struct {
	Model     store.Model `json:"model"`
	X         []float64   `json:"x"` // places of the observations, ascending
	Y         []float64   `json:"y"`
	XUnit     string      `json:"xUnit"`
	YUnit     string      `json:"yUnit"`
	Mean      float64     `json:"mean"`
	Scale     float64     `json:"scale"`
	Split     float64     `json:"split"` // observations before it are for training
	Every     int         `json:"every"` // the model is trained on every Every-th of these
	From      float64     `json:"from"`  // x where the figure begins
	Published Scores      `json:"published"`

	trained trained
}

// Scores are the scores of the published forecast: the negative log likelihood of the observations trained on, in nats, and the
// share of held-out observations within the 95 % band and their root mean square error.
type Scores struct {
	NLL      float64 `json:"nll"`
	Coverage float64 `json:"coverage"`
	RMSE     float64 `json:"rmse"`
}

// trained holds what depends only on the observations trained on. It is kept while parameters move.
type trained struct {
	split float64
	every int
	data  gppl.Data
	x, y  []float64 // observations of data, in the units of the series
	from  int       // index of the first observation that is held out
	exact *gppl.Exact
	k     int
	pl    *gppl.Projected
}

const (
	drawn = 1.96          // half width of a band that is drawn, in standard deviations, as in pkg/viz
	half  = 1.95996398454 // half width of the band whose coverage is counted: the 97.5 % quantile of N(0, 1)
	seed  = 1             // seed of the projections
)

// learnt returns the indices of the parameters that have controls: the lengthscales, which say what a forecast believes.
func (f *Forecast) learnt() (at []int) {
	for i, p := range f.Model.Params() {
		if p.Role == gppl.RoleLengthscale {
			at = append(at, i)
		}
	}
	return at
}

// Controls returns the split, how many observations are left out between two that are trained on, the lengthscales, and the
// number k of projections.
func (f *Forecast) Controls() []Control {
	var splits []float64
	end := f.X[len(f.X)-1]
	for s := math.Ceil(f.From + 1); s < end-0.5; s++ {
		splits = append(splits, s)
	}
	controls := []Control{
		among("Train on data before", "", f.Split, splits...),
		among("Keep one observation in", "", float64(f.Every), 1, 2, 4, 8, 16, 32, 64),
	}
	params := f.Model.Params()
	for _, i := range f.learnt() {
		term, _, _ := strings.Cut(params[i].Name, ".")
		controls = append(controls, around("Lengthscale of "+term, f.XUnit, params[i].Value, 10))
	}
	return append(controls, among("Projections k", "", 32, 4, 8, 16, 32, 64, 128))
}

func (f *Forecast) check() error {
	if len(f.X) != len(f.Y) {
		return fmt.Errorf("live: a series of %d times and %d observations", len(f.X), len(f.Y))
	}
	if !sort.Float64sAreSorted(f.X) {
		return fmt.Errorf("live: the times of the series do not ascend")
	}
	if !(f.Scale > 0) {
		return fmt.Errorf("live: the observations have the scale %v; want a positive one", f.Scale)
	}
	return f.Model.Check()
}

// train makes the losses of the observations before split, unless they are kept.
func (f *Forecast) train(split float64, every int) error {
	if t := &f.trained; t.exact != nil && t.split == split && t.every == every {
		return nil
	}
	if every < 1 {
		return fmt.Errorf("live: one observation of %d", every)
	}
	t := trained{split: split, every: every, from: sort.SearchFloat64s(f.X, split)}
	var z []float64
	for i := 0; i < t.from; i += every {
		t.x, t.y = append(t.x, f.X[i]), append(t.y, f.Y[i])
		z = append(z, (f.Y[i]-f.Mean)/f.Scale)
	}
	var err error
	if t.data, err = gppl.NewData(gppl.Scalars(t.x), z); err != nil {
		return err
	}
	if t.exact, err = gppl.NewExact(context.Background(), f.Model.Model, t.data); err != nil {
		return err
	}
	f.trained = t
	return nil
}

// project makes the loss that sees the observations through k projections.
func (f *Forecast) project(k int) error {
	t := &f.trained
	if k = min(k, t.data.Len()); t.pl != nil && t.k == k {
		return nil
	}
	omega, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, t.data.X, k, seed)
	if err != nil {
		return err
	}
	pl, err := gppl.NewProjected(context.Background(), f.Model.Model, t.data, omega)
	if err != nil {
		return err
	}
	t.k, t.pl = k, pl
	return nil
}

func (f *Forecast) at(values []float64) (*Shown, error) {
	learnt := f.learnt()
	if err := f.train(values[0], int(values[1])); err != nil {
		return nil, err
	}
	theta := f.Model.Values()
	for j, i := range learnt {
		theta[i] = values[2+j]
	}
	t := &f.trained
	nll, err := t.exact.ValueGrad(context.Background(), nil, theta)
	if err != nil {
		return nil, err
	}
	if err := f.project(int(values[len(values)-1])); err != nil {
		return nil, err
	}
	pl, err := t.pl.ValueGrad(context.Background(), nil, theta)
	if err != nil {
		return nil, err
	}
	c, err := f.curves(f.Model.WithParams(theta))
	if err != nil {
		return nil, err
	}
	n := float64(t.data.Len())
	return &Shown{
		Title: fmt.Sprintf("Trained on %g observations before %g: the 95 %% band holds %.0f %% of those after it", n, t.split,
			100*c.coverage),
		Caption: fmt.Sprintf("Forecast with 95 %% bands for the function (dark) and for a new observation (light), and what was then "+
			"observed: %v.", f.Model.WithParams(theta).Kernel),
		By:     byEngine(c.engine),
		Layers: c.layers(t, f),
		Readings: []Reading{
			{Name: "observations trained on", Value: n},
			{Name: "exact negative log likelihood", Unit: "nats", Value: nll, Digits: 3},
			{Name: "the same per observation", Unit: "nats", Value: nll / n, Digits: 4},
			{Name: fmt.Sprintf("PL of %d projections, per projection", t.k), Unit: "nats", Value: pl / float64(t.k), Digits: 4},
			{Name: "held-out observations in the 95 % band", Unit: "%", Value: 100 * c.coverage, Digits: 1},
			{Name: "root mean square error", Unit: f.YUnit, Value: c.rmse, Digits: 3},
		},
	}, nil
}

// curves holds a forecast where the figure draws it, and then where observations are held out, with its scores.
type curves struct {
	*predicted
	count          int // number of points that the figure draws
	coverage, rmse float64
	engine         string // engine of the posterior
}

// curves predicts by the exact posterior of a model.
func (f *Forecast) curves(m gppl.Model, opts ...gppl.Option) (*curves, error) {
	p, err := gppl.NewPosterior(context.Background(), m, f.trained.data, opts...)
	if err != nil {
		return nil, err
	}
	end := f.X[len(f.X)-1]
	x := timeline.Drawn(f.X, f.Y, f.From, end)
	held, y := f.X[f.trained.from:], f.Y[f.trained.from:]
	all, err := predict(p, View{Mean: f.Mean, Scale: f.Scale}, slices.Concat(x, held), end, 1)
	if err != nil {
		return nil, err
	}
	points := len(x)
	c := &curves{predicted: all, engine: p.Engine(), count: points}
	within := 0
	for i, v := range y {
		off := v - c.mean[points+i]
		c.rmse += off * off / float64(len(y))
		if math.Abs(off) <= half*c.wide[points+i] {
			within++
		}
	}
	c.coverage = float64(within) / float64(len(y))
	c.rmse = math.Sqrt(c.rmse)
	return c, nil
}

// layers returns the same layers, by kind and name, as the figure of show.Forecast.
func (c *curves) layers(t *trained, f *Forecast) []Layer {
	x, first := c.x[:c.count], sort.SearchFloat64s(t.x, f.From)
	return []Layer{
		{Kind: "span", Name: "forecast", Lo: []float64{t.split}, Hi: f.X[len(f.X)-1:]},
		band(BandY, x, c.mean, c.wide, drawn, c.value),
		band(BandF, x, c.mean, c.latent, drawn, c.value),
		{Kind: "dots", Name: "trained on", X: t.x[first:], Y: t.y[first:]},
		{Kind: "dots", Name: "held out", X: f.X[t.from:], Y: f.Y[t.from:]},
		{Kind: "line", Name: "forecast", X: x, Y: c.mean[:c.count]},
	}
}

// verify computes the published likelihood and scores by the engine that is chosen, and by another that takes the model.
func (f *Forecast) verify() ([]Check, error) {
	if err := f.train(f.Split, f.Every); err != nil {
		return nil, err
	}
	return twice(f.Model.Model, f.trained.data, f.trained.exact, f.compare)
}

// compare computes the published numbers by a likelihood and by a posterior with the same options.
func (f *Forecast) compare(exact *gppl.Exact, opts ...gppl.Option) ([]Check, error) {
	nll, err := exact.ValueGrad(context.Background(), nil, f.Model.Values())
	if err != nil {
		return nil, err
	}
	c, err := f.curves(f.Model.Model, opts...)
	if err != nil {
		return nil, err
	}
	const relative = 1e-6 // share of a root mean square error
	by := byEngine(c.engine)
	return []Check{
		newCheck("exact negative log likelihood", "nats", by, f.Published.NLL, nll, perObservation*float64(f.trained.data.Len())),
		newCheck("share of held-out observations in the 95 % band", "%", by, 100*f.Published.Coverage, 100*c.coverage, relative),
		newCheck("root mean square error", f.YUnit, by, f.Published.RMSE, c.rmse, relative*f.Published.RMSE),
	}, nil
}
