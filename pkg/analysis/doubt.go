package analysis

import (
	"context"
	"fmt"
	"math"
)

// The doubt is the probability that the 95 % bands of a forecast by the automatic policy contain less than 70 % of the observations to
// come: the logistic function of
//
//	doubtLevel + doubtLength·log n + doubtLog·w + doubtAway·log(d + 0.05) + doubtApart·log(r + 0.05).
//
// n is the number of observations. w is the weight of models of log y, whose bands are wider. In the last third of the horizon, in
// standard deviations of the forecast, d is the largest distance between the forecast and seasonal naive's, and r that between the random
// walk with drift and the other models: a forecast that goes far from where the series is, or that depends on the model, relies on growth
// or on a return to the mean. The function was fitted to the 1680 series of the development halves of M3 and M4 Weekly, 106 of them with
// poor forecasts (go run ./internal/forecasting -doubt). Further predictors hardly improved it: the coverage of the past, its error, its
// last third, the horizon over n, and the factor by which bands are widened.
const (
	doubtLevel, doubtLength, doubtLog, doubtAway, doubtApart = 0.92, -0.72, -0.77, 0.14, 0.26
	// A forecast is advised against if its doubt is above tooDoubtful, and may be used with care if it is above worthCare, one in 20. Of the
	// 106 poor forecasts, 61 have a doubt or other reasons that advise against them, and 83 at least a warning.
	tooDoubtful, worthCare = 0.1, 0.05
	// The doubt does not count if, in the past, the error was below provenError times seasonal naive's and the 95 % bands contained at
	// least provenCoverage: growth that was forecast this well from every origin is not a guess.
	provenError, provenCoverage = 0.5, 0.9
)

// doubted reports whether the doubt is above a level and counts.
func (t *Trust) doubted(level float64) bool {
	return t.Doubt > level && !(t.Relative < provenError && t.Coverage >= provenCoverage)
}

// doubtOf returns the doubt for n observations, weight logarithm of the models of log y, and distances away and apart.
func doubtOf(n int, logarithm, away, apart float64) float64 {
	const near = 0.05 // standard deviations that make no difference
	return 1 / (1 + math.Exp(-(doubtLevel + doubtLength*math.Log(float64(n)) + doubtLog*logarithm +
		doubtAway*math.Log(away+near) + doubtApart*math.Log(apart+near))))
}

// doubt sets t.Doubt, t.Away, t.Apart and t.Logarithm for the forecast with widened bands. All stay 0 if kernels were named, for which the
// function was not fitted, if there are regressors, or if the last observations are held out.
func (a *Analysis) doubt(ctx context.Context, t *Trust, o BacktestOptions) error {
	if !a.Weak || o.Holdout > 0 || a.Series.Known != nil {
		return nil
	}
	n, last := len(a.Series.X), a.Series.X[len(a.Series.X)-1]
	x := a.Series.after(last, o.Horizon)
	widened := *a
	widened.Widen = t.Widen
	f, err := widened.PredictContext(ctx, x)
	if err != nil {
		return err
	}
	var walk, others []*member
	var total float64
	for _, m := range a.members {
		if isWalk(m.model) {
			walk = append(walk, m)
			continue
		}
		others = append(others, m)
		total += m.weight
		if m.log {
			t.Logarithm += m.weight
		}
	}
	t.Away = f.farthest(f.Mean, a.Series.naive(x, n, t.period))
	if len(walk) > 0 {
		walking, err := a.medianOf(ctx, walk, x)
		if err != nil {
			return err
		}
		other, err := a.medianOf(ctx, others, x)
		if err != nil {
			return err
		}
		t.Apart = f.farthest(walking, other)
	}
	t.Logarithm /= total
	t.Doubt = doubtOf(n, t.Logarithm, t.Away, t.Apart)
	return nil
}

// farthest returns the largest distance between two forecasts in the last third of the horizon, in standard deviations of f.
func (f *Forecast) farthest(one, other []float64) (most float64) {
	for i := range one {
		if 3*i >= 2*len(one) {
			most = max(most, 2*Quantile95*math.Abs(one[i]-other[i])/(f.Upper[i]-f.Lower[i]))
		}
	}
	return most
}

// medianOf returns the median forecast of some of the members.
func (a *Analysis) medianOf(ctx context.Context, members []*member, x []float64) ([]float64, error) {
	part := *a
	part.members = nil
	var total float64
	for _, m := range members {
		total += m.weight
	}
	for _, m := range members {
		share := *m
		share.weight /= total
		part.members = append(part.members, &share)
	}
	parts, err := part.parts(ctx, x)
	if err != nil {
		return nil, err
	}
	return quantile(parts, 0.5, false), nil
}

// doubtful says how often the bands of forecasts like this one fail, and what they have in common.
func (t *Trust) doubtful(n int) string {
	const far = 100 // a larger number of standard deviations tells the reader nothing more
	away := ""
	switch {
	case t.Away > far:
		away = fmt.Sprintf(" and more than %d standard deviations away from %s", far, t.naive())
	case t.Away > 1:
		away = fmt.Sprintf(" and %.1f standard deviations away from %s", t.Away, t.naive())
	case t.Apart > 1:
		away = fmt.Sprintf(" and %.1f standard deviations away from a random walk", t.Apart)
	}
	often := fmt.Sprintf("one in %.0f", 1/t.Doubt)
	if t.Doubt > 2./3 {
		often = "most"
	}
	return fmt.Sprintf("on other series the bands failed for %s forecasts like this one, which is made from %d observations%s", often, n, away)
}
