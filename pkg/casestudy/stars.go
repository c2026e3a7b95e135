package casestudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// spots is a draw of a process with the spectrum of gppl.SHO and variance 1, as a sum of waves, so that its derivative is known.
type spots struct{ rate, cosine, sine []float64 }

func drawSpots(rnd *rand.Rand, period, quality float64) (s spots) {
	const waves, highest = 1200, 12 // times 2π/period: f′ is rough
	w0 := 2 * math.Pi / period
	var sum float64
	for i := range waves {
		w := highest * w0 * (float64(i) + rnd.Float64()) / waves
		u := w*w - w0*w0
		density := 1 / (u*u + w*w*w0*w0/(quality*quality))
		sum += density
		size := math.Sqrt(density)
		s.rate, s.cosine, s.sine = append(s.rate, w), append(s.cosine, size*rnd.NormFloat64()), append(s.sine, size*rnd.NormFloat64())
	}
	for i := range s.rate {
		s.cosine[i] /= math.Sqrt(sum)
		s.sine[i] /= math.Sqrt(sum)
	}
	return s
}

// at returns f and f′.
func (s spots) at(x float64) (f, slope float64) {
	for i, w := range s.rate {
		sin, cos := math.Sincos(w * x)
		f += s.cosine[i]*cos + s.sine[i]*sin
		slope += w * (s.sine[i]*cos - s.cosine[i]*sin)
	}
	return f, slope
}

// channels are observations of one function by several channels, with the model learnt from them.
type channels struct {
	x, y     []float64
	of       []int     // the channel of each observation
	exposure []float64 // nil: values of a moment
	model    gppl.Model
	nll      float64
}

func (c *channels) data() gppl.Data { return gppl.Data{X: gppl.Scalars(c.x), Y: c.y} }

// add adds an observation.
func (c *channels) add(of int, x, y float64) {
	c.x, c.y, c.of = append(c.x, x), append(c.y, y), append(c.of, of)
}

// learn trains an SHO. It begins at what a search finds on the channel with the given number, which sees f alone and as Value·f,
// and with either sign of the slopes of the others.
func (c *channels) learn(ctx context.Context, first int, names ...string) error {
	var rows []int
	for i, of := range c.of {
		if of == first {
			rows = append(rows, i)
		}
	}
	alone := gppl.Model{Kernel: gppl.SHO{Variance: 1, Period: 1, Quality: 1}, Noise: 1, Mean: gppl.Intercept{}}
	found, err := auto.FindStarts(ctx, alone, c.data().Pick(rows), auto.Settings{})
	if err != nil {
		return err
	}
	start := found.Models[0]
	star := start.Kernel.(gppl.SHO)
	size := math.Sqrt(star.Variance)
	star.Variance = 1 // the Values of the channels are what they see
	c.nll = math.Inf(1)
	for _, sign := range []float64{1, -1}[:min(len(names), 2)] {
		m := gppl.Model{Kernel: star}
		fixed := []string{"variance"}
		for i, name := range names {
			ch := gppl.Channel{Name: name, Value: size, Noise: start.Noise}
			if i != first {
				ch.Slope = sign * size * star.Period / (2 * math.Pi)
			} else {
				fixed = append(fixed, ch.SlopeOf())
			}
			m.Channels = append(m.Channels, ch)
		}
		r, learnt, err := fitChannels(ctx, m.Fix(fixed...), c.data(), c.of, c.exposure)
		if err != nil {
			return err
		}
		if r.Value < c.nll {
			c.nll, c.model = r.Value, learnt
		}
	}
	return nil
}

// fitChannels trains a model of channels and also returns the learnt model.
func fitChannels(
	ctx context.Context, m gppl.Model, d gppl.Data, channel []int, exposure []float64,
) (*gppl.Result, gppl.Model, error) {
	d.Channels, d.Exposures = channel, exposure
	loss, err := gppl.NewExact(ctx, m, d)
	if err != nil {
		return nil, m, err
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		return nil, m, err
	}
	return r, loss.Model(r.Theta()), nil
}

// figure shows each channel, under its label, beside the posterior of what it sees.
func (c *channels) figure(title, xLabel string, labels ...string) (*viz.Figure, error) {
	d := c.data()
	d.Channels, d.Exposures = c.of, c.exposure
	p, err := gppl.NewPosterior(context.Background(), c.model, d)
	if err != nil {
		return nil, err
	}
	first, last := c.x[0], c.x[len(c.x)-1]
	end := last + (last-first)/10
	x := floats.Span(make([]float64, 2000), first, end)
	frame := viz.Frame{XLabel: xLabel, YLabel: "observation", Width: 960}
	var panels []*viz.Figure
	for of, channel := range c.model.Channels {
		mean, latent, err := p.Channel(context.Background(), of, gppl.Scalars(x))
		if err != nil {
			return nil, err
		}
		noisy := make([]float64, len(latent))
		for i, v := range latent {
			noisy[i] = v + channel.Noise
		}
		var points viz.Points
		for i := range c.x {
			if c.of[i] == of {
				points.X, points.Y = append(points.X, c.x[i]), append(points.Y, c.y[i])
			}
		}
		panel := frame
		panel.Title = labels[of]
		one, err := viz.Series(viz.SeriesOptions{Frame: panel, Observed: points,
			Predictions: []viz.Prediction{{Name: "posterior", X: x, Mean: mean, LatentVar: latent, NoisyVar: noisy}},
			Spans:       []viz.Span{{From: last, To: end, Label: "forecast"}}})
		if err != nil {
			return nil, err
		}
		panels = append(panels, one)
	}
	frame.Title = title
	frame.Caption = "Each channel beside the posterior of what it sees of one function: mean, 95 % band of the function and of a " +
		"new observation. Kernel: SHO."
	return viz.Grid(len(panels), 1, viz.GridOptions{Frame: frame, ShareX: true}, panels...)
}

