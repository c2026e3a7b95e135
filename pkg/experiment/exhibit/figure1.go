package exhibit

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Figure1 is the paper's Figure 1: the eigenvalues of K and of Σ for four designs, ours as lines, the values read from the
// authors' vector figures as dots. As in their code, the Localised bumps run over the index of unsorted times.
func Figure1(r *theory.SpectrumResults) (*viz.Figure, error) {
	published, err := experiment.PublishedFigure(1)
	if err != nil {
		return nil, err
	}
	const least = 0.5 // the authors' axis is linear up to 300, so smaller values cannot be read from it
	var panels []*viz.Figure
	for _, d := range []struct{ panel, design string }{{"Sphere", "Sphere"}, {"Repulsive", "Repulsive"},
		{"Localised", "Localised, unsorted"}, {"One-hot", "OneHot"}} {
		curves := []viz.Curve{{Name: "K", Y: r.Gram, Slot: 1}}
		slot := map[string]int{"K": 1}
		for _, s := range r.Figure {
			if s.Design == d.design {
				slot[fmt.Sprint(s.K)] = len(curves) + 1
				curves = append(curves, viz.Curve{Name: fmt.Sprintf("Σ, k = %d", s.K), Y: s.Values, Slot: len(curves) + 1})
			}
		}
		for _, c := range published {
			if c.Panel != d.panel || slot[c.Name] == 0 || scales.FromEnvironment() != scales.Full {
				continue
			}
			dots := viz.Curve{Slot: slot[c.Name], Dots: true, NoLine: true}
			if c.Name == "K" {
				dots.Name = "dots: published"
			}
			for i, y := range c.Y {
				if y > least {
					dots.X, dots.Y = append(dots.X, c.X[i]), append(dots.Y, y)
				}
			}
			curves = append(curves, dots)
		}
		f, err := viz.Curves(viz.CurvesOptions{
			Frame: viz.Frame{Title: d.panel, XLabel: "number of the eigenvalue", YLabel: "eigenvalue"},
			LogX:  true, LogY: true, YRange: [2]float64{1e-2, 1e3}, Curves: curves,
		})
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(2, 2, viz.GridOptions{
		Frame: viz.Frame{
			Title: "The paper's Figure 1 is reproduced: eigenvalues of K and of Σ, four designs", XLabel: "number of the eigenvalue",
			YLabel: "eigenvalue", Height: 620,
			Caption: "Lines: ours, for the first draw of the times, K without noise and with the authors' ε. Dots: read from their " +
				"vector figures, of their draw, down to 0.5, below which their linear axis shows nothing. Localised bumps run over the " +
				"index of unsorted times, as theirs do.",
		}, ShareX: true, ShareY: true,
	}, panels...)
}
