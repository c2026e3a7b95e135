//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package files

import (
	"errors"
	"io/fs"
	"os"
)

// lock does nothing: several writers of a store are on their own.
func lock(*os.File) error { return errors.ErrUnsupported }

func keepOwner(*os.File, fs.FileInfo) {}
