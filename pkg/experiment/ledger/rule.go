package ledger

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/experiment"
)

// The thresholds of the rules. Rows print those that decide them: claims.json names them in braces.
const (
	level     = 0.05  // significance level of every test, before and after correction
	wide      = 10.0  // an interval whose ends differ by more gives no verdict
	sameNLL   = 2.0   // nats that count as the same NLL: a likelihood ratio of seven
	printed   = 0.02  // nats by which a published optimum of ML may be off: it is printed with three decimals, and stopped early
	higher    = 0.5   // nats by which one optimiser must end above another to end higher
	exactly   = 1e-6  // relative difference of numbers that come from the same random numbers, or are equal to rounding
	routes    = 1e-9  // relative difference of ΔI by two formulas, computed to rounding
	larger    = 1.5   // ratio of variances, of times, or of evaluations, from which one counts as larger
	similar   = 3.0   // ratio of times up to which two costs are similar
	feasible  = 10.0  // minutes within which a training counts as feasible
	left50    = 50.0  // per cent of tr K that a design leaves at k = 50 at most, if it reduces the trace
	left200   = 5.0   // the same at k = 200
	near      = 10.0  // per cent by which an error of prediction may be off
	failing   = 1000  // failed factorisations from which a training counts as failing numerically
	reversed  = 10.0  // per cent of the pairs of times that may be in the other order
	commute   = 0.01  // ‖ΣA − AΣ‖/‖ΣA‖ above which two covariances do not commute
	rounding  = 1e-12 // by which a quantity that is not negative may be, of its scale
	nothing   = 1e-20 // share of the information that counts as none: the square of a difference to rounding
	deviation = 4.5   // standard errors by which a simulated quantity may differ from its formula
	slope     = 0.05  // by which a fitted power may be off
)

// A Test is a statistical test of a row.
type Test struct {
	Name     string  `json:"name"`
	N        int     `json:"n"` // independent draws
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"` // P corrected for all tests of numbers, or of claims (Holm)

	Lo      float64 `json:"lo,omitempty"` // for a number: the interval that this test alone accepts
	Hi      float64 `json:"hi,omitempty"`
	Claim   bool    `json:"claim,omitempty"`   // a claim is tested, and the test is one-sided
	Support float64 `json:"support,omitempty"` // for a claim: the probability of as much evidence for it if it were false
}

// decided reports whether the interval of a number is narrow enough to tell.
func (t *Test) decided() bool { return t.Lo > 0 && t.Hi <= wide*t.Lo || t.Hi < 0 && t.Lo >= wide*t.Hi }

func (t *Test) rule() string {
	if t.Claim {
		return fmt.Sprintf("%s, n = %d: p = %.2g, corrected for all claims %.2g; that the claim is false: p = %.2g; level %g %%",
			t.Name, t.N, t.P, t.Adjusted, t.Support, 100*level)
	}
	return fmt.Sprintf("95 %% of further draws lie from %s to %s; %s, n = %d: p = %.2g, corrected for all numbers %.2g",
		number(t.Lo), number(t.Hi), t.Name, t.N, t.P, t.Adjusted)
}

// settle corrects the tests of a family of rows for their number, and gives each row that is left to its test the verdict. A
// claim that its rule corrects needs the support of its test as well.
func settle(rows []Row) {
	var p []float64
	for _, r := range rows {
		if r.Test != nil {
			p = append(p, r.Test.P)
		}
	}
	adjusted := numeric.Holm(p)
	for i := range rows {
		r := &rows[i]
		t := r.Test
		if t == nil {
			continue
		}
		t.Adjusted, adjusted = adjusted[0], adjusted[1:]
		if status, why := t.verdict(); r.Status == "" || t.Claim && r.Status == Corrected && status != Reproduced {
			if r.Status = status; status != NotReproduced || r.Why == "" {
				r.Why = why
			}
		}
		if r.Rule != "" {
			r.Rule += "; "
		}
		r.Rule += t.rule()
		if r.Overturn == "" {
			r.Overturn = "further draws of ours that move the interval across the published number"
		}
	}
}

// verdict returns the verdict of a test, and the reason if it lies in the test.
func (t *Test) verdict() (Status, string) {
	switch {
	case t.Claim && t.Adjusted < level:
		return NotReproduced, ""
	case t.Claim && t.Support < level:
		return Reproduced, ""
	case t.Claim && t.P < level:
		return Undecided, "rejected by its own test, not after correction for all claims"
	case t.Claim:
		return Undecided, "the draws decide neither way"
	case !t.decided():
		return Undecided, fmt.Sprintf("our draws differ by more than a factor of %g", wide)
	case t.Adjusted < level:
		return NotReproduced, "draws of the stated model do not give it"
	case t.P < level:
		return Undecided, "outside the interval of its row, as one number in twenty would be by chance"
	}
	return Reproduced, ""
}

