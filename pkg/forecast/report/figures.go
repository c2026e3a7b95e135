// Package report turns an analysis into figures, tables, text, JSON and an HTML page, with package viz.
package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Forecast draws the latest observations, the fit through them and the forecast with its bands. It shows only the recent past, so
// that the forecast takes a third of the width.
func Forecast(a *forecast.Analysis, f *forecast.Forecast) (*viz.Figure, error) {
	s := a.Series
	first := recent(s, f)
	x, y := s.X[first:], s.Y[first:]
	last := x[len(x)-1]
	drawn, err := drawnPrediction(a, f, x[0])
	if err != nil {
		return nil, err
	}
	end := f.X[len(f.X)-1]
	caption := "The line is the median. 95 of 100 new values are expected within the outer band, and the curve without noise" +
		" within the inner one."
	if f.Expected != nil {
		caption = "The line is the mean of the values that may come, some of which are at a bound. " +
			"95 of 100 new values are expected within the outer band."
	}
	if f.Counts != nil {
		caption = "The line is the expected count. 95 of 100 new counts are expected within the band, whose ends are whole numbers."
		if events(s) {
			caption = "The line is the probability of 1. The band is for a new value, which is 0 or 1."
		}
	}
	if first > 0 {
		caption += fmt.Sprintf(" Shown are the latest %d of %d observations.", len(x), len(s.X))
	}
	changes, off := marks(context.Background(), a, first)
	limits, beyond := withoutFar(off.Y, y, f.Lower, f.Upper)
	if beyond > 0 {
		caption += fmt.Sprintf(" %s %s far beyond the figure.", text.Count(beyond, "outlier"), text.Are(beyond))
	}
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title:  fmt.Sprintf("%s: %s", s.YName, phrase(shape(a))),
			XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: s.YLabel(), Caption: caption, Width: 960,
		},
		Observed:    viz.Points{X: x, Y: y, Errors: errorsFrom(a, first)},
		Predictions: []viz.Prediction{drawn},
		YRange:      limits,
		Spans:       []viz.Span{{From: last, To: end, Label: "forecast"}},
		HeldOut:     off, Events: changes, Ends: true,
	})
}

