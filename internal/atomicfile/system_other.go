//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

// Without locks, several writers of a store are on their own, and what a killed writer leaves stays.

func lock(*os.File) error { return errors.ErrUnsupported }

func tryLock(*os.File) error { return errors.ErrUnsupported }

func keepOwner(*os.File, fs.FileInfo) {}

func number(fs.FileInfo) uint64 { return 0 }

func cannotSync(err error) bool { return err != nil }
