package exhibit

import (
	"context"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// E1Protocols compares our protocol with the paper's.
func E1Protocols(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "How far above the optimum of the exact NLL each method ends, k = m = 100: the paper's optimisers, and L-BFGS to " +
			"the optimum",
		Columns: []viz.Column{{Name: "protocol"}, {Name: "method"}, {Name: "above the optimum", Unit: "nats", Format: viz.Digits(3)},
			{Name: "noise variance", Format: viz.Digits(3)},
			{Name: "evaluations", Format: viz.Fixed(0)}, {Name: "time", Unit: "s", Format: viz.Digits(2)}, {Name: "worse than untrained"}},
		Notes: smokeNote([]string{"The optimum is the lowest exact NLL of each draw; the true noise variance is 0.1. The paper " +
			"protocol uses dense arithmetic, ours the cheapest engine.", directions(20, all[0].Trial.Source.N), machines(all)}),
	}
	for _, o := range []struct{ name, method string }{{"paper, BFGS", "BFGS"}, {"paper, Adam", "Adam"},
		{"gppl, L-BFGS to the optimum", "L-BFGS"}} {
		for _, m := range methods {
			ours := experiment.Where(all, experiment.E1By(o.method, m))
			t.Rows = append(t.Rows, []any{o.name, m, spread(experiment.Excess(all, ours)), spread(noise(ours)), evaluations(ours),
				spread(experiment.Values(ours, seconds)), share(experiment.Failures(ours), len(ours))})
		}
	}
	return t
}

func noise(all []experiment.Outcome) []float64 {
	return experiment.Values(all, func(o experiment.Outcome) float64 {
		if len(o.Theta) == 0 {
			return 0
		}
		return o.Theta[len(o.Theta)-1]
	})
}

