// Package faultydisk gives tests a file system on which writing fails: what is saved must then be whole or not there at all.
package faultydisk

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// Alone runs the test again in a process of its own, and reports whether this is that process: what Full limits would else
// meet the log that go test has its processes keep of the files they open.
func Alone(t *testing.T) bool {
	t.Helper()
	const mark = "GPPL_TEST_ALONE"
	if os.Getenv(mark) != "" {
		return true
	}
	c := exec.Command(os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$")
	c.Env = append(os.Environ(), mark+"=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// Full lets save write no more than a number of bytes to any file, as a disk does that fills up, and returns its error.
func Full(t *testing.T, bytes uint64, save func() error) error {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // so that the write fails, and not the program
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}()
	return save()
}

// readOnly runs save while nothing can be created in the folder, and returns its error.
func readOnly(t *testing.T, folder string, save func() error) error {
	t.Helper()
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	if os.Getuid() == 0 { // who may write everywhere; file access as nobody, for this thread
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		syscall.Setfsuid(65534)
		defer syscall.Setfsuid(0)
	}
	return save()
}

// CheckSave fails unless save, which writes the file at path, returns an error where the disk is full or the folder is read-only,
// leaves what the file was, and leaves nothing else beside it. The file must be there already, and be larger than 4096 bytes.
func CheckSave(t *testing.T, path string, save func() error) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil || len(whole) <= 4096 {
		t.Fatalf("%d bytes to begin with, error %v", len(whole), err)
	}
	before := list(t, path)
	for name, try := range map[string]func() error{
		"full disk":        func() error { return Full(t, 4096, save) },
		"read-only folder": func() error { return readOnly(t, filepath.Dir(path), save) },
	} {
		if err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(whole) {
			t.Errorf("%s: %d bytes are left of %d, error %v", name, len(now), len(whole), err)
		}
		if after := list(t, path); !slices.Equal(after, before) {
			t.Errorf("%s: the folder has %q, had %q", name, after, before)
		}
	}
	if err := save(); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
}

func list(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range entries {
		names = append(names, v.Name())
	}
	return names
}
