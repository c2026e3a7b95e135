package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/projected-likelihood/gppl/internal/files"
)

// A store keeps outcomes in a file of JSON lines, so that an interrupted run can be continued.
type store struct {
	path string // "": nothing is stored
	have map[string]outcome
	lock sync.Mutex
	err  error // first error of writing
}

type line struct {
	Pair string
	outcome
}

// open reads a file of outcomes if it exists. A line that a killed run left incomplete is computed again.
func open(path string) (*store, error) {
	s := &store{path: path, have: map[string]outcome{}}
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	for text := range bytes.Lines(text) {
		var l line
		if json.Unmarshal(text, &l) == nil {
			s.have[l.Pair] = l.outcome
		}
	}
	return s, err
}

// outcome returns what is stored under a name, or computes and stores it.
func (s *store) outcome(name string, compute func() outcome) outcome {
	if o, ok := s.have[name]; ok {
		return o
	}
	o := compute()
	if s.path == "" {
		return o
	}
	text, err := json.Marshal(line{name, o})
	if err == nil {
		err = files.AppendLine(s.path, text)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %w", s.path, err)
	}
	return o
}
