package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/measure/competition"
)

// exported is a group as scripts/rivals.py reads it.
type exported struct {
	Season int              `json:"season"`
	Series []exportedSeries `json:"series"`
}

type exportedSeries struct {
	ID    string    `json:"id"`
	Train []float64 `json:"train"`
	Test  []float64 `json:"test"`
}

// export writes a group to a file for scripts/rivals.py.
func export(path string, g competition.Group) error {
	out := exported{Season: g.Season}
	for _, s := range g.Series {
		out.Series = append(out.Series, exportedSeries{s.ID, s.Train, s.Test})
	}
	return competition.WriteJSON(path, out)
}

// rivalForecasts is the output of scripts/rivals.py: the forecasts of a group by one model.
type rivalForecasts struct {
	Group     string          `json:"group"`
	Model     string          `json:"model"`
	Forecasts []rivalForecast `json:"forecasts"`
}

type rivalForecast struct {
	ID      string                  `json:"id"`
	Seconds float64                 `json:"seconds"`
	Error   string                  `json:"error"`
	Mean    []float64               `json:"mean"`
	Ends    map[string][2][]float64 `json:"ends"` // lower and upper ends of central intervals, by their level in per cent
}

// quantile returns the quantile at level p: an end of the interval whose level is |2p − 1|, or the mean for p = ½.
func (f rivalForecast) quantile(p float64) []float64 {
	if p == 0.5 {
		return f.Mean
	}
	ends, ok := f.Ends[strconv.Itoa(int(math.Round(100*math.Abs(2*p-1))))]
	if !ok {
		panic(fmt.Sprintf("forecasting: no interval for the quantile at %v", p))
	}
	if p < 0.5 {
		return ends[0]
	}
	return ends[1]
}

// complete reports whether the forecast has h finite values.
func (f rivalForecast) complete(h int) bool {
	whole := func(v []float64) bool { return len(v) == h && numeric.AllFinite(v...) }
	for _, ends := range f.Ends {
		if !whole(ends[0]) || !whole(ends[1]) {
			return false
		}
	}
	return whole(f.Mean)
}

// scoreRival scores forecasts of the series of a group.
func scoreRival(g competition.Group, r rivalForecasts) (competition.Rival, error) {
	out := competition.Rival{Group: g.Name, Model: r.Model, Series: len(g.Series)}
	if len(r.Forecasts) != len(g.Series) {
		return out, fmt.Errorf("%d forecasts of %d series", len(r.Forecasts), len(g.Series))
	}
	var all []competition.Scores
	var seconds []float64
	for i, s := range g.Series {
		f := r.Forecasts[i]
		if f.ID != s.ID {
			return out, fmt.Errorf("forecast %d is of %s, want %s", i, f.ID, s.ID)
		}
		if f.Error != "" || !f.complete(len(s.Test)) {
			out.Failed++
			continue
		}
		seconds = append(seconds, f.Seconds)
		one := score(f.quantile, s.Train, s.Test, g.Season)
		if one.Cover95 < competition.Poor {
			out.Low++
		}
		all = append(all, one)
	}
	out.Scores = average(all)
	out.MedianSeconds, out.LongestSeconds = medianAndLongest(seconds)
	return out, nil
}

func rivalLine(r competition.Rival) string {
	s := r.Scores
	return fmt.Sprintf("%-14s %-10s %4d series, %d failed: MASE %.3f sMAPE %.2f CRPS %.3f, 80 %% %.1f, 95 %% %.1f (width %.2f), "+
		"%d below 70 %%, median %.2f s, longest %.2f s",
		r.Group, r.Model, r.Series, r.Failed, s.MASE, s.SMAPE, s.CRPS, 100*s.Cover80, 100*s.Cover95, s.Width95, r.Low,
		r.MedianSeconds, r.LongestSeconds)
}
