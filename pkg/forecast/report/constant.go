package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// ConstantKernel takes the place of the name of a kernel for a series whose observations are all equal.
const ConstantKernel = "constant"

// Constant returns two sentences about a series whose observations are all equal: the forecast is their value, and its band has
// no width.
func Constant(s *series.Series) string {
	return fmt.Sprintf("All %d values of %s are %s, and so is the forecast. "+
		"They show no noise: the band has no width and does not say how far a new value may be off.",
		len(s.Y), s.YName, allDigits(s.Y[0]))
}

// allDigits writes a number with all of its digits: 51653410816, where %v writes 5.1653410816e+10.
func allDigits(v float64) string {
	const least, most = 1e-4, 1e15 // beyond, an exponent is shorter
	if size := math.Abs(v); size != 0 && (size < least || size >= most) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// ConstantText writes the forecast of a constant series for a terminal, and the names of written files; f may be nil.
func ConstantText(
	w io.Writer, s *series.Series, f *forecast.Forecast, written []string, word func(dataset.Setting) string,
) error {
	var b strings.Builder
	lead, notes := briefMessages(s, word)
	if lead != "" {
		fmt.Fprintf(&b, "%s\n", text.Printable(lead))
	}
	fmt.Fprintf(&b, "%s\n", text.Printable(Constant(s)))
	section(&b, "Series", notes)
	if f != nil {
		t := &viz.Table{
			Caption: "Forecast of " + s.YLabel(),
			Columns: []viz.Column{{Name: s.Axis.Name}, {Name: "constant"}},
		}
		addSteps(t, f, listedSteps, func(i int) []any { return []any{s.Axis.TableText(f.X[i]), allDigits(f.Median[i])} })
		fmt.Fprintf(&b, "\n%s", brief(t))
	}
	for _, path := range written {
		fmt.Fprintf(&b, "written: %s\n", path)
	}
	_, err := io.WriteString(w, printableLines(b.String()))
	return err
}

// DescribeConstant is Describe for a constant series.
func DescribeConstant(s *series.Series, f *forecast.Forecast, word func(dataset.Setting) string) JSON {
	lead, notes := messages(s, word)
	j := JSON{
		File: s.Source.File, SHA256: s.Source.SHA256, N: len(s.Y), Lead: lead, Notes: notes,
		Kernel: ConstantKernel, Parameters: []ParameterJSON{}, Candidates: []search.Candidate{}, Warnings: []string{Constant(s)},
	}
	if f != nil {
		j.Forecast = Points(f)
	}
	return j
}

// ConstantFigure draws the latest observations of a constant series and its forecast.
func ConstantFigure(s *series.Series, f *forecast.Forecast) (*viz.Figure, error) {
	x := s.X[recent(s, f):]
	last := s.X[len(s.X)-1]
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title: s.YName + ": constant", XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: s.YLabel(), Width: 960,
			Caption: Constant(s),
		},
		Observed:    viz.Points{X: x, Y: s.Y[:len(x)]},
		Predictions: []viz.Prediction{{Name: "constant", X: f.X, Mean: f.Median}},
		Spans:       []viz.Span{{From: last, To: f.X[len(f.X)-1], Label: "forecast"}}, Ends: true,
	})
}
