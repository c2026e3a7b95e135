package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Component is the posterior of one term of a sum.
type Component struct {
	Name string
	// About is its seasons ("week"), the length over which it changes ("over 3 days"), or "constant"; "" if none applies.
	About    string
	X, Mean  []float64 // Mean is less the mean of y, in the unit of y or on the scale that y is modelled on
	Variance []float64 // square of the unit of Mean
}

// maxDense is the largest number of observations for which the mean is decomposed, by a dense factor of all of them.
const maxDense = 4000

// ErrNoComponents says that the model has only one term, or that the series is too long for a dense factor or for the memory.
var ErrNoComponents = errors.New("no components")

// trendName names the part that the mean function and slow terms explain.
func (a *Analysis) trendName() string {
	if a.Series.Known != nil {
		return "trend and regressors"
	}
	return "trend"
}

// Components returns the posterior mean and variance of every term of a sum, and of the trend if there is one, at x
// (Duvenaud 2014, Automatic model construction with Gaussian processes, section 2.4.5):
//
//	mean_j = k_j(x, X)A⁻¹z,  var_j = k_j(0) − k_j(x, X)A⁻¹k_j(X, x)
//
// A constant or a line and the terms that change slowly make up one level, which is one component: apart, each would have the
// uncertainty of the others. Terms are slow as for Decompose, which also takes the level of each season into the trend: here it
// stays with its term, whose variance belongs to the whole. The means add up to the posterior mean minus the mean of y. The
// variances do not add up, since the terms are correlated given the data (gppl.Posterior.Part). If y is modelled on another
// scale, such as log y or a log rate, both are on that scale (Decompose adds up in the unit of y). The cost is n² flops for each
// x. If forecasts are conditioned on more than 4000 observations, or the model has one term, the error is ErrNoComponents.
func (a *Analysis) Components(ctx context.Context, x []float64) (out []Component, err error) {
	defer parallel.Stopped(&err)
	terms := search.SumTerms(a.Result.Model.Kernel)
	most := a.conditionsOn()
	if len(terms) == 1 && a.Result.Model.Mean == nil || most > maxDense {
		return nil, ErrNoComponents
	}
	if _, err := a.share().windows(most); err != nil {
		return nil, ErrNoComponents
	}
	p, err := a.conditionedOn(ctx, most)
	if err != nil {
		return nil, err
	}
	in, err := a.Series.Inputs(x)
	if err != nil {
		return nil, err
	}
	add := func(name, about string, terms, columns []int) error {
		part, err := p.Part(terms, columns)
		if err != nil {
			return err
		}
		mean, variances, err := part.Latent(ctx, in)
		if err != nil {
			return err
		}
		floats.Scale(a.Scaling.Scale, mean)
		for j, v := range variances {
			variances[j] = a.Scaling.Variance(v)
		}
		out = append(out, Component{Name: name, About: about, X: x, Mean: mean, Variance: variances})
		return nil
	}
	slow := a.slowTerms(a.Result.Model)
	trend := false // whether there is a component of the trend, with the slow terms
	if m := a.Result.Model.Mean; m != nil {
		effects := a.Series.EffectsIn(m)
		for _, name := range []string{a.trendName(), series.ShiftsName, series.HolidaysName, series.EventsName} {
			var columns, with []int
			for j, effect := range effects {
				if cmp.Or(effect.Component, a.trendName()) == name {
					columns = append(columns, j)
				}
			}
			if columns == nil {
				continue
			}
			about := ""
			if name == a.trendName() {
				trend = true
				for i := range terms {
					if slow[i] {
						with = append(with, i)
					}
				}
				if with == nil && a.Candidates[0].Trend == "none" && a.Series.Known == nil {
					about = "constant"
				}
			}
			if err := add(name, about, with, columns); err != nil {
				return nil, err
			}
		}
	}
	for i, term := range terms {
		if trend && slow[i] {
			continue
		}
		if err := add(search.KernelName(term), a.about(term), []int{i}, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// conditionedOn returns the learnt model given the latest observations, at most most.
func (a *Analysis) conditionedOn(ctx context.Context, most int) (*gppl.Posterior, error) {
	data, err := a.standardised(ctx)
	if err != nil {
		return nil, err
	}
	return gppl.NewPosterior(ctx, a.Result.Model, search.Latest(data, most))
}

// slowTerms reports for each term of a model, given the latest observations, whether it changes so slowly that it belongs to the
// trend: it has no period, and a lengthscale of at least the longest season and a tenth of the range of these observations.
func (a *Analysis) slowTerms(m gppl.Model) (slow []bool) {
	const part = 0.1
	x := a.Series.X[len(a.Series.X)-a.conditionsOn():]
	least := part * (x[len(x)-1] - x[0])
	for _, p := range series.PeriodsOf(m.Params()) {
		least = max(least, p)
	}
	for _, t := range search.SumTerms(m.Kernel) {
		slow = append(slow, len(series.PeriodsOf(t.Params())) == 0 && slices.ContainsFunc(t.Params(), func(p gppl.Param) bool {
			return p.Role == gppl.RoleLengthscale && p.Value >= least
		}))
	}
	return slow
}

// about returns Component.About of a term.
func (a *Analysis) about(term gppl.Kernel) string {
	params := gppl.Model{Kernel: term, Noise: 1}.Params()
	var seasons []string
	for _, v := range series.PeriodsOf(params) {
		seasons = append(seasons, a.Series.Axis.Season(v))
	}
	if seasons != nil {
		return strings.Join(seasons, ", ")
	}
	var lengths []float64
	for _, p := range params {
		if p.Role == gppl.RoleLengthscale && p.Unit == gppl.UnitX {
			lengths = append(lengths, p.Value)
		}
	}
	if len(lengths) != 1 {
		return ""
	}
	return "over " + a.Series.Axis.LengthTo(lengths[0], 2)
}

// Decomposition splits the mean of a forecast into parts, in the unit of y: at each X, the Columns add up to Mean.
type Decomposition struct {
	X       []float64
	When    []string // text of X: dates in ISO form, or numbers
	Mean    []float64
	Names   []string // names of Columns: trend, seasons by decreasing length, changes, holidays, short-term, rest
	Columns [][]float64

	periods []float64 // periods of the seasons; periods within 5 % of each other appear once
}

// shortTerm and rest are names of columns of a Decomposition.
const shortTerm, rest = "short-term", "rest"

// Decompose splits the predictions of the latest observations, and of steps after them, into parts. The latest observations are
// all that forecasts are conditioned on, or the later half of these if the series has more.
//
// With terms f_j and the constant and linear trend m of a model, y = m + Σ f_j. The column of a term is its posterior mean
// (Components). m includes the mean of each season over its period, and terms without a period whose lengthscale is at least the
// longest season and a tenth of the range of x. For a model of log y, the column of the trend is e^m, and each further column is
// what the prediction gains by its term: e^{m+f₁} − e^m, e^{m+f₁+f₂} − e^{m+f₁}, …, in the order of Names. The columns of several
// models are averaged with their weights. Their forecast is a median, not this average; the column rest has the difference, and
// is left out if it is mere rounding.
//
// It takes n³/3 flops for each model, n up to 4000; with more the error is ErrNoComponents.
func (a *Analysis) Decompose(ctx context.Context, steps int) (*Decomposition, error) {
	s, n, k := a.Series, len(a.Series.X), a.conditionsOn()
	if s.Counting != nil {
		return nil, fmt.Errorf("%w: the terms of counts multiply their rates, and the mean is no sum of them", ErrNoComponents)
	}
	if k > maxDense {
		return nil, fmt.Errorf("%w: forecasts are conditioned on %d observations, and at most %d can be taken apart",
			ErrNoComponents, k, maxDense)
	}
	ahead, err := a.Forecast(ctx, steps)
	if err != nil {
		return nil, err
	}
	from := 0
	if k < n {
		from = n - k/2
	}
	f, err := a.Predict(ctx, append(slices.Clone(s.X[from:]), ahead.X...))
	if err != nil {
		return nil, err
	}
	d := &Decomposition{X: f.X, When: f.When, Mean: f.Point(),
		Names: []string{a.trendName()}, Columns: [][]float64{make([]float64, len(f.X))}}
	for _, m := range a.members {
		for _, p := range series.PeriodsOf(m.Model.Params()) {
			if d.about(p) == p && !slices.Contains(d.periods, p) {
				d.periods = append(d.periods, p)
			}
		}
	}
	slices.SortFunc(d.periods, func(p, q float64) int { return cmp.Compare(q, p) })
	for _, p := range d.periods {
		d.column(s.Axis.Season(p))
	}
	if len(a.Series.Shifts) > 0 {
		d.column(series.ShiftsName)
	}
	for _, effect := range s.Effects() {
		if effect.Part != "" {
			d.column(effect.Part)
		}
	}
	for _, m := range a.members {
		models := m.Draws
		if len(models) == 0 {
			models = []gppl.Model{m.Model}
		}
		for _, model := range models {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := a.addTo(ctx, d, m, model, k, m.Weight/float64(len(models))); err != nil {
				return nil, err
			}
		}
	}
	left := slices.Clone(d.Mean)
	for _, c := range d.Columns {
		floats.Sub(left, c)
	}
	if most := floats.Norm(left, math.Inf(1)); most > 1e-6*floats.Norm(d.Mean, math.Inf(1)) {
		copy(d.column(rest), left)
	} else {
		floats.Add(d.Columns[0], left)
	}
	return d, nil
}

// column returns the column of a name, and adds one if there is none.
func (d *Decomposition) column(name string) []float64 {
	at := slices.Index(d.Names, name)
	if at < 0 {
		at = len(d.Names)
		d.Names, d.Columns = append(d.Names, name), append(d.Columns, make([]float64, len(d.X)))
	}
	return d.Columns[at]
}

// about returns the period of d nearest to a period if it is within 5 %, otherwise the period itself: each model learns its own.
func (d *Decomposition) about(period float64) float64 {
	nearest, off := period, math.Log(1.05)
	for _, p := range d.periods {
		if apart := math.Abs(math.Log(p / period)); apart < off {
			nearest, off = p, apart
		}
	}
	return nearest
}

// addTo adds the columns of a model of a member, conditioned on the latest k observations, with a weight.
func (a *Analysis) addTo(ctx context.Context, d *Decomposition, m *member, model gppl.Model, k int, weight float64) error {
	data := search.Latest(m.scale.Data, k)
	p, err := gppl.NewPosterior(ctx, model, data)
	if err != nil {
		return err
	}
	in, err := a.Series.Inputs(d.X)
	if err != nil {
		return err
	}
	meanOf := func(in gppl.Inputs, terms, columns []int) ([]float64, error) {
		part, err := p.Part(terms, columns)
		if err != nil {
			return nil, err
		}
		return part.Mean(ctx, in)
	}
	scaling := m.scale.Scaling
	parts := map[string][]float64{}
	add := func(name string, mean []float64) {
		if parts[name] == nil {
			parts[name] = make([]float64, len(d.X))
			d.column(name)
		}
		floats.AddScaled(parts[name], scaling.Scale, mean)
	}
	level := make([]float64, len(d.X))
	columns := map[string][]int{}
	if model.Mean != nil {
		for j, effect := range a.Series.EffectsIn(model.Mean) {
			columns[effect.Part] = append(columns[effect.Part], j)
		}
	}
	if trend := columns[""]; trend != nil {
		if level, err = meanOf(in, nil, trend); err != nil {
			return err
		}
	}
	add(d.Names[0], level)
	floats.AddConst(scaling.Mean, parts[d.Names[0]])
	slow := a.slowTerms(model)
	for i, t := range search.SumTerms(model.Kernel) {
		if _, white := t.(gppl.White); white {
			continue
		}
		mean, err := meanOf(in, []int{i}, nil)
		if err != nil {
			return err
		}
		name := shortTerm
		if periods := series.PeriodsOf(t.Params()); len(periods) > 0 {
			period := slices.Max(periods)
			name = a.Series.Axis.Season(d.about(period))
			level, err := levelOf(d.X, period, func(x []float64) ([]float64, error) {
				return meanOf(gppl.Scalars(x), []int{i}, nil)
			})
			if err != nil {
				return err
			}
			floats.Sub(mean, level)
			add(d.Names[0], level)
		} else if slow[i] {
			name = d.Names[0]
		}
		add(name, mean)
	}
	for name, of := range columns {
		if name == "" {
			continue
		}
		mean, err := meanOf(in, nil, of)
		if err != nil {
			return err
		}
		add(name, mean)
	}
	total, warp := make([]float64, len(d.X)), m.scale.Warp // the warp is for models of log y and for y that ends at bounds
	for at, name := range d.Names {
		for i, v := range parts[name] {
			if warp != nil {
				before := total[i]
				total[i] += v
				if v = warp.Inverse(total[i]); at > 0 {
					v -= warp.Inverse(before)
				}
			}
			d.Columns[at][i] += weight * v
		}
	}
	return nil
}

// levelOf returns the mean of a term's posterior mean over a period around each x.
func levelOf(x []float64, period float64, meanOf func(x []float64) ([]float64, error)) ([]float64, error) {
	const places = 8
	var at []float64
	for k := range places {
		for _, v := range x {
			at = append(at, v+period*((float64(k)+0.5)/places-0.5))
		}
	}
	means, err := meanOf(at)
	if err != nil {
		return nil, err
	}
	level := make([]float64, len(x))
	for i, v := range means {
		level[i%len(x)] += v / places
	}
	return level, nil
}

// WriteCSV writes the axis, the mean and the columns, with a header.
func (d *Decomposition) WriteCSV(w io.Writer, a series.Axis) error {
	rows := [][]string{append([]string{cmp.Or(a.Name, "x"), "mean"}, d.Names...)}
	for i, when := range d.When {
		row := []string{when, cell(d.Mean[i])}
		for _, c := range d.Columns {
			row = append(row, cell(c[i]))
		}
		rows = append(rows, row)
	}
	return series.WriteCSV(w, rows)
}
