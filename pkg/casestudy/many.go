package casestudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/lists"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Many compares forecasts of simulated stores: each learnt alone, and with priors that all share.
type Many struct {
	Shared  *forecast.Shared
	lengths []int
	gains   [][]float64 // nats per held-out day, by length and store
	one     *Study      // the first of the shortest
}

// manyAhead is the number of held-out days of each store.
const manyAhead = 7

// ManySeries simulates stores with two to twelve weeks of sales, each with its own pattern of the week, and forecasts the week
// that follows.
func ManySeries(ctx context.Context, scale scales.Scale) (*Many, error) {
	m := &Many{lengths: []int{14, 21, 42, 84}}
	each := scales.Pick(scale, 30, 4)
	var panel []forecast.Learning
	var later [][]float64
	rnd := rand.New(rand.NewPCG(16, 1))
	for _, n := range m.lengths {
		for range each {
			y := store(rnd, n+manyAhead)
			s, err := forecast.NewSeries(forecast.Axis{Name: "day"}, timeline.Steps(n), y[:n])
			if err != nil {
				return nil, fmt.Errorf("casestudy: %w", err)
			}
			panel, later = append(panel, forecast.Learning{Series: s, Options: forecast.Options{Log: "never", Periods: []float64{7}}}),
				append(later, y[n:])
		}
	}
	var err error
	if m.Shared, err = forecast.Share(ctx, panel, nil); err != nil {
		return nil, err
	}
	gains, errs, first := make([]float64, len(panel)), make([]error, len(panel)), [2]*forecast.Analysis{}
	workers.Each(runtime.GOMAXPROCS(0), len(panel), func(i int) {
		l := panel[i]
		for k, shared := range []*forecast.Shared{nil, m.Shared} {
			l.Options.Shared = shared
			a, score, err := ahead(ctx, l, later[i])
			if err != nil {
				errs[i] = err
				return
			}
			if gains[i] += float64(2*k-1) * score / manyAhead; i == 0 {
				first[k] = a
			}
		}
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("casestudy: store %d: %w", i, err)
		}
	}
	for k := range m.lengths {
		m.gains = append(m.gains, gains[k*each:(k+1)*each])
	}
	return m, m.show(first, later[0])
}

// store draws daily sales: a weekly pattern, slow changes, and noise.
func store(rnd *rand.Rand, n int) []float64 {
	var week [7]float64
	for i := range week {
		week[i] = rnd.NormFloat64()
	}
	level, size := 100+20*rnd.NormFloat64(), 10*math.Exp(0.5*rnd.NormFloat64())
	y, slow := make([]float64, n), 0.0
	for i := range y {
		slow = 0.9*slow + 0.2*rnd.NormFloat64()
		y[i] = level + size*(week[i%7]+slow+0.4*rnd.NormFloat64())
	}
	return y
}

// ahead returns the model of a series and the log density of the observations that follow.
func ahead(ctx context.Context, l forecast.Learning, y []float64) (a *forecast.Analysis, log float64, err error) {
	if a, err = forecast.Fit(ctx, l.Series, l.Options); err != nil {
		return nil, 0, err
	}
	f, err := a.Forecast(len(y))
	if err != nil {
		return nil, 0, err
	}
	for _, v := range f.Predictive().LogDensity(y) {
		log += v
	}
	return a, log, nil
}

