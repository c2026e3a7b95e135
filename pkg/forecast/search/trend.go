package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Trends are the values of Options.Trend: mean functions whose coefficients are learnt. "auto", or "", compares them.
var Trends = []string{"auto", "none", "linear", "quadratic"}

// trendVariance is the prior variance of the coefficients of a trend, for the standardised series and x scaled to [−1, 1]; a
// trend that explains all of the series has a slope of √3 there. The prior makes likelihoods with and without a trend comparable,
// and keeps a trend that the data do not show near zero.
const trendVariance = 4

// meanOf returns the mean function for a trend and the regressors of x. It is nil without both, since the series is standardised.
func meanOf(trend string, x gppl.Inputs) (gppl.Mean, error) {
	degree := 0
	switch strings.ToLower(trend) {
	case "none":
		return series.WithRegressors(nil, nil, x), nil
	case "linear":
		degree = 1
	case "quadratic":
		degree = 2
	default:
		return nil, fmt.Errorf("no trend %q: it is one of %s", trend, strings.Join(Trends, ", "))
	}
	variances := slices.Repeat([]float64{trendVariance}, 1+degree)
	return series.WithRegressors([]gppl.Mean{gppl.Intercept{}, gppl.NewTrend(degree, x)}, variances, x), nil
}

// slopeVariance and levelVariance are the prior variances of most models. Series of fewer than lasting observations have
// briefSlope in place of slopeVariance: a slope is extrapolated if it has lasted, and damped if few observations show it. On the
// development half of M3, 0.3 did best of 0.1, 0.3, 1 and 4 on the yearly series, which have 14 to 41 observations, and 1 did
// best of 0.3, 1 and 3 on the others. A variance in proportion to the length was no better.
const (
	slopeVariance = 1
	briefSlope    = 0.3
	lasting       = 50
	levelVariance = 1
)

// slopeOf returns the prior variance of the slope for n observations, unless a candidate has its own.
func slopeOf(n int) float64 {
	if n < lasting {
		return briefSlope
	}
	return slopeVariance
}

// policyMean is like meanOf with an uncertain constant: a short series does not determine its mean well. slope is the prior
// variance of the slope of a linear trend for n observations.
func policyMean(slope func(n int) float64, trend string, x gppl.Inputs) (gppl.Mean, error) {
	switch strings.ToLower(trend) {
	case "none":
		return series.WithRegressors([]gppl.Mean{gppl.Intercept{}}, []float64{levelVariance}, x), nil
	case "linear":
		parts := []gppl.Mean{gppl.Intercept{}, gppl.NewTrend(1, x)}
		return series.WithRegressors(parts, []float64{levelVariance, slope(x.Len())}, x), nil
	}
	return meanOf(trend, x)
}
