package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/experiment"
)

// alone is the spread of an outcome, in nats, that has no other like it: what decides whether an optimum is the published one.
const alone = 0.02

// slower is what the time of a dense evaluation is multiplied by, of which no spread is stored.
const slower = 2

// like tells outcomes that differ by their draws alone.
func like(t experiment.Trial) experiment.Trial {
	t.Seed, t.Source.Seed = 0, 0
	return t
}

// spreads returns for each outcome the standard deviation of how far those like it end above the optimum.
func spreads(all []experiment.Outcome) []float64 {
	excess := map[experiment.Trial][]float64{}
	for i, x := range experiment.Excess(all, all) {
		if t := all[i].Trial; !math.IsNaN(x) && !math.IsInf(x, 0) {
			excess[like(t)] = append(excess[like(t)], x)
		}
	}
	out := make([]float64, len(all))
	for i, o := range all {
		out[i] = alone
		if v := excess[like(o.Trial)]; len(v) > 1 {
			out[i] = max(alone, stat.StdDev(v, nil))
		}
	}
	return out
}

// caught counts what became of mutations.
type caught struct{ of, verdict, row, checked, recomputed, either int }

func (c *caught) add(d caught) {
	c.of, c.verdict, c.row, c.checked, c.recomputed, c.either = c.of+d.of, c.verdict+d.verdict, c.row+d.row, c.checked+d.checked, c.recomputed+d.recomputed, c.either+d.either
}

func (c caught) String() string {
	return fmt.Sprintf("%d outcomes: %.1f %% change a verdict, %.1f %% a row; computed again %d, of which %.1f %% do not agree; caught by a verdict or by computing again %.1f %%",
		c.of, percent(c.verdict, c.of), percent(c.row, c.of), c.checked, percent(c.recomputed, c.checked), percent(c.either, c.of))
}

func percent(k, n int) float64 { return 100 * float64(k) / float64(max(1, n)) }

// mutate adds twice its spread to the NLL of each every-th stored outcome, one at a time (of a dense evaluation it doubles the time), and
// prints how many of these changes move the verdict of a row, how many any number that a row prints, and, with again, how many are found
// by computing the exact NLL at the stored parameters again. only names one experiment.
func mutate(e *experiment.Evidence, every int, again bool, only string) error {
	before := experiment.Ledger(e)
	var total caught
	for _, file := range []struct {
		name string
		all  []experiment.Outcome
	}{{"E1", e.E1}, {"E2", e.E2}, {"sunspots", e.Sunspots}, {"EEG", e.EEG}, {"accurate", e.Accurate}} {
		if only != "" && only != file.name {
			continue
		}
		var c caught
		by := spreads(file.all)
		for i := 0; i < len(file.all); i += every {
			was := file.all[i]
			if was.Error != "" {
				continue
			}
			if was.Trial.Optimiser.Method == experiment.Evaluate {
				file.all[i].Fit *= slower
			} else {
				file.all[i].NLL += 2 * by[i]
			}
			after := experiment.Ledger(e)
			one := caught{of: 1}
			if !slices.EqualFunc(before, after, func(a, b experiment.Row) bool { return a.Status == b.Status }) {
				one.verdict, one.either = 1, 1
			}
			if !slices.EqualFunc(before, after, func(a, b experiment.Row) bool { return a.Status == b.Status && a.Ours == b.Ours && a.Why == b.Why }) {
				one.row = 1
			}
			if again {
				checked, err := file.all[i].Recomputed()
				if checked {
					one.checked = 1
					if err != nil {
						one.recomputed, one.either = 1, 1
					}
					if _, wrong := was.Recomputed(); wrong != nil {
						return wrong // what is stored does not pass
					}
				} else if err != nil {
					return err
				}
			}
			file.all[i] = was
			c.add(one)
		}
		fmt.Printf("%s: %v\n", file.name, c)
		total.add(c)
	}
	fmt.Printf("in all: %v\n", total)
	return nil
}