// withoutFar returns a range of y for a figure, and the number of outliers outside it. The range covers the observations y and
// the bands from lower to upper, but not extreme outliers, which would flatten all else to a line. It is zero if there are no
// such outliers.
func withoutFar(outliers, y, lower, upper []float64) (limits [2]float64, beyond int) {
	const far, margin = 2, 0.05 // both in units of the range of all else
	if len(outliers) == 0 {
		return limits, 0
	}
	lo, hi := slices.Min(lower), slices.Max(upper)
	for _, v := range y {
		if !slices.Contains(outliers, v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	span := hi - lo
	inside := [2]float64{lo, hi}
	for _, v := range outliers {
		if v < lo-far*span || v > hi+far*span {
			beyond++
		} else {
			inside[0], inside[1] = min(inside[0], v), max(inside[1], v)
		}
	}
	if beyond > 0 {
		span = inside[1] - inside[0]
		limits = [2]float64{inside[0] - margin*span, inside[1] + margin*span}
	}
	return limits, beyond
}

// averaged returns the number of models that the forecast averages.
func averaged(a *forecast.Analysis) int {
	n := 0
	for _, c := range a.Candidates {
		if c.Weight > 0 {
			n++
		}
	}
	return max(1, n)
}

// calendar returns the calendar of an axis of dates; nil for one of numbers.
func calendar(s *series.Series) viz.Calendar {
	a := s.Axis
	switch {
	case !a.Dates:
		return nil
	case a.Period == "week" || s.Even && !a.Clock && a.Months == 0 && a.Length(s.Step) == "7 days":
		return weeks{a, a.Time(s.X[0]).Add(12 * time.Hour).Weekday()} // rounding must not end in the day before
	}
	return a
}

// weeks is an axis of observations a week apart: a figure then names the weeks that it shows.
type weeks struct {
	series.Axis
	Week time.Weekday `json:"week"` // the day on which weeks begin
}

// recent returns the index of the first observation that is drawn with a forecast. It goes back twice the length of the forecast,
// which then takes a third of the width, and at least 24 observations, since a short forecast needs a past beside it.
func recent(s *series.Series, f *forecast.Forecast) int {
	const lengths, least = 2, 24
	n, last := len(s.X), s.X[len(s.X)-1]
	i, _ := slices.BinarySearch(s.X, last-lengths*(f.X[len(f.X)-1]-last))
	return max(0, min(i, n-least))
}

// Series draws all observations.
func Series(s *series.Series) (*viz.Figure, error) {
	var errors []float64
	if knownErrors(s) && !s.Relative {
		errors = s.Errors
	}
	return observationsFigure(s, errors, nil, viz.Points{})
}

// knownErrors reports whether the observations have known errors, absolute or relative to one another. The errors of a series
// with Student-t noise are weights that were learnt.
func knownErrors(s *series.Series) bool { return s.Errors != nil && s.Student == nil }

// errorsFrom returns the known errors of the observations from an index on, relative ones in their learnt scale; nil for none.
func errorsFrom(a *forecast.Analysis, first int) []float64 {
	if !knownErrors(a.Series) {
		return nil
	}
	errors := slices.Clone(a.Series.Errors[first:])
	for i := range errors {
		errors[i] *= a.ErrorScale()
	}
	return errors
}

// observationsFigure draws all observations with their errors, nil for none, and the changes and the outliers among them.
func observationsFigure(s *series.Series, errors []float64, changes []viz.Event, off viz.Points) (*viz.Figure, error) {
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title: s.YName, XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: s.YLabel(), Width: 960, Height: 300,
			Caption: fmt.Sprintf("All %d observations of %s.", len(s.X), s.Source),
		},
		Observed: viz.Points{X: s.X, Y: s.Y, Errors: errors}, HeldOut: off, Events: changes,
	})
}

// Residuals draws the innovations along the axis, their histogram and their autocorrelation.
func Residuals(a *forecast.Analysis, r *judge.Residuals) ([]*viz.Figure, error) {
	const unit = "standardised innovation"
	along, noSeries := viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title: "What the past does not predict", XLabel: a.Series.Axis.Label(), Dates: calendar(a.Series), YLabel: unit,
			Width: 960, Height: 260,
			Caption: "Standardised innovations: the difference between each observation and its prediction from those before it, " +
				"in standard deviations of that prediction.",
		},
		Observed: viz.Points{Name: "innovations", X: r.X, Y: r.E},
	})
	histogram, noHistogram := viz.Histogram(viz.HistogramOptions{
		Frame: viz.Frame{
			Title: "Are the innovations Gaussian?", XLabel: unit, YLabel: "density", Width: 470, Height: 320,
			Caption: fmt.Sprintf("Histogram of the innovations. Jarque–Bera %s.", text.P(r.JarqueBeraP)),
		},
		Values: r.E,
	})
	correlogram, noCorrelogram := viz.Correlogram(viz.CorrelogramOptions{
		Frame: viz.Frame{
			Title: "Are the innovations uncorrelated?", XLabel: "lag (observations)", YLabel: "autocorrelation", Width: 470, Height: 320,
			Caption: fmt.Sprintf("Autocorrelation of the innovations. Ljung–Box %s over %d lags.",
				text.P(r.LjungBoxP), r.LjungBoxLags),
		},
		Values: r.Autocorrelation, Band: r.Band,
	})
	return []*viz.Figure{along, histogram, correlogram}, cmp.Or(noSeries, noHistogram, noCorrelogram)
}

