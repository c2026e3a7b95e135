package experiment

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
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
