// Package viz shows what a Gaussian process has learnt by figures, tables and a progress bar: inline in a GoNB notebook,
// elsewhere in files or in a terminal.
//
// It takes plain slices and knows nothing of models, so any program with numbers to show can use it. A figure is made by a
// constructor that checks what it is given, and is then shown or saved:
//
//	fig, err := viz.Series(viz.SeriesOptions{
//		Frame:       viz.Frame{Title: "Sunspots", XLabel: "year", YLabel: "sunspot number"},
//		Observed:    viz.Points{X: year, Y: count},
//		Predictions: []viz.Prediction{{Name: "SE", X: xs, Mean: mu, LatentVar: varF, NoisyVar: varY}},
//	})
//	...
//	viz.Show(fig)                 // inline, when run by GoNB
//	err = fig.Save("sunspots.svg") // or .png, .pdf
//
// The constructors are [Series] (observations and predictive bands), [Curves] (any lines or dots, linear or log axes), [Scatter]
// (few points with markers, error bars and labels) and [Strips] (distributions over runs). [Grid] arranges figures in rows and
// columns. A [Table] shows numbers, spreads of numbers over runs ([Spread]) and verdicts ([Status]).
//
// All figures and tables have one style for screen and paper. In a notebook with a dark theme and in a dark page with [CSS] they
// turn dark; saved files and printed pages stay light.
//
// # Conventions
//
// X and Y slices that belong together have the same length; otherwise the constructor returns an error. It also does if there are
// no data, or if an axis has no label: labels carry the unit, as in "time (s)". A value that is not finite, or not positive on a
// log axis, is a gap in a line and is left out of a scatter; it is never an error as long as one drawable value remains. No input
// slice is modified or kept beyond the figure's life, and none is copied needlessly: do not change a slice between making a
// figure and showing it.
//
// A method keeps its colour and dash in every figure if it keeps its position, or its Slot, in the options. The slots have
// names: [Blue], [Vermillion], ….
package viz
