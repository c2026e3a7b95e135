package forecast

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestCandidateNamed: a file says which candidate a model is by its name, and every candidate reads the names that it writes.
func TestCandidateNamed(t *testing.T) {
	season := gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1, PeriodicLengthscale: 1}
	for _, c := range []struct {
		of    candidate
		terms []gppl.Kernel
		name  string
	}{
		{noiseAlone{}, []gppl.Kernel{whiteTerm}, "White"},
		{stationary{}, []gppl.Kernel{season}, "LocPer"},
		{stationary{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}, season}, "Laplace + LocPer"},
		{randomWalk{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}}, "RandomWalk"},
		{randomWalk{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}, season}, "RandomWalk + LocPer"},
	} {
		if name := c.of.name(c.terms); name != c.name {
			t.Errorf("%T: %s is called %s", c.of, c.name, name)
		}
		if got := candidateNamed(c.name); got != c.of {
			t.Errorf("%s is read as %T, want %T", c.name, got, c.of)
		}
	}
}

// TestCandidatesOfMembers: the models of a forecast, and those of the same forecast from a file, are of the candidates in the table.
func TestCandidatesOfMembers(t *testing.T) {
	a := automatic(t, walked(t, 30), Options{})
	for _, a := range []*Analysis{a, reloaded(t, a)} {
		fixed := 0
		for i, m := range a.members {
			if m.kind == nil || m.kind != a.Candidates[i].kind {
				t.Errorf("member %d is a %T, the candidate a %T", i, m.kind, a.Candidates[i].kind)
			}
			if m.fixed() {
				fixed++
			}
		}
		if fixed != 1 {
			t.Errorf("%d of %d members have a fixed weight, want 1", fixed, len(a.members))
		}
	}
}
