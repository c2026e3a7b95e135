package sumflags

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/projected-likelihood/gppl/internal/files"
)

// Files returns the files that match the patterns or have these names, sorted. It is an error if a pattern matches none, or if
// two match the same file, whose rows would count twice.
func Files(patterns []string) (paths []string, err error) {
	for _, p := range patterns {
		if _, err := os.Stat(p); err == nil { // a name may have brackets
			paths = append(paths, p)
			continue
		}
		some, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%s: there is no such file", p)
		}
		paths = append(paths, some...)
	}
	slices.Sort(paths)
	return paths, files.Distinct(paths)
}

// Apart returns an error if the output is one of the paths or the one of --like.
func (f *Flags) Apart(paths []string, output files.Name) error {
	inputs := []files.Name{{Flag: "like", Path: f.Like}}
	for _, path := range paths {
		inputs = append(inputs, files.Name{Path: path})
	}
	return files.Apart(inputs, []files.Name{output})
}