// Components draws the terms of a sum over the observations and the forecast. For other kernels it is forecast.ErrNoComponents.
func Components(ctx context.Context, a *forecast.Analysis, f *forecast.Forecast) (*viz.Figure, error) {
	s := a.Series
	last, end := s.X[len(s.X)-1], f.X[len(f.X)-1]
	x := append(s.Drawn(s.X[recent(s, f)], last), s.DrawnAhead(f.X, f.Point(), f.Lower, f.Upper)...)
	terms, err := a.Components(ctx, x)
	if err != nil {
		return nil, err
	}
	o := viz.ComponentsOptions{
		Frame: viz.Frame{
			Title: "What the model is made of", XLabel: s.Axis.Label(), Dates: calendar(s), YLabel: "effect", Width: 960,
		},
		Spans: []viz.Span{{From: last, To: end}},
	}
	factors := link(a) == logY || link(a) == "log rate" // effects of a model of logarithms multiply
	how, unit := "add up", cmp.Or(s.YUnit, s.YName)
	switch {
	case factors:
		how = "multiply"
	case link(a) != "":
		unit = link(a)
	}
	names := termNames(terms)
	for i, c := range terms {
		term, label := viz.Prediction{Name: names[i], X: c.X, Mean: c.Mean, LatentVar: c.Variance}, unit
		if i == 0 { // the level has the mean of the data
			term.Mean = slices.Clone(term.Mean)
			floats.AddConst(a.Scaling.Mean, term.Mean)
		}
		if factors {
			if i > 0 {
				label = "factor"
			}
			term = multiplied(term)
		}
		leaveOut(&term, empty(s, f))
		term.Name = text.WithUnit(term.Name, label)
		o.Terms = append(o.Terms, term)
	}
	o.Caption = fmt.Sprintf("Each part with its 95 %% band; the lines %s to the fit. The bands do not, since the parts are"+
		" correlated.", how)
	return viz.Components(o)
}

// multiplied returns the prediction of a logarithm as a prediction of its exponential: the median and the ends of the 95 % band.
func multiplied(p viz.Prediction) viz.Prediction {
	q := viz.Prediction{Name: p.Name, X: p.X, LatentVar: p.LatentVar} // LatentLower and LatentUpper follow
	for i, m := range p.Mean {
		half := forecast.Quantile95 * math.Sqrt(p.LatentVar[i])
		q.Mean = append(q.Mean, math.Exp(m))
		q.LatentLower, q.LatentUpper = append(q.LatentLower, math.Exp(m-half)), append(q.LatentUpper, math.Exp(m+half))
	}
	return q
}

// termNames returns the names of terms in words, such as "trend", "weekly pattern" and "change over 3 days", with numbers where
// several are alike.
func termNames(terms []forecast.Component) []string {
	count, names := map[string]int{}, make([]string, len(terms))
	for i, c := range terms {
		switch season := adjective(c.About); {
		case i == 0 && c.About == "constant":
			names[i] = "level"
		case c.Name == "trend", strings.HasPrefix(c.Name, "trend and"), c.Name == series.HolidaysName, c.Name == series.ShiftsName:
			names[i] = c.Name
		case season != "":
			_, names[i], _ = strings.Cut(season+" pattern", " ")
		case strings.HasPrefix(c.About, "over "):
			names[i] = "change " + c.About
		case c.About != "":
			names[i] = "pattern of " + and(strings.Split(strings.TrimPrefix(c.About, series.UnnamedSeason), ", "))
		default:
			names[i] = c.Name
		}
		count[names[i]]++
	}
	number := map[string]int{}
	for i, name := range names {
		if count[name] > 1 {
			number[name]++
			names[i] += " " + strconv.Itoa(number[name])
		}
	}
	return names
}

