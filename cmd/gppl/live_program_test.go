package main

import (
	"errors"
	"strings"
	"testing"
)

// TestLiveProgram: a build has the whole program, or says how to get it.
func TestLiveProgram(t *testing.T) {
	p, err := liveProgram()
	switch {
	case errors.Is(err, errNoProgram):
		t.Log(err)
	case err != nil:
		t.Fatal(err)
	case !strings.Contains(p.Worker, "WebAssembly") || len(p.Packed) < 100_000 || len(p.Worker)+len(p.Packed) > 2_200_000:
		t.Errorf("a worker of %d bytes and a program of %d", len(p.Worker), len(p.Packed))
	}
}
