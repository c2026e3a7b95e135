// Command ledger prints the published numbers and claims with our results, and the statuses that follow from the stored ones.
//
//	go run ./measure/ledger                     the rows, each with its claim, numbers, test and remark
//	go run ./measure/ledger -only "not reproduced"  rows of one status, or whose names begin so
//	go run ./measure/ledger -against DIR        the rows whose status differs for the results in DIR, such as a --fresh run
//	go run ./measure/ledger -json               for the index of the reports
//	go run ./measure/ledger -article docs       writes docs/reproduction.md with its figures, and docs/errata.md
//	go run ./measure/ledger -write              writes notebooks/results/ledger.json, which tests compare with the results
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/ledger"
)

func main() {
	dir := flag.String("results", "notebooks/results", "folder of the stored results")
	asJSON := flag.Bool("json", false, "print JSON")
	write := flag.Bool("write", false, "write ledger.json into the folder")
	only := flag.String("only", "", "print rows of this status, or whose ids begin so")
	against := flag.String("against", "", "print the rows whose status is another one by the results in this folder")
	page := flag.String("article", "", "write reproduction.md and its figures into this folder")
	flag.Parse()
	if err := run(*dir, *only, *asJSON, *write, *page, *against); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func run(dir, only string, asJSON, write bool, page, against string) error {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return err
	}
	rows := ledger.Of(evidence)
	if page != "" {
		return article(evidence, rows, dir, page)
	}
	if against != "" {
		return differences(os.Stdout, rows, against)
	}
	text, err := json.MarshalIndent(struct {
		Summary string       `json:"summary"`
		Rows    []ledger.Row `json:"rows"`
	}{ledger.Summary(rows), rows}, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	switch {
	case write:
		return files.WriteBytes(context.Background(), filepath.Join(dir, "ledger.json"), text)
	case asJSON:
		_, err = os.Stdout.Write(text)
		return err
	}
	for _, r := range rows {
		if string(r.Status) != only && !strings.HasPrefix(r.ID, only) {
			continue
		}
		fmt.Printf("%-18s %s: %s\n", r.Status, r.ID, r.Claim)
		for _, line := range []struct{ name, text string }{{"published", r.Published}, {"ours", r.Ours}, {"rule", r.Rule},
			{"why", r.Why}, {"overturned by", r.Overturn}} {
			if line.text != "" {
				fmt.Printf("%19s%s: %s\n", "", line.name, line.text)
			}
		}
	}
	fmt.Println(ledger.Summary(rows))
	return nil
}

// differences writes the rows whose status differs for the results in a folder, with both evidences.
func differences(w io.Writer, rows []ledger.Row, dir string) error {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return err
	}
	others := map[string]ledger.Row{}
	for _, r := range ledger.Of(evidence) {
		others[r.ID] = r
	}
	same := 0
	for _, r := range rows {
		o, there := others[r.ID]
		switch {
		case !there:
			fmt.Fprintf(w, "%s: %s; no row by %s\n", r.ID, r.Status, dir)
		case o.Status == r.Status:
			same++
		default:
			fmt.Fprintf(w, "%s: %s; %s by %s\n%4sours: %s\n%4sthere: %s\n", r.ID, r.Status, o.Status, dir, "", r.Ours, "", o.Ours)
		}
	}
	_, err = fmt.Fprintf(w, "%d of %d rows have the same status\n", same, len(rows))
	return err
}
