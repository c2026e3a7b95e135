package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Arrivals are observations that came after a model was learnt, each with its prediction from all observations before it.
type Arrivals struct {
	Y []float64
	// Forecast predicts each at the parameters of the model. Its bands are not widened: Analysis.Widen is for longer horizons.
	Forecast *Forecast
	// Z is the normal quantile of each in its prediction, (y − mean)/sd if that is Gaussian. They are independent and N(0, 1) if
	// the model still holds. Those of counts are of randomised ranks.
	Z []float64
	// P is the probability, if the model holds, of an observation as far out in either tail of its prediction: a share p of all
	// observations has a P below p, for counts at most p.
	P []float64
	// Already is the number of rows of the file that the model already had.
	Already int
	Drift   Drift
}

// Update returns the analysis with the rows of a csv file as further observations, at the same parameters, and how they compare
// with its predictions. The rows have the columns, by name, that the series was read from; o says how the file is written, and
// o.X and o.Y may name other columns; the rest of o is ignored. Rows that are already in the series are left out, so the file may
// be the whole series as it is now. Any other row that is not after the last observation is an error: fit such a series again.
//
// The models stay as they were learnt, with the standardisation of their observations. Predictions are conditioned on the new
// observations as well as the old ones. By a state space, one pass takes O(1) for each new row; other engines condition anew
// after every 500 rows, and models of counts after each row, at most 200 times.
func (a *Analysis) Update(ctx context.Context, path string, o ReadOptions) (*Analysis, *Arrivals, error) {
	rows, err := a.readMore(path, o)
	if err != nil {
		return nil, nil, err
	}
	return a.extend(ctx, rows)
}

// Extend is Update for observations y at ascending x that come from no file. errs are their known errors; nil for none.
func (a *Analysis) Extend(ctx context.Context, x, y, errs []float64) (*Analysis, *Arrivals, error) {
	s := a.Series
	if s.Student != nil {
		return nil, nil, fmt.Errorf("forecast: %w: fit again with the new ones", errStudent)
	}
	if len(x) != len(y) || errs != nil && len(errs) != len(x) {
		panic(fmt.Sprintf("forecast: Extend: %d x, %d y and %d errors", len(x), len(y), len(errs)))
	}
	if (errs == nil) != (s.Errors == nil) || s.Counting != nil && s.Counting.Sizes != nil {
		return nil, nil, errors.New("forecast: the new observations need what the series has: errors, or sizes (Update)")
	}
	last := s.X[len(s.X)-1]
	for i, v := range x {
		if !(v >= last && v <= largest) {
			return nil, nil, fmt.Errorf("forecast: x[%d] = %v is not after the observation before it, at %v", i, v, last)
		}
		last = v
		if err := a.takes(y[i], 1); err != nil {
			return nil, nil, fmt.Errorf("forecast: y[%d]: %w", i, err)
		}
		if errs != nil && !(errs[i] > 0 && errs[i] <= largest) {
			return nil, nil, fmt.Errorf("forecast: the error of y[%d] is %v: want a positive number", i, errs[i])
		}
	}
	return a.extend(ctx, &newRows{x: x, y: y, errors: errs, source: Addition{Observations: len(x)}})
}

// newRows are observations after the last of a series.
type newRows struct {
	x, y, errors, sizes []float64
	known               *Known // all known values of the regressors; nil for none
	source              Addition
	already             int
}

// takes returns an error for a value, with its size, that is impossible in the models.
func (a *Analysis) takes(y, size float64) error {
	s := a.Series
	if !(math.Abs(y) <= largest) {
		return fmt.Errorf("%v is beyond ±%g", y, largest)
	}
	if s.Counting != nil {
		return s.Counting.check(y, size)
	}
	if s.Bounds != nil {
		if err := s.Bounds.holds(y); err != nil {
			return err
		}
	}
	if a.Log || a.ofLog() {
		if g := s.warp().forward(y); !numeric.IsFinite(g) {
			if s.Bounds != nil {
				return fmt.Errorf("%v is at a bound, where the model has no observations: fit again", y)
			}
			return fmt.Errorf("%v has no logarithm, and the model is of the logarithm: fit again", y)
		}
	}
	return nil
}

