package testkit

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// RankedDraws is the number of draws among which a truth has its rank: RankedDraws + 1 ranks are divided evenly among the bins.
	RankedDraws = 59
	bins        = 6
	// level is the level of the test of each quantity.
	level = 1e-3
)

// Ranks counts, for each quantity by its name, the ranks of the truth among RankedDraws draws, in six bins.
type Ranks map[string]*[bins]float64

// Add counts the rank of the truth of a quantity among its draws. It panics unless there are RankedDraws.
func (r Ranks) Add(quantity string, truth float64, drawn []float64) {
	if len(drawn) != RankedDraws {
		panic(fmt.Sprintf("testkit: %d draws of %s, want %d", len(drawn), quantity, RankedDraws))
	}
	rank := 0
	for _, v := range drawn {
		if v < truth {
			rank++
		}
	}
	if r[quantity] == nil {
		r[quantity] = new([bins]float64)
	}
	r[quantity][rank*bins/(RankedDraws+1)]++
}

// Uniform returns the probability, by χ², of counts at least as uneven as the quantity's if its ranks are uniform, and whether it
// is at least 0.001.
func (r Ranks) Uniform(quantity string) (p float64, ok bool) {
	var chi, total float64
	for _, v := range r[quantity] {
		total += v / bins
	}
	for _, v := range r[quantity] {
		chi += (v - total) * (v - total) / total
	}
	p = distuv.ChiSquared{K: bins - 1}.Survival(chi)
	return p, p >= level
}
