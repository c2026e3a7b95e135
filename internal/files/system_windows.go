package files

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the lock of an open file, which ends with the process. It waits for it. It locks a byte that no file has, since
// Windows forbids others to read what is locked.
func lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &at); err != nil {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}
