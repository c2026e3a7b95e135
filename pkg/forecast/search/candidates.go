package search

// candidates returns the candidates of a search: the named kernels, or the automatic search's.
func (o Options) candidates() (all []candidate) {
	if len(o.Kernels) == 0 {
		return candidates
	}
	for _, name := range o.Kernels {
		all = append(all, asked{kernel: name})
	}
	return all
}

// candidates lists the candidates of the automatic search in the order in which they are tried. If several accept a name it
// belongs to the last of them.
var candidates = []candidate{stationary{}, noiseAlone{}, wiener{}, dampedTrend{}, randomWalk{}}

// candidateNamed returns the candidate that a name in a file belongs to.
func candidateNamed(name string) (of candidate) {
	for _, c := range candidates {
		if c.named(name) {
			of = c
		}
	}
	return of
}
