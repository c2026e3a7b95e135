package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

const gallery = "../../docs/gallery"

// TestFiles checks that the files of the gallery are the simulated ones.
func TestFiles(t *testing.T) {
	for name, text := range simulated() {
		have, err := os.ReadFile(filepath.Join(gallery, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is not what is simulated: go run ./measure/gallery docs/gallery", name)
		}
	}
}

// TestPages checks that pages have the output of their commands and the Go that is compiled; numbers may differ by 2 %.
func TestPages(t *testing.T) {
	m, err := newMaker(t.Context(), gallery)
	if err != nil {
		t.Fatal(err)
	}
	defer m.remove()
	pages, err := filepath.Glob(gallery + "/*.md")
	if err != nil || len(pages) != 1+len(simulated()) {
		t.Fatalf("%d pages for %d files: %v", len(pages), len(simulated()), err)
	}
	quick := []string{"README", "star"}
	for _, path := range pages {
		if testkit.Quick() && !slices.Contains(quick, strings.TrimSuffix(filepath.Base(path), ".md")) {
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
		if !testkit.Alike(string(have), text, 0.02) {
			t.Errorf("%s is not what go run ./measure/gallery docs/gallery makes:\n%s", path, text)
		}
		if len(figures) == 0 && strings.Contains(text, "--figure") {
			t.Errorf("%s shows no figure", path)
		}
		for name := range figures {
			for _, image := range []string{name, strings.TrimSuffix(name, ".svg") + "-narrow.svg"} {
				if _, err := os.Stat(filepath.Join(gallery, image)); err != nil {
					t.Error(err)
				}
			}
		}
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
