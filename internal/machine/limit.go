package machine

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// Least is a lower bound on the memory of any program, in bytes.
const Least = 10e6

// available returns what Memory returned first: the limit that the runtime gets afterwards does not halve it again.
var available = sync.OnceValues(Memory)

// Limit returns how many bytes a program may take. With a size such as 500MB it is the size, or all the memory there is if that
// is less. With "" it is half of the memory shared with other processes, and at most what the limits of this process leave. It is
// an error if the size is none or less than Least.
func Limit(size string) (float64, error) {
	shared, own := available()
	if size == "" {
		return min(0.5*shared, own), nil
	}
	limit, err := parseBytes(size)
	if err == nil && limit < Least {
		err = errors.New("gppl itself takes 10 MB")
	}
	if err != nil {
		return 0, fmt.Errorf("--memory %s: %w", size, err)
	}
	return min(limit, shared, own), nil // the runtime cannot recover from memory that is not there
}

// KeepTo makes the runtime collect garbage more often when its memory would exceed the limit. The heap may overshoot the
// runtime's limit by some 6 % before garbage is found.
func KeepTo(limit float64) {
	const share = 0.93
	debug.SetMemoryLimit(int64(min(share*limit, math.MaxInt64/2)))
}

// parseBytes reads a size such as 500MB, 2 GiB or 1e9.
func parseBytes(text string) (float64, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	number := strings.TrimSpace(strings.TrimRight(lower, "kmgtib "))
	unit := strings.TrimSpace(lower[len(number):])
	factor, ok := map[string]float64{
		"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	}[unit]
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v > 0) || math.IsInf(v*factor, 1) {
		return 0, errors.New("it takes a size such as 500MB or 8GB")
	}
	return v * factor, nil
}
