package forecast

import (
	"cmp"
	"io"
	"math"

	"github.com/projected-likelihood/gppl/internal/quantile"
)

// ChannelPrediction is the prediction of a channel at some x.
type ChannelPrediction struct {
	Channel string
	X       []float64
	When    []string
	Mean    []float64
	// Latent is the variance of the channel without noise, its part of f and its offset; Noisy is that of a new observation with the
	// median of the known errors.
	Latent, Noisy []float64
}

// Predict returns predictions of each channel at x.
func (a *ChannelAnalysis) Predict(x []float64) ([]ChannelPrediction, error) {
	var all []ChannelPrediction
	var known float64
	if s := a.Channels.Series; s.Errors != nil {
		known = s.typicalError(false)
	}
	for c, name := range a.Channels.Names {
		mean, variance, err := a.Channel(c, x)
		if err != nil {
			return nil, err
		}
		p := ChannelPrediction{Channel: name, X: x, When: a.Channels.Series.Axis.texts(x), Mean: mean}
		for i, v := range variance {
			wider := a.Channels.Series.wider(a.Widen, x[i])
			p.Latent = append(p.Latent, wider*v)
			p.Noisy = append(p.Noisy, wider*(v+a.Channels.noiseOf(a.Best().Model.Channels[c].Noise, known)))
		}
		all = append(all, p)
	}
	return all, nil
}

// Forecast predicts each channel the given number of steps beyond the last observation of all.
func (a *ChannelAnalysis) Forecast(steps int) ([]ChannelPrediction, error) {
	s := a.Channels.Series
	return a.Predict(s.after(s.X[len(s.X)-1], steps))
}

// WriteChannels writes predictions as csv, a row for each x and channel, with the columns of Forecast.WriteCSV.
func (a *ChannelAnalysis) WriteChannels(w io.Writer, all []ChannelPrediction, levels ...float64) error {
	head := []string{cmp.Or(a.Channels.Series.Axis.Name, "x"), a.Channels.Column, "mean", "sd_latent", "sd_observation"}
	head, bands := withBands(head, append([]float64{0.95}, levels...))
	rows := [][]string{head}
	for _, p := range all {
		for i, when := range p.When {
			sd := math.Sqrt(p.Noisy[i])
			row := []string{when, p.Channel, cell(p.Mean[i]), cell(math.Sqrt(p.Latent[i])), cell(sd)}
			for _, level := range bands {
				half := quantile.Normal(0.5*(1+level)) * sd
				row = append(row, cell(p.Mean[i]-half), cell(p.Mean[i]+half))
			}
			rows = append(rows, row)
		}
	}
	return WriteCSV(w, rows)
}

// WriteComponents writes each observation, the noise-free value of its channel, f and its derivative, with standard deviations.
func (a *ChannelAnalysis) WriteComponents(w io.Writer) error {
	s := a.Channels.Series
	f, variance, err := a.Function(s.X)
	if err != nil {
		return err
	}
	header := []string{cmp.Or(s.Axis.Name, "x"), a.Channels.Column, s.YName, "mean", "sd_mean", "f", "sd_f"}
	slope, steepness, err := a.Derivative(s.X)
	sloped := err == nil
	if sloped {
		header = append(header, "slope", "sd_slope")
	}
	rows := [][]string{header}
	seen := make([][2][]float64, len(a.Channels.Names))
	for c := range seen {
		if seen[c][0], seen[c][1], err = a.Channel(c, s.X); err != nil {
			return err
		}
	}
	for i, x := range s.X {
		c := a.Channels.Of[i]
		row := []string{s.Axis.Text(x), a.Channels.Names[c], cell(s.Y[i]),
			cell(seen[c][0][i]), cell(math.Sqrt(seen[c][1][i])), cell(f[i]), cell(math.Sqrt(variance[i]))}
		if sloped {
			row = append(row, cell(slope[i]), cell(math.Sqrt(steepness[i])))
		}
		rows = append(rows, row)
	}
	return WriteCSV(w, rows)
}
