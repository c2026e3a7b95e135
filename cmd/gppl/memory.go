package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/machine"
	library "github.com/projected-likelihood/gppl/pkg/gppl"
)

func memoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", HideDefault: true, Category: "THE WORK",
		Usage: "`SIZE` of memory to use at most, such as 500MB or 8GB, by forecasts: what would take more is refused " +
			"before it begins, unless a way that takes less is known; half of what is available if not given"}
}

// memoryLimit returns the bytes of --memory (machine.Limit), divided among those that work at the same time.
func memoryLimit(ctx context.Context, c *cli.Command) (float64, error) {
	limit, err := machine.Limit(c.String("memory"))
	if err != nil {
		return 0, usageError{err}
	}
	if ownProcess(ctx) {
		machine.KeepTo(limit)
	}
	if taken, ok := ctx.Value(held{}).(float64); ok {
		limit = max(1, limit-taken)
	}
	if n, ok := ctx.Value(sharers{}).(int); ok {
		limit /= float64(n)
	}
	return limit, nil
}

// sharers is the key of the number of tasks that share the limit.
type sharers struct{}

// held is the key of the bytes taken by series that were read before.
type held struct{}

func ownProcess(ctx context.Context) bool { return ctx.Value(process{}) != nil }

// memoryHint adds to an error of memory what to do about it; others stay as they are.
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

// process is the key of a context whose commands own the process: they may set the memory limit of the runtime.
type process struct{}

// frugal collects garbage once it takes a quarter of the live memory, not as much as that, if the command owns its process. Sums
// are large arrays without pointers, so this costs little.
func frugal(ctx context.Context) {
	if ownProcess(ctx) {
		debug.SetGCPercent(25)
	}
}
