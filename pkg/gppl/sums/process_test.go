package sums_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

var splits = flag.Int("sums-splits", 20, "random splits that TestSumsProcesses tries; the specification has 1000")

// shardsVariable makes TestSumsShards, in a process of its own, write the shards that it names.
const shardsVariable = "GPPL_TEST_SHARDS"

// split is a random split of one series: which of its observations, in which order, are in each shard.
func split(trial int) (order []int, shards int) {
	rnd := rand.New(rand.NewPCG(uint64(trial), 41))
	return rnd.Perm(1 + rnd.IntN(3000)), 1 + rnd.IntN(64)
}

// TestSumsShards writes every processes-th shard of a trial to files, if it is asked to.
func TestSumsShards(t *testing.T) {
	text := os.Getenv(shardsVariable)
	if text == "" {
		t.Skip("TestSumsProcesses runs it")
	}
	var trial, process, processes int
	var dir string
	if _, err := fmt.Sscan(text, &trial, &process, &processes, &dir); err != nil {
		t.Fatal(err)
	}
	order, shards := split(trial)
	x, y, _ := testsums.Series(uint64(trial), len(order))
	for k := process; k < shards; k += processes {
		s := testsums.New(t, testsums.Plain)
		for _, i := range order[len(order)*k/shards : len(order)*(k+1)/shards] {
			if err := s.Add(x[i:i+1], y[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), marshal(t, s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSumsProcesses wants identical bytes from random splits in random orders of 1 to 64 shards, made by 1 to 4 processes at once
// and merged in random order. See TestSumsBits for goroutines, and beam/ for Apache Beam.
func TestSumsProcesses(t *testing.T) {
	trials := *splits
	if testkit.Quick() {
		trials = min(trials, 4)
	}
	for trial := range trials {
		rnd := rand.New(rand.NewPCG(uint64(trial), 42))
		dir := t.TempDir()
		order, shards := split(trial)
		processes := 1 + trial%4
		var running []*exec.Cmd
		var output bytes.Buffer
		for p := range processes {
			c := exec.Command(os.Args[0], "-test.run", "^TestSumsShards$")
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %s", shardsVariable, trial, p, processes, dir))
			if p == 0 {
				c.Stdout = &output
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, c)
		}
		for _, c := range running {
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %s", err, output.String())
			}
		}
		whole, merged := testsums.New(t, testsums.Plain), testsums.New(t, testsums.Plain)
		x, y, _ := testsums.Series(uint64(trial), len(order))
		if err := whole.Add(x, y); err != nil {
			t.Fatal(err)
		}
		for _, k := range rnd.Perm(shards) {
			b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(k)))
			if err != nil {
				t.Fatal(err)
			}
			part := new(sums.Sums)
			if err := part.UnmarshalBinary(b); err != nil {
				t.Fatal(err)
			}
			if err := merged.Merge(part); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(marshal(t, merged), marshal(t, whole)) {
			t.Fatalf("trial %d: %d observations in %d shards by %d processes: other bytes", trial, len(order), shards, processes)
		}
	}
	t.Logf("%d splits", trials)
}
