package testkit

import (
	"runtime"
	"testing"
)

// BoundedAllocation runs read and fails if it allocates more than a file of size bytes can justify, whatever its header says: a
// constant for buffers, and perByte for each byte.
func BoundedAllocation(t testing.TB, size, perByte int, read func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+perByte*size); got > most {
		t.Errorf("%d bytes are allocated for a file of %d", got, size)
	}
}
