package report

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

//go:embed report.html
var page string

// pages is the template of the report; html/template escapes text from the data.
var pages = template.Must(template.New("report").Funcs(template.FuncMap{
	"whole": func(s string) template.HTML {
		return template.HTML(text.UnbrokenHTML(template.HTMLEscapeString(s)))
	},
}).Parse(page))

// content is what the template shows.
type content struct {
	Dark        template.CSS
	Script      template.JS
	Policy      string
	Series      *series.Series
	Kernel      string
	Lead        string
	Notes       []string
	Changes     []string
	Trust       *judge.Trust
	Past        template.HTML
	Said        []string
	Written     string
	Forecast    template.HTML
	Predictions template.HTML
	Steps       template.HTML // all predictions, if Predictions has the first and the last alone
	All         template.HTML
	Comparison  template.HTML
	Parameters  template.HTML
	Effects     template.HTML
	AllEffects  template.HTML // all effects, if Effects has only those that stand out most
	Priors      []string
	Verdict     []string
	Doubt       string
	Along       template.HTML
	Histogram   template.HTML
	Correlogram template.HTML
	Components  template.HTML
	Spectrum    template.HTML
	Try         template.HTML
	Missing     string // why there is no live figure
	Program     template.HTML
	How         string
	Result      string
	Warnings    []string
	NoResiduals string
}

// Live is the program with which a page computes, or why a page for which it was requested has none. The zero value is for a page
// that does not compute.
type Live struct {
	Program *viz.Program
	Missing string
}

// HTML writes the analysis as one HTML page that loads nothing from a network: the verdict if the forecast was tested, the
// forecast, comparison, parameters, residual checks, spectrum and terms of a sum. With a program, which makes the page about 2 MB
// larger, readers can try other parameters (see tryFigure); the error is forecast.ErrNotPlain for an analysis without this. word
// writes a setting in the sentences about the series.
func HTML(
	ctx context.Context, w io.Writer, a *forecast.Analysis, f *forecast.Forecast, trust *judge.Trust, live Live,
	word func(dataset.Setting) string,
) error {
	program := live.Program
	lead, notes := briefMessages(a.Series, word)
	c := content{
		Dark: viz.CSS(), Script: viz.Script(), Policy: viz.Policy(), Lead: lead,
		Notes: notes, Series: a.Series, Kernel: a.Kernel(),
		Written: time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		Missing: live.Missing, How: how(a), Result: a.Result.String(), Said: Sentences(a, f, trust), Doubt: Doubt(a),
	}
	changes, err := shiftLines(ctx, a)
	if err != nil {
		return err
	}
	outliers, err := outlierLines(ctx, a)
	if err != nil {
		return err
	}
	c.Changes = allBrief(append(changes, outliers...))
	figure := func(fig *viz.Figure, problem error) (h template.HTML) {
		if err == nil {
			err = problem
		}
		if err == nil {
			h, err = fig.HTML()
		}
		return h
	}
	table := func(t *viz.Table) (h template.HTML) {
		if err == nil {
			h, err = t.HTML()
		}
		return h
	}
	if trust != nil {
		c.Trust, c.Past = trust, table(pastTable(trust))
	}
	c.Forecast = figure(Forecast(a, f))
	c.Predictions = table(predictions(a, f, shownSteps))
	if len(f.When) > shownSteps {
		c.Steps = table(predictions(a, f, foldedSteps))
	}
	changed, off := marks(ctx, a, 0)
	c.All = figure(observationsFigure(a.Series, errorsFrom(a, 0), changed, off))
	c.Comparison = table(Comparison(a))
	c.Parameters = table(Parameters(a))
	if effects, count, problem := effectsTable(ctx, a, shownEffects); problem != nil {
		return problem
	} else if effects != nil {
		c.Effects = table(effects)
		if count > shownEffects {
			all, _, problem := effectsTable(ctx, a, count)
			if problem != nil {
				return problem
			}
			c.AllEffects = table(all)
		}
	}
	if r, problem := judge.CheckResiduals(ctx, a); ctx.Err() != nil {
		return ctx.Err()
	} else if problem != nil {
		c.NoResiduals = problem.Error()
	} else {
		c.Verdict = r.Verdict()
		figs, problem := Residuals(a, r)
		if problem != nil {
			return problem
		}
		c.Along, c.Histogram, c.Correlogram = figure(figs[0], nil), figure(figs[1], nil), figure(figs[2], nil)
	}
	if a.Series.Counting == nil { // the periodogram of counts says little about their log rate
		periodogram, problem := a.Periodogram(ctx)
		if problem != nil {
			return problem
		}
		c.Spectrum = figure(Spectrum(a, periodogram))
	}
	if fig, problem := Components(ctx, a, f); !errors.Is(problem, forecast.ErrNoComponents) {
		c.Components = figure(fig, problem)
	}
	if program != nil {
		fig, again, problem := tryFigure(ctx, a, f)
		if problem != nil {
			return problem
		}
		if c.Try, problem = fig.LiveHTML(again); problem != nil {
			return problem
		}
		c.Dark, c.Script, c.Policy, c.Program = program.CSS(), program.Script(), program.Policy(), program.HTML()
	}
	c.Priors = priorLines(a)
	c.Warnings = warnings(a)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return pages.Execute(w, c)
}

