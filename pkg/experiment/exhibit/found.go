package exhibit

import (
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/ledger"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// parts splits a measurement in words into its sentences or, if it is one sentence, at semicolons outside brackets.
func parts(measured string) (all []string) {
	if some := strings.Split(strings.TrimRight(measured, ". "), ". "); len(some) > 1 {
		return some
	}
	from, depth := 0, 0
	for i, r := range measured {
		switch {
		case strings.ContainsRune("([", r):
			depth++
		case strings.ContainsRune(")]", r):
			depth--
		case depth == 0 && strings.HasPrefix(measured[i:], "; "):
			all = append(all, measured[from:i])
			from = i + len("; ")
		}
	}
	return append(all, measured[from:])
}

// found returns a table of the ledger's verdicts on the rows ids: verdict, claim, and what was measured, one line for each of
// its parts. It judges the results at full scale stored in dir. It returns an error naming the row if one does not exist.
func found(dir string, ids ...string) (*viz.Table, error) {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return nil, err
	}
	rows := map[string]ledger.Row{}
	for _, r := range ledger.Of(evidence) {
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

// ShowFound displays [found], with the results in the folder where notebooks find them.
func ShowFound(ids ...string) error {
	t, err := found("results", ids...)
	if err != nil {
		return err
	}
	_, err = viz.ShowTable(t)
	return err
}
