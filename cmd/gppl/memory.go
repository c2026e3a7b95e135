package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/machine"
	library "github.com/projected-likelihood/gppl/pkg/gppl"
)

func memoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", HideDefault: true, Category: "THE WORK",
		Usage: "`SIZE` of memory to use at most, such as 500MB or 8GB, by forecasts: what would take more is refused before it begins, unless a way that takes less is known; half of what is available if not given"}
}

// leastMemory is less than the program itself takes.
const leastMemory = 10e6

// available is what there was when it was first asked: the limit that is told to the runtime afterwards does not halve it again.
var available = sync.OnceValues(machine.Memory)

// memoryLimit returns the bytes of --memory, as far as there are as many, or, without the flag, half of what
// is shared with other processes and all that the limits of this one leave, divided among those that work at the same time.
func memoryLimit(ctx context.Context, c *cli.Command) (float64, error) {
	shared, own := available()
	limit := min(0.5*shared, own)
	if text := c.String("memory"); text != "" {
		var err error
		if limit, err = parseBytes(text); err != nil {
			return 0, usageError{fmt.Errorf("--memory %s: %w", text, err)}
		}
		if limit < leastMemory {
			return 0, usageError{fmt.Errorf("--memory %s: gppl itself takes %s", text, library.FormatBytes(leastMemory))}
		}
		limit = min(limit, shared, own) // the runtime cannot recover from memory that is not there
	}
	if ownProcess(ctx) {
		debug.SetMemoryLimit(int64(min(limit, math.MaxInt64/2)))
	}
	if n, ok := ctx.Value(sharers{}).(int); ok {
		limit /= float64(n)
	}
	return limit, nil
}

// sharers is the key of the number of tasks that share the limit.
type sharers struct{}

// process is the key of a context whose commands own the process: they may tell the runtime of the limit.
type process struct{}

func ownProcess(ctx context.Context) bool { return ctx.Value(process{}) != nil }

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

// memoryHint says what to do about a limit of memory.
func memoryHint(c *cli.Command, err error) error {
	if memory := (*library.MemoryError)(nil); errors.As(err, &memory) {
		remedy := "--memory raises the limit"
		switch c.Name {
		case "fit", "compare", "backtest":
			remedy += ", --last N takes fewer observations, and gppl sum files of any size"
		}
		return worded{fmt.Sprintf("%s: %s", message(memory), remedy), err}
	}
	return err
}

// worded is an error in other words.
type worded struct {
	text string
	error
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.error }

// refuseMemory returns an error if a forecast is above the limit.
func refuseMemory(what string, needed, limit float64) error {
	if needed > limit {
		return &library.MemoryError{What: what, Needed: needed, Limit: limit}
	}
	return nil
}
