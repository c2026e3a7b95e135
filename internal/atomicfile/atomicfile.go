// Package atomicfile writes files whole or not at all, and tells the files of a command apart.
package atomicfile

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
	"strconv"
	"strings"
)

// Write writes a file by way of a temporary one beside it, which then takes its name. Whatever write returns, after a full disk,
// a kill or a loss of power there is what was there before, or the whole file. It keeps the mode of the file that it replaces,
// and replaces none that the process may not write; a new file has the mode that the umask says. A link stays a link, and a
// device or a pipe is written to, not replaced. What killed writers of the same path have left is removed. The error names the
// path.
func Write(path string, write func(io.Writer) error) error {
	return WriteContext(context.Background(), path, write)
}

// WriteBytes is Write of what is at hand.
func WriteBytes(path string, text []byte) error {
	return WriteBytesContext(context.Background(), path, text)
}

// WriteBytesContext is WriteContext of what is at hand.
func WriteBytesContext(ctx context.Context, path string, text []byte) error {
	return WriteContext(ctx, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// WriteContext is Write that waits for the reader of a pipe no longer than ctx lasts.
func WriteContext(ctx context.Context, path string, write func(io.Writer) error) error {
	if err := writeContext(ctx, path, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func writeContext(ctx context.Context, path string, write func(io.Writer) error) error {
	old, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && old.IsDir():
		return errors.New("that is a folder")
	case err == nil && !old.Mode().IsRegular():
		return writeTo(ctx, func() (io.WriteCloser, error) { return os.OpenFile(path, os.O_WRONLY, 0) }, write)
	}
	for _, standard := range []*os.File{os.Stdout, os.Stderr} { // what the shell has opened: no file may replace it
		if info, err := standard.Stat(); err == nil && old != nil && os.SameFile(info, old) {
			return writeTo(ctx, func() (io.WriteCloser, error) { return unclosed{standard}, nil }, write)
		}
	}
	target, err := resolved(path)
	if err != nil {
		return err
	}
	if old != nil {
		if err := mayWrite(path); err != nil {
			return err
		}
	}
	return replace(target, old, write)
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
// or there is no folder. It is nil for what is no regular file.
func Check(path string) error {
	old, err := os.Stat(path)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return nil
	case err == nil:
		if err := mayWrite(path); err != nil {
			return err
		}
	}
	target, err := resolved(path)
	if err != nil {
		return err
	}
	f, err := create(target, old)
	if err != nil {
		return err
	}
	discard(f)
	return nil
}

// replace writes the file at target, which was old, or nil if there was none.
func replace(target string, old fs.FileInfo, write func(io.Writer) error) error {
	Clear(target)
	f, err := create(target, old)
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			discard(f)
		}
	}()
	err = write(f)
	if err == nil && old != nil {
		err = keepMode(f, old)
	}
	if err = errors.Join(err, f.Sync()); err != nil {
		return err
	}
	// The lock ends when the file is closed. Where the system can rename an open file, it has its name by then. From then on its
	// temporary name may be another writer's.
	if runtime.GOOS == "windows" {
		if err := f.Close(); err != nil {
			return err
		}
		if err := os.Rename(f.Name(), target); err != nil {
			return err
		}
		kept = true
	} else {
		if err := os.Rename(f.Name(), target); err != nil {
			return err
		}
		kept = true
		if err := f.Close(); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Dir(target))
}

// discard removes a temporary file, while it is locked where the system can remove an open file.
func discard(f *os.File) {
	if runtime.GOOS != "windows" {
		os.Remove(f.Name())
	}
	f.Close()
	if runtime.GOOS == "windows" {
		os.Remove(f.Name())
	}
}

// keepMode gives f the mode and, where that is allowed, the owner of old.
func keepMode(f *os.File, old fs.FileInfo) error {
	keepOwner(f, old)
	return f.Chmod(old.Mode().Perm())
}

// writeTo writes to what is no regular file. It does not wait for it once ctx has ended.
func writeTo(ctx context.Context, open func() (io.WriteCloser, error), write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		f, err := open() // waits for a reader if it is a pipe
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

// A temporary file has the name of its target between a dot and a number below slots, or above if so many write at once. Its
// writer holds a lock on it: whoever can lock a temporary file knows that its writer is dead.
const (
	slots    = 8
	suffix   = ".gppl-tmp"
	longest  = 200   // bytes of the name of the target in that of a temporary file: systems take 255 in all
	attempts = 10000 // at a name that nobody has
)

func temporary(target string, slot int) string {
	name := filepath.Base(target)
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d%s", name, slot, suffix))
}

// targetOf returns the file that a path, by its name, is a temporary file of; "" if it is none.
func targetOf(path string) string {
	if real, err := resolved(path); err == nil {
		path = real
	}
	folder, name := filepath.Split(path)
	name, ours := strings.CutSuffix(name, suffix)
	at := strings.LastIndexByte(name, '.')
	if !ours || at < 2 || name[0] != '.' {
		return ""
	}
	if _, err := strconv.Atoi(name[at+1:]); err != nil {
		return ""
	}
	return folder + name[1:at]
}

// create makes and locks a temporary file for target. Nobody can read it whom the mode of old does not allow to.
func create(target string, old fs.FileInfo) (*os.File, error) {
	perm := fs.FileMode(0o666) // less the umask
	if old != nil {
		perm = 0o600
	}
	for slot := range attempts {
		name := temporary(target, slot)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := tryLock(f); (err == nil || errors.Is(err, errors.ErrUnsupported)) && isAt(f, name) {
			return f, nil
		}
		f.Close() // another process took it for the file of a dead one, and removes it
	}
	return nil, fmt.Errorf("%s exists, and so do %d more", temporary(target, 0), attempts-1)
}

// Clear removes the temporary files that killed writers of path have left, and no others.
func Clear(path string) {
	target, err := resolved(path)
	if err != nil {
		return
	}
	for slot := 0; ; slot++ {
		name := temporary(target, slot)
		info, err := os.Lstat(name)
		if err != nil {
			if slot >= slots {
				return
			}
			continue
		}
		if info.Mode().IsRegular() {
			clearOne(name)
		}
	}
}

func clearOne(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if tryLock(f) == nil && isAt(f, name) {
		if runtime.GOOS == "windows" {
			f.Close()
		}
		os.Remove(name)
	}
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
	os.Remove(name) // fails if another process waits for it, and uses it then
	return err
}

// syncFolder makes the names in a folder outlive a loss of power, where the system offers that.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil // it may be written and not read
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if cannotSync(err) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
