package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// leastSeasonCycles is the smallest number of cycles whose median is a season: a change of level spoils one of them, or two.
const leastSeasonCycles = 4

// wholeSeasons returns the seasons of the calendar and of the best model that repeat after a whole number of steps of an even
// series, in steps, the shortest first. A jump as large as a season is hidden by it. A season of 3.5 steps repeats after 7.
func (a *Analysis) wholeSeasons() (all []int) {
	s := a.Series
	if !s.Even {
		return nil
	}
	for _, period := range append(s.CalendarPeriods(), series.PeriodsOf(a.members[0].Model.Kernel.Params())...) {
		for repeats := 1.0; repeats <= 2; repeats++ {
			const near = 0.02 // of a step
			length := repeats * period / s.Step
			if steps := math.Round(length); steps >= 2 && math.Abs(length-steps) < near {
				all = append(all, int(steps))
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// deseasonalised returns the values of an even series less a season of a number of steps: at each step of the season the median
// distance of the values from the mean of the cycle around them. A change of level moves these means in one cycle only, so the
// medians of leastSeasonCycles or more hardly see it. It returns nil if there are fewer.
func deseasonalised(s *series.Series, y []float64, steps int) []float64 {
	n := len(y)
	if n < leastSeasonCycles*steps+1 {
		return nil
	}
	apart := make([][]float64, steps)
	phase := make([]int, n)
	for i, x := range s.X {
		phase[i] = int(math.Round((x-s.X[0])/s.Step)) % steps
	}
	half := steps / 2
	for i := half; i < n-half; i++ {
		around := y[i-half : i+half+1]
		mean := floats.Sum(around)
		if steps%2 == 0 { // the same step of the season is at both ends
			mean -= 0.5 * (around[0] + around[2*half])
		}
		apart[phase[i]] = append(apart[phase[i]], y[i]-mean/float64(steps))
	}
	left := slices.Clone(y)
	for i := range left {
		if of := apart[phase[i]]; len(of) > 0 {
			left[i] -= numeric.UpperMedian(of)
		}
	}
	return left
}