// Planet is a spotted star with a planet, observed at night: a velocity in m/s and an index of activity. The index sees the spots
// as f, the velocity as f and f′ (Rajpaul et al. 2015).
type Planet struct {
	channels
	orbit     [2][]float64 // cosine and sine of the orbit for velocities, 0 for the index
	amplitude float64      // m/s
}

// The planet of the simulation, whose period is known from transits.
const (
	planetPeriod, planetAmplitude = 9.3, 2.0
	spotsPeriod, spotsQuality     = 24.0, 4.0
)

// NewPlanet simulates the nights of a season and learns how index and velocity see the spots; the fit leaves the planet out.
func NewPlanet(ctx context.Context, scale scales.Scale, seed uint64) (*Planet, error) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	star := drawSpots(rnd, spotsPeriod, spotsQuality)
	p := &Planet{amplitude: planetAmplitude}
	t := 0.
	for range scales.Pick(scale, 120, 40) {
		t += 0.5 + rnd.ExpFloat64()
		f, slope := star.at(t)
		phase := 2*math.Pi*t/planetPeriod + 0.7
		p.add(0, t, 2*f+14*slope+planetAmplitude*math.Cos(phase)+0.8*rnd.NormFloat64())
		p.add(1, t, 5+f+0.15*rnd.NormFloat64())
		sin, cos := math.Sincos(2 * math.Pi * t / planetPeriod)
		p.orbit[0], p.orbit[1] = append(p.orbit[0], cos, 0), append(p.orbit[1], sin, 0)
	}
	return p, p.learn(ctx, 1, "velocity", "index")
}

// Figure shows both channels and what they see of the spots.
func (p *Planet) Figure() (*viz.Figure, error) {
	return p.figure("What each channel sees of the spots", "night", "velocity [m/s]", "index")
}

// Table measures the planet's amplitude with three models of the spots: white noise, a process in the velocity only, and one
// function that the index sees too.
func (p *Planet) Table(ctx context.Context) (*viz.Table, error) {
	t := &viz.Table{
		Caption: "The planet's amplitude",
		Columns: []viz.Column{{Name: "the spots are"}, {Name: "amplitude", Unit: "m/s", Format: viz.Fixed(2)},
			{Name: "standard error", Unit: "m/s", Format: viz.Fixed(2)}, {Name: "noise", Unit: "m/s", Format: viz.Fixed(2)}},
		Notes: []string{fmt.Sprintf("The simulated planet has an amplitude of %.1f m/s and the noise a standard "+
			"deviation of 0.8 m/s.", p.amplitude)},
	}
	best := p.model
	both := p.data()
	both.X = both.X.WithColumn("cos", p.orbit[0]).WithColumn("sin", p.orbit[1])
	var rows, zeros []int
	for i, of := range p.of {
		if of == 0 {
			rows, zeros = append(rows, i), append(zeros, 0)
		}
	}
	velocity := best.Channels[0]
	white := gppl.Channel{Name: velocity.Name, Noise: 100}
	var kernel []string
	for _, k := range best.Kernel.Params() {
		kernel = append(kernel, k.Name)
	}
	for _, c := range []struct {
		name    string
		data    gppl.Data
		channel []int
		model   gppl.Model
	}{
		{"white noise", both.Pick(rows), zeros, gppl.Model{Kernel: best.Kernel,
			Channels: []gppl.Channel{white}}.Fix(kernel...).Fix(white.ValueOf(), white.SlopeOf())},
		{"a process of the velocity", both.Pick(rows), zeros, gppl.Model{Kernel: best.Kernel,
			Channels: []gppl.Channel{velocity}}.Fix("variance")},
		{"one function with the index", both, p.of, gppl.Model{Kernel: best.Kernel,
			Channels: best.Channels}.Fix("variance")},
	} {
		c.model.Mean = gppl.Regressors("cos", "sin")
		r, fitted, err := fitChannels(ctx, c.model, c.data, c.channel, nil)
		if err != nil {
			return nil, err
		}
		cos, sin := r.Mean[len(r.Mean)-2], r.Mean[len(r.Mean)-1]
		size := math.Hypot(cos.Value, sin.Value)
		se := math.Hypot(cos.Value*cos.StdErr, sin.Value*sin.StdErr) / size
		t.Rows = append(t.Rows, []any{c.name, size, se, math.Sqrt(fitted.Channels[0].Noise)})
	}
	return t, nil
}

