package gpplbeam

import (
	"flag"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/killed"
)

var kills = flag.Int("kills", 2, "number of kills of TestKilled")

// TestKilled kills the command, with its prism and its workers in one process, at random moments.
func TestKilled(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gppl-beam")
	if text, err := exec.Command("go", "build", "-o", program, "./cmd/gppl-beam").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	r := rand.New(rand.NewPCG(1, 5))
	var count killed.Count
	for i := range *kills {
		count.Check(t, killed.Command{
			Name: "gppl-beam",
			Prepare: func(dir string) {
				for i, name := range []string{"a.csv", "b.csv"} {
					put(t, filepath.Join(dir, name), readings(all*i/2, all*(i+1)/2))
				}
			},
			Process: func(dir string) *exec.Cmd {
				c := exec.Command(program, "--input", filepath.Join(dir, "*.csv"), "--output", filepath.Join(dir, "all.sums"))
				c.Dir = dir
				return c
			},
		}, r, i%2 == 1)
	}
	t.Log(count)
}
