package casestudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Counted compares models of counts: each with its own likelihood, and with a normal distribution instead.
type Counted struct {
	trained []counted
	coal    *observe.LaplaceFit // of the coal mines, all years
	years   gppl.Data
	rough   float64 // k̂ of a model that changes at every step
}

// counted is one series with its two models.
type counted struct {
	CountSeries
	fit        *observe.LaplaceFit
	train      int        // observations
	logs       [2]float64 // mean log probability of the held-out counts: of the count model, of the normal one
	within     [2]float64 // share of them in the 95 % band
	pit        [2][]float64
	correction observe.Correction
	refused    bool // no correction is possible: k̂ is too large
}

// mostCorrected is the largest number of observations for which Laplace's approximation is corrected: the correction draws the
// latent values, in O(n³).
const mostCorrected = 1000

// reliable is the largest k̂ at which observe.Laplace.Correct gives a correction.
const (
	reliable = 0.7
	tooLarge = "no: k̂ is above 0.7"
)

// NewCounted trains the models of CountSet on four fifths of each series and scores them on the rest.
func NewCounted(ctx context.Context, scale scales.Scale) (*Counted, error) {
	set, err := CountSet(scale)
	if err != nil {
		return nil, err
	}
	c := new(Counted)
	for _, s := range set {
		one, err := newCounted(ctx, s, scales.Pick(scale, 4000, 1000))
		if err != nil {
			return nil, fmt.Errorf("casestudy: %s: %w", s.Name, err)
		}
		c.trained = append(c.trained, one)
	}
	coal := c.trained[1]
	if c.years, err = gppl.NewData(gppl.Scalars(coal.X), coal.Y); err != nil {
		return nil, err
	}
	if c.coal, err = observe.FitLaplace(ctx, coal.Start, c.years, coal.Likelihood, nil, gppl.Settings{}); err != nil {
		return nil, err
	}
	c.rough, err = roughCorrection(ctx, c.trained[4].CountSeries, scales.Pick(scale, 4000, 1000))
	return c, err
}

// roughCorrection returns k̂ for 500 values of 0 and 1 with a function that varies widely within a few steps, so that its
// posterior is far from normal.
func roughCorrection(ctx context.Context, s CountSeries, draws int) (k float64, err error) {
	const n = 500
	d, err := gppl.NewData(gppl.Scalars(s.X[:n]), s.Y[:n])
	if err != nil {
		return 0, err
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 100, Lengthscale: 3}, Noise: 1e-6}
	loss, err := observe.NewLaplace(ctx, m, d, s.Likelihood, nil)
	if err != nil {
		return 0, err
	}
	c, err := loss.Correct(ctx, m.Values(), draws, 15)
	if c.K > 0 {
		return c.K, nil // the error says that k̂ is too large
	}
	return 0, err
}

func newCounted(ctx context.Context, s CountSeries, draws int) (c counted, err error) {
	c.CountSeries = s
	train, held, err := s.Split()
	if err != nil {
		return c, err
	}
	c.train = train.Len()
	if c.fit, err = observe.FitLaplace(ctx, s.Start, train, s.Likelihood, nil, gppl.Settings{NoStandardErrors: true}); err != nil {
		return c, err
	}
	next, err := c.fit.Predict(ctx, held.X, nil)
	if err != nil {
		return c, err
	}
	m := gppl.Model{Kernel: s.Start.Kernel, Mean: s.Start.Mean, Noise: 1}
	_, p, err := fitAuto(ctx, m, train)
	if err != nil {
		return c, err
	}
	mean, variances, err := p.Noisy(ctx, held.X)
	if err != nil {
		return c, err
	}
	rnd := rand.New(rand.NewPCG(15, 2))
	u := make([]float64, held.Len())
	for i := range u {
		u[i] = rnd.Float64()
	}
	for k, p := range []whole{next, rounded{judge.Gaussian{Mu: mean, Variance: variances}}} {
		lower, err := p.Quantile(ctx, 0.025)
		if err != nil {
			return c, err
		}
		upper, err := p.Quantile(ctx, 0.975)
		if err != nil {
			return c, err
		}
		logs, err := p.LogDensity(ctx, held.Y)
		if err != nil {
			return c, err
		}
		for i, log := range logs {
			c.logs[k] += log / float64(len(u))
			if y := held.Y[i]; lower[i] <= y && y <= upper[i] {
				c.within[k] += 1 / float64(len(u))
			}
		}
		if c.pit[k], err = p.PIT(ctx, held.Y, u); err != nil {
			return c, err
		}
	}
	if c.train > mostCorrected {
		return c, nil
	}
	theta := make([]float64, len(c.fit.Params))
	for i, p := range c.fit.Params {
		theta[i] = p.Value
	}
	if c.correction, err = c.fit.Loss.Correct(ctx, theta, draws, 15); err != nil {
		if c.refused = c.correction.K > 0; !c.refused {
			return c, err
		}
	}
	return c, nil
}

