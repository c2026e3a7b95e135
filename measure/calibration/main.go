// Command calibration measures how many simulated observations fall into the bands of forecasts: with the learnt parameters
// plugged in, with an average over their uncertainty, and with the true parameters, whose bands are correct up to chance:
//
//	go run ./measure/calibration
//	go run ./measure/calibration -series 40 -only trend
//	go run ./measure/calibration -true
//
// It simulates series of each kind and trains a model of the same family on all but the last 50 observations, as a user would:
// starts by auto.Fit, then with the default priors. It compares the forecasts 1, 10 and 50 steps ahead with these observations.
// Nothing is stored: everything is computed again from seeds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/lists"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// horizons are the steps ahead of the forecasts.
var horizons = []int{1, 10, 50}

var levels = []float64{0.5, 0.95}

func main() {
	var (
		series  = flag.Int("series", 200, "simulated series of each kind")
		n       = flag.Int("n", 120, "observations to train on")
		only    = flag.String("only", "", "only kinds whose name contains this")
		truth   = flag.Bool("true", false, "the bands of the true parameters alone: nothing is trained")
		workers = flag.Int("workers", runtime.NumCPU(), "series at the same time")
	)
	flag.Parse()
	for _, k := range kinds() {
		if strings.Contains(k.name, *only) {
			k.untrained = *truth
			k.report(os.Stdout, k.simulate(*n, *series, *workers))
		}
	}
}

// A kind simulates series and knows the family of models that they come from.
type kind struct {
	name   string
	truth  gppl.Model
	slope  float64
	nu     float64 // of Student-t noise; 0 for Gaussian
	family func(x gppl.Inputs) gppl.Model

	untrained bool // only the true parameters are used
}

func kinds() []kind {
	return []kind{
		{name: "SE + trend", truth: gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 8}, Noise: 0.1}, slope: 0.05,
			family: func(x gppl.Inputs) gppl.Model {
				return gppl.Model{Kernel: gppl.SE{}, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, x))}
			}},
		{name: "SE + Periodic", truth: gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 10},
			gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 12}), Noise: 0.1},
			family: func(gppl.Inputs) gppl.Model { return gppl.Model{Kernel: gppl.Add(gppl.SE{}, gppl.Periodic{})} }},
		{name: "Matern32, Student-t noise", truth: gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 10}, Noise: 0.1}, nu: 4,
			family: func(gppl.Inputs) gppl.Model { return gppl.Model{Kernel: gppl.Matern32{}} }},
	}
}

// outcome is the result for one series: whether the observation at each horizon is inside the band of each level, with known,
// with uncertain and with true parameters, and the width of the 95 % band.
type outcome struct {
	inside [3][][]bool
	width  [3][]float64
	k      float64 // k̂
	alone  bool    // only the learnt parameters are used, without an average
	err    error
}

func (k kind) simulate(n, series, atOnce int) []outcome {
	outcomes := make([]outcome, series)
	workers.Each(atOnce, series, func(i int) {
		if outcomes[i] = k.one(n, uint64(i)); outcomes[i].err != nil {
			fmt.Fprintf(os.Stderr, "%s, series %d: %v\n", k.name, i, outcomes[i].err)
		}
	})
	return outcomes
}

// one simulates a series, trains on its first n observations and forecasts the others.
func (k kind) one(n int, seed uint64) (o outcome) {
	d, err := k.draw(n+horizons[len(horizons)-1], seed)
	if err != nil {
		return outcome{err: err}
	}
	at := make([]int, len(horizons))
	future := make([]float64, len(horizons))
	for i, h := range horizons {
		at[i] = n - 1 + h
		future[i] = d.Y[at[i]]
	}
	train := gppl.Data{X: d.X.Slice(0, n), Y: d.Y[:n]}
	var forecasts [3]*draws.Mixture
	if !k.untrained {
		var u *draws.Uncertain
		if forecasts[0], forecasts[1], u, err = k.forecast(train, d.X.Pick(at)); err != nil {
			return outcome{err: err}
		}
		o.k, o.alone = u.K, u.Fallback != ""
	}
	if forecasts[2], err = k.known(train, d.X.Pick(at), seed); err != nil {
		return outcome{err: err}
	}
	for f, m := range forecasts {
		if m == nil {
			continue
		}
		for _, level := range levels {
			lo, hi := m.Quantile(0.5*(1-level)), m.Quantile(0.5*(1+level))
			var inside []bool
			for i, y := range future {
				inside = append(inside, lo[i] <= y && y <= hi[i])
			}
			o.inside[f] = append(o.inside[f], inside)
			if level == 0.95 {
				for i := range hi {
					o.width[f] = append(o.width[f], hi[i]-lo[i])
				}
			}
		}
	}
	return o
}

