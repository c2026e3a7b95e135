package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Lock waits until no other process holds the lock of path, and takes it until unlock is called or the process ends. The lock is
// a file beside path, which unlock removes. On a file system without locks it does nothing.
func Lock(path string) (unlock func() error, err error) {
	target, err := resolved(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		err = lock(f)
		if errors.Is(err, errors.ErrUnsupported) {
			return func() error { return errors.Join(f.Close(), os.Remove(name)) }, nil
		}
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", path, errors.Join(err, f.Close()))
		}
		if isAt(f, name) {
			return func() error { return release(f, name) }, nil
		}
		if err := f.Close(); err != nil { // the last owner has removed it
			return nil, err
		}
	}
}

func release(f *os.File, name string) error {
	if runtime.GOOS != "windows" {
		return errors.Join(os.Remove(name), f.Close())
	}
	err := f.Close()
	os.Remove(name) // this fails if another process waits for it, and uses it then
	return err
}

// isAt reports whether the open file still has the name.
func isAt(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(opened, named)
}
