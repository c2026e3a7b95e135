package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/lists"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// ChannelViews are the ways in which channels may observe a function f: all observe f itself, each a multiple of f, or each a
// multiple of f plus a multiple of its derivative.
var ChannelViews = []string{"same", "scaled", "derivative"}

// ChannelOptions choose the models of FitChannels.
type ChannelOptions struct {
	Kernels []string // as ParseKernel reads them, at least one
	Views   []string // of ChannelViews; nil for all that a kernel allows
	// Progress, unless nil, is called before each model is trained.
	Progress func(kernel, view string, index, count int)
}

// ChannelFit is a model of channels after training, in the units of the series. In the views scaled and derivative the first
// variance of the kernel is 1, so that the values and slopes of channels have the size of their signals.
type ChannelFit struct {
	Kernel, View string
	Model        gppl.ChannelModel
	StdErr       []float64          // of Model.Params; NaN where it is fixed or not known
	Offsets      []gppl.Coefficient // of each channel
	NLL, BIC     float64            // of the observations in their unit, with offsets integrated out
	Trained      int                // parameters
	Status       gppl.Status
	Reason       string
	Warnings     []string
}

// ChannelAnalysis is what FitChannels learns.
type ChannelAnalysis struct {
	Channels *Channels
	Fits     []ChannelFit // the least BIC first
	Widen    float64      // factor on standard deviations beyond the last observation, set by Calibrate; 0 means 1
	*gppl.ChannelPosterior

	options ChannelOptions // of the fit, without Progress
}

// Best is the model of the least BIC.
func (a *ChannelAnalysis) Best() *ChannelFit { return &a.Fits[0] }

// FitChannels trains each kernel with each view by the exact likelihood, and compares them by BIC. Training begins where
// auto.FindStarts ends on single channels and on all of them, each standardised. Where it searched a single channel, the others
// begin at a regression on the posterior of f and f′.
func FitChannels(ctx context.Context, c *Channels, o ChannelOptions) (*ChannelAnalysis, error) {
	type job struct {
		kernel gppl.Kernel
		view   string
	}
	var jobs []job
	for _, name := range o.Kernels {
		k, err := ParseKernel(name)
		if err != nil {
			return nil, err
		}
		for _, view := range ChannelViews {
			asked, one := slices.Contains(o.Views, view), gppl.Channel{Name: c.Names[0], Value: 1, Noise: 1}
			if !asked && (view != "same" && len(c.Names) == 1 || view == "derivative" && c.Exposure != nil) {
				continue
			}
			if o.Views != nil && !asked || !asked && view == "derivative" && !gppl.IsDifferentiable(k) {
				continue
			}
			if view == "derivative" {
				one.Slope = 1
			}
			if view == "derivative" && c.Exposure != nil {
				return nil, errors.New("forecast: averages over exposures see no derivative: take another view")
			}
			if err := (gppl.ChannelModel{Kernel: k, Channels: []gppl.Channel{one}}).Check(); err != nil {
				return nil, fmt.Errorf("forecast: %s", strings.TrimPrefix(err.Error(), "gppl: "))
			}
			jobs = append(jobs, job{k, view})
		}
	}
	if len(jobs) == 0 {
		return nil, errors.New("forecast: channels: no kernel was named, or no view")
	}
	a := &ChannelAnalysis{Channels: c, options: ChannelOptions{Kernels: o.Kernels, Views: o.Views}}
	t := newChannelTrainer(c)
	for i, j := range jobs {
		if o.Progress != nil {
			o.Progress(kernelName(j.kernel), j.view, i, len(jobs))
		}
		fit, err := t.train(ctx, j.kernel, j.view)
		if err != nil {
			return nil, fmt.Errorf("forecast: channels: %s: %w", kernelName(j.kernel), err)
		}
		a.Fits = append(a.Fits, *fit)
	}
	slices.SortStableFunc(a.Fits, func(x, y ChannelFit) int { return cmp.Compare(x.BIC, y.BIC) })
	var err error
	a.ChannelPosterior, err = c.posterior(a.Fits[0].Model, c.Data(), nil, gppl.WithContext(ctx))
	return a, err
}

// likelihood returns the likelihood of a model of all channels.
func (c *Channels) likelihood(m gppl.ChannelModel, d gppl.Data, opts ...gppl.Option) (*gppl.ChannelLikelihood, error) {
	if c.Exposure != nil {
		return gppl.NewExposures(m, d, c.Of, c.Exposure, opts...)
	}
	return gppl.NewChannels(m, d, c.Of, opts...)
}

// posterior returns the posterior of all channels or, given rows, of one channel.
func (c *Channels) posterior(m gppl.ChannelModel, d gppl.Data, rows []int, opts ...gppl.Option) (*gppl.ChannelPosterior, error) {
	of, exposure := c.Of, c.Exposure
	if rows != nil {
		d, of = d.Pick(rows), make([]int, len(rows))
		if exposure != nil {
			exposure = timeline.Pick(exposure, rows)
		}
	}
	if exposure != nil {
		return gppl.NewExposurePosterior(m, d, of, exposure, opts...)
	}
	return gppl.NewChannelPosterior(m, d, of, opts...)
}

