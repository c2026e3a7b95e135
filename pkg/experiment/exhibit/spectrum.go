package exhibit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

var shapes = []viz.Marker{viz.Triangle, viz.Square, viz.Diamond, viz.Disc, viz.Star}

// TraceAgainstError plots the trace that a design leaves against the standard error of the log noise, one line per design over
// k.
func TraceAgainstError(c theory.Case) (*viz.Figure, error) {
	noise := len(c.Params) - 1
	var groups []viz.PointGroup
	for _, m := range c.Designs {
		if m.Design == "Repulsive" || m.Unidentified > 0 { // Repulsive has the span of Sphere
			continue
		}
		name := theory.DesignName(m.Design)
		i := slices.IndexFunc(groups, func(g viz.PointGroup) bool { return g.Name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, viz.PointGroup{Name: name, Marker: shapes[i%len(shapes)], Joined: true})
		}
		x, _, _ := quartiles(m.Observed)
		y, _, _ := quartiles(m.StdErrLog[noise])
		groups[i].Points = append(groups[i].Points, viz.Point{X: x, Y: y, Label: fmt.Sprint(m.K)})
	}
	all, _, _ := quartiles(c.All.StdErrLog[noise])
	x := func(g viz.PointGroup) float64 { return g.Points[0].X }
	y := func(g viz.PointGroup) float64 { return g.Points[0].Y }
	say := viz.Digits(3)
	least := slices.MinFunc(groups, func(a, b viz.PointGroup) int { return cmp.Compare(x(a), x(b)) })
	best := slices.MinFunc(groups, func(a, b viz.PointGroup) int { return cmp.Compare(y(a), y(b)) })
	return viz.Scatter(viz.ScatterOptions{
		Frame: viz.Frame{
			Title: "A smaller trace does not mean more information", XLabel: "trace of Cov(Y|Z)", YLabel: "standard error of log noise",
			Height: 380,
			Caption: fmt.Sprintf("Each design with k projections of n = %d observations: the trace that remains, which the paper looks "+
				"at, against the Cramér–Rao standard error of the log noise variance. Medians of %d draws, joined by design; the number "+
				"beside a marker is k. With k = %s, %s leaves the smallest trace, %s, and has the standard error %s; the smallest standard "+
				"error is that of %s, %s, with the trace %s.",
				c.N, c.Seeds, least.Points[0].Label, least.Name, say(x(least)), say(y(least)), best.Name, say(y(best)), say(x(best))),
		},
		LogX: true, LogY: true, Groups: groups, Rules: []viz.Rule{{Y: all, Name: "all data"}},
	})
}
