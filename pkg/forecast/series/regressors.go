package series

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// regressorVariance is the prior variance of a regressor's coefficient, both standardised. A regressor that explains all of y has
// the coefficient 1 or −1.
const regressorVariance = 4

// errUnknown says that a regressor is not known at the x of a prediction.
var errUnknown = errors.New("a regressor is not known there")

// Inputs returns x with the regressors, if there are any.
func (s *Series) Inputs(x []float64) (gppl.Inputs, error) {
	in := s.MonthDays.inputs(s.Holidays.inputs(gppl.Scalars(x), s.Axis, x), s.Axis, x)
	in = s.withShiftColumns(s.withEventColumns(in, x), x)
	if s.Known == nil {
		return in, nil
	}
	for _, group := range s.Known.AllGroups() {
		column := make([]float64, len(x))
		for _, j := range group {
			for i, at := range x {
				v, ok := s.Known.value(j, at)
				if !ok {
					return in, s.unknown(s.Known.Names[j], at)
				}
				column[i] += (v - s.Known.Centre[j]) / s.Known.Scale[j] / float64(len(group))
			}
		}
		in = in.WithColumn(s.Known.GroupName(group), column)
	}
	return in, nil
}

func (s *Series) unknown(name string, at float64) error {
	k := s.Known
	return message("%v: %s is known from %s to %s, not at %s; "+
		"add rows with %s and %s and an empty y to the file, or name a file with such rows: %v",
		errUnknown, name, s.Axis.Text(k.X[0]), s.Axis.Text(k.X[len(k.X)-1]), s.Axis.Text(at),
		cmp.Or(s.Axis.Name, "x"), strings.Join(k.Names, ", "), dataset.Setting{Field: "Future"})
}

// Ahead returns the x after the last observation at which the regressors are known. It panics if there are no regressors.
func (s *Series) Ahead() []float64 {
	last := s.X[len(s.X)-1]
	i := sort.Search(len(s.Known.X), func(i int) bool { return s.Known.X[i] > last })
	return s.Known.X[i:]
}

// WithRegressors adds the regressors of x to a mean, each with its own coefficient. Parts may be nil.
func WithRegressors(parts []gppl.Mean, variances []float64, x gppl.Inputs) gppl.Mean {
	for _, name := range x.ColumnNames() {
		parts = append(parts, gppl.Regressor{Name: name})
		variance := float64(regressorVariance)
		for _, scaled := range []string{ShiftPrefix, HolidayPrefix, MonthDayPrefix, EventPrefix} {
			if strings.HasPrefix(name, scaled) {
				variance = 1 // the columns are scaled already
			}
		}
		variances = append(variances, variance)
	}
	if len(parts) == 0 {
		return nil
	}
	return gppl.GaussianBeta{Of: gppl.AddMeans(parts...), Variances: variances}
}

// checkDates returns an error if x are dates in the file and numbers in the series, or the reverse. It names line and x as an
// example.
func (s *Series) checkDates(dates bool, line int, x float64) error {
	switch example := s.Axis.Text(s.X[0]); {
	case s.Axis.Dates && !dates:
		return fmt.Errorf("line %d: x is %v, but the model has dates, such as %s", line, x, example)
	case !s.Axis.Dates && dates:
		return fmt.Errorf("line %d: x is a date, but the model has numbers, such as %s", line, example)
	}
	return nil
}
