package files

import (
	"errors"
	"os"
	"path/filepath"
)

// AppendLine adds a line to a file, in one write and under its lock. Once it returns, the line survives a loss of power. An
// incomplete line left by a killed writer is ended first, so that readers who skip it lose nothing else.
func AppendLine(path string, line []byte) (err error) {
	unlock, err := Lock(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ended, err := endsLine(f)
	if err != nil {
		return err
	}
	if !ended {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := f.Sync(); err != nil || missing == nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// endsLine reports whether what is appended to the file begins a line. It does not if a writer was killed.
func endsLine(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return true, err
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return last[0] == '\n', err
}
