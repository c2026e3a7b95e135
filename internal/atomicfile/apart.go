package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Name is a file as it was given: by a flag, or as an argument if the flag is "".
type Name struct {
	Flag, Path string
	File       *os.File // as it was opened before, such as standard input; nil for the file at the path
}

func (n Name) String() string {
	if n.Flag == "" {
		return n.Path
	}
	return "--" + n.Flag + " " + n.Path
}

// ConflictError is that an output would overwrite an input or another output.
type ConflictError struct {
	Output, Other Name
	Input         bool // Other is an input
	Only          bool // and there is no other input
}

func (e *ConflictError) Error() string {
	switch {
	case !e.Input:
		return fmt.Sprintf("--%s and --%s both name %s", e.Other.Flag, e.Output.Flag, e.Output.Path)
	case e.Only:
		return fmt.Sprintf("%v: that is the input file", e.Output)
	case e.Other.Path == e.Output.Path && e.Other.Flag == "":
		return fmt.Sprintf("%v: that is an input file", e.Output)
	default:
		return fmt.Sprintf("%v: that is an input file, %v", e.Output, e.Other)
	}
}

// Apart returns a [*ConflictError] if an output is an input or another output, by whatever name, link or case of letters, or will
// be once it is written, or if writing it would remove an input as the leftover of a killed writer. Empty paths are left out.
// Devices and pipes may be named several times. An output may also be an open file, such as standard output: Write then adds to
// it.
func Apart(inputs, outputs []Name) error {
	seen := map[bucket][]seenFile{}
	count := 0
	for _, n := range inputs {
		if n.Path == "" {
			continue
		}
		count++
		if p, ok := placeOf(n); ok {
			seen[p.bucket()] = append(seen[p.bucket()], seenFile{n, p, true})
		}
		if target := targetOf(n.Path); target != "" {
			if p, ok := placeOf(Name{Path: target}); ok {
				seen[p.bucket()] = append(seen[p.bucket()], seenFile{n, p, true})
			}
		}
	}
	for _, n := range outputs {
		p, ok := placeOf(n)
		if n.Path == "" || !ok {
			continue
		}
		for _, other := range seen[p.bucket()] {
			if p.same(other.place) && (other.input || n.File == nil) {
				return &ConflictError{n, other.name, other.input, count == 1}
			}
		}
		if n.File == nil {
			seen[p.bucket()] = append(seen[p.bucket()], seenFile{n, p, false})
		}
	}
	return nil
}

// Distinct returns an error if two of the paths are the same file, by whatever name or link: its contents would count twice.
// Paths that lead to no regular file are left out.
func Distinct(paths []string) error {
	seen := map[bucket][]seenFile{}
	for _, path := range paths {
		p, ok := placeOf(Name{Path: path})
		if !ok || p.file == nil {
			continue
		}
		for _, other := range seen[p.bucket()] {
			switch {
			case other.name.Path == path:
				return fmt.Errorf("%s is named twice, and would count twice", path)
			case p.same(other.place):
				return fmt.Errorf("%s is %s by another name, and would count twice", path, other.name)
			}
		}
		seen[p.bucket()] = append(seen[p.bucket()], seenFile{Name{Path: path}, p, true})
	}
	return nil
}

type seenFile struct {
	name  Name
	place place
	input bool
}

// place is a file, or where one will be: the names under a folder that exists.
type place struct {
	file   fs.FileInfo // nil if there is none
	folder fs.FileInfo
	within string // the path of the folder
	rest   string
}

// placeOf returns where a name leads. It is false for what is no regular file, and where the path leads nowhere.
func placeOf(n Name) (place, bool) {
	var info fs.FileInfo
	var err error
	if n.File != nil {
		info, err = n.File.Stat()
	} else {
		info, err = os.Stat(n.Path)
	}
	if err == nil {
		return place{file: info}, info.Mode().IsRegular()
	}
	if n.File != nil {
		return place{}, false
	}
	target, err := resolved(n.Path)
	if err != nil {
		return place{}, false
	}
	p := place{within: target}
	for {
		p.rest = filepath.Join(filepath.Base(p.within), p.rest)
		above := filepath.Dir(p.within)
		if above == p.within {
			return p, false
		}
		p.within = above
		if p.folder, err = os.Stat(above); err == nil {
			return p, true
		}
	}
}

// bucket is equal for places that are the same.
type bucket struct {
	number uint64
	rest   string
}

func (p place) bucket() bucket {
	if p.file != nil {
		return bucket{number: number(p.file)}
	}
	return bucket{number(p.folder), strings.ToLower(p.rest)}
}

func (p place) same(q place) bool {
	if p.file != nil || q.file != nil {
		return p.file != nil && q.file != nil && os.SameFile(p.file, q.file)
	}
	return os.SameFile(p.folder, q.folder) && (p.rest == q.rest || strings.EqualFold(p.rest, q.rest) && foldsCase(p.within))
}

// foldsCase reports whether a folder treats names that differ only by the case of letters as the same: it makes a file and looks
// for it by the other name. It is false where no file can be made.
func foldsCase(folder string) bool {
	f, err := create(filepath.Join(folder, "case"), nil)
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	defer f.Close()
	return isAt(f, filepath.Join(folder, strings.ToUpper(filepath.Base(f.Name()))))
}

// resolved returns the path without links of a file that may not exist. A link to what does not exist is followed too.
func resolved(path string) (string, error) {
	const mostLinks = 255 // as Linux and path/filepath have it
	for range mostLinks {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Abs(target)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// Not filepath.Dir, which takes link/.. for the folder that has the link.
		folder, name := filepath.Split(path)
		if folder == "" {
			folder = "." + string(filepath.Separator)
		}
		if name == "" || name == "." || name == ".." {
			return "", err
		}
		if to, err := os.Readlink(path); err == nil {
			if path = to; !filepath.IsAbs(to) {
				path = folder + to
			}
			continue
		}
		if folder == path { // "", and the root
			return "", err
		}
		above, err := resolved(trimmed(folder))
		return filepath.Join(above, name), err
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}

// trimmed returns a folder without separators at its end, unless it is the root.
func trimmed(folder string) string {
	end := len(folder)
	for end > len(filepath.VolumeName(folder))+1 && os.IsPathSeparator(folder[end-1]) {
		end--
	}
	return folder[:end]
}
