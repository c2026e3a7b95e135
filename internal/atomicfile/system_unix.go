//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lock takes the lock of an open file, which ends with the process. It waits for it.
func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// tryLock is lock that does not wait: it is an error if another process has it.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == syscall.EINTR:
			continue
		case err == nil:
			return nil
		case err == syscall.ENOLCK: // so says a network file system without locks
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

// number is that of a file on its device: different numbers are different files.
func number(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

// cannotSync reports whether a file system says that folders need not or cannot be synced.
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}
