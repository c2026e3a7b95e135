package exhibit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Races are races and how each stood.
type Races struct {
	Of        []experiment.Race
	Standings []experiment.Standing
}

// A racer is estimators that are shown as one: of several orders, the one that stands best counts.
type racer struct {
	name   string
	slot   int
	is     func(experiment.Race) bool
	exact  bool
	marker viz.Marker
}

func estimator(name string) func(experiment.Race) bool {
	return func(r experiment.Race) bool { return r.Estimator == name && r.Engine == "" }
}

var racers = []racer{
	{"exact", viz.Orange, estimator(experiment.ML), true, viz.Star},
	{"exact, dense", viz.Grey, func(r experiment.Race) bool { return r.Engine == gppl.EngineDense }, true, viz.Diamond},
	{"Whittle", viz.Green, estimator(experiment.Whittle), false, viz.Disc},
	{"PL + residual", viz.Sky, estimator(experiment.Residual), false, viz.Triangle},
	{"PL", viz.Blue, estimator(experiment.PL), false, viz.Triangle},
	{"VFE", viz.Vermillion, estimator(experiment.VFE), false, viz.Square},
	{"subset", viz.Purple, estimator(experiment.Subset), false, viz.Disc},
}

// course returns the settings that races have in common if they are compared.
func course(r experiment.Race) experiment.Race {
	return experiment.Race{Kernel: r.Kernel, N: r.N, Ratio: r.Ratio, Random: r.Random}
}

// excess returns, for each budget, the excess of the racer in nats: the median over draws of its best order; NaN before the
// first evaluation has ended in half of the draws.
func (r Races) excess(on experiment.Race, by racer) []float64 {
	best := map[uint64][]float64{} // keyed by the seed of the draw
	for i, race := range r.Of {
		if course(race) != on || !by.is(race) {
			continue
		}
		if best[race.Seed] == nil {
			best[race.Seed] = slices.Repeat([]float64{math.Inf(1)}, len(experiment.Budgets))
		}
		for b, nats := range r.Standings[i].Excess {
			if nats >= 0 {
				best[race.Seed][b] = min(best[race.Seed][b], nats)
			}
		}
	}
	if len(best) == 0 {
		return nil
	}
	all := make([]float64, len(experiment.Budgets))
	for b := range all {
		var draws []float64
		for _, v := range best {
			draws = append(draws, v[b])
		}
		slices.Sort(draws)
		if all[b] = stat.Quantile(0.5, stat.Empirical, draws, nil); math.IsInf(all[b], 1) {
			all[b] = math.NaN()
		}
	}
	return all
}

// courses returns the courses of the races, in their order.
func (r Races) courses() (all []experiment.Race) {
	for _, race := range r.Of {
		if on := course(race); !slices.Contains(all, on) {
			all = append(all, on)
		}
	}
	return all
}

// leastExcess is the smallest excess that is drawn, also for smaller ones: data cannot tell a hundredth of a nat.
const leastExcess = 0.01

// Figure shows the excess against processor time on the courses with regular times and the most observations.
func (r Races) Figure() (*viz.Figure, error) {
	var panels []*viz.Figure
	most, rows := 0, map[string]bool{}
	for _, race := range r.Of {
		most = max(most, race.N)
	}
	for _, on := range r.courses() {
		if on.N != most || on.Random {
			continue
		}
		rows[on.Kernel] = true
		o := viz.CurvesOptions{
			Frame: viz.Frame{Title: fmt.Sprintf("%s, signal/noise %g", on.Kernel, on.Ratio), XLabel: "s", YLabel: "nats"},
			LogX:  true, LogY: true,
			XRange: [2]float64{experiment.Budgets[0] / 1.2, 1.2}, YRange: [2]float64{leastExcess / 1.5, 1e4},
		}
		for _, by := range racers {
			if v := r.excess(on, by); v != nil {
				o.Curves = append(o.Curves, viz.Curve{Name: by.name, X: experiment.Budgets, Y: atLeast(leastExcess, v), Slot: by.slot,
					Dots: true})
			}
		}
		f, err := viz.Curves(o)
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(len(rows), len(panels)/max(1, len(rows)), viz.GridOptions{
		Frame: viz.Frame{
			Title:  "What a second of processor time buys on a regular series",
			XLabel: "processor time, set-up included (s)", YLabel: "exact NLL above its optimum (nats)",
			Height: float64(240*len(rows) + 60),
			Caption: fmt.Sprintf("The exact NLL at the best parameters so far by each estimator's own loss: medians over draws of %d "+
				"regular observations. PL has 100 projections (Sphere); of the other approximations the better of two settings is "+
				"drawn. A line begins where its first evaluation ended; at least 0.01 is drawn.", most),
		},
		ShareX: true, ShareY: true,
	}, panels...)
}

// leastShown is the smallest excess that the table tells from less.
const leastShown = 0.001

// lessThan prints a number, or that it is less than the least.
func lessThan(least, v float64) string {
	switch {
	case v < least:
		return fmt.Sprintf("< %g", least)
	case v > 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// Table says which estimator is the best use of each budget, and when the exact likelihood by structure needs no other.
func (r Races) Table() *viz.Table {
	const negligible = 0.1 // nats
	shown := []float64{0.003, 0.01, 0.1, 1}
	t := &viz.Table{
		Caption: "The best use of a budget of processor time: the lowest exact NLL above its optimum (nats)",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "times"}, {Name: "signal/noise", Format: viz.Fixed(0)}, {Name: "n"}},
		Notes: smokeNote([]string{"Medians over draws. Exact: by the engine that suits the series; within 0.1 nats it counts as " +
			"best. “—”: no estimator has ended its first evaluation. Whittle takes regular times only. Signal/noise: ratio of " +
			"variances."}),
	}
	for _, budget := range shown {
		t.Columns = append(t.Columns, viz.Column{Name: fmt.Sprintf("after %g s", budget)})
	}
	t.Columns = append(t.Columns, viz.Column{Name: "best approximation after 1 s"},
		viz.Column{Name: "exact within 0.1 nats", Unit: "s"})
	for _, on := range r.courses() {
		times := map[bool]string{false: "regular", true: "random"}[on.Random]
		row := []any{on.Kernel, times, on.Ratio, on.N}
		excess := make([][]float64, len(racers))
		for i, by := range racers {
			excess[i] = r.excess(on, by)
		}
		best := func(b int, exactToo bool) string {
			winner, least := "—", math.Inf(1)
			for i, by := range racers {
				if excess[i] == nil || by.exact && !exactToo {
					continue
				}
				if v := excess[i][b]; v < least {
					winner, least = by.name+" "+lessThan(leastShown, v), v
					if by.exact && v <= negligible {
						return by.name
					}
				}
			}
			return winner
		}
		for _, budget := range shown {
			row = append(row, best(slices.Index(experiment.Budgets, budget), true))
		}
		row = append(row, best(len(experiment.Budgets)-1, false))
		var reached any
		for b, v := range excess[0] {
			if v <= negligible {
				reached = experiment.Budgets[b]
				break
			}
		}
		t.Rows = append(t.Rows, append(row, reached))
	}
	return t
}
