package report

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

// link returns the name of the scale that models are on: "log odds", "log rate" or "log y"; "" if they are models of y itself.
func link(a *forecast.Analysis) string {
	switch c := a.Series.Counting; {
	case a.Series.Censored():
		if a.Log {
			return a.Series.LogName()
		}
		return ""
	case a.Series.Bounds != nil, c != nil && (c.Likelihood == "binomial" || c.Likelihood == "bernoulli"):
		return "log odds"
	case c != nil:
		return "log rate"
	case a.Log:
		return logY
	}
	return ""
}

const logY = "log y"

// linked returns the name of y on the scale of link.
func linked(a *forecast.Analysis) string {
	switch y := a.Series.YName; link(a) {
	case "":
		return y
	case logY:
		return "log " + y
	default:
		return "the " + link(a) + " of " + y
	}
}

// events reports whether observations are 0 or 1.
func events(s *series.Series) bool {
	return s.Counting != nil && s.Counting.Likelihood == "bernoulli"
}

// prediction returns the posterior as a figure draws it: for counts, the expected count and the band of a new one, in whole
// numbers.
func prediction(ctx context.Context, f *forecast.Forecast) (p viz.Prediction, err error) {
	p = viz.Prediction{Name: live.Expected, X: f.X, Mean: f.Point(), NoisyVar: f.NoisyVar, Lower: f.Lower, Upper: f.Upper}
	if f.Counts == nil { // for counts, a band of f would not be on their scale
		p.LatentVar = f.LatentVar
		p.LatentLower, p.LatentUpper, err = f.LatentBand(ctx)
	}
	return p, err
}

// columns returns the slices of a prediction that have a value for each x, among them nil ones.
func columns(p *viz.Prediction) []*[]float64 {
	return []*[]float64{&p.Mean, &p.LatentVar, &p.NoisyVar, &p.Lower, &p.Upper, &p.LatentLower, &p.LatentUpper}
}

// drawnPrediction returns the posterior as a figure draws it from x = from on: predictions at the instants of the series
// (series.Series.Drawn), and the steps of the forecast f, unchanged.
func drawnPrediction(a *forecast.Analysis, f *forecast.Forecast, from float64) (drawn viz.Prediction, err error) {
	s := a.Series
	x := append(s.Drawn(from, s.X[len(s.X)-1]), s.DrawnAhead(f.X, f.Point(), f.Lower, f.Upper)...)
	given := func(v float64) bool {
		_, ok := slices.BinarySearch(f.X, v)
		return ok
	}
	var between []float64
	for _, v := range x {
		if !given(v) {
			between = append(between, v)
		}
	}
	ctx := context.Background()
	others, err := a.Predict(ctx, between)
	if err != nil {
		return drawn, err
	}
	ahead, err := prediction(ctx, f)
	if err != nil {
		return drawn, err
	}
	past, err := prediction(ctx, others)
	if err != nil {
		return drawn, err
	}
	drawn = viz.Prediction{Name: past.Name, X: x}
	here, there := columns(&ahead), columns(&past)
	for i, to := range columns(&drawn) {
		if *here[i] == nil {
			continue
		}
		for j, before := 0, 0; j < len(x); j++ {
			if at, ok := slices.BinarySearch(f.X, x[j]); ok {
				*to = append(*to, (*here[i])[at])
				before++
			} else {
				*to = append(*to, (*there[i])[j-before])
			}
		}
	}
	leaveOut(&drawn, empty(s, f))
	return drawn, nil
}

// empty returns a function that reports whether x is a time of the day or week at which the series never has an observation, nor
// the forecast a step.
func empty(s *series.Series, f *forecast.Forecast) func(x float64) bool {
	return func(x float64) bool {
		_, observed := slices.BinarySearch(s.X, x)
		_, given := slices.BinarySearch(f.X, x)
		return !observed && !given && s.Closed(x)
	}
}

// leaveOut sets the values of a prediction to NaN where closed reports true, so that a figure has gaps there.
func leaveOut(p *viz.Prediction, closed func(x float64) bool) {
	for i, x := range p.X {
		if !closed(x) {
			continue
		}
		for _, c := range columns(p) {
			if *c != nil {
				(*c)[i] = math.NaN()
			}
		}
	}
}
