package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
)

// Ledger returns every published number and every claim in words, with the status that follows from the evidence. The test of a
// random row alone has the level testLevel; it contradicts the paper only after Holm's correction for all rows.
func Ledger(e *Evidence) []Row {
	drafts := slices.Concat(claims(e), table1(e), figures(e), figure3(e), table2(e), authorsNotebook(e), table3(e), logs(e))
	var p []float64
	for _, d := range drafts {
		if d.Test != nil {
			p = append(p, d.Test.P)
		}
	}
	corrected := holm(p)
	rows := make([]Row, len(drafts))
	for i, d := range drafts {
		if d.Test != nil {
			d.Test.Holm, corrected = corrected[0], corrected[1:]
			d.Tolerance = strings.TrimPrefix(d.Tolerance+"; "+d.Test.rule(), "; ")
			if d.Overturn == "" {
				d.Overturn = fmt.Sprintf("a published number outside %s to %s, or further draws of ours that move this interval off it",
					number(d.Test.Lo), number(d.Test.Hi))
			}
		}
		d.settle()
		for _, cell := range []*string{&d.Published, &d.Ours, &d.Why, &d.Tolerance, &d.Overturn} {
			*cell = text.Minus(*cell)
		}
		rows[i] = d.Row
	}
	return rows
}

// Summary says in a few sentences how many rows have which status, how many distinct claims there are, what share is comparable,
// and how much may be due to chance.
func Summary(rows []Row) string {
	tested := 0
	for _, r := range rows {
		if r.Test != nil {
			tested++
		}
	}
	small := 0
	for _, r := range rows {
		if r.Test != nil && r.Test.P < testLevel {
			small++
		}
	}
	rejected := 0
	for _, r := range rows {
		if r.Test != nil && r.Test.Holm < testLevel {
			rejected++
		}
	}
	claims := distinctClaims(rows)
	text := fmt.Sprintf("%d rows: %s. %s Those in words are %d distinct claims of the paper: %s.", len(rows), countsOf(rows),
		shareOf(rows), len(claims), countsOf(claims))
	if tested > 0 {
		text += fmt.Sprintf(" %d rows are random and tested. One by one at %.0f %%, %.1f would be rejected by chance if all were "+
			"true, and %d are; corrected for their number (Holm), %d are, of which at most %.2f are expected by chance.",
			tested, 100*testLevel, testLevel*float64(tested), small, rejected, testLevel)
	}
	return text
}

// countsOf says how many rows have which status.
func countsOf(rows []Row) string {
	count := map[Status]int{}
	for _, r := range rows {
		count[r.Status]++
	}
	var parts []string
	for _, s := range statuses {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// shareOf says what share of the paper's statements could be compared.
func shareOf(rows []Row) string {
	paper := 0
	for _, r := range rows {
		if !r.Status.ours() {
			paper++
		}
	}
	comparable := 0
	for _, r := range rows {
		if !r.Status.ours() && r.Status.comparable() {
			comparable++
		}
	}
	variable := 0
	for _, r := range rows {
		if r.Status == Variable {
			variable++
		}
	}
	return fmt.Sprintf("%d of %d rows on the paper are comparable (%.0f %%), of which %d vary too much to tell.", comparable, paper,
		100*float64(comparable)/float64(max(1, paper)), variable)
}

// distinctClaims returns the rows of the paper's claims in words, one for each claim: of several rows the one with the verdict,
// which has the settings of the published numbers.
func distinctClaims(rows []Row) (claims []Row) {
	for _, r := range rows {
		if inWords[r.Group] && r.Of == "" && !r.Status.ours() {
			claims = append(claims, r)
		}
	}
	return claims
}
