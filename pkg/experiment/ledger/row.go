package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/experiment"
)

// Status is a verdict.
type Status string

const (
	Reproduced    Status = "reproduced"
	Corrected     Status = "corrected"      // reproduced with a correction, which the row names
	NotReproduced Status = "not reproduced" // measurement says otherwise
	Undecided     Status = "undecided"      // our draws decide neither way, or differ by more than a factor of ten
	NotComparable Status = "not comparable" // ours is of other data
	NotRun        Status = "not run"        // nothing is stored to judge it by
)

// Statuses lists all verdicts in the order of a summary.
var Statuses = []Status{Reproduced, Corrected, NotReproduced, Undecided, NotComparable, NotRun}

// The groups of rows, in their order.
const (
	Claims  = "Claims"
	Table1  = "Table 1 (E1)"
	Table2  = "Table 2 (sunspots)"
	Table3  = "Table 3 (EEG)"
	Figures = "Figures 1 and 2"
	Figure3 = "Figure 3 (E2)"
	Times   = "Times, PL against VFE"
	Errata  = "Errata"
)

// Row is one published number, claim or erratum with what was found.
type Row struct {
	ID        string `json:"id"`
	Group     string `json:"group"`
	Claim     string `json:"claim"`
	Published string `json:"published"` // the number, or where the claim stands
	Ours      string `json:"ours"`      // the evidence
	Rule      string `json:"rule"`      // what decides
	Status    Status `json:"status"`
	Why       string `json:"why"`
	Overturn  string `json:"overturn"` // what would change the verdict
	Notebook  string `json:"notebook"`

	Test *Test `json:"test,omitempty"` // if the row is random
}

// notRun says that nothing is stored to judge the row by.
func (r Row) notRun() Row {
	r.Status, r.Test, r.Ours, r.Why, r.Overturn = NotRun, nil, "", "nothing is stored", "a stored run"
	return r
}

// Of returns all rows, with the verdicts that follow from the evidence.
func Of(e *experiment.Evidence) []Row {
	numbers := slices.Concat(table1(e), table2(e), table3(e), figures(e), figure3(e))
	settle(numbers)
	rows := slices.Concat(claimRows(e), numbers, times(e), errataRows(e, numbers))
	for i := range rows {
		r := &rows[i]
		for _, cell := range []*string{&r.Published, &r.Ours, &r.Why, &r.Rule, &r.Overturn} {
			*cell = text.Minus(*cell)
		}
	}
	return rows
}

// Summary says how many claims, numbers and times have which verdict, and how many numbers chance would reject.
func Summary(rows []Row) string {
	claims, pairs, errata := ofGroup(rows, Claims), ofGroup(rows, Times), ofGroup(rows, Errata)
	numbers := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		return r.Group == Claims || r.Group == Times || r.Group == Errata
	})
	var p, adjusted []float64
	for _, r := range numbers {
		if r.Test != nil {
			p, adjusted = append(p, r.Test.P), append(adjusted, r.Test.Adjusted)
		}
	}
	return fmt.Sprintf("%d claims: %s. %d numbers: %s. %d pairs of times: %s. %d errata. Of %d numbers that are random and "+
		"tested, %d lie outside the interval of their row, where chance alone would put %.1f; after correction for their "+
		"number %d do.", len(claims), counts(claims), len(numbers), counts(numbers), len(pairs), counts(pairs), len(errata), len(p),
		under(p, level), level*float64(len(p)), under(adjusted, level))
}

// ofGroup returns the rows of a group.
func ofGroup(rows []Row, group string) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Group != group })
}

// counts says how many rows have which verdict.
func counts(rows []Row) string {
	var parts []string
	for _, s := range Statuses {
		if n := len(slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Status != s })); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}
