package files

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// LargeError says that a file has more bytes than may be read.
type LargeError struct {
	Path  string
	Bytes int64 // least number of bytes that it has
}

func (e *LargeError) Error() string { return fmt.Sprintf("%s has %d bytes or more", e.Path, e.Bytes) }

// ReadWithin returns the contents of a file, or a [*LargeError] if these have more than most bytes. A file without a size, such
// as a pipe or an endless device, is read up to most. Of a file that does not begin with begins, no more is read than the length
// of that.
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
