package show

import (
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Table1 is the paper's Table 1 in its own layout: NLL and time of three methods by two optimisers, published and ours.
func Table1(all []experiment.Outcome, p experiment.Published) *viz.Table {
	t := &viz.Table{Caption: "Table 1: NLL and running time for different methods and optimisers, paper protocol", Columns: []viz.Column{{Name: ""}}}
	rows := [][]any{{"NLL (nats), published"}, {"NLL (nats), ours"}, {"above the optimum of the draw, published*"}, {"above the optimum of the draw, ours"},
		{"Time (s), published"}, {"Time (s), ours, dense"}, {"evaluations, ours"}}
	for _, optimiser := range []string{"BFGS", "Adam"} {
		for _, m := range methods {
			t.Columns = append(t.Columns, viz.Column{Name: optimiser + " " + m, Format: viz.Digits(4)})
			ours := experiment.Where(all, experiment.E1By(optimiser, m))
			published := p.E1[optimiser][m]
			for i, v := range []any{published.NLL, spread(experiment.NLLs(ours)), published.NLL - p.E1[optimiser][experiment.ML].NLL, spread(experiment.Excess(all, ours)),
				published.Seconds, spread(experiment.Values(ours, seconds)), evaluations(ours)} {
				rows[i] = append(rows[i], v)
			}
		}
	}
	t.Rows = rows
	t.Notes = smokeNote([]string{"The draw of the paper is not published: ours are other draws of the same model, so that NLL itself differs from draw to draw; what can be compared is how far above ML's a method ends.",
		"* ML's by the same optimiser.", machines(all)})
	return t
}

// E1Protocols sets our protocol beside the paper's.
func E1Protocols(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "E1 under both protocols",
		Columns: []viz.Column{{Name: "protocol"}, {Name: "method"}, {Name: "above the optimum", Unit: "nats", Format: viz.Digits(3)}, {Name: "noise variance", Format: viz.Digits(3)},
			{Name: "evaluations", Format: viz.Fixed(0)}, {Name: "time", Unit: "s", Format: viz.Digits(2)}, {Name: "worse than untrained"}},
		Notes: smokeNote([]string{"The optimum is that of the exact NLL of each draw; the true noise variance is 0.1. The paper protocol runs densely, ours by the engine that is cheapest.", directions(20, all[0].Trial.Source.N), machines(all)}),
	}
	for _, o := range []struct{ name, method string }{{"paper, BFGS", "BFGS"}, {"paper, Adam", "Adam"}, {"gppl, L-BFGS to the optimum", "L-BFGS"}} {
		for _, m := range methods {
			ours := experiment.Where(all, experiment.E1By(o.method, m))
			t.Rows = append(t.Rows, []any{o.name, m, spread(experiment.Excess(all, ours)), spread(noise(ours)), evaluations(ours), spread(experiment.Values(ours, seconds)), share(experiment.Failures(ours), len(ours))})
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

// E1Options shows what each of the authors' options does to what Adam learns on the same draws.
func E1Options(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "The authors' options, one at a time (E1, Adam)",
		Columns: []viz.Column{{Name: "method"}, {Name: "option"}, {Name: "above the optimum", Unit: "nats", Format: viz.Digits(3)},
			{Name: "changed by the option", Unit: "nats", Format: viz.Digits(2)}, {Name: "noise variance", Format: viz.Digits(3)}, {Name: "evaluations", Format: viz.Fixed(0)}},
		Notes: smokeNote(nil),
	}
	add := func(loss, name string, match func(experiment.Trial) bool) {
		plain := experiment.Where(all, experiment.E1By("Adam", loss))
		with := experiment.Where(all, match)
		var change []float64
		base := map[uint64]float64{}
		for _, o := range plain {
			base[o.Trial.Source.Seed] = o.NLL
		}
		for _, o := range with {
			change = append(change, o.NLL-base[o.Trial.Source.Seed])
		}
		var changed any
		if name != "none" {
			changed = spread(change)
		}
		t.Rows = append(t.Rows, []any{loss, name, spread(experiment.Excess(all, with)), changed, spread(noise(with)), evaluations(with)})
	}
	option := func(loss string, a experiment.Authors) func(experiment.Trial) bool {
		return func(x experiment.Trial) bool { return x.Loss == loss && x.Authors == a && x.Optimiser.Method == "Adam" }
	}
	add(experiment.PL, "none", experiment.E1By("Adam", experiment.PL))
	add(experiment.PL, "1e-4 on the diagonal of K", option(experiment.PL, experiment.Authors{Diagonal: 1e-4}))
	add(experiment.PL, "single precision (float32)", option(experiment.PL, experiment.Authors{Float32: true}))
	add(experiment.PL, "Repulsive directions, k = 40, as in the notebook", func(x experiment.Trial) bool { return x.Design == "Repulsive" })
	add(experiment.ML, "none", experiment.E1By("Adam", experiment.ML))
	add(experiment.ML, "single precision (float32)", option(experiment.ML, experiment.Authors{Float32: true}))
	add(experiment.VFE, "none", experiment.E1By("Adam", experiment.VFE))
	add(experiment.VFE, "repulsion of inducing inputs, weight 1000", option(experiment.VFE, experiment.Authors{Repulsion: 1000}))
	add(experiment.VFE, "noise variance in K_uu (their code: not for SE)", option(experiment.VFE, experiment.Authors{NoiseInGram: true}))
	return t
}

// E1Strips shows every draw.
func E1Strips(all []experiment.Outcome, p experiment.Published) (*viz.Figure, error) {
	const least = 1e-4 // what is less is as good as nothing, and has no place on a log axis
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: "Proper VFE is at the optimum; PL depends on the draw of the projections", XLabel: "optimiser and method", YLabel: "exact NLL above its optimum (nats)", Height: 400,
			Caption: "E1, one dot a draw: how far the exact NLL at the learnt hyperparameters lies above its minimum for that draw (at least 1e-4 is drawn). Paper protocol: BFGS and Adam; ours: L-BFGS to the optimum. Marks: the published figures.",
		},
		LogY: true,
	}
	for _, optimiser := range []string{"BFGS", "Adam", "L-BFGS"} {
		for _, m := range []string{experiment.VFE, experiment.PL} {
			values := experiment.Excess(all, experiment.Where(all, experiment.E1By(optimiser, m)))
			for i := range values {
				values[i] = max(values[i], least)
			}
			s := viz.Strip{Name: optimiser + " " + m, Values: values, Slot: slots[m]}
			if v, ok := p.E1[optimiser]; ok && experiment.ScaleFromEnvironment() == experiment.Full {
				s.Marks = []float64{v[m].NLL - v[experiment.ML].NLL}
			}
			o.Strips = append(o.Strips, s)
		}
	}
	return viz.Strips(o)
}

