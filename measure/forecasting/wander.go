package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/measure/competition"
)

const (
	// wanderLeast is the least number of observations, training and test part together, of a series that counts as long.
	wanderLeast = 1000
	// wanderHorizon is the number of steps, and wanderOrigins the number of origins in the past, in the test of a long series.
	wanderHorizon, wanderOrigins = 100, 4
	// wanderWalks is the number of simulated walks.
	wanderWalks = 12
)

// wandering returns the long series of the groups, the columns of a csv file if one is named, and simulated walks. Their naive
// forecast has season 1: it repeats the last value.
func wandering(loaded []competition.Group, prices string) (out []competition.Group, err error) {
	if prices != "" {
		g, err := columns(prices)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, g)
	}
	for _, g := range append(loaded, walks()) {
		long := g
		long.Season, long.Series = 1, nil
		for _, s := range g.Series {
			if s.Train = append(slices.Clone(s.Train), s.Test...); len(s.Train) >= wanderLeast {
				long.Series = append(long.Series, s)
			}
		}
		out = append(out, long)
	}
	return out, nil
}

// atOrigins returns the series of a group as they were known at the latest origins, a horizon apart.
func atOrigins(g competition.Group) competition.Group {
	out := g
	out.Series = nil
	for _, s := range g.Series {
		for k := wanderOrigins; k > 0; k-- {
			at := len(s.Train) - k*wanderHorizon
			out.Series = append(out.Series, competition.Series{ID: fmt.Sprintf("%s before %d", s.ID, k*wanderHorizon), Train: s.Train[:at],
				Test: s.Train[at : at+wanderHorizon]})
		}
	}
	return out
}

// columns reads a group of series from the columns of a csv file, skipping empty cells.
func columns(path string) (g competition.Group, err error) {
	f, err := os.Open(path)
	if err != nil {
		return g, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return g, fmt.Errorf("%s: no table: %w", path, err)
	}
	g.Name = "prices"
	for j, name := range rows[0] {
		s := competition.Series{ID: name}
		for i, row := range rows[1:] {
			if row[j] == "" {
				continue
			}
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				return g, fmt.Errorf("%s: row %d: %w", path, i+2, err)
			}
			s.Train = append(s.Train, v)
		}
		g.Series = append(g.Series, s)
	}
	return g, nil
}

// walks returns random walks of 1000 to 4000 steps; every other one is a walk of the logarithm, and one in three has a drift.
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

// reportWander prints how the errors compare with the errors of repeating the last value.
func reportWander(w io.Writer, all []competition.Detail) {
	var logs, cover, n, worst, half float64
	var far []string
	for _, d := range all {
		if d.Error != "" || !(d.Naive > 0 && d.MASE > 0) {
			continue
		}
		ratio := d.MASE / d.Naive
		logs, cover, n, worst = logs+math.Log(ratio), cover+d.Cover95, n+1, max(worst, ratio)
		if ratio < 0.5 {
			half++
		}
		if ratio > 2 {
			far = append(far, fmt.Sprintf("%s (%.2f, %s)", d.ID, ratio, d.Word))
		}
	}
	fmt.Fprintf(w, "%.0f forecasts of %d steps: geometric mean of the error over that of the last value %.3f, the largest %.2f; "+
		"less than half in %.0f, more than twice in %d; the 95 %% bands held %.1f %%\n",
		n, wanderHorizon, math.Exp(logs/n), worst, half, len(far), 100*cover/n)
	for _, f := range far {
		fmt.Fprintln(w, "  more than twice:", f)
	}
}

// reportKnown compares repeating the last value with a forecast that knows the drift of a simulated walk, which is the best
// possible one. The drift over the horizon is counted in standard deviations of the walk at its end.
func reportKnown(w io.Writer) {
	const count = 4000
	for _, drift := range []float64{0.25, 0.5, 1, 2} {
		rng := rand.New(rand.NewPCG(28, 1))
		var logs, far, half float64
		for range count {
			var level, known, last float64
			for h := 1; h <= wanderHorizon; h++ {
				level += rng.NormFloat64()
				known, last = known+math.Abs(level), last+math.Abs(level+drift*float64(h)/math.Sqrt(wanderHorizon))
			}
			switch ratio := known / last; {
			case ratio > 2:
				far++
			case ratio < 0.5:
				half++
			}
			logs += math.Log(known / last)
		}
		fmt.Fprintf(w, "a drift of %g standard deviations, known: geometric mean of the error over that of the last value %.2f; less "+
			"than half in %.0f %%, more than twice in %.0f %%\n",
			drift, math.Exp(logs/count), 100*half/count, 100*far/count)
	}
}
