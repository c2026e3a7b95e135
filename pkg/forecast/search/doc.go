// Package search finds a model of a series.
//
//	found, err := search.Find(ctx, s, search.Options{})    // candidates, the best first, and the models that a forecast averages
//
// y, or log y, is standardised. If Options names no kernels, Find searches for a structure by its evidence and averages the best
// models. Otherwise it trains each named kernel plus noise by the exact likelihood (by a projected one for long series: see
// [Options]) and keeps the one with the lowest
//
//	BIC = 2·NLL + p·log n
//
// with p the number of trained parameters, noise included (Schwarz 1978, Estimating the dimension of a model).
//
// Package forecast calls it, and says in its function Fit how the search proceeds. A candidate of the search is a type of its
// own, in a file candidate_*.go.
package search
