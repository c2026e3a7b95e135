package analysis

import (
	"context"
	"fmt"
	"math"
)

// The doubt is the probability that the 95 % bands of a forecast by the automatic policy contain less than 70 % of the observations to
// come: the logistic function of
//
//	doubtLevel + doubtLength·log n + doubtLog·w + doubtAway·log(d + 0.05).
//
// n is the number of observations. w is the weight of models of log y, whose bands are wider. d is the largest distance between the
// forecast and seasonal naive's in the last third of the horizon, in standard deviations of the forecast: a forecast that goes far from
// where the series is relies on continued growth. The function was fitted to 805 series of the development halves of M3 and M4, 69 of
// them with poor forecasts, weighted so that the groups count as in the reported sample. Four further predictors did not improve it: the
// coverage of the past, its worst and its last origin, the disagreement of the models, and the width of the bands beside past changes.
const (
	doubtLevel, doubtLength, doubtLog, doubtAway = 1.71, -1.02, -0.94, 0.21
	// tooDoubtful is the doubt above which a forecast is advised against; of all forecasts 5 to 9 % are poor.
	tooDoubtful = 0.08
	// The doubt does not count if, in the past, the error was below provenError times seasonal naive's and the 95 % bands contained at
	// least provenCoverage: growth that was forecast this well from every origin is not a guess. This lets 1 of the 69 poor forecasts pass.
	provenError, provenCoverage = 0.5, 0.9
)

// doubted reports whether the forecast is advised against by its doubt.
func (t *Trust) doubted() bool {
	return t.Doubt > tooDoubtful && !(t.Relative < provenError && t.Coverage >= provenCoverage)
}

// doubtOf returns the doubt for n observations, weight logarithm of the models of log y, and distance away.
func doubtOf(n int, logarithm, away float64) float64 {
	return 1 / (1 + math.Exp(-(doubtLevel + doubtLength*math.Log(float64(n)) + doubtLog*logarithm + doubtAway*math.Log(away+0.05))))
}

// doubt sets t.Doubt and t.Away for the forecast with widened bands. Both stay 0 if kernels were named, for which the function was not
// fitted, if there are regressors, or if the last observations are held out.
func (a *Analysis) doubt(ctx context.Context, t *Trust, o BacktestOptions) error {
	if !a.Weak || o.Holdout > 0 || a.Series.Known != nil {
		return nil
	}
	n, last := len(a.Series.X), a.Series.X[len(a.Series.X)-1]
	x := a.Series.after(last, o.Horizon)
	naive := a.Series.naive(x, n, t.period)
	widened := *a
	widened.Widen = t.Widen
	f, err := widened.PredictContext(ctx, x)
	if err != nil {
		return err
	}
	for i, v := range f.Mean {
		if 3*i >= 2*len(x) {
			t.Away = max(t.Away, 2*Quantile95*math.Abs(v-naive[i])/(f.Upper[i]-f.Lower[i]))
		}
	}
	var logarithm, total float64
	for _, m := range a.members {
		if isWalk(m.model) {
			continue
		}
		total += m.weight
		if m.log {
			logarithm += m.weight
		}
	}
	t.Doubt = doubtOf(n, logarithm/total, t.Away)
	return nil
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
	}
	often := fmt.Sprintf("one in %.0f", 1/t.Doubt)
	if t.Doubt > 2./3 {
		often = "most"
	}
	return fmt.Sprintf("on other series the bands failed for %s forecasts like this one, which is made from %d observations%s", often, n, away)
}