// number judges a published number that is one draw of ours, by runs that are our draws of it. Those that diverged are counted
// apart.
func (r Row) number(published float64, ours []float64, diverged int, logs bool, unit string) Row {
	if r.Test = further(published, ours, logs); r.Test == nil {
		return r.notRun()
	}
	v := numeric.OnlyFinite(ours)
	r.Ours = fmt.Sprintf("%s [%s, %s]%s over %d draws", number(numeric.Median(v)), number(slices.Min(v)), number(slices.Max(v)),
		unit, len(v))
	if diverged > 0 {
		r.Ours += fmt.Sprintf("; %d more diverged", diverged)
	}
	return r
}

// converged returns the outcomes that did not diverge, and how many did: they failed, or ended above where training began.
func converged(all []experiment.Outcome) (kept []experiment.Outcome, diverged int) {
	kept = slices.DeleteFunc(slices.Clone(all), experiment.Outcome.Failed)
	return kept, len(all) - len(kept)
}

// further tests whether x is a further draw of a sample, by its median and a robust scale (Qn): Student's t, two-sided. With
// logs, for numbers that vary by factors, it takes logarithms if all are positive. It is nil for fewer than three draws.
func further(x float64, sample []float64, logs bool) *Test {
	v := slices.Clone(numeric.OnlyFinite(sample))
	name := "robust t test of one more draw"
	if logs = logs && x > 0 && len(v) > 0 && slices.Min(v) > 0; logs {
		name += ", of logarithms"
		x = math.Log(x)
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	if len(v) < 3 {
		return nil
	}
	n := float64(len(v))
	// Qn has 0.82 of the efficiency of the standard deviation, and a median has π/2 times the variance of a mean.
	t := student(x, numeric.Median(v), numeric.Qn(v)*math.Sqrt(1+math.Pi/(2*n)), max(1, 0.82*n-1))
	if t.Name, t.N = name, len(v); logs {
		t.Lo, t.Hi = math.Exp(t.Lo), min(math.Exp(t.Hi), math.MaxFloat64)
	}
	return t
}

// student tests x against Student's t about a centre, with a scale and degrees of freedom.
func student(x, centre, scale, nu float64) *Test {
	d := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
	half := scale * d.Quantile(1-level/2)
	z := math.Abs(x-centre) / scale
	t := &Test{P: 1, Lo: centre - half, Hi: centre + half}
	switch {
	case z > 1e6: // gonum's tail is unreliable beyond
		t.P = 0
	case z > 0:
		t.P = min(1, 2*d.Survival(z))
	}
	return t
}

// signs tests that a win is at least as likely as a loss: p is the probability of so few wins or fewer.
func signs(won, of int) *Test {
	if of == 0 {
		return nil
	}
	b := distuv.Binomial{N: float64(of), P: 0.5}
	return &Test{Name: "sign test", N: of, P: b.CDF(float64(won)), Claim: true, Support: 1 - b.CDF(float64(won)-1)}
}

// below tests that the mean of v is at most limit, by Student's t.
func below(v []float64, limit float64) *Test {
	n := float64(len(v))
	if n < 2 {
		return nil
	}
	mean, sd := stat.MeanStdDev(v, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	z := max(-1e6, min(1e6, (mean-limit)/(sd/math.Sqrt(n))))
	if math.IsNaN(z) {
		z = 0
	}
	return &Test{Name: "t test of a mean over draws", N: len(v), P: t.Survival(z), Claim: true, Support: t.CDF(z)}
}

// within tests that the mean of a sample is at most limit from 0, on either side.
func within(s sample, limit float64) *Test {
	return joined(math.Min, below(s.values(), limit), below(s.apply(negative).values(), limit))
}

// either is the test of a claim with two readings: it is false only if both are, and true only if both are.
func either(a, b *Test) *Test { return joined(math.Max, a, b) }

// all is the test of a claim whose parts must all hold: the smallest p times their number (Bonferroni).
func all(tests ...*Test) *Test {
	tests = slices.DeleteFunc(tests, func(t *Test) bool { return t == nil })
	t := joined(math.Min, tests...)
	if len(tests) > 1 {
		t.P = min(1, t.P*float64(len(tests)))
		t.Name += fmt.Sprintf(", least of %d", len(tests))
	}
	return t
}

// joined joins the p of tests, with the support of the weakest and the fewest draws; nil if there are none.
func joined(p func(a, b float64) float64, tests ...*Test) (joint *Test) {
	for _, t := range tests {
		switch {
		case t == nil:
		case joint == nil:
			first := *t
			joint = &first
		default:
			joint.P, joint.Support, joint.N = p(joint.P, t.P), max(joint.Support, t.Support), min(joint.N, t.N)
		}
	}
	return joint
}

func negative(x float64) float64 { return -x }

// number prints about five significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e5:
		return fmt.Sprintf("%.1f million", v/1e6)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
