package show

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
	"github.com/projected-likelihood/gppl/pkg/viz"
	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

// Show displays the figure of the forecast for x ≥ from (see [Forecast.Figure]). In a report, readers can recompute it with
// another end of the training, more or fewer observations, or other lengthscales. It computes the likelihood that the report
// later verifies. Outside a notebook it displays nothing.
func (f *Forecast) Show(title string, from float64) error {
	drawn, err := f.Figure(title, from)
	if err != nil {
		return err
	}
	again, err := f.live(from)
	return showLive(drawn, again, err)
}

// showLive displays a figure with what is needed to recompute it, or returns err.
func showLive(f *viz.Figure, again *live.Page, err error) error {
	if err == nil {
		_, err = viz.ShowLive(f, again)
	}
	return err
}

func (f *Forecast) live(from float64) (*live.Page, error) {
	s, m := f.split, f.posterior.Model()
	loss, err := gppl.NewExact(context.Background(), m, s.Data)
	if err != nil {
		return nil, err
	}
	nll, err := loss.ValueGrad(context.Background(), nil, m.Values())
	if err != nil {
		return nil, err
	}
	again := &live.Forecast{
		Model: store.Model{Model: m}, X: s.whole.X, Y: s.whole.Y, XUnit: s.whole.XUnit, YUnit: s.whole.YUnit, Mean: s.Scaling.Mean,
		Scale: s.Scaling.Scale,
		Split: s.at, Every: s.every, From: from, Published: live.Scores{NLL: nll, Coverage: f.Coverage, RMSE: f.RMSE},
	}
	return live.Figure{Forecast: again}.Page(), nil
}

// Excess draws two negative log likelihoods against k, for observations of the model m, whose kernel must have one lengthscale:
// the exact one, and the one of k projections with their residual energy ([gppl.NewResidual], Spectral), which approaches it. In
// a report, readers can change lengthscale and noise. The reading begins at the largest k, whose numbers are verified. Excess
// fails as the two losses do.
func Excess(title string, m gppl.Model, d gppl.Data, xUnit string) error {
	return showLive(excess(title, m, d, xUnit))
}

func excess(title string, m gppl.Model, d gppl.Data, xUnit string) (*viz.Figure, *live.Page, error) {
	e := &live.Excess{Projected: live.Projected{Model: store.Model{Model: m}, X: d.X.Coordinate(0), XUnit: xUnit}, Y: d.Y}
	for _, k := range []int{4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192} {
		if 2*k <= d.Len() {
			e.K = append(e.K, k)
		}
	}
	e.At = slices.Max(e.K)
	shown, err := e.Publish()
	if err != nil {
		return nil, nil, err
	}
	curves := viz.CurvesOptions{LogX: true, Frame: viz.Frame{
		Title: title, YLabel: "negative log likelihood (nats)",
		Caption: fmt.Sprintf("%d observations and %v: at k = %d the two differ by %.2g nats.", d.Len(), m.Kernel, e.At,
			math.Abs(e.Published.Projected-e.Published.Exact)),
	}}
	return page(curves, shown, live.Figure{Excess: e})
}

// page draws a curve against k for each layer of shown. It also returns what is needed to recompute the figure.
func page(curves viz.CurvesOptions, shown *live.Shown, again live.Figure) (*viz.Figure, *live.Page, error) {
	curves.XLabel, curves.Height = "number of projections k", 330
	for _, l := range shown.Layers {
		curves.Curves = append(curves.Curves, viz.Curve{Name: l.Name, X: l.X, Y: l.Y})
	}
	f, err := viz.Curves(curves)
	return f, again.Page(), err
}

// numbersOf returns the k at which figures about information are evaluated for n observations; some may occur twice.
func numbersOf(n int) (k []int) {
	for _, share := range []int{60, 30, 20, 15, 10, 7, 5, 4, 3, 2} {
		k = append(k, max(1, n/share))
	}
	return k
}

// Lost displays the share of the Fisher information about the lengthscale of m that k Sphere projections of observations at x
// lose, as k grows, with the two terms of the paper's theorem ([fisher.Information]). In a report, readers can change lengthscale
// and noise, and choose another parameter and other directions. It fails as [fisher.New] does.
func Lost(title string, m gppl.Model, x []float64, xUnit string) error {
	return showLive(lost(title, m, x, xUnit))
}

func lost(title string, m gppl.Model, x []float64, xUnit string) (*viz.Figure, *live.Page, error) {
	l := new(live.Lost)
	l.Model, l.X, l.XUnit = store.Model{Model: m}, x, xUnit
	n := len(x)
	l.K = slices.Compact(append(numbersOf(n), 2*n/3, 5*n/6, n))
	l.At = max(1, n/5)
	shown, err := l.Publish()
	if err != nil {
		return nil, nil, err
	}
	curves := viz.CurvesOptions{Frame: viz.Frame{
		Title: title, YLabel: "information lost (%)",
		Caption: fmt.Sprintf("Information about the lengthscale that k Sphere projections of %d observations lose, and the two terms "+
			"of the loss: %v, noise variance %g. At k = %d it is %.0f %%.",
			n, m.Kernel, m.Noise, l.At, shown.Readings[len(shown.Readings)-1].Value),
	}}
	return page(curves, shown, live.Figure{Lost: l})
}

// Kept displays the share of the Fisher information about the lengthscale of m that k projections of observations at x keep, as k
// grows, for each design. In a report, readers can change lengthscale and noise, and choose another parameter. It fails as
// [fisher.New] does.
func Kept(title string, m gppl.Model, x []float64, xUnit string) error {
	return showLive(kept(title, m, x, xUnit))
}

func kept(title string, m gppl.Model, x []float64, xUnit string) (*viz.Figure, *live.Page, error) {
	// Reading 0 is the information in the data; then comes a reading for each design, Sphere first and Eigen last.
	first, last := func(s *live.Shown) float64 { return s.Readings[1].Value },
		func(s *live.Shown) float64 { return s.Readings[len(s.Readings)-1].Value }
	e := new(live.Kept)
	e.Model, e.X, e.XUnit = store.Model{Model: m}, x, xUnit
	n := len(x)
	e.K = slices.Compact(numbersOf(n))
	e.At = max(1, n/7)
	shown, noise, err := e.Publish()
	if err != nil {
		return nil, nil, err
	}
	curves := viz.CurvesOptions{Frame: viz.Frame{
		Title: title, YLabel: "information kept (%)",
		Caption: fmt.Sprintf("Information about the lengthscale that k projections of %d observations keep, by design: %v, noise "+
			"variance %g. At k = %d, Sphere keeps %.1f %%, and the top eigenvectors of K (Eigen) %.1f %%; of the information about the "+
			"noise variance, %.1f and %.1f %%.",
			n, m.Kernel, m.Noise, e.At, first(shown), last(shown), first(noise), last(noise)),
	}}
	return page(curves, shown, live.Figure{Kept: e})
}