// Table1Notebook compares the published Table 1 with the results of the settings of the authors' notebook.
func Table1Notebook(all []experiment.Outcome, p experiment.Published) *viz.Table {
	t := &viz.Table{
		Caption: fmt.Sprintf("The paper's Table 1 with the settings of the authors' notebook, k = m = %d: exact NLL above ML's",
			experiment.NotebookOrder(scales.FromEnvironment())),
		Columns: []viz.Column{{Name: "optimiser"}, {Name: "method"}, {Name: "published", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "ours, over draws", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "draws that end lower"}, {Name: "noise variance learnt", Format: viz.Digits(3)},
			{Name: "evaluations", Format: viz.Fixed(0)}},
		Notes: smokeNote([]string{"Settings: noise variance ln 1.1, PyTorch's Adam and L-BFGS, Repulsive projections of 400 vectors, " +
			"the repulsion of inducing inputs, their additions to diagonals. Rows of ML: above the optimum " +
			"found by L-BFGS with a line search."}),
	}
	for _, optimiser := range []string{"BFGS", "Adam"} {
		for _, m := range methods {
			ours := experiment.Where(all, experiment.NotebookE1(optimiser, m))
			if len(ours) == 0 {
				continue
			}
			excess := experiment.Excess(all, ours)
			published := p.E1[optimiser][m].NLL - p.E1[optimiser][experiment.ML].NLL
			lower := 0
			for _, x := range excess {
				if x < published {
					lower++
				}
			}
			row := []any{optimiser, m, published, spread(excess), share(lower, len(excess)), spread(noise(ours)), evaluations(ours)}
			if m == experiment.ML {
				row[2], row[4] = nil, nil
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// E1Options shows how each of the authors' settings changes what Adam learns, on the same draws.
func E1Options(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "The authors' settings, one at a time (E1, Adam, k = m of their notebook)",
		Columns: []viz.Column{{Name: "method"}, {Name: "setting"}, {Name: "draws"},
			{Name: "exact NLL above the optimum", Unit: "nats", Format: viz.Digits(3)},
			{Name: "changed by the setting, same draws", Unit: "nats", Format: viz.Digits(2)},
			{Name: "noise variance", Format: viz.Digits(3)}, {Name: "evaluations", Format: viz.Fixed(0)}},
		Notes: smokeNote(nil),
	}
	diagonal := experiment.Authors{Diagonal: experiment.PLDiagonal}
	plainPL, plainVFE := experiment.Where(all, experiment.NotebookE1With(experiment.PL, diagonal)),
		experiment.Where(all, experiment.NotebookE1With(experiment.VFE, experiment.Authors{}))
	for _, c := range []struct {
		loss, name string
		with, base []experiment.Outcome
	}{
		{experiment.PL, "Sphere, several Ω for each draw", plainPL, nil},
		{experiment.PL, "Repulsive, k of 400 vectors", experiment.Where(all, experiment.NotebookE1("Adam", experiment.PL)), plainPL},
		{experiment.PL, "Sphere, single precision", experiment.Where(all,
			experiment.NotebookE1With(experiment.PL, experiment.Authors{Diagonal: diagonal.Diagonal, Float32: true})), plainPL},
		{experiment.VFE, "none", plainVFE, nil},
		{experiment.VFE, "repulsion of inducing inputs", experiment.Where(all, experiment.NotebookE1("Adam", experiment.VFE)),
			plainVFE},
		{experiment.VFE, "noise in K_uu", experiment.Where(all,
			experiment.NotebookE1With(experiment.VFE, experiment.Authors{NoiseInGram: true})), plainVFE},
		{experiment.VFE, "single precision", experiment.Where(all,
			experiment.NotebookE1With(experiment.VFE, experiment.Authors{Float32: true})), plainVFE},
	} {
		if len(c.with) == 0 {
			continue
		}
		var changed any
		if c.base != nil {
			var change []float64
			for _, o := range c.with {
				for _, b := range c.base {
					if b.Trial.Source == o.Trial.Source {
						change = append(change, o.NLL-b.NLL)
						break
					}
				}
			}
			changed = spread(change)
		}
		t.Rows = append(t.Rows, []any{c.loss, c.name, len(c.with), spread(experiment.Excess(all, c.with)), changed,
			spread(noise(c.with)), evaluations(c.with)})
	}
	return t
}

// E1Precision compares VFE and PL in double and in single precision on the same draws, computed as in the authors' code, with
// the k = m of the text.
func E1Precision(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "VFE and PL with k = m of the text, as the authors' code computes them (E1, Adam), on the same draws in double and " +
			"in single precision",
		Columns: []viz.Column{{Name: "method"}, {Name: "precision"}, {Name: "draws"}, {Name: "broke off"},
			{Name: "exact NLL above the optimum", Unit: "nats", Format: viz.Digits(3)},
			{Name: "failed factorisations", Format: viz.Fixed(0)}, {Name: "noise variance", Format: viz.Digits(3)},
			{Name: "evaluations", Format: viz.Fixed(0)}},
		Notes: smokeNote([]string{"A failed factorisation is retried with ten times more on the diagonal, up to five times; then " +
			"training breaks off."}),
	}
	for _, loss := range []string{experiment.VFE, experiment.PL} {
		for _, single := range []bool{false, true} {
			runs := experiment.Where(all, experiment.NotebookE1Text(loss, single))
			if len(runs) == 0 {
				continue
			}
			draws := len(runs)
			runs = slices.DeleteFunc(runs, func(o experiment.Outcome) bool { return o.Error != "" })
			t.Rows = append(t.Rows, []any{loss, map[bool]string{false: "double", true: "single"}[single], draws, draws - len(runs),
				spread(experiment.Excess(all, runs)),
				spread(experiment.Values(runs, func(o experiment.Outcome) float64 { return float64(o.Retries) })),
				spread(noise(runs)), evaluations(runs)})
		}
	}
	return t
}

// E1NotebookStrips shows the excess of every draw with the settings of the authors' notebook, and the published figures.
func E1NotebookStrips(all []experiment.Outcome, p experiment.Published) (*viz.Figure, error) {
	const least = 1e-2 // nats; the reason is in E1Strips
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title:  fmt.Sprintf("The paper's Table 1 is one draw of k = m = %d", experiment.NotebookOrder(scales.FromEnvironment())),
			XLabel: "optimiser", YLabel: "exact NLL above ML's (nats)", Height: 340,
			Caption: "E1 with the settings of the authors' notebook, one dot per draw: how far the exact NLL at the learnt " +
				"hyperparameters lies above ML's optimum for that draw (at least 0.01 is drawn). Diamonds: the paper's Table 1.",
		},
		LogY: true,
	}
	o.Strips = excessStrips(all, p, []string{"BFGS", "Adam"}, experiment.NotebookE1, least)
	return viz.Strips(o)
}

// E1Strips shows the excess of every draw over ML's optimum.
func E1Strips(all []experiment.Outcome, p experiment.Published) (*viz.Figure, error) {
	const least = 1e-4 // nats: smaller values are negligible, and would stretch a log axis
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: "Proper VFE is at the optimum; PL depends on the draw of the projections", XLabel: "optimiser",
			YLabel: "exact NLL above its optimum (nats)", Height: 400,
			Caption: "E1 with k = m = 100, one dot per draw: how far the exact NLL at the learnt hyperparameters lies above its minimum " +
				"for that draw (values below 1e-4 are drawn at 1e-4). Paper protocol: BFGS and Adam; ours: L-BFGS to the optimum. " +
				"Diamonds: the published figures, which were made with k = m = 40.",
		},
		LogY: true,
	}
	o.Strips = excessStrips(all, p, []string{"BFGS", "Adam", "L-BFGS"}, experiment.E1By, least)
	return viz.Strips(o)
}

// excessStrips shows, for VFE and PL by optimiser, how far above ML's optimum each run ends (at least least), and the published
// gaps.
func excessStrips(all []experiment.Outcome, p experiment.Published, optimisers []string,
	by func(method, loss string) func(experiment.Trial) bool, least float64) (strips []viz.Strip) {
	for _, optimiser := range optimisers {
		for _, m := range []string{experiment.VFE, experiment.PL} {
			values := experiment.Excess(all, experiment.Where(all, by(optimiser, m)))
			s := viz.Strip{Name: m, Group: optimiser, Values: atLeast(least, values), Slot: slots[m]}
			if v, ok := p.E1[optimiser]; ok && scales.FromEnvironment() == scales.Full {
				s.Marks = []float64{v[m].NLL - v[experiment.ML].NLL}
			}
			strips = append(strips, s)
		}
	}
	return strips
}