// show prepares the figure of one store.
func (m *Many) show(models [2]*forecast.Analysis, later []float64) error {
	s := models[0].Series
	end := s.X[len(s.X)-1]
	m.one = &Study{Title: "A store known for two weeks", XLabel: "time (days)", YLabel: "sales"}
	x := lists.Of(len(later), func(i int) float64 { return end + 1 + float64(i) })
	for at := 0.0; at <= end+float64(len(later)); at++ { // sales are by whole days
		m.one.grid = append(m.one.grid, at)
	}
	var err error
	if m.one.Train, err = gppl.NewData(gppl.Scalars(s.X), s.Y); err != nil {
		return err
	}
	if m.one.Held, err = gppl.NewData(gppl.Scalars(x), later); err != nil {
		return err
	}
	for k, name := range []string{"learnt alone", "with shared priors"} {
		err := m.one.add(name, models[k].Name(), func(x gppl.Inputs) (forecast.Predictive, error) {
			f, err := models[k].Predict(x.Coordinate(0))
			if err != nil {
				return nil, err
			}
			return f.Predictive(), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// One is the first of the shortest series, forecast alone and with the shared priors.
func (m *Many) One() *Study { return m.one }

// Figure draws what the shared priors gain, by the length of a series.
func (m *Many) Figure() (*viz.Figure, error) {
	var points []viz.Point
	for k, n := range m.lengths {
		mean, err := m.gain(k)
		points = append(points, viz.Point{X: float64(n), Y: mean, YLo: mean - 2*err, YHi: mean + 2*err})
	}
	return viz.Scatter(viz.ScatterOptions{
		Frame: viz.Frame{Title: "With shared priors, what comes is more likely", XLabel: "length of the series (days)",
			YLabel: "gain (nats for each day that is held out)",
			Caption: fmt.Sprintf("What the shared priors add to the log density of the next %d days: the mean over the stores, with two "+
				"standard errors.", manyAhead)},
		LogX: true, Groups: []viz.PointGroup{{Points: points, Joined: true}}, Rules: []viz.Rule{{Y: 0}},
	})
}

// gain returns the mean gain at a length, and its standard error.
func (m *Many) gain(k int) (mean, err float64) {
	mean, sd := stat.MeanStdDev(m.gains[k], nil)
	return mean, stat.StdErr(sd, float64(len(m.gains[k])))
}

// Table compares the lengths.
func (m *Many) Table() *viz.Table {
	t := &viz.Table{Caption: "Held-out log density with shared priors, less that of each series alone",
		Columns: []viz.Column{{Name: "length", Unit: "days"}, {Name: "stores"}, {Name: "mean gain", Unit: "nats per day"},
			{Name: "standard error"}, {Name: "stores that gain", Format: viz.Percent(0)}}}
	for k, n := range m.lengths {
		mean, err := m.gain(k)
		better := 0.0
		for _, g := range m.gains[k] {
			if g > 0 {
				better += 1 / float64(len(m.gains[k]))
			}
		}
		t.Rows = append(t.Rows, []any{n, len(m.gains[k]), mean, err, better})
	}
	return t
}

// Priors shows, for each parameter of the most common structure, the range in which the shared priors put 95 %.
func (m *Many) Priors() *viz.Table {
	often := m.Shared.Often(3)
	share := func(g forecast.SharedStructure) string {
		return fmt.Sprintf("%s (%.0f %%)", g.Name, 100*g.Series/float64(m.Shared.Series))
	}
	t := &viz.Table{Caption: "The parameters of " + share(often[0]),
		Columns: []viz.Column{{Name: "parameter"}, {Name: "typical", Format: viz.Digits(2)}, {Name: "from", Format: viz.Digits(2)},
			{Name: "to", Format: viz.Digits(2)}},
		Notes: []string{fmt.Sprintf("%d stores share the priors, of which from and to hold 95 %%. Variances are of standardised "+
			"series, lengthscales in days.", m.Shared.Series)}}
	for i, p := range often[0].Priors {
		t.Rows = append(t.Rows, []any{often[0].Params[i], math.Exp(p.Mu), math.Exp(p.Mu - 2*p.Sigma), math.Exp(p.Mu + 2*p.Sigma)})
	}
	if len(often) > 1 {
		t.Notes = append(t.Notes, "Next come "+strings.Join(lists.Map(often[1:], share), "; ")+".")
	}
	return t
}

// Whole draws from the posterior of three parameters that 25 observations hardly determine. It returns a figure of two of them,
// and a table that compares the draws with the optimum and with importance sampling.
func Whole(ctx context.Context, scale scales.Scale) (*viz.Figure, *viz.Table, error) {
	rnd := rand.New(rand.NewPCG(16, 2))
	x, y := make([]float64, 25), make([]float64, 25)
	state, keep := rnd.NormFloat64(), math.Exp(-1/4.0)
	for i := range x {
		x[i], y[i] = float64(i), state+0.5*rnd.NormFloat64()
		state = keep*state + math.Sqrt(1-keep*keep)*rnd.NormFloat64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		return nil, nil, err
	}
	m := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 4}, Noise: 0.25}
	exact, err := gppl.NewExact(m, d)
	if err != nil {
		return nil, nil, err
	}
	loss, err := gppl.NewMAP(exact, gppl.DefaultPriors(m, d)...)
	if err != nil {
		return nil, nil, err
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		return nil, nil, err
	}
	s, err := draws.Sample(ctx, loss, r, draws.SampleSettings{Draws: scales.Pick(scale, 2000, 200), Seed: 16})
	if err != nil {
		return nil, nil, err
	}
	t := &viz.Table{Caption: "Three parameters and 25 observations",
		Notes: append([]string{fmt.Sprintf("%d chains of %d draws, %d of which diverged; importance sampling: %v.", len(s.Draws),
			len(s.Draws[0]), s.Divergent, s.Importance)}, s.Warnings...),
		Columns: []viz.Column{{Name: "parameter"}, {Name: "drawn with"}, {Name: "optimum"}, {Name: "median"}, {Name: "2.5 %"},
			{Name: "97.5 %"}, {Name: "mean"}, {Name: "mean by importance"}, {Name: "R̂", Format: viz.Fixed(3)},
			{Name: "effective draws", Format: viz.Fixed(0)}}}
	for i, p := range s.Params {
		t.Rows = append(t.Rows, []any{p.Name, m.Values()[i], r.Params[i].Value, p.Median, p.Lower, p.Upper, p.Mean,
			p.ImportanceMean, p.RHat, min(p.Bulk, p.Tail)})
	}
	const shown = 300 // draws
	var drawn []viz.Point
	for _, of := range s.Uncertain(shown).Models {
		theta := of.Values()
		drawn = append(drawn, viz.Point{X: theta[1], Y: theta[2]})
	}
	figure, err := viz.Scatter(viz.ScatterOptions{
		Frame: viz.Frame{Title: "The optimum is one point of many", XLabel: "lengthscale (in the unit of x)",
			YLabel:  "noise variance (in the unit of y²)",
			Caption: fmt.Sprintf("%d draws from the posterior, the optimum, and what the series was drawn with.", len(drawn))},
		LogX: true, LogY: true,
		Groups: []viz.PointGroup{{Name: "draws", Points: drawn, Hollow: true},
			{Name: "optimum", Points: []viz.Point{{X: r.Params[1].Value, Y: r.Params[2].Value}}},
			{Name: "drawn with", Points: []viz.Point{{X: 4, Y: 0.25}}}},
	})
	return figure, t, err
}
