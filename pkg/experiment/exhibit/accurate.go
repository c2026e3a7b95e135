package exhibit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// AccurateTable shows how far above ML's optimum two sorts of fits end, over many draws: automatic fits and the paper's PL.
func AccurateTable(all []experiment.Outcome) *viz.Table {
	scale := scales.FromEnvironment()
	t := &viz.Table{
		Caption: "Exact NLL above ML's own optimum (nats), and time, over draws",
		Columns: []viz.Column{{Name: "draw of SE"}, {Name: "method"}, {Name: "above the optimum", Unit: "nats", Format: viz.Digits(2)},
			{Name: "failed"}, {Name: "k", Format: viz.Fixed(0)},
			{Name: "exact taken"}, {Name: "time", Unit: "s", Format: viz.Digits(2)}},
		Notes: smokeNote([]string{"Failed: in error, or worse than untrained, or not reported as converged.", machines(all)}),
	}
	for _, source := range experiment.AccurateSources(scale) {
		for _, loss := range []string{experiment.AutoProjected, experiment.Auto, experiment.ML, experiment.PL} {
			ours := experiment.AccurateBy(all, source, loss, experiment.AccurateSeeds(scale))
			name := map[string]string{experiment.AutoProjected: "projected, k by itself", experiment.Auto: "automatic",
				experiment.ML: "ML, engines", experiment.PL: "paper's PL, k = 100, converged"}[loss]
			row := []any{fmt.Sprintf("n = %d, l = %g", source.N, source.Lengthscale), name, spread(experiment.Excess(all, ours)),
				share(experiment.Unsuccessful(ours), len(ours)), nil, nil, spread(experiment.Values(ours, seconds))}
			if loss == experiment.Auto || loss == experiment.AutoProjected {
				k, exact := experiment.Orders(ours)
				row[4], row[5] = spread(k), share(exact, len(ours))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// AccurateStrips shows the excess over ML's optimum of each draw, as in [AccurateTable].
func AccurateStrips(all []experiment.Outcome) (*viz.Figure, error) {
	scale := scales.FromEnvironment()
	const least = 1e-6 // nats; smaller than the constant below, because these fits come closer
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: "Projections that choose their number are as accurate as ML", XLabel: "draws of SE",
			YLabel: "exact NLL above its optimum (nats)", Height: 350,
			Caption: "One dot a draw: excess over ML's own optimum (at least 1e-6 is drawn). The rule at 0.5 nats is what half of the " +
				"draws must keep.",
		},
		LogY:  true,
		Rules: []viz.Rule{{Y: 0.5, Name: "0.5 nats"}},
	}
	for _, source := range experiment.AccurateSources(scale) {
		for i, loss := range []string{experiment.AutoProjected, experiment.PL} {
			v := experiment.Excess(all, experiment.AccurateBy(all, source, loss, experiment.AccurateSeeds(scale)))
			o.Strips = append(o.Strips, viz.Strip{Name: []string{"projected, k chosen", "the paper's PL, k = 100"}[i],
				Group: fmt.Sprintf("n = %d, ℓ = %g", source.N, source.Lengthscale), Values: atLeast(least, v),
				Slot: []int{viz.Green, viz.Blue}[i]})
		}
	}
	return viz.Strips(o)
}

// AccurateSunspots compares the automatic fits on the sunspots with the optimum.
func AccurateSunspots(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "Sunspots: automatic fits and exact ML",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "ML optimum", Unit: "nats", Format: viz.Fixed(3)}, {Name: "method"},
			{Name: "exact NLL", Unit: "nats", Format: viz.Fixed(3)}, {Name: "above", Format: viz.Digits(2)},
			{Name: "k"}, {Name: "time", Unit: "s", Format: viz.Digits(2)}, {Name: "status"}, {Name: "why"}},
		Notes: smokeNote(nil),
	}
	for _, kernel := range experiment.KernelNames {
		for _, loss := range []string{experiment.AutoProjected, experiment.Auto} {
			for _, o := range experiment.Where(all, func(x experiment.Trial) bool {
				return x.Source.Name == "sunspots" && x.Kernel == kernel && x.Loss == loss
			}) {
				best := experiment.Optimum(all, o.Trial)
				t.Rows = append(t.Rows, []any{kernel, best, loss, o.NLL, math.Max(0, o.NLL-best), orExact(o.K), o.Seconds(), o.Status, o.Why})
			}
		}
	}
	return t
}

