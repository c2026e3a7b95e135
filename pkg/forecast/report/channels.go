package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// channelVerdict is the first line of a result on channels.
func channelVerdict(trust *forecast.Trust) string {
	if trust == nil {
		return "This forecast is untested: it was not compared with the past."
	}
	return trust.Verdict
}

// viewsOf are the formulas of the views of channels on f.
var viewsOf = map[string]string{
	"same": "y = f + offset", "scaled": "y = a·f + offset", "derivative": "y = a·f + b·f′ + offset",
}

// ChannelText writes the result on channels as text.
func ChannelText(
	w io.Writer, a *forecast.ChannelAnalysis, all []forecast.ChannelPrediction, trust *forecast.Trust, written []string,
) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", channelVerdict(trust))
	section(&b, "Series", channelNotes(a))
	fmt.Fprintf(&b, "\n%s\n%s\n%s\n%s", channelComparison(a), channelParameters(a), channelTable(a), channelPredictions(a, all))
	if trust != nil {
		fmt.Fprintf(&b, "\n%s", pastTable(trust))
	}
	section(&b, "Warnings", a.Best().Warnings)
	for _, path := range written {
		fmt.Fprintf(&b, "written: %s\n", path)
	}
	_, err := io.WriteString(w, printableLines(b.String()))
	return err
}

func channelNotes(a *forecast.ChannelAnalysis) []string {
	c := a.Channels
	notes := said(c.Series.Notes())
	if len(c.Names) > 1 {
		notes = append(notes, fmt.Sprintf("%d channels, by %s.", len(c.Names), c.Column))
	}
	if c.Exposure != nil {
		shortest, longest := c.Series.Axis.Length(slices.Min(c.Exposure)), c.Series.Axis.Length(slices.Max(c.Exposure))
		if shortest != longest {
			longest = shortest + " to " + longest
		}
		notes = append(notes, fmt.Sprintf("Observations are averages over exposures of %s; f is what they average.", longest))
	}
	return notes
}

func channelComparison(a *forecast.ChannelAnalysis) *viz.Table {
	t := &viz.Table{
		Caption: "Models compared",
		Columns: []viz.Column{
			{Name: "kernel"}, {Name: "view"}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(2), Best: viz.Min},
			{Name: "parameters"}, {Name: "BIC above the best", Format: viz.Fixed(1), Best: viz.Min}, {Name: "training"},
		},
		Notes: []string{"Exact NLL of y with offsets integrated out; BIC = 2·NLL + parameters·log n, offsets counted. " +
			"A difference of ten in BIC is strong evidence."},
	}
	for _, f := range a.Fits {
		t.Rows = append(t.Rows,
			[]any{f.Kernel, f.View, f.NLL, f.Trained + len(a.Channels.Names), f.BIC - a.Best().BIC, string(f.Status)})
		if text := fmt.Sprintf("%s: %s.", f.View, viewsOf[f.View]); !strings.Contains(strings.Join(t.Notes, "\n"), text) {
			t.Notes = append(t.Notes, text)
		}
	}
	return t
}

// known returns a standard error for a table; nil if it is unknown.
func known(se float64) any {
	if se := knownError(se); se > 0 {
		return se
	}
	return nil
}

func channelParameters(a *forecast.ChannelAnalysis) *viz.Table {
	f, s := a.Best(), a.Channels.Series
	t := &viz.Table{
		Caption: "Parameters of " + f.Kernel,
		Columns: []viz.Column{
			{Name: "parameter"}, {Name: "value", Align: viz.Right}, {Name: "standard error", Align: viz.Right}, {Name: "unit"},
		},
	}
	for i, p := range f.Model.Kernel.Params() {
		unit := p.Unit
		switch {
		case p.Unit == gppl.UnitX:
			unit = s.Axis.Unit
		case p.Unit == gppl.UnitY2 && f.View == "same" && s.YUnit != "":
			unit = squared(s.YUnit)
		case p.Unit == gppl.UnitY2 && f.View != "same":
			unit = ""
		}
		value, known := withError(p.Value, f.StdErr[i])
		t.Rows = append(t.Rows, []any{p.Name, value, known, unit})
	}
	if f.View != "same" {
		t.Notes = append(t.Notes, "The first variance is 1: a and b have the size of what a channel sees.")
	}
	return t
}

