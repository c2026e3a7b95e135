package exhibit

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Information shows what each estimator keeps of the information about each parameter, against the cost of an evaluation.
func Information(all []experiment.Keeps, params []gppl.Param, n int) (*viz.Figure, error) {
	const least = 1e-4
	var panels []*viz.Figure
	for a, p := range params {
		o := viz.ScatterOptions{Frame: viz.Frame{Title: p.Name, XLabel: "s", YLabel: "kept"}, LogX: true, LogY: true,
			YRange: [2]float64{least, 2}}
		groups := map[string]int{}
		for _, k := range all {
			name, look := keepsLook(k)
			i, ok := groups[name]
			if !ok {
				i = len(o.Groups)
				groups[name] = i
				o.Groups = append(o.Groups, look)
			}
			point := viz.Point{X: k.Seconds, Y: max(least, k.Kept[a])}
			if k.Order > 0 {
				point.Label = fmt.Sprint(k.Order)
			}
			o.Groups[i].Points = append(o.Groups[i].Points, point)
		}
		f, err := viz.Scatter(o)
		if err != nil {
			return nil, err
		}
		panels = append(panels, f)
	}
	return viz.Grid(1, len(panels), viz.GridOptions{
		Frame: viz.Frame{
			Title: "Information kept, against the cost of an evaluation", XLabel: "processor time of value and gradient (s)",
			YLabel: "share of the information kept", Height: 420,
			Caption: fmt.Sprintf("SE with lengthscale 5 and noise variance 0.1 at %d regular times, at the truth, to first order. Kept: "+
				"the variance of the best unbiased estimate of the log over the mean square error of the loss's minimum (Godambe), for "+
				"VFE with its bias. The number beside a marker is k, m or the size of the subset. Up and left is better: markers on a "+
				"line of slope 1 keep as much per second. At least 1e-4 is drawn.", n),
		},
		ShareX: true, ShareY: true,
	}, panels...)
}

// keepsLook returns the name of an estimator in the figure, and how it looks there.
func keepsLook(k experiment.Keeps) (string, viz.PointGroup) {
	g := viz.PointGroup{Joined: true}
	switch {
	case k.Loss == experiment.ML && k.Engine == gppl.EngineDense:
		g.Name, g.Slot, g.Marker = "exact, dense", viz.Grey, viz.Star
	case k.Loss == experiment.ML:
		g.Name, g.Slot, g.Marker = "exact, by structure", viz.Orange, viz.Star
	case k.Loss == experiment.Whittle:
		g.Name, g.Slot, g.Marker, g.Joined = "Whittle", viz.Green, viz.Disc, false
		if k.Taper > 0 {
			g.Name, g.Hollow = "Whittle, taper", true
		}
	case k.Loss == experiment.Residual:
		g.Name, g.Slot, g.Marker = "PL + residual, Spectral", viz.Sky, viz.Triangle
	case k.Loss == experiment.VFE:
		g.Name, g.Slot, g.Marker = "VFE, at its optimum", viz.Vermillion, viz.Square
	case k.Loss == experiment.Subset:
		g.Name, g.Slot, g.Marker = "subset (One-hot)", viz.Purple, viz.Disc
	default:
		g.Name = "PL, " + k.Design
		g.Slot = viz.Blue
		g.Marker = map[string]viz.Marker{"Sphere": viz.Triangle, "Localised": viz.Diamond, "Spectral": viz.Square}[k.Design]
	}
	return g.Name, g
}