// bandLines says in sentences what may be wrong with the bands of a forecast.
func bandLines(a *forecast.Analysis, f *forecast.Forecast) (text []string) {
	for _, line := range []string{beyond(a.Series, f), farOff(a, f)} {
		if line != "" {
			text = append(text, line)
		}
	}
	return text
}

// Notices says in sentences, for a table of many series, which observations the model does not explain, and what may be wrong
// with the bands of the forecast, which may be nil.
func Notices(ctx context.Context, a *forecast.Analysis, f *forecast.Forecast) (text []string, err error) {
	if text, err = outlierLines(ctx, a); err != nil || f == nil {
		return allBrief(text), err
	}
	text, bands := allBrief(text), bandLines(a, f)
	said := strings.Join(bands, " ")
	return append(slices.DeleteFunc(text, func(line string) bool { return strings.Contains(said, line) }), bands...), nil
}

// percentName matches the names of columns whose values are in per cent.
var percentName = regexp.MustCompile(`(?i)percent|per[ _]cent|pct|prozent|pourcent|porcent|humidity|(^|[ _])rh($|[ _])`)

// beyond says in a sentence that bands reach where no observation is and perhaps none can be, below 0 or beyond 0 and 100 %, and
// how to prevent that; "" if they do not.
func beyond(s *series.Series, f *forecast.Forecast) string {
	const visible = 0.01 // share of the largest y
	least := slices.Min(s.Y)
	if s.Bounds != nil || f.Counts != nil || len(f.When) == 0 || least < -visible*slices.Max(s.Y) {
		return ""
	}
	const most = 100
	below := slices.Min(f.Lower) < 0
	if (s.YUnit == "%" || percentName.MatchString(s.YName)) && slices.Max(s.Y) <= most && (below || slices.Max(f.Upper) > most) {
		return "Its bands go beyond 0 or 100 %, where no observation is: " +
			"if none can be, --bounds 0,100 keeps them within."
	}
	if !below || slices.Min(f.Lower) >= least {
		return ""
	}
	positive, whole := least > 0, !slices.ContainsFunc(s.Y, func(y float64) bool { return y != math.Trunc(y) })
	var ways []string
	if positive {
		ways = append(ways, "--log always keeps them above")
	}
	if whole && s.YUnit == "" { // values in µg/m³ may be whole, and are no counts
		ways = append(ways, "--likelihood negbinomial models counts, whose bands end at 0")
	}
	if ways == nil {
		ways = []string{"read their lower ends as 0"}
	}
	what := "Its bands go below 0"
	if len(f.Point()) > 0 && slices.Min(f.Point()) < -visible*slices.Max(s.Y) {
		what = "It expects values below 0"
	}
	if least < 0 {
		return what + ", where observations hardly are: read their lower ends as 0 if that is why."
	}
	return what + ", where no observation is: if none can be, " + strings.Join(ways, ", and ") + "."
}

// how says how the model was chosen.
func how(a *forecast.Analysis) string {
	if a.Series.Counting != nil {
		return "Models are of the " + link(a) + ". Sums of terms were compared with weak priors on a Gaussian approximation " +
			"of the observations, and the best were trained by Laplace's method on the observations themselves. " +
			"They are ranked by their evidence, the marginal likelihood with the parameters integrated out."
	}
	tried := "Sums of terms were trained with weak priors, and the best sum grew by one term at a time."
	if a.Options != nil && len(a.Options.Kernels) > 0 {
		tried = "The named kernels were trained with weak priors, from starts that a search of all observations found."
	}
	return "The series, or its logarithm, was standardised. " + tried + " They are ranked by their evidence, " +
		"the marginal likelihood with the parameters integrated out by Laplace's method."
}