// columns returns the options with the columns of the series, by their names.
func (s *Series) columns(o ReadOptions) ReadOptions {
	named := func(name string) string {
		if o.NoHeader || !slices.Contains(s.Source.Columns, name) {
			return ""
		}
		return name
	}
	o.X = cmp.Or(o.X, named(s.Axis.Name))
	if o.Y == "" {
		for _, column := range s.Source.Columns {
			if name, _, _ := splitUnit(column); name == s.YName || column == s.YName {
				o.Y = named(column)
			}
		}
	}
	o.YError, o.Size, o.Regressors, o.By, o.Future = s.ErrorName, "", nil, nil, ""
	if s.Counting != nil {
		o.Size = s.Counting.SizeName
	}
	if s.Known != nil {
		o.Regressors = s.Known.Names
	}
	return o
}

// readMore reads the rows of a file that come after the last observation.
func (a *Analysis) readMore(path string, o ReadOptions) (*newRows, error) {
	s, name := a.Series, dataset.Shown(path)
	if s.Student != nil {
		return nil, fmt.Errorf("forecast: %w: fit again with the new ones", errStudent)
	}
	if o.NoHeader && (s.Errors != nil || s.Known != nil || s.Counting != nil && s.Counting.Sizes != nil) {
		return nil, fmt.Errorf("forecast: %s needs a header: the columns beside x and y are found by their names", name)
	}
	o = s.columns(o)
	if err := o.fits(path); err != nil {
		return nil, err
	}
	opt := o.csv()
	opt.NumberDates = s.Axis.Dates
	d, rep, err := dataset.ReadCSVReport(path, opt)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	if err := o.checkRoles(name, rep); err != nil {
		return nil, err
	}
	wrap := func(err error) error { return fmt.Errorf("forecast: %s: %w", name, err) }
	if d.Len() == 0 {
		return nil, wrap(errors.New("there is no row with an x and a y"))
	}
	if err := s.checkDates(rep.Time != dataset.TimeNumber, rep.Also.Lines[0], d.X[0]); err != nil {
		return nil, wrap(err)
	}
	if err := o.wrongCells(rep.Also, nil); err != nil {
		return nil, wrap(err)
	}
	r := &newRows{source: Addition{File: d.Name, SHA256: rep.SHA256}}
	order, err := a.later(d, rep, r)
	if err != nil {
		return nil, wrap(err)
	}
	for _, i := range order {
		r.x, r.y = append(r.x, s.Axis.place(d.X[i])), append(r.y, d.Y[i])
	}
	if o.YError != "" {
		r.errors = timeline.Pick(rep.Also.Values[0], order)
	}
	if o.Size != "" {
		r.sizes = timeline.Pick(rep.Also.Values[o.sizeColumn()], order)
	}
	check := func(i int, v float64) error { return a.takes(v, sizeAt(r.sizes, i)) }
	if err := wrongValues(r.y, rep.Also, order, check); err != nil {
		return nil, wrap(err)
	}
	if s.Known != nil {
		if r.known, err = s.alsoKnown(o, rep, d.X, len(order) > 0); err != nil {
			return nil, wrap(err)
		}
	}
	r.source.Observations = len(r.x)
	return r, nil
}

