package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Trends are what Options.Trend may say: the mean function of the model, whose coefficients are learnt with it. "auto", or
// "", compares them.
var Trends = []string{"auto", "none", "linear", "quadratic"}

// trendVariance is the prior variance of the coefficients of a trend, of the standardised series and of x between −1 and 1:
// a trend that explains all of the series has a slope of √3. With a prior, likelihoods with and without a trend can be
// compared, and a trend that the data do not show is kept near zero.
const trendVariance = 4

// meanOf returns the mean function for a trend and the regressors of x, nil for none: a series without trend is standardised, and its mean is zero.
func meanOf(trend string, x gppl.Inputs) (gppl.Mean, error) {
	degree := 0
	switch strings.ToLower(trend) {
	case "none":
		return withRegressors(nil, nil, x), nil
	case "linear":
		degree = 1
	case "quadratic":
		degree = 2
	default:
		return nil, fmt.Errorf("analysis: no trend %q: it is one of %s", trend, strings.Join(Trends, ", "))
	}
	variances := slices.Repeat([]float64{trendVariance}, 1+degree)
	return withRegressors([]gppl.Mean{gppl.Intercept{}, gppl.NewTrend(degree, x)}, variances, x), nil
}

// slopeVariance and levelVariance are the prior variances where the policy chooses the kernel; briefSlope is the former of a series of
// fewer than lasting observations: a slope that has lasted goes on, one that a few observations show is not extrapolated in full. Of 0.1,
// 0.3, 1 and 4, 0.3 did best on the development half of M3's yearly series, of 14 to 41 observations, and 1 beside 0.3 and 3 on its
// quarterly, monthly and other ones. A variance in proportion to the length was no better.
const (
	slopeVariance = 1
	briefSlope    = 0.3
	lasting       = 50
	levelVariance = 1
)

// policyMean is meanOf with a constant that is uncertain: the mean of a short series is not known well.
func policyMean(trend string, x gppl.Inputs) (gppl.Mean, error) {
	slope := float64(slopeVariance)
	if x.Len() < lasting {
		slope = briefSlope
	}
	switch strings.ToLower(trend) {
	case "none":
		return withRegressors([]gppl.Mean{gppl.Intercept{}}, []float64{levelVariance}, x), nil
	case "linear":
		return withRegressors([]gppl.Mean{gppl.Intercept{}, gppl.NewTrend(1, x)}, []float64{levelVariance, slope}, x), nil
	}
	return meanOf(trend, x)
}

// trendBasis returns the columns of the model's trend at x, each times the prior standard deviation of its coefficient, so
// that the trend's covariance is their outer product; nil for a model without.
func (a *Analysis) trendBasis(x []float64) (*mat.Dense, error) {
	m := a.Result.Model.Mean
	if m == nil {
		return nil, nil
	}
	in, err := a.Series.inputs(x)
	if err != nil {
		return nil, err
	}
	h, err := m.Basis(in)
	if err != nil {
		return nil, fmt.Errorf("analysis: %w", err)
	}
	for j, c := range m.Columns() {
		for i := range x {
			h.Set(i, j, h.At(i, j)*math.Sqrt(c.Variance))
		}
	}
	return h, nil
}
