package experiment

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/killed"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

var kills = flag.Int("kills", 4, "number of kills of TestStoreKilled")

// TestStoreKilled kills programs that add to a store and tidy it: the store stays readable, nothing that was there is lost, and
// the next run leaves the same file as one that was not killed, and no other.
func TestStoreKilled(t *testing.T) {
	trials := make([]Trial, 60)
	for i := range trials {
		trials[i] = E1(scales.Smoke)[0]
		trials[i].Seed = uint64(i)
	}
	const name, before = "a.jsonl", 20
	add := func(path string, from, to int) {
		s := open(t, path)
		for _, trial := range trials[from:to] {
			key, err := trial.Key()
			if err != nil {
				t.Fatal(err)
			}
			o := outcome(key, 1)
			o.Trial = trial
			if err := s.Put(o); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Tidy(trials); err != nil {
			t.Fatal(err)
		}
	}
	const variable = "GPPL_TEST_STORE"
	if path := os.Getenv(variable); path != "" {
		add(path, 10, len(trials)) // ten of them anew
		return
	}
	r := rand.New(rand.NewPCG(1, 3))
	var count killed.Count
	for range *kills {
		count.Check(t, killed.Command{
			Name: "adding to a store", Idle: true, // the file was there before
			Prepare: func(dir string) { add(filepath.Join(dir, name), 0, before) },
			Process: func(dir string) *exec.Cmd {
				c := exec.Command(os.Args[0], "-test.run=^TestStoreKilled$")
				c.Env = append(os.Environ(), variable+"="+filepath.Join(dir, name))
				return c
			},
			Left: func(dir string) {
				if n := len(open(t, filepath.Join(dir, name)).Outcomes()); n < before {
					t.Errorf("%d outcomes are left of %d", n, before)
				}
			},
		}, r, true)
	}
	t.Log(count)
}