// orExact prints a number of projections, or "exact" for none.
func orExact(k int) any {
	if k == 0 {
		return "exact"
	}
	return k
}

// Calibration shows in how many draws the truth lies within two reported standard errors of the estimate.
func Calibration(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "Coverage: draws with the truth within two stated standard errors of the estimate",
		Columns: []viz.Column{{Name: "parameter"}, {Name: "truth"}, {Name: "estimate", Format: viz.Digits(3)},
			{Name: "stated standard error of the log", Format: viz.Digits(3)},
			{Name: "spread of the log over draws", Format: viz.Digits(3)}, {Name: "covered"}, {Name: "share", Format: viz.Percent(1)}},
		Notes: smokeNote([]string{"95.4 % is what normal estimates with right standard errors give."}),
	}
	for _, c := range experiment.Coverages(all) {
		t.Rows = append(t.Rows, []any{c.Name, c.Truth, spread(c.Estimates), spread(c.Stated), c.Spread, share(c.Covered, c.Of),
			float64(c.Covered) / float64(c.Of)})
	}
	return t
}

// Speed compares the time to the answer with ML's by the dense engine, in the same run.
func Speed(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "Time to the answer, set-up included",
		Columns: []viz.Column{{Name: "draw of SE"}, {Name: "ML dense", Unit: "s", Format: viz.Digits(3)},
			{Name: "automatic", Unit: "s", Format: viz.Digits(3)}, {Name: "dense / automatic", Format: viz.Digits(3)},
			{Name: "kept to projections", Unit: "s", Format: viz.Digits(3)}, {Name: "dense / projected", Format: viz.Digits(3)},
			{Name: "ML by engines", Unit: "s", Format: viz.Digits(3)}, {Name: "dense / engines", Format: viz.Digits(3)}},
		Notes: smokeNote([]string{"One draw each, one trial at a time. Dense ML and ML by engines start where the paper does, the " +
			"automatic fits from the data."}),
	}
	for _, s := range experiment.Speeds(all) {
		t.Rows = append(t.Rows, []any{s.Source.String(), s.Dense, s.Automatic, s.Dense / s.Automatic, s.Projected,
			s.Dense / s.Projected, s.Engines, s.Dense / s.Engines})
	}
	return t
}

// AccurateTrace shows how k was chosen on the first draw of each source and on the sunspots.
func AccurateTrace(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "How k was chosen, step by step (fits kept to projections)",
		Columns: []viz.Column{{Name: "data"}, {Name: "k"}, {Name: "above the optimum", Unit: "nats", Format: viz.Digits(3)},
			{Name: "time", Unit: "s", Format: viz.Digits(2)}, {Name: "decision"}},
		Notes: smokeNote(nil),
	}
	for _, o := range all {
		if o.Trial.Loss != experiment.AutoProjected || o.Trial.Source.Seed > 1 {
			continue
		}
		name := o.Trial.Source.String()
		if o.Trial.Source.Name == "sunspots" {
			name += " " + o.Trial.Kernel
		}
		for _, step := range o.Steps {
			t.Rows = append(t.Rows, []any{name, orExact(step.K), step.NLL - experiment.Optimum(all, o.Trial), step.Seconds, step.Decision})
		}
	}
	return t
}

