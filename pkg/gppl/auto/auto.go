package auto

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// Settings configures Fit. The zero value is recommended.
type Settings struct {
	// Fit configures each training. Its NoStandardErrors applies to the result; GradientTolerance 0 means 1e-3 for projections
	// and, for the likelihood, the rule of gppl.Settings. Starts is the number of random starts that are tried if doubts
	// remain; 0 means 6, or none after a search of all data that ended at an optimum.
	Fit gppl.Settings
	// KeepStart trains from the values of the model, without a search. Otherwise these values do not matter, and periods with the
	// default transform stay between twice the mean spacing of x and its range. At irregular x they may be shorter, down to
	// Search.Shortest, if the periodogram shows such a period.
	KeepStart bool
	// Priors, unless nil, are priors of parameters, in natural units: the search and each training then look for the
	// maximum of the posterior (gppl.NewMAP), and Result.Value is the loss less the log prior density.
	Priors []gppl.ParamPrior
	// Projected uses projections even where the exact likelihood costs less, as long as fewer than n of them suffice.
	Projected bool
	// Gain, in nats, ends the addition of projections: it stops once refitting improves the loss by less. 0 means 0.5.
	Gain float64
	// MaxProjections bounds k; 0 means n/2.
	MaxProjections int
	// Memory, unless 0, is the largest memory of an evaluation of FitSums, in bytes (gppl.WithMemory).
	Memory float64
	// Progress, unless nil, is called after every step.
	Progress func(Step)
}

// Step is one round of Fit: a training, and the decision that followed it.
type Step struct {
	K         int       // projections; 0 for the exact likelihood
	Value     float64   // value of the loss after training, in nats
	Theta     []float64 // natural values of the parameters after training
	Gain      float64   // nats by which training improved on the end of the step before
	Needed    int       // columns that the trained model's spectrum needs; 0 if no number suffices
	StdErrLog []float64 // standard errors of log θ: NaN if fixed, +Inf if not identified; nil if not known
	// Kept is the share of the information about each parameter that the projections keep; nil if not known. The information of
	// the data comes from Whittle's approximation, which is correct to within about 10 %.
	Kept        []float64
	Evaluations int
	Seconds     float64 // time of the step with its set-up
	Decision    string  // what Fit does next, and why
}

// Result is the result of Fit. It embeds the result of the last step, with the times and evaluations of all steps together.
type Result struct {
	*gppl.Result
	Exact      bool             // the loss is the exact likelihood
	Projection *gppl.Projection // the last projection that was trained on; nil if there was none
	Kept       []float64        // share of the information about each parameter, as in Step; nil if not known
	Why        string           // the reason for this loss, and for stopping at this number of projections
	Search     Search           // the ranges and starts that the search covered
	Steps      []Step
}

// Fit learns the parameters of m from a time series without further choices: by the projected likelihood with its residual energy
// (gppl.NewResidual) on as many Spectral projections as needed, or by the exact likelihood where that costs less.
//
// First it searches for starts, as the package comment says; Result.Search reports what was searched. Up to 400 observations the
// search uses all of them, beyond that three parts of 128 (close together, further apart, spread over all). Irregular x resolve
// periods down to a fiftieth of the mean spacing (Search.Shortest) or to twice the step of a grid that all x lie on; a period is
// Doubtful if an alias fits within 7 nats.
//
// From 2048 observations on, the search uses the mean periodogram of segments of 2048. Each start then takes the periods that the
// periodogram of the whole series supports best, and training on all data begins at the best start by the exact likelihood,
// guided by the information of a regular series (gppl.Settings.Guide). Further starts are trained only if the periodogram says
// they are better.
//
// Then it trains with three quarters of the projections that the spectrum of the start needs (Model.SpectralColumns), and adds
// projections, continuing from where it stopped, until
//
//   - the signal is below a tenth of the noise at all frequencies beyond them,
//   - the periodogram of the remainder of y is white: no band of frequencies has more
//     power than chance explains,
//   - the last addition improved the loss by less than Gain,
//   - they keep 80 % of the information about each parameter, as far as that is known,
//   - and no parameter is driven to the limits of what the data resolve: a noise
//     variance that vanishes, a lengthscale beyond the range or below the spacing of x.
//
// It uses the exact likelihood if an engine computes it for less than the projections would cost (Laplace and Matérn by the
// state-space engine, short series, kernels of few frequencies), or if n/2 projections would not be enough. If doubts remain, it
// tries further starts around those from the data and around its best point, keeps the best point of all, and returns it as
// Doubtful with warnings.
//
// Inputs of several dimensions are trained on exactly. The search takes lengthscales between a 128th of the range of x and twice
// it, along the axes that each is of (gppl.On, gppl.ARD).
//
// Standard errors of a projected result come from the information of z and of the residual (gppl.Projected.Information). The
// share of information kept comes from Whittle's approximation of the information of y, which holds for x without clusters.
//
// If the model has a mean, Fit searches for starts in the residuals of y after a least-squares fit of the mean, and trains the
// model with its mean. Observations with known errors are trained on exactly.
//
// It is an error if y is constant or the mean explains all of it, since the likelihood is then unbounded, if the loss cannot be
// evaluated at the start, or if ctx ends; Fit then returns the best point so far with ctx's error.
func Fit(ctx context.Context, m gppl.Model, d gppl.Data, s Settings) (*Result, error) {
	a, err := newFitting(ctx, m, d, s)
	if err != nil {
		return nil, err
	}
	if err := a.findStarts(); err != nil {
		return nil, err
	}
	a.at, a.next, a.sure = a.starts[0], a.starts, a.given
	err = a.run()
	if a.result.Result == nil {
		return nil, err
	}
	a.finish()
	return a.result, err
}

