package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// Fitted is a model that was learnt from a series, and its forecast, in the units of the series. A reader tries other kernels,
// lengthscales and seasons, a shorter or longer forecast, and the series without one observation. Nothing is learnt again.
type Fitted struct {
	Models    []Learnt  `json:"models"` // models to choose from, the published one first
	Views     []View    `json:"views"`  // how models see the observations
	X         []float64 `json:"x"`      // places of the observations, ascending
	Y         []float64 `json:"y"`
	Texts     []string  `json:"texts"` // texts of the latest X, as many as are drawn
	Ahead     []float64 `json:"ahead"` // places of the longest forecast
	Drawn     []float64 `json:"drawn"` // places at which the line is drawn, up to the end of the longest forecast
	Steps     int       `json:"steps"` // number of steps of the published forecast
	YUnit     string    `json:"yUnit"`
	XUnit     string    `json:"xUnit"`
	Digits    int       `json:"digits"` // digits of a forecast after the decimal point
	Widen     float64   `json:"widen"`  // factor on standard deviations beyond the last observation
	Published Answers   `json:"published"`

	given *given
}

// Learnt is a model with its name, and the index of its view of the observations.
type Learnt struct {
	Name  string      `json:"name"`
	Model store.Model `json:"model"`
	View  int         `json:"view"`
}

// View holds the observations as models see them, standardised: y, or log y, is Mean + Scale·Z. Known errors are absolute, or
// relative to the noise that is learnt; Typical is the absolute error of a new observation.
type View struct {
	Log      bool      `json:"log,omitempty"`
	Mean     float64   `json:"mean"`
	Scale    float64   `json:"scale"`
	Z        []float64 `json:"z"`
	Errors   []float64 `json:"errors,omitempty"`
	Relative []float64 `json:"relative,omitempty"`
	Typical  float64   `json:"typical,omitempty"`
}

