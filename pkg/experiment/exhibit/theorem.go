package exhibit

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Leading shows the loss of information about the lengthscale and its two terms as Σ shrinks, in two ways.
func Leading(r *theory.TheoremResults) (*viz.Figure, error) {
	const lengthscale = 1
	var panels []*viz.Figure
	for _, way := range []struct {
		title string
		v     theory.Vanishing
	}{{"A: k → n", r.ToN}, {"B: noise τ² → 0", r.Noisy}} {
		var sigma, total, quadratic, cross []float64
		for _, p := range way.v.Points {
			sigma = append(sigma, p.Sigma)
			total, quadratic, cross = append(total, p.Total[lengthscale]), append(quadratic, p.Quadratic[lengthscale]),
				append(cross, p.Cross[lengthscale])
		}
		f, err := viz.Curves(viz.CurvesOptions{
			Frame: viz.Frame{Title: way.title, XLabel: "tr Σ", YLabel: "information about log lengthscale"},
			LogX:  true, LogY: true,
			Curves: []viz.Curve{
				{Name: "ΔI", X: sigma, Y: total, Dots: true},
				{Name: "first term, ½tr((K̄Σ)²)", X: sigma, Y: quadratic, Dots: true},
				{Name: "second term", X: sigma, Y: cross, Dots: true},
			},
		})
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	s := r.Noisy.Slopes[lengthscale]
	return viz.Grid(1, 2, viz.GridOptions{Frame: viz.Frame{
		Title: "The loss falls in proportion to Σ, not with its square", XLabel: "trace of Σ",
		YLabel: "information about log lengthscale", Height: 360,
		Caption: fmt.Sprintf("The loss of information, ΔI, and its two terms as Σ shrinks: in A with more projections, in B with "+
			"all of y observed and less added noise. In B the loss falls with the power %.2f of the trace, and its first term with the "+
			"power %.2f. ΔI and the second term merge as Σ vanishes.", s.Total, s.Quadratic),
	}}, panels...)
}
