package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// TestApart checks that no input is overwritten, whichever of its names the output has.
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

// TestMemory checks that sums that do not fit prism in this process within --memory are refused, and so is an endless file of
// --like.
func TestMemory(t *testing.T) {
	dir, limit := t.TempDir(), debug.SetMemoryLimit(-1)
	set := func(name, value string) {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		*input, *output, header.Like = "", "", ""
		set("memory", "")
		set("endpoint", "")
		debug.SetMemoryLimit(limit)
	})
	for _, name := range []string{"a.csv", "b.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("t,y\n1,2\n3,4\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	*input, *output = filepath.Join(dir, "*.csv"), filepath.Join(dir, "o.sums")
	header.Like = "/dev/zero"
	set("memory", "60MB")
	if err := run(t.Context()); err == nil || !strings.Contains(err.Error(), "/dev/zero: this is no file of sums") {
		t.Errorf("--like /dev/zero: %v", err)
	}
	p, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 1e5, Largest: 1, Shortest: 0.4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fits(p.Header, []string{*input}, 500e6); err == nil || !strings.Contains(err.Error(), "for each of 2 files") ||
		!strings.Contains(err.Error(), "and the limit is 500 MB") {
		t.Errorf("prism in this process: %v", err)
	}
	set("endpoint", "localhost:8073")
	if _, err := fits(p.Header, []string{*input}, 500e6); err != nil {
		t.Errorf("prism elsewhere: %v", err)
	}
}

// TestProcessMemory: the process takes no more memory than fits allows for it.
func TestProcessMemory(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "gppl-beam")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plan, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 1e5, Largest: 5, Shortest: 2})
	if err != nil {
		t.Fatal(err)
	}
	for files := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", files)), []byte("t,y\n1,2\n3,4\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		p := exec.Command(program, "--input", filepath.Join(dir, "*.csv"), "--output", filepath.Join(dir, "o.sums"),
			"--from", "0", "--to", "1e5", "--centre", "0", "--largest", "5", "--lengthscale", "2")
		if out, err := p.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		taken, allowed := float64(machine.Peak(p.ProcessState)), processBytes+sumsOfFile*float64(files+1)*float64(plan.Bytes)
		t.Logf("%d files with sums of %.0f MB each: %.0f MB, allowed for %.0f MB", files+1,
			1e-6*float64(plan.Bytes), 1e-6*taken, 1e-6*allowed)
		if taken > allowed {
			t.Errorf("%d files take %.0f MB, more than %.0f MB", files+1, 1e-6*taken, 1e-6*allowed)
		}
	}
}
