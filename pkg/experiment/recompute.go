package experiment

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Recomputed reports whether the exact NLL that is stored is that of the stored parameters on the data of the trial, computed again
// without training: an error says how it differs. What has no NLL, and the EEG with RQ, for which it takes minutes, is not checked.
func (o Outcome) Recomputed() (checked bool, err error) {
	t := o.Trial
	if o.Error != "" || t.Optimiser.Method == Evaluate || t.Source.Name == "eeg" && t.Kernel == "RQ" {
		return false, nil
	}
	s, err := t.Source.Load()
	if err != nil {
		return false, err
	}
	theta := o.learntTheta()
	if t.Authors.Diagonal > 0 {
		theta[len(theta)-1] += MLDiagonal
	}
	exact, err := gppl.NewExact(gppl.PaperModel(Kernels[t.Kernel]), s.Train)
	if err != nil {
		return false, err
	}
	nll, err := exact.ValueGrad(nil, theta)
	if err != nil {
		return false, err
	}
	// Parameters are stored with ten digits; an engine keeps 1e-8 nats per observation.
	if tolerance := 1e-3 + 1e-6*math.Abs(nll); !(math.Abs(nll-o.NLL) <= tolerance) {
		return true, fmt.Errorf("experiment: %v: the exact NLL at the stored parameters is %v, stored %v", t, nll, o.NLL)
	}
	return true, nil
}

// learntTheta returns the stored parameters. A noise variance that was stored at its floor, rounded, is just above it.
func (o Outcome) learntTheta() []float64 {
	const floor = 1e-6
	theta := append([]float64(nil), o.Theta...)
	if noise := &theta[len(theta)-1]; *noise <= floor {
		*noise = floor * (1 + 1e-9)
	}
	return theta
}
