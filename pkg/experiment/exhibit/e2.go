package exhibit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Figure3 is the paper's Figure 3: NLL against time, a panel for each n, medians over draws with quartiles. The paper's protocol
// is shown on data with the authors' noise variance, with dense times: evaluations times the measured cost of one. Ours is shown
// for the smallest and the largest n, on data with the noise variance of the text, on which more draws were timed.
func Figure3(all []experiment.Outcome, p experiment.Published, protocol string) (*viz.Figure, error) {
	scale := scales.FromEnvironment()
	var panels []*viz.Figure
	sizes := experiment.E2Sizes(scale)
	if protocol == experiment.GPPL { // all n give the same message
		sizes = []int{slices.Min(sizes), slices.Max(sizes)}
	}
	for _, n := range sizes {
		f, err := viz.Scatter(E2Panel(all, p, protocol, n))
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	title, caption := "Paper protocol: NLL against time", "The paper's Figure 3, on data with the authors' noise variance ln 1.1. "+
		"Filled markers: our medians over draws, with quartiles; the number beside a marker is k or m, and the dashed line is ML's "+
		"NLL. Hollow markers: the authors' figure, from the outputs of their notebook, for one other draw on another machine. Bars "+
		"may extend beyond the axis. Our times are evaluations times the measured cost of a dense evaluation, plus set-up."
	if protocol == experiment.GPPL {
		title, caption = "Our protocol: ML costs about as much as PL, and less than VFE",
			"L-BFGS to the optimum, each loss by its fastest engine, on data with the noise variance 0.1 of the text, for the smallest "+
				"and the largest n. The number beside a marker is k or m. Times are measured and include set-up. Bars may extend beyond the "+
				"axis, and arrow heads are medians beyond it: converged, PL with k = 50 can drive the noise variance to zero."
	}
	rows := (len(panels) + 1) / 2
	return viz.Grid(rows, 2, viz.GridOptions{Frame: viz.Frame{Title: title, XLabel: "time (s)",
		YLabel: "exact NLL at the learnt hyperparameters (nats)", Caption: caption, Height: 120 + 300*float64(rows)}}, panels...)
}

// E2Panel returns the panel of Figure3 for one n, with groups of one's own beside the stored ones.
func E2Panel(all []experiment.Outcome, p experiment.Published, protocol string, n int, own ...viz.PointGroup) viz.ScatterOptions {
	scale := scales.FromEnvironment()
	by := experiment.E2By
	if protocol == experiment.GPPL {
		by = experiment.E2Stated
	}
	o := viz.ScatterOptions{Frame: viz.Frame{Title: fmt.Sprintf("n = %d", n), XLabel: "time (s)", YLabel: "exact NLL (nats)"},
		LogX: true, LogY: true}
	for _, m := range methods {
		group := viz.PointGroup{Name: m, Marker: markers[m], Slot: slots[m], Joined: true}
		for _, order := range orders(scale, m) {
			ours := slices.DeleteFunc(experiment.Where(all, by(protocol, m, n, order)),
				func(o experiment.Outcome) bool { return o.Error != "" })
			if len(ours) == 0 {
				continue
			}
			pt := viz.Point{Label: label(order)}
			pt.X, pt.XLo, pt.XHi = quartiles(protocolSeconds(all, ours, protocol))
			pt.Y, pt.YLo, pt.YHi = quartiles(experiment.NLLs(ours))
			group.Points = append(group.Points, pt)
			if m == experiment.ML {
				o.Rules = append(o.Rules, viz.Rule{Y: pt.Y, Slot: slots[m]})
			}
		}
		o.Groups = append(o.Groups, group)
	}
	if scale == scales.Full && protocol == experiment.Paper {
		for _, m := range methods {
			group := viz.PointGroup{Name: m + ", published", Marker: markers[m], Slot: slots[m], Hollow: true}
			for _, f := range p.E2 {
				if f.N == n && f.Method == m {
					group.Points = append(group.Points, viz.Point{X: f.Seconds, Y: f.NLL, Label: label(f.Order)})
				}
			}
			o.Groups = append(o.Groups, group)
		}
	}
	o.Groups = append(o.Groups, own...)
	o.YRange = around(o.Groups)
	return o
}

// farthest is the ratio to the lowest marker above which a marker becomes an arrow head at the edge.
const farthest = 4

// around returns a range of the vertical axis that holds the markers. Distant markers and the ends of bars do not stretch it.
func around(groups []viz.PointGroup) [2]float64 {
	lo, hi := math.Inf(1), 0.0
	for _, g := range groups {
		for _, p := range g.Points {
			lo, hi = min(lo, p.Y), max(hi, p.Y)
		}
	}
	hi = min(hi, farthest*lo)
	margin := math.Pow(hi/lo, 0.15) // a share of the height of a log axis
	margin = max(margin, 1.05)
	return [2]float64{lo / margin, hi * margin}
}

func orders(s scales.Scale, method string) []int {
	if method == experiment.ML {
		return []int{0}
	}
	return experiment.E2Orders(s)
}

func label(order int) string {
	if order == 0 {
		return ""
	}
	return strconv.Itoa(order)
}

// E2Table shows all of E2: how far above the optimum each method ends, under both protocols, with the published figures.
func E2Table(all []experiment.Outcome, p experiment.Published) *viz.Table {
	scale := scales.FromEnvironment()
	t := &viz.Table{
		Caption: "E2: exact NLL above the optimum of the draw (nats)",
		Columns: []viz.Column{{Name: "n"}, {Name: "k = m"}, {Name: "VFE published*", Format: viz.Digits(3)},
			{Name: "VFE paper protocol", Format: viz.Digits(3)}, {Name: "VFE converged", Format: viz.Digits(3)},
			{Name: "PL published*", Format: viz.Digits(3)}, {Name: "PL paper protocol", Format: viz.Digits(3)},
			{Name: "PL converged", Format: viz.Digits(3)}},
		Notes: smokeNote([]string{"* Above ML in the same notebook, one draw.",
			"Ours, with noise variance ln 1.1: PL over draws 11 to 20, VFE by the paper protocol over draws 11 to 16. With 0.1: VFE " +
				"converged, over draws 1 to 10. Paper protocol: Adam, stopped by the paper's rule. Converged: L-BFGS to a vanishing " +
				"gradient.",
			directions(5, experiment.E2Sizes(scale)...)}),
	}
	for _, n := range experiment.E2Sizes(scale) {
		for _, order := range experiment.E2Orders(scale) {
			row := []any{n, order}
			for _, m := range []string{experiment.VFE, experiment.PL} {
				row = append(row, publishedGap(p, n, order, m))
				converged := experiment.E2By
				if m == experiment.VFE {
					converged = experiment.E2Stated
				}
				row = append(row, spread(experiment.Excess(all, experiment.Where(all, experiment.E2By(experiment.Paper, m, n, order)))),
					spread(experiment.Excess(all, experiment.Where(all, converged(experiment.GPPL, m, n, order)))))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// publishedGap returns how far above ML a method ends in the authors' notebook, in nats; nil where none is published, as at
// smoke scale.
func publishedGap(p experiment.Published, n, order int, method string) any {
	above := p.Above(n, method, order)
	if math.IsNaN(above) || scales.FromEnvironment() != scales.Full {
		return nil
	}
	return above
}

// E2Single compares VFE in single precision, which the authors used, with VFE in double precision.
func E2Single(all []experiment.Outcome, p experiment.Published) *viz.Table {
	t := &viz.Table{
		Caption: "VFE with m = 150 in single precision: failed factorisations, and exact NLL above the optimum of the draw",
		Columns: []viz.Column{{Name: "n"}, {Name: "failed factorisations, authors' log"},
			{Name: "failed factorisations, ours", Format: viz.Fixed(0)}, {Name: "published*", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "ours in single precision", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "ours in double precision, same draws", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "higher in single precision", Unit: "nats", Format: viz.Fixed(1)}, {Name: "draws"}},
		Notes: smokeNote([]string{"* Above ML in the same notebook, one draw. A failed factorisation is retried with " +
			"ten times more on the diagonal."}),
	}
	for _, n := range experiment.E2Sizes(scales.Full) {
		var failed, single, double, higher []float64
		for _, pair := range experiment.PrecisionPairs(all, n, 150) {
			failed, single, double = append(failed, float64(pair.Failed)), append(single, pair.Single), append(double, pair.Double)
			higher = append(higher, pair.Single-pair.Double)
		}
		if len(single) > 0 {
			t.Rows = append(t.Rows, []any{n, p.Logs.E2Failed[strconv.Itoa(n)], spread(failed), publishedGap(p, n, 150, experiment.VFE),
				spread(single), spread(double), spread(higher), len(single)})
		}
	}
	return t
}

// E2Strips shows the excess of every draw at the largest order.
func E2Strips(all []experiment.Outcome) (*viz.Figure, error) {
	scale := scales.FromEnvironment()
	largest := slices.Max(experiment.E2Orders(scale))
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: fmt.Sprintf("At k = %d PL is not as good as ML", largest), XLabel: "number of observations n",
			YLabel: "exact NLL above its optimum (nats)", Height: 350,
			Caption: fmt.Sprintf("PL with k = %d, one dot per draw, noise variance ln 1.1, by the paper's protocol (Adam, stopped) and "+
				"converged (L-BFGS). Arrow heads: runs beyond the axis.", largest),
		},
		LogY: true, YRange: [2]float64{0.1, 1e4},
	}
	for _, n := range experiment.E2Sizes(scale) {
		for i, protocol := range []string{experiment.Paper, experiment.GPPL} {
			name := []string{"stopped", "converged"}[i]
			o.Strips = append(o.Strips, viz.Strip{Name: name, Group: strconv.Itoa(n),
				Values: experiment.Excess(all, experiment.Where(all, experiment.E2By(protocol, experiment.PL, n, largest))), Slot: i + 1})
		}
	}
	return viz.Strips(o)
}
