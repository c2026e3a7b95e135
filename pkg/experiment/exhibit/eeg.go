package exhibit

import (
	"context"
	"errors"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// EEGSample holds what notebook 08 shows of the recording. It is stored, so that the notebook works without the recording.
type EEGSample struct {
	Recording string // name

	Train, Repeated int // training points; Repeated counts those that repeat an earlier one
	Held, Leaked    int // held-out points; Leaked counts the ones that are also trained on

	X, Y                experiment.Numbers // observations of the first ten seconds
	Mean, Latent, Noisy experiment.Numbers // posterior of exact ML with the Laplace kernel, on a grid over the same seconds
}

// The figure shows the first eegSeconds seconds, with the posterior at eegGrid points.
const eegSeconds, eegGrid = 10, 2000

// Sample returns what is shown of the recording behind the outcomes: computed if the recording is available, else as stored.
func Sample(all []experiment.Outcome) (EEGSample, error) {
	return experiment.Kept("eeg-sample", scales.FromEnvironment(), func() (EEGSample, error) { return sampled(all) })
}

func sampled(all []experiment.Outcome) (s EEGSample, err error) {
	source := all[0].Trial.Source
	recording, err := experiment.Recording()
	if err != nil {
		return s, err
	}
	data, err := source.Load()
	if err != nil {
		return s, err
	}
	s = EEGSample{Recording: recording.Name, Train: data.Train.Len(), Repeated: data.Repeated, Held: len(data.Y),
		Leaked: data.Leaked}
	for i := range data.Train.Len() {
		if x := data.Train.X.At(i)[0]; x < eegSeconds {
			s.X, s.Y = append(s.X, x), append(s.Y, data.Train.Y[i])
		}
	}
	for _, o := range all {
		if o.Trial.Source != source || o.Trial.Loss != experiment.ML || o.Trial.Kernel != "Laplace" || o.Error != "" {
			continue
		}
		if key, err := o.Trial.Key(); err != nil || key != o.Key {
			return s, errors.New("exhibit: the outcomes are of another recording than the one here")
		}
		p, err := experiment.Posterior(gppl.PaperModel(experiment.Kernels["Laplace"]).WithParams(o.Theta), nil, data)
		if err != nil {
			return s, err
		}
		grid := gppl.Scalars(experiment.Grid(0, eegSeconds, eegGrid))
		s.Mean, s.Latent, _ = p.Latent(context.Background(), grid)
		_, s.Noisy, _ = p.Noisy(context.Background(), grid)
	}
	return s, nil
}

// Said describes the sample in sentences.
func (s EEGSample) Said() (lines []string) {
	return []string{"Recording used: " + s.Recording,
		fmt.Sprintf("Sampling with replacement: %d of the %d training points repeat an earlier one exactly, and %d of the %d held-out "+
			"points are also training points.", s.Repeated, s.Train, s.Leaked, s.Held)}
}

// Figure draws the first ten seconds and the posterior.
func (s EEGSample) Figure() (*viz.Figure, error) {
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title: "Ten seconds of the sample, and the posterior of exact ML", XLabel: "time (s)", YLabel: "signal (standardised)",
			Caption: s.Recording + ": training observations and the posterior with the Laplace kernel at the optimum of the exact " +
				"likelihood. The learnt noise variance is at its lower limit, so the mean passes through the observations and hides " +
				"them, and the two bands coincide.", Height: 320},
		Observed: viz.Points{X: s.X, Y: s.Y},
		Predictions: []viz.Prediction{{Name: "ML, Laplace", X: experiment.Grid(0, eegSeconds, eegGrid), Mean: s.Mean,
			LatentVar: s.Latent, NoisyVar: s.Noisy}},
	})
}
