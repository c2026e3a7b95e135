package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApart wants no input to be overwritten, by whatever name the output has.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(file, []byte("t,y\n1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	soft, hard, like := filepath.Join(dir, "soft"), filepath.Join(dir, "hard"), filepath.Join(dir, "like.sums")
	for _, err := range []error{os.Symlink(file, soft), os.Link(file, hard), os.WriteFile(like, nil, 0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { *output, header.Like = "", "" })
	header.Like = like
	for _, out := range []string{file, filepath.Join(dir, ".") + "/./a.csv", soft, hard, like} {
		*output = out
		err := spared([]string{filepath.Join(dir, "*.csv")})
		if err == nil || !strings.Contains(err.Error(), filepath.Base(out)) || !strings.Contains(err.Error(), "that is an input file") {
			t.Errorf("%s: %v", out, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "t,y\n1,2\n3,4\n" {
		t.Errorf("%q, %v", b, err)
	}
	if *output = filepath.Join(dir, "b.sums"); spared([]string{file}) != nil {
		t.Error("another file is refused")
	}
}
