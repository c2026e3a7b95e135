package exhibit

import (
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// sunspotsSE lists the stored results with SE on the paper's sunspots. Notebook 02 shows them, under these names and in this
// order, on a machine without the series. Each seed is another draw of PL.
var sunspotsSE = []struct{ name, protocol, loss string }{
	{"ML", experiment.GPPL, experiment.ML},
	{"VFE", experiment.GPPL, experiment.VFE},
	{"PL stopped", experiment.Paper, experiment.PL},
	{"PL converged", experiment.GPPL, experiment.PL},
}

// storedSE returns all outcomes in the folder dir, at full scale, and the outcomes of each row of sunspotsSE.
func storedSE(dir string) (all []experiment.Outcome, rows [][]experiment.Outcome, err error) {
	evidence, err := experiment.LoadEvidence(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range sunspotsSE {
		some := experiment.Where(evidence.Sunspots, experiment.SunspotsBy(r.protocol, "SE", r.loss, experiment.Authors{}))
		if len(some) == 0 {
			return nil, nil, fmt.Errorf("exhibit: %s has no results of %s", dir, r.name)
		}
		rows = append(rows, some)
	}
	return evidence.Sunspots, rows, nil
}

// SunspotsDraws shows, from the results stored in the folder dir, how far above ML the other losses end on the paper's sunspots.
func SunspotsDraws(dir string) (*viz.Figure, error) {
	all, rows, err := storedSE(dir)
	if err != nil {
		return nil, err
	}
	vfe, stopped, converged := experiment.Excess(all, rows[1]), experiment.Excess(all, rows[2]), experiment.Excess(all, rows[3])
	return viz.Strips(viz.StripsOptions{
		Frame: viz.Frame{Title: "The paper's series: PL depends on the draw of its projections", XLabel: "method",
			YLabel: "exact NLL above ML's (nats)", Height: 340,
			Caption: fmt.Sprintf("The paper's series, from stored results: how far above ML the exact NLL ends at what each method "+
				"learnt. VFE: %.0f nats, one start. PL: from %.0f to %.0f nats over %d draws of the projections if stopped as in the "+
				"paper, from %.0f to %.0f over %d draws if converged. Training took %.2g s by ML, %.2g s by VFE and %.2g s by PL, stopped.",
				vfe[0], slices.Min(stopped), slices.Max(stopped), len(stopped), slices.Min(converged), slices.Max(converged), len(converged),
				rows[0][0].Seconds(), rows[1][0].Seconds(), rows[2][0].Seconds()),
		},
		LogY: true,
		Strips: []viz.Strip{{Name: "VFE", Values: vfe}, {Name: "PL, stopped", Values: stopped},
			{Name: "PL, converged", Values: converged}},
	})
}

// SunspotsLearnt shows, from the same results, the parameters that each method learnt on the paper's sunspots, from the first
// draw or start.
func SunspotsLearnt(dir string) (*viz.Table, error) {
	_, rows, err := storedSE(dir)
	if err != nil {
		return nil, err
	}
	p, err := experiment.LoadPublished()
	if err != nil {
		return nil, err
	}
	t := &viz.Table{
		Caption: "The paper's series, from stored results: exact NLL at the learnt hyperparameters",
		Columns: []viz.Column{{Name: "method"}, {Name: "exact NLL", Unit: "nats", Format: viz.Fixed(3), Best: true},
			{Name: "published", Unit: "nats", Format: viz.Fixed(3)}, {Name: "variance"}, {Name: "lengthscale", Unit: "years"},
			{Name: "noise variance"}, {Name: "evaluations", Format: viz.Fixed(0)},
			{Name: "set-up and training", Unit: "s", Format: viz.Fixed(2)}},
		Notes: []string{"3319 months, m = k = 100; PL with one draw of the projections (seed 1)."},
	}
	for i, r := range sunspotsSE {
		o := rows[i][0]
		row := []any{r.name, o.NLL, p.Sunspots["SE"][r.loss].NLL}
		if r.name == "PL converged" {
			row[2] = nil // the paper stops early
		}
		for _, v := range o.Theta {
			row = append(row, v)
		}
		t.Rows = append(t.Rows, append(row, o.Evaluations, o.Seconds()))
	}
	return t, nil
}
