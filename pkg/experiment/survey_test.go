package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

type knobs struct {
	K    int
	Seed uint64
}

type answer struct {
	Value  float64
	Parts  []float64
	Unkept float64 `json:"-"`
}

// counting returns a survey of knobs below dir, and how often it has computed.
func counting(dir string) (Survey[knobs, answer], *atomic.Int64) {
	var calls atomic.Int64
	return Survey[knobs, answer]{Name: "own", Folder: dir, Progress: func(Progress[knobs]) {}, Compute: func(_ context.Context, t knobs) (answer, error) {
		calls.Add(1)
		if t.K < 0 {
			return answer{}, fmt.Errorf("k = %d", t.K)
		}
		return answer{float64(t.K) + 1/float64(t.Seed), []float64{math.Sqrt(float64(t.K))}, 1}, nil
	}}, &calls
}

func seeds(k, count int) (trials []knobs) {
	for i := range count {
		trials = append(trials, knobs{k, uint64(i + 1)})
	}
	return trials
}

// TestSurvey: results come in the order of their trials, the same from the store as computed; other trials do not touch them.
func TestSurvey(t *testing.T) {
	dir := t.TempDir()
	s, calls := counting(dir)
	first, err := s.Run(t.Context(), seeds(100, 20))
	if err != nil || calls.Load() != 20 {
		t.Fatalf("%v after %d calls", err, calls.Load())
	}
	for i, a := range first {
		if a.Value != 100+1/float64(i+1) || a.Unkept != 0 {
			t.Errorf("trial %d: %+v", i, a)
		}
	}
	path := filepath.Join(dir, "own.jsonl")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var last Progress[knobs]
	s.Progress = func(p Progress[knobs]) { last = p }
	if _, err := s.Run(t.Context(), seeds(60, 5)); err != nil || calls.Load() != 25 {
		t.Fatalf("%v after %d calls", err, calls.Load())
	}
	if said := last.String(); last.Others != 20 || said != "5 of 5; "+path+" keeps 20 results of other trials" {
		t.Errorf("it says %q", said)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(after, before) {
		t.Errorf("%v: what was stored has changed", err)
	}
	again, err := s.Run(t.Context(), seeds(100, 22))
	if err != nil || calls.Load() != 27 || last.Stored != 20 {
		t.Fatalf("%v after %d calls, %d stored", err, calls.Load(), last.Stored)
	}
	if diff := cmp.Diff(first, again[:20]); diff != "" {
		t.Error(diff)
	}
	trials, stored, err := s.Stored()
	if err != nil || calls.Load() != 27 || len(trials) != 27 || len(stored) != 27 {
		t.Errorf("%v after %d calls: %v are stored", err, calls.Load(), trials)
	}
	for i, k := range trials { // in the order in which they ended
		if want := float64(k.K) + 1/float64(k.Seed); stored[i].Value != want {
			t.Errorf("the stored result of %v is %v, want %v", k, stored[i].Value, want)
		}
	}
}

// TestSurveyResumes: what ended before an error or an interrupt is stored.
func TestSurveyResumes(t *testing.T) {
	s, calls := counting(t.TempDir())
	s.Workers = 1
	trials := slices.Insert(seeds(10, 6), 4, knobs{-1, 1})
	if _, err := s.Run(t.Context(), trials); err == nil || !strings.Contains(err.Error(), "k = -1") || calls.Load() != 5 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(p Progress[knobs]) {
		if p.Done == 5 {
			cancel()
		}
	}
	if _, err := s.Run(ctx, seeds(10, 6)); !errors.Is(err, context.Canceled) || calls.Load() != 6 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	s.Progress = func(Progress[knobs]) {}
	if _, err := s.Run(t.Context(), seeds(10, 6)); err != nil || calls.Load() != 7 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestSurveyRefuses the names of the paper's experiments, names that are paths, and trials that it cannot tell apart.
func TestSurveyRefuses(t *testing.T) {
	dir := t.TempDir()
	s, calls := counting(dir)
	for name, want := range map[string]string{"e1": "give your survey another", "sunspots": "give your survey another", "": "cannot be the name",
		"../results/e1": "cannot be the name", "a/b": "cannot be the name"} {
		s.Name = name
		if _, err := s.Run(t.Context(), seeds(1, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	s.Name = "own"
	if _, err := s.Run(t.Context(), append(seeds(1, 2), knobs{1, 1})); err == nil || !strings.Contains(err.Error(), "trials 0 and 2 are equal") {
		t.Errorf("of equal trials: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 || calls.Load() > 0 {
		t.Errorf("%v, %v after %d calls", entries, err, calls.Load())
	}
}

// TestOthersUnderACommittedName: E1 with another lengthscale does not run under the name of E1, whose file stays as it is.
func TestOthersUnderACommittedName(t *testing.T) {
	lonely(t, scales.Full)
	path := StorePath(scales.Full, ".", "e1")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	trials := E1(scales.Full)
	for i := range trials {
		trials[i].Source.Lengthscale = 10
	}
	if err := RunNamed(t.Context(), "e1", trials, quiet); err == nil || !strings.Contains(err.Error(), "run it by a Survey of another name") {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v: the stored results have changed", err)
	}
}
