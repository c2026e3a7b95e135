package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// AccurateBy returns the outcomes of one loss on draws like source with seeds 1 to seeds, by automatically chosen engines.
func AccurateBy(all []Outcome, source Source, loss string, seeds int) []Outcome {
	return Where(all, func(t Trial) bool {
		s := t.Source
		seed := s.Seed
		s.Seed = source.Seed
		return s == source && t.Loss == loss && t.Engine == "" && int(seed) <= seeds
	})
}

// Unsuccessful counts the outcomes that failed (see [Outcome.Failed]) or whose status is not Converged.
func Unsuccessful(all []Outcome) int {
	n := 0
	for _, o := range all {
		if o.Failed() || o.Status != string(gppl.Converged) {
			n++
		}
	}
	return n
}

// Coverage counts how often the true value of a parameter lies within two reported standard errors of its estimate, in the log.
type Coverage struct {
	Name              string
	Truth             float64
	Estimates, Stated []float64 // one per draw; Stated are standard errors of the log
	Spread            float64   // standard deviation of the log of the estimates
	Covered, Of       int
}

// Coverages computes a [Coverage] for each parameter of the first source from its automatic fits that were restricted to
// projections.
func Coverages(all []Outcome) (cs []Coverage) {
	var source Source
	for _, o := range all {
		if o.Trial.Loss == AutoProjected && o.Trial.Source.Name == "draw" {
			source = o.Trial.Source
			break
		}
	}
	ours := AccurateBy(all, source, AutoProjected, math.MaxInt)
	if len(ours) == 0 {
		return nil
	}
	for i, p := range source.Truth().Params() {
		c := Coverage{Name: p.Name, Truth: p.Value}
		var logs []float64
		for _, o := range ours {
			if o.Error != "" || len(o.StdErr) <= i {
				c.Of++ // a truth without a standard error counts as not covered
				continue
			}
			off := math.Log(o.Theta[i] / p.Value)
			c.Of++
			if math.Abs(off) <= 2*o.StdErr[i] {
				c.Covered++
			}
			c.Estimates, c.Stated = append(c.Estimates, o.Theta[i]), append(c.Stated, o.StdErr[i])
			logs = append(logs, off)
		}
		c.Spread = stat.StdDev(logs, nil)
		cs = append(cs, c)
	}
	return cs
}

// Speed is the time to the answer on one draw.
type Speed struct {
	Source                               Source
	Dense, Engines, Projected, Automatic float64 // seconds, set-up included
}

// Speeds returns one Speed for each draw on which ML was run with the dense engine.
func Speeds(all []Outcome) (speeds []Speed) {
	for _, o := range all {
		if o.Trial.Loss != ML || o.Trial.Engine != "dense" || o.Error != "" {
			continue
		}
		of := func(loss string) float64 {
			i := slices.IndexFunc(all, func(x Outcome) bool {
				return x.Trial.Source == o.Trial.Source && x.Trial.Loss == loss && x.Trial.Engine == ""
			})
			if i < 0 {
				return math.NaN()
			}
			return all[i].Seconds()
		}
		speeds = append(speeds, Speed{o.Trial.Source, o.Seconds(), of(ML), of(AutoProjected), of(Auto)})
	}
	return speeds
}
