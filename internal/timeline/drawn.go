package timeline

import (
	"math"
	"slices"
	"sort"
)

// A figure draws a line at the instants of its series, never between two steps: between midnights a model of days with
// holidays, or with a week, has values that no day has.

const (
	// MostDrawn is the number of instants up to which a figure draws all.
	MostDrawn = 2000
	// columns of a longer series keep their extremes: about one for two pixels of a page.
	columns = 480
	// smooth is the number of parts of a range, each with a point of a line, where a series has no step: one for two pixels.
	smooth = 500
)

// Even returns the median distance between neighbours of ascending x, without copies, and whether most distances are about as
// long: the distance between their quartiles is below a fifth of the median. The median is 0 if all x are equal.
func Even(x []float64) (step float64, even bool) {
	var steps []float64
	for i := 1; i < len(x); i++ {
		if d := x[i] - x[i-1]; d > 0 {
			steps = append(steps, d)
		}
	}
	if len(steps) == 0 {
		return 0, false
	}
	slices.Sort(steps)
	step = steps[len(steps)/2]
	return step, steps[3*len(steps)/4]-steps[len(steps)/4] < 0.2*step
}

// Absent returns the steps that are missing between two neighbours, at most about MostDrawn of them, evenly chosen.
func Absent(from, to, step float64) (at []float64) {
	const off = 0.1 // share of a step up to which neighbours count as a whole number of steps apart
	count := math.Round((to - from) / step)
	exact := math.Abs((to-from)/step-count) < off
	every := math.Max(1, math.Ceil(count/MostDrawn))
	for k := every; k < count; k += every {
		v := from + k*step
		if exact {
			v = from + (to-from)*(k/count)
		}
		at = append(at, v)
	}
	return at
}

// Smooth returns ascending x with further places, evenly spaced, where neighbours are far apart: at least 500 over the range.
func Smooth(x []float64) (filled []float64) {
	if len(x) < 2 {
		return x
	}
	apart := (x[len(x)-1] - x[0]) / smooth
	for i, v := range x {
		if i > 0 {
			for n, k := math.Ceil((v-x[i-1])/apart), 1.0; k < n; k++ {
				filled = append(filled, x[i-1]+(v-x[i-1])*(k/n))
			}
		}
		filled = append(filled, v)
	}
	return filled
}

// Extremes returns the indices of the instants of a long series that a figure keeps, ascending: in each of 480 equal parts of the
// range the first, and the instants at which one of the values is the least or the largest. Values that are NaN are skipped. If
// there are at most MostDrawn instants it keeps all.
func Extremes(x []float64, values ...[]float64) (at []int) {
	n := len(x)
	if n <= MostDrawn {
		return Range(0, n)
	}
	width := (x[n-1] - x[0]) / columns
	column := func(i int) float64 { return math.Floor((x[i] - x[0]) / width) }
	for from := 0; from < n; {
		to := from + 1
		for to < n && column(to) == column(from) {
			to++
		}
		at = append(at, from)
		for _, v := range values {
			low, high := -1, -1
			for i := from; i < to; i++ {
				if math.IsNaN(v[i]) {
					continue
				}
				if low < 0 || v[i] < v[low] {
					low = i
				}
				if high < 0 || v[i] > v[high] {
					high = i
				}
			}
			if low >= 0 {
				at = append(at, low, high)
			}
		}
		from = to
	}
	at = append(at, n-1)
	slices.Sort(at)
	return slices.Compact(at)
}

// Instants returns the instants of x, ascending, from one place to another, each once, with the first y there. Between two
// neighbours come the instants that absent returns for them, with NaN for y.
func Instants(x, y []float64, from, to float64, absent func(from, to float64) []float64) (instants, values []float64) {
	for i := sort.SearchFloat64s(x, from); i < len(x) && x[i] <= to; i++ {
		if last := len(instants) - 1; last >= 0 {
			if x[i] == instants[last] {
				continue
			}
			for _, v := range absent(instants[last], x[i]) {
				instants, values = append(instants, v), append(values, math.NaN())
			}
		}
		instants, values = append(instants, x[i]), append(values, y[i])
	}
	return instants, values
}

// Drawn returns the places at which a figure draws a line from one place to another of a series: all instants of an even series
// and the instants that it lacks, and the instants of another series with more between them. A long series keeps the places with
// the extremes of y (Extremes). A series with a calendar knows better where it is never observed (series.Drawn).
func Drawn(x, y []float64, from, to float64) (at []float64) {
	step, even := Even(x)
	instants, values := Instants(x, y, from, to, func(before, after float64) []float64 {
		if !even || after-before <= 1.5*step {
			return nil
		}
		return Absent(before, after, step)
	})
	if at = Pick(instants, Extremes(instants, values)); !even {
		at = Smooth(at)
	}
	return at
}
