package forecast

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/risk"
)

// doubted reports whether the risk is above a level and counts.
func (t *Trust) risky(level float64) bool {
	return t.Risk > level && !risk.Overruled(t.Relative, t.Coverage)
}

// setRisk sets t.Risk, t.Away, t.Apart and t.Logarithm for the forecast with widened bands. All stay 0 if kernels were named, for which the
// function was not fitted, if there are regressors, or if the last observations are held out.
func (a *Analysis) setRisk(ctx context.Context, t *Trust, o BacktestOptions) error {
	if a.Chosen == ByBIC || o.Holdout > 0 || a.Series.Known != nil {
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
	var fixed, others []*member
	var total float64
	for _, m := range a.members {
		if m.fixed() {
			fixed = append(fixed, m)
			continue
		}
		others = append(others, m)
		total += m.weight
		if m.log {
			t.Logarithm += m.weight
		}
	}
	t.Away = f.farthest(f.Mean, a.Series.naive(x, n, t.period))
	if len(fixed) > 0 {
		walking, err := a.medianOf(ctx, fixed, x)
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
	t.Risk = risk.Of(risk.Predictors{N: n, Log: t.Logarithm, Away: t.Away, Apart: t.Apart})
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
	return quantiles(parts, 0.5, false), nil
}

// riskText says how often the bands of forecasts like this one fail, and what they have in common.
func (t *Trust) riskText(n int) string {
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
	often := fmt.Sprintf("one in %.0f", 1/t.Risk)
	if t.Risk > 2./3 {
		often = "most"
	}
	return fmt.Sprintf("%s the bands failed for %s forecasts like this one, which is made from %d observations%s", risk.Reason, often, n, away)
}
