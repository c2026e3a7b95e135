package search

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
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
		{noiseAlone{}, []gppl.Kernel{WhiteTerm}, "White"},
		{stationary{}, []gppl.Kernel{season}, "LocPer"},
		{stationary{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}, season}, "Laplace + LocPer"},
		{dampedTrend{}, []gppl.Kernel{gppl.DampedTrend{Variance: 1, Lengthscale: 1, Memory: 0.1}}, "DampedTrend"},
		{wiener{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}, season}, "Wiener + LocPer"},
		{randomWalk{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}}, "RandomWalk"},
		{randomWalk{}, []gppl.Kernel{gppl.Laplace{Variance: 1, Lengthscale: 1}, season}, "RandomWalk + LocPer"},
	} {
		if name := c.of.name(c.terms); name != c.name {
			t.Errorf("%T: %s is called %s", c.of, c.name, name)
		}
		if of, ok := c.of.(walker); ok && (of.reach(c.terms[0]) != 1 || of.reach(season) != 0) {
			t.Errorf("%T: the reach of %v is %v, that of a season %v", of, c.terms[0], of.reach(c.terms[0]), of.reach(season))
		}
		if got := candidateNamed(c.name); got != c.of {
			t.Errorf("%s is read as %T, want %T", c.name, got, c.of)
		}
	}
}

// heldLevel is a candidate that exists nowhere else: a slow level with a fixed tenth of the forecast.
type heldLevel struct{ byEvidence }

func (heldLevel) name([]gppl.Kernel) string { return "HeldLevel" }

func (heldLevel) named(name string) bool { return name == "HeldLevel" }

func (heldLevel) share(int) (weight float64, fixed bool) { return 0.1, true }

func (heldLevel) says(float64) (note, summary string) { return "a note", "a summary" }

func (heldLevel) propose(p *task) ([]proposal, error) {
	return []proposal{{terms: []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: p.extent.span}}, noise: startNoise,
		only: &place{trend: "none"}}}, nil
}

// TestNewCandidate: a new candidate is its methods and an entry in the list. It is searched, averaged, and found again in a file.
func TestNewCandidate(t *testing.T) {
	before := candidates
	defer func() { candidates = before }()
	candidates = append(slices.Clone(before), heldLevel{})
	found := testkit.Must(Find(t.Context(), walked(t, 30), Options{}))(t)
	for name, all := range map[string][]Candidate{"found": found.Candidates, "read": restored(found)} {
		last := len(found.Averaged) - 1
		if c := all[last]; c.Kernel != "HeldLevel" || c.Weight != 0.1 || c.candidate != (heldLevel{}) {
			t.Fatalf("%s: member %d is %s with a weight of %v", name, last, c.Kernel, c.Weight)
		}
		if got := walkWeight(all); math.Abs(got-0.9*walkMost) > 1e-12 {
			t.Errorf("%s: the walk has a weight of %v, want %v", name, got, 0.9*walkMost)
		}
		if _, note, summary := all[last].FixedWeight(); note != "a note" || summary != "a summary" {
			t.Errorf("%s: it says %q and %q", name, note, summary)
		}
	}
	if m := found.Averaged[len(found.Averaged)-1]; m.candidate != (heldLevel{}) || m.Weight != 0.1 {
		t.Errorf("a %T has the weight %v", m.candidate, m.Weight)
	}
}

// restored returns the candidates as they come from a file.
func restored(of *Outcome) (all []Candidate) {
	for _, c := range of.Candidates {
		c.candidate = nil
		all = append(all, c)
	}
	Restore(all)
	return all
}

// TestCandidatesOfMembers: the models of a forecast, also of one from a file, belong to the candidates in the table.
func TestCandidatesOfMembers(t *testing.T) {
	found := testkit.Must(Find(t.Context(), walked(t, 30), Options{}))(t)
	for _, all := range [][]Candidate{found.Candidates, restored(found)} {
		fixed := 0
		for i, m := range found.Averaged {
			if m.candidate == nil || m.candidate != all[i].candidate || m.Weight != all[i].Weight {
				t.Errorf("member %d is a %T, the candidate a %T", i, m.candidate, all[i].candidate)
			}
			if _, alone := m.candidate.share(0); alone {
				fixed++
			}
		}
		if fixed != 1 {
			t.Errorf("%d of %d members have a fixed weight, want 1", fixed, len(found.Averaged))
		}
	}
}

// A model with several seasons says which they are, so that no two models of a table have one name.
func TestNameOfSeveralSeasons(t *testing.T) {
	hours := &series.Series{Axis: series.Axis{Dates: true, Unit: "day"}, Step: 1. / 24}
	terms := []gppl.Kernel{gppl.Laplace{}, gppl.LocPer{Period: 1}, gppl.Mul(gppl.LocPer{Period: 1.5}, gppl.Periodic{Period: 7})}
	c := Candidate{Kernel: KernelName(SumOf(terms)), Seasons: hours.SeasonsOf(terms), Trend: "linear"}
	if want := "Laplace + LocPer + LocPer * Periodic (day, 1.5 days, week), linear trend"; c.Name() != want {
		t.Errorf("%q, want %q", c.Name(), want)
	}
	c.Seasons = c.Seasons[:1]
	if want := "Laplace + LocPer + LocPer * Periodic, linear trend"; c.Name() != want {
		t.Errorf("%q, want %q", c.Name(), want)
	}
}

// A model without the walk, which a search for shifts tries too, has no prior of its steps.
func TestPriorWithoutTheWalk(t *testing.T) {
	e := extent{1, 100}
	for k, want := range map[gppl.Kernel]bool{gppl.Laplace{Variance: 1, Lengthscale: 9}: true,
		gppl.LocPer{Variance: 1, Period: 7}: false} {
		for _, of := range []candidate{wiener{}, randomWalk{}} {
			if _, ok := of.prior(gppl.Model{Kernel: k, Noise: 1}, 0, e); ok != want {
				t.Errorf("%T, %v: a prior: %v", of, k, ok)
			}
		}
	}
	product := gppl.Mul(gppl.LocPer{Variance: 1, Lengthscale: 9, Period: 1, PeriodicLengthscale: 1},
		gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 7})
	if _, ok := (wiener{}).prior(gppl.Model{Kernel: product, Noise: 1}, 0, e); ok {
		t.Error("a product has the prior of a walk")
	}
}

// TestLevelOfTheLongSeason: besides the shape of a day by its place in the week, the level of a day by its place may be added.
func TestLevelOfTheLongSeason(t *testing.T) {
	day, week := season{period: 1, fixed: true}, season{period: 7, fixed: true}
	p := &task{series: &series.Series{}, seasons: []season{day, week}, extent: extent{1.0 / 24, 28}}
	terms := []gppl.Kernel{(stationary{}).seasonal(day), cycle(day, week)}
	for range 2 { // the second time it is there
		weeks := 0
		for _, k := range (stationary{}).additions(p, terms) {
			if isProduct(k) || (&task{}).hasSeason(k, day) {
				t.Errorf("%v once more", k)
			} else if (&task{}).hasSeason(k, week) {
				weeks++
			}
		}
		if want := 4 - len(terms) - 1; weeks != want {
			t.Errorf("of %d terms, %d levels of a week, want %d", len(terms), weeks, want)
		}
		terms = append(terms, (stationary{}).seasonal(week))
	}
}
