package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/experiment"
)

// A sample has a number for each draw: of the data or, on recorded series, of Ω. Claims compare samples draw by draw.
type sample map[uint64]float64

// draws returns numbers of outcomes by the seed of the data or, on recorded series, of Ω.
func draws(all []experiment.Outcome, numbers []float64) sample {
	s := sample{}
	for i, o := range all {
		s[cmp.Or(o.Trial.Source.Seed, o.Trial.Seed)] = numbers[i]
	}
	return s
}

// ends returns the exact NLL of outcomes, +Inf of a failed training.
func ends(all []experiment.Outcome) sample { return draws(all, experiment.NLLs(all)) }

// logRatio returns the logarithm of a number of an outcome over the same number of another, on each draw that both have.
func logRatio(of, over []experiment.Outcome, number func(experiment.Outcome) float64) sample {
	logs := func(all []experiment.Outcome) sample {
		return draws(all, experiment.Values(all, number)).apply(math.Log)
	}
	return logs(of).minus(logs(over))
}

// middle returns the median of a number over outcomes.
func middle(all []experiment.Outcome, number func(experiment.Outcome) float64) float64 {
	return median(experiment.Values(all, number))
}

// factor is the geometric mean of the ratio.
func (s sample) factor() float64 { return math.Exp(stat.Mean(s.values(), nil)) }

// logs returns the logarithms of numbers by their seeds.
func logs(seeds []uint64, v []float64) sample {
	s := sample{}
	for i, seed := range seeds {
		s[seed] = math.Log(v[i])
	}
	return s
}

// apply returns f of each number.
func (s sample) apply(f func(float64) float64) sample {
	changed := sample{}
	for seed, x := range s {
		changed[seed] = f(x)
	}
	return changed
}

// above returns how far each number lies above x.
func (s sample) above(x float64) sample { return s.apply(func(y float64) float64 { return y - x }) }

// minus returns the differences on the draws that both samples have.
func (s sample) minus(t sample) sample {
	difference := sample{}
	for _, seed := range common(s, t) {
		difference[seed] = s[seed] - t[seed]
	}
	return difference
}

// values returns the numbers in the order of their seeds.
func (s sample) values() (v []float64) {
	for _, seed := range common(s) {
		v = append(v, s[seed])
	}
	return v
}

// common returns the seeds that all samples have, in ascending order.
func common(samples ...sample) []uint64 {
	if len(samples) == 0 {
		return nil
	}
	seeds := slices.Sorted(maps.Keys(samples[0]))
	return slices.DeleteFunc(seeds, func(seed uint64) bool {
		return slices.ContainsFunc(samples, func(s sample) bool { _, ok := s[seed]; return !ok })
	})
}

// most appends to the finding on how many draws all samples are negative, and tests whether these are most. Draws that a sample
// lacks, because a run diverged, count for neither side.
func (r *Row) most(name string, samples ...sample) *Test {
	seeds, won := common(samples...), 0
	for _, seed := range seeds {
		if !slices.ContainsFunc(samples, func(s sample) bool { return !(s[seed] < 0) }) {
			won++
		}
	}
	if len(seeds) > 0 {
		r.Ours += fmt.Sprintf(", %s %d of %d", name, won, len(seeds))
	}
	return signs(won, len(seeds))
}
