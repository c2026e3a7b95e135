package forecast

import "github.com/projected-likelihood/gppl/pkg/gppl"

// noiseAlone is the candidate without a signal: noise about a mean, which may have a trend and regressors.
type noiseAlone struct{ byEvidence }

var _ candidate = noiseAlone{}

// startNoise is the noise variance at which training begins, of the standardised series.
const startNoise = 0.05

// whiteTerm stands for no signal in a list of terms. The noise of the model has its part: its variance is held at next to nothing.
var whiteTerm = gppl.White{Variance: 1e-9}

func (noiseAlone) named(name string) bool { return name == kernelName(whiteTerm) }

func (noiseAlone) propose(*policy) ([]proposal, error) {
	return []proposal{{terms: []gppl.Kernel{whiteTerm}, noise: startNoise}}, nil
}

// NoSignal reports whether the candidate is noise about a mean.
func (c Candidate) NoSignal() bool {
	return c.kind == noiseAlone{} && c.Kernel == kernelName(whiteTerm)
}
