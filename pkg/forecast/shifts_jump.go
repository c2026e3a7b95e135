package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

const (
	// clearJump is the distance of the medians on either side of a change of level, in standard deviations of the values about
	// them, from which the change is tried before the scale of y is chosen. A line has 3.2.
	clearJump = 4
	// clearJumpOfCounts is the same for counts, whose smaller changes findShifts does not see. If there are many values on either
	// side, surelyApart standard errors of the distance suffice: 1.8 standard deviations for 20 values.
	clearJumpOfCounts, surelyApart = 3, 4.5
	// unlikeOthers is the least ratio of the distance of the medians of besideAbrupt values on either side of a place to the median
	// of this distance over all places. A walk drifts as far, but no step of it stands out. For counts, whose changes are smaller,
	// the ratio need only be unlikeOtherCounts: the evidence rejects what a walk describes as well.
	unlikeOthers, unlikeOtherCounts, besideAbrupt = 5, 2.5, 3
	// levelChance is the largest Chance of an accepted jump that leaves nothing to wander. None of the series of
	// TestNoJumpsOfFew, of noise, walks and counts whose rate wanders, reaches it.
	levelChance = 0.1
	// mostBesideJump is the largest number of values on either side whose median counts; a quarter of the series if that is less,
	// but four in the shortest.
	mostBesideJump = 20
)

// withJumps returns the analysis with the changes of level that the series shows whatever its model, jumps or dips, if these have
// more evidence.
//
// A search without them chooses the scale of y so as to describe them: 40 values at 3 and 20 at 103 become a model of log y. So
// both scales are searched again with the changes, and the evidence decides between the two searches. The changes must be better
// by log(2n/0.005) nats each, since each is one of 2n that might have been there, and a change is as rare as in findShifts. If
// nothing wanders beside them where something did without them, log(n/0.1) nats suffice: a series that wanders hardly ever looks
// like levels in white noise. This needs no factor and no number of observations, and so it serves counts and short series, too.
// Changes that are seen only beside a season must take the place of a term that wanders: two series of M3 wander as before and go
// back soon after such changes. In 13 of 16 series of M3 that had changes of any kind the search found nothing, so a small search
// like the first comes before it, and must find half of the evidence.
func (a *Analysis) withJumps(ctx context.Context) (*Analysis, error) {
	all, n := jumps(a.Series), float64(len(a.Series.X))
	rare, likely := math.Log(2*n/shiftChance), math.Log(n/levelChance)
	sought := [][]series.Shift{jumps(a.Series, a.wholeSeasons()...), all}
	if len(all) > 1 {
		sought = append(sought, all[:1])
	}
	for k, found := range append(sought, dips(a.Series)) {
		seasonal := k == 0 // the changes may be visible only beside a season
		if len(found) == 0 || seasonal && slices.Equal(found, all) {
			continue
		}
		shifts := append(slices.Clone(a.Series.Shifts), found...)
		s := a.Series.WithShifts(shifts)
		gain, outcome := 0.0, (*search.Outcome)(nil)
		for _, small := range []bool{true, false} {
			var err error
			if small {
				outcome, err = search.FindLike(ctx, s, *a.Options, a.members[0].Averaged, a.Effort)
			} else {
				outcome, err = search.Find(ctx, s, *a.Options)
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("looking for changes: %w", ctx.Err())
			}
			if err != nil { // the budget may be spent
				return a, nil
			}
			if gain = (a.Candidates[0].Score - outcome.Candidates[0].Score) / float64(len(found)); gain < rare/2 {
				break
			}
		}
		before, after := wanderers(a.Result.Model.Kernel), wanderers(outcome.Result.Model.Kernel)
		if gain > rare && (!seasonal || after < before) || gain > likely && after == 0 && before > 0 {
			for i := range found {
				shifts[len(shifts)-1-i].Chance = max(n*math.Exp(-gain), math.SmallestNonzeroFloat64)
			}
			return analysisOf(s.WithShifts(shifts), *a.Options, outcome), nil
		}
	}
	return a, nil
}

// wanderers returns the number of terms by which a model departs from its mean and its seasons.
func wanderers(k gppl.Kernel) (count int) {
	for _, t := range search.TermsOf(k) {
		if len(series.PeriodsOf(t.Params())) == 0 {
			count++
		}
	}
	return count
}

