package files

import (
	"fmt"
	"io/fs"
	"os"
)

// A Name is a file as it was given: by a flag, or as an argument if the flag is "".
type Name struct {
	Flag, Path string
	File       *os.File // file that was opened before, such as standard input; nil for the file at the path
}

func (n Name) String() string {
	if n.Flag == "" {
		return n.Path
	}
	return "--" + n.Flag + " " + n.Path
}

// ConflictError says that an output would overwrite an input or another output.
type ConflictError struct {
	Output, Other Name
	Input         bool // Other is an input
	Only          bool // Other is the only input
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

// Apart returns a [*ConflictError] if an output is an input or another output, by whatever name or link, or will be once it is
// written. Empty paths are left out. Devices and pipes may be named several times. An output may also be an open file, such as
// standard output: Write then adds to it.
func Apart(inputs, outputs []Name) error {
	known := map[key][]namedFile{}
	count := 0
	for _, n := range inputs {
		if n.Path == "" {
			continue
		}
		count++
		if p, ok := placeOf(n); ok {
			known[p.key()] = append(known[p.key()], namedFile{n, p, true})
		}
	}
	for _, n := range outputs {
		p, ok := placeOf(n)
		if n.Path == "" || !ok {
			continue
		}
		for _, other := range known[p.key()] {
			if p.same(other.place) && (other.input || n.File == nil) {
				return &ConflictError{n, other.name, other.input, count == 1}
			}
		}
		if n.File == nil {
			known[p.key()] = append(known[p.key()], namedFile{n, p, false})
		}
	}
	return nil
}

// Distinct returns an error if two of the paths are the same file, by whatever name or link: its contents would count twice.
// Paths that lead to no regular file are left out.
func Distinct(paths []string) error {
	known := map[key][]namedFile{}
	for _, path := range paths {
		p, ok := placeOf(Name{Path: path})
		if !ok || p.file == nil {
			continue
		}
		for _, other := range known[p.key()] {
			if p.same(other.place) {
				return fmt.Errorf("%s is a file that is named already, as %s, and would count twice", path, other.name)
			}
		}
		known[p.key()] = append(known[p.key()], namedFile{Name{Path: path}, p, true})
	}
	return nil
}

type namedFile struct {
	name  Name
	place place
	input bool
}

// place is a file, or the place where one will be.
type place struct {
	file fs.FileInfo // nil if there is none
	path string      // path without links of a file that does not exist
}

// placeOf returns where a name leads. It returns false for anything but a regular file, and if the path leads nowhere.
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
	path, err := resolved(n.Path)
	return place{path: path}, err == nil
}

// key is equal for places that are the same: os.SameFile tells two files apart, and this saves it from comparing all pairs.
type key struct {
	size, modified int64
	path           string
}

func (p place) key() key {
	if p.file != nil {
		return key{size: p.file.Size(), modified: p.file.ModTime().UnixNano()}
	}
	return key{path: p.path}
}

func (p place) same(q place) bool {
	if p.file == nil || q.file == nil {
		return p.file == nil && q.file == nil && p.path == q.path
	}
	return os.SameFile(p.file, q.file)
}
