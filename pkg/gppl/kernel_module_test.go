package gppl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestOtherModule runs kernel_own_test.go in a module of its own, beside this one:
// what it needs of a kernel is exported. It takes no network.
func TestOtherModule(t *testing.T) {
	if testkit.Quick() {
		t.Skip("it compiles the package again")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyFile := func(from, to string, change func(string) string) {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), []byte(change(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const path = "github.com/projected-likelihood/gppl"
	same := func(s string) string { return s }
	copyFile(filepath.Join(root, "go.sum"), "go.sum", same)
	copyFile(filepath.Join(root, "go.mod"), "go.mod", func(s string) string {
		return strings.Replace(s, "module "+path, "module example.org/own", 1) +
			"\nrequire " + path + " v0.0.0\nreplace " + path + " => " + root + "\n"
	})
	copyFile("kernel_own_test.go", "own_test.go", same)
	run := exec.Command("go", "test", "-count=1", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