// channelRows returns the coefficients, offset and noise of each channel.
func channelRows(a *forecast.ChannelAnalysis) (rows []ChannelJSON) {
	f, counts := a.Best(), a.Channels.Counts()
	kernel, n := len(f.Model.Kernel.Params()), len(counts)
	for c, ch := range f.Model.Channels {
		r := ChannelJSON{Name: ch.Name, N: counts[c], A: ch.Value, B: ch.Slope, Offset: f.Offsets[c].Value, Noise: math.Sqrt(ch.Noise),
			AErr: knownError(f.StdErr[kernel+n+c]), OffsetErr: knownError(f.Offsets[c].StdErr)}
		if ch.Noise > 0 {
			r.NoiseErr = knownError(0.5 * f.StdErr[kernel+c] / r.Noise)
		}
		if len(f.StdErr) > kernel+2*n {
			r.BErr = knownError(f.StdErr[kernel+2*n+c])
		}
		rows = append(rows, r)
	}
	return rows
}

func channelTable(a *forecast.ChannelAnalysis) *viz.Table {
	t := &viz.Table{
		Caption: "Channels: " + viewsOf[a.Best().View],
		Columns: []viz.Column{
			{Name: a.Channels.Column}, {Name: "n"}, {Name: "a"}, {Name: "± a"}, {Name: "b"}, {Name: "± b"},
			{Name: "offset", Format: viz.Digits(7)}, {Name: "± offset"}, {Name: "noise"}, {Name: "± noise"},
		},
		Notes: []string{"Noise is a standard deviation, beyond the known errors if there are any. " +
			"± is a standard error; where there is none, " +
			"the number is fixed, not determined, or a noise that is negligible beside the known errors."},
	}
	for _, r := range channelRows(a) {
		t.Rows = append(t.Rows, []any{
			r.Name, r.N, r.A, known(r.AErr), r.B, known(r.BErr), r.Offset, known(r.OffsetErr), r.Noise, known(r.NoiseErr),
		})
	}
	return t
}

func channelPredictions(a *forecast.ChannelAnalysis, all []forecast.ChannelPrediction) *viz.Table {
	const most = 3 // steps of each channel
	t := &viz.Table{Caption: "Forecast", Columns: []viz.Column{
		{Name: a.Channels.Column}, {Name: a.Channels.Series.Axis.Name}, {Name: "mean"}, {Name: "sd of a new observation"},
	}}
	for _, p := range all {
		for i, when := range p.When {
			if i < most || i == len(p.When)-1 {
				t.Rows = append(t.Rows, []any{p.Channel, when, p.Mean[i], math.Sqrt(p.Noisy[i])})
			}
		}
		if len(p.When) > most+1 {
			t.Notes = []string{"The first steps and the last one."}
		}
	}
	return brief(t)
}

// ChannelsJSON is the result on channels for programs, in the unit of the file. Unknown standard errors are left out.
type ChannelsJSON struct {
	File       string                 `json:"file"`
	SHA256     string                 `json:"sha256"`
	Trust      *forecast.Trust        `json:"trust,omitempty"`
	N          int                    `json:"n"`
	Notes      []string               `json:"notes"`
	Kernel     string                 `json:"kernel"`
	View       string                 `json:"view"`
	Status     string                 `json:"status"`
	Parameters []ParameterJSON        `json:"parameters"`
	Channels   []ChannelJSON          `json:"channels"`
	Candidates []ChannelFitJSON       `json:"candidates"`
	Forecast   map[string][]PointJSON `json:"forecast"` // of each channel
	Warnings   []string               `json:"warnings,omitempty"`
}

// ChannelJSON is y = a·f + b·f′ + offset + noise, the noise by its standard deviation; unknown standard errors are 0.
type ChannelJSON struct {
	Name      string  `json:"name"`
	N         int     `json:"n"`
	A         float64 `json:"a"`
	AErr      float64 `json:"a_std_err,omitempty"`
	B         float64 `json:"b"`
	BErr      float64 `json:"b_std_err,omitempty"`
	Offset    float64 `json:"offset"`
	OffsetErr float64 `json:"offset_std_err,omitempty"`
	Noise     float64 `json:"noise"`
	NoiseErr  float64 `json:"noise_std_err,omitempty"`
}

// ChannelFitJSON is a model that was compared.
type ChannelFitJSON struct {
	Kernel     string  `json:"kernel"`
	View       string  `json:"view"`
	NLL        float64 `json:"nll"`
	BIC        float64 `json:"bic"`
	Parameters int     `json:"parameters"`
	Status     string  `json:"status"`
}

