package experiment

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/faultydisk"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// TestStoreFullDisk stores to a disk that is full in the middle of a line: the trial is not stored, Put says so, and all trials
// before and after it are kept.
func TestStoreFullDisk(t *testing.T) {
	if !faultydisk.Alone(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s := open(t, path)
	if err := s.Put(outcome("a", 1)); err != nil {
		t.Fatal(err)
	}
	long := outcome("long", 2)
	long.Status = strings.Repeat("x", 10000)
	put := func() error { return s.Put(long) }
	if err := faultydisk.Full(t, 4096, put); err == nil {
		t.Error("full disk: no error")
	}
	check := func(want ...Outcome) {
		t.Helper()
		for name, s := range map[string]*Store{"the store": s, "the file": open(t, path)} {
			if diff := cmp.Diff(want, s.Outcomes()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	check(outcome("a", 1))
	if err := put(); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
	check(outcome("a", 1), long)
}

func TestTidyWholeOrNot(t *testing.T) {
	if !faultydisk.Alone(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	trial := E1(scales.Smoke)[0]
	key, err := trial.Key()
	if err != nil {
		t.Fatal(err)
	}
	o := outcome(key, 1)
	o.Trial, o.Status = trial, strings.Repeat("x", 10000)
	s := open(t, path)
	for range 2 {
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	faultydisk.CheckSave(t, path, func() error { return s.Tidy([]Trial{trial}) })
	if diff := cmp.Diff([]Outcome{o}, open(t, path).Outcomes()); diff != "" {
		t.Error(diff)
	}
}
