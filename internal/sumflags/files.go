package sumflags

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/projected-likelihood/gppl/internal/atomicfile"
)

// Files returns the files that match the patterns or have these names, sorted. It is an error if a pattern matches none, or if
// two match the same file, whose rows would count twice.
func Files(patterns []string) (files []string, err error) {
	for _, p := range patterns {
		if _, err := os.Stat(p); err == nil { // a name may have brackets
			files = append(files, p)
			continue
		}
		some, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%s: there is no such file", p)
		}
		files = append(files, some...)
	}
	slices.Sort(files)
	return files, atomicfile.Distinct(files)
}

// Apart returns an error if the output is one of the files or the one of --like.
func (f *Flags) Apart(files []string, output atomicfile.Name) error {
	inputs := []atomicfile.Name{{Flag: "like", Path: f.Like}}
	for _, path := range files {
		inputs = append(inputs, atomicfile.Name{Path: path})
	}
	return atomicfile.Apart(inputs, []atomicfile.Name{output})
}
