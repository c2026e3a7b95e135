// Package killed lets tests kill programs at random moments: the files that these write must be whole or not there at all.
package killed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Command is a program that writes files in its folder.
type Command struct {
	Name    string
	Prepare func(dir string)           // writes what it reads
	Process func(dir string) *exec.Cmd // not yet started
	Run     func(dir string)           // runs it to its end; nil: by Process, and the test fails if it does
	// Fixed is a file without what differs from run to run; nil: all of it.
	Fixed func(text []byte) []byte
	Idle  bool // it may write nothing
	// Left checks the folder after the kills; nil: what was there before is left, or the whole new file.
	Left func(dir string)
}

// unfinished are the ends of the names of files that a killed program may leave, which its next run uses or removes.
var unfinished = []string{".gppl-tmp", ".search", ".partial", ".lock"}

// Count counts kills.
type Count struct{ inTime, late int }

func (n Count) String() string {
	return fmt.Sprintf("%d kills, and %d more that came after the end", n.inTime, n.late)
}

// Check runs the command, and then kills it one to three times. Each kill must leave what was there before or the whole new file;
// a run to the end must give the files of the first, and leave nothing else. If lose is set, the kills find the files of the
// first run, otherwise none.
func (n *Count) Check(t *testing.T, c Command, r *rand.Rand, lose bool) {
	t.Helper()
	dir := t.TempDir()
	c.Prepare(dir)
	inputs := Contents(t, dir)
	began := time.Now()
	c.run(t, dir)
	took := time.Since(began)
	whole := Contents(t, dir)
	for path := range whole {
		if inputs[path] == nil && !lose {
			os.Remove(path)
		}
	}
	if len(whole) == len(inputs) && !c.Idle {
		t.Fatalf("%s writes nothing", c.Name)
	}
	for range 1 + r.IntN(3) {
		p := c.Process(dir)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.Float64() * 1.1 * float64(took)))
		p.Process.Kill()
		if p.Wait() == nil {
			n.late++
		} else {
			n.inTime++
		}
	}
	for path, text := range Contents(t, dir) {
		switch {
		case slices.ContainsFunc(unfinished, func(end string) bool { return strings.HasSuffix(path, end) }):
		case whole[path] == nil:
			t.Errorf("%s, killed, leaves %s", c.Name, path)
		case c.Left != nil:
		case inputs[path] != nil && !bytes.Equal(text, inputs[path]), !c.same(text, whole[path]):
			t.Errorf("%s, killed, changes %s", c.Name, path)
		}
	}
	if c.Left != nil {
		c.Left(dir)
	}
	c.run(t, dir)
	again := Contents(t, dir)
	for path, text := range again {
		if whole[path] == nil || !c.same(text, whole[path]) {
			t.Errorf("%s, run again: %s differs", c.Name, path)
		}
	}
	if len(again) != len(whole) {
		t.Errorf("%s, run again: %d files, want %d", c.Name, len(again), len(whole))
	}
}

func (c Command) run(t *testing.T, dir string) {
	t.Helper()
	if c.Run != nil {
		c.Run(dir)
		return
	}
	if out, err := c.Process(dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", c.Name, err, out)
	}
}

func (c Command) same(a, b []byte) bool {
	if c.Fixed != nil {
		a, b = c.Fixed(a), c.Fixed(b)
	}
	return bytes.Equal(a, b)
}

// Contents are all files of a folder and those in it, by path.
func Contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
