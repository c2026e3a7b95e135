package search

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// laplaceWalk implements the methods of a walker whose walk is a Laplace kernel.
type laplaceWalk struct{}

func (laplaceWalk) reach(first gppl.Kernel) float64 {
	if walk, ok := first.(gppl.Laplace); ok {
		return walk.Lengthscale
	}
	return 0
}

// fixWalk holds the lengthscale of the first term and, for a walk alone, the noise.
func fixWalk(m gppl.Model) gppl.Model {
	m = m.Fix(m.Params()[1].Name)
	if len(SumTerms(m.Kernel)) == 1 {
		m = m.Fix(gppl.NoiseName)
	}
	return m
}

// walkPrior is the prior of the variance of a walk, the first term of a model; step is the median variance of one step. Models
// without the walk, which a search for shifts also tries, have no such prior.
func walkPrior(of walker, m gppl.Model, i int, e extent, step float64) (p prior.LogNormal, ok bool) {
	reach := of.reach(SumTerms(m.Kernel)[0])
	if i != 0 || reach == 0 {
		return prior.LogNormal{}, false
	}
	return prior.LogNormal{Mu: math.Log(step * reach / (2 * e.step)), Sigma: 1.5}, true
}

// nameBehind appends the names of the terms after the first to name, which stands for the first.
func nameBehind(name string, terms []gppl.Kernel) string {
	for _, t := range terms[1:] {
		name += " + " + KernelName(t)
	}
	return name
}

// walker is a candidate whose models begin with a walk, a term whose level wanders: the lengthscale beyond which it returns, its
// reach, is held far beyond the data. Names keep it as the first term.
type walker interface {
	candidate
	// reach returns the reach of a walk, or 0 for another first term, which a search for shifts tries in place of the walk.
	reach(first gppl.Kernel) float64
	// lasts reports whether a search for shifts keeps the walk instead of trying shifts alone.
	lasts() bool
}

// Wanders reports whether the level of a model of the candidate, with the kernel k, wanders: its first term is a random walk.
func (c Candidate) Wanders(k gppl.Kernel) bool {
	w, ok := c.candidate.(walker)
	return ok && w.reach(SumTerms(k)[0]) > 0
}

// walkReach is the lengthscale over the range of x. Over a horizon of a third of the range, the walk returns to its mean by 3 %.
const walkReach = 10

// stepVariance is the prior median of the variance of one step of a random walk, on the standardised series.
const stepVariance = 0.1
