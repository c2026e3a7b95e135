package search

import "github.com/projected-likelihood/gppl/pkg/gppl"

// noiseAlone is the candidate without a signal: noise about a mean, which may have a trend and regressors.
type noiseAlone struct{ byEvidence }

var _ candidate = noiseAlone{}

func (noiseAlone) named(name string) bool { return name == KernelName(WhiteTerm) }

func (noiseAlone) propose(*task) ([]proposal, error) {
	return []proposal{{terms: []gppl.Kernel{WhiteTerm}, noise: startNoise}}, nil
}

// NoSignal reports whether the candidate is noise about a mean.
func (c Candidate) NoSignal() bool {
	return c.candidate == noiseAlone{} && c.Kernel == KernelName(WhiteTerm)
}