// Answers are the negative log likelihood of the standardised observations, in nats, and the forecast of its last step: the
// middle and the ends of the 95 % band of an observation.
type Answers struct {
	NLL    float64 `json:"nll"`
	Middle float64 `json:"middle"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
}

// given holds what depends only on the model and on the observation that is left out.
type given struct {
	model, out int
	data       gppl.Data
	exact      *gppl.Exact
}

// has reports whether a model has parameters of a role that can move.
func (f *Fitted) has(role gppl.Role) bool {
	return slices.ContainsFunc(f.Models, func(m Learnt) bool { return len(moving(m.Model.Model, role)) > 0 })
}

// moving returns the indices of the parameters of a role, without parameters that are fixed to define a kernel, such as a random
// walk. A period may be fixed to what a calendar says, and moves nevertheless.
func moving(m gppl.Model, role gppl.Role) (at []int) {
	for i, p := range m.Params() {
		if p.Role == role && (role == gppl.RolePeriod || !p.IsFixed()) {
			at = append(at, i)
		}
	}
	return at
}

// Controls returns the model, if there are several, the lengthscales and seasons as multiples of the learnt ones, the number of
// steps that are forecast, and the observation that is left out.
func (f *Fitted) Controls() []Control {
	var names []string
	for _, m := range f.Models {
		names = append(names, m.Name)
	}
	var controls []Control
	if len(names) > 1 {
		controls = append(controls, choice("Kernel", names...))
	}
	if f.has(gppl.RoleLengthscale) {
		controls = append(controls, around("Lengthscale", "× the learnt", 1, 10))
	}
	if f.has(gppl.RolePeriod) {
		controls = append(controls, around("Season", "× the learnt", 1, 1.25))
	}
	var steps []float64
	for i := 1; i <= 8; i++ {
		if s := i * f.Steps / 4; s > 0 && s <= len(f.Ahead) {
			steps = append(steps, float64(s))
		}
	}
	controls = append(controls, among("Forecast", "steps", float64(f.Steps), steps...))
	return append(controls, choice("Leave out", append([]string{"none"}, f.Texts...)...))
}

func (f *Fitted) check() error {
	n := len(f.X)
	if !sort.Float64sAreSorted(f.X) || len(f.Y) != n || len(f.Texts) > n || len(f.Models) == 0 || f.Steps < 1 ||
		f.Steps > len(f.Ahead) || !(f.Widen > 0) || !sort.Float64sAreSorted(f.Drawn) {
		return fmt.Errorf("live: %d times, %d observations, %d texts, %d models, %d of %d steps and bands wider by %v do not fit"+
			" together, or times do not ascend", n, len(f.Y), len(f.Texts), len(f.Models), f.Steps, len(f.Ahead), f.Widen)
	}
	for i, m := range f.Models {
		if m.View < 0 || m.View >= len(f.Views) {
			return fmt.Errorf("live: model %d has view %d of %d", i, m.View, len(f.Views))
		}
		if err := m.Model.Check(); err != nil {
			return err
		}
	}
	return nil
}

// give computes what a model sees without one observation, −1 for all, unless it is kept.
func (f *Fitted) give(model, out int) error {
	if g := f.given; g != nil && g.model == model && g.out == out {
		return nil
	}
	if model < 0 || model >= len(f.Models) || out < -1 || out >= len(f.X) {
		return fmt.Errorf("live: model %d without observation %d of %d and %d", model, out, len(f.Models), len(f.X))
	}
	m := f.Models[model]
	v := f.Views[m.View]
	data, err := gppl.NewData(gppl.Scalars(f.X), v.Z)
	if err == nil && v.Errors != nil {
		data, err = data.WithErrors(v.Errors)
	}
	if err == nil && v.Relative != nil {
		data, err = data.WithRelativeErrors(v.Relative)
	}
	if err != nil {
		return err
	}
	if out >= 0 {
		var kept []int
		for i := range f.X {
			if i != out {
				kept = append(kept, i)
			}
		}
		data = data.Pick(kept)
	}
	exact, err := gppl.NewExact(context.Background(), m.Model.Model, data)
	if err != nil {
		return err
	}
	f.given = &given{model, out, data, exact}
	return nil
}

// Publish computes what the figure shows of the model as it was learnt, and keeps it as published.
func (f *Fitted) Publish() (*Shown, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	values := []float64{}
	for _, c := range f.Controls() {
		values = append(values, c.Values[c.Start])
	}
	shown, err := f.at(values)
	if err != nil {
		return nil, err
	}
	f.Published, _, err = f.answers(f.given.exact)
	return shown, err
}

func (f *Fitted) at(values []float64) (*Shown, error) {
	left := values
	next := func() (v float64) {
		v, left = left[0], left[1:]
		return v
	}
	index, length, season := 0, 1.0, 1.0
	if len(f.Models) > 1 {
		index = int(next())
	}
	if f.has(gppl.RoleLengthscale) {
		length = next()
	}
	if f.has(gppl.RolePeriod) {
		season = next()
	}
	steps, out := int(next()), int(next())-1
	if out >= 0 {
		out += len(f.X) - len(f.Texts)
	}
	if steps < 1 || steps > len(f.Ahead) {
		return nil, fmt.Errorf("live: %d of %d steps", steps, len(f.Ahead))
	}
	if err := f.give(index, out); err != nil {
		return nil, err
	}
	m := f.Models[index].Model.Model
	theta, params := m.Values(), m.Params()
	var readings []Reading
	for _, c := range []struct {
		role   gppl.Role
		factor float64
	}{{gppl.RoleLengthscale, length}, {gppl.RolePeriod, season}} {
		for _, i := range moving(m, c.role) {
			theta[i] *= c.factor
			readings = append(readings, Reading{Name: params[i].Name, Unit: f.XUnit, Value: theta[i], Digits: fourDigits(theta[i])})
		}
	}
	nll, err := f.given.exact.ValueGrad(context.Background(), nil, theta)
	if err != nil {
		return nil, err
	}
	m = m.WithParams(theta)
	p, err := gppl.NewPosterior(context.Background(), m, f.given.data)
	if err != nil {
		return nil, err
	}
	x := f.places(steps)
	end := len(x)
	if out >= 0 {
		x = append(x, f.X[out])
	}
	all, err := predict(p, f.Views[f.Models[index].View], x, f.X[len(f.X)-1], f.Widen)
	if err != nil {
		return nil, err
	}
	last := all.answers(end - 1)
	readings = append(readings,
		Reading{Name: "exact negative log likelihood", Unit: "nats", Value: nll, Digits: 3},
		Reading{Name: "last step of the forecast", Unit: f.YUnit, Value: last.Middle, Digits: f.Digits},
		Reading{Name: "its 95 % band from", Unit: f.YUnit, Value: last.Lower, Digits: f.Digits},
		Reading{Name: "to", Unit: f.YUnit, Value: last.Upper, Digits: f.Digits})
	if out >= 0 {
		a := all.answers(end)
		readings = append(readings,
			Reading{Name: "observation left out", Unit: f.YUnit, Value: f.Y[out], Digits: f.Digits},
			Reading{Name: "predicted from the others", Unit: f.YUnit, Value: a.Middle, Digits: f.Digits},
			Reading{Name: "between, 95 %, from", Unit: f.YUnit, Value: a.Lower, Digits: f.Digits},
			Reading{Name: "and", Unit: f.YUnit, Value: a.Upper, Digits: f.Digits})
	}
	// This avoids internal/text, whose regular expressions would make the program of a page larger by 20 kB.
	said := func(v float64, digits int) string {
		return strings.Replace(strconv.FormatFloat(v, 'f', digits, 64), "-", "−", 1)
	}
	return &Shown{
		Title: fmt.Sprintf("At step %d of the forecast: %s (95 %%: %s to %s)", steps,
			strings.TrimSpace(said(last.Middle, f.Digits)+" "+f.YUnit), said(last.Lower, f.Digits), said(last.Upper, f.Digits)),
		Caption: fmt.Sprintf("Posterior of %s given %d observations: the negative log likelihood of the standardised series is "+
			"%s nats.", f.Models[index].Name, f.given.data.Len(), said(nll, 3)),
		By: byEngine(p.Engine()), Layers: f.layers(all, steps, out, end), Readings: readings,
	}, nil
}

// fourDigits returns the number of decimals with which v has four digits.
func fourDigits(v float64) int {
	return min(max(0, 3-int(math.Floor(math.Log10(max(math.Abs(v), 1e-12))))), 12)
}

// places returns the points at which the figure is drawn, the last step last.
func (f *Fitted) places(steps int) (x []float64) {
	end := f.Ahead[steps-1]
	for _, v := range f.Drawn {
		if v < end {
			x = append(x, v)
		}
	}
	return append(x, end)
}

// predicted is a forecast at each x, on the scale of y.
type predicted struct {
	v                  View
	x                  []float64
	mean, latent, wide []float64 // mean of y or log y, and standard deviations of f and of an observation
}

// predict predicts at each x. Standard deviations at x above beyond are multiplied by widen.
func predict(p *gppl.Posterior, v View, x []float64, beyond, widen float64) (*predicted, error) {
	mean, variances, err := p.Latent(context.Background(), gppl.Scalars(x))
	if err != nil {
		return nil, err
	}
	m := p.Model()
	noise := m.Noise + v.Typical*v.Typical // the variance of f includes what is white in the kernel
	out := &predicted{v: v, x: x}
	for i := range x {
		scale := v.Scale
		if x[i] > beyond {
			scale *= widen
		}
		out.mean = append(out.mean, v.Mean+v.Scale*mean[i])
		out.latent = append(out.latent, scale*math.Sqrt(max(0, variances[i])))
		out.wide = append(out.wide, scale*math.Sqrt(max(0, variances[i])+noise))
	}
	return out, nil
}

// value returns y where y or log y is v.
func (p *predicted) value(v float64) float64 {
	if p.v.Log {
		return math.Exp(v)
	}
	return v
}

func (p *predicted) answers(i int) Answers {
	return Answers{Middle: p.value(p.mean[i]), Lower: p.value(p.mean[i] - half*p.wide[i]),
		Upper: p.value(p.mean[i] + half*p.wide[i])}
}

// layers returns the layers of a figure of viz.Series, with its kinds and names.
func (f *Fitted) layers(p *predicted, steps, out, count int) []Layer {
	x := p.x[:count]
	line := Layer{Kind: "line", Name: Expected, X: x}
	for i := range count {
		line.Y = append(line.Y, p.value(p.mean[i]))
	}
	n := len(f.X)
	dots := Layer{Kind: "dots", Name: "observations"}
	for i := n - len(f.Texts); i < n; i++ {
		if i != out {
			dots.X, dots.Y = append(dots.X, f.X[i]), append(dots.Y, f.Y[i])
		}
	}
	return []Layer{
		{Kind: "span", Name: "forecast", Lo: f.X[n-1:], Hi: f.Ahead[steps-1 : steps]},
		band(BandY, x, p.mean, p.wide, half, p.value), band(BandF, x, p.mean, p.latent, half, p.value), dots, line,
	}
}

// answers computes the published numbers of the model as it was learnt, and says which engine did.
func (f *Fitted) answers(exact *gppl.Exact, opts ...gppl.Option) (a Answers, engine string, err error) {
	m := f.Models[0]
	nll, err := exact.ValueGrad(context.Background(), nil, m.Model.Values())
	if err != nil {
		return a, "", err
	}
	p, err := gppl.NewPosterior(context.Background(), m.Model.Model, f.given.data, opts...)
	if err != nil {
		return a, "", err
	}
	all, err := predict(p, f.Views[m.View], f.Ahead[f.Steps-1:f.Steps], f.X[len(f.X)-1], f.Widen)
	if err != nil {
		return a, "", err
	}
	a = all.answers(0)
	a.NLL = nll
	return a, p.Engine(), nil
}

// verify computes what is published by the engine that is chosen, and by another that takes the model.
func (f *Fitted) verify() ([]Check, error) {
	if err := f.give(0, -1); err != nil {
		return nil, err
	}
	return twice(f.Models[0].Model.Model, f.given.data, f.given.exact,
		func(exact *gppl.Exact, opts ...gppl.Option) ([]Check, error) {
			a, engine, err := f.answers(exact, opts...)
			if err != nil {
				return nil, err
			}
			const relative = 1e-6 // share of the width of the band
			by, width := byEngine(engine), relative*(f.Published.Upper-f.Published.Lower)
			return []Check{
				newCheck("exact negative log likelihood", "nats", by, f.Published.NLL, a.NLL, perObservation*float64(len(f.X))),
				newCheck("last step of the forecast", f.YUnit, by, f.Published.Middle, a.Middle, width),
				newCheck("lower end of its 95 % band", f.YUnit, by, f.Published.Lower, a.Lower, width),
				newCheck("upper end", f.YUnit, by, f.Published.Upper, a.Upper, width),
			}, nil
		})
}

const perObservation = 1e-8 // nats, as gppl.WithTolerance promises

// twice computes numbers of a model by the chosen engine, and by another one that takes the model: dense linear algebra, which
// takes any kernel and uses no structure, or, if that was chosen, an engine that uses structure.
func twice(m gppl.Model, d gppl.Data, chosen *gppl.Exact,
	compute func(*gppl.Exact, ...gppl.Option) ([]Check, error)) ([]Check, error) {
	checks, err := compute(chosen)
	if err != nil {
		return nil, err
	}
	first := checks[0].By
	for _, engine := range []string{gppl.EngineDense, gppl.EngineStateSpace, gppl.EngineMixed, gppl.EngineSpectral,
		gppl.EngineBanded} {
		if byEngine(engine) == first {
			continue
		}
		exact, err := gppl.NewExact(context.Background(), m, d, gppl.WithEngine(engine))
		if err != nil {
			return nil, err
		}
		second, err := compute(exact, gppl.WithEngine(engine))
		if refused := (*gppl.Refusal)(nil); errors.As(err, &refused) {
			continue
		}
		return append(checks, second...), err
	}
	return checks, nil
}
