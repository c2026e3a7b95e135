// Package theory checks what the paper of Cazelles and Tobar states about the information that projections lose (its sections 3.2
// and 4), using this project's own code, and measures what they keep.
//
// Theorem and Spectrum compute. Their results are plain structs for notebooks 03 and 04. Numbers turns each into a flat map of
// named numbers; Results stores it in a file, and Verdicts judges it.
package theory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// Results are measured numbers by name, such as "theorem.routes.worst".
type Results map[string]float64

// Load reads the results stored at path. A missing file has none.
func Load(path string) (Results, error) {
	r, err := Read[Results](path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Results{}, nil
	case err != nil:
		return nil, err
	}
	return *r, nil
}

// Save adds the results to the file at path, rounded to six significant digits. A result replaces the stored one of the same
// name, unless they differ only by rounding, which varies between machines. Save returns an error if a number is not finite.
func (r Results) Save(path string) error {
	all, err := Load(path)
	if err != nil {
		return err
	}
	for name, v := range r {
		if !numeric.IsFinite(v) {
			return fmt.Errorf("theory: %s = %v is not finite", name, v)
		}
		v = text.Rounded(v, 6)
		if old, ok := all[name]; !ok || !sameButRounding(old, v) {
			all[name] = v
		}
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return replace(path, b)
}

// sameButRounding reports whether two numbers agree in the first five digits, or are both rounding errors.
func sameButRounding(a, b float64) bool {
	const digits, noise = 1e-5, 1e-9
	return math.Abs(a-b) <= digits*math.Abs(a) || math.Abs(a) < noise && math.Abs(b) < noise
}

// ResultsPath returns the file with the numbers of a scale, relative to the folder of the notebooks. The file at full scale is
// committed.
func ResultsPath(scale scales.Scale) string {
	return scales.Pick(scale, "results/theory.json", "out/theory-smoke.json")
}

// Write stores v, such as a *TheoremResults, as JSON at path.
func Write(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("theory: %s: %w", path, err)
	}
	return replace(path, text)
}

// Read returns what Write stored at path.
func Read[T any](path string) (*T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("theory: %s: %w", path, err)
	}
	return v, nil
}

// replace writes a file either completely or not at all.
func replace(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.WriteBytes(context.Background(), path, append(text, '\n'))
}

// add stores the median and the range over seeds in r, under three names.
func (r Results) add(name string, v []float64) {
	r[name+".median"], r[name+".lowest"], r[name+".highest"] = numeric.Median(v), slices.Min(v), slices.Max(v)
}
