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
	// beyondChance is the level of the tests of the past: the paired t test of errors, and the binomial test of bands.
	beyondChance = 0.05
	// highRelative is the ratio of the error to the yardstick's up to which the two count as equally good, however certain the
	// difference is.
	highRelative = 1.15
	// farRelative is the ratio above which a forecast of a series of at least search.TellingLength observations is rejected even
	// if chance may explain it, unless it was closer than the yardstick from most origins. On M4's development half, of 222
	// forecasts that nothing else speaks against, 8 of the 11 with a higher ratio failed, and 28 % of the others.
	farRelative = 1.5
	// absurdRelative is the ratio above which two origins suffice to reject a forecast, also in a short series. None of the 643
	// series of docs/forecasts.md has one above 5.
	absurdRelative = 10
	// poor is the coverage of 95 % bands below which they have failed. poorRate is the share of single forecasts with correct
	// bands that have such a coverage, since their errors are correlated.
	poor, poorRate = 0.7, 0.06
	// leastSeparate is the least number of separate tests in the past, and leastKnown the least number of observations before
	// them.
	leastSeparate, leastKnown = 2, 10
	// lowCoverage is the coverage below which a reader of a usable forecast is warned; widened is the factor from which the
	// verdict mentions wider bands.
	lowCoverage, widened = 0.85, 1.05
	// lastChecked is the number of latest observations whose innovations the verdict examines.
	lastChecked = 1000
	// brokenSpread and brokenCorrelation are the standard deviation of the innovations, and the sum of squares of their
	// autocorrelations, above which the bands cannot hold.
	brokenSpread, brokenCorrelation = 1.5, 1
)

// pairedChance returns the probability of a mean of worse at least as high as the one found if its expectation is 0, by Student's
// t test with separate − 1 degrees of freedom. It is 1 for fewer than leastSeparate tests, or a mean up to none.
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

// broken says why the bands cannot hold, by the innovations; "" if these do not show that.
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
	tested := t.Origins > 1 && t.Separate >= leastSeparate && t.Known >= leastKnown
	if tested {
		t.Reasons = t.failures(n)
	}
	if t.broken != "" {
		t.Reasons = append(t.Reasons, t.broken)
	}
	said := []string{t.found()}
	say := func(sentence string) { said = append(said, sentence) }
	switch knows := n >= search.TellingLength; {
	case len(t.Reasons) > 0 && (knows || t.Relative > absurdRelative && t.Relative < math.MaxFloat64):
		t.Word = DoNotUse
		say("Do not rely on this forecast: " + strings.Join(t.Reasons, "; ") + ".")
	case t.suspect != "":
		t.Word = Untested
		say("That says little, since " + t.suspect + ".")
	case !tested && t.Origins == 1 && t.Separate >= 1:
		t.Word = Untested
		say("One test does not tell skill from luck.")
	case !tested:
		t.Word = Untested
		say(fmt.Sprintf("%d observations are too few to test a forecast of %s.", n, t.ahead(asked)))
	case len(t.Reasons) > 0:
		t.Word = Untested
		say(baseRate)
	default:
		t.Word = Use
		if t.Relative > highRelative {
			if t.mostlyCloser() {
				say("But it was closer in most of these tests: compare the two.")
			} else {
				say("That may be chance: compare the two.")
			}
		}
		if t.Coverage < lowCoverage && t.Widen <= widened {
			say("The bands may be too narrow.")
		}
		if !knows {
			say(baseRate)
		}
	}
	if t.Widen > widened {
		so := ""
		if share := math.Round(100 * t.Widened); share != math.Round(100*t.Coverage) || t.Widened < lowCoverage {
			so = fmt.Sprintf("; so wide, they would have held %.0f %%", share)
		}
		after := text.Choose(t.Origins, "this test", "these tests")
		say(fmt.Sprintf("The bands were widened by %.0f %% after %s%s.", 100*(t.Widen-1), after, so))
	}
	t.Verdict = strings.Join(said, " ")
}

// baseRate says how often forecasts of short series fail, whose own past does not tell. Of the 643 series of docs/forecasts.md,
// 36 % of the forecasts that their tests spoke for failed, and 35 % of the forecasts that they spoke against
// (measure/forecasting).
const baseRate = "For a series this short such tests foretell little: about one forecast in three fails, whatever they say."

// found says in a sentence how the forecasts of the past did: what was tested, and beside what.
func (t *Trust) found() string {
	origins := text.Number(t.Origins) + " times"
	if t.Origins < 3 {
		origins = []string{"no time", "once", "twice"}[t.Origins]
	}
	held := fmt.Sprintf("Tested %s, %s ahead: %.0f %% of the values fell inside the 95 %% band, ",
		origins, t.ahead(t.Horizon), 100*t.Coverage)
	if t.Relative == math.MaxFloat64 {
		held += fmt.Sprintf("and %s had no error.", t.Against)
	} else {
		held += fmt.Sprintf("and the error was %s %s.", times(t.Relative), t.Against)
	}
	if t.Knew != "" {
		held += fmt.Sprintf(" These tests knew the %s of all observations, which flatters them.", t.Knew)
	}
	return held
}

// ahead writes a number of steps in the units of the calendar, where they have one.
func (t *Trust) ahead(steps int) string {
	if t.length == nil {
		return text.Count(steps, "step")
	}
	return t.length(steps)
}

// times writes the ratio of the error of the forecast to another's, up to the name of the other.
func times(ratio float64) string {
	const close = 0.025 // largest relative difference from a simple ratio
	for _, simple := range []struct {
		ratio float64
		words string
	}{
		{1, "as large as that of"}, {0.5, "half that of"}, {1. / 3, "a third of that of"}, {0.25, "a quarter of that of"},
		{2, "twice that of"},
	} {
		if math.Abs(ratio/simple.ratio-1) < close {
			return simple.words
		}
	}
	switch {
	case ratio > 1000:
		return "more than 1000 times that of"
	case ratio >= 10:
		return fmt.Sprintf("%.0f times that of", ratio)
	case ratio >= 1:
		return fmt.Sprintf("%.1f times that of", ratio)
	}
	return fmt.Sprintf("%.2g %% of the error of", 100*ratio)
}

// mostlyCloser reports whether the forecast had a smaller error than the yardstick from most origins.
func (t *Trust) mostlyCloser() bool {
	closer := 0
	for _, p := range t.Past {
		if p.MAE < p.Naive {
			closer++
		}
	}
	return 2*closer > len(t.Past)
}

// failures returns how the forecasts of the past of n observations failed: beyond chance, with an error that is far too large, or
// with bands that held too few of the values.
func (t *Trust) failures(n int) (reasons []string) {
	switch {
	case t.Relative == math.MaxFloat64:
		reasons = append(reasons, t.Against+" had no error at all, and the forecast had one")
	case t.Relative > absurdRelative, t.Relative > farRelative && n >= search.TellingLength && !t.mostlyCloser(),
		t.Relative > highRelative && t.Chance < beyondChance:
		reasons = append(reasons, t.Against+" did better")
	}
	narrow := float64(t.Narrow)
	switch {
	case t.Coverage < poor:
		reasons = append(reasons, "its bands were far too narrow")
	case narrow > 0 && (distuv.Binomial{N: float64(t.Origins), P: poorRate}).Survival(narrow-1) < beyondChance:
		reasons = append(reasons, fmt.Sprintf("its bands, even widened, held less than %.0f %% of the values in %s", 100*poor,
			text.Choose(t.Narrow, "one of the tests", fmt.Sprintf("%d of the tests", t.Narrow))))
	}
	return reasons
}
