package files

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

// ReadWithin returns what a file holds, or a [*LargeError] if that is more than most bytes. A file without a size, such as a pipe
// or an endless device, is read up to most; one that does not begin with the given text is read no further than its length.
func ReadWithin(path, begins string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	most = max(0, most)
	head, err := io.ReadAll(io.LimitReader(f, min(int64(len(begins)), most)))
	if err != nil || int64(len(head)) < most && string(head) != begins {
		return head, err
	}
	if info.Size() > most {
		return nil, &LargeError{path, info.Size()}
	}
	b := bytes.NewBuffer(head)
	b.Grow(int(info.Size()) + bytes.MinRead)
	read, err := io.Copy(b, io.LimitReader(f, most-int64(len(head))+1))
	if err == nil && int64(len(head))+read > most {
		err = &LargeError{path, most + 1}
	}
	return b.Bytes(), err
}
