package judge

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
)

// A Word says what to do with a forecast.
type Word string

const (
	// Use: the past was forecast, and nothing beyond chance speaks against the forecast.
	Use Word = "use"
	// Untested: there are too few observations to test the forecast, or to advise against it, or some may be wrong (Series.Lead). It
	// is not a warning.
	Untested Word = "untested"
	// DoNotUse: in the past a naive forecast was better beyond chance or by far, or the bands failed beyond chance or held less than
	// 70 % of the values; or the residual checks fail so badly that the bands cannot hold.
	DoNotUse Word = "do not use"
)

const (
	// beyondChance is the level of the tests of the past: of the paired t test of errors, and of the binomial test of bands.
	beyondChance = 0.05
	// highRelative is the ratio of the error to the yardstick's above which a warning is worthwhile: forecasts below are as good,
	// however certain the difference is. Above asGood, the yardstick is said to do as well.
	highRelative, asGood = 1.15, 1.005
	// farRelative is the ratio above which a forecast of a series of at least telling observations is rejected even if chance may
	// explain it. On M4's development half, of 222 forecasts that nothing else speaks against, 8 of the 11 with a higher ratio
	// failed, and 28 % of the others.
	farRelative = 1.5
	// absurdRelative is a ratio that two origins suffice to see, of a short series too: none of the 643 series of docs/forecasts.md
	// has one above 5.
	absurdRelative = 10
	// poor is the coverage of 95 % bands below which they have failed, and poorRate how often that happens to a single forecast with
	// correct bands, whose errors are correlated.
	poor, poorRate = 0.7, 0.06
	// leastSeparate is the least number of separate tests that fit into the past, and leastKnown that of observations before them.
	leastSeparate, leastKnown = 2, 10
	// lowCoverage is the coverage below which a reader of a usable forecast is warned; widened is the factor from which wider bands
	// are mentioned.
	lowCoverage, widened = 0.85, 1.05
	// lastChecked is the number of latest observations whose innovations the verdict examines.
	lastChecked = 1000
	// brokenSpread and brokenCorrelation are the standard deviation of the innovations, and the sum of squares of their
	// autocorrelations, above which the bands cannot hold.
	brokenSpread, brokenCorrelation = 1.5, 1
)

// pairedChance is the probability of a mean difference at least as high as that of worse if its expectation is 0: Student's t
// test, with the degrees of freedom of the separate tests. It is 1 for fewer than leastSeparate, or a mean up to none.
func pairedChance(worse []float64, separate, none float64) float64 {
	if len(worse) < 2 || separate < leastSeparate {
		return 1
	}
	separate = min(separate, float64(len(worse)))
	mean, sd := stat.MeanStdDev(worse, nil)
	if mean <= none {
		return 1
	}
	if sd == 0 {
		return 0
	}
	return distuv.StudentsT{Sigma: 1, Nu: separate - 1}.Survival(mean / (sd / math.Sqrt(separate)))
}

// broken says why, by the innovations, bands cannot hold; "" if they do not show that.
func (r *Residuals) broken() string {
	if len(r.E) < search.TellingLength {
		return ""
	}
	var squares float64
	for _, rho := range r.Autocorrelation[:r.LjungBoxLags] {
		squares += rho * rho
	}
	switch {
	case r.SD > brokenSpread:
		return fmt.Sprintf("errors one step ahead are %.1f times as large as the model says", r.SD)
	case squares > brokenCorrelation && r.LjungBoxP < 1e-6:
		lag := r.largestLag()
		return fmt.Sprintf("errors one step ahead repeat themselves (autocorrelation %.2f at lag %d): "+
			"the model misses structure in time", r.Autocorrelation[lag-1], lag)
	}
	return ""
}