func (k kind) draw(n int, seed uint64) (gppl.Data, error) {
	x := timeline.Steps(n)
	f, y, _, err := k.truth.Sample(gppl.Scalars(x), 1000+seed)
	if err != nil {
		return gppl.Data{}, err
	}
	if k.nu > 0 {
		noise := distuv.StudentsT{Sigma: math.Sqrt(k.truth.Noise), Nu: k.nu, Src: rand.New(rand.NewPCG(seed, 77))}
		for i := range y {
			y[i] = f[i] + noise.Rand()
		}
	}
	floats.AddScaled(y, k.slope, x)
	return gppl.NewData(gppl.Scalars(x), y)
}

// known returns the forecast with the true parameters; the coefficients of a mean remain unknown.
func (k kind) known(d gppl.Data, at gppl.Inputs, seed uint64) (*draws.Mixture, error) {
	if k.nu > 0 {
		return k.sampled(d, at, seed)
	}
	truth := k.truth
	truth.Mean = k.family(d.X).Mean
	condition := func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(m, d) }
	return (&draws.Uncertain{Models: []gppl.Model{truth}}).Predict(context.Background(), at, condition)
}

// forecast returns forecasts with plugged-in and with uncertain parameters.
func (k kind) forecast(d gppl.Data, at gppl.Inputs) (known, averaged *draws.Mixture, u *draws.Uncertain, err error) {
	ctx := context.Background()
	start, err := auto.Fit(ctx, k.family(d.X), d, auto.Settings{})
	if err != nil {
		return nil, nil, nil, err
	}
	priors := gppl.DefaultPriors(start.Model, d)
	if k.nu > 0 {
		r, err := observe.FitRobust(ctx, start.Model, d, observe.RobustSettings{})
		if err != nil {
			return nil, nil, nil, err
		}
		priors = priors[:len(priors)-1] // the noise is already learnt
		if known, err = r.Predict(ctx, at); err != nil {
			return nil, nil, nil, err
		}
		averaged, u, err = r.PredictUncertain(ctx, at, draws.UncertainSettings{}, priors...)
		return known, averaged, u, err
	}
	exact, err := gppl.NewExact(start.Model, d)
	if err != nil {
		return nil, nil, nil, err
	}
	loss, err := gppl.NewMAP(exact, priors...)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		return nil, nil, nil, err
	}
	condition := func(m gppl.Model) (*gppl.Posterior, error) { return gppl.NewPosterior(m, d) }
	learnt := &draws.Uncertain{Models: []gppl.Model{r.Model}}
	if known, err = learnt.Predict(ctx, at, condition); err != nil {
		return nil, nil, nil, err
	}
	if u, err = draws.NewUncertain(ctx, loss, r, draws.UncertainSettings{}); err != nil {
		return nil, nil, nil, err
	}
	averaged, err = u.Predict(ctx, at, condition)
	return known, averaged, u, err
}

// report prints shares with binomial standard errors.
func (k kind) report(to io.Writer, outcomes []outcome) {
	n, alone, unreliable := 0, 0, 0
	for _, o := range outcomes {
		if o.err != nil {
			continue
		}
		n++
		if o.alone {
			alone++
		} else if o.k > 0.5 {
			unreliable++
		}
	}
	trained := fmt.Sprintf("; the learnt parameters stand alone in %d, k̂ is above 0.5 in %d", alone, unreliable)
	if k.untrained {
		trained = ""
	}
	fmt.Fprintf(to, "%s: %d series, %d failed%s\n", k.name, n, len(outcomes)-n, trained)
	if n == 0 {
		return
	}
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "  parameters\tsteps ahead\tin the 50 % band\tin the 95 % band\twidth of the 95 % band")
	for f, name := range []string{"known", "uncertain", "true"} {
		if k.untrained && name != "true" {
			continue
		}
		for i, h := range horizons {
			fmt.Fprintf(out, "  %s\t%d", name, h)
			for l := range levels {
				p := float64(lists.Count(outcomes, func(o outcome) bool { return o.err == nil && o.inside[f][l][i] })) / float64(n)
				fmt.Fprintf(out, "\t%.1f ± %.1f %%", 100*p, 100*math.Sqrt(levels[l]*(1-levels[l])/float64(n)))
			}
			var width float64
			for _, o := range outcomes {
				if o.err == nil {
					width += o.width[f][i] / float64(n)
				}
			}
			fmt.Fprintf(out, "\t%.3g\n", width)
		}
	}
}