// whole is a distribution of whole numbers at each input.
type whole interface {
	LogDensity(ctx context.Context, y []float64) ([]float64, error)
	Quantile(ctx context.Context, p float64) ([]float64, error)
	PIT(ctx context.Context, y, u []float64) ([]float64, error)
}

// rounded is a normal distribution rounded to whole numbers.
type rounded struct{ judge.Gaussian }

// ends returns the probabilities of values below y and of at most y.
func (r rounded) ends(i int, y float64) (below, to float64) {
	n := distuv.Normal{Mu: r.Mu[i], Sigma: math.Sqrt(r.Variance[i])}
	return n.CDF(y - 0.5), n.CDF(y + 0.5)
}

func (r rounded) Quantile(_ context.Context, p float64) ([]float64, error) {
	return r.Gaussian.Quantile(p), nil
}

func (r rounded) LogDensity(_ context.Context, y []float64) (logs []float64, err error) {
	for i, v := range y {
		n := distuv.Normal{Mu: r.Mu[i], Sigma: math.Sqrt(r.Variance[i])}
		if v > n.Mu { // by symmetry: in the upper tail the difference of CDFs loses its digits
			v = 2*n.Mu - v
		}
		logs = append(logs, math.Log(n.CDF(v+0.5)-n.CDF(v-0.5)))
	}
	return logs, nil
}

func (r rounded) PIT(_ context.Context, y, u []float64) (pit []float64, err error) {
	for i, v := range y {
		below, to := r.ends(i, v)
		pit = append(pit, below+u[i]*(to-below))
	}
	return pit, nil
}

// Table compares the two models of each series.
func (c *Counted) Table() *viz.Table {
	t := &viz.Table{Caption: "Counts as counts, and with a normal distribution in its place",
		Columns: []viz.Column{{Name: "series"}, {Name: "likelihood"}, {Name: "trained on"},
			{Name: "log score, counts", Unit: "nats"}, {Name: "log score, normal", Unit: "nats"},
			{Name: "in the 95 % band, counts", Format: viz.Percent(0)}, {Name: "in the 95 % band, normal", Format: viz.Percent(0)}},
		Notes: []string{"The log score is the mean log probability of the fifth of the observations that is held out: more is " +
			"better. Bands of whole numbers are wider than they have to be: they promise 95 % at least."}}
	for _, s := range c.trained {
		t.Rows = append(t.Rows, []any{s.Name, s.fit.Likelihood.String(), s.train, s.logs[0], s.logs[1], s.within[0], s.within[1]})
	}
	return t
}

