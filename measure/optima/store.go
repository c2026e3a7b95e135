package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// A store keeps outcomes in a file, a line of JSON each, so that an interrupted run goes on where it ended.
type store struct {
	file *os.File // nil: nothing is kept
	lock sync.Mutex
	have map[string]outcome
}

type line struct {
	Pair string
	outcome
}

// open reads a file of outcomes, if there is one.
func open(path string) (*store, error) {
	s := &store{have: map[string]outcome{}}
	if path == "" {
		return s, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s.file = f
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.have[l.Pair] = l.outcome
	}
	return s, in.Err()
}

// outcome returns what is stored under a name, or computes and stores it.
func (s *store) outcome(name string, compute func() outcome) outcome {
	if o, ok := s.have[name]; ok {
		return o
	}
	o := compute()
	if s.file != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		if text, err := json.Marshal(line{name, o}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		} else if _, err := fmt.Fprintf(s.file, "%s\n", text); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return o
}
