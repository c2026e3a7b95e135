package search

// candidates returns the candidates of a search: the named kernels, or those of the automatic search.
func (o Options) candidates() (all []candidate) {
	if len(o.Kernels) == 0 {
		return candidates
	}
	for _, name := range o.Kernels {
		all = append(all, asked{kernel: name})
	}
	return all
}

// candidates are those of the automatic search, in the order of trial. A name that several take belongs to the last.
var candidates = []candidate{stationary{}, noiseAlone{}, wiener{}, dampedTrend{}, randomWalk{}}

// candidateNamed returns the candidate of a name in a file.
func candidateNamed(name string) (of candidate) {
	for _, c := range candidates {
		if c.named(name) {
			of = c
		}
	}
	return of
}
