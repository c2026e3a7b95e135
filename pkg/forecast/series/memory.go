package series

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// These constants bound the live memory of a series, in bytes for each observation, beside some for the program, whether a file
// is sorted or not. With GOGC=15 in the environment, gppl fit --origins 0 --budget 2s has a peak of 98 to 114 MB on 10⁵ irregular
// rows and 181 to 186 MB on 10⁶ for Laplace; these constants and the residual checks (denseBytes, 100 MB) give 136 and 190 MB.
// The automatic search takes 109 to 125 and 124 to 158 MB. Without a limit the garbage collector lets the heap grow to twice the
// live memory.

const (
	readBytes    = 60 // columns that grow, and copies that checks sort
	columnBytes  = 80 // for each column of errors or regressors in addition
	keyBytes     = 60 // for each column that tells series apart in addition
	ProgramBytes = 30e6
)

// WithinMemory returns a MemoryError if the predicted memory is above the limit; 0 means no limit.
func WithinMemory(what string, needed, limit float64) error {
	if limit > 0 && needed > limit {
		return &gppl.MemoryError{What: what, Needed: needed, Limit: limit}
	}
	return nil
}

// bytesFor predicts the memory of Read for a number of rows.
func (o ReadOptions) bytesFor(rows float64) float64 {
	return ProgramBytes + rows*(readBytes+columnBytes*float64(len(o.also()))+keyBytes*float64(len(o.By)))
}

// fits returns a MemoryError if the rows of a file, estimated from its size and first lines, exceed the limit. The length of a
// pipe is unknown, so reading stops at the row that exceeds the limit.
func (o ReadOptions) fits(path string) error {
	if o.Memory <= 0 {
		return nil
	}
	info, err := os.Stat(path)
	if path == dataset.StandardInput || err != nil || !info.Mode().IsRegular() {
		return nil // the reader says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 1<<16)
	n, err := io.ReadFull(f, head)
	lines := bytes.Count(head[:n], []byte{'\n'}) + bytes.Count(head[:n], []byte{'\r'})
	if err != nil || lines == 0 { // a small file, or a single line
		return nil
	}
	rows := float64(info.Size()) / float64(n) * float64(lines)
	return WithinMemory(fmt.Sprintf("reading about %.2g rows of %s", rows, path), o.bytesFor(rows), o.Memory)
}

// mostRows returns the number of rows that fit the limit; 0 means any number.
func (o ReadOptions) mostRows() int {
	if o.Memory <= 0 {
		return 0
	}
	return max(1, int(o.Memory/o.bytesFor(1e6)*1e6))
}

// MemoryBytes predicts the memory of a series.
func (s *Series) MemoryBytes() float64 {
	columns := len(s.Effects())
	if s.Errors != nil {
		columns++
	}
	if k := s.Known; k != nil { // regressors without a coefficient of their own take memory, too
		columns += len(k.Names) - len(k.AllGroups())
	}
	return ProgramBytes + float64(len(s.X))*(readBytes+float64(columns)*columnBytes)
}

// Bytes returns the memory of the series in bytes, without the program.
func (s *Series) Bytes() float64 { return s.MemoryBytes() - ProgramBytes }
