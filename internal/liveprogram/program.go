// Package liveprogram is the program that lets figures of a page compute (cmd/gppl-live), as embedded in the commands built with
// it. It is no file of the repository: go generate compiles it and compresses it, with Python's LZMA, and later builds embed it.
package liveprogram

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/projected-likelihood/gppl/internal/live"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

//go:generate python3 -B ../../scripts/report/live.py built

//go:embed all:built
var built embed.FS

// ErrAbsent says that the command was built without the program.
var ErrAbsent = errors.New("this gppl was built without the program for live figures, or with one from other sources; release" +
	" files contain it; in a clone, go generate ./internal/liveprogram && go install ./cmd/gppl adds it")

// Load returns the program and its worker. The error is ErrAbsent if go generate has not made it, or made it of another
// internal/live.
func Load() (*viz.Program, error) {
	of, err := built.ReadFile("built/sources")
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(of) != live.Sources() {
		return nil, ErrAbsent // made of another internal/live, it may not understand the figures of this one
	}
	worker, err := built.ReadFile("built/worker.js")
	if err == nil {
		var program []byte
		if program, err = built.ReadFile("built/program.txt"); err == nil {
			return &viz.Program{Worker: string(worker), Packed: string(program)}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	return nil, fmt.Errorf("liveprogram: %w", err)
}