// Spectrum draws the periodogram of the data with its expectation under the model, both averaged over bands of frequencies that
// are narrow enough to show a periodicity.
func Spectrum(a *forecast.Analysis, p *gppl.Periodogram) (*viz.Figure, error) {
	const bands = 120
	first, last := p.Frequency[0], p.Frequency[len(p.Frequency)-1]
	var frequency, data, model, count [bands + 1]float64
	for j, f := range p.Frequency {
		b := int(bands * math.Log(f/first) / math.Log(max(last/first, 1.01)))
		frequency[b] += f
		data[b] += p.Data[j]
		model[b] += p.Expected[j]
		count[b]++
	}
	var x, y, expected []float64
	for b, n := range count {
		if n > 0 {
			x = append(x, frequency[b]/n)
			y = append(y, a.Scaling.Variance(data[b]/n))
			expected = append(expected, a.Scaling.Variance(model[b]/n))
		}
	}
	frequencies := "frequency"
	if a.Series.Axis.Unit != "" {
		frequencies += " (1/" + a.Series.Axis.Unit + ")"
	}
	var less []string
	if a.Series.Known != nil {
		less = append(less, "regressors")
	}
	if h := a.Series.Holidays; h != nil && len(h.Names) > 0 {
		less = append(less, "holidays")
	}
	if a.Series.MonthDays != nil {
		less = append(less, "days of the month")
	}
	if len(a.Series.Events) > 0 {
		less = append(less, "events")
	}
	if len(a.Series.Shifts) > 0 {
		less = append(less, "changes of level and slope")
	}
	of := "Periodogram of the detrended series"
	if less != nil {
		of = "Periodogram of the series less its trend and what its " + strings.Join(less, " and its ") + " explain"
	}
	return viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{
			Title: "Does the model capture the periodicities?", XLabel: frequencies,
			YLabel: text.WithUnit("power", squaredUnit(a)), Width: 960, Height: 340,
			Caption: of + " (Hann window), averaged over narrow bands, and its expectation under the model. " +
				"A peak that the line lacks is a periodicity that the model does not have. At high frequencies both end at the noise.",
		},
		LogX: true, LogY: true,
		Curves: []viz.Curve{
			{Name: "data", X: x, Y: y, Dots: true, NoLine: true, Slot: viz.Grey},
			{Name: "expected by the model", X: x, Y: expected, Slot: viz.Blue},
		},
		Rules: []viz.Rule{{Y: a.Scaling.Variance(p.Noise), Name: "noise variance"}},
	})
}

// Comparison lists the candidates, the best first.
func Comparison(a *forecast.Analysis) *viz.Table {
	t := &viz.Table{Caption: "Models compared", Columns: []viz.Column{
		{Name: "model"}, {Name: "evidence behind the best", Unit: "nats", Format: viz.Fixed(1), Best: true},
		{Name: "weight", Unit: "%", Format: viz.Fixed(0)}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(2)},
		{Name: "parameters"}, {Name: "BIC above the best", Format: viz.Fixed(1)}, {Name: "training"},
		{Name: "engine"}, {Name: "evaluations"},
		{Name: "time", Unit: "s", Format: viz.Fixed(1)},
	}}
	t.Notes = []string{"Evidence is the marginal likelihood of y with weak priors, " +
		"with parameters integrated out by Laplace's method. Forecasts average the models by their weights. " +
		"BIC = 2·NLL + parameters·log n, with the NLL of y."}
	for _, c := range a.Candidates {
		if _, note, _ := c.FixedWeight(); c.Weight > 0 && note != "" {
			t.Notes = append(t.Notes, note)
		}
	}
	if factor := a.ShortBands(); factor >= 1.02 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("The series is short: bands beyond its end are %.2f times as wide as the models' own.", factor))
	}
	t.Notes = append(t.Notes, learntFrom(a)...)
	if n := a.Untried; n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s %s not tried: "+
			"evaluations cost more than planned, as they do for a series without noise.",
			text.Count(n, "further model"), text.Was(n)))
	}
	const most = 12
	rough := false
	for i, c := range a.Candidates {
		if i == most {
			t.Notes = append(t.Notes, fmt.Sprintf("%d more are not listed.", len(a.Candidates)-most))
			break
		}
		var weight any
		if c.Weight > 0 {
			weight = 100 * c.Weight
		}
		if c.Error != "" {
			addFailed(t, c)
			continue
		}
		var behind any
		if fixed, _, _ := c.FixedWeight(); !fixed {
			behind = c.Score - a.Candidates[0].Score
		}
		training := c.Status
		if c.Rough {
			training += "; penalised as by BIC"
			rough = true
		}
		t.Rows = append(t.Rows, []any{c.Name(), behind, weight, c.NLL, c.Parameters, c.BIC - a.Candidates[0].BIC, training, c.Engine,
			c.Evaluations, c.Seconds})
	}
	if rough {
		t.Notes = append(t.Notes, "\"Penalised as by BIC\": the curvature at the optimum was not positive definite, "+
			"so Laplace's method does not apply.")
	}
	return t
}

