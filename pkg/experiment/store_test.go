package experiment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

func outcome(key string, nll float64) Outcome {
	return Outcome{Key: key, NLL: nll, Theta: []float64{1, 2}, Trial: Trial{Kernel: "SE", Loss: ML}}
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "a.jsonl")
	s, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Outcome{outcome("a", 1), outcome("b", 2), outcome("a", 3)} {
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Outcome{outcome("a", 3), outcome("b", 2)}
	if diff := cmp.Diff(want, again.Outcomes()); diff != "" {
		t.Error(diff)
	}

	// A run that is killed within a line loses only that line, and the next run continues.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"key":"c","nll":`)
	f.Close()
	if again, err = OpenStore(path); err != nil {
		t.Fatal("a line that was cut off:", err)
	}
	if err := again.Put(outcome("d", 4)); err != nil {
		t.Fatal(err)
	}
	if again, err = OpenStore(path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(want, outcome("d", 4)), again.Outcomes()); diff != "" {
		t.Error(diff)
	}
}

func TestStoreBadLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"key\":\"a\"}\nnonsense\n{\"key\":\"b\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(path); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v: want an error that names line 2", err)
	}
}

// TestStoreDamage changes each digit of a stored line in turn, which must be an error that names the line. Lines without a
// checksum are read.
func TestStoreDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s := open(t, path)
	for i, key := range []string{"a", "b"} {
		if err := s.Put(outcome(key, float64(i))); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	digits := 0
	for i := bytes.IndexByte(text, '\n') + 1; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		digits++
		damaged := bytes.Clone(text)
		damaged[i] = '0' + (text[i]-'0'+1)%10
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(path); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", damaged, err)
		}
	}
	if digits < 10 {
		t.Errorf("%d digits in %s", digits, text)
	}
	plain := regexp.MustCompile(`,"checksum":"[0-9a-f]*"`).ReplaceAll(text, nil)
	if err := os.WriteFile(path, plain, 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Outcomes(), open(t, path).Outcomes()); diff != "" || bytes.Equal(plain, text) {
		t.Error(diff)
	}
}

func TestStoreTidy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	trials := E1(scales.Smoke)[:3]
	put := func(trial Trial, nll float64) {
		key, err := trial.Key()
		if err != nil {
			t.Fatal(err)
		}
		o := outcome(key, nll)
		o.Trial = trial
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	put(trials[2], 1)
	put(trials[0], 2)
	put(trials[2], 3)
	put(E1(scales.Smoke)[4], 4) // not among the trials
	later := `{"key":"of a later version","trial":{"kernel":"SE","renamed":1},"nll":5,"new":true}`
	if err := appendLine(path, later); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(trials); err != nil {
		t.Fatal(err)
	}
	again, err := OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, o := range again.Outcomes() {
		got = append(got, o.NLL)
	}
	if diff := cmp.Diff([]float64{2, 3, 4, 5}, got); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "\n"+later+"\n") {
		t.Errorf("what a later version wrote is not kept as it stands:\n%s", text)
	}
	if diff := cmp.Diff(trials[2:], trialsOf(ofTrials(again.Outcomes(), trials[1:]))); diff != "" {
		t.Errorf("evidence takes other outcomes: %s", diff)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, want 1", len(files))
	}
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

func trialsOf(outcomes []Outcome) (trials []Trial) {
	for _, o := range outcomes {
		trials = append(trials, o.Trial)
	}
	return trials
}
