package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// EnvDir is the environment variable that names a folder with recordings.
const EnvDir = "GPPL_DATA"

// EnvOffline is the environment variable that forbids downloads if it is set, as Options.Offline does. scripts/reproduce.sh
// sets it for the notebooks after it has asked the publishers once.
const EnvOffline = "GPPL_OFFLINE"

// File is a recording that can be looked for by its name, and downloaded if a publisher offers it.
type File struct {
	Name string // base name, or a name in a subfolder with a slash, under which it is looked for and stored
	URL  string // https address at the publisher; empty if it cannot be downloaded
	// SHA256 is the hexadecimal checksum that a download must have; empty where the publisher's file changes, or where the
	// checksum is not known.
	SHA256 string
	// MaxBytes is the largest download that is accepted; 0 means 256 MiB.
	MaxBytes int64

	// known are checksums that a growing file has had; another is a message, not an error.
	known []string

	// check reads a downloaded file before it is given its name, so that a notice served in its place is not stored.
	check func(path string) error

	// made is the command that makes the file, if no publisher has it in this form.
	made string
}

// Options says where recordings are looked for, and how they are downloaded. The zero value is the default.
type Options struct {
	// Path is the recording's own file. If it is set, no other place is searched.
	Path string
	// Offline forbids downloading.
	Offline bool
	// Progress is called during a download with the bytes done and their total (-1 if the publisher does not say), in the
	// goroutine that asked for the download: at its start, after each part, and at its end with done == total. Nil
	// prints a line to Log, redrawn twice a second.
	Progress func(done, total int64)
	// Log takes the progress line. Nil means standard error; io.Discard silences it.
	Log io.Writer
	// URL replaces the publisher's address: a mirror, say. It must be https.
	URL string
	// Client makes the requests. Nil means one with time limits for connecting and for the first answer, and proxies taken
	// from the environment. Whatever the client, a download is given up if it stands still for a minute, and after five minutes.
	Client *http.Client

	// All makes Sunspots return every row of the file, not only those that the paper used.
	All bool

	stall time.Duration // longest time without a byte; 0 means a minute; tests shorten it
	whole time.Duration // longest time of a download; 0 means five minutes; tests shorten it
}

// Find returns the path of a recording. It looks, in this order, at
//
//  1. Options.Path, and then at nothing else,
//  2. the folder that the environment variable GPPL_DATA names,
//  3. the folder data/ under the current folder, and under each folder above it that holds a go.mod,
//  4. the publisher: the file is downloaded into the first folder data/ of step 3 that exists; else into GPPL_DATA's folder if
//     that exists; else data/ is made beside the nearest go.mod or, outside a module, in the current folder.
//
// A download is written to a temporary file in the same folder, checked (length, checksum if known, format), and renamed, so
// a file that Find returns is always whole, also when several processes download it at once.
//
// If the recording is nowhere, the error is a [*NotFoundError]. Find panics if f.Name is not a name of a file in these folders.
func Find(ctx context.Context, f File, opt Options) (string, error) {
	if f.Name == "." || !fs.ValidPath(f.Name) || strings.Contains(f.Name, `\`) {
		panic(fmt.Sprintf("dataset: Find: f.Name = %q is not the name of a file", f.Name))
	}
	if opt.Path != "" {
		if err := isFile(opt.Path); err != nil {
			return "", fmt.Errorf("dataset: the given file: %w", err)
		}
		return opt.Path, nil
	}
	if opt.URL != "" {
		f.URL = opt.URL
	}
	missing := &NotFoundError{File: f}

	env := os.Getenv(EnvDir)
	if path := filepath.Join(env, f.Name); env == "" {
		missing.tried("%s: not set", EnvDir)
	} else if err := isFile(path); err != nil {
		missing.tried("%s: %v", EnvDir, err)
	} else {
		return path, nil
	}

	folders, err := dataFolders()
	if err != nil {
		missing.tried("data/: %v", err)
	}
	for _, dir := range folders {
		path := filepath.Join(dir, f.Name)
		err := isFile(path)
		if err == nil {
			return path, nil
		}
		missing.tried("%v", err)
	}

	switch {
	case f.URL == "":
		missing.tried("download: no publisher is known")
	case opt.Offline || os.Getenv(EnvOffline) != "":
		missing.tried("download from %s: not allowed offline", f.URL)
	case len(folders) == 0:
		missing.tried("download from %s: there is no folder to put it in", f.URL)
	default:
		path, err := download(ctx, f, downloadFolder(folders, env), opt)
		if err == nil {
			return path, nil
		}
		missing.tried("download: %v", err)
		missing.err = err
	}
	return "", missing
}

// NotFoundError says that a recording was not found, where it was looked for, and how to supply it.
type NotFoundError struct {
	File  File
	Tried []string // the places that were tried, in order, each with the reason why it failed
	err   error    // error of the download
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dataset: %s not found; tried, in order:\n", e.File.Name)
	for i, t := range e.Tried {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, t)
	}
	fmt.Fprintf(&b, "Put the file in a folder and set %s=that folder, or give its path.", EnvDir)
	if e.File.URL != "" {
		fmt.Fprintf(&b, " Its publisher has it at %s", e.File.URL)
	}
	if e.File.made != "" {
		fmt.Fprintf(&b, " This makes it: %s", e.File.made)
	}
	return b.String()
}

// Unwrap returns the error of the download, if one was tried.
func (e *NotFoundError) Unwrap() error { return e.err }

// Is reports true for [fs.ErrNotExist].
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

func (e *NotFoundError) tried(format string, args ...any) {
	e.Tried = append(e.Tried, fmt.Sprintf(format, args...))
}

// isFile returns nil if path is a regular file, else an error that holds the path.
func isFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
	}
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// dataFolders returns data/ under the current folder, then under each folder from it upwards that holds a go.mod: a notebook
// runs in notebooks/, a test in its package's folder, and both mean the module's.
func dataFolders() ([]string, error) {
	current, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folders := []string{filepath.Join(current, "data")}
	for dir := current; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "go.mod")) == nil {
			if data := filepath.Join(dir, "data"); !slices.Contains(folders, data) {
				folders = append(folders, data)
			}
		}
		if dir == filepath.Dir(dir) {
			return folders, nil
		}
	}
}

// downloadFolder chooses where a download goes; folders are the result of dataFolders, and not empty.
func downloadFolder(folders []string, env string) string {
	if i := slices.IndexFunc(folders, isFolder); i >= 0 {
		return folders[i]
	}
	if env != "" && isFolder(env) {
		return env
	}
	if isFile(filepath.Join(filepath.Dir(folders[0]), "go.mod")) != nil && len(folders) > 1 {
		return folders[1]
	}
	return folders[0]
}
