// Package casestudy shows what each feature of a model changes on one series: a mean, error bars, Student-t noise, a change of
// slope, uncertain parameters, and scores by leave-one-out compared with those of a backtest. Notebook 11 calls it.
//
// A study trains two models on the same observations, one with the feature and one without, and scores both on held-out
// observations.
package casestudy

import (
	"context"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Contender is one model of a study.
type Contender struct {
	Name   string
	Scores judge.Scores // on the held-out observations
	Said   string       // a message from training
	grid   band
}

// band is the forecast of a new observation that a figure shows.
type band struct{ mean, variance []float64 }

// Study compares contenders on one series.
type Study struct {
	Title          string
	XLabel, YLabel string
	Train, Held    gppl.Data
	Contenders     []Contender
	Remarks        []string
	grid           []float64
}

// levels are the levels of the intervals that are scored; tables show the first.
var levels = []float64{0.95}

// predictor is a conditioned model: it returns the distribution of new observations.
type predictor func(x gppl.Inputs) (judge.Predictive, error)

// ofPosterior makes a predictor of a posterior.
func ofPosterior(p *gppl.Posterior) predictor {
	return func(x gppl.Inputs) (judge.Predictive, error) {
		mean, variances, err := p.Noisy(context.Background(), x)
		return judge.Gaussian{Mu: mean, Variance: variances}, err
	}
}

// ofMixture makes a predictor of a function that predicts mixtures.
func ofMixture(predict func(x gppl.Inputs) (*draws.Mixture, error)) predictor {
	return func(x gppl.Inputs) (judge.Predictive, error) {
		m, err := predict(x)
		return judge.PredictiveMixture(m), err
	}
}

// add scores a contender on the held-out observations, and predicts on the grid of the figure.
func (s *Study) add(name, said string, p predictor) error {
	held, err := p(s.Held.X)
	if err != nil {
		return fmt.Errorf("casestudy: %s, %s: %w", s.Title, name, err)
	}
	c := Contender{Name: name, Said: said}
	if c.Scores, err = judge.ScoresOf(held, s.Held.Y, s.Train.Y, 1, levels); err != nil {
		return fmt.Errorf("casestudy: %s, %s: %w", s.Title, name, err)
	}
	on, err := p(gppl.Scalars(s.grid))
	if err != nil {
		return fmt.Errorf("casestudy: %s, %s: %w", s.Title, name, err)
	}
	c.grid = band{mean: on.Quantile(0.5), variance: make([]float64, len(s.grid))}
	for i, hi := range on.Quantile(0.975) { // a figure draws 1.96 standard deviations
		sd := (hi - c.grid.mean[i]) / forecast.Quantile95
		c.grid.variance[i] = sd * sd
	}
	s.Contenders = append(s.Contenders, c)
	return nil
}

// Table compares the contenders.
func (s *Study) Table() *viz.Table {
	t := &viz.Table{
		Caption: s.Title,
		Columns: []viz.Column{
			{Name: "model"}, {Name: "held out within the 95 % band", Format: viz.Percent(0)}, {Name: "mean width of the band"},
			{Name: "RMSE", Best: true}, {Name: "NLPD", Unit: "nats", Best: true}, {Name: "CRPS", Best: true},
		},
		Notes: append([]string{fmt.Sprintf("%d observations to train on, %d held out.", s.Train.Len(), s.Held.Len())}, s.Remarks...),
	}
	for _, c := range s.Contenders {
		i := c.Scores.Intervals[0]
		t.Rows = append(t.Rows, []any{c.Name, i.Coverage, i.Width, c.Scores.RMSE, c.Scores.NLPD, c.Scores.CRPS})
	}
	return t
}

// Figure draws the observations and the bands.
func (s *Study) Figure() (*viz.Figure, error) {
	o := viz.SeriesOptions{
		Frame: viz.Frame{Title: s.Title, XLabel: s.XLabel, YLabel: s.YLabel,
			Caption: "What was trained on, what was held out, and the 95 % band of each model."},
		Observed: s.drawn(s.Train),
		HeldOut:  s.drawn(s.Held),
		Panels:   true,
	}
	for _, c := range s.Contenders {
		o.Predictions = append(o.Predictions, viz.Prediction{Name: c.Name, X: s.grid, Mean: c.grid.mean, NoisyVar: c.grid.variance})
	}
	return viz.Series(o)
}

// Said returns the messages of training, a line for each contender.
func (s *Study) Said() (lines []string) {
	for _, c := range s.Contenders {
		if c.Said != "" {
			lines = append(lines, c.Name+": "+c.Said)
		}
	}
	return lines
}

// drawn are the observations from the start of the figure on.
func (s *Study) drawn(d gppl.Data) (p viz.Points) {
	for i, x := range d.X.Coordinate(0) {
		if x >= s.grid[0] {
			p.X, p.Y = append(p.X, x), append(p.Y, d.Y[i])
		}
	}
	return p
}

// coefficients prints the coefficients of a mean.
func coefficients(all []gppl.Coefficient) (text string) {
	for i, c := range all {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %.4g ± %.2g", c.Name, c.Value, c.StdErr)
	}
	return text
}

// fitAuto trains m by auto.Fit and returns the posterior.
func fitAuto(ctx context.Context, m gppl.Model, d gppl.Data) (*auto.Result, *gppl.Posterior, error) {
	r, err := auto.Fit(ctx, m, d, auto.Settings{})
	if err != nil {
		return nil, nil, err
	}
	p, err := gppl.NewPosterior(ctx, r.Model, d)
	return r, p, err
}