// Corrections shows the error of Laplace's approximation, by importance sampling.
func (c *Counted) Corrections() *viz.Table {
	t := &viz.Table{Caption: "What Laplace's approximation of the likelihood misses, by importance sampling",
		Columns: []viz.Column{{Name: "series"}, {Name: "negative log likelihood", Unit: "nats"}, {Name: "correction", Unit: "nats"},
			{Name: "standard error", Unit: "nats"}, {Name: "k̂", Format: viz.Fixed(2)}, {Name: "can be used"}}}
	for _, s := range c.trained {
		row := []any{s.Name, s.fit.Value, s.correction.Nats, s.correction.StdErr, s.correction.K, "yes"}
		switch {
		case s.train > mostCorrected:
			row = []any{s.Name, s.fit.Value, "", "", "", "not tried"}
		case s.refused:
			row = []any{s.Name, s.fit.Value, "", "", s.correction.K, tooLarge}
		}
		t.Rows = append(t.Rows, row)
	}
	usable := "yes"
	if c.rough > reliable {
		usable = tooLarge
	}
	t.Rows = append(t.Rows, []any{"0 or 1, 500 of them, with a rough function", "", "", "", c.rough, usable})
	return t
}

// pitBins is the number of bins of PIT.
const pitBins = 10

// PIT draws in which tenth of its forecast each held-out count lies, for all series but that of 0 and 1.
func (c *Counted) PIT() (*viz.Figure, error) {
	var groups []viz.PointGroup
	var n float64
	for k, name := range []string{"counts", "normal"} {
		var all []float64
		for _, s := range c.trained[:4] {
			all = append(all, s.pit[k]...)
		}
		n = float64(len(all))
		var shares [pitBins]float64
		for _, v := range all {
			shares[min(pitBins-1, int(v*pitBins))] += 1 / n
		}
		var points []viz.Point
		for b, share := range shares {
			points = append(points, viz.Point{X: (float64(b) + 0.5) / pitBins, Y: 100 * share})
		}
		groups = append(groups, viz.PointGroup{Name: name, Points: points, Joined: true})
	}
	err := 100 * 2 * math.Sqrt(1.0/pitBins*(1-1.0/pitBins)/n)
	return viz.Scatter(viz.ScatterOptions{
		Frame: viz.Frame{Title: "Where the held-out counts lie in their forecasts",
			XLabel: "probability that the forecast gives to less", YLabel: "share of the counts (%)",
			Caption: fmt.Sprintf("The randomised PIT of %.0f held-out counts of four series, by tenths: each has 10 %% if the forecasts "+
				"are right, to within ±%.1f by chance (two standard errors).", n, err)},
		Groups: groups, Rules: []viz.Rule{{Y: 10, Name: "right forecasts"}},
	})
}

// Rates draws the disasters of each year, their rate with its 95 % band, and the band of the counts.
func (c *Counted) Rates(ctx context.Context) (*viz.Figure, error) {
	x := c.years.X.Coordinate(0)
	for range 20 {
		x = append(x, x[len(x)-1]+1)
	}
	p, err := c.coal.Predict(ctx, gppl.Scalars(x), nil)
	if err != nil {
		return nil, err
	}
	rate, variances, err := p.Rates(ctx)
	if err != nil {
		return nil, err
	}
	_, all, err := p.Expected(ctx)
	if err != nil {
		return nil, err
	}
	lower, err := p.Quantile(ctx, 0.025)
	if err != nil {
		return nil, err
	}
	upper, err := p.Quantile(ctx, 0.975)
	if err != nil {
		return nil, err
	}
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{Title: "Disasters in coal mines", XLabel: "year", YLabel: "disasters in a year",
			Caption: "Counts of each year, their rate f with its 95 % band, and the band of whole numbers " +
				"y that holds a count with 95 %."},
		Observed: viz.Points{X: c.years.X.Coordinate(0), Y: c.years.Y},
		Predictions: []viz.Prediction{{Name: "rate", X: x, Mean: rate, LatentVar: variances, NoisyVar: all,
			Lower: lower, Upper: upper}},
	})
}

