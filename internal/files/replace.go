//go:build !windows

package files

import (
	"io"
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace writes the file at target; old describes the file there before, and is nil if there was none.
func replace(target string, old fs.FileInfo, write func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)), renameio.WithPermissions(0o666),
		renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer f.Cleanup() // this does nothing once the file has its name
	if err := write(f.File); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f.File, old)
	}
	return f.CloseAtomicallyReplace()
}
