// Package show serves notebooks: training with a progress bar, a table of the learnt parameters, and a forecast of held-out
// observations with its scores, each in one call. Outside a notebook it computes the same and displays nothing.
package show

import (
	"cmp"
	"context"
	"math"
	"os"
	"os/signal"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Train minimises a loss from its own start, with a progress bar titled title. A notebook's stop button ends it; it then returns
// the best point so far and an error. Otherwise it fails as [gppl.Fit] does.
func Train(title string, loss gppl.Loss, s gppl.Settings) (*gppl.Result, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bar := viz.NewProgress(title, 0)
	s.Progress = func(p gppl.Progress) {
		bar.Set(p.Evaluations)
		bar.Message("loss %.2f nats", p.Best)
	}
	r, err := gppl.Fit(ctx, loss, nil, s)
	bar.Fail(err)
	return r, err
}

// Parameters returns a table of the learnt parameters with standard errors and units. xUnit is the unit of the inputs, yUnit the
// unit of the observations as the model saw them; if one is empty, units are written in x or y. Warnings of the training are
// notes below the table.
func Parameters(r *gppl.Result, xUnit, yUnit string) *viz.Table {
	units := map[string]string{}
	if xUnit != "" {
		units["x"], units["1/x"] = xUnit, "1/"+xUnit
	}
	if yUnit != "" {
		units["y"], units["y²"] = yUnit, "("+yUnit+")²"
	}
	t := &viz.Table{
		Caption: "What was learnt: " + r.Loss + ", " + string(r.Status),
		Columns: []viz.Column{{Name: "parameter"}, {Name: "value", Format: viz.Digits(3)},
			{Name: "standard error", Format: viz.Digits(2)}, {Name: "unit"}},
		Notes: []string{"Standard errors come from the curvature of the likelihood; – where a parameter is fixed or not identified."},
	}
	for _, w := range r.Warnings {
		t.Notes = append(t.Notes, sentence(w))
	}
	for _, p := range r.Params {
		stderr := any(nil)
		if se := p.StdErr(); se > 0 && !math.IsInf(se, 1) {
			stderr = se
		}
		t.Rows = append(t.Rows, []any{p.Name, p.Value, stderr, cmp.Or(units[p.Unit], p.Unit)})
	}
	return t
}

// sentence makes a sentence of a message: its first letter is a capital, and it ends with a full stop.
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(message[size:], ".") + "."
}
