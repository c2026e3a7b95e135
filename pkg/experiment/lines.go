package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/sealed"
)

// entry is the content of one line of a file of results; key identifies it.
type entry interface{ key() string }

// lines holds the results in a file of JSON lines. Each result is written as a whole when its run ends, so a killed run loses
// only what is in progress. A later line replaces an earlier one with the same key.
type lines[E entry] struct {
	path string

	mu sync.Mutex
	contents[E]
}

// contents is a file's content in memory.
type contents[E entry] struct {
	entries map[string]E
	texts   map[string][]byte // lines as in the file, including members that this version does not know
	order   []string          // keys in the order of the file
	stale   int               // number of lines that a later one replaced or that were cut off
}

// open reads the file at path; a missing file is empty. A line cut off by a kill or a full disk is skipped. Any other line
// that is no entry or does not match its checksum gives an error that names the line.
func (l *lines[E]) open(path string) (err error) {
	l.path = path
	l.contents, err = readLines[E](path)
	return err
}

func readLines[E entry](path string) (contents[E], error) {
	c := contents[E]{entries: map[string]E{}, texts: map[string][]byte{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var e E
		object, err := sealed.Open(line)
		if err == nil {
			err = json.Unmarshal(object, &e)
		}
		if err != nil {
			if cutOff(line) {
				c.stale++
				continue
			}
			return c, fmt.Errorf("experiment: %s, line %d: %w", path, number, err)
		}
		c.keep(e, line)
	}
	return c, nil
}

// cutOff reports whether the line begins like an entry and is incomplete.
func cutOff(line []byte) bool {
	if line[0] != '{' {
		return false
	}
	var any json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&any), io.ErrUnexpectedEOF)
}

func (c *contents[E]) keep(e E, line []byte) {
	key := e.key()
	if _, ok := c.entries[key]; ok {
		c.stale++
	} else {
		c.order = append(c.order, key)
	}
	c.entries[key], c.texts[key] = e, line
}

func (l *lines[E]) where() string { return l.path }

func (l *lines[E]) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// at returns the entry with a key.
func (l *lines[E]) at(key string) (e E, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok = l.entries[key]
	return e, ok
}

// add appends an entry to the file in one write, with a checksum, and returns it as it will be read back. Once add returns,
// the entry survives a loss of power.
func (l *lines[E]) add(e E) (E, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	var kept E
	if err := json.Unmarshal(text, &kept); err != nil {
		return e, err
	}
	line := sealed.Seal(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(l.path), 0o777); err != nil {
		return e, err
	}
	if err := files.AppendLine(l.path, line); err != nil {
		return e, err
	}
	l.keep(kept, line)
	return kept, nil
}
