package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// nobody runs f as a user who owns nothing, on a thread that ends with it.
func nobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread stays locked, so that no other goroutine gets it
		const user = 65534
		err := syscall.Setfsuid(user)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skip(err)
	}
}

// TestForbidden: files that the process may not write stay, and Check says so before there is anything to write.
func TestForbidden(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("another user is needed")
	}
	root := t.TempDir()
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // others must get there
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o005 != 0o005 {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Skip(err)
			}
		}
	}
	at := func(name string) string { return filepath.Join(root, name) }
	for _, dir := range []string{"open", "closed"} {
		if err := os.Mkdir(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(at("open"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"open/protected": 0o444, "open/free": 0o666, "closed/free": 0o666} {
		if err := os.WriteFile(at(name), []byte("before"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	nobody(t, func() {
		for name, want := range map[string]error{
			"open/protected": fs.ErrPermission, "closed/free": fs.ErrPermission, "closed/new": fs.ErrPermission,
			"none/new": fs.ErrNotExist, "open/free": nil, "open/new": nil,
		} {
			before, _ := os.ReadFile(at(name))
			if err := Check(at(name)); !errors.Is(err, want) {
				t.Errorf("Check of %s: %v, want %v", name, err, want)
			}
			if after, _ := os.ReadFile(at(name)); string(after) != string(before) {
				t.Errorf("Check of %s changes it", name)
			}
			err := WriteBytes(context.Background(), at(name), []byte("after"))
			if !errors.Is(err, want) {
				t.Errorf("writing %s: %v, want %v", name, err, want)
			}
			if after, _ := os.ReadFile(at(name)); err != nil && string(after) != string(before) {
				t.Errorf("%s has become %q", name, after)
			}
		}
	})
	left, _ := filepath.Glob(at("*/.*"))
	if len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
