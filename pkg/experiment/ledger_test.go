package experiment

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

const results = "../../notebooks/results"

func evidence(t *testing.T) *Evidence {
	t.Helper()
	e, err := LoadEvidence(results)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestLedger compares the committed ledger with what follows from the stored results: every row, with its status, numbers and
// reasons. If they differ by intent, go run ./measure/ledger -write updates it.
func TestLedger(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(results, "ledger.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Rows []Row }
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	rows := Ledger(evidence(t))
	if diff := cmp.Diff(kept.Rows, rows); diff != "" {
		t.Errorf("ledger.json (−) is not what follows from the stored results (+): go run ./measure/ledger -write\n%s", diff)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.ID] || r.ID == "" {
			t.Errorf("row %q is there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Group == "" || r.Claim == "" || r.Published == "" || r.Notebook == "" || !slices.Contains(statuses, r.Status) {
			t.Errorf("row %q lacks something: %+v", r.ID, r)
		}
		if _, err := os.Stat(filepath.Join(results, "..", r.Notebook+".ipynb")); err != nil {
			t.Errorf("row %q: %v", r.ID, err)
		}
		if slices.Contains([]Status{Corrected, Contradicted, NotComparable, RejectedAlone, Unexplained, Reversed, Found, NotFound},
			r.Status) && r.Why == "" {
			t.Errorf("row %q is %s, and does not say why", r.ID, r.Status)
		}
		if r.Status.comparable() && r.Tolerance == "" || r.Overturn == "" {
			t.Errorf("row %q (%s) does not say what decides, or what would overturn it", r.ID, r.Status)
		}
		if r.Status == Contradicted && r.Test != nil && r.Test.Holm >= testLevel {
			t.Errorf("row %q is contradicted at p = %v after correction", r.ID, r.Test.Holm)
		}
	}
}

// TestLedgerFollows changes the evidence and checks that the verdicts follow.
func TestLedgerFollows(t *testing.T) {
	status := func(e *Evidence, id string) Status {
		for _, r := range Ledger(e) {
			if r.ID == id {
				return r.Status
			}
		}
		t.Fatalf("no row %q", id)
		return ""
	}
	e := evidence(t)
	before := status(e, "table2-SE-ML-nll")
	for i, o := range e.Sunspots {
		if o.Trial.Loss == ML {
			e.Sunspots[i].NLL += 1
		}
	}
	if after := status(e, "table2-SE-ML-nll"); before != Reproduced || after != Contradicted {
		t.Errorf("an optimum one nat higher: %s, then %s", before, after)
	}
	if got := status(e, "e2-same"); got != Contradicted {
		t.Errorf("E2's claim is %s", got)
	}
	for i := range e.E2 {
		e.E2[i].NLL = 500
	}
	if got := status(e, "e2-same"); got != Reproduced {
		t.Errorf("E2's claim is %s where all NLL are equal", got)
	}
	if got := status(e, "notebook-SE-PL-nll"); got != Exactly {
		t.Errorf("the notebook's PL is %s", got)
	}
	for i, o := range e.Sunspots {
		if o.Trial.Design == NotebookDesign {
			e.Sunspots[i].NLL *= 1 + 2e-6
		}
	}
	if got := status(e, "notebook-SE-PL-nll"); got != Contradicted {
		t.Errorf("the notebook's PL, two millionths off, is %s", got)
	}
	e.E2 = nil
	if got := status(e, "e2-same"); got != NotRun {
		t.Errorf("E2's claim is %s where nothing is stored", got)
	}
}

// TestLedgerConfirmed checks that verdicts whose rules were chosen after the data had been seen follow from other data: they must
// not change with the draws on which the rules were chosen, and must change with later ones.
func TestLedgerConfirmed(t *testing.T) {
	row := func(e *Evidence, id string) Row {
		for _, r := range Ledger(e) {
			if r.ID == id {
				return r
			}
		}
		t.Fatalf("no row %q", id)
		return Row{}
	}
	change := func(all []Outcome, match func(Trial) bool, f func(*Outcome)) {
		changed := 0
		for i := range all {
			if match(all[i].Trial) {
				f(&all[i])
				changed++
			}
		}
		if changed == 0 {
			t.Fatal("no trial matches")
		}
	}
	later := func(t Trial) bool { return t.Source.Noise != 0 }
	asPL := func(t Trial) bool { return t.Loss == PL }
	none := func(o *Outcome) { o.NLL = 0 } // far below ML
	e := evidence(t)
	before := row(e, "e2-same")
	change(e.E2, func(t Trial) bool { return asPL(t) && !later(t) }, none)
	if after := row(e, "e2-same"); before.Status != Contradicted || after.Status != Contradicted || after.Test.P != before.Test.P {
		t.Errorf("e2-same: %s, and %s without the draws on which its rule was chosen", before.Status, after.Status)
	}
	change(e.E2, func(t Trial) bool { return asPL(t) && later(t) }, none)
	if after := row(e, "e2-same"); after.Status != Reproduced {
		t.Errorf("e2-same is %s where PL ends below ML on the later draws: %+v", after.Status, after.Test)
	}

	e = evidence(t)
	exact := func(o *Outcome) { o.Figure2 = o.Exact } // a figure without the slip
	if got := row(e, "e1-variance").Status; got != Corrected {
		t.Errorf("e1-variance is %s", got)
	}
	change(e.E1, func(t Trial) bool { return t.Loss == VFE && t.Source.Noise != 0 && !notebookE1Confirming(t) }, exact)
	if got := row(e, "e1-variance").Status; got != Corrected {
		t.Errorf("e1-variance moves with the draws on which its rule was chosen: %s", got)
	}
	change(e.E1, notebookE1Confirming, exact)
	for _, id := range []string{"e1-variance", "figure2-Adam-VFE"} {
		if got := row(e, id).Status; got == Corrected {
			t.Errorf("%s is still %s where the later draws do not show a slip", id, got)
		}
	}

	// Not explained, unless single precision reaches the figure on a draw on which double precision does not, at this very n.
	e = evidence(t)
	const failed = "figure3-2000-VFE-150-nll"
	if got := row(e, failed).Status; got != Unexplained {
		t.Errorf("%s is %s", failed, got)
	}
	reach := func(o *Outcome) { o.NLL, o.Retries = o.NLL+800, manyFailures }
	change(e.E2, E2Single(1000, 150), reach)
	if got := row(e, failed).Status; got != Unexplained {
		t.Errorf("%s is %s by runs at another n", failed, got)
	}
	change(e.E2, E2Single(2000, 150), reach)
	if got := row(e, failed).Status; got != Corrected {
		t.Errorf("%s is %s where single precision reaches it", failed, got)
	}
	change(e.E2, E2Double(2000, 150), reach)
	if got := row(e, failed).Status; got != Unexplained {
		t.Errorf("%s is %s where double precision reaches it on the same draw", failed, got)
	}
}

// TestStatements checks that every statement is judged once and has a text for each status that it can get.
func TestStatements(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range judged() {
		s, ok := statements[c.id]
		if !ok || seen[c.id] {
			t.Errorf("%s is judged twice, or is not in statements.json", c.id)
		}
		seen[c.id] = true
		if s.Group == "" || s.Notebook == "" || s.Claim == "" {
			t.Errorf("%s lacks its group, notebook or claim", c.id)
		}
		for status := range s.Why {
			if !slices.Contains(statuses, status) {
				t.Errorf("%s has a reason for the status %q, which there is not", c.id, status)
			}
		}
	}
	if len(seen) != len(statements) {
		t.Errorf("%d of %d statements are judged", len(seen), len(statements))
	}
}

// TestLedgerCovers checks that every number in published.json that is a result has a row.
func TestLedgerCovers(t *testing.T) {
	e := evidence(t)
	want := 0
	for _, table := range []map[string]map[string]Figure{e.Published.E1, e.Published.Sunspots} {
		for _, methods := range table {
			want += 2 * len(methods) // NLL and time
		}
	}
	for _, methods := range e.Published.Notebook {
		want += len(methods) + 1 // NLL; the two times as one ratio
	}
	for _, methods := range e.Published.EEG {
		want += len(methods) + 1
	}
	want += 2*len(e.Published.E2) + len(e.Published.Initial.NLL)
	got := 0
	for _, r := range Ledger(e) {
		switch r.Group {
		case GroupTable1, GroupTable2, GroupTable3, GroupFigure3, GroupNotebook:
			got++
		}
	}
	if got != want {
		t.Errorf("%d rows of numbers, want %d", got, want)
	}
}

// TestStoredResults repeats stored trials that are quick and compares the numbers: a change of the code that moves them must
// raise Revision and recompute them.
func TestStoredResults(t *testing.T) {
	if testkit.Quick() {
		t.Skip("trains")
	}
	e := evidence(t)
	repeated := 0
	for _, all := range append(e.experiments(), curves(t)) {
		count := map[string]int{}
		for _, o := range *all {
			class := o.Trial.Kernel + o.Trial.Loss + o.Trial.Protocol + o.Trial.Optimiser.Method + o.Trial.Design
			if o.Fit > 0.5 || o.Fit+o.Setup > 1 && !testkit.Long() || o.Error != "" || o.Floor || o.Trial.Optimiser.Method == Evaluate ||
				count[class] >= 1 {
				continue
			}
			if o.Trial.Source.Name == "sunspots" && !haveSunspots() {
				continue
			}
			count[class]++
			repeated++
			got, err := o.Trial.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got.Key != o.Key {
				t.Errorf("%v is stored under %s, now it has key %s", o.Trial, o.Key, got.Key)
			}
			if math.Abs(got.NLL-o.NLL) > 1e-4*math.Abs(o.NLL) {
				t.Errorf("%v: exact NLL %v, stored %v", o.Trial, got.NLL, o.NLL)
			}
			for i, v := range o.Theta {
				near := 1e-3
				if i < len(o.StdErr) { // a search stops when the gain is negligible, not at an exact point
					near = max(near, o.StdErr[i]/20)
				}
				if !(math.Abs(math.Log(got.Theta[i]/v)) <= near) {
					t.Errorf("%v: parameter %d is %v, stored %v", o.Trial, i, got.Theta[i], v)
				}
			}
		}
	}
	if repeated < 4 {
		t.Errorf("only %d trials were repeated", repeated)
	}
	t.Logf("%d trials repeated", repeated)
}

// TestStoredCommits checks that the commits that outcomes name are in the history of this one: a commit of a branch that was
// never merged is useless to a reader.
func TestStoredCommits(t *testing.T) {
	if shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output(); err != nil ||
		strings.TrimSpace(string(shallow)) != "false" {
		t.Skip("needs the history of the repository")
	}
	e := evidence(t)
	named := map[string]bool{}
	for _, all := range e.experiments() {
		for _, o := range *all {
			named[strings.TrimSuffix(o.Commit, "+")] = true
		}
	}
	delete(named, "")
	for commit := range named {
		if err := exec.Command("git", "merge-base", "--is-ancestor", commit, "HEAD").Run(); err != nil {
			t.Errorf("an outcome names commit %s, which is not in the history: %v", commit, err)
		}
	}
	if len(named) == 0 {
		t.Error("no outcome names a commit")
	}
}

// curves returns the stored outcomes of the experiment that the ledger does not use.
func curves(t *testing.T) *[]Outcome {
	t.Helper()
	store, err := OpenStore(filepath.Join(results, "curves.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := store.Outcomes()
	return &all
}

// experiments are all stored outcomes that the ledger follows from.
func (e *Evidence) experiments() []*[]Outcome {
	return []*[]Outcome{&e.E1, &e.E2, &e.Sunspots, &e.EEG, &e.Accurate}
}

func haveSunspots() bool {
	_, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true})
	return err == nil
}

// TestEEGRuns gives trainings on several samples, with predictions and without.
func TestEEGRuns(t *testing.T) {
	run := func(seed uint64, predicts bool) Outcome {
		o := Outcome{Trial: Trial{Protocol: Paper, Kernel: "SE", Loss: VFE,
			Source: Source{Name: "eeg", Seed: seed}, Optimiser: eegAdam}}
		if predicts {
			o.MSE = &Validation{}
		}
		return o
	}
	if got := EEGRuns([]Outcome{run(1, true), run(2, false), run(3, true)}, Paper, "SE", VFE); len(got) != 2 ||
		got[0].Trial.Source.Seed != 1 || got[1].Trial.Source.Seed != 3 {
		t.Errorf("where two of three predict: %+v", got)
	}
	if got := EEGRuns([]Outcome{run(1, false), run(2, false)}, Paper, "SE", VFE); len(got) != 1 {
		t.Errorf("where none predicts: %+v", got)
	}
}

// TestErrata checks that every row that docs/errata.md names is in the ledger, and that it names every row of the text that is
// corrected.
func TestErrata(t *testing.T) {
	text, err := os.ReadFile("../../docs/errata.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]Row{}
	for _, r := range Ledger(evidence(t)) {
		rows[r.ID] = r
	}
	named := map[string]bool{}
	entries := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		if len(cells) != 7 || !strings.Contains(cells[5], "`") {
			continue
		}
		entries++
		for id := range strings.SplitSeq(cells[5], ",") {
			id = strings.Trim(id, " `")
			named[id] = true
			if _, ok := rows[id]; !ok {
				t.Errorf("errata.md names row %q, which is not in the ledger", id)
			}
		}
	}
	if entries < 30 {
		t.Errorf("errata.md has %d entries", entries)
	}
	for id, r := range rows {
		if r.Group == GroupText && r.Status == Corrected && !named[id] {
			t.Errorf("errata.md does not name %q: %s", id, r.Claim)
		}
	}
}
