package forecast

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/internal/words"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// ErrChannels is the error of reading a model of channels as one of a series: LoadChannels reads it.
var ErrChannels = errors.New("this is a model of several channels")

const channelFormat = "gppl channels"

var channelHeader = sealed.Header{Format: channelFormat, Version: 1}

// storedChannels is a model of channels in a file, with the observations, so that it predicts without the csv file.
type storedChannels struct {
	sealed.Header
	storedSeries
	Column   string         `json:"column"`
	Channels []gppl.Channel `json:"channels"`
	Kernel   store.Model    `json:"kernel"` // its noise is not used: channels have their own
	View     string         `json:"view"`
	NLL      float64        `json:"nll"`
	BIC      float64        `json:"bic"`
	Trained  int            `json:"trained"`
	Status   gppl.Status    `json:"status"`
	Warnings []string       `json:"warnings,omitempty"`
	Widen    float64        `json:"widen,omitempty"`
	Of       []int          `json:"channel"`
	Exposure []float64      `json:"exposure,omitempty"`
}

// Encode writes the best model with its observations and a checksum, without standard errors, as LoadChannels reads it.
func (a *ChannelAnalysis) Encode(w io.Writer) error {
	c, s, f := a.Channels, a.Channels.Series, a.Best()
	b, err := json.Marshal(storedChannels{
		Header: channelHeader, storedSeries: s.stored(), Column: c.Column,
		Channels: f.Model.Channels, Kernel: store.Model{Model: gppl.Model{Kernel: f.Model.Kernel, Noise: 1}},
		View: f.View, NLL: f.NLL, BIC: f.BIC, Trained: f.Trained, Status: f.Status,
		Warnings: f.Warnings, Widen: a.Widen, Of: c.Of, Exposure: c.Exposure,
	})
	if err == nil {
		_, err = w.Write(append(sealed.Seal(b), '\n'))
	}
	if err != nil {
		return fmt.Errorf("forecast: saving channels: %w", err)
	}
	return nil
}

// LoadChannels reads what Encode wrote, and checks it; it takes no more bytes of memory than given, as LoadWithin does.
func LoadChannels(path string, memory float64) (*ChannelAnalysis, error) {
	b, err := readStored(path, memory)
	if err != nil {
		return nil, err
	}
	var j storedChannels
	if err = sealed.Unmarshal(b, &j); err == nil {
		err = j.check()
	}
	if err != nil {
		return nil, fmt.Errorf("forecast: load %s: %w", path, err)
	}
	s := j.series()
	s.spacing()
	c := &Channels{Series: s, Column: j.Column, Of: j.Of, Exposure: j.Exposure}
	for _, ch := range j.Channels {
		c.Names = append(c.Names, ch.Name)
	}
	m := gppl.ChannelModel{Kernel: j.Kernel.Kernel, Channels: j.Channels}
	a := &ChannelAnalysis{Channels: c, Widen: j.Widen}
	if a.ChannelPosterior, err = c.posterior(m, c.Data(), nil); err != nil {
		return nil, fmt.Errorf("forecast: load %s: %w", path, err)
	}
	a.Fits = []ChannelFit{{
		Kernel: kernelName(m.Kernel), View: j.View, Model: m,
		StdErr: slices.Repeat([]float64{math.NaN()}, len(m.Params())), Offsets: a.Offsets(),
		NLL: j.NLL, BIC: j.BIC, Trained: j.Trained, Status: j.Status, Warnings: j.Warnings,
	}}
	return a, nil
}

// check returns an error for contents that no model of channels can have.
func (j *storedChannels) check() error {
	if err := cmp.Or(j.Header.Check(channelHeader), j.storedSeries.check()); err != nil {
		return err
	}
	n, names := len(j.Channels), map[string]bool{}
	if n < 1 || n > mostChannels || len(j.Of) != len(j.X) || j.Exposure != nil && len(j.Exposure) != len(j.X) {
		return fmt.Errorf("%d channels, and the channels of %d and exposures of %d of %d observations",
			n, len(j.Of), len(j.Exposure), len(j.X))
	}
	counts := make([]int, n)
	for i, of := range j.Of {
		if of < 0 || of >= n {
			return fmt.Errorf("observation %d is of channel %d of %d", i, of, n)
		}
		counts[of]++
	}
	for i, ch := range j.Channels {
		if counts[i] < fewestOf || names[ch.Name] {
			return fmt.Errorf("channel %q has %s, or its name twice", ch.Name, words.Count(counts[i], "observation"))
		}
		names[ch.Name] = true
	}
	for i, e := range j.Exposure {
		if !(e >= 0 && e <= largest) {
			return fmt.Errorf("the exposure of observation %d is %v", i, e)
		}
	}
	if !(j.Widen >= 0 && j.Widen <= 100) {
		return fmt.Errorf("bands are widened %v times", j.Widen)
	}
	return gppl.ChannelModel{Kernel: j.Kernel.Kernel, Channels: j.Channels}.Check()
}
