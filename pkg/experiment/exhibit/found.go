package exhibit

import (
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// parts are the results of a measurement in words: its sentences, or what semicolons divide if it is one.
func parts(measured string) []string {
	if some := strings.Split(strings.TrimRight(measured, ". "), ". "); len(some) > 1 {
		return some
	}
	return strings.Split(measured, "; ")
}

// found is a table of what was found about rows of the ledger: the verdict, the claim, and what was measured, a line for each of its parts.
// It judges the results stored in dir, which are those of full scale. An error names a row that does not exist.
func found(dir string, ids ...string) (*viz.Table, error) {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return nil, err
	}
	rows := map[string]experiment.Row{}
	for _, r := range experiment.Ledger(evidence) {
		rows[r.ID] = r
	}
	t := &viz.Table{
		Caption: "Verdicts of the ledger, from the stored results at full scale",
		Columns: []viz.Column{{Name: "verdict"}, {Name: "claim"}, {Name: "measured"}},
	}
	for _, id := range ids {
		r, ok := rows[id]
		if !ok {
			return nil, fmt.Errorf("exhibit: the ledger has no row %q", id)
		}
		measured := r.Ours
		if measured == "" {
			measured = r.Why
		}
		t.Rows = append(t.Rows, []any{viz.Status(r.Status), r.Claim, parts(measured)})
	}
	return t, nil
}

// ShowFound displays [found], from the folder in which notebooks find the stored results.
func ShowFound(ids ...string) error {
	t, err := found("results", ids...)
	if err != nil {
		return err
	}
	_, err = viz.ShowTable(t)
	return err
}
