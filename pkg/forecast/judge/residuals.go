package judge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// ErrCounts says that observations are counts, shares, events or censored.
var ErrCounts = errors.New("counts, shares, events and censored values are not normal, " +
	"so that there are no innovations to test; the forecasts of the past test the model")

// Residuals are the standardised innovations e = L⁻¹z, where A = LLᵀ: the difference between each observation and its prediction
// from the observations before it, in standard deviations of this prediction. Under the model they are independent and N(0, 1),
// unlike leave-one-out residuals.
type Residuals struct {
	X, E []float64
	// Of is the number of observations in the series; only the latest 2500 are checked.
	Of int

	Mean, SD           float64
	Skewness, Kurtosis float64   // Kurtosis is the excess over 3
	Autocorrelation    []float64 // at lags 1, 2, … of e, clipped at 5σ from its median with σ = 1.4826 times the median distance
	Band               float64   // 1.96/√n: if e is white, 95 % of the autocorrelations are within ±Band

	// LjungBox is n(n+2)Σ ρ_h²/(n−h) over the first LjungBoxLags lags, at most 20: with more lags it rejects white noise too
	// often (Ljung and Box 1978). Under the model it is approximately χ² with LjungBoxLags degrees of freedom. LjungBoxP is a
	// little too high, since the parameters were learnt from the same data.
	LjungBox     float64
	LjungBoxP    float64
	LjungBoxLags int
	// JarqueBera is n(skewness²/6 + kurtosis²/24), approximately χ² with two degrees of freedom for Gaussian e.
	JarqueBera  float64
	JarqueBeraP float64
}

// mostChecked is the largest number of observations, the latest, that the residual checks factorise densely, in about a second.
const mostChecked = 2500

// CheckResiduals checks the model by its innovations. It takes n³/3 flops for n up to 2500. It ends soon after ctx has, with an
// error that wraps ctx's.
func CheckResiduals(ctx context.Context, a *forecast.Analysis) (*Residuals, error) {
	return residualsOf(ctx, a, mostChecked)
}

// residualsOf checks the latest observations, at most most.
func residualsOf(ctx context.Context, a *forecast.Analysis, most int) (*Residuals, error) {
	if a.Series.Approximated() {
		return nil, ErrCounts
	}
	x, e, err := a.Innovations(ctx, most)
	if err != nil {
		return nil, err
	}
	r := checkWhite(e)
	r.X, r.Of = x, len(a.Series.X)
	return r, nil
}

// checkWhite computes the statistics of Residuals for e.
func checkWhite(e []float64) *Residuals {
	n := float64(len(e))
	r := &Residuals{E: e, Band: 1.96 / math.Sqrt(n)}
	r.Mean, r.SD = stat.MeanStdDev(e, nil)
	r.Skewness, r.Kurtosis = stat.Skew(e, nil), stat.ExKurtosis(e, nil)
	lags := max(1, min(40, len(e)/5))
	r.LjungBoxLags = min(lags, 20)
	near := numeric.Clipped(e) // otherwise one or two wrong readings would hide the autocorrelation of all others
	r.Autocorrelation = numeric.Autocorrelation(near, stat.Mean(near, nil), lags)
	for i, rho := range r.Autocorrelation[:r.LjungBoxLags] {
		r.LjungBox += n * (n + 2) * rho * rho / (n - float64(i+1))
	}
	r.LjungBoxP = distuv.ChiSquared{K: float64(r.LjungBoxLags)}.Survival(r.LjungBox)
	r.JarqueBera = n * (r.Skewness*r.Skewness/6 + r.Kurtosis*r.Kurtosis/24)
	r.JarqueBeraP = distuv.ChiSquared{K: 2}.Survival(r.JarqueBera)
	return r
}

// Verdict summarises the checks in sentences. The tests have a level of 1 %, which it states. It counts all autocorrelations, as
// a figure shows them; the Ljung–Box test takes fewer.
func (r *Residuals) Verdict() []string {
	const level = 0.01
	var v []string
	outside, lags := 0, len(r.Autocorrelation)
	for _, rho := range r.Autocorrelation {
		if math.Abs(rho) > r.Band {
			outside++
		}
	}
	beyond := fmt.Sprintf("Ljung–Box %s over %d lags; %d of %d autocorrelations %s beyond the band, %.1f expected",
		text.P(r.LjungBoxP), r.LjungBoxLags, outside, lags, text.Are(outside), 0.05*float64(lags))
	const should = "Innovations, the errors of predictions one step ahead, should be uncorrelated"
	if r.LjungBoxP < level {
		v = append(v, fmt.Sprintf("%s, but are not: the model misses structure in time (%s, the largest at lag %d).",
			should, beyond, r.largestLag()))
	} else {
		v = append(v, fmt.Sprintf("%s: nothing speaks against it at the level of 1 %% (%s).", should, beyond))
	}
	if r.JarqueBeraP < level {
		v = append(v, text.Minus(fmt.Sprintf("They should be Gaussian, but are not "+
			"(Jarque–Bera %s, skewness %.2f, excess kurtosis %.2f): the ends of the bands may be off.",
			text.P(r.JarqueBeraP), r.Skewness, r.Kurtosis)))
	} else {
		v = append(v, fmt.Sprintf("They should be Gaussian: nothing speaks against it at the level of 1 %% (Jarque–Bera %s).",
			text.P(r.JarqueBeraP)))
	}
	// The standard error of a standard deviation of Gaussian values is 1/√(2n).
	if math.Abs(r.SD-1) > 3/math.Sqrt(2*float64(len(r.E))) {
		v = append(v, fmt.Sprintf("Their standard deviation is %.2f times the model's: "+
			"its bands one step ahead were too %s on average.", r.SD, map[bool]string{true: "narrow", false: "wide"}[r.SD > 1]))
	}
	if n := len(r.E); n < r.Of {
		v = append(v, fmt.Sprintf("Checked on the latest %d of %d observations.", n, r.Of))
	}
	return v
}

// largestLag returns the lag of the largest of the tested autocorrelations.
func (r *Residuals) largestLag() int {
	at := 0
	for h, rho := range r.Autocorrelation[:r.LjungBoxLags] {
		if math.Abs(rho) > math.Abs(r.Autocorrelation[at]) {
			at = h
		}
	}
	return at + 1
}
