package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// mostListed is the largest number of anomalies that a text lists; files list all.
const mostListed = 20

// Arrivals says for a terminal what new observations say about a model: the drift check, what was added, and the observations
// with a probability below the level.
func Arrivals(after *forecast.Analysis, r *forecast.Arrivals, level float64) string {
	var b strings.Builder
	s := after.Series
	if len(r.Y) == 0 {
		fmt.Fprintf(&b, "Nothing is new: the model has all %d rows already.\n", r.Already)
		return b.String()
	}
	fmt.Fprintf(&b, "%s\n\n", r.Drift.Verdict())
	f := r.Forecast
	fmt.Fprintf(&b, "  added to the model: %d of %s, from %s to %s, at the same parameters; it has %d now\n",
		len(r.Y), s.YLabel(), f.When[0], f.When[len(f.When)-1], len(s.X))
	if r.Already > 0 {
		fmt.Fprintf(&b, "  %d rows were in the model already\n", r.Already)
	}
	at := anomalies(r, level)
	fmt.Fprintf(&b, "  %d with a probability below %g one step ahead, where %.3g are expected by chance\n",
		len(at), level, level*float64(len(r.Y)))
	for k, i := range at {
		if k == mostListed {
			fmt.Fprintf(&b, "    … and %d more\n", len(at)-k)
			break
		}
		fmt.Fprintf(&b, "    %s: %.6g, predicted %.6g, 95 %% between %.6g and %.6g: probability %.2g\n",
			f.When[i], r.Y[i], f.Point()[i], f.Lower[i], f.Upper[i], r.P[i])
	}
	for _, w := range warnings(after) {
		fmt.Fprintf(&b, "  %s\n", w)
	}
	return printableLines(briefTimes(b.String()))
}

// anomalies returns the indices of the observations with a probability below the level.
func anomalies(r *forecast.Arrivals, level float64) (at []int) {
	for i, p := range r.P {
		if p < level {
			at = append(at, i)
		}
	}
	return at
}

// ArrivalsJSON is what new observations say about a model, for programs.
type ArrivalsJSON struct {
	N         int            `json:"n"` // observations of the model, with the new ones
	Added     int            `json:"added"`
	Already   int            `json:"already"`
	Drift     forecast.Drift `json:"drift"`
	Verdict   string         `json:"verdict"`
	Level     float64        `json:"anomaly_level"`
	Anomalies []int          `json:"anomalies"` // indices in Observations
	// Observations are the new ones.
	Observations []ArrivalJSON `json:"observations"`
	Warnings     []string      `json:"warnings,omitempty"`
}

// ArrivalJSON is a new observation with its prediction one step ahead. Mean is the point forecast: the median or, for counts, the
// expected count.
type ArrivalJSON struct {
	X             string  `json:"x"`
	Y             float64 `json:"y"`
	Mean          float64 `json:"mean"`
	SDObservation float64 `json:"sd_observation"`
	Lower         float64 `json:"lower_95"`
	Upper         float64 `json:"upper_95"`
	Z             float64 `json:"z"`
	Probability   float64 `json:"probability"`
}

// DescribeArrivals returns what Arrivals says, for programs.
func DescribeArrivals(after *forecast.Analysis, r *forecast.Arrivals, level float64) ArrivalsJSON {
	j := ArrivalsJSON{N: len(after.Series.X), Added: len(r.Y), Already: r.Already, Drift: r.Drift,
		Verdict: r.Drift.Verdict(), Level: level,
		Anomalies: append([]int{}, anomalies(r, level)...), Observations: []ArrivalJSON{}, Warnings: warnings(after)}
	for i, y := range r.Y {
		f := r.Forecast
		j.Observations = append(j.Observations,
			ArrivalJSON{f.When[i], y, f.Point()[i], math.Sqrt(f.NoisyVar[i]), f.Lower[i], f.Upper[i], r.Z[i], r.P[i]})
	}
	return j
}