// newFitting checks the model and the data, and completes the settings.
func newFitting(ctx context.Context, m gppl.Model, d gppl.Data, s Settings) (*fitting, error) {
	if m.Kernel == nil {
		return nil, fmt.Errorf("gppl: the model has no kernel")
	}
	if err := cmp.Or(m.CheckPlain("auto.Fit", d), d.Check()); err != nil {
		return nil, err
	}
	if err := m.CheckAxes(d.X); err != nil {
		return nil, err
	}
	if m.IsPlaced() && d.X.Dim() == 1 {
		return nil, fmt.Errorf("gppl: auto.Fit does not take %v for a time series: the covariance depends on where the inputs are, not"+
			" on their distance alone; train it by gppl.Fit from auto.StartFrom", m.Kernel)
	}
	if err := m.CheckBasis(ctx, d.X); err != nil {
		return nil, err
	}
	if slices.Min(d.Y) == slices.Max(d.Y) {
		return nil, fmt.Errorf("gppl: fit: all %d observations equal %v: the likelihood has no maximum", d.Len(), d.Y[0])
	}
	if err := d.CheckUnits(); err != nil {
		return nil, err
	}
	d = inOrder(d) // sorted once, so that no later step has to
	rest, err := m.SubtractMean(ctx, d)
	if err != nil {
		return nil, err
	}
	if left, all := blas64.Nrm2(dense.Vec(rest.Y)), blas64.Nrm2(dense.Vec(d.Y)); left <= constant*all {
		return nil, fmt.Errorf("gppl: fit: the mean %v explains all %d observations: the likelihood has no maximum", m.Mean, d.Len())
	}
	a := &fitting{ctx: ctx, settings: s, data: d, rest: rest, family: m, result: &Result{}}
	a.settings.Gain = cmp.Or(s.Gain, 0.5)
	a.settings.MaxProjections = cmp.Or(s.MaxProjections, d.Len()/2)
	return a, nil
}

// inOrder returns a series in the order of its x.
func inOrder(d gppl.Data) gppl.Data {
	if d.X.Dim() == 1 {
		if order := timeline.Order(d.X.Coordinate(0)); order != nil {
			return d.Pick(order)
		}
	}
	return d
}

// constant is the share of y that rounding leaves where a mean explains all of it.
const constant = 1e-13

// findStarts sets the starts: the model itself, or the models that the search finds.
func (a *fitting) findStarts() (err error) {
	a.starts = []gppl.Model{a.family}
	if !a.settings.KeepStart {
		if a.starts, err = startsFrom(a.ctx, a.family, a.data); err != nil { // ctx has ended; training will report it
			a.starts = []gppl.Model{unitScales(a.family)}
		}
	}
	if a.priors, err = a.priorsByName(); err != nil {
		return err
	}
	for i := range a.starts {
		a.starts[i] = InSupport(a.starts[i], a.priors)
	}
	if err := a.starts[0].Check(); err != nil {
		return err
	}
	if a.settings.KeepStart {
		return nil
	}
	return a.search()
}