// channelTrainer trains models of one set of channels, on y less the mean of its channel, over the standard deviation of all.
type channelTrainer struct {
	*Channels
	data        gppl.Data
	scale       float64
	mean, size  []float64 // of each channel; size in units of scale
	starts      map[string][]channelStart
	standardise gppl.Data // each channel by its own mean and size
}

// channelStart is a kernel that was found on one channel, or on all (−1).
type channelStart struct {
	model gppl.Model
	from  int
}

func newChannelTrainer(c *Channels) *channelTrainer {
	t := &channelTrainer{Channels: c, data: c.Data(), starts: map[string][]channelStart{}}
	t.data.Y = slices.Clone(t.data.Y)
	t.standardise = gppl.Data{X: t.data.X, Y: slices.Clone(t.data.Y)}
	for i := range c.Names {
		mean, sd := stat.MeanStdDev(timeline.Pick(t.data.Y, c.rowsOf(i)), nil)
		t.mean, t.size = append(t.mean, mean), append(t.size, sd)
	}
	for i, of := range c.Of {
		t.data.Y[i] -= t.mean[of]
	}
	t.scale = cmp.Or(stat.StdDev(t.data.Y, nil), 1)
	for i, of := range c.Of {
		t.data.Y[i] /= t.scale
		if t.standardise.Y[i] -= t.mean[of]; t.size[of] > 0 {
			t.standardise.Y[i] /= t.size[of]
		}
	}
	for i := range t.size {
		t.size[i] /= t.scale
	}
	if t.data.Errors != nil {
		t.data.Errors = slices.Clone(t.data.Errors)
		for i := range t.data.Errors {
			t.data.Errors[i] /= t.scale
		}
	}
	return t
}

const (
	searchedChannels = 2  // number of channels, those with most observations, that are searched alone
	searchedOf       = 20 // fewest observations for such a search
	channelStarts    = 3  // optima of a search
	trainedStarts    = 3  // starts that are trained to the end
)