// judge sets the word, its reasons and the verdict on a series of n observations, for the requested horizon.
func (t *Trust) judge(n, asked int) {
	over := t.how()
	tested := t.Origins > 1 && t.Separate >= leastSeparate && t.Known >= leastKnown
	if tested {
		t.Reasons = t.failures(over, n)
	}
	if t.missed != "" {
		t.Reasons = append(t.Reasons, t.missed)
	}
	of := t.Against
	found := fmt.Sprintf("%s the 95 %% bands held %.0f %% of the values that followed, and the error was %s that of %s",
		over, 100*t.Coverage, times(t.Relative), of)
	if t.Relative == math.MaxFloat64 {
		found = fmt.Sprintf("%s the 95 %% bands held %.0f %% of the values that followed, and %s had no error",
			over, 100*t.Coverage, of)
	}
	switch {
	case len(t.Reasons) > 0 && (n >= search.TellingLength || t.Relative > absurdRelative && t.Relative < math.MaxFloat64):
		t.Word = DoNotUse
		t.Verdict = fmt.Sprintf("Do not use this forecast: %s.", strings.Join(t.Reasons, "; "))
	case t.suspect != "":
		t.Word = Untested
		t.Verdict = fmt.Sprintf("This forecast is untested, since %s: %s.", t.suspect, found)
	case len(t.Reasons) > 0:
		t.Word = Untested
		t.Verdict = fmt.Sprintf("This forecast is untested: the past of %d observations does not tell skill from luck. There, %s.",
			n, strings.Join(t.Reasons, "; "))
	case !tested && t.Origins == 1 && t.Separate >= 1:
		t.Word = Untested
		t.Verdict = fmt.Sprintf("This forecast is untested, since one test does not tell skill from luck: %s.", found)
	case !tested:
		t.Word = Untested
		t.Verdict = fmt.Sprintf("This forecast is untested: %d observations are too few to test a forecast of %s. %s.",
			n, text.Count(asked, "step"), strings.ToUpper(found[:1])+found[1:])
	default:
		t.Word = Use
		var though []string // failures within chance; docs/forecasts.md has how such forecasts turned out
		so := ""
		switch {
		case t.Relative > highRelative:
			though = append(though, of+" did better so far")
			so = fmt.Sprintf(" In %d tests chance explains that; compare the two.", t.Origins)
		case t.Relative > asGood:
			though = append(though, of+" did as well")
		}
		if t.Coverage < lowCoverage && t.Widen <= widened {
			though = append(though, "its bands may be too narrow")
		}
		t.Verdict = fmt.Sprintf("You can use this forecast: %s.", found)
		if len(though) > 0 {
			t.Verdict = fmt.Sprintf("You can use this forecast, though %s: %s.%s", strings.Join(though, " and "), found, so)
		}
	}
	if t.Widen > widened {
		so := ""
		switch {
		case t.Widened == t.Coverage && t.Widened < lowCoverage:
			so = fmt.Sprintf("; even so, they would have held only %.0f %%", 100*t.Widened)
		case math.Round(100*t.Widened) != math.Round(100*t.Coverage): // the share was said above
			so = fmt.Sprintf("; so wide, they would have held %.0f %%", 100*t.Widened)
		}
		t.Verdict += fmt.Sprintf(" Because of these errors its bands are %.1f times as wide as the model's own%s.", t.Widen, so)
	}
}

// times writes the ratio of two errors.
func times(ratio float64) string {
	switch {
	case ratio > 1000:
		return "more than 1000 times"
	case ratio >= 10:
		return fmt.Sprintf("%.0f times", ratio)
	}
	return fmt.Sprintf("%.2f times", ratio)
}

// how says what was tested: from where, how far ahead, and what flatters the forecast or disadvantages it.
func (t *Trust) how() string {
	from := fmt.Sprintf("in %d tests on the past, ", t.Origins)
	if t.Origins == 1 {
		from = "in one test on the past, "
	}
	if t.Unlearnt > 0 {
		from += fmt.Sprintf("without %d more at which no model could be learnt, ", t.Unlearnt)
	}
	if t.Knew != "" {
		from += fmt.Sprintf("with the %s of all observations, which flatters it, ", t.Knew)
	}
	if t.Effort != "" && t.Knew != reusedAll {
		from += fmt.Sprintf("each learnt anew by a %s search, ", t.Effort)
	}
	return from + text.Count(t.Horizon, "step") + " ahead,"
}

// failures returns how the forecasts of the past of n observations failed: beyond chance, with an error that is far too large, or
// with bands that held too few of the values.
func (t *Trust) failures(over string, n int) (reasons []string) {
	switch {
	case t.Relative == math.MaxFloat64:
		reasons = append(reasons, fmt.Sprintf("%s %s had no error at all, and the forecast had one", over, t.Against))
	case t.Relative > absurdRelative, t.Relative > farRelative && n >= search.TellingLength,
		t.Relative > highRelative && t.Chance < beyondChance:
		reasons = append(reasons, fmt.Sprintf("%s its error was %s that of %s", over, times(t.Relative), t.Against))
	}
	narrow := float64(t.Narrow)
	switch {
	case t.Coverage < poor:
		reasons = append(reasons, fmt.Sprintf("%s the 95 %% bands held only %.0f %% of the values that followed", over, 100*t.Coverage))
	case narrow > 0 && (distuv.Binomial{N: float64(t.Origins), P: poorRate}).Survival(narrow-1) < beyondChance:
		reasons = append(reasons, fmt.Sprintf("%s the 95 %% bands, even widened, held less than %.0f %% of the values "+
			"that followed in %d of the tests", over, 100*poor, t.Narrow))
	}
	return reasons
}