// DescribeChannels returns the result on channels.
func DescribeChannels(a *forecast.ChannelAnalysis, all []forecast.ChannelPrediction, trust *forecast.Trust) ChannelsJSON {
	f, s := a.Best(), a.Channels.Series
	j := ChannelsJSON{File: s.Source.File, SHA256: s.Source.SHA256, Trust: trust, N: len(s.X), Notes: channelNotes(a),
		Kernel: f.Kernel, View: f.View, Status: string(f.Status), Channels: channelRows(a),
		Forecast: map[string][]PointJSON{}, Warnings: f.Warnings}
	for i, p := range f.Model.Kernel.Params() {
		j.Parameters = append(j.Parameters,
			ParameterJSON{Name: p.Name, Value: p.Value, InUnits: p.Value, StdErr: knownError(f.StdErr[i]), Unit: p.Unit})
	}
	for _, c := range a.Fits {
		j.Candidates = append(j.Candidates,
			ChannelFitJSON{c.Kernel, c.View, c.NLL, c.BIC, c.Trained + len(j.Channels), string(c.Status)})
	}
	for _, p := range all {
		for i, when := range p.When {
			half := forecast.Quantile95 * math.Sqrt(p.Noisy[i])
			j.Forecast[p.Channel] = append(j.Forecast[p.Channel], PointJSON{
				X: when, Mean: p.Mean[i], SDLatent: math.Sqrt(p.Latent[i]), SDObservation: math.Sqrt(p.Noisy[i]),
				Lower: p.Mean[i] - half, Upper: p.Mean[i] + half,
			})
		}
	}
	return j
}

// ChannelHTML writes the result on channels as one HTML page that loads nothing from a network.
func ChannelHTML(w io.Writer, a *forecast.ChannelAnalysis, all []forecast.ChannelPrediction, trust *forecast.Trust) error {
	f, s := a.Best(), a.Channels.Series
	c := content{
		Dark: viz.CSS(), Script: viz.Script(), Policy: viz.Policy(), Series: s, Kernel: f.Kernel,
		Lead: flagwords.Of(briefTimes(s.Lead())), Notes: channelNotes(a),
		Trust: trust, Warnings: f.Warnings, Written: time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		How: "Each kernel was trained by the exact likelihood with each view, " +
			"from starts found on single channels and on all of them; the lowest BIC was kept.",
		Result: fmt.Sprintf("%s, %s: %s, NLL %.4g nats. %s", f.Kernel, viewsOf[f.View], f.Status, f.NLL, f.Reason),
	}
	if trust == nil {
		c.Summary = []string{channelVerdict(nil)}
	}
	fig, err := Channels(a, all)
	if err != nil {
		return err
	}
	if c.Forecast, err = fig.HTML(); err != nil {
		return err
	}
	for t, to := range map[*viz.Table]*template.HTML{
		channelPredictions(a, all): &c.Predictions, channelComparison(a): &c.Comparison,
		channelParameters(a): &c.Parameters, channelTable(a): &c.Effects,
	} {
		if *to, err = t.HTML(); err != nil {
			return err
		}
	}
	if trust != nil {
		if c.Past, err = pastTable(trust).HTML(); err != nil {
			return err
		}
	}
	return pages.Execute(w, c)
}

// Channels draws the observations of each channel with its noise-free values, and the forecast, one panel for each.
func Channels(a *forecast.ChannelAnalysis, all []forecast.ChannelPrediction) (*viz.Figure, error) {
	s := a.Channels.Series
	last := s.X[len(s.X)-1]
	end := last
	for _, p := range all {
		end = max(end, p.X[len(p.X)-1])
	}
	seen, err := a.Predict(floats.Span(make([]float64, 4*fittedPoints), s.X[0], end))
	if err != nil {
		return nil, err
	}
	frame := func(title string) viz.Frame {
		return viz.Frame{Title: title, XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: s.YLabel(), Width: 960}
	}
	var panels []*viz.Figure
	for c, p := range seen {
		var points viz.Points
		for i, of := range a.Channels.Of {
			if of == c {
				points.X, points.Y = append(points.X, s.X[i]), append(points.Y, s.Y[i])
			}
		}
		panel, err := viz.Series(viz.SeriesOptions{Frame: frame(p.Channel), Observed: points,
			Predictions: []viz.Prediction{{Name: "posterior", X: p.X, Mean: p.Mean, LatentVar: p.Latent, NoisyVar: p.Noisy}},
			Spans:       []viz.Span{{From: last, To: end, Label: "forecast"}}})
		if err != nil {
			return nil, err
		}
		panels = append(panels, panel)
	}
	title := fmt.Sprintf("What each %s sees: %s", a.Channels.Column, s.YName)
	if len(panels) == 1 {
		title = fmt.Sprintf("What is seen: %s", s.YName)
	}
	whole := frame(title)
	whole.Caption = fmt.Sprintf("Each channel beside the posterior of what it sees of one function, %s: "+
		"mean, 95 %% band of the function and of a new observation. Kernel: %s.", viewsOf[a.Best().View], a.Best().Kernel)
	return viz.Grid(len(panels), 1, viz.GridOptions{Frame: whole, ShareX: true}, panels...)
}
