package search

import "github.com/projected-likelihood/gppl/pkg/gppl"

// asked is a kernel that the user named. The search does not propose it. It is trained by its likelihood and the given priors.
type asked struct{ byEvidence }

var _ candidate = asked{}

// named is false for every name: a file says whether kernels were named.
func (asked) named(string) bool { return false }

func (asked) propose(*policy) ([]proposal, error) { return nil, nil }

// prior removes every weak prior.
func (asked) prior(gppl.Model, int, extent) (p gppl.LogNormal, ok bool) {
	return gppl.LogNormal{}, true
}
