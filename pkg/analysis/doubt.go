package analysis

import (
	"context"
	"fmt"
	"math"
)

// The doubt is the probability that the 95 % bands of a forecast by the automatic policy hold less than 70 % of what comes: the logistic
// function of
//
//	doubtLevel + doubtLength·log n + doubtLog·w + doubtAway·log(d + 0.05),
//
// n the number of observations, w the weight of models of log y, whose bands are wider, and d the largest distance of the forecast from
// seasonal naive's in the last third of the horizon, in its own standard deviations: a forecast that goes far from where the series is
// rests on growth that must go on. It was fitted to 805 series of the development halves of M3 and M4, of which 69 were poor, weighted
// so that the groups count as in the sample that is reported. What the past says of coverage, the worst and the last origin, the
// disagreement of the models, and the width of the bands beside past changes add nothing to these.
const (
	doubtLevel, doubtLength, doubtLog, doubtAway = 1.71, -1.02, -0.94, 0.21
	// tooDoubtful is the doubt above which a forecast is advised against; of all forecasts 5 to 9 % are poor.
	tooDoubtful = 0.08
	// provenError and provenCoverage, against seasonal naive and of the 95 % bands, are what a past must show for the doubt not to count:
	// growth that was forecast so well from every origin is no guess. Of the 69 poor forecasts one is let through by that.
	provenError, provenCoverage = 0.5, 0.9
)

// doubted reports whether the forecast is advised against by its doubt.
func (t *Trust) doubted() bool {
	return t.Doubt > tooDoubtful && !(t.Relative < provenError && t.Coverage >= provenCoverage)
}

// doubtOf is the doubt of a forecast of a series of n observations.
func doubtOf(n int, logarithm, away float64) float64 {
	return 1 / (1 + math.Exp(-(doubtLevel + doubtLength*math.Log(float64(n)) + doubtLog*logarithm + doubtAway*math.Log(away+0.05))))
}

// doubt fills in Doubt and Away for the forecast that t was made for, its bands widened; both stay 0 where kernels were named, for which
// no such experience is there, where regressors are not known ahead, and where the last observations are held out.
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

// doubtful says how often the bands of such forecasts fail, and what such forecasts are.
func (t *Trust) doubtful(n int) string {
	const far = 100 // beyond it the number of standard deviations says no more
	away := ""
	switch {
	case t.Away > far:
		away = fmt.Sprintf(", more than %d standard deviations away from %s", far, t.naive())
	case t.Away > 1:
		away = fmt.Sprintf(", %.1f standard deviations away from %s", t.Away, t.naive())
	}
	often := fmt.Sprintf("one in %.0f", 1/t.Doubt)
	if t.Doubt > 2./3 {
		often = "most"
	}
	return fmt.Sprintf("on other series the bands of %s such forecasts failed, made from %d observations%s", often, n, away)
}
