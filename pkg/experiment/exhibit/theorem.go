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

// Powers tabulates the powers of tr Σ with which the loss and its terms fall.
func Powers(r *theory.TheoremResults) *viz.Table {
	t := &viz.Table{
		Caption: "Fitted powers of tr Σ: 1 is linear, 2 quadratic",
		Columns: []viz.Column{{Name: "Σ shrinks as"}, {Name: "parameter"}, {Name: "ΔI", Format: viz.Fixed(3)},
			{Name: "first term", Format: viz.Fixed(3)}, {Name: "second term", Format: viz.Fixed(3)}},
		Notes: []string{"k → n: averages over draws of the projections. Close to n few directions are left, so these powers are " +
			"accurate to about 0.1. The first term about the noise falls linearly: each direction left out " +
			"contributes an eigenvalue σ² to Σ."},
	}
	for _, way := range []struct {
		name string
		v    theory.Vanishing
	}{{"k → n", r.ToN}, {"τ² → 0", r.Noisy}} {
		for a, p := range r.Params {
			s := way.v.Slopes[a]
			t.Rows = append(t.Rows, []any{way.name, p, s.Total, s.Quadratic, s.Cross})
		}
	}
	return t
}