// Years tabulates what the model expects of single years.
func (c *Counted) Years(ctx context.Context) (*viz.Table, error) {
	years := []float64{1860, 1900, 1940, 1970}
	p, err := c.coal.Predict(ctx, gppl.Scalars(years), nil)
	if err != nil {
		return nil, err
	}
	t := &viz.Table{Caption: "What to expect of a year", Columns: []viz.Column{{Name: "year"}, {Name: "rate"},
		{Name: "none", Format: viz.Percent(0)}, {Name: "more than 3", Format: viz.Percent(1)}, {Name: "with 95 %, at most"}}}
	rate, _, err := p.Rates(ctx)
	if err != nil {
		return nil, err
	}
	most, err := p.Quantile(ctx, 0.95)
	if err != nil {
		return nil, err
	}
	for i, year := range years {
		t.Rows = append(t.Rows, []any{fmt.Sprint(year), rate[i], p.CDF(i, 0), 1 - p.CDF(i, 3), int(most[i])})
	}
	return t, nil
}

// Shares compares models of wins among 1 to 12 games a week: binomial, and a normal distribution of the share of games won.
func Shares(ctx context.Context, scale scales.Scale) (*viz.Figure, *viz.Table, error) {
	n := scales.Pick(scale, 200, 60)
	rnd := rand.New(rand.NewPCG(15, 3))
	x := timeline.Steps(n)
	games, wins, share, g := make([]float64, n), make([]float64, n), make([]float64, n), wander(rnd, x, 1, 2, 0.2*float64(n))
	for i := range x {
		games[i] = float64(1 + rnd.IntN(12))
		for u := rnd.Float64(); (observe.Binomial{}).CDF(wins[i], games[i], g[i]) < u; wins[i]++ {
		}
		share[i] = wins[i] / games[i]
	}
	d, err := gppl.NewData(gppl.Scalars(x), wins)
	if err != nil {
		return nil, nil, err
	}
	start := startOfCounts(float64(n))
	fit, err := observe.FitLaplace(ctx, start, d, observe.Binomial{}, games, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		return nil, nil, err
	}
	p, err := fit.Predict(ctx, d.X, nil)
	if err != nil {
		return nil, nil, err
	}
	normal := gppl.Model{Kernel: start.Kernel, Mean: start.Mean, Noise: 0.1}
	_, posterior, err := fitAuto(ctx, normal, gppl.Data{X: d.X, Y: share})
	if err != nil {
		return nil, nil, err
	}
	mean, variances, err := posterior.Latent(ctx, d.X)
	if err != nil {
		return nil, nil, err
	}
	chance, _, err := p.Rates(ctx)
	if err != nil {
		return nil, nil, err
	}
	var off [2]float64
	var beyond [2]int
	upper := make([]float64, n)
	lower := make([]float64, n)
	for i := range x {
		truth, sd := (observe.Binomial{}).Mean(1, g[i]), math.Sqrt(p.Variance[i])
		lower[i], upper[i] = (observe.Binomial{}).Mean(1, p.Mean[i]-forecast.Quantile95*sd),
			(observe.Binomial{}).Mean(1, p.Mean[i]+forecast.Quantile95*sd)
		off[0] += (chance[i] - truth) * (chance[i] - truth) / float64(n)
		off[1] += (mean[i] - truth) * (mean[i] - truth) / float64(n)
		if half := forecast.Quantile95 * math.Sqrt(variances[i]); mean[i]+half > 1 || mean[i]-half < 0 {
			beyond[1]++
		}
	}
	t := &viz.Table{Caption: "The chance of a win", Columns: []viz.Column{{Name: "model"}, {Name: "error of the chance (RMS)"},
		{Name: "weeks in which its 95 % band leaves 0 to 1"}},
		Rows: [][]any{{"wins among games, binomial", math.Sqrt(off[0]), beyond[0]},
			{"share of wins, normal", math.Sqrt(off[1]), beyond[1]}}}
	figure, err := viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{Title: "The chance of a win", XLabel: "time (weeks)", YLabel: "share of games that are won",
			Caption: "The shares of single weeks, of 1 to 12 games each, and the chance of a win with its 95 % band."},
		Observed: viz.Points{X: x, Y: share},
		Predictions: []viz.Prediction{{Name: "binomial", X: x, Mean: chance, Lower: lower, Upper: upper,
			LatentVar: slices.Repeat([]float64{math.Inf(1)}, n)}}, // the band is then from Lower to Upper
	})
	return figure, t, err
}

