package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/projected-likelihood/gppl/pkg/viz"
	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

//go:generate python3 -B ../../scripts/report/live.py built

// built holds the program that lets figures of a page compute (cmd/gppl-live). The repository does not contain it: go generate
// compiles it and compresses it, with Python's LZMA, and later builds embed it.
//
//go:embed all:built
var built embed.FS

// errNoProgram says that the command was built without the program.
var errNoProgram = errors.New("this gppl was built without the program for live figures, or with one from other sources; " +
	"release files contain it; in a clone, go generate ./cmd/gppl && go install ./cmd/gppl adds it")

// liveProgram returns the program and its worker. The error is errNoProgram if go generate has not made it, or has made it
// from other sources of pkg/viz/live.
func liveProgram() (*viz.Program, error) {
	of, err := built.ReadFile("built/sources")
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(of) != live.Sources() {
		return nil, errNoProgram // a program of another pkg/viz/live may not understand the figures of this one
	}
	worker, err := built.ReadFile("built/worker.js")
	if err == nil {
		var program []byte
		if program, err = built.ReadFile("built/program.txt"); err == nil {
			return &viz.Program{Worker: string(worker), Packed: string(program)}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoProgram
	}
	return nil, fmt.Errorf("live figures: %w", err)
}
