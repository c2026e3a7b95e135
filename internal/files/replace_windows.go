package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replace writes the file at target. Windows does not promise that a new name is there after a loss of power.
func replace(target string, _ fs.FileInfo, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target))
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Rename(f.Name(), target)
	done = err == nil
	return err
}
