package experiment

import (
	"fmt"
)

// Status is the verdict on a published number or claim. Each is defined here once; scripts/report/ledger.py and
// docs/reproducing.md repeat the definitions for readers. "Random" means that the number depends on draws.
type Status string

const (
	Exactly       Status = "reproduced exactly"   // the same number, to a millionth, from the same random numbers
	Reproduced    Status = "reproduced"           // within the tolerance that the row states, or supported at 5 % by its test
	Within        Status = "within the spread"    // random, and inside the interval in which 95 % of further draws of ours lie
	Variable      Status = "too variable to tell" // random; that interval spans a factor of ten or more, or the test is inconclusive
	Order         Status = "order reproduced"     // the same one of two times is shorter; the factor depends on machine and library
	Reversed      Status = "order reversed"       // the other one of two times is shorter, on our machine and with our library
	Corrected     Status = "corrected"            // holds once an error is corrected, with an unstated setting, or by one reading
	RejectedAlone Status = "doubtful"             // random; rejected at 5 % by this row's test, not after correction for all rows
	Unexplained   Status = "not explained"        // the numbers differ, and no cause that was tried gives the difference
	Contradicted  Status = "contradicted"         // measurement says otherwise, by the test that the row states
	NotComparable Status = "not comparable"       // other data or another machine
	Found         Status = "found"                // our own statement about the paper's code or settings, confirmed by measurement
	NotFound      Status = "not found"            // our own statement, about the paper or this project, not confirmed
	Better        Status = "better"               // what this project adds
	NotRun        Status = "not run"              // nothing is stored to judge it by
)

// statuses lists all of them in the order of a summary.
var statuses = []Status{Exactly, Reproduced, Within, Order, Corrected, Variable, RejectedAlone, Unexplained, Reversed,
	Contradicted, NotComparable, NotRun, Found, NotFound, Better}

// ours reports whether the status belongs to a statement of this project, not of the paper.
func (s Status) ours() bool { return s == Found || s == NotFound || s == Better }

// comparable reports whether the status says that something was compared.
func (s Status) comparable() bool { return s != NotComparable && s != NotRun }

// Row is one published number or claim with our result.
type Row struct {
	ID        string `json:"id"`
	Of        string `json:"of,omitempty"` // ID of the row with the verdict on the same statement; this one is a further case
	Group     string `json:"group"`
	Claim     string `json:"claim"`
	Published string `json:"published"`
	Ours      string `json:"ours"`      // the evidence
	Tolerance string `json:"tolerance"` // the rule: what counts as the same, or the statistical test
	Status    Status `json:"status"`
	Why       string `json:"why"`
	Overturn  string `json:"overturn"` // what would change the verdict
	Notebook  string `json:"notebook"`

	Test *Test `json:"test,omitempty"` // if the number is random
}

// draft is a row before the tests of all rows are corrected for their number: an empty Status is left to the test. why has the
// text for each status.
type draft struct {
	Row
	why map[Status]string
}

// wide is the ratio of the ends of an acceptance interval above which it tells nothing.
const wide = 10

// settle gives the draft the status that follows from its test, unless its own rule has set one.
func (d *draft) settle() {
	if t := d.Test; t != nil && d.Status == "" {
		switch {
		case t.Holm < testLevel:
			d.Status = Contradicted
		case t.P < testLevel:
			d.Status = RejectedAlone
		case t.Claim && t.Support < testLevel:
			d.Status = Reproduced
		case t.Claim, !(t.Lo > 0 && t.Hi <= wide*t.Lo):
			d.Status = Variable
		default:
			d.Status = Within
		}
	}
	if w, ok := d.why[d.Status]; ok {
		d.Why = w
	}
}

// rule describes the test and, for a published number, the interval that it accepts.
func (t *Test) rule() string {
	text := fmt.Sprintf("%s, n = %d: p = %.2g, corrected for all rows %.2g, level %g %%", t.Name, t.N, t.P, t.Holm, 100*testLevel)
	if t.Claim {
		return text + fmt.Sprintf("; that it does not hold: p = %.2g", t.Support)
	}
	return fmt.Sprintf("accepted alone: %s to %s; ", number(t.Lo), number(t.Hi)) + text
}

// The groups of the ledger, in their order.
const (
	GroupTheory      = "The theorem and the choice of projections"
	GroupExperiments = "The conclusions from the experiments"
	GroupText        = "Statements of the text"
	GroupCode        = "Details of the authors' code that the paper does not mention"
	GroupBetter      = "Beyond the paper"
	GroupTable1      = "Table 1 (E1), number by number"
	GroupFigures     = "Figures 1 and 2, number by number"
	GroupFigure3     = "Figure 3 (E2), number by number"
	GroupTable2      = "Table 2 (sunspots), number by number"
	GroupNotebook    = "The authors' notebooks on the sunspots, number by number"
	GroupTable3      = "Table 3 (EEG), number by number"
	GroupLog         = "Other output of the authors' notebooks, number by number"
)

// inWords is true for the groups of claims in words.
var inWords = map[string]bool{GroupTheory: true, GroupExperiments: true, GroupText: true, GroupCode: true}
