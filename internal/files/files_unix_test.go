//go:build unix

package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMain makes the test binary one of the programs below.
func TestMain(m *testing.M) {
	switch path := os.Getenv("GPPL_TEST_PATH"); os.Getenv("GPPL_TEST_PROGRAM") {
	case "counts":
		for range counts {
			if err := count(path); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	case "stdout":
		fmt.Print("before, ")
		if err := WriteBytes(context.Background(), "/dev/stdout", []byte("file, ")); err != nil {
			fmt.Println(err)
		}
		fmt.Print("after")
	default:
		os.Exit(m.Run())
	}
	os.Exit(0)
}

func program(name, path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "GPPL_TEST_PROGRAM="+name, "GPPL_TEST_PATH="+path)
	c.Stderr = os.Stderr
	return c
}

// counts is the number of times that a program adds one.
const counts = 50

// count adds one to the number in a file.
func count(path string) error {
	unlock, err := Lock(path)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err == nil {
		n, _ := strconv.Atoi(string(b))
		err = WriteBytes(context.Background(), path, []byte(strconv.Itoa(n+1)))
	}
	return errors.Join(err, unlock())
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestMode: a file keeps its mode, and a new file has the mode that the umask gives.
func TestMode(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	for _, umask := range []int{0, 0o022, 0o027, 0o077} {
		syscall.Umask(umask)
		path := filepath.Join(dir, fmt.Sprintf("new%o", umask))
		check := func(want fs.FileMode) {
			t.Helper()
			if err := WriteBytes(context.Background(), path, []byte("text")); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("umask %o: %v, want %v (%v)", umask, info.Mode(), want, err)
			}
		}
		check(0o666 &^ fs.FileMode(umask))
		for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o666, 0o444, 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			check(mode)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(path, 1234, 2345); err != nil {
				t.Fatal(err)
			}
			check(0o755)
			info, _ := os.Stat(path)
			if s := info.Sys().(*syscall.Stat_t); s.Uid != 1234 || s.Gid != 2345 {
				t.Errorf("the owner is %d:%d", s.Uid, s.Gid)
			}
		}
	}
}

