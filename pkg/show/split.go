package show

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Split is a series cut in two: the part that a model may use, and the held-out part after it.
type Split struct {
	Train   dataset.Series // in the unit of the series
	Held    dataset.Series // all observations at the cut or after it
	Data    gppl.Data      // Train, standardised
	Scaling dataset.Scaling

	whole dataset.Series // all observations, before thinning
	at    float64        // x of the cut
	every int            // the model is trained on every every-th observation before the cut
}

// String describes both parts, in the unit of the series.
func (s *Split) String() string { return fmt.Sprintf("train on %v; held out: %v", s.Train, s.Held) }

// SplitAt cuts a series at x. It keeps every every-th of the observations before x for training (1 keeps all). It returns an
// error if either side is empty, and fails as [gppl.NewData] does.
func SplitAt(s dataset.Series, x float64, every int) (*Split, error) {
	if every < 1 {
		panic(fmt.Sprintf("show: SplitAt: every = %d; want at least 1", every))
	}
	before, held := s.Between(math.Inf(-1), x), s.Between(x, math.Inf(1))
	if before.Len() == 0 || held.Len() == 0 {
		return nil, fmt.Errorf("show: cut at %g, the series has %d observations before and %d after; want "+
			"some of both", x, before.Len(), held.Len())
	}
	var kept []int
	for i := 0; i < before.Len(); i += every {
		kept = append(kept, i)
	}
	sp := &Split{Train: before.Select(kept), Held: held, whole: s, at: x, every: every}
	z, scaling := sp.Train.Standardize()
	data, err := gppl.NewData(gppl.Scalars(z.X), z.Y)
	if err != nil {
		return nil, err
	}
	sp.Data, sp.Scaling = data, scaling
	return sp, nil
}

// level is the nominal coverage of a band.
const level = 0.95

// Forecast has the scores of a model's prediction of the held-out observations; Width and RMSE are in their unit.
type Forecast struct {
	Name        string
	Unit        string
	N           int     // number of held-out observations
	Coverage    float64 // share of the held-out observations within the 95 % band
	Width       float64 // mean width of the band
	RMSE        float64
	NLPD        float64 // negative log density per observation, nats
	posterior   *gppl.Posterior
	split       *Split
	horizonFrom float64
}

// Forecast predicts the held-out observations with the model m, without training it. It fails as [gppl.NewPosterior] and
// [gppl.Posterior.Noisy] do.
func (s *Split) Forecast(name string, m gppl.Model) (*Forecast, error) {
	p, err := gppl.NewPosterior(context.Background(), m, s.Data)
	if err != nil {
		return nil, err
	}
	mean, variance, err := p.Noisy(context.Background(), gppl.Scalars(s.Held.X))
	if err != nil {
		return nil, err
	}
	mean, variance = s.Scaling.Values(nil, mean), s.Scaling.Variances(nil, variance)
	f := &Forecast{Name: name, Unit: s.Held.YUnit, N: s.Held.Len(), posterior: p, split: s, horizonFrom: slices.Min(s.Held.X)}
	f.score(s.Held.Y, mean, variance)
	return f, nil
}

// score compares observations with normal distributions that predict them.
func (f *Forecast) score(y, mean, variance []float64) {
	below, above := numeric.NormalQuantile(0.5*(1-level)), numeric.NormalQuantile(0.5*(1+level))
	for i, m := range mean {
		sd := math.Sqrt(variance[i])
		lo, hi := m+below*sd, m+above*sd
		if lo <= y[i] && y[i] <= hi {
			f.Coverage++
		}
		f.Width += hi - lo
		f.RMSE += (y[i] - m) * (y[i] - m)
		f.NLPD += 0.5*math.Log(2*math.Pi*variance[i]) + 0.5*(y[i]-m)*(y[i]-m)/variance[i]
	}
	n := float64(len(y))
	f.Coverage, f.Width, f.RMSE, f.NLPD = f.Coverage/n, f.Width/n, math.Sqrt(f.RMSE/n), f.NLPD/n
}

// label names an axis with its unit.
func label(name, unit string) string {
	if strings.EqualFold(unit, name) {
		return name
	}
	return text.WithUnit(name, unit)
}

// String says how many of the held-out observations lie within the band, and the error of the mean.
func (f *Forecast) String() string {
	return fmt.Sprintf("%s: the %.0f %% band holds %.0f %% of the %d held-out observations, and the root mean square error is "+
		"%.2f %s.",
		f.Name, 100*level, 100*f.Coverage, f.N, f.RMSE, f.Unit)
}

// Figure draws the forecast with its bands and the held-out observations, for x ≥ from.
func (f *Forecast) Figure(title string, from float64) (*viz.Figure, error) {
	s := f.split
	end := slices.Max(s.Held.X)
	x := timeline.Drawn(s.whole.X, s.whole.Y, from, end)
	mean, latent, err := f.posterior.Latent(context.Background(), gppl.Scalars(x))
	if err != nil {
		return nil, err
	}
	_, noisy, err := f.posterior.Noisy(context.Background(), gppl.Scalars(x))
	if err != nil {
		return nil, err
	}
	shown := s.Train.Between(from, f.horizonFrom)
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{Title: title, XLabel: label(cmp.Or(s.Held.XName, "x"), s.Held.XUnit),
			YLabel: label(cmp.Or(s.Held.YName, "y"), s.Held.YUnit), Height: 330,
			Caption: fmt.Sprintf("Forecast with %.0f %% bands for the function (dark) and for a new observation (light), and what was "+
				"then observed. %s", 100*level, f)},
		Observed: viz.Points{Name: "trained on", X: shown.X, Y: shown.Y},
		HeldOut:  viz.Points{X: s.Held.X, Y: s.Held.Y},
		Predictions: []viz.Prediction{{
			Name: "forecast", X: x, Mean: s.Scaling.Values(nil, mean),
			LatentVar: s.Scaling.Variances(nil, latent), NoisyVar: s.Scaling.Variances(nil, noisy),
		}},
		Spans: []viz.Span{{From: f.horizonFrom, To: end, Label: "forecast"}},
	})
}

// Scores returns a table of the scores of forecasts of the same observations.
func Scores(fs ...*Forecast) *viz.Table {
	t := &viz.Table{
		Caption: "Forecasts of the held-out observations",
		Columns: []viz.Column{{Name: "model"}, {Name: fmt.Sprintf("in the %.0f %% band", 100*level), Format: viz.Percent(0)},
			{Name: "mean width"},
			{Name: "RMSE", Best: true}, {Name: "NLPD", Unit: "nats", Best: true}},
		Notes: []string{"Width: of the band. RMSE: root mean square error. NLPD: negative log density of the held-out observations, " +
			"per observation; lower is better."},
	}
	for _, f := range fs {
		t.Columns[2].Unit, t.Columns[3].Unit = f.Unit, f.Unit
		t.Rows = append(t.Rows, []any{f.Name, f.Coverage, f.Width, f.RMSE, f.NLPD})
	}
	return t
}
