package show

import (
	"github.com/projected-likelihood/gppl/internal/live"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Show displays the figure of the forecast for x ≥ from (see [Forecast.Figure]), which a report lets its reader compute again: with another
// end of the training, fewer or more observations, other lengthscales. It computes the likelihood that the report then verifies. Outside a
// notebook it displays nothing.
func (f *Forecast) Show(title string, from float64) error {
	drawn, err := f.Figure(title, from)
	if err != nil {
		return err
	}
	again, err := f.live(from)
	if err != nil {
		return err
	}
	_, err = viz.ShowLive(drawn, again)
	return err
}

// page is what the script of a page reads of a live figure.
type page struct {
	Controls []live.Control `json:"controls"`
	Figure   figure         `json:"figure"`
}

type figure struct {
	Forecast *live.Forecast `json:"forecast"`
}

func (f *Forecast) live(from float64) (*page, error) {
	s, m := f.split, f.posterior.Model()
	loss, err := gppl.NewExact(m, s.Data)
	if err != nil {
		return nil, err
	}
	nll, err := loss.ValueGrad(nil, m.Values())
	if err != nil {
		return nil, err
	}
	again := &live.Forecast{
		Model: m, X: s.whole.X, Y: s.whole.Y, XUnit: s.whole.XUnit, YUnit: s.whole.YUnit, Mean: s.Scaling.Mean, Scale: s.Scaling.Scale,
		Split: s.at, Every: s.every, From: from, Published: live.Scores{NLL: nll, Coverage: f.Coverage, RMSE: f.RMSE},
	}
	return &page{again.Controls(), figure{again}}, nil
}
