package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// interruptible runs f, which must not write anything, and does not wait for it once ctx ends, so that the program can exit even
// if the library does not check ctx. A panic of f becomes an error of one line.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = guarded(func() (err error) { o.value, err = f(); return err })
		done <- o
	}()
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case o := <-done:
		return o.value, o.err
	}
}

// guarded runs f; a panic becomes an error of one line.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			at := origin(string(debug.Stack()))
			if other, ok := p.(*parallel.Panic); ok {
				p, at = other.Value, origin(string(other.Stack))
			}
			err = fmt.Errorf("internal error: %v (%s): please report it, with the command and the file", p, at)
		}
	}()
	return f()
}

// frame matches a line of a stack that names file and line, with the function above it.
var frame = regexp.MustCompile(`(?m)^(\S+)\(.*\n\t.*?([^/\n]+\.go:\d+)`)

// origin returns file and line of the first panic, given the stack where the last was recovered.
func origin(stack string) string {
	at, panicked := "of unknown origin", false
	for _, f := range frame.FindAllStringSubmatch(stack, -1) {
		switch {
		case f[1] == "panic":
			panicked = true
		case panicked && !strings.HasPrefix(f[1], "runtime."):
			at, panicked = f[2], false
		}
	}
	return at
}

// rendered returns the bytes that write writes.
func rendered(ctx context.Context, write func(io.Writer) error) ([]byte, error) {
	return interruptible(ctx, func() ([]byte, error) {
		var b bytes.Buffer
		err := write(&b)
		return b.Bytes(), err
	})
}

// writeFile writes a file, whole or not at all; nothing if path is "".
func writeFile(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	b, err := rendered(ctx, write)
	if err != nil {
		return err
	}
	return files.WriteBytes(ctx, path, b)
}

// writePieces writes a file as writeFile does, for output as large as a series: write passes it on piece by piece, so that it is
// never in memory as a whole.
func writePieces(ctx context.Context, path string, write func(io.Writer) error) error {
	return files.Write(ctx, path, func(w io.Writer) error {
		b := bufio.NewWriterSize(ending{ctx, w}, 1<<16)
		if err := guarded(func() error { return write(b) }); err != nil {
			return err
		}
		return b.Flush()
	})
}

// ending is a writer that fails once its context has ended.
type ending struct {
	ctx context.Context
	io.Writer
}

func (e ending) Write(b []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Writer.Write(b)
}

// show prints the result of a command: with --json as described, otherwise as text.
func show(ctx context.Context, c *cli.Command, described func() any, text func(io.Writer) error) error {
	if c.Bool("json") {
		return writeJSON(ctx, c, described())
	}
	return print(ctx, c, text)
}

// print copies the output of write to standard output, complete or not at all (except for a broken pipe).
func print(ctx context.Context, c *cli.Command, write func(io.Writer) error) error {
	b, err := rendered(ctx, write)
	if err == nil {
		_, err = c.Root().Writer.Write(b)
	}
	return err
}

func writeJSON(ctx context.Context, c *cli.Command, v any) error {
	return print(ctx, c, func(w io.Writer) error { return indented(w, v) })
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
