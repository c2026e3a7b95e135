package forecast

import (
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

const (
	// longestDip is the largest number of values of a dip: medians of mostBesideJump values see longer ones as two jumps.
	longestDip = mostBesideJump / 2
	// mostDips is the largest number of dips: what comes more often is no exception, but a season or the noise.
	mostDips = 2
	// leastAfterDip is the least number of values after a dip, by which it is known to be over.
	leastAfterDip = 3
)

// dips returns the changes of level at both ends of each stretch of 2 to longestDip values that are far off, all to one side: a
// lockdown, a strike, a promotion. Values left out of the mean they had before and have after, on any scale of y, by clearJump or
// more, and went at least half of the way in a single step. A single value that is far off is an outlier. There are none if the
// series has more than mostDips.
func dips(s *series.Series) (all []series.Shift) {
	width := min(mostBesideJump, len(s.X)/4)
	if width < beside || len(s.Shifts) > 0 {
		return nil
	}
	scales := scalesOf(s)
	for found := 0; ; found++ {
		best, from, to := clearestDip(s.X, scales, width)
		switch {
		case best < clearJump:
			return all
		case found == mostDips:
			return nil
		}
		for _, end := range []int{from, to} {
			all = append(all, series.Shift{At: s.X[end], Scale: series.ShiftScale})
		}
		for _, y := range scales { // once it is filled, its neighbours are none
			size, _ := dip(y, from, to, width)
			for i := from; i < to; i++ {
				y[i] -= size
			}
		}
	}
}

// clearestDip returns the dip that is furthest off on one of the scales, from one index up to another.
func clearestDip(x []float64, scales [][]float64, width int) (best float64, from, to int) {
	for _, y := range scales {
		abrupt := abruptIn(y, 1, unlikeOthers) // in single steps
		for i := beside; i+2 <= len(y)-leastAfterDip; i++ {
			if !abrupt(i) || x[i] == x[i-1] {
				continue
			}
			for j := i + 2; j <= min(i+longestDip, len(y)-leastAfterDip); j++ {
				if !abrupt(j) || x[j] == x[j-1] {
					continue
				}
				if _, apart := dip(y, i, j, width); apart > best {
					best, from, to = apart, i, j
				}
			}
		}
	}
	return best, from, to
}

// dip returns the distance of the median of values from one index up to another from the mean of the medians of up to width
// values on either side, and the lesser distance from these two medians in standard deviations of all about their medians, as in
// step; 0 if it lies between the two, or if less than half of the way is a single step.
func dip(y []float64, from, to, width int) (size, apart float64) {
	_, before := step(y[:to], from, width)
	_, after := step(y[from:], to-from, width)
	first := numeric.UpperMedian(y[max(0, from-width):from])
	inside, last := numeric.UpperMedian(y[from:to]), numeric.UpperMedian(y[to:min(len(y), to+width)])
	size = inside - 0.5*(first+last)
	in, out := (y[from]-y[from-1])/size, (y[to-1]-y[to])/size // shares of the way
	if (inside-first)*(inside-last) <= 0 || min(in, out) < 0.5 {
		return 0, 0
	}
	return size, min(before, after)
}
