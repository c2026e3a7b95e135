package casestudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// yearly is a model of carbon dioxide: slow changes, and a yearly cycle whose shape may change.
func yearly(mean gppl.Mean) gppl.Model {
	k := gppl.Add(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.LocPer{Variance: 1, Lengthscale: 10, PeriodicLengthscale: 1, Period: 1})
	m := gppl.Model{Kernel: k, Noise: 0.1, Mean: mean}
	for _, p := range m.Params() {
		if p.Role == gppl.RolePeriod {
			m = m.Fix(p.Name)
		}
	}
	return m
}

// co2 returns the given number of years before a fixed date, less their mean.
func co2(years float64) (d gppl.Data, mean float64) {
	const until = 1998.0
	s := dataset.CO2().Between(until-years, until)
	for _, y := range s.Y {
		mean += y / float64(s.Len())
	}
	d = gppl.Data{X: gppl.Scalars(s.X), Y: slices.Clone(s.Y)}
	floats.AddConst(-mean, d.Y)
	return d, mean
}

// Trend compares a zero mean with a quadratic trend in the model of notebook 01, on the carbon dioxide of Mauna Loa, six years
// ahead. It takes every fourth week, at smoke scale every 24th.
func Trend(ctx context.Context, scale scales.Scale) (*Study, error) {
	const until = 1996
	all := dataset.CO2()
	var index []int
	for i := 0; i < all.Len(); i += scales.Pick(scale, 4, 24) {
		index = append(index, i)
	}
	all = all.Select(index)
	before, after := all.Between(0, until), all.Between(until, 2100)
	z, scaling := before.Standardize()
	s := &Study{Title: "Carbon dioxide, six years ahead", XLabel: "year", YLabel: "CO₂ (standard deviations)",
		Train: gppl.Data{X: gppl.Scalars(z.X), Y: z.Y}, Held: gppl.Data{X: gppl.Scalars(after.X), Y: make([]float64, after.Len())},
		Remarks: []string{fmt.Sprintf("In standard deviations of what is trained on, %.3g ppm.", scaling.Scale)}}
	for i, y := range after.Y {
		s.Held.Y[i] = (y - scaling.Mean) / scaling.Scale
	}
	const drawn = until - 6 // as long before the start of the forecast as after it
	s.grid = floats.Span(make([]float64, 800), drawn, slices.Max(after.X))
	for _, c := range []struct {
		name string
		mean gppl.Mean
	}{{"zero mean", nil}, {"intercept + quadratic trend", gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, s.Train.X))}} {
		start := gppl.Model{
			Kernel: gppl.Add(
				gppl.SE{Variance: 4, Lengthscale: 30},
				gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1},
				gppl.Matern32{Variance: 0.01, Lengthscale: 1},
			),
			Noise: 0.001, Mean: c.mean,
		}.Fix("LocPer.period")
		loss, err := gppl.NewExact(ctx, start, s.Train)
		if err != nil {
			return nil, err
		}
		r, p, err := s.train(ctx, loss)
		if err != nil {
			return nil, err
		}
		if err := s.add(c.name, coefficients(r.Mean), ofPosterior(p)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ErrorBars compares one learnt noise variance with the known errors of two simulated instruments, one five times as precise as
// the other. The scores are for the function without noise.
func ErrorBars(ctx context.Context, scale scales.Scale) (*Study, error) {
	rnd := rand.New(rand.NewPCG(11, 2))
	n := scales.Pick(scale, 200, 80)
	x, y, errors := make([]float64, n), make([]float64, n), make([]float64, n)
	truth := func(t float64) float64 { return math.Sin(t) + 0.5*math.Sin(2.7*t+1) }
	for i := range x {
		x[i] = 20 * (float64(i) + rnd.Float64()) / float64(n)
		errors[i] = 0.15
		if rnd.IntN(2) == 0 {
			errors[i] = 0.75
		}
		y[i] = truth(x[i]) + errors[i]*rnd.NormFloat64()
	}
	at := floats.Span(make([]float64, 100), 0.5, 19.5)
	held := gppl.Data{X: gppl.Scalars(at), Y: make([]float64, len(at))}
	for i, t := range at {
		held.Y[i] = truth(t)
	}
	plain := gppl.Data{X: gppl.Scalars(x), Y: y}
	known, err := plain.WithErrors(errors)
	if err != nil {
		return nil, err
	}
	s := &Study{Title: "Two instruments: the band of the function", XLabel: "time", YLabel: "y", Train: plain, Held: held,
		grid:    floats.Span(make([]float64, 300), 0, 20),
		Remarks: []string{"Held out is the function without noise; the band is that of the function."}}
	for _, c := range []struct {
		name string
		d    gppl.Data
	}{{"one noise variance", plain}, {"known errors", known}} {
		r, p, err := fitAuto(ctx, gppl.Model{Kernel: gppl.SE{}}, c.d)
		if err != nil {
			return nil, err
		}
		said := fmt.Sprintf("noise of standard deviation %.3g beside the known errors", math.Sqrt(r.Model.Noise))
		if c.d.Errors == nil {
			said = fmt.Sprintf("noise of standard deviation %.3g for all", math.Sqrt(r.Model.Noise))
		}
		latent := func(x gppl.Inputs) (judge.Predictive, error) {
			mean, variances, err := p.Latent(ctx, x)
			return judge.Gaussian{Mu: mean, Variance: variances}, err
		}
		if err := s.add(c.name, said, latent); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Outliers adds wrong readings to the carbon dioxide, and compares Gaussian with Student-t noise on held-out correct readings. It
// also returns the test for outliers of the Gaussian model.
func Outliers(ctx context.Context, scale scales.Scale) (*Study, *observe.Outliers, error) {
	const off = 12 // ppm: more than a year's swing
	all, mean := co2(float64(scales.Pick(scale, 6, 3)))
	rnd := rand.New(rand.NewPCG(11, 3))
	var train, held gppl.Data
	var xs, hx []float64
	planted := 0
	for i, y := range all.Y {
		if i%4 == 3 {
			hx, held.Y = append(hx, all.X.At(i)[0]), append(held.Y, y)
			continue
		}
		if rnd.IntN(20) == 0 {
			y += off * float64(1-2*rnd.IntN(2))
			planted++
		}
		xs, train.Y = append(xs, all.X.At(i)[0]), append(train.Y, y)
	}
	train.X, held.X = gppl.Scalars(xs), gppl.Scalars(hx)
	s := &Study{Title: "Wrong readings", XLabel: "year", YLabel: fmt.Sprintf("CO₂ less %.1f (ppm)", mean), Train: train,
		Held: held,
		grid: floats.Span(make([]float64, 500), slices.Min(xs), slices.Max(xs)),
		Remarks: []string{fmt.Sprintf("%d of the %d readings are off by %d ppm; those that are held out "+
			"are right.", planted, train.Len(), off)}}
	m := yearly(gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, train.X)))
	r, p, err := fitAuto(ctx, m, train)
	if err != nil {
		return nil, nil, err
	}
	test, err := observe.FindOutliers(ctx, r.Model, train)
	if err != nil {
		return nil, nil, err
	}
	if err := s.add("Gaussian noise", fmt.Sprintf("noise of standard deviation %.3g ppm", math.Sqrt(r.Model.Noise)),
		ofPosterior(p)); err != nil {
		return nil, nil, err
	}
	robust, err := observe.FitRobust(ctx, r.Model, train, observe.RobustSettings{})
	if err != nil {
		return nil, nil, err
	}
	predict := ofMixture(func(x gppl.Inputs) (*draws.Mixture, error) { return robust.Predict(ctx, x) })
	lightly := 0
	for _, w := range robust.Weights {
		if w < 1.0/3 {
			lightly++
		}
	}
	said := fmt.Sprintf("%.2g degrees of freedom and a scale of %.2g ppm; %d of %d readings count for less than a third", robust.Nu,
		math.Sqrt(robust.Model.Noise), lightly, train.Len())
	if err := s.add("Student-t noise", said, predict); err != nil {
		return nil, nil, err
	}
	return s, test, nil
}

// Slope simulates a series whose slope changes at a known time, and compares forecasts with one trend and with a kink.
func Slope(ctx context.Context, scale scales.Scale) (*Study, error) {
	const change = 60
	n, ahead := scales.Pick(scale, 160, 100), 40
	x := floats.Span(make([]float64, n+ahead), 0, float64(n+ahead-1))
	_, y, _, err := gppl.Model{Kernel: gppl.Matern32{Variance: 0.3, Lengthscale: 6}, Noise: 0.1}.Sample(ctx, gppl.Scalars(x), 4)
	if err != nil {
		return nil, err
	}
	for i, t := range x {
		y[i] += 0.1*t - 0.16*max(0, t-change)
	}
	s := &Study{Title: "A change of slope at a known time", XLabel: "time", YLabel: "y",
		Train: gppl.Data{X: gppl.Scalars(x[:n]), Y: y[:n]}, Held: gppl.Data{X: gppl.Scalars(x[n:]), Y: y[n:]}, grid: x}
	line := gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})
	for _, c := range []struct {
		name string
		mean gppl.Mean
	}{{"one slope", line}, {"a kink", gppl.AddMeans(line, gppl.Kink{At: change})}} {
		r, p, err := fitAuto(ctx, gppl.Model{Kernel: gppl.Matern32{}, Mean: c.mean}, s.Train)
		if err != nil {
			return nil, err
		}
		if err := s.add(c.name, coefficients(r.Mean), ofPosterior(p)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Change simulates a series that changes at an unknown time from smooth and small to rough and large, holds out two observations
// in five, and compares one kernel for all of it with a change point.
func Change(ctx context.Context, scale scales.Scale) (*Study, error) {
	const seed = 11
	n := scales.Pick(scale, 300, 150)
	x := floats.Span(make([]float64, n), 0, 100)
	truth := gppl.Model{Noise: 0.01, Kernel: gppl.ChangePoint{
		Before: gppl.SE{Variance: 0.3, Lengthscale: 6}, After: gppl.Matern32{Variance: 4, Lengthscale: 3}, Location: 62, Width: 1,
	}}
	_, y, _, err := truth.Sample(ctx, gppl.Scalars(x), seed)
	if err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(seed, 5))
	var train, held []int
	for i := range x {
		if rnd.IntN(5) < 2 {
			held = append(held, i)
		} else {
			train = append(train, i)
		}
	}
	all := gppl.Data{X: gppl.Scalars(x), Y: y}
	s := &Study{Title: "A change of character at an unknown time", XLabel: "time", YLabel: "y",
		Train: all.Pick(train), Held: all.Pick(held),
		grid: floats.Span(make([]float64, 400), 0, 100), Remarks: []string{"The change was drawn at 62; two " +
			"observations in five are held out."}}
	for _, c := range []struct {
		name   string
		kernel gppl.Kernel
	}{{"one kernel", gppl.Matern32{}}, {"a change point", gppl.ChangePoint{Before: gppl.SE{}, After: gppl.Matern32{}}}} {
		start, err := auto.StartFrom(ctx, gppl.Model{Kernel: c.kernel}, s.Train)
		if err != nil {
			return nil, err
		}
		loss, err := gppl.NewExact(ctx, start, s.Train)
		if err != nil {
			return nil, err
		}
		r, p, err := s.train(ctx, loss)
		if err != nil {
			return nil, err
		}
		said := fmt.Sprintf("NLL %.1f, noise of standard deviation %.3g", r.Value, math.Sqrt(r.Model.Noise))
		if k, ok := r.Model.Kernel.(gppl.ChangePoint); ok {
			said += fmt.Sprintf("; the change is learnt at %.1f, of width %.2g", k.Location, k.Width)
		}
		if err := s.add(c.name, said, ofPosterior(p)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// The lengths of the short series of Uncertain.
const uncertainTrain, uncertainAhead = 30, 10

// Uncertain compares two forecasts of a short series: with the learnt parameters plugged in, and averaged over their
// uncertainty. The second value scores both over many such series.
func Uncertain(ctx context.Context, scale scales.Scale) (*Study, *viz.Table, error) {
	series := scales.Pick(scale, 100, 6)
	var first *Study
	names := []string{"known parameters", "uncertain parameters"}
	inside, width, nlpd := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	for seed := range uint64(series) {
		s, err := uncertainStudy(ctx, seed, names)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = s
		}
		for i, c := range s.Contenders {
			inside[i] += c.Scores.Intervals[0].Coverage / float64(series)
			width[i] += c.Scores.Intervals[0].Width / float64(series)
			nlpd[i] += c.Scores.NLPD / float64(series)
		}
	}
	t := &viz.Table{
		Caption: fmt.Sprintf("%d simulated series of %d observations, %d steps ahead", series, uncertainTrain, uncertainAhead),
		Columns: []viz.Column{{Name: "model"}, {Name: "held out within the 95 % band", Format: viz.Percent(1)},
			{Name: "mean width of the band"}, {Name: "NLPD", Unit: "nats", Best: true}},
	}
	for i, name := range names {
		t.Rows = append(t.Rows, []any{name, inside[i], width[i], nlpd[i]})
	}
	return first, t, nil
}

func uncertainStudy(ctx context.Context, seed uint64, names []string) (*Study, error) {
	n := uncertainTrain
	x := floats.Span(make([]float64, n+uncertainAhead), 0, float64(n+uncertainAhead-1))
	_, y, _, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.05}.Sample(ctx, gppl.Scalars(x), 50+seed)
	if err != nil {
		return nil, err
	}
	s := &Study{Title: "A short series", XLabel: "time", YLabel: "y",
		Train: gppl.Data{X: gppl.Scalars(x[:n]), Y: y[:n]}, Held: gppl.Data{X: gppl.Scalars(x[n:]), Y: y[n:]},
		grid: floats.Span(make([]float64, 200), 0, x[len(x)-1])}
	start, err := auto.StartFrom(ctx, gppl.Model{Kernel: gppl.SE{}}, s.Train)
	if err != nil {
		return nil, err
	}
	exact, err := gppl.NewExact(ctx, start, s.Train)
	if err != nil {
		return nil, err
	}
	priors, err := start.DefaultPriors(ctx, s.Train)
	if err != nil {
		return nil, err
	}
	loss, err := gppl.NewMAP(exact, priors...)
	if err != nil {
		return nil, err
	}
	r, p, err := s.train(ctx, loss)
	if err != nil {
		return nil, err
	}
	if err := s.add(names[0], r.Model.String(), ofPosterior(p)); err != nil {
		return nil, err
	}
	u, err := draws.NewUncertain(ctx, loss, r, draws.UncertainSettings{})
	if err != nil {
		return nil, err
	}
	condition := func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(ctx, m, s.Train) }
	predict := ofMixture(func(x gppl.Inputs) (*draws.Mixture, error) { return u.Predict(ctx, x, condition) })
	return s, s.add(names[1], u.String(), predict)
}

// LeaveOut scores one model of the carbon dioxide, with the same parameters, by leaving out single weeks, by leaving out half
// years, and by a backtest half a year ahead.
func LeaveOut(ctx context.Context, scale scales.Scale) (*viz.Table, error) {
	d, _ := co2(float64(scales.Pick(scale, 10, 5)))
	const block = 26 // weeks
	m := yearly(gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, d.X)))
	first := d.Len() / 2
	early := gppl.Data{X: d.X.Slice(0, first), Y: d.Y[:first]}
	r, _, err := fitAuto(ctx, m, early) // on the first half only, so that the backtest predicts unseen data
	if err != nil {
		return nil, err
	}
	t := &viz.Table{
		Caption: "One model, scored three ways",
		Columns: []viz.Column{{Name: "left out"}, {Name: "forecasts"}, {Name: "within the 95 % band", Format: viz.Percent(0)},
			{Name: "RMSE", Unit: "ppm"}, {Name: "NLPD", Unit: "nats"}},
		Notes: []string{"The parameters were learnt on the first half of the series; all scores are of the second half."},
	}
	row := func(name string, s judge.Scores) {
		t.Rows = append(t.Rows, []any{name, s.N, s.Intervals[0].Coverage, s.RMSE, s.NLPD})
	}
	var single, blocks [][]int
	for i := range d.Len() {
		single = append(single, []int{i})
		if i%block == 0 {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], i)
	}
	for _, c := range []struct {
		name   string
		blocks [][]int
	}{{"one week, the others known", single}, {"half a year, what is before and after known", blocks}} {
		mean, variances, err := gppl.LeaveOut(ctx, r.Model, d, c.blocks)
		if err != nil {
			return nil, err
		}
		scores, err := judge.ScoresOf(judge.Gaussian{Mu: mean[first:], Variance: variances[first:]}, d.Y[first:], early.Y, 1,
			levels)
		if err != nil {
			return nil, err
		}
		row(c.name, scores)
	}
	ofHalfYear := func(_ context.Context, train, test judge.Window) (judge.Predictive, error) {
		p, err := gppl.NewPosterior(ctx, r.Model, gppl.Data{X: d.X.Slice(train.From, train.To), Y: d.Y[train.From:train.To]})
		if err != nil {
			return nil, err
		}
		return ofPosterior(p)(d.X.Slice(test.From, test.To))
	}
	report, err := judge.Backtest(ctx, d.Y, judge.BacktestPlan{First: first, Horizon: block, Levels: levels}, ofHalfYear)
	if err != nil {
		return nil, err
	}
	row("half a year, only what is before known (backtest)", report.Model)
	return t, nil
}

// train minimises the loss and conditions the model found on the training data.
func (s *Study) train(ctx context.Context, loss gppl.Loss) (*gppl.Result, *gppl.Posterior, error) {
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		return nil, nil, err
	}
	p, err := gppl.NewPosterior(ctx, r.Model, s.Train)
	return r, p, err
}