// AtLeastOne is a likelihood of counts that are seen only if they are not zero, such as the sizes of groups: Poisson given that y
// > 0. With μ = size·eᵍ, log p = y·log μ − log(e^μ − 1) − log y!. Its first derivative in g is y − m, with the
// mean m = μ/(1 − e^−μ).
type AtLeastOne struct{ observe.Poisson }

var _ observe.Likelihood = AtLeastOne{}

func (AtLeastOne) String() string { return "Poisson, at least one" }

// Check is part of [observe.Likelihood], as are the other methods.
func (l AtLeastOne) Check(y, size float64) error {
	if y == 0 {
		return fmt.Errorf("a count of 0: want 1, 2, …")
	}
	return l.Poisson.Check(y, size)
}

// Mean is m.
func (l AtLeastOne) Mean(size, g float64) float64 {
	mu := l.Poisson.Mean(size, g)
	return mu / -math.Expm1(-mu)
}

// Variance is dm/dg = m(1 + μ − m).
func (l AtLeastOne) Variance(size, g float64) float64 {
	m := l.Mean(size, g)
	return m * (1 + l.Poisson.Mean(size, g) - m)
}

// LogDensity is Poisson's less the log probability of a nonzero count.
func (l AtLeastOne) LogDensity(y, size, g float64) observe.Derivatives {
	mu, m, v := l.Poisson.Mean(size, g), l.Mean(size, g), l.Variance(size, g)
	value := l.Poisson.LogDensity(y, size, g).Value - math.Log(-math.Expm1(-mu))
	return observe.Derivatives{Value: value, D1: y - m, D2: -v, D3: -v*(1+mu-m) - m*(mu-v)}
}

// CDF is Poisson's, rescaled to rise from 0 at a count of 0 to 1.
func (l AtLeastOne) CDF(y, size, g float64) float64 {
	if y < 1 {
		return 0
	}
	none := math.Exp(-l.Poisson.Mean(size, g))
	return (l.Poisson.CDF(y, size, g) - none) / (1 - none)
}

// Own compares a user-defined likelihood, of groups that are seen only if they are not empty, with Poisson's.
func Own(ctx context.Context, scale scales.Scale) (*viz.Table, error) {
	n := scales.Pick(scale, 400, 80)
	rnd := rand.New(rand.NewPCG(15, 4))
	x := timeline.Steps(n)
	g := wander(rnd, x, 0.3, 0.4, 0.1*float64(n))
	d, err := gppl.NewData(gppl.Scalars(x), drawObservations(rnd, AtLeastOne{}, g))
	if err != nil {
		return nil, err
	}
	t := &viz.Table{Caption: "The sizes of groups, of which empty ones are not seen",
		Columns: []viz.Column{{Name: "likelihood"}, {Name: "−log likelihood", Unit: "nats", Best: true},
			{Name: "mean size, empty ones included"}, {Name: "true mean size"}}}
	start := startOfCounts(float64(n))
	for _, l := range []observe.Likelihood{observe.Poisson{}, AtLeastOne{}} {
		fit, err := observe.FitLaplace(ctx, start, d, l, nil, gppl.Settings{NoStandardErrors: true})
		if err != nil {
			return nil, err
		}
		p, err := fit.Predict(ctx, d.X, nil)
		if err != nil {
			return nil, err
		}
		rates, _, err := observe.NewCounts(observe.Poisson{}, p.Mean, p.Variance, nil).Rates(ctx)
		if err != nil {
			return nil, err
		}
		var mean, truth float64
		for i, v := range g {
			mean, truth = mean+rates[i]/float64(n), truth+math.Exp(v)/float64(n)
		}
		t.Rows = append(t.Rows, []any{l.String(), fit.Value, mean, truth})
	}
	return t, nil
}