// Spotted is the light of a rotating spotted star, averaged over long exposures.
type Spotted struct {
	channels
	period float64
}

// NewSpotted simulates a light curve with gaps and exposures of a third of a period, and learns an SHO from it.
func NewSpotted(ctx context.Context, scale scales.Scale, seed uint64) (*Spotted, error) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	const period, exposure = 1.5, 0.5
	star := drawSpots(rnd, period, 6)
	s := &Spotted{period: period}
	t := 0.
	for range scales.Pick(scale, 200, 80) {
		if t += exposure; rnd.IntN(40) == 0 {
			t += 4 * rnd.Float64()
		}
		var sum float64
		const fine = 40
		for i := range fine {
			at := t + exposure*((float64(i)+0.5)/fine-0.5)
			f, _ := star.at(at)
			sum += f
		}
		s.add(0, t, 100+sum/fine+0.05*rnd.NormFloat64())
		s.exposure = append(s.exposure, exposure)
	}
	return s, s.learn(ctx, 0, "flux")
}

// Figure shows the light curve and the function that it averages.
func (s *Spotted) Figure() (*viz.Figure, error) {
	return s.figure("The light of the star and its averages", "day", "flux")
}

// Table compares the period and variance found when exposures are modelled with those found when they are ignored.
func (s *Spotted) Table(ctx context.Context) (*viz.Table, error) {
	t := &viz.Table{
		Caption: "What is learnt from averages",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "observations are"}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "period", Unit: "day", Format: viz.Fixed(3)}, {Name: "variance", Format: viz.Fixed(2)}},
		Notes: []string{fmt.Sprintf("The simulated star turns in %.3g days, and its light has a variance of about 1.", s.period)},
	}
	moments := s.channels
	moments.exposure = nil
	if err := moments.learn(ctx, 0, "flux"); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what string
		channels
	}{{"averages", s.channels}, {"of a moment", moments}} {
		value := c.model.Channels[0].Value
		t.Rows = append(t.Rows, []any{"SHO", c.what, c.nll, c.model.Kernel.(gppl.SHO).Period, value * value})
	}
	return t, nil
}

// Transit measures the depth of simulated transits on varying baselines, with the error that each model of the baseline reports,
// and counts how often the truth is within two standard errors.
func Transit(ctx context.Context, scale scales.Scale, seed uint64) (*viz.Table, error) {
	const depth, half, noise = 1.0, 0.06, 0.3 // in thousandths of the light, days
	t := &viz.Table{
		Caption: "Depth of a transit",
		Columns: []viz.Column{{Name: "the baseline is"}, {Name: "rms error", Format: viz.Fixed(3)},
			{Name: "standard error it states", Format: viz.Fixed(3)}, {Name: "truth within two of them", Format: viz.Percent(0)}},
		Notes: []string{"Depths are in thousandths of the light; the simulated one is 1. Standard errors " +
			"are given the kernel's parameters."},
	}
	nights, n := scales.Pick(scale, 40, 8), 120
	var errs, ses [2]float64
	var within [2]int
	for night := range nights {
		rnd := rand.New(rand.NewPCG(seed, uint64(night)+100))
		star := drawSpots(rnd, 0.35, 0.7)
		x, y, box := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = 0.3 * (float64(i) + 0.3*rnd.Float64()) / float64(n)
			if math.Abs(x[i]-0.15) < half {
				box[i] = 1
			}
			f, _ := star.at(x[i])
			y[i] = 0.8*f - depth*box[i] + noise*rnd.NormFloat64()
		}
		d := gppl.Data{X: gppl.Scalars(x).WithColumn("transit", box), Y: y}
		for i, value := range []float64{0, 1} {
			ch := gppl.Channel{Name: "light", Value: value, Noise: noise * noise}
			m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.5, Lengthscale: 0.1}, Channels: []gppl.Channel{ch},
				Mean: gppl.Regressors("transit")}.Fix(ch.ValueOf(), ch.SlopeOf())
			if value == 0 {
				m = m.Fix("variance", "lengthscale")
			}
			r, _, err := fitChannels(ctx, m, d, make([]int, n), nil)
			if err != nil {
				return nil, err
			}
			c := r.Mean[1]
			off := c.Value + depth
			errs[i] += off * off / float64(nights)
			ses[i] += c.StdErr / float64(nights)
			if math.Abs(off) < 2*c.StdErr {
				within[i]++
			}
		}
	}
	for i, name := range []string{"a constant", "a process (Matern32)"} {
		t.Rows = append(t.Rows, []any{name, math.Sqrt(errs[i]), ses[i], float64(within[i]) / float64(nights)})
	}
	return t, nil
}
