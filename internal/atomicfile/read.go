package atomicfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// LargeError is that a file has more bytes than may be read.
type LargeError struct {
	Path  string
	Bytes int64 // that it has, at least
}

func (e *LargeError) Error() string { return fmt.Sprintf("%s has %d bytes or more", e.Path, e.Bytes) }

// ReadWithin returns what a file holds, or a [*LargeError] if that is more than most bytes. A file without a size, as a pipe or a device
// that never ends, is read as far.
func ReadWithin(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, &LargeError{path, info.Size()}
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if n, err := io.CopyN(&b, f, most); err != io.EOF {
		if err == nil { // as many, and perhaps no more
			_, err = io.CopyN(&b, f, 1)
		}
		if err == nil {
			return nil, &LargeError{path, n + 1}
		}
		if err != io.EOF {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