// later returns the indices of the rows that are not in the series, in the order of x. It is an error if one is before its end.
func (a *Analysis) later(d dataset.Series, rep dataset.CSVReport, r *newRows) (order []int, err error) {
	s := a.Series
	last := s.X[len(s.X)-1]
	var wrong dataset.CSVError
	for _, i := range timeline.Ascending(d.X) {
		x := s.Axis.place(d.X[i])
		at := sort.SearchFloat64s(s.X, x)
		same := false
		for ; at < len(s.X) && s.X[at] == x && !same; at++ {
			same = s.Y[at] == d.Y[i]
		}
		switch {
		case same || x < s.X[0] && s.Source.Dropped > 0:
			r.already++
		case x > last || x == last && len(s.Duplicates) > 0:
			order = append(order, i)
		default:
			wrong.Add(dataset.CSVProblem{Line: rep.Also.Lines[i], Err: fmt.Errorf("%s = %v at %s is not among the observations "+
				"of the model, and not after the last of them, at %s: fit again with all rows",
				s.YName, d.Y[i], s.Axis.Text(x), s.Axis.Text(last))})
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	return order, nil
}

// alsoKnown joins the known values of the regressors with the rows of a file, some of which may be new observations.
func (s *Series) alsoKnown(o ReadOptions, rep dataset.CSVReport, x []float64, observed bool) (*Known, error) {
	read, last := &Series{Axis: s.Axis, X: s.X, Source: s.Source}, s.X[len(s.X)-1]
	if err := read.setKnown(o, rep, x); err != nil {
		return nil, err
	}
	var rows []knownRow
	for i, x := range read.Known.X {
		if x > last || x == last && observed {
			rows = append(rows, knownRowAt(x, read.Known.Values, i, "the file"))
		}
	}
	return s.Known.join(rows, last)
}

// with returns the analysis with the first count of some further observations.
func (a *Analysis) with(r *newRows, count int) *Analysis {
	b, s := *a, *a.Series
	s.X, s.Y = slices.Concat(s.X, r.x[:count]), slices.Concat(s.Y, r.y[:count])
	if s.Errors != nil {
		s.Errors = slices.Concat(s.Errors, r.errors[:count])
	}
	if s.Counting != nil {
		c := *s.Counting
		if s.Counting = &c; c.Sizes != nil {
			c.Sizes = slices.Concat(c.Sizes, r.sizes[:count])
		}
	}
	if r.known != nil {
		s.Known = r.known
	}
	if count > 0 {
		added := r.source
		added.Observations = count
		s.Added = append(slices.Clone(s.Added), added)
	}
	s.Gaps, s.Absent, s.Duplicates = nil, 0, nil
	s.spacing()
	b.Series, b.members, b.options, b.ahead, b.sizes, b.computed = &s, nil, nil, nil, nil, new(computed)
	for _, m := range a.members {
		b.members = append(b.members, &member{averaged: m.averaged})
	}
	return &b
}

// Engines that condition anew take several rows at a time: updateRows or, for counts, so many that they condition mostAnew times.
const updateRows, mostAnew = 500, 200

// extend returns the analysis with further observations, and its predictions of them.
func (a *Analysis) extend(ctx context.Context, r *newRows) (*Analysis, *Arrivals, error) {
	after := a.with(r, len(r.x))
	out := &Arrivals{Y: r.y, Already: r.already}
	what := fmt.Sprintf("adding %d observations to %d", len(r.x), len(a.Series.X))
	if err := refuse(what, a.Series.bytes()+after.Series.Bytes(), a.memory); err != nil {
		return nil, nil, err
	}
	if len(r.x) == 0 {
		return after, out, nil
	}
	var parts []Part
	for from := 0; from < len(r.x); {
		now := a.with(r, from)
		now.Widen = 0
		if err := now.condition(ctx); err != nil {
			return nil, nil, err
		}
		to := min(len(r.x), from+now.rowsTogether(len(r.x)))
		more, err := now.oneStep(ctx, after.Series, len(a.Series.X)+to)
		if err != nil {
			return nil, nil, err
		}
		if parts == nil {
			parts = more
		} else {
			for j := range parts {
				parts[j].join(more[j])
			}
		}
		from = to
	}
	var err error
	if out.Forecast, err = forecastOf(ctx, r.x, a.Series.Axis.texts(r.x), parts); err != nil {
		return nil, nil, err
	}
	out.standardise()
	out.Drift = driftOf(out.Z)
	return after, out, nil
}

// rowsTogether returns how many of n rows are taken before the members are conditioned anew.
func (a *Analysis) rowsTogether(n int) int {
	if a.Series.Counting != nil {
		return (n + mostAnew - 1) / mostAnew
	}
	for _, m := range a.members {
		if m.posterior.Engine() != gppl.EngineStateSpace {
			return updateRows
		}
	}
	return n
}

// join appends the values of another part of the same model.
func (p *Part) join(q Part) {
	p.Mean, p.LatentVar = append(p.Mean, q.Mean...), append(p.LatentVar, q.LatentVar...)
	p.NoisyVar = append(p.NoisyVar, q.NoisyVar...)
	if p.Sizes != nil {
		p.Sizes = append(p.Sizes, q.Sizes...)
	}
}

// oneStep predicts the observations of s after those of a, before the index to: each from all before it, except for counts.
func (a *Analysis) oneStep(ctx context.Context, s *Series, to int) (parts []Part, err error) {
	from := len(a.Series.X)
	if a.Series.Counting != nil {
		if s.Counting.Sizes != nil {
			a.sizes = s.Counting.Sizes[from:to]
		}
		return a.parts(ctx, s.X[from:to])
	}
	for _, m := range a.members {
		v, err := m.scale.over(s, from, to)
		if err != nil {
			return nil, err
		}
		posteriors := m.given()
		for _, posterior := range posteriors {
			mean, noisy, err := posterior.OneStep(ctx, v.data)
			if err != nil {
				return nil, fmt.Errorf("forecast: %w", err)
			}
			p := Part{Weight: m.weight / float64(len(posteriors)), warp: m.scale.warp,
				Mean: m.scale.scaling.Values(nil, mean), NoisyVar: m.scale.scaling.Variances(nil, noisy)}
			p.LatentVar = slices.Clone(p.NoisyVar)
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// standardise sets Z and P.
func (r *Arrivals) standardise() {
	f := r.Forecast
	r.Z, r.P = make([]float64, len(r.Y)), make([]float64, len(r.Y))
	if f.Counts != nil {
		rnd, u := rand.New(rand.NewPCG(uint64(len(r.Y)), 15)), make([]float64, len(r.Y))
		for i := range u {
			u[i] = rnd.Float64()
		}
		for i, rank := range f.Counts.PIT(r.Y, u) {
			r.Z[i] = normalRank(rank)
			r.P[i] = min(1, 2*min(f.Counts.CDF(i, r.Y[i]), 1-f.Counts.CDF(i, r.Y[i]-1)))
		}
		return
	}
	m := make(mixture, len(f.Parts))
	for i, y := range r.Y {
		m.set(f.Parts, i, false)
		if len(m) == 1 { // exact far out too
			r.Z[i] = m[0].standard(y)
			r.P[i] = math.Erfc(math.Abs(r.Z[i]) / math.Sqrt2)
			continue
		}
		below, above := m.tails(y)
		if r.P[i] = 2 * min(below, above); below < above {
			r.Z[i] = normalRank(below)
		} else {
			r.Z[i] = -normalRank(above)
		}
	}
}

// normalRank returns the normal quantile of a rank, which is kept away from 0 and 1.
func normalRank(p float64) float64 { return numeric.NormalQuantile(min(max(p, 1e-15), 1-1e-15)) }

// tails returns the probabilities of values below and above v, each to full relative accuracy.
func (m mixture) tails(v float64) (below, above float64) {
	for _, c := range m {
		z := c.standard(v) / math.Sqrt2
		below, above = below+0.5*c.weight*math.Erfc(-z), above+0.5*c.weight*math.Erfc(z)
	}
	return below, above
}

// standard returns how many standard deviations v, on the scale of the model, is above the mean.
func (c component) standard(v float64) float64 {
	if c.warp != nil {
		v = c.warp.forward(v)
	}
	return (v - c.mean) / c.sd
}

// WriteCSV writes a row for each new observation: the axis, y, its prediction one step ahead with the standard deviation and the
// 95 % band of an observation, the normal quantile z, and the probability of an observation as far out.
func (r *Arrivals) WriteCSV(w io.Writer, s *Series) error {
	rows := [][]string{{cmp.Or(s.Axis.Name, "x"), s.YName, "mean", "sd_observation", "lower_95", "upper_95", "z", "probability"}}
	for i, y := range r.Y {
		f := r.Forecast
		row := []string{f.When[i]}
		for _, v := range []float64{y, f.Mean[i], math.Sqrt(f.NoisyVar[i]), f.Lower[i], f.Upper[i], r.Z[i], r.P[i]} {
			row = append(row, cell(v))
		}
		rows = append(rows, row)
	}
	return WriteCSV(w, rows)
}
