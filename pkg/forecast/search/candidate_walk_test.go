package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestWalkShare: the share falls with the number of observations, from a half to a tenth.
func TestWalkShare(t *testing.T) {
	share := func(n int) float64 {
		share, _ := randomWalk{}.share(n)
		return share
	}
	for n, want := range map[int]float64{5: 0.5, 80: 0.5, 160: 0.25, brief: 0.1, brief + 1: 0} {
		if got := share(n); got != want {
			t.Errorf("the share of %d observations is %v, want %v", n, got, want)
		}
	}
	for _, e := range Efforts {
		if e.trained < brief {
			t.Errorf("%s: a walk is learnt from %d of %d observations, and its variance is in the unit of that part", e.Name, e.trained, brief)
		}
	}
}

// TestWalkFailure: a random walk that cannot be trained has no part in the forecast, and is seen where it would have stood.
func TestWalkFailure(t *testing.T) {
	out := &Outcome{Candidates: []Candidate{{Kernel: "SE", Weight: 1}, {Kernel: "Matern32"}}, Averaged: []*Averaged{{Weight: 1}}}
	out.addFixed(&trial{Candidate: Candidate{Kernel: walkName, Error: "no value"}}, 0)
	want := []Candidate{{Kernel: "SE", Weight: 1}, {Kernel: walkName, Error: "no value"}, {Kernel: "Matern32"}}
	if diff := cmp.Diff(want, out.Candidates, cmpopts.IgnoreUnexported(Candidate{})); diff != "" || len(out.Averaged) != 1 || walkWeight(out.Candidates) != 0 {
		t.Errorf("%s, %d members, a share of %v", diff, len(out.Averaged), walkWeight(out.Candidates))
	}
}
