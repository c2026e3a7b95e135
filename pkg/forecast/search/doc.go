// Package search finds a model of a series.
//
//	found, err := search.Find(ctx, s, search.Options{})    // candidates, the best first, and the models that a forecast averages
//
// y, or log y, is standardised. Find trains candidates with weak priors, ranks them by their evidence and averages the best. The
// candidates come from the automatic search, whose best grows term by term, or the kernels that Options names.
//
// Package forecast calls it, and says in its function Fit how the search proceeds. A candidate of the search is a type of its
// own, in a file candidate_*.go.
package search
