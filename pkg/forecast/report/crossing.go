package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// crossingLevels are the quantiles of the time that a text lists.
var crossingLevels = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Crossing says when the curve of an analysis first reaches a level, for a terminal.
func Crossing(a *forecast.Analysis, c *forecast.Crossing) string {
	var b strings.Builder
	last := len(c.X) - 1
	verb := "rises to"
	if !c.Rising {
		verb = "falls to"
	}
	name := a.Series.YLabel()
	fmt.Fprintf(&b, "%s first %s %v by %s with a probability of %.3g; it does not with %.3g.\n\n",
		name, verb, c.Level, c.When[last], c.By[last], c.Never())
	for _, p := range crossingLevels {
		fmt.Fprintf(&b, "  %3.0f %%  %s\n", 100*p, cmp.Or(reached(c, p), "after "+c.When[last]))
	}
	fmt.Fprintf(&b, "\n  from %d joint draws of the curve, without the noise of single observations, at %d steps (seed %d)\n",
		c.Draws, len(c.X), c.Seed)
	return printableLines(briefTimes(b.String()))
}

// reached returns the step by which the level is reached with probability p; "" for one after the last.
func reached(c *forecast.Crossing, p float64) string {
	if i := c.Quantile(p); i >= 0 {
		return c.When[i]
	}
	return ""
}

// CrossingJSON is a crossing for programs. Quantiles has the time of each quantile by its level, "" for one after the last step.
type CrossingJSON struct {
	*forecast.Crossing
	Never     float64           `json:"p_never"`
	Quantiles map[string]string `json:"quantiles"`
}

// DescribeCrossing returns what Crossing says, for programs.
func DescribeCrossing(c *forecast.Crossing) CrossingJSON {
	j := CrossingJSON{c, c.Never(), map[string]string{}}
	for _, p := range crossingLevels {
		j.Quantiles[strconv.FormatFloat(p, 'g', -1, 64)] = reached(c, p)
	}
	return j
}