// addFailed adds a candidate that could not be trained, and a note that says why.
func addFailed(t *viz.Table, c search.Candidate) {
	status, happened := "failed", "could not be trained"
	if c.Status == search.LeftOut {
		status, happened = c.Status, "was left out"
	}
	t.Rows = append(t.Rows, []any{c.Name(), nil, nil, nil, nil, nil, status, nil, c.Evaluations, c.Seconds})
	t.Notes = append(t.Notes, fmt.Sprintf("%s %s: %s.",
		c.Name(), happened, strings.TrimPrefix(c.Error, "gppl: ")))
}

// learntFrom returns a note if parameters were learnt from a part of the series.
func learntFrom(a *forecast.Analysis) []string {
	if n := a.TrainedOn(); n < len(a.Series.X) {
		return []string{fmt.Sprintf("Parameters were learnt from the latest %d observations.", n)}
	}
	return nil
}

// pastTable lists the forecasts of the past with their coverage and errors.
func pastTable(t *judge.Trust) *viz.Table {
	least, most := math.Inf(1), 0.0
	for _, p := range t.Past {
		for _, e := range []float64{p.MAE, p.Naive} {
			if most = max(most, e); e > 0 {
				least = min(least, e)
			}
		}
	}
	format := precise(0.1*least, most) // the smallest error has three digits
	table := &viz.Table{
		Caption: "Forecasts of the past",
		Columns: []viz.Column{
			{Name: "known up to"}, {Name: "observations ahead"}, {Name: "within the 95 % band", Unit: "%", Format: viz.Fixed(0)},
			{Name: "mean absolute error", Format: format}, {Name: "error of " + t.Against, Format: format},
		},
	}
	var reused []string
	for _, p := range t.Past {
		if p.Reused != "" {
			reused = append(reused, p.Reused)
		}
		table.Rows = append(table.Rows, []any{p.From, p.N, 100 * p.Coverage, p.MAE, p.Naive})
	}
	note := "At each origin structure and parameters were learnt anew from the observations up to it."
	if n := len(reused); n > 0 {
		note = fmt.Sprintf("At %d of %d origins structure and parameters are those of the whole series, "+
			"which flatters the forecast: %s.", n, len(t.Past), strings.Join(slices.Compact(reused), "; "))
	}
	table.Notes = []string{note}
	return brief(table)
}

