package exhibit

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// found says what was found about rows of the ledger, one line for each: the claim, our measurement, the verdict. It judges
// the results stored in dir, which are those of full scale. An error names a row that does not exist.
func found(dir string, ids ...string) ([]string, error) {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return nil, err
	}
	rows := map[string]experiment.Row{}
	for _, r := range experiment.Ledger(evidence) {
		rows[r.ID] = r
	}
	var lines []string
	for _, id := range ids {
		r, ok := rows[id]
		if !ok {
			return nil, fmt.Errorf("exhibit: the ledger has no row %q", id)
		}
		measured := r.Ours
		if measured == "" {
			measured = r.Why
		}
		lines = append(lines, fmt.Sprintf("%s: “%s” Measured: %s", capital(string(r.Status)), r.Claim, measured))
	}
	return lines, nil
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// ShowFound displays [Found] as a list, from the folder in which notebooks find the stored results.
func ShowFound(ids ...string) error {
	lines, err := found("results", ids...)
	if err != nil {
		return err
	}
	viz.List("The verdicts of the ledger, from the stored results at full scale:", lines...)
	return nil
}
