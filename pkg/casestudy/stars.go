package casestudy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/internal/lists"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/gppl"
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

// learnChannels gives the channels their observations at days x, and learns an SHO from them, with the given views or all.
func learnChannels(
	ctx context.Context, c *forecast.Channels, xName, yName string, x, y []float64, views ...string,
) (*forecast.ChannelAnalysis, error) {
	s, err := forecast.NewSeries(forecast.Axis{Name: xName, Unit: "day"}, x, y)
	if err != nil {
		return nil, err
	}
	s.YName, c.Series = yName, s
	return forecast.FitChannels(ctx, c, forecast.ChannelOptions{Kernels: []string{"SHO"}, Views: views})
}

// fitChannels trains a model of channels and also returns the learnt model.
func fitChannels(ctx context.Context, m gppl.ChannelModel, d gppl.Data, channel []int) (*gppl.Result, gppl.ChannelModel, error) {
	loss, err := gppl.NewChannels(m, d, channel, gppl.WithContext(ctx))
	if err != nil {
		return nil, m, err
	}
	r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		return nil, m, err
	}
	return r, loss.ChannelModel(r.Starts[r.Best].Theta), nil
}

// channelFigure shows the channels and a forecast of 20 steps.
func channelFigure(a *forecast.ChannelAnalysis) (*viz.Figure, error) {
	ahead, err := a.Forecast(20)
	if err != nil {
		return nil, err
	}
	return report.Channels(a, ahead)
}

// Planet is a spotted star with a planet, observed at night: a velocity in m/s and an index of activity. The index sees the spots
// as f, the velocity as f and f′ (Rajpaul et al. 2015).
type Planet struct {
	Channels  *forecast.Channels
	orbit     [2][]float64 // cosine and sine of the orbit for velocities, 0 for the index
	amplitude float64      // m/s
	analysis  *forecast.ChannelAnalysis
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
	p := &Planet{Channels: &forecast.Channels{Column: "channel", Names: []string{"velocity", "index"}}, amplitude: planetAmplitude}
	var x, y []float64
	t := 0.
	for range scales.Pick(scale, 120, 40) {
		t += 0.5 + rnd.ExpFloat64()
		f, slope := star.at(t)
		phase := 2*math.Pi*t/planetPeriod + 0.7
		x, y = append(x, t, t), append(y, 2*f+14*slope+planetAmplitude*math.Cos(phase)+
			0.8*rnd.NormFloat64(), 5+f+0.15*rnd.NormFloat64())
		p.Channels.Of = append(p.Channels.Of, 0, 1)
		sin, cos := math.Sincos(2 * math.Pi * t / planetPeriod)
		p.orbit[0], p.orbit[1] = append(p.orbit[0], cos, 0), append(p.orbit[1], sin, 0)
	}
	var err error
	p.analysis, err = learnChannels(ctx, p.Channels, "night", "observation", x, y, "derivative")
	return p, err
}

// Figure shows both channels and what they see of the spots.
func (p *Planet) Figure() (*viz.Figure, error) {
	return channelFigure(p.analysis)
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
	best := p.analysis.Best().Model
	both := p.Channels.Data()
	both.X = both.X.WithColumn("cos", p.orbit[0]).WithColumn("sin", p.orbit[1])
	var rows, zeros []int
	for i, of := range p.Channels.Of {
		if of == 0 {
			rows, zeros = append(rows, i), append(zeros, 0)
		}
	}
	velocity := best.Channels[0]
	white := gppl.Channel{Name: velocity.Name, Noise: 100}
	kernel := lists.Map(best.Kernel.Params(), func(k gppl.Param) string { return k.Name })
	for _, c := range []struct {
		name    string
		data    gppl.Data
		channel []int
		model   gppl.ChannelModel
	}{
		{"white noise", both.Pick(rows), zeros, gppl.ChannelModel{Kernel: best.Kernel,
			Channels: []gppl.Channel{white}}.WithFixed(kernel...).WithFixed(white.ValueOf(), white.SlopeOf())},
		{"a process of the velocity", both.Pick(rows), zeros, gppl.ChannelModel{Kernel: best.Kernel,
			Channels: []gppl.Channel{velocity}}.WithFixed("variance")},
		{"one function with the index", both, p.Channels.Of, gppl.ChannelModel{Kernel: best.Kernel,
			Channels: best.Channels}.WithFixed("variance")},
	} {
		c.model.Mean = gppl.Regressors("cos", "sin")
		r, fitted, err := fitChannels(ctx, c.model, c.data, c.channel)
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
	Channels *forecast.Channels
	analysis *forecast.ChannelAnalysis
	period   float64
}

// NewSpotted simulates a light curve with gaps and exposures of a third of a period, and learns an SHO from it.
func NewSpotted(ctx context.Context, scale scales.Scale, seed uint64) (*Spotted, error) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	const period, exposure = 1.5, 0.5
	star := drawSpots(rnd, period, 6)
	s := &Spotted{Channels: &forecast.Channels{Column: "series", Names: []string{"flux"}}, period: period}
	var x, y []float64
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
		x, y = append(x, t), append(y, 100+sum/fine+0.05*rnd.NormFloat64())
		s.Channels.Of, s.Channels.Exposure = append(s.Channels.Of, 0), append(s.Channels.Exposure, exposure)
	}
	var err error
	s.analysis, err = learnChannels(ctx, s.Channels, "day", "flux", x, y)
	return s, err
}

// Figure shows the light curve and the function that it averages.
func (s *Spotted) Figure() (*viz.Figure, error) {
	return channelFigure(s.analysis)
}

// Table compares the period and variance found when exposures are modelled with those found when they are ignored.
func (s *Spotted) Table(ctx context.Context) (*viz.Table, error) {
	t := &viz.Table{
		Caption: "What is learnt from averages",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "observations are"}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "period", Unit: "day", Format: viz.Fixed(3)}, {Name: "variance", Format: viz.Fixed(2)}},
		Notes: []string{fmt.Sprintf("The simulated star turns in %.3g days, and its light has a variance of about 1.", s.period)},
	}
	moment := *s.Channels
	moment.Exposure = nil
	other, err := forecast.FitChannels(ctx, &moment, forecast.ChannelOptions{Kernels: []string{"SHO"}})
	if err != nil {
		return nil, err
	}
	for _, a := range []*forecast.ChannelAnalysis{s.analysis, other} {
		what := "averages"
		if a == other {
			what = "of a moment"
		}
		for _, f := range a.Fits {
			var period, variance float64
			for _, p := range f.Model.Kernel.Params() {
				switch p.Name {
				case "period":
					period = p.Value
				case "variance":
					variance = p.Value
				}
			}
			t.Rows = append(t.Rows, []any{f.Kernel, what, f.NLL, period, variance})
		}
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
			m := gppl.ChannelModel{Kernel: gppl.Matern32{Variance: 0.5, Lengthscale: 0.1}, Channels: []gppl.Channel{ch},
				Mean: gppl.Regressors("transit")}.WithFixed(ch.ValueOf(), ch.SlopeOf())
			if value == 0 {
				m = m.WithFixed("variance", "lengthscale")
			}
			r, _, err := fitChannels(ctx, m, d, make([]int, n))
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
