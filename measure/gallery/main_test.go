package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testsize"
)

const gallery = "../../docs/gallery"

// TestFiles: the files of the gallery are those that are simulated.
func TestFiles(t *testing.T) {
	for name, text := range files() {
		have, err := os.ReadFile(filepath.Join(gallery, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is not what is simulated: go run ./measure/gallery docs/gallery", name)
		}
	}
}

// TestPages: pages have what their commands print and the Go that is compiled; numbers may differ by half of their last digit and 1e-3.
func TestPages(t *testing.T) {
	m, err := newMaker(t.Context(), gallery)
	if err != nil {
		t.Fatal(err)
	}
	defer m.remove()
	pages, err := filepath.Glob(gallery + "/*.md")
	if err != nil || len(pages) != 1+len(files()) {
		t.Fatalf("%d pages for %d files: %v", len(pages), len(files()), err)
	}
	quick := []string{"README", "shops", "star"}
	for _, path := range pages {
		if testsize.Quick() && !slices.Contains(quick, strings.TrimSuffix(filepath.Base(path), ".md")) {
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, figures, err := m.page(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if !alike(string(have), text) {
			t.Errorf("%s is not what go run ./measure/gallery docs/gallery makes:\n%s", path, text)
		}
		for name := range figures {
			if _, err := os.Stat(filepath.Join(gallery, name)); err != nil {
				t.Error(err)
			}
		}
	}
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// alike reports whether two texts differ in the last digits of their numbers at most.
func alike(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	others := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		v, _ := strconv.ParseFloat(text, 64)
		w, _ := strconv.ParseFloat(others[i], 64)
		_, decimals, _ := strings.Cut(text, ".")
		if math.Abs(v-w) > 1e-3*math.Abs(v)+1.01*math.Pow10(-len(decimals)) {
			return false
		}
	}
	return true
}

func TestAlike(t *testing.T) {
	if !alike("a 0.61 times, 28 steps", "a 0.62 times, 28 steps") || alike("a 0.61 times", "a 0.63 times") || alike("a 0.61", "b 0.61") {
		t.Error("texts are not compared as they should be")
	}
}

func TestFold(t *testing.T) {
	for line := range strings.Lines(fold(strings.Repeat("seven letters ", 30) + "\nshort")) {
		if n := len(line); n > 85 {
			t.Errorf("a line has %d letters: %q", n, line)
		}
	}
	if got := fold("a b\nc"); got != "a b\nc\n" {
		t.Errorf("got %q", got)
	}
}

func TestEnds(t *testing.T) {
	if got := ends("You can use it.\n\nSeries\n  5 values\n\nAt 3 it expects 4.\nwritten: a.svg\n"); got != "You can use it.\n…\nAt 3 it expects 4.\n" {
		t.Errorf("got %q", got)
	}
}