// Parameters lists the parameters of the best model with their standard errors, in units.
func Parameters(a *forecast.Analysis) *viz.Table {
	variances := "in the unit of y squared"
	switch of := link(a); {
	case a.Series.Counting != nil:
		variances = "those of the " + of + ", squared. The observations are " + a.Likelihood()
	case of == logY:
		variances = "those of log y, squared"
	case of != "":
		variances = "those of the " + of + ", squared"
	}
	t := &viz.Table{
		Caption: "Parameters of " + a.Kernel(),
		Columns: []viz.Column{
			{Name: "parameter"}, {Name: "value", Right: true}, {Name: "standard error", Right: true}, {Name: "unit"},
		},
		Notes: []string{"Variances are " + variances + ". Standard errors are approximate: " +
			"those of the logarithm, from the curvature of the likelihood, times the value."},
	}
	for _, p := range a.Params() {
		number, se, unit := inUnits(a, p)
		value, known := withError(number, se)
		switch { // four digits do not distinguish locations
		case p.Role == gppl.RoleLocation && a.Series.Axis.Dates:
			value = a.Series.Axis.Text(number)
		case p.Role == gppl.RoleLocation:
			value = fmt.Sprintf("%.8g", number)
		}
		if p.Negligible {
			known = "negligible"
			t.Notes = append(t.Notes, "The "+p.Name+" beyond the known errors changes none of them by more than half a per cent: "+
				"they explain the noise.")
		}
		t.Rows = append(t.Rows, []any{p.Name, value, known, inDays(a.Series.Axis, p, unit)})
	}
	if len(t.Rows) == 0 { // the model is one constant probability
		t.Rows = append(t.Rows, []any{"none", nil, nil, ""})
	}
	return t
}

// inDays adds the days or hours of a short length in years to its unit: a week is 0.01916 years.
func inDays(axis series.Axis, p gppl.FittedParam, unit string) string {
	const short = 0.25 // years
	if p.Unit != "x" || p.Role == gppl.RoleLocation || !axis.Dates || axis.Unit != "year" || p.Value >= short {
		return unit
	}
	return fmt.Sprintf("%s (%s)", unit, axis.Length(p.Value))
}

// withError writes a value with two digits of its standard error, or with at most four if that is unknown.
func withError(value, se float64) (text, known any) {
	if se = knownError(se); se == 0 {
		return viz.UpTo(4)(value), nil
	}
	digits := precise(se, max(math.Abs(value), se))
	return digits(value), digits(se)
}

// knownError returns a standard error, or 0 if it is unknown or the parameter is not identified.
func knownError(se float64) float64 {
	if !numeric.IsFinite(se) {
		return 0
	}
	return se
}

// inUnits returns a parameter of the standardised series in the unit of the file, with its standard error, which is 0 if it is
// unknown.
func inUnits(a *forecast.Analysis, p gppl.FittedParam) (value, se float64, unit string) {
	switch {
	case p.Unit == gppl.UnitX:
		return p.Value, knownError(p.StdErr()), a.Series.Axis.Unit
	case p.Unit != gppl.UnitY2:
		return p.Value, knownError(p.StdErr()), p.Unit
	case p.Role == gppl.RoleVariance && p.IsFixed(): // a further factor of a product, whose first factor has the variance
		return p.Value, 0, ""
	}
	return a.Scaling.Variance(p.Value), a.Scaling.Variance(knownError(p.StdErr())), squaredUnit(a)
}

// squaredUnit returns the unit of a variance: the square of the unit of y or, on another scale, of link; "" if y has no unit.
func squaredUnit(a *forecast.Analysis) string { return squared(cmp.Or(link(a), a.Series.YUnit)) }

// squared returns the square of a unit: ppm², (log y)²; "" for none.
func squared(unit string) string {
	switch {
	case unit == "":
		return ""
	case strings.ContainsAny(unit, " /*·^²³"):
		return "(" + unit + ")²"
	}
	return unit + "²"
}

// shownSteps, foldedSteps and listedSteps are the largest numbers of rows of a forecast: on top of a page, in its folded table,
// and in a terminal.
const shownSteps, foldedSteps, listedSteps = 6, 400, 26

// Predictions lists a forecast; the middle of a long one is left out.
func Predictions(a *forecast.Analysis, f *forecast.Forecast) *viz.Table {
	return predictions(a, f, listedSteps)
}