// TestPrivate: a file that replaces a private one is private while it is written.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(context.Background(), path, func(w io.Writer) error {
		info, err := w.(*os.File).Stat()
		if err == nil && info.Mode().Perm() != 0o600 {
			err = fmt.Errorf("it has the mode %v", info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLock: programs that add to a number lose nothing, and leave no lock.
func TestLock(t *testing.T) {
	const programs = 4
	path := filepath.Join(t.TempDir(), "number")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	for range programs {
		c := program("counts", path)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != strconv.Itoa(programs*counts) {
		t.Errorf("%s, want %d", b, programs*counts)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("%q are left", got)
	}
}

// TestLinks: a link stays a link, even if its target does not exist, and a path through a link leads where the system says.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"far/away", "near"} {
		if err := os.MkdirAll(at(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"near/folder": at("far/away"), "near/relative": "../far/new",
		"near/absolute": at("far/new too"), "near/chain": "relative", "near/loop": "loop"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"near/folder/../x": "far/x", "near/folder/y": "far/away/y", "near/relative": "far/new", "near/chain": "far/new",
		"near/absolute": "far/new too",
	} {
		if err := WriteBytes(context.Background(), dir+"/"+path, []byte(path)); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(at(want)); err != nil || string(b) != path {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	for _, path := range []string{"near/loop", "none/x", "near", "near/none/", ""} {
		if err := WriteBytes(context.Background(), dir+"/"+path, nil); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
	if got := names(t, at("near")); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// TestPipe waits for the reader of a pipe, but no longer than the context.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := WriteBytes(ctx, path, []byte("text")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "text" { // of the abandoned writer
		t.Errorf("%q, %v", b, err)
	}
}

// TestStdout: a file that the shell has opened is not replaced.
func TestStdout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := program("stdout", "")
	c.Stdout = f
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, []byte("before, file, after")) {
		t.Errorf("%q, %v", b, err)
	}
}

// TestApart names one file as an input and as an output, in every way.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("folder/below", 0o755))
	must(os.WriteFile("folder/in.csv", nil, 0o644))
	must(os.WriteFile("other.csv", nil, 0o644))
	must(os.Symlink("folder", "linked"))
	must(os.Symlink("folder/in.csv", "link.csv"))
	must(os.Symlink("folder/new.csv", "dangling.csv"))
	must(os.Link("folder/in.csv", "hard.csv"))
	pipe := filepath.Join(dir, "pipe")
	must(syscall.Mkfifo(pipe, 0o600))
	ways := func(name string) []string {
		return []string{"folder/" + name, "./folder//" + name, filepath.Join(dir, "folder",
			name), "folder/below/../" + name, "linked/" + name, "linked/below/../" + name}
	}
	existing := append(ways("in.csv"), "link.csv", "hard.csv")
	missing := append(ways("new.csv"), "dangling.csv")
	cells := 0
	for _, all := range [][]string{existing, missing} {
		for _, a := range all {
			for _, b := range all {
				var conflict *ConflictError
				if err := Apart([]Name{{Path: "other.csv"}, {Flag: "future", Path: a}}, []Name{{Flag: "out", Path: b}}); !errors.As(err,
					&conflict) || !conflict.Input {
					t.Errorf("input %s, output %s: %v", a, b, err)
				}
				if err := Apart([]Name{{Path: "other.csv"}}, []Name{{Flag: "out", Path: a}, {Flag: "report", Path: b}}); !errors.As(err,
					&conflict) || conflict.Input {
					t.Errorf("outputs %s and %s: %v", a, b, err)
				}
				cells += 2
			}
		}
	}
	for _, a := range existing {
		for _, b := range append(missing, "folder/below/in.csv", "folder/IN.csv", "", "none/in.csv", os.DevNull) {
			if err := Apart([]Name{{Path: a}, {}, {Path: pipe}, {Path: os.DevNull}},
				[]Name{{Flag: "out", Path: b}, {Flag: "report", Path: os.DevNull}, {Flag: "model", Path: pipe}}); err != nil {
				t.Errorf("%s and %s: %v", a, b, err)
			}
			cells++
		}
	}
	// Open files: an input by another name, an output that is an input, and one that another output adds to.
	f, err := os.OpenFile("folder/in.csv", os.O_RDWR, 0)
	must(err)
	defer f.Close()
	open := Name{Path: "standard", File: f}
	for _, a := range existing {
		var conflict *ConflictError
		if err := Apart([]Name{open}, []Name{{Flag: "out", Path: a}}); !errors.As(err, &conflict) || !conflict.Input {
			t.Errorf("open input, output %s: %v", a, err)
		}
		if err := Apart([]Name{{Path: a}}, []Name{open}); !errors.As(err, &conflict) || !conflict.Input {
			t.Errorf("input %s, open output: %v", a, err)
		}
		if err := Apart([]Name{{Path: "other.csv"}}, []Name{{Flag: "out", Path: a}, open, open}); err != nil {
			t.Errorf("output %s, and open: %v", a, err)
		}
		cells += 3
	}
	t.Logf("%d cells", cells)
}

// TestDistinct: a file that is named twice is found under any of its names; files with equal contents, folders and devices are
// not.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(at(name), []byte("1"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(at("a"), at("soft")), os.Link(at("a"), at("hard"))); err != nil {
		t.Fatal(err)
	}
	if err := Distinct([]string{at("a"), at("b"), "/dev/null", "/dev/null", dir, dir, at("none"), at("none")}); err != nil {
		t.Error(err)
	}
	for _, again := range []string{at("a"), dir + "/./a", at("soft"), at("hard")} {
		if err := Distinct([]string{at("a"), at("b"), again}); err == nil || !strings.Contains(err.Error(), "and would count twice") {
			t.Errorf("%s: %v", again, err)
		}
	}
}
