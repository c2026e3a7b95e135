package forecast

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Shifts returns the shifts in the mean of the best model with their sizes, by time, and in the mode "report" those that it finds
// (findShifts describes the test). It is an error if the search failed, or if they have no sizes.
//
// They are computed once. The caller must not change the result.
func (a *Analysis) Shifts(ctx context.Context) ([]ShiftSize, error) {
	if a.unsought != nil {
		return nil, a.unsought
	}
	return a.shifts.get(nil, func() ([]ShiftSize, error) { return a.sizedShifts(ctx) })
}

// sizedShifts computes the result of Shifts.
func (a *Analysis) sizedShifts(ctx context.Context) (all []ShiftSize, err error) {
	switch {
	case a.ShiftMode() == shiftsReported && a.Untried > 0:
		return nil, errors.New(search.BudgetSpent)
	case a.ShiftMode() == shiftsReported:
		all, err = a.findShifts(ctx)
	case len(a.Series.Shifts) > 0:
		all, err = a.usedShifts(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if s.Log && s.Kind == "level" && a.Series.Bounds == nil {
			at, _ := slices.BinarySearch(a.Series.X, s.X)
			all[i].InY = numeric.UpperMedian(a.Series.Y[max(0, at-24):max(1, at)]) * math.Expm1(s.Size)
		}
	}
	return all, nil
}

// usedShifts returns the shifts in the mean of the best model with their sizes.
func (a *Analysis) usedShifts(ctx context.Context) (all []ShiftSize, err error) {
	learnt, err := a.coefficients(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range a.Series.Shifts {
		s := unsized(c, a)
		b, ok := learnt[series.ShiftPrefix+c.Text(a.Series.Axis)]
		if !ok {
			continue
		}
		unit := a.members[0].scale.Scaling.Scale * c.Scale
		s.Size, s.StdErr, s.Used = b.Value*unit, b.StdErr*unit, true
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ShiftSize) int { return cmp.Compare(a.X, b.X) })
	return all, nil
}

// Found reports whether the mean of the forecast has shifts that were found, not given.
func (a *Analysis) Found() bool {
	return slices.ContainsFunc(a.Series.Shifts, func(c series.Shift) bool { return c.Chance > 0 })
}
