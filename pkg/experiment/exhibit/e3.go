package exhibit

import (
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Table2 is the paper's Table 2 in its own layout, published and ours under each protocol.
func Table2(all []experiment.Outcome, p experiment.Published) *viz.Table {
	scale := scales.FromEnvironment()
	order := experiment.SunspotOrder(scale)
	t := &viz.Table{
		Caption: fmt.Sprintf("The paper's Table 2: sunspots, performance and running time (m = k = %d)", order),
		Columns: []viz.Column{{Name: "kernel"}, {Name: ""}, {Name: "ML NLL", Format: viz.Fixed(3)},
			{Name: "ML time", Unit: "s", Format: viz.Digits(3)},
			{Name: "VFE NLL", Format: viz.Fixed(1)}, {Name: "VFE time", Unit: "s", Format: viz.Digits(3)},
			{Name: "PL NLL", Format: viz.Digits(5)}, {Name: "PL time", Unit: "s", Format: viz.Digits(3)}},
		Notes: smokeNote([]string{"NLL in nats: exact, at the learnt hyperparameters. VFE here is without the noise in K_uu. PL over " +
			"draws of the projections, VFE over draws of k-means.",
			"“dense”: evaluations times the measured cost of a dense one; “engines”: as measured.", machines(all)}),
	}
	for _, kernel := range experiment.KernelNames {
		if scale == scales.Full {
			row := []any{kernel, "published"}
			for _, m := range methods {
				row = append(row, p.Sunspots[kernel][m].NLL, p.Sunspots[kernel][m].Seconds)
			}
			t.Rows = append(t.Rows, row)
		}
		for _, protocol := range []string{experiment.Paper, experiment.GPPL} {
			name := map[string]string{experiment.Paper: "paper protocol, dense", experiment.GPPL: "gppl protocol, engines"}[protocol]
			row := []any{kernel, name}
			for _, m := range methods {
				ours := experiment.Where(all, experiment.SunspotsBy(protocol, kernel, m, experiment.Authors{}))
				row = append(row, spread(experiment.NLLs(ours)), spread(protocolSeconds(all, ours, protocol)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// VFEVariants compares the published figures with VFE as published and as in the authors' code.
func VFEVariants(all []experiment.Outcome, p experiment.Published) *viz.Table {
	t := &viz.Table{
		Caption: "Which variant of VFE explains the published figures? Exact NLL at the learnt hyperparameters (nats)",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "proper VFE", Format: viz.Fixed(1)},
			{Name: "with repulsion", Format: viz.Fixed(1)}, {Name: "with the noise in K_uu", Format: viz.Fixed(1)},
			{Name: "with both", Format: viz.Fixed(1)}, {Name: "as their code trains it", Format: viz.Fixed(1)},
			{Name: "published, paper", Format: viz.Fixed(1)}, {Name: "published, notebook", Format: viz.Fixed(1)},
			{Name: "proper, converged", Format: viz.Fixed(1)}, {Name: "noise in K_uu, converged", Format: viz.Fixed(1)}},
		Notes: smokeNote([]string{"The authors' code adds the noise variance to K_uu for every kernel but SE, and to the loss a " +
			"repulsion between inducing points (row code-repulsion of the ledger)."}),
	}
	for _, kernel := range experiment.KernelNames {
		row := []any{kernel}
		for _, a := range []experiment.Authors{{}, {Repel: true}, {NoiseInGram: true}, {NoiseInGram: true, Repel: true}} {
			row = append(row, spread(experiment.NLLs(experiment.Where(all,
				experiment.SunspotsBy(experiment.Paper, kernel, experiment.VFE, a)))))
		}
		row = append(row, spread(experiment.NLLs(experiment.Where(all, experiment.NotebookVFE(kernel)))))
		if scales.FromEnvironment() == scales.Full {
			row = append(row, p.Sunspots[kernel][experiment.VFE].NLL, p.Notebook[kernel][experiment.VFE].NLL)
		} else {
			row = append(row, nil, nil)
		}
		for _, a := range []experiment.Authors{{}, {NoiseInGram: true}} {
			row = append(row, spread(experiment.NLLs(experiment.Where(all,
				experiment.SunspotsBy(experiment.GPPL, kernel, experiment.VFE, a)))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// SunspotsPL shows PL over the draws in four variants: with the paper's stopping rule, with the authors' diagonal, with the
// rule scaled by k/n, and trained to convergence.
func SunspotsPL(all []experiment.Outcome) *viz.Table {
	t := &viz.Table{
		Caption: "PL on the sunspots over draws of the projections: exact NLL (nats) by how training ends",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "paper's rule", Format: viz.Digits(5)},
			{Name: "evaluations", Format: viz.Fixed(0)}, {Name: "rule per number", Format: viz.Digits(5)},
			{Name: "evaluations", Format: viz.Fixed(0)},
			{Name: "1e-4 on the diagonal", Format: viz.Digits(5)}, {Name: "converged", Format: viz.Digits(5)},
			{Name: "noise at its floor"}, {Name: "worse than untrained"}},
		Notes: smokeNote([]string{"“Rule per number”: the tolerance of the paper's rule times k/n, so that a loss of k terms is " +
			"held to the same standard as one of n."}),
	}
	for _, kernel := range experiment.KernelNames {
		stopped := experiment.Where(all, experiment.SunspotsBy(experiment.Paper, kernel, experiment.PL, experiment.Authors{}))
		like := experiment.Where(all, experiment.LooserStop(kernel))
		diagonal := experiment.Where(all, experiment.SunspotsBy(experiment.Paper, kernel, experiment.PL,
			experiment.Authors{Diagonal: 1e-4}))
		converged := experiment.Where(all, experiment.SunspotsBy(experiment.GPPL, kernel, experiment.PL, experiment.Authors{}))
		t.Rows = append(t.Rows, []any{kernel, spread(experiment.NLLs(stopped)), evaluations(stopped), spread(experiment.NLLs(like)),
			evaluations(like), spread(experiment.NLLs(diagonal)),
			spread(experiment.NLLs(converged)), share(experiment.Floors(converged), len(converged)),
			share(experiment.Failures(converged), len(converged))})
	}
	return t
}

// SunspotsExact shows the notebook's PL column, reproduced with its own Ω.
func SunspotsExact(all []experiment.Outcome, p experiment.Published) *viz.Table {
	t := &viz.Table{
		Caption: "PL with the Ω of NumPy's seed 55 beside the column of the authors' notebook",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "PL at the start", Format: viz.Fixed(4)}, {Name: "stops at step"},
			{Name: "stops at step, notebook"}, {Name: "exact NLL", Unit: "nats", Format: viz.Fixed(6)},
			{Name: "exact NLL, notebook", Unit: "nats", Format: viz.Fixed(8)}, {Name: "relative difference", Format: viz.Digits(1)},
			{Name: "other draws of Ω", Unit: "nats", Format: viz.Digits(5)}},
		Notes: smokeNote([]string{"The whole column uses one Ω, because the code sets the seed at every evaluation. It is one draw " +
			"from the distribution in the last column."}),
	}
	for _, kernel := range experiment.KernelNames {
		for _, o := range experiment.Where(all, experiment.NotebookPL(kernel)) {
			row := []any{kernel, o.Start, o.Evaluations - 1, nil, o.NLL, nil, nil,
				spread(experiment.NLLs(experiment.Where(all, experiment.SunspotsBy(experiment.Paper, kernel,
					experiment.PL, experiment.Authors{}))))}
			if scales.FromEnvironment() == scales.Full {
				published := p.NotebookDigits[kernel]
				row[3], row[5], row[6] = p.Logs.Stops[kernel][experiment.PL], published, math.Abs(o.NLL/published-1)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// SunspotsStrips shows every run of PL and the published figure, as excess over ML.
func SunspotsStrips(all []experiment.Outcome, p experiment.Published) (*viz.Figure, error) {
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: "One draw of the projections says little", XLabel: "kernel, paper protocol",
			YLabel: "exact NLL above its optimum (nats)", Height: 350,
			Caption: "Sunspots, one dot per run: PL over thirty draws of the projections, VFE without the noise in K_uu over three " +
				"draws of k-means. Diamonds: the published figures, above our optimum for the same kernel.",
		},
		LogY: true,
	}
	for _, kernel := range experiment.KernelNames {
		for _, m := range []string{experiment.VFE, experiment.PL} {
			ours := experiment.Where(all, experiment.SunspotsBy(experiment.Paper, kernel, m, experiment.Authors{}))
			s := viz.Strip{Name: m, Group: kernel, Values: experiment.Excess(all, ours), Slot: slots[m]}
			if scales.FromEnvironment() == scales.Full && len(ours) > 0 {
				s.Marks = []float64{p.Sunspots[kernel][m].NLL - experiment.Optimum(all, ours[0].Trial)}
			}
			o.Strips = append(o.Strips, s)
		}
	}
	return viz.Strips(o)
}

// EEGErrors compares the methods' errors on the held-out points, for each kernel, under the paper's protocol.
func EEGErrors(all []experiment.Outcome, label string) (*viz.Figure, error) {
	o := viz.StripsOptions{
		Frame: viz.Frame{
			Title: "PL predicts better than VFE, and exact ML is within reach", XLabel: "kernel", YLabel: "normalised mean square error",
			Height: 340,
			Caption: label + ": error of the exact posterior on the held-out points, at what VFE and PL learnt by the paper's protocol " +
				"and ML by ours. Lower is better; 1 is as bad as predicting the mean.",
		},
		Each: "one run",
	}
	for _, kernel := range experiment.KernelNames {
		for _, c := range []struct{ method, protocol string }{{experiment.VFE, experiment.Paper}, {experiment.PL, experiment.Paper},
			{experiment.ML, experiment.GPPL}} {
			var v []float64
			for _, r := range experiment.EEGRuns(all, c.protocol, kernel, c.method) {
				if r.Error == "" {
					v = append(v, r.MSE.NMSE)
				}
			}
			if len(v) > 0 {
				o.Strips = append(o.Strips, viz.Strip{Name: c.method, Group: kernel, Values: v, Slot: slots[c.method]})
			}
		}
	}
	return viz.Strips(o)
}

// Table3 is the paper's Table 3: errors on the held-out points of the EEG, published and ours. label names the recording.
func Table3(all []experiment.Outcome, p experiment.Published, label string) *viz.Table {
	scale := scales.FromEnvironment()
	t := &viz.Table{
		Caption: fmt.Sprintf("The paper's Table 3: EEG, performance and running time (m = k = %d). Ours: %s",
			experiment.EEGOrder(scale), label),
		Columns: []viz.Column{{Name: "kernel"}, {Name: "method"}, {Name: "protocol"}, {Name: "sample"},
			{Name: "NMSE, published", Format: viz.Fixed(3)}, {Name: "NMSE", Format: viz.Digits(3)}, {Name: "RMSE", Format: viz.Digits(3)},
			{Name: "exact NLL", Unit: "nats", Format: viz.Fixed(1)}, {Name: "evaluations", Format: viz.Fixed(0)},
			{Name: "published", Unit: "s", Format: viz.Fixed(0)}, {Name: "time", Unit: "s", Format: viz.Digits(3)}, {Name: "engine"}},
		Notes: smokeNote([]string{"The paper's “RMSE” is a normalised mean square error, NMSE = ‖μ − y‖²/‖y‖². Our " +
			"RMSE is in units of the standardised signal. All methods predict with the exact posterior, as the authors' notebook does " +
			"(Experiment 3, cell 17). Engine: the one used most; “+” if there were others.", machines(all)}),
	}
	for _, kernel := range experiment.KernelNames {
		for _, m := range methods {
			for _, protocol := range []string{experiment.Paper, experiment.GPPL} {
				for _, o := range experiment.EEGRuns(all, protocol, kernel, m) {
					engine, _, more := strings.Cut(o.Engine, ",")
					if more {
						engine += " +"
					}
					row := []any{kernel, m, protocol, o.Trial.Source.Seed, nil, nil, nil, nil, nil, nil, nil, engine}
					if f, ok := p.EEG[kernel][m]; ok && protocol == experiment.Paper && scale == scales.Full {
						row[4], row[9] = f.NMSE, f.Seconds
					}
					if o.Error != "" {
						row[11] = o.Error
						t.Rows = append(t.Rows, row)
						continue
					}
					v := o.MSE
					row[5], row[6], row[7], row[8], row[10] = v.NMSE, v.RMSE, o.NLL, o.Evaluations, o.Seconds()
					t.Rows = append(t.Rows, row)
				}
			}
		}
	}
	return t
}
