// Package files makes files, locks them and tells them apart, so that the output of a command or a store is there as a whole or
// not at all, and overwrites no file that is read.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write writes a file by way of a temporary one beside it, which then takes its name. Whatever write returns, after a full disk
// or a loss of power the old file is there, or the whole new one. It keeps the mode of the file that it replaces, and replaces
// none that the process may not write; a new file has the mode that the umask says. A link stays a link. A device or a pipe is
// written to, not replaced, and Write waits for the reader of a pipe no longer than ctx lasts. A process that is killed leaves
// its temporary file: a dot, the name, and digits. The error names the path.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	if err := writeFile(ctx, path, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// WriteBytes does as Write with the given bytes.
func WriteBytes(ctx context.Context, path string, text []byte) error {
	return Write(ctx, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func writeFile(ctx context.Context, path string, write func(io.Writer) error) error {
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case old.IsDir():
		return errors.New("that is a folder")
	case !old.Mode().IsRegular():
		return writeTo(ctx, func() (io.WriteCloser, error) { return os.OpenFile(path, os.O_WRONLY, 0) }, write)
	default:
		for _, standard := range []*os.File{os.Stdout, os.Stderr} { // no file may replace one that the shell has opened
			if info, err := standard.Stat(); err == nil && os.SameFile(info, old) {
				return writeTo(ctx, func() (io.WriteCloser, error) { return unclosed{standard}, nil }, write)
			}
		}
		if err := mayWrite(path); err != nil {
			return err
		}
	}
	target, err := resolved(path)
	if err != nil {
		return err
	}
	if err := replace(target, old, write); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(target))
}

// mayWrite returns an error if the mode of a file forbids writing it: its name in the folder could still be given to another
// file.
func mayWrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// Check returns why Write could not write a file, before there is anything to write: the file or its folder must not be written,
// or there is no folder. It is nil for anything but a regular file.
func Check(path string) error {
	if old, err := os.Stat(path); err == nil {
		if !old.Mode().IsRegular() {
			return nil
		}
		if err := mayWrite(path); err != nil {
			return err
		}
	}
	target, err := resolved(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".gppl-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeTo writes to a device or a pipe. It does not wait for it once ctx has ended.
func writeTo(ctx context.Context, open func() (io.WriteCloser, error), write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		f, err := open() // this waits for a reader if it is a pipe
		if err == nil {
			_, err = f.Write(text.Bytes())
			err = errors.Join(err, f.Close())
		}
		done <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// syncFolder makes the names in a folder outlive a loss of power, where the system offers that.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil // the folder may be written and not read
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// resolved returns the path without links of a file that may not exist. A link to a missing file is followed too.
func resolved(path string) (string, error) {
	const mostLinks = 255 // Linux and path/filepath allow as many
	for range mostLinks {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Abs(target)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// This is not filepath.Dir, which takes link/.. for the folder that has the link.
		folder, name := filepath.Split(path)
		if folder == "" {
			folder = "." + string(filepath.Separator)
		}
		if name == "" || name == "." || name == ".." {
			return "", err
		}
		if to, err := os.Readlink(path); err == nil {
			if path = to; !filepath.IsAbs(to) {
				path = folder + to
			}
			continue
		}
		if folder == path { // path is "" or the root
			return "", err
		}
		above, err := resolved(trimmed(folder))
		return filepath.Join(above, name), err
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}

// trimmed returns a folder without separators at its end, unless it is the root.
func trimmed(folder string) string {
	end := len(folder)
	for end > len(filepath.VolumeName(folder))+1 && os.IsPathSeparator(folder[end-1]) {
		end--
	}
	return folder[:end]
}
