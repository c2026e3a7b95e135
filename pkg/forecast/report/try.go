package report

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
	"github.com/projected-likelihood/gppl/pkg/viz"
	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

// tryFigure draws the forecast of the best model alone, at the learnt parameters, and returns what a page needs so that its
// reader can try others (viz.Figure.LiveHTML): the kernels that the forecast averages, rougher and smoother ones, other
// lengthscales and seasons, another horizon, the series without one observation. The error is forecast.ErrNotPlain if a page
// cannot compute it.
func tryFigure(ctx context.Context, a *forecast.Analysis, f *forecast.Forecast) (*viz.Figure, *live.Page, error) {
	models, err := a.Learnt(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, data := a.Series, models[0].Data
	n := data.Len()
	least := math.Sqrt(slices.Min(f.NoisyVar))
	again := &live.Fitted{X: s.X[len(s.X)-n:], Y: s.Y[len(s.Y)-n:], Steps: len(f.X), XUnit: s.Axis.Unit, YUnit: s.YUnit,
		Digits: min(max(0, decimals(least)+1), 12), Widen: max(1, a.Widen)}
	if again.Ahead, err = s.Next(2 * len(f.X)); err != nil {
		return nil, nil, err
	}
	first := max(recent(s, f), len(s.X)-n, len(s.X)-mostDrawn)
	for _, x := range s.X[first:] {
		again.Texts = append(again.Texts, s.Axis.Text(x))
	}
	closed := empty(s, &forecast.Forecast{X: again.Ahead})
	for _, x := range append(s.Drawn(s.X[first], s.X[len(s.X)-1]), s.DrawnAhead(again.Ahead)...) {
		if !closed(x) {
			again.Drawn = append(again.Drawn, x)
		}
	}
	view := map[bool]int{}
	for _, m := range models {
		v, known := view[m.Log]
		if !known {
			v = len(again.Views)
			view[m.Log] = v
			again.Views = append(again.Views, live.View{Log: m.Log, Mean: m.Scaling.Mean, Scale: m.Scaling.Scale,
				Z: m.Data.Y, Errors: m.Data.Errors, Relative: m.Data.Relative, Typical: m.Typical})
		}
		again.Models = append(again.Models, live.Learnt{Name: m.Name, Model: store.Model{Model: m.Model}, View: v})
	}
	names, others := forecast.Smoothness(models[0].Model)
	for i, m := range others {
		again.Models = append(again.Models, live.Learnt{Name: names[i] + ", not learnt", Model: store.Model{Model: m}})
	}
	shown, err := again.Publish()
	if err != nil {
		return nil, nil, err
	}
	layer := func(kind, name string) live.Layer {
		return shown.Layers[slices.IndexFunc(shown.Layers, func(l live.Layer) bool {
			return l.Kind == kind && (name == "" || l.Name == name)
		})]
	}
	span, dots, mean, wide, latent := layer("span", ""), layer("dots", ""), layer("line", ""),
		layer("band", live.BandY), layer("band", live.BandF)
	average := ""
	if len(models) > 1 {
		average = " The forecast above averages it with others."
	}
	fig, err := viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title: "Other parameters, other forecasts", XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: s.YLabel(), Width: 960,
			Caption: fmt.Sprintf("Posterior of %s at the parameters that were learnt, given %d observations: "+
				"the negative log likelihood of the standardised series is %s nats.%s",
				models[0].Name, n, viz.Fixed(3)(again.Published.NLL), average),
		},
		Observed: viz.Points{X: dots.X, Y: dots.Y},
		Predictions: []viz.Prediction{{Name: live.Expected, X: mean.X, Mean: mean.Y,
			LatentVar: squares(latent), NoisyVar: squares(wide), Lower: wide.Lo, Upper: wide.Hi}},
		Spans: []viz.Span{{From: span.Lo[0], To: span.Hi[0], Label: span.Name}}, Ends: true,
	})
	return fig, live.Figure{Fitted: again}.Page(), err
}

// mostDrawn is the largest number of observations that tryFigure draws; each of them can be left out.
const mostDrawn = 1000

// squares returns the variances of normal distributions whose 95 % bands are as wide as a layer's.
func squares(l live.Layer) (out []float64) {
	for i := range l.Lo {
		sd := (l.Hi[i] - l.Lo[i]) / (2 * forecast.Quantile95)
		out = append(out, sd*sd)
	}
	return out
}