// Figure2 is the paper's Figure 2: the posterior variance of the function along x, by what each method learnt on the first draw.
func Figure2(all []experiment.Outcome) (*viz.Figure, error) {
	var panels []*viz.Figure
	for _, optimiser := range []string{"Adam", "BFGS"} {
		var curves []viz.Curve
		for _, m := range methods {
			for _, o := range experiment.Where(all, experiment.E1By(optimiser, m)) {
				if o.Trial.Source.Seed != 1 || o.Error != "" {
					continue
				}
				data, err := o.Trial.Source.Load()
				if err != nil {
					return nil, err
				}
				posterior, err := experiment.Posterior(gppl.PaperModel(experiment.Kernels[o.Trial.Kernel]).WithParams(o.Theta), o.Inducing, data)
				if err != nil {
					return nil, err
				}
				lo, hi := data.Train.X.Range(0)
				x := experiment.Grid(lo, hi, 500)
				_, variance := posterior.Latent(gppl.Scalars(x))
				curves = append(curves, viz.Curve{Name: m, X: x, Y: variance, Slot: slots[m]})
			}
		}
		f, err := viz.Variance(viz.CurvesOptions{Frame: viz.Frame{Title: optimiser, XLabel: "x", YLabel: "posterior variance"}, Curves: curves})
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(2, 1, viz.GridOptions{
		Frame: viz.Frame{Title: "Posterior variance of the function", XLabel: "x", YLabel: "posterior variance", Height: 520,
			Caption: "The paper's Figure 2 on our first draw: VFE by its own posterior, ML and PL by the exact posterior at what they learnt."},
		ShareX: true, ShareY: true,
	}, panels...)
}

// E1Variance compares the mean posterior variances over all draws.
func E1Variance(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "Mean posterior variance over the range, as a multiple of ML's on the same draw",
		Columns: []viz.Column{{Name: "optimiser"}, {Name: "VFE", Format: viz.Digits(3)}, {Name: "PL", Format: viz.Digits(3)}, {Name: "PL nearer to ML than VFE"}},
		Notes:   smokeNote(nil),
	}
	for _, optimiser := range []string{"BFGS", "Adam", "L-BFGS"} {
		vfe, pl, nearer := experiment.VarianceRatios(all, optimiser)
		t.Rows = append(t.Rows, []any{optimiser, spread(vfe), spread(pl), share(nearer, len(pl))})
	}
	return t
}
