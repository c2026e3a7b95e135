package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Store keeps outcomes in a file of JSON lines, each written whole as it ends, so that a killed run loses only what was
// running. A later line of the same key counts in the place of an earlier one.
type Store struct {
	path string

	mu       sync.Mutex
	outcomes map[string]Outcome
	order    []string // keys in the order of the file
	stale    int      // lines that a later one replaced
}

// OpenStore reads the store at path; a file that does not exist is an empty store. A last line that was cut off is left out. It is
// an error if another line is not an outcome; it names the line.
func OpenStore(path string) (*Store, error) {
	s := &Store{path: path, outcomes: map[string]Outcome{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	complete := len(text) == 0 || text[len(text)-1] == '\n'
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var o Outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			if !complete && bytes.HasSuffix(text, lines.Bytes()) {
				break // killed while it was written
			}
			return nil, fmt.Errorf("experiment: %s, line %d: %w", path, number, err)
		}
		s.keep(o)
	}
	return s, lines.Err()
}

func (s *Store) keep(o Outcome) {
	if _, ok := s.outcomes[o.Key]; ok {
		s.stale++
	} else {
		s.order = append(s.order, o.Key)
	}
	s.outcomes[o.Key] = o
}

// Get returns the outcome of a trial, if it is stored.
func (s *Store) Get(t Trial) (Outcome, bool) {
	key, err := t.Key()
	if err != nil {
		return Outcome{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.outcomes[key]
	return o, ok
}

// Outcomes returns all that is stored, in the order of the file.
func (s *Store) Outcomes() []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Outcome, 0, len(s.order))
	for _, key := range s.order {
		all = append(all, s.outcomes[key])
	}
	return all
}

// Put appends an outcome to the file, in one write.
func (s *Store) Put(o Outcome) error {
	o = o.rounded()
	line, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("experiment: %v: %w", o.Trial, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if err := dropCutOff(f); err != nil {
		f.Close()
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	s.keep(o)
	return nil
}

// dropCutOff ends the file after its last whole line: what follows is of a run that was killed while it wrote.
func dropCutOff(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	for b := make([]byte, 1); end > 0; end-- {
		if _, err := f.ReadAt(b, end-1); err != nil {
			return err
		}
		if b[0] == '\n' {
			break
		}
	}
	if end == info.Size() {
		return nil
	}
	return f.Truncate(end)
}

// Tidy rewrites the file, whole or not at all: without lines that later ones replaced or that belong to none of the trials, in the
// order of the trials.
func (s *Store) Tidy(trials []Trial) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, t := range trials {
		key, err := t.Key()
		if err != nil {
			return err
		}
		if _, ok := s.outcomes[key]; ok && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if s.stale == 0 && slices.Equal(keys, s.order) {
		return nil
	}
	var text strings.Builder
	kept := map[string]Outcome{}
	for _, key := range keys {
		line, err := json.Marshal(s.outcomes[key].rounded())
		if err != nil {
			return err
		}
		kept[key] = s.outcomes[key]
		text.Write(line)
		text.WriteByte('\n')
	}
	part, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // where it was not renamed
	if _, err := part.WriteString(text.String()); err != nil {
		part.Close()
		return err
	}
	if err := errors.Join(part.Chmod(0o644), part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), s.path); err != nil {
		return err
	}
	s.outcomes, s.order, s.stale = kept, keys, 0
	return nil
}

// rounded returns the outcome with ten digits of each number and four of each time: what is more is noise, and makes files large.
func (o Outcome) rounded() Outcome {
	for _, v := range []*float64{&o.NLL, &o.StartNLL, &o.Value, &o.Variance} {
		*v = significant(*v, 10)
	}
	for _, v := range []*float64{&o.Setup, &o.Fit, &o.Inexact} {
		*v = significant(*v, 4)
	}
	for _, v := range []*[]float64{&o.Theta, &o.StdErr, &o.Inducing, &o.Kept} {
		*v = slices.Clone(*v)
		for i := range *v {
			(*v)[i] = significant((*v)[i], 10)
		}
	}
	o.Steps = slices.Clone(o.Steps)
	for i := range o.Steps {
		o.Steps[i].NLL, o.Steps[i].Seconds = significant(o.Steps[i].NLL, 10), significant(o.Steps[i].Seconds, 4)
	}
	return o
}

// significant rounds v to a number of significant digits.
func significant(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v // beyond the range of float64 once rounded up
	}
	return r
}
