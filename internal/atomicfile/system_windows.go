package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// The flags of LockFileEx.
const (
	lockFileFailImmediately = 1
	lockFileExclusive       = 2
)

// lock takes the lock of an open file, which ends with the process. It waits for it.
func lock(f *os.File) error { return lockFile(f, lockFileExclusive) }

// tryLock is lock that does not wait: it is an error if another process has it.
func tryLock(f *os.File) error { return lockFile(f, lockFileExclusive|lockFileFailImmediately) }

// lockFile locks a byte that no file has, since Windows forbids others to read what is locked.
func lockFile(f *os.File, flags uintptr) error {
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	if ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at))); ok == 0 {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return nil
}

func keepOwner(*os.File, fs.FileInfo) {}

// number is that of a file on its device, where that is known without opening it.
func number(fs.FileInfo) uint64 { return 0 }

func cannotSync(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
