//go:build !linux

package machine

import "os"

// Peak returns the largest resident set, in bytes, of a process that has ended, or of the largest of its ended children; 0 if the
// system does not tell.
func Peak(*os.ProcessState) int64 { return 0 }
