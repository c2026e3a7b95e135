package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/internal/wholefile"
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

// export writes a group to a file.
func export(path string, g group) error {
	out := exported{Season: g.season}
	for _, s := range g.series {
		out.Series = append(out.Series, exportedSeries{s.id, s.train, s.test})
	}
	return writeJSON(path, out)
}

func writeJSON(path string, v any) error {
	return wholefile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// rivalForecasts are what scripts/rivals.py writes: the forecasts of a group by one model.
type rivalForecasts struct {
	Group     string          `json:"group"`
	Limit     int             `json:"limit"`
	Model     string          `json:"model"`
	Forecasts []rivalForecast `json:"forecasts"`
}

type rivalForecast struct {
	ID      string                  `json:"id"`
	Seconds float64                 `json:"seconds"`
	Error   string                  `json:"error"`
	Mean    []float64               `json:"mean"`
	Ends    map[string][2][]float64 `json:"ends"` // of central intervals, by their level in per cent
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

// complete reports whether the forecast is of h finite values.
func (f rivalForecast) complete(h int) bool {
	finite := func(v []float64) bool {
		return len(v) == h && !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	}
	for _, ends := range f.Ends {
		if !finite(ends[0]) || !finite(ends[1]) {
			return false
		}
	}
	return finite(f.Mean)
}

// rival is the result of a model of others on a group.
type rival struct {
	Group          string  `json:"group"`
	Model          string  `json:"model"`
	Half           string  `json:"half"`
	Seed           uint64  `json:"seed"`
	Series         int     `json:"series"`
	Failed         int     `json:"failed"`
	Scores         scores  `json:"scores"`
	Low            int     `json:"coverage_below_70"`
	MedianSeconds  float64 `json:"seconds_median"`
	LongestSeconds float64 `json:"seconds_longest"`
}

// scoreRival scores forecasts of the series of a group.
func scoreRival(g group, r rivalForecasts) (rival, error) {
	out := rival{Group: g.name, Model: r.Model, Series: len(g.series)}
	if len(r.Forecasts) != len(g.series) {
		return out, fmt.Errorf("%d forecasts of %d series", len(r.Forecasts), len(g.series))
	}
	var all []scores
	var seconds []float64
	for i, s := range g.series {
		f := r.Forecasts[i]
		if f.ID != s.id {
			return out, fmt.Errorf("forecast %d is of %s, want %s", i, f.ID, s.id)
		}
		if f.Error != "" || !f.complete(len(s.test)) {
			out.Failed++
			continue
		}
		seconds = append(seconds, f.Seconds)
		one := score(f.quantile, s.train, s.test, g.season)
		if one.Cover95 < poorCoverage {
			out.Low++
		}
		all = append(all, one)
	}
	out.Scores = average(all)
	if len(seconds) > 0 {
		slices.Sort(seconds)
		out.MedianSeconds, out.LongestSeconds = seconds[len(seconds)/2], seconds[len(seconds)-1]
	}
	return out, nil
}

func (r rival) String() string {
	s := r.Scores
	return fmt.Sprintf("%-14s %-10s %4d series, %d failed: MASE %.3f sMAPE %.2f CRPS %.3f, 80 %% %.1f, 95 %% %.1f (width %.2f), %d below 70 %%, median %.2f s, longest %.2f s",
		r.Group, r.Model, r.Series, r.Failed, s.MASE, s.SMAPE, s.CRPS, 100*s.Cover80, 100*s.Cover95, s.Width95, r.Low, r.MedianSeconds, r.LongestSeconds)
}

// readRivals reads what is stored, nothing if there is no file yet.
func readRivals(path string) (all []rival, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// storeRival writes a result in its place: by group in the order of groups, then by model.
func storeRival(path string, r rival) error {
	all, err := readRivals(path)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o rival) bool { return o.Group == r.Group && o.Model == r.Model })
	all = append(all, r)
	slices.SortStableFunc(all, func(a, b rival) int {
		if d := indexOf(a.Group) - indexOf(b.Group); d != 0 {
			return d
		}
		if a.Model < b.Model {
			return -1
		}
		return 1
	})
	return writeJSON(path, all)
}

func indexOf(name string) int {
	for i, g := range groups {
		if g.name == name {
			return i
		}
	}
	return len(groups)
}