// atLeast raises values below least to it, since a log axis cannot show 0.
func atLeast(least float64, values []float64) []float64 {
	for i := range values {
		values[i] = max(values[i], least)
	}
	return values
}

// number of draws for which Figure2 shows PL: its variance differs by factors between draws
const figure2Draws = 5

// Figure2 is the paper's Figure 2: the variance of a noisy observation along x, as the authors' code predicts it with what each
// method learnt on the first draw, PL also on further ones, and the curves read from their figure.
func Figure2(all []experiment.Outcome) (*viz.Figure, error) {
	published, err := experiment.PublishedFigure(2)
	if err != nil {
		return nil, err
	}
	var panels []*viz.Figure
	for _, optimiser := range []string{"Adam", "BFGS"} {
		var curves []viz.Curve
		for _, m := range methods {
			for _, o := range experiment.Where(all, experiment.NotebookE1(optimiser, m)) {
				if seed := o.Trial.Source.Seed; o.Error != "" || seed > 1 && (m != experiment.PL || seed > figure2Draws) {
					continue
				}
				data, err := o.Trial.Source.Load()
				if err != nil {
					return nil, err
				}
				model := gppl.PaperModel(experiment.Kernels[o.Trial.Kernel]).WithParams(o.Theta)
				lo, hi := data.Train.X.Range(0)
				x := experiment.Grid(lo, hi, 500)
				exact, err := experiment.Posterior(model, nil, data)
				if err != nil {
					return nil, err
				}
				_, variance, _ := exact.Noisy(context.Background(), gppl.Scalars(x))
				if m == experiment.VFE {
					curves = append(curves, viz.Curve{Name: "VFE, exact posterior", X: x, Y: variance, Slot: viz.Green})
					if variance, err = experiment.ForwardVFE(model, o.Inducing, data, x); err != nil {
						return nil, err
					}
				}
				c := viz.Curve{Name: m, X: x, Y: variance, Slot: slots[m]}
				if o.Trial.Source.Seed > 1 {
					c.Name = "" // one entry in the legend
				}
				curves = append(curves, c)
			}
		}
		if scales.FromEnvironment() == scales.Full {
			for _, c := range published {
				if c.Panel == optimiser {
					dots := viz.Curve{Name: c.Name + ", published", Slot: slots[c.Name], Dots: true, NoLine: true}
					for i := 0; i < len(c.X); i += 6 { // more markers would hide the lines
						dots.X, dots.Y = append(dots.X, c.X[i]), append(dots.Y, c.Y[i])
					}
					curves = append(curves, dots)
				}
			}
		}
		if len(curves) == 0 {
			continue
		}
		f, err := viz.Curves(viz.CurvesOptions{Frame: viz.Frame{Title: optimiser, XLabel: "x", YLabel: "variance"}, LogY: true,
			Curves: curves})
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(len(panels), 1, viz.GridOptions{
		Frame: viz.Frame{Title: "Most of VFE's excess variance is a slip in prediction; PL's varies by draw", XLabel: "x",
			YLabel: "variance of a noisy observation", Height: 120 + 260*float64(len(panels)),
			Caption: "The paper's Figure 2. Lines: ours, on our first draw and for PL on four further ones, with the settings of the " +
				"authors' " +
				"notebook and predicted as in their code. Dots: read from their vector figures, for their draw. “VFE, exact posterior” is " +
				"predicted with VFE's own hyperparameters too."},
		ShareX: true, ShareY: true,
	}, panels...)
}

// E1Variance compares mean variances with ML's: ours over all draws, and the values read from the paper's figure.
func E1Variance(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "The paper's Figure 2 as numbers: mean variance of a noisy observation over the range, as a multiple of ML's on the " +
			"same draw",
		Columns: []viz.Column{{Name: "optimiser"}, {Name: "method"}, {Name: "read from the paper's figure", Format: viz.Digits(3)},
			{Name: "ours, as their code predicts", Format: viz.Digits(3)}, {Name: "ours, by its own posterior", Format: viz.Digits(3)},
			{Name: "ours, by the exact posterior", Format: viz.Digits(3)},
			{Name: "of the function alone, by its own posterior", Format: viz.Digits(3)}},
		Notes: smokeNote([]string{"Its own posterior: of VFE the sparse one. Runs that diverged, which end above where training " +
			"began, are left out."}),
	}
	published := experiment.Figure2Published()
	row := func(optimiser, method string, published any, v experiment.Variances) {
		if len(v.Theirs) > 0 {
			t.Rows = append(t.Rows, []any{optimiser, method, published, spread(v.Theirs), spread(v.Sparse),
				spread(v.Exact), spread(v.Latent)})
		}
	}
	for _, optimiser := range []string{"BFGS", "Adam"} {
		for _, m := range []string{experiment.VFE, experiment.PL} {
			row(optimiser, m, published[optimiser+m], experiment.Figure2Ratios(all, m, optimiser))
		}
	}
	return t
}
