package report

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// link names the scale on which models and their parameters are; "" for that of y.
func link(a *forecast.Analysis) string {
	switch c := a.Series.Counting; {
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

// linked names y on that scale.
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
func events(s *forecast.Series) bool {
	return s.Counting != nil && s.Counting.Likelihood == "bernoulli"
}

// prediction is the posterior as a figure draws it: for counts, the expected count and the band of a new one, in whole numbers.
func prediction(f *forecast.Forecast) viz.Prediction {
	p := viz.Prediction{Name: "mean", X: f.X, Mean: f.Mean, NoisyVar: f.NoisyVar, Lower: f.Lower, Upper: f.Upper}
	if f.Counts == nil { // for counts, a band of f would not be on their scale
		p.LatentVar = f.LatentVar
		p.LatentLower, p.LatentUpper = f.LatentBand()
	}
	return p
}

// columns are the numbers of a prediction at each x.
func columns(p *viz.Prediction) []*[]float64 {
	return []*[]float64{&p.Mean, &p.LatentVar, &p.NoisyVar, &p.Lower, &p.Upper, &p.LatentLower, &p.LatentUpper}
}

// joined is a prediction continued by another.
func joined(p, q viz.Prediction) viz.Prediction {
	p.X = append(p.X, q.X...)
	from := columns(&q)
	for i, to := range columns(&p) {
		*to = append(*to, *from[i]...)
	}
	return p
}

// leaveOut leaves gaps in a prediction where closed says so.
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

// countPredictions lists a forecast of counts.
func countPredictions(a *forecast.Analysis, f *forecast.Forecast) *viz.Table {
	whole := viz.Fixed(0)
	t := &viz.Table{
		Caption: "Forecast of " + a.Series.YLabel(),
		Columns: []viz.Column{
			{Name: a.Series.Axis.Name}, {Name: "expected", Format: digits(f)}, {Name: "median", Format: whole},
			{Name: "95 % from", Format: whole}, {Name: "to", Format: whole}, {Name: "probability of 0", Unit: "%", Format: viz.Fixed(0)},
		},
		Notes: []string{"Expected is the mean of the counts that may come. " +
			"The band holds a new count with a probability of at least 95 %; its ends are whole numbers."},
	}
	if events(a.Series) {
		t.Notes[0] = "Expected is the probability of 1. The band holds a new value with a probability of at least 95 %: " +
			"from 0 to 1 means that both are likely."
	}
	medians, zeros := f.Quantile(0.5), f.Zeros()
	addSteps(t, f, func(i int) []any {
		return []any{f.When[i], f.Mean[i], medians[i], f.Lower[i], f.Upper[i], 100 * zeros[i]}
	})
	return brief(t)
}
