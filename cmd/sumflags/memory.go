package sumflags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// copies is the number of times that the bytes of a file of sums are in memory at once: the sums so far, the next ones, their
// bytes, and the sums that are written.
const copies = 4

// Read reads a file of sums that fits a limit of memory.
func Read(path string, limit float64) (*sums.Sums, error) {
	b, err := files.ReadWithin(path, sums.Magic, int64(min((limit-machine.Least)/copies, 1<<62)))
	if large := (*files.LargeError)(nil); errors.As(err, &large) {
		err = &gppl.MemoryError{What: "the sums in " + path, Needed: machine.Least + copies*float64(large.Bytes), Limit: limit}
	}
	if err != nil {
		return nil, err
	}
	s := new(sums.Sums)
	if err := s.UnmarshalBinary(b); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "gppl: Sums: "))
	}
	return s, nil
}

// Workers returns how many workers, at most most, may add up rows at the same time under a limit of memory, each in sums of its
// own and with beside further bytes; and how many bytes are then left for each. It is a *gppl.MemoryError if the limit is too low
// for one.
func Workers(h sums.Header, most int, beside, limit float64) (n int, left float64, err error) {
	plan, err := h.Plan()
	if err != nil {
		return 0, 0, err
	}
	each := float64(plan.Bytes) + beside
	program := machine.Least + float64(plan.Bytes) // this includes the bytes that are written
	if program+each > limit {
		return 0, 0, &gppl.MemoryError{What: fmt.Sprintf("sums of %d frequencies", h.Highest), Needed: program + each, Limit: limit}
	}
	n = max(1, min(most, int((limit-program)/each)))
	return n, (limit-program)/float64(n) - each, nil
}
