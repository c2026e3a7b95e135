//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes the lock of an open file, which ends with the process. It waits for it.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		switch {
		case err == syscall.EINTR:
			continue
		case err == nil:
			return nil
		case err == syscall.ENOLCK: // a network file system without locks says so
			err = syscall.ENOTSUP
		}
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

// keepOwner gives f the owner and the group of old, if the process may.
func keepOwner(f *os.File, old fs.FileInfo) {
	is, err := f.Stat()
	if err != nil {
		return
	}
	now, ok := is.Sys().(*syscall.Stat_t)
	was, okWas := old.Sys().(*syscall.Stat_t)
	if ok && okWas && (now.Uid != was.Uid || now.Gid != was.Gid) {
		_ = f.Chown(int(was.Uid), int(was.Gid)) // only root may give a file away
	}
}
