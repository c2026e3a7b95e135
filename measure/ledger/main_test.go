package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/ledger"
)

// TestCompare checks that all rows agree with the same results, and that a row whose status differs is printed with both.
func TestCompare(t *testing.T) {
	const results = "../../notebooks/results"
	rows := ledger.Of(testkit.Must(experiment.LoadEvidence(results))(t))
	var out bytes.Buffer
	if err := differences(&out, rows, results); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d of %d rows have the same status\n", len(rows), len(rows)); out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	is := rows[3].Status
	rows[3].Status, rows[5].ID = "another", "a row that is no more"
	out.Reset()
	if err := differences(&out, rows, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("%s: another; %s by %s", rows[3].ID, is, results),
		"a row that is no more: " + string(rows[5].Status) + "; no row by " + results,
		fmt.Sprintf("%d of %d rows", len(rows)-2, len(rows)),
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

// TestDrawings draws the figures of the article from the stored results, and compares them with the committed ones.
func TestDrawings(t *testing.T) {
	const results, docs = "../../notebooks/results", "../../docs"
	dir := t.TempDir()
	e := testkit.Must(experiment.LoadEvidence(results))(t)
	if err := article(e, ledger.Of(e), results, dir); err != nil {
		t.Fatal(err)
	}
	drawn := testkit.Must(filepath.Glob(filepath.Join(dir, "*.svg")))(t)
	committed := testkit.Must(filepath.Glob(filepath.Join(docs, "reproduction-*.svg")))(t)
	if len(drawn) != len(committed) || len(drawn) == 0 {
		t.Errorf("%d figures are drawn, %d committed", len(drawn), len(committed))
	}
	const share = 3e-4 // share of a coordinate: invisible, and more than other processors' last digits move
	for _, name := range drawn {
		name = filepath.Base(name)
		got, want := testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t), testkit.Must(os.ReadFile(filepath.Join(docs, name)))(t)
		if !testkit.Alike(string(want), string(got), share) {
			t.Errorf("docs/%s is not drawn from the stored results: go run ./measure/ledger -article docs", name)
		}
	}
}