// ExcessCurves shows the excess over ML against k by design, on the largest of the sources, without and with the residual energy.
func ExcessCurves(all []experiment.Outcome) (*viz.Figure, error) {
	var panels []*viz.Figure
	for _, p := range []struct{ loss, title string }{{experiment.PL, "A: PL"},
		{experiment.Residual, "B: PL and the residual energy"}} {
		f, err := curves(all, p.loss, viz.Frame{Title: p.title, XLabel: "number of projections k", YLabel: "excess (nats)"},
			func(ours []experiment.Outcome) viz.Point { return viz.Point{X: float64(ours[0].Trial.Order)} })
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(1, 2, viz.GridOptions{
		Frame: viz.Frame{
			Title:  "With the residual energy and enough Spectral projections, nothing is left to gain",
			XLabel: "number of projections k", YLabel: "exact NLL above its optimum (nats)", Height: 400,
			Caption: "Medians over draws with quartiles, joined by design, " + largestInWords() + ", trained by L-BFGS to the optimum. " +
				leastDrawn,
		},
		ShareX: true, ShareY: true,
	}, panels...)
}

// ExcessAgainstTime shows the excess against the time to the answer, with the residual energy.
func ExcessAgainstTime(all []experiment.Outcome) (*viz.Figure, error) {
	return curves(all, experiment.Residual, viz.Frame{
		Title: "What time buys, by design of the projections", XLabel: "time, set-up included (s)",
		YLabel: "exact NLL above its optimum (nats)", Height: 400,
		Caption: "PL with the residual energy: medians over draws, joined by design, " + largestInWords() +
			"; the number beside a marker is k. " + leastDrawn,
	}, func(ours []experiment.Outcome) viz.Point {
		mid, _, _ := quartiles(experiment.Values(ours, seconds))
		return viz.Point{X: mid, Label: fmt.Sprint(ours[0].Trial.Order)}
	})
}

// largest returns the source of the curves with the most observations.
func largest() experiment.Source {
	return slices.MaxFunc(experiment.CurveSources(scales.FromEnvironment()),
		func(a, b experiment.Source) int { return cmp.Compare(a.N, b.N) })
}

func largestInWords() string {
	s := largest()
	return fmt.Sprintf("SE with lengthscale %g, n = %d", s.Lengthscale, s.N)
}

const (
	least      = 1e-3 // nats: smaller values are negligible, and would stretch a log axis
	leastDrawn = "At least 1e-3 is drawn; arrow heads: beyond the axis."
)

// looks are the markers of the designs.
var looks = map[string]viz.PointGroup{
	"Sphere": {Slot: viz.Blue, Marker: viz.Triangle}, "Localised": {Slot: viz.Orange, Marker: viz.Diamond},
	"One-hot": {Slot: viz.Vermillion, Marker: viz.Square}, "Spectral": {Slot: viz.Green, Marker: viz.Disc},
}

// curves draws the excess of one loss by design and k on the largest source. place returns the position along x and the label.
func curves(all []experiment.Outcome, loss string, frame viz.Frame,
	place func([]experiment.Outcome) viz.Point) (*viz.Figure, error) {
	o := viz.ScatterOptions{Frame: frame, LogX: true, LogY: true, YRange: [2]float64{least, 1e4}}
	source := largest()
	for _, design := range experiment.CurveDesigns {
		group := looks[design]
		group.Name, group.Joined = design, true
		for _, k := range experiment.CurveOrders(scales.FromEnvironment()) {
			ours := experiment.Where(all, func(t experiment.Trial) bool {
				return t.Source.N == source.N && t.Loss == loss && t.Design == design && t.Order == k
			})
			if len(ours) == 0 {
				continue
			}
			p := place(ours)
			mid, lo, hi := quartiles(experiment.Excess(all, ours))
			p.Y, p.YLo, p.YHi = max(mid, least), max(lo, least), max(hi, least)
			group.Points = append(group.Points, p)
		}
		o.Groups = append(o.Groups, group)
	}
	return viz.Scatter(o)
}
