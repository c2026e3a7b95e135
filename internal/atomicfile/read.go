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
// that never ends, is read as far; one that does not begin with a text, no further than its length.
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
	if info.Size() > most {
		return nil, &LargeError{path, info.Size()}
	}
	most = max(0, most)
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	for _, end := range []int64{min(int64(len(begins)), most), most, most + 1} {
		_, err := io.CopyN(&b, f, end-int64(b.Len()))
		if err == io.EOF || err == nil && end < most && b.String() != begins {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, &LargeError{path, most + 1}
}
