package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/internal/atomicfile"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// sumState is what gppl sum --resume keeps beside its output until that is written: what was read, in a line of JSON, and then
// its sums. They are one file, so that neither can exist without the other.
type sumState struct {
	Files   []readFile           `json:"files"`
	Options forecast.ReadOptions `json:"options"`
	Flags   map[string]string    `json:"flags,omitempty"` // that the header is from
	Axis    forecast.OneAxis     `json:"axis"`
	Rows    int                  `json:"rows"`
	Skipped int                  `json:"skipped"`
	Bad     int                  `json:"bad"`
}

// readFile is a file that was read, as it was then.
type readFile struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// statePath returns the path of the state of an output.
func statePath(out string) string { return out + ".partial" }

func readFileOf(path string) (f readFile, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	path, err = filepath.Abs(path)
	return readFile{path, info.Size(), info.ModTime().UTC()}, err
}

// resume loads the state of an earlier run and removes the files that it read from those to be read, once for each time it read
// them. The sums are nil if there is no state.
func (s *summer) resume(ctx context.Context, out string) (*sums.Sums, error) {
	path := statePath(out)
	limit, err := memoryLimit(ctx, s.command)
	if err != nil {
		return nil, err
	}
	b, err := sumflags.ReadBytes(path, "{", limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, memoryHint(s.command, err)
	}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var state sumState
	sums := new(sums.Sums)
	if err := errors.Join(sealed.Unmarshal(line, &state), sums.UnmarshalBinary(rest)); err != nil {
		return nil, fmt.Errorf("%s: %s: delete it to begin anew", path, message(err))
	}
	now, err := json.Marshal(sumState{Options: s.options, Flags: s.headerFlags()})
	if err != nil {
		return nil, err
	}
	if before, err := json.Marshal(sumState{Options: state.Options, Flags: state.Flags}); err != nil || !bytes.Equal(now, before) {
		return nil, fmt.Errorf("%s is of a run with other flags: give the same flags, or delete it to begin anew", path)
	}
	var left []string
	done := slices.Clone(state.Files)
	for _, file := range s.files {
		now, err := readFileOf(file)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(done, func(f readFile) bool { return f.Path == now.Path })
		if i < 0 {
			left = append(left, file)
			continue
		}
		if done[i].Size != now.Size || !done[i].Modified.Equal(now.Modified) {
			return nil, fmt.Errorf("%s has changed since it was read: delete %s to begin anew", file, path)
		}
		done = slices.Delete(done, i, i+1)
	}
	if len(done) > 0 {
		return nil, fmt.Errorf("%s holds %s, which is not among the files: name it too, or delete %s to begin anew",
			path, done[0].Path, path)
	}
	s.state, s.files = state, left
	s.rows, s.skipped, s.bad = state.Rows, state.Skipped, state.Bad
	return sums, nil
}

// headerFlags returns the flags that determine the header, as they were given.
func (s *summer) headerFlags() map[string]string {
	given := map[string]string{}
	for _, name := range append([]string{"like"}, sumflags.Names...) {
		if s.command.IsSet(name) {
			given[name] = fmt.Sprint(s.command.Value(name))
		}
	}
	return given
}

// keep writes the state after one more file, with the sums of all workers merged.
func (s *summer) keep(out, file string) error {
	for i, part := range s.parts[1:] {
		if err := s.parts[0].Merge(part); err != nil {
			return err
		}
		fresh, err := sums.New(s.header)
		if err != nil {
			return err
		}
		s.parts[i+1] = fresh
	}
	read, err := readFileOf(file)
	if err != nil {
		return err
	}
	s.state.Files = append(s.state.Files, read)
	s.state.Flags = s.headerFlags()
	s.state.Options, s.state.Rows, s.state.Skipped, s.state.Bad = s.options, s.rows, s.skipped, s.bad
	line, err := json.Marshal(s.state)
	if err != nil {
		return err
	}
	b, err := s.parts[0].MarshalBinary()
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(statePath(out), slices.Concat(sealed.Seal(line), []byte("\n"), b))
}
