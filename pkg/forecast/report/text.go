package report

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Text writes an analysis for a terminal: the sentences, what the budget left out, the series, the candidates and the best model;
// then the checks, the forecast and the names of written files, unless these are nil. word writes a setting in the sentences
// about the series.
func Text(
	w io.Writer, a *forecast.Analysis, f *forecast.Forecast, r *judge.Residuals, trust *judge.Trust, written []string,
	word func(dataset.Setting) string,
) error {
	var b strings.Builder
	lines := func(title string, sentences []string) { section(&b, title, sentences) }
	lead, notes := briefMessages(a.Series, word)
	if lead != "" {
		fmt.Fprintf(&b, "%s\n", text.Printable(lead))
	}
	for _, sentence := range Sentences(a, f, trust) {
		fmt.Fprintf(&b, "%s\n", text.Printable(sentence))
	}
	if d := Doubt(a); d != "" {
		fmt.Fprintf(&b, "%s\n", text.Printable(d))
	}
	lines("Series", notes)
	changes, err := shiftLines(context.Background(), a)
	if err != nil {
		return err
	}
	lines("Changes", allBrief(changes))
	outliers, err := outlierLines(context.Background(), a)
	if err != nil {
		return err
	}
	lines("Outliers", allBrief(outliers))
	fmt.Fprintf(&b, "\n%s\n%s", Comparison(a), Parameters(a))
	lines("Priors", priorLines(a))
	if t, _, err := effectsTable(context.Background(), a, math.MaxInt); err != nil {
		return err
	} else if t != nil {
		fmt.Fprintf(&b, "\n%s", t)
	}
	if r != nil {
		lines("Checks", r.Verdict())
	}
	if f != nil {
		fmt.Fprintf(&b, "\n%s", Predictions(a, f))
	}
	lines("Warnings", warnings(a))
	if len(written) > 0 {
		b.WriteString("\n")
	}
	for _, path := range written {
		fmt.Fprintf(&b, "written: %s\n", path)
	}
	_, err = io.WriteString(w, printableLines(strings.TrimPrefix(b.String(), "\n")))
	return err
}

// section writes sentences below a title, if there are any.
func section(b *strings.Builder, title string, sentences []string) {
	if len(sentences) > 0 {
		fmt.Fprintf(b, "\n%s\n", title)
	}
	for _, sentence := range sentences {
		fmt.Fprintf(b, "  %s\n", text.Printable(sentence))
	}
}

// Backtest writes the verdict of a backtest and its table. word writes a setting in the sentences about the series.
func Backtest(w io.Writer, a *forecast.Analysis, t *judge.Trust, word func(dataset.Setting) string) error {
	lead, _ := briefMessages(a.Series, word)
	if lead != "" {
		lead += "\n"
	}
	_, err := io.WriteString(w, printableLines(fmt.Sprintf("%s%s\n\n%s", lead, text.Printable(t.Verdict), pastTable(t))))
	return err
}

// printableLines applies text.Printable to each line.
func printableLines(page string) string {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		lines[i] = text.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Recordings lists the recordings for a terminal.
func Recordings(w io.Writer) error {
	for _, r := range series.Recordings {
		if _, err := fmt.Fprintf(w, "%-10s %s (%s)\n", r.Name, r.Title, r.Licence); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\ngppl data NAME finds or downloads one.")
	return err
}

// RecordingFacts describe a recording.
type RecordingFacts struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Path    string     `json:"path"` // "embedded" if it is part of the program
	N       int        `json:"n"`
	XName   string     `json:"x_name"`
	XUnit   string     `json:"x_unit,omitempty"`
	YName   string     `json:"y_name"`
	YUnit   string     `json:"y_unit,omitempty"`
	XRange  [2]float64 `json:"x_range"`
	Licence string     `json:"licence"`
	From    string     `json:"from"`
	Written string     `json:"written,omitempty"`
	summary string
}

// Facts describes a recording that was loaded, and the csv file that it was written to, if any.
func Facts(r series.Recording, s dataset.Series, written string) RecordingFacts {
	return RecordingFacts{
		Name: r.Name, Title: r.Title, Path: s.Source, N: s.Len(), XName: s.XName, XUnit: s.XUnit, YName: s.YName, YUnit: s.YUnit,
		XRange: [2]float64{s.X[0], s.X[len(s.X)-1]}, Licence: r.Licence, From: r.From, Written: written, summary: s.String(),
	}
}

// Text writes the facts for a terminal.
func (f RecordingFacts) Text(w io.Writer) error {
	text := fmt.Sprintf("%s\n  path     %s\n  series   %s\n  licence  %s\n  from     %s\n",
		f.Title, f.Path, f.summary, f.Licence, f.From)
	if f.Written != "" {
		text += fmt.Sprintf("  written  %s; try gppl fit %s\n", f.Written, f.Written)
	}
	_, err := io.WriteString(w, printableLines(text))
	return err
}
