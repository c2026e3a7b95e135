package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/text"
)

// A Store keeps the outcomes of the paper's trials in a file of JSON lines (see lines). Several programs may add to one file
// and tidy it at once: each holds a lock, a file beside the store, while it writes.
type Store struct {
	lines[Outcome]

	without map[string]Outcome // outcomes of unavailable recordings, from another file
}

func (o Outcome) key() string { return o.Key }

// OpenStore reads the store at path; a missing file is an empty store. A line cut off by a kill or a full disk is skipped. Any
// other line that is no outcome or does not match its checksum gives an error that names the line. Lines of older files have
// no checksum.
func OpenStore(path string) (*Store, error) {
	s := &Store{}
	if err := s.open(path); err != nil {
		return nil, err
	}
	return s, nil
}

// Get returns the stored outcome of a trial: for the recording on this machine, else for the recording behind the results in
// the repository.
func (s *Store) Get(t Trial) (Outcome, bool) {
	keys := t.keys()
	lost := t.Source.unavailable() != nil
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if o, ok := s.entries[key]; ok {
			return o, true
		}
		if o, ok := s.without[key]; ok && lost {
			return o, true
		}
	}
	return Outcome{}, false
}

// keys returns the keys under which a result may be stored, in the order of preference: for the recording on this machine, if
// it is available, and for the recording behind the results in the repository.
func (t Trial) keys() (keys []string) {
	if key, err := t.Key(); err == nil {
		keys = append(keys, key)
	}
	if data, ok := known[t.Source]; ok {
		if key, err := t.keyOf(data); err == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Outcomes returns all that is stored, in the order of the file.
func (s *Store) Outcomes() []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Outcome, 0, len(s.order))
	for _, key := range s.order {
		all = append(all, s.entries[key])
	}
	return all
}

// Put appends an outcome to the file in one write. Once it returns, the outcome survives a loss of power.
func (s *Store) Put(o Outcome) error {
	if _, err := s.add(o.rounded()); err != nil {
		return fmt.Errorf("experiment: %v: %w", o.Trial, err)
	}
	return nil
}

// Tidy rewrites the file, completely or not at all: first the outcomes of the trials, in their order, then all others
// unchanged. It drops only lines that later ones replaced or that were cut off. Other programs wait before they add to the
// file. If the file is tidy, Tidy touches neither it nor its folder.
func (s *Store) Tidy(trials []Trial) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, tidy, err := s.read(trials); tidy || err != nil {
		return err
	}
	unlock, err := files.Lock(s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	keys, tidy, err := s.read(trials) // another program may have added to the file
	if tidy || err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, key := range keys {
		lines.Write(s.texts[key])
		lines.WriteByte('\n')
	}
	if err := files.WriteBytes(context.Background(), s.path, lines.Bytes()); err != nil {
		return err
	}
	s.order, s.stale = keys, 0
	return nil
}

// read reads the file again. It returns the keys in the order of a tidy file, and whether the file is tidy already.
func (s *Store) read(trials []Trial) (keys []string, tidy bool, err error) {
	now, err := readLines[Outcome](s.path)
	if err != nil {
		return nil, false, err
	}
	s.contents = now
	listed := map[string]bool{}
	add := func(key string) {
		if _, ok := s.entries[key]; ok && !listed[key] {
			listed[key] = true
			keys = append(keys, key)
		}
	}
	for _, t := range trials {
		for _, key := range t.keys() {
			if _, ok := s.entries[key]; ok {
				add(key)
				break
			}
		}
	}
	for _, key := range s.order {
		add(key)
	}
	return keys, s.stale == 0 && slices.Equal(keys, s.order), nil
}

// rounded returns the outcome with ten digits per number, and fewer for standard errors and times, to keep the files small.
func (o Outcome) rounded() Outcome {
	for _, v := range []*float64{&o.NLL, &o.StartNLL, &o.Value, &o.Variance} {
		*v = text.Rounded(*v, 10)
	}
	for _, v := range []*float64{&o.Setup, &o.Fit, &o.Inexact} {
		*v = text.Rounded(*v, 4)
	}
	for _, v := range []struct {
		numbers *[]float64
		digits  int
	}{{&o.Theta, 10}, {&o.Inducing, 10}, {&o.StdErr, 6}, {&o.Kept, 4}} {
		*v.numbers = slices.Clone(*v.numbers)
		for i := range *v.numbers {
			(*v.numbers)[i] = text.Rounded((*v.numbers)[i], v.digits)
		}
	}
	o.Steps = slices.Clone(o.Steps)
	for i := range o.Steps {
		o.Steps[i].NLL, o.Steps[i].Seconds = text.Rounded(o.Steps[i].NLL, 10), text.Rounded(o.Steps[i].Seconds, 4)
	}
	return o
}
