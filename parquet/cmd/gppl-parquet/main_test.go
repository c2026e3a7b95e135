package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestApart checks that no input is overwritten, by whatever name the output has.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.parquet")
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
	for _, out := range []string{file, filepath.Join(dir, ".") + "/./a.parquet", soft, hard, like} {
		*output = out
		err := run(t.Context(), []string{file})
		if err == nil || !strings.Contains(err.Error(), filepath.Base(out)) || !strings.Contains(err.Error(), "that is an input file") {
			t.Errorf("%s: %v", out, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "t,y\n1,2\n3,4\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestMemory checks that what does not fit --memory is refused in one line, before anything is written.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	set := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			if err := flag.Set(pairs[i], pairs[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		header.Like, *output = "", ""
		set("memory", "")
		debug.SetMemoryLimit(limit)
	})
	*output = filepath.Join(dir, "o.sums")
	for _, c := range []struct {
		like, memory string
		want         string
	}{
		{"/dev/zero", "60MB", "/dev/zero: this is no file of sums"},
		{"", "lots", "--memory lots: it takes a size"},
		{"", "1kB", "--memory 1kB: gppl itself takes 10 MB"},
	} {
		header.Like = c.like
		set("memory", c.memory)
		if err := run(t.Context(), []string{file}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--like %q --memory %s: %v, want %q", c.like, c.memory, err, c.want)
		}
	}
	header.Like = ""
	set("memory", "100MB", "from", "0", "to", "1e5", "lengthscale", "0.4", "centre", "0", "largest", "1")
	if err := run(t.Context(), []string{file}); err == nil ||
		!strings.Contains(err.Error(), "and the limit is 100 MB: --memory raises the limit") {
		t.Errorf("large sums: %v", err)
	}
}
