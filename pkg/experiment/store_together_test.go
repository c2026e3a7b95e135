package experiment

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// TestStoreTogether lets programs add to one store at once, with lines of several pages, and kills one of them that never stops:
// nothing that was reported as stored may be lost or torn.
func TestStoreTogether(t *testing.T) {
	const programs, each = 3, 40
	if path := os.Getenv("GPPL_TEST_STORE"); path != "" { // we are one of them
		putMany(t, path, os.Getenv("GPPL_TEST_NAME"), each)
		return
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	// It begins with a line that a killed run did not end.
	if err := os.WriteFile(path, []byte(`{"key":"cut off","nll":`), 0o644); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStoreTogether$")
		cmd.Env = append(os.Environ(), "GPPL_TEST_STORE="+path, "GPPL_TEST_NAME="+name)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	endless := start("endless")
	var cmds []*exec.Cmd
	for i := range programs {
		cmds = append(cmds, start(strconv.Itoa(i)))
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	for !stores(open(t, path), "endless") { // it may not have run yet; the test's own limit ends the wait
		time.Sleep(5 * time.Millisecond)
	}
	endless.Process.Kill()
	endless.Wait()
	found := map[string]int{}
	for _, o := range open(t, path).Outcomes() {
		name, _, _ := strings.Cut(o.Key, " ")
		found[name]++
		if len(o.Theta) != 2000 {
			t.Errorf("%s has %d numbers", o.Key, len(o.Theta))
		}
	}
	for i := range programs {
		if got := found[strconv.Itoa(i)]; got != each {
			t.Errorf("program %d stored %d outcomes, %d are there", i, each, got)
		}
	}
	if found["endless"] == 0 {
		t.Error("the program that was killed stored nothing")
	}
}

// stores reports whether an outcome of the named program is there.
func stores(s *Store, name string) bool {
	for _, o := range s.Outcomes() {
		if strings.HasPrefix(o.Key, name+" ") {
			return true
		}
	}
	return false
}

// putMany stores so many outcomes, or never stops if the name says so.
func putMany(t *testing.T, path, name string, n int) {
	s := open(t, path)
	for i := 0; i < n || name == "endless"; i++ {
		o := outcome(fmt.Sprintf("%s %d", name, i), float64(i))
		o.Theta = make([]float64, 2000)
		for j := range o.Theta {
			o.Theta[j] = float64(j) + 0.123456789
		}
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoreTidyTogether checks that Tidy keeps what another program added after the store was opened.
func TestStoreTidyTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	trials := E1(scales.Smoke)[:2]
	put := func(s *Store, trial Trial) {
		key, err := trial.Key()
		if err != nil {
			t.Fatal(err)
		}
		o := outcome(key, 1)
		o.Trial = trial
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	ours, theirs := open(t, path), open(t, path)
	put(ours, trials[1])
	put(ours, trials[1])
	put(theirs, trials[0])
	if err := ours.Tidy(trials); err != nil {
		t.Fatal(err)
	}
	if got := len(open(t, path).Outcomes()); got != 2 {
		t.Errorf("%d outcomes are left, want 2", got)
	}
}

// TestStoreTidyProcesses lets programs add to a store while others tidy it continuously: nothing that was stored may be lost, and
// no other file may be left in the folder.
func TestStoreTidyProcesses(t *testing.T) {
	const writers, tidiers = 2, 2
	const each = 100
	trials := make([]Trial, writers*each)
	for i := range trials {
		trials[i] = E1(scales.Smoke)[0]
		trials[i].Seed = uint64(i)
	}
	if path := os.Getenv("GPPL_TEST_STORE"); path != "" { // we are one of them
		s := open(t, path)
		var number int
		if _, err := fmt.Sscan(os.Getenv("GPPL_TEST_NAME"), &number); err != nil {
			t.Fatal(err)
		}
		for number >= writers && len(s.Outcomes()) < len(trials) { // Tidy reads the store anew
			if err := s.Tidy(trials); err != nil {
				t.Fatal(err)
			}
		}
		for i := range each {
			if number >= writers {
				break
			}
			for range 2 { // the second replaces the first, so that there is something to tidy
				trial := trials[number*each+i]
				key, err := trial.Key()
				if err != nil {
					t.Fatal(err)
				}
				o := outcome(key, 1)
				o.Trial = trial
				if err := s.Put(o); err != nil {
					t.Fatal(err)
				}
			}
		}
		return
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	var cmds []*exec.Cmd
	for i := range writers + tidiers {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStoreTidyProcesses$")
		cmd.Env = append(os.Environ(), "GPPL_TEST_STORE="+path, "GPPL_TEST_NAME="+strconv.Itoa(i))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := len(open(t, path).Outcomes()); got != writers*each {
		t.Errorf("%d outcomes are left, %d were stored", got, writers*each)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if s := open(t, path); s.Tidy(trials) != nil || s.stale > 0 {
		t.Error("it is not tidy")
	}
}
