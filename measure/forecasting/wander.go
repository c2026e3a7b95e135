package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/internal/competition"
)

const (
	// wanderLeast is the number of observations, training and test part together, from which a series is long.
	wanderLeast = 1000
	// wanderHorizon and wanderOrigins are the steps and the places in the past of the test of long series.
	wanderHorizon, wanderOrigins = 100, 4
	// wanderWalks is the number of simulated walks.
	wanderWalks = 12
)

// wandering returns the long series of the groups, cut at origins a horizon apart, and after them simulated walks. The season of their naive
// forecast is 1: it repeats the last value.
func wandering(loaded []competition.Group) (out []competition.Group) {
	for _, g := range append(loaded, walks()) {
		long := g
		long.Season, long.Series = 1, nil
		for _, s := range g.Series {
			if all := append(append([]float64(nil), s.Train...), s.Test...); len(all) >= wanderLeast {
				long.Series = append(long.Series, cut(s.ID, all)...)
			}
		}
		out = append(out, long)
	}
	return out
}

// cut returns a series as it was known at the latest origins.
func cut(id string, y []float64) (out []competition.Series) {
	for k := wanderOrigins; k > 0; k-- {
		at := len(y) - k*wanderHorizon
		out = append(out, competition.Series{ID: fmt.Sprintf("%s before %d", id, k*wanderHorizon), Train: y[:at], Test: y[at : at+wanderHorizon]})
	}
	return out
}

// walks are random walks of 1000 to 4000 steps; every other one is of the logarithm, and one in three has a drift.
func walks() competition.Group {
	rng := rand.New(rand.NewPCG(28, 0))
	g := competition.Group{Name: "walks", Season: 1}
	for i := range wanderWalks {
		y := make([]float64, 1000*(1+i%4))
		level, drift := 0.0, 0.0
		if i%3 == 0 {
			drift = 0.03
		}
		for j := range y {
			level += drift + rng.NormFloat64()
			if y[j] = 100 + level; i%2 == 1 {
				y[j] = 100 * math.Exp(0.01*level)
			}
		}
		g.Series = append(g.Series, competition.Series{ID: fmt.Sprintf("walk %d", i+1), Train: y})
	}
	return g
}

// reportWander prints how the errors compare with those of the last value.
func reportWander(w io.Writer, all []competition.Detail) {
	var logs, cover, n, worst float64
	var far []string
	for _, d := range all {
		if d.Error != "" || !(d.Naive > 0 && d.MASE > 0) {
			continue
		}
		ratio := d.MASE / d.Naive
		logs, cover, n, worst = logs+math.Log(ratio), cover+d.Cover95, n+1, max(worst, ratio)
		if ratio > 2 {
			far = append(far, fmt.Sprintf("%s (%.2f, %s)", d.ID, ratio, d.Word))
		}
	}
	fmt.Fprintf(w, "%.0f forecasts of %d steps: geometric mean of the error over that of the last value %.3f, the largest %.2f; the 95 %% bands held %.1f %%\n",
		n, wanderHorizon, math.Exp(logs/n), worst, 100*cover/n)
	for _, f := range far {
		fmt.Fprintln(w, "  more than twice:", f)
	}
}