// next returns the candidate after the best. It skips those whose place in the list depends on a fixed share, not their evidence.
func next(a *forecast.Analysis) search.Candidate {
	for _, c := range a.Candidates[1:] {
		if fixed, _, _ := c.FixedWeight(); !fixed {
			return c
		}
	}
	return a.Candidates[1]
}

// digits returns the format of a forecast: with two digits of its least standard deviation, since more are meaningless.
func digits(f *forecast.Forecast) viz.Format {
	least, most := math.Inf(1), 0.0
	for i, v := range f.NoisyVar {
		least, most = min(least, math.Sqrt(v)), max(most, math.Abs(f.Point()[i]), math.Sqrt(v))
	}
	if f.Counts == nil && f.Expected != nil { // the sun hardly varies at night
		const small = 0.01
		least = max(least, small*most)
	}
	return precise(least, most)
}

// decimals returns the number of decimals that writes a value with two digits; negative if digits before the point are rounded
// off, and 6 for a value that is not positive or not finite.
func decimals(v float64) int {
	if !(v > 0) || math.IsInf(v, 0) {
		return 6
	}
	return 1 - place(v)
}

// precise returns the format of numbers up to most with two digits of least, the smallest difference that matters. It has a power
// of ten if all are below 1e-5, or if some are above 1e15 and their last digits would be zeros.
func precise(least, most float64) viz.Format {
	const manyZeros, manyDecimals, manyDigits = 5, 12, 15
	n := decimals(least)
	if place(most) < -manyZeros || place(most) >= manyDigits && n < 0 {
		return viz.Scientific(min(max(1, place(most)+n), manyDigits))
	}
	return viz.Fixed(min(n, manyDecimals))
}

// place returns the power of ten of the first digit of v.
func place(v float64) int { return int(math.Floor(math.Log10(v))) }

// second and minute are the lengths of a time in ISO form up to its seconds and up to its minutes.
const second, minute = len("2025-06-12T23:06:00"), len("2025-06-12T23:06")

// isTime reports whether a text is a time in ISO form, in UTC or without a zone.
func isTime(when string) bool {
	when = strings.TrimSuffix(when, "Z")
	return len(when) == second && when[10] == 'T'
}

// briefTime writes a time without the zone, and without seconds if they are zero: 2025-06-12 23:06 for 2025-06-12T23:06:00Z.
// Others stay.
func briefTime(when string) string {
	if !isTime(when) {
		return when
	}
	end := second
	if strings.HasSuffix(when[:second], ":00") {
		end = minute
	}
	return when[:10] + " " + when[11:end]
}

// shownEffects is how many effects a page has before its fold.
const shownEffects = 6

// isoTime matches a time in ISO form; isTime reports whether a text is one in whole seconds.
var isoTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?`)

// briefTimes shortens the times in a sentence as briefTime does.
func briefTimes(text string) string { return isoTime.ReplaceAllStringFunc(text, briefTime) }

// allBrief applies briefTimes to each sentence.
func allBrief(sentences []string) []string {
	text := make([]string, len(sentences))
	for i, s := range sentences {
		text[i] = briefTimes(s)
	}
	return text
}

// messages returns the lead and the notes of a series (series.Series.Messages), with settings written by word.
func messages(s *series.Series, word func(dataset.Setting) string) (lead string, notes []string) {
	first, others := s.Messages()
	for _, m := range others {
		notes = append(notes, m.Words(word))
	}
	return first.Words(word), notes
}

// briefMessages returns messages with times shortened as by briefTime.
func briefMessages(s *series.Series, word func(dataset.Setting) string) (lead string, notes []string) {
	lead, notes = messages(s, word)
	return briefTimes(lead), allBrief(notes)
}

// brief shortens the times in a table as briefTime does, to fit on a phone. Either all keep their seconds, or none.
func brief(t *viz.Table) *viz.Table {
	var cells []*any
	end := minute
	for _, row := range t.Rows {
		for i := range row {
			if when, ok := row[i].(string); ok && isTime(when) {
				cells, end = append(cells, &row[i]), max(end, len(briefTime(when)))
			}
		}
	}
	for _, cell := range cells {
		when := (*cell).(string)
		*cell = when[:10] + " " + when[11:end]
	}
	return t
}