// jumps returns the clear changes of level of a series that has none yet, the clearest first: those with a distance of clearJump
// or more, on the scale of y or on another that its values allow, as they are or less seasons of whole numbers of steps.
func jumps(s *series.Series, seasons ...int) (all []series.Shift) {
	least := beside
	if len(s.X) < leastScanned { // in a short series three values at one level are not odd
		least = 3
	}
	width := min(mostBesideJump, max(least+1, len(s.X)/4))
	if len(s.X) < 3*width || len(s.Shifts) > 0 {
		return nil
	}
	enough, unlike := float64(clearJump), float64(unlikeOthers)
	if s.Counting != nil {
		const ofMedian = 1.2533 // standard error of a median of n values, over σ/√n
		enough = min(clearJumpOfCounts, surelyApart*ofMedian*math.Sqrt(2/float64(width)))
		unlike = unlikeOtherCounts
	}
	scales := scalesOf(s)
	for _, y := range scales {
		for _, steps := range seasons {
			if y = deseasonalised(s, y, steps); y == nil {
				break
			}
			scales = append(scales, y)
		}
	}
	var abrupt []func(at int) bool
	for _, y := range scales {
		abrupt = append(abrupt, abruptIn(y, besideAbrupt, unlike))
	}
	for len(all) < mostShifts {
		best, at := 0.0, 0
		for k, y := range scales {
			for i := least; i <= len(y)-least; i++ {
				if s.X[i] == s.X[i-1] || slices.ContainsFunc(all, func(c series.Shift) bool { return c.At == s.X[i] }) {
					continue
				}
				if _, apart := step(y, i, width); apart > best && abrupt[k](i) {
					best, at = apart, i
				}
			}
		}
		if best < enough {
			break
		}
		all = append(all, series.Shift{At: s.X[at], Scale: series.ShiftScale})
		for _, y := range scales { // once it is removed, its neighbours are no changes
			size, _ := step(y, at, width)
			floats.AddConst(-size, y[at:])
		}
	}
	return all
}

// scalesOf returns the values on the scales that models may have: y, and its logarithm or its log odds between bounds. For counts
// it returns the root, about which they vary equally.
func scalesOf(s *series.Series) [][]float64 {
	of := func(f func(i int, y float64) float64) []float64 {
		out := make([]float64, len(s.Y))
		for i, y := range s.Y {
			out[i] = f(i, y)
		}
		return out
	}
	if c := s.Counting; c != nil {
		return [][]float64{of(func(i int, y float64) float64 { return math.Sqrt(max(0, y) / c.Size(i)) })}
	}
	all := [][]float64{slices.Clone(s.Y)}
	if warped := of(func(_ int, y float64) float64 { return s.Warp().Forward(y) }); !slices.ContainsFunc(warped, notFinite) {
		all = append(all, warped)
	}
	return all
}

func notFinite(v float64) bool { return !numeric.IsFinite(v) }

// abruptIn returns a function that reports whether y changes more abruptly at a place than at others, by a ratio of the distances
// of the medians of width values on either side.
func abruptIn(y []float64, width int, ratio float64) func(at int) bool {
	var typical []float64
	for at := 1; at < len(y); at++ {
		size, _ := step(y, at, width)
		typical = append(typical, math.Abs(size))
	}
	least := ratio * numeric.UpperMedian(typical)
	return func(at int) bool { return typical[at-1] > least }
}

// step returns the distance of the medians of up to width values before a place and from it on, and this distance in standard
// deviations of the values about their medians, which are estimated by their mean distance.
func step(y []float64, at, width int) (size, apart float64) {
	const (
		normal   = 1.2533 // σ over the mean distance
		rounding = 1e-12
	)
	before, after := y[max(0, at-width):at], y[at:min(len(y), at+width)]
	first, second := numeric.UpperMedian(before), numeric.UpperMedian(after)
	var distance float64
	for _, v := range before {
		distance += math.Abs(v - first)
	}
	for _, v := range after {
		distance += math.Abs(v - second)
	}
	distance /= float64(len(before) + len(after))
	least := max(rounding*math.Abs(first), rounding*math.Abs(second), math.SmallestNonzeroFloat64)
	return second - first, math.Abs(second-first) / max(normal*distance, least)
}