// predictions lists a forecast in a table with up to most rows.
func predictions(a *forecast.Analysis, f *forecast.Forecast, most int) *viz.Table {
	d, bounds := digits(f), f.AtBounds()
	t := &viz.Table{
		Caption: "Forecast of " + a.Series.YLabel(),
		Columns: []viz.Column{{Name: a.Series.Axis.Name}, {Name: "expected", Format: d}},
		Notes:   []string{band(a)},
	}
	if f.Counts != nil {
		d = viz.Fixed(0)
		t.Columns = append(t.Columns, viz.Column{Name: "median", Format: d})
	}
	t.Columns = append(t.Columns, viz.Column{Name: "95 % from", Format: d}, viz.Column{Name: "to", Format: d})
	for _, b := range bounds {
		t.Columns = append(t.Columns, viz.Column{Name: "probability of " + viz.UpTo(2)(b.Bound), Unit: "%", Format: viz.Fixed(0)})
	}
	addSteps(t, f, most, func(i int) []any {
		row := []any{a.Series.Axis.TableText(f.X[i]), f.Point()[i]}
		if f.Counts != nil {
			row = append(row, f.Median[i])
		}
		row = append(row, f.Lower[i], f.Upper[i])
		for _, b := range bounds {
			row = append(row, 100*b.P[i])
		}
		return row
	})
	return brief(t)
}

// addSteps adds a row for each step of a forecast to a table. Of more than most steps it adds the first and the last, with "…"
// between them.
func addSteps(t *viz.Table, f *forecast.Forecast, most int, row func(i int) []any) {
	ends := most / 2
	for i := range f.When {
		switch {
		case len(f.When) <= most || i < ends || i >= len(f.When)-ends:
			t.Rows = append(t.Rows, row(i))
		case i == ends:
			t.Rows = append(t.Rows, append([]any{"…"}, make([]any, len(t.Columns)-1)...))
		}
	}
}

// band says what the 95 % band of a forecast includes.
func band(a *forecast.Analysis) string {
	if events(a.Series) {
		return "Expected is the probability of 1. The band holds a new value with a probability of at least 95 %: " +
			"from 0 to 1 means that both are likely."
	}
	if a.Series.Counting != nil {
		return "Expected is the mean of the counts that may come. " +
			"The band holds a new count with a probability of at least 95 %; its ends are whole numbers."
	}
	if a.Series.Relative && a.Series.Student == nil {
		return fmt.Sprintf("The band is for a new observation with the median of the relative errors. "+
			"The learnt noise is %.3g times %s.", a.ErrorScale(), a.Series.ErrorName)
	}
	if a.Series.Student != nil {
		return "The band is for a new observation, which may be far off: its noise is " + a.Likelihood() + "."
	}
	if a.Series.Errors != nil {
		return "The band is for a new observation, noise and the median of the known errors included."
	}
	return "The band is for a new observation, noise included."
}

// warnings returns the warnings of training and of the posterior.
func warnings(a *forecast.Analysis) []string {
	w := slices.Clone(a.Result.Warnings)
	if n := a.Note(); n != "" {
		w = append(w, n)
	}
	if a.Result.Status == gppl.Limited || a.Result.Status == gppl.Stalled {
		w = append(w, "Training ended as "+strings.ToLower(string(a.Result.Status))+": "+a.Result.Reason)
	}
	return slices.Compact(w)
}

// Doubt says in a sentence what was not done because the budget was used up; "" if nothing.
func Doubt(a *forecast.Analysis) string {
	n := a.Untried
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("The budget was used up: %s %s not tried, and nothing was learnt anew for forecasts of the past.",
		text.Count(n, "further model"), text.Was(n))
}

// WithNoise draws the forecast with another noise variance of the standardised series, and all else unchanged. The title gives
// the increase of the NLL in nats.
func WithNoise(ctx context.Context, a *forecast.Analysis, noise float64, steps int) (*viz.Figure, error) {
	other, excess, err := a.WithNoise(ctx, noise)
	if err != nil {
		return nil, err
	}
	f, err := other.Forecast(ctx, steps)
	if err != nil {
		return nil, err
	}
	fig, err := Forecast(other, f)
	if err != nil {
		return nil, err
	}
	fig.Title = fmt.Sprintf("Noise variance %.3g: NLL %+.1f nats", noise, excess)
	return fig, nil
}