// search finds kernels to begin with.
func (t *channelTrainer) search(ctx context.Context, k gppl.Kernel) ([]channelStart, error) {
	if found, ok := t.starts[kernelName(k)]; ok {
		return found, nil
	}
	counts := t.Counts()
	if len(counts) == 1 {
		counts = nil // all observations are of one channel
	}
	order := timeline.Range(0, len(counts))
	slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	order = order[:min(len(order), searchedChannels)]
	from := append([]int{-1}, lists.Where(order, func(c int) bool { return counts[c] >= searchedOf })...)
	var all []channelStart
	for _, c := range from {
		d := t.standardise
		if c >= 0 {
			d = d.Pick(t.rowsOf(c))
		}
		found, err := auto.FindStarts(ctx, gppl.Model{Kernel: k, Noise: 1, Mean: gppl.Intercept{}}.FixRedundant(), d, auto.Settings{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		for _, m := range found.Models[:min(len(found.Models), channelStarts)] {
			all = append(all, channelStart{m, c})
		}
	}
	if len(all) == 0 {
		all = []channelStart{{auto.StartFrom(gppl.Model{Kernel: k, Noise: 1}, t.standardise), -1}}
	}
	t.starts[kernelName(k)] = all
	return all, nil
}

// train trains a kernel with a view from the best of its starts.
func (t *channelTrainer) train(ctx context.Context, k gppl.Kernel, view string) (*ChannelFit, error) {
	starts, err := t.search(ctx, k)
	if err != nil {
		return nil, err
	}
	type candidate struct {
		loss  *gppl.ChannelLikelihood
		value float64
	}
	var all []candidate
	var failed error
	for _, s := range starts {
		loss, err := t.likelihood(t.begin(s, view), t.data, gppl.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		value, err := loss.ValueGrad(nil, gppl.Values(loss.Params()))
		if err != nil {
			failed = err
			continue
		}
		all = append(all, candidate{loss, value})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.value, b.value) })
	var best *gppl.Result
	var loss *gppl.ChannelLikelihood
	for _, c := range all[:min(len(all), trainedStarts)] {
		r, err := gppl.Fit(ctx, c.loss, t.withFloors(c.loss.Params()), gppl.Settings{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = err
		} else if best == nil || r.Value < best.Value {
			best, loss = r, c.loss
		}
	}
	if best == nil {
		return nil, failed
	}
	return t.finish(k, view, loss, best), nil
}

// begin returns the model of a start: in the view same on the scale of all channels, otherwise with a first variance of 1.
func (t *channelTrainer) begin(s channelStart, view string) gppl.ChannelModel {
	theta := s.model.Values()
	noise := max(theta[len(theta)-1], 1e-4)
	at := gppl.Amplitudes(s.model.Kernel)
	theta = theta[:len(theta)-1]
	root := math.Sqrt(theta[at[0]])
	factor := 1 / theta[at[0]]
	if view == "same" {
		factor = 1
		if s.from >= 0 {
			factor = t.size[s.from] * t.size[s.from]
		}
	}
	for _, i := range at {
		theta[i] *= factor
	}
	m := gppl.ChannelModel{Kernel: s.model.Kernel.WithParams(theta)}
	for c, name := range t.Names {
		ch := gppl.Channel{Name: name, Value: 1, Noise: max(noise*t.size[c]*t.size[c], 1e-12)}
		if view != "same" {
			ch.Value = root * t.size[c]
		}
		m.Channels = append(m.Channels, ch)
	}
	var fixed []string
	for _, p := range s.model.Params() {
		if p.IsFixed() {
			fixed = append(fixed, p.Name)
		}
	}
	if view != "same" {
		fixed = append(fixed, m.Kernel.Params()[at[0]].Name)
		t.regress(m, s.from, view == "derivative")
	}
	for _, ch := range m.Channels {
		if view == "same" {
			fixed = append(fixed, ch.ValueOf())
		}
		if view != "derivative" && gppl.IsDifferentiable(m.Kernel) {
			fixed = append(fixed, ch.SlopeOf())
		}
	}
	return m.WithFixed(fixed...)
}

// regress sets value, slope and noise of the channels, except that from which a start came, by a regression on the posterior of f
// and f′ given that channel. It does nothing for a start that came from all channels.
func (t *channelTrainer) regress(m gppl.ChannelModel, from int, slopes bool) {
	if from < 0 {
		return
	}
	rows := t.rowsOf(from)
	alone := gppl.ChannelModel{Kernel: m.Kernel, Channels: m.Channels[from : from+1]}
	p, err := t.posterior(alone, t.data, rows)
	if err != nil {
		return
	}
	for c := range m.Channels {
		rows := t.rowsOf(c)
		if c == from || len(rows) < 5 {
			continue
		}
		var x []float64
		y := mat.NewVecDense(len(rows), nil)
		for i, row := range rows {
			x = append(x, t.data.X.At(row)[0])
			y.SetVec(i, t.data.Y[row])
		}
		f, _, err := p.Function(x)
		if err != nil {
			return
		}
		basis := [][]float64{f}
		if slopes {
			slope, _, err := p.Derivative(x)
			if err != nil {
				return
			}
			basis = append(basis, slope)
		}
		h := mat.NewDense(len(rows), 1+len(basis), nil)
		for i := range rows {
			h.Set(i, 0, 1)
			for j, b := range basis {
				h.Set(i, 1+j, b[i])
			}
		}
		var beta, rest mat.VecDense
		if err := beta.SolveVec(h, y); err != nil {
			continue
		}
		rest.MulVec(h, &beta)
		rest.SubVec(y, &rest)
		ch := &m.Channels[c]
		if ch.Value = beta.AtVec(1); slopes {
			ch.Slope = beta.AtVec(2)
		}
		ch.Noise = max(mat.Dot(&rest, &rest)/float64(len(rows)), 1e-4*t.size[c]*t.size[c])
	}
}

// finish converts a training to the units of the series.
func (t *channelTrainer) finish(k gppl.Kernel, view string, loss *gppl.ChannelLikelihood, r *gppl.Result) *ChannelFit {
	theta := r.Starts[r.Best].Theta
	square := t.scale * t.scale
	fit := &ChannelFit{Kernel: kernelName(k), View: view, Status: r.Status, Reason: r.Reason, Warnings: r.Warnings,
		Offsets: slices.Clone(r.Mean)}
	at := gppl.Amplitudes(k)
	kernel := len(k.Params())
	for i, p := range r.Params {
		factor := 1.
		switch {
		case p.Role == gppl.RoleNoise:
			factor = square
		case p.Role == gppl.RoleCoefficient && view != "same":
			factor = t.scale
		case view == "same" && i < kernel && slices.Contains(at, i):
			factor = square
		}
		theta[i] *= factor
		se := math.NaN()
		if !p.IsFixed() {
			fit.Trained++
			se = p.StdErr() * factor
		}
		fit.StdErr = append(fit.StdErr, se)
	}
	fit.Model = loss.ChannelModel(theta)
	n, h := float64(len(t.Of)), float64(len(t.Names))
	fit.NLL = r.Value + (n-h)*math.Log(t.scale)
	fit.BIC = bic(fit.NLL, fit.Trained+len(t.Names), len(t.Of))
	for c := range fit.Offsets {
		fit.Offsets[c].Name = t.Names[c]
		fit.Offsets[c].Value = fit.Offsets[c].Value*t.scale + t.mean[c]
		fit.Offsets[c].StdErr *= t.scale
	}
	if view != "same" { // f may as well be −f
		all := fit.Model.Channels
		if first := slices.IndexFunc(all, func(ch gppl.Channel) bool { return ch.Value != 0 }); first >= 0 && all[first].Value < 0 {
			for c := range all {
				all[c].Value, all[c].Slope = -all[c].Value, -all[c].Slope
			}
		}
	}
	return fit
}