// fitting is the state of one call of Fit.
type fitting struct {
	ctx       context.Context
	settings  Settings
	data      gppl.Data
	rest      gppl.Data         // least-squares residuals of data, if the model has a mean
	family    gppl.Model        // the model as the caller gave it
	priors    []gppl.ParamPrior // priors, each with the name of its parameter
	at        gppl.Model        // the model that training has reached
	starts    []gppl.Model      // training begins at the best of these
	loss      gppl.Loss         // the loss that was trained last
	result    *Result
	next      []gppl.Model // further starts of the next training, which trains the best of them to the end
	given     []gppl.Model // starts that do not come from searching a part of the data
	sure      []gppl.Model // starts from which the next training runs to the end
	retried   bool         // given was tried again with enough projections
	shortest  float64      // the shortest period that the search allows; 0: any
	longest   float64      // the longest
	irregular *lombScargle // the periodogram of irregular times, if it shows a period below twice the mean spacing; else nil
	spread    gppl.Loss    // the loss of a part of long irregular data, to search short periods on; nil: all data are used
	metric    *metric      // gives the curvature of the loss of a long series; nil: none
	guide     gppl.Loss    // the cheap periodogram likelihood of a long series; nil: none
	spare     gppl.Loss    // the likelihood of a part of a long series, spread over all of it; nil: none
	unsettled []string     // doubts that the search could not remove
	coloured  bool         // the remainder of y outside the projections was not white
	refused   bool         // Fit rejects this model and data; only starts are asked for

	evaluations    int // total of all trainings
	setUp, trained time.Duration
}

// run trains on more and more projections, and switches to the exact likelihood where that is cheaper.
func (a *fitting) run() error {
	exact, err := gppl.NewExact(a.ctx, a.at, a.data)
	if err != nil {
		return err
	}
	if why := a.noProjections(); why != "" {
		return a.trainExact(why)
	}
	needed, _ := a.needed(a.at)
	count := max(16, needed*3/4)
	for {
		if why := a.exactInstead(exact, count); why != "" {
			return a.trainExact(why)
		}
		step, err := a.trainProjected(count)
		if err != nil {
			return err
		}
		more, why := a.more(step, count)
		if more == 0 && len(a.given) > 0 && !a.retried && len(a.result.Steps) > 0 {
			a.retried, a.sure = true, a.given
			a.record(step, "again, from the starts that fewer projections may have misjudged: "+why)
			continue
		}
		if more == 0 {
			a.result.Why = why
			a.record(step, "enough: "+why)
			return a.settle(exact)
		}
		a.record(step, fmt.Sprintf("%d columns next: %s", more, why))
		count = more
	}
}

// record appends a step, with the decision that followed it.
func (a *fitting) record(step Step, decision string) {
	r := a.result.Result
	step.Value, step.Theta, step.Evaluations, step.Decision = r.Value, r.Model.Values(), r.Evaluations, decision
	a.result.Steps = append(a.result.Steps, step)
	a.result.Kept = step.Kept
	if a.settings.Progress != nil {
		a.settings.Progress(step)
	}
}

// finish gives the result the totals of all steps, and the model its own transforms.
func (a *fitting) finish() {
	r := a.result.Result
	r.Model = a.family.WithParams(r.Model.Values())
	for i, p := range a.family.Params() {
		r.Params[i].Transform = p.Transform
	}
	r.Evaluations, r.FitTime, r.SetupTime = a.evaluations, a.trained, a.setUp
	if a.result.Exact {
		r.SetupTime += a.loss.Report().Setup
	}
}

// String renders the steps and the outcome.
func (r *Result) String() string {
	var b strings.Builder
	for _, s := range r.Steps {
		if s.K > 0 {
			fmt.Fprintf(&b, "k = %d: ", s.K)
		} else {
			b.WriteString("exact: ")
		}
		fmt.Fprintf(&b, "%.6g nats, gained %.2g, %d evaluations, %s; %s\n", s.Value, s.Gain, s.Evaluations, timeline.Seconds(s.Seconds),
			s.Decision)
	}
	fmt.Fprintf(&b, "%v\n", r.Search)
	return b.String() + r.Result.String()
}
