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

// ShiftModes are the values of Options.Shifts: use puts shifts that are found into the mean of the forecast, report leaves them
// to Analysis.Shifts, and never does not look for any. auto is use for a series of up to 400 observations without named kernels,
// and report otherwise.
var ShiftModes = []string{shiftsAuto, ShiftsUsed, shiftsReported, "never"}

// ShiftsUsed is the mode in which a forecast includes the shifts that are found, shiftsReported that in which it does not.
const shiftsAuto, ShiftsUsed, shiftsReported = "auto", "use", "report"

// cheapShifts is the number of observations up to which learning anew with shifts is cheap (BenchmarkFitShifts): auto then
// includes them in the forecast, and the search for them trains more models.
const cheapShifts = 400

// ShiftMode is the mode of the analysis after resolving auto; never if it was read from a file.
func (a *Analysis) ShiftMode() string {
	switch {
	case a.Options == nil:
		return "never"
	case a.Options.Shifts != "" && a.Options.Shifts != shiftsAuto:
		return a.Options.Shifts
	case len(a.Options.Kernels) > 0 || len(a.Series.X) > cheapShifts:
		return shiftsReported
	}
	return ShiftsUsed
}

// ShiftSize is a Shift with its size.
type ShiftSize struct {
	Kind string  `json:"kind"` // level or slope
	X    float64 `json:"x"`
	When string  `json:"when"`
	// Size is that of the shift, in the unit of y or, for a slope, in that per unit of x; in a model of log y it is that of log y.
	Size   float64 `json:"size"`
	StdErr float64 `json:"std_err"` // given the kernel's parameters and the noise
	Log    bool    `json:"log,omitempty"`
	// InY, for a change of the level of log y, is what it adds to the median of the 24 observations before it.
	InY float64 `json:"size_in_y,omitempty"`
	// Chance is approximately the probability of a shift as clear somewhere in a series without shifts; 0 if it was given.
	Chance float64 `json:"chance,omitempty"`
	// Used says that the forecast includes it.
	Used bool `json:"used"`
}

// Shifts returns the shifts in the mean of the best model with their sizes, by time, and in the mode "report" those that it finds
// (findShifts describes the test). It is an error if the search failed, or if they have no sizes.
//
// They are computed once. The caller must not change the result.
func (a *Analysis) Shifts(ctx context.Context) ([]ShiftSize, error) {
	if a.missed != nil {
		return nil, a.missed
	}
	return a.shifts.get(nil, func() ([]ShiftSize, error) { return a.sizedShifts(ctx) })
}

// sizedShifts computes the result of Shifts.
func (a *Analysis) sizedShifts(ctx context.Context) (all []ShiftSize, err error) {
	switch {
	case a.ShiftMode() == shiftsReported && a.Untried > 0:
		return nil, errors.New("forecast: " + search.BudgetSpent)
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

// unsized is the shift without its size.
func unsized(c series.Shift, a *Analysis) ShiftSize {
	s := ShiftSize{Kind: "level", X: c.At, When: a.Series.Axis.Text(c.At), Log: a.Log, Chance: c.Chance}
	if c.Slope {
		s.Kind = "slope"
	}
	return s
}
