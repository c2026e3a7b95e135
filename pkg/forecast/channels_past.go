package forecast

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Backtest forecasts the channels from rolling origins in their latest past and compares with what followed, as that of an
// Analysis does. The observations of all channels count in the order of x. At each origin FitChannels, with the same options,
// learns kernels, views and parameters anew from the observations before it. The yardstick repeats the last value of each channel
// or its mean, whichever has the smaller mean absolute error over all origins. An origin is left out if a channel to be forecast
// has fewer than three observations before it. Averages over exposures are forecast as values at their x.
func (a *ChannelAnalysis) Backtest(ctx context.Context, o BacktestOptions) (*Trust, error) {
	c, s := a.Channels, a.Channels.Series
	o = o.complete()
	plan, err := o.plan(len(s.X))
	if err != nil {
		return nil, err
	}
	plan.Levels, plan.Together = []float64{0.95}, Options{}.atOnce(s, len(s.X))
	r, err := Backtest(ctx, s.Y, plan, func(ctx context.Context, train, test Window) (Predictive, error) {
		past, err := c.knownIn(train)
		if err != nil {
			return nil, err
		}
		again, err := FitChannels(ctx, past, a.options)
		if err != nil {
			return nil, err
		}
		return again.observed(c, test)
	}, c.yardsticks()...)
	t, err := s.trust(ctx, r, plan, o.Horizon, err)
	if err != nil {
		return nil, err
	}
	t.judge(len(s.X), o.Horizon)
	return t, nil
}

// Testable reports whether a backtest is possible, and fast enough to run without being requested.
func (a *ChannelAnalysis) Testable(o BacktestOptions) bool {
	const quick = 20000 // observations: five origins then take some seconds for each kernel and view
	_, err := o.complete().plan(len(a.Channels.Series.X))
	return err == nil && len(a.Channels.Series.X) <= quick
}

// Calibrate widens the bands of later forecasts of the channels by Trust.Widen.
func (a *ChannelAnalysis) Calibrate(t *Trust) { a.Widen = t.Widen }

// knownIn returns the observations of a window as Channels of their own, without the channels that have too few there.
func (c *Channels) knownIn(w Window) (*Channels, error) {
	counts := make([]int, len(c.Names))
	for _, of := range c.Of[w.From:w.To] {
		counts[of]++
	}
	past, number := &Channels{Column: c.Column}, make([]int, len(c.Names))
	for i, n := range counts {
		if number[i] = -1; n >= fewestOf {
			number[i] = len(past.Names)
			past.Names = append(past.Names, c.Names[i])
		}
	}
	if len(past.Names) == 0 {
		return nil, fmt.Errorf("no channel has %d observations", fewestOf)
	}
	part := c.Series.part(w.From, w.To)
	s := *part
	s.X, s.Y, s.Errors, s.whole = nil, nil, nil, nil
	for i, of := range c.Of[w.From:w.To] {
		if number[of] < 0 {
			continue
		}
		s.X, s.Y, past.Of = append(s.X, part.X[i]), append(s.Y, part.Y[i]), append(past.Of, number[of])
		if part.Errors != nil {
			s.Errors = append(s.Errors, part.Errors[i])
		}
		if c.Exposure != nil {
			past.Exposure = append(past.Exposure, c.Exposure[w.From+i])
		}
	}
	past.Series = &s
	return past, nil
}

// observed forecasts the observations of a window, with their known errors. Their channels are those of a, and perhaps more.
func (a *ChannelAnalysis) observed(of *Channels, w Window) (Predictive, error) {
	g := Gaussian{make([]float64, w.Len()), make([]float64, w.Len())}
	for at, name := range of.Names {
		var rows []int
		var x []float64
		for i := w.From; i < w.To; i++ {
			if of.Of[i] == at {
				rows, x = append(rows, i), append(x, of.Series.X[i])
			}
		}
		if rows == nil {
			continue
		}
		channel := slices.Index(a.Channels.Names, name)
		if channel < 0 {
			return nil, fmt.Errorf("channel %q has fewer than %d observations before", name, fewestOf)
		}
		mean, variance, err := a.Channel(channel, x)
		if err != nil {
			return nil, err
		}
		noise := a.Best().Model.Channels[channel].Noise
		for j, row := range rows {
			var known float64
			if of.Series.Errors != nil {
				known = of.Series.Errors[row]
			}
			g.Mu[row-w.From], g.Variance[row-w.From] = mean[j], variance[j]+of.noiseOf(noise, known)
		}
	}
	return g, nil
}

// noiseOf returns the noise variance of an observation with a known error, in a channel of the given noise.
func (c *Channels) noiseOf(noise, known float64) float64 {
	if c.Series.Relative {
		return noise * known * known
	}
	return noise + known*known
}

// yardsticks returns the forecasts that one of channels must beat.
func (c *Channels) yardsticks() []Yardstick {
	of := func(name string, value func(y []float64) float64) Yardstick {
		return Yardstick{Name: name, Forecast: func(_ context.Context, train, test Window) (Predictive, error) {
			g := Gaussian{make([]float64, test.Len()), make([]float64, test.Len())}
			past := make([][]float64, len(c.Names))
			for i := train.From; i < train.To; i++ {
				past[c.Of[i]] = append(past[c.Of[i]], c.Series.Y[i])
			}
			for i := range g.Mu {
				y := past[c.Of[test.From+i]]
				if len(y) < fewestOf {
					return nil, fmt.Errorf("channel %q has fewer than %d observations before", c.Names[c.Of[test.From+i]], fewestOf)
				}
				g.Mu[i], g.Variance[i] = value(y), stat.Variance(y, nil)
			}
			return g, nil
		}}
	}
	return []Yardstick{
		of("repeating the last value of each "+c.Column, func(y []float64) float64 { return y[len(y)-1] }),
		of("the mean of each "+c.Column, func(y []float64) float64 { return stat.Mean(y, nil) }),
	}
}
