package analysis

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Logs are what Options.Log may say: whether the model is of log y. "auto", or "", compares both where all y are positive.
var Logs = []string{"auto", "never", "always"}

// view is the series as a model sees it: y or log y, standardised.
type view struct {
	log     bool
	scaling dataset.Scaling // of y, or of log y
	data    gppl.Data
	// offset turns the NLL of the standardised values into that of y: with z = (g(y) − μ)/s it is n·log s − Σ log g′(y). With
	// it, likelihoods of y and of log y compare.
	offset  float64
	typical float64 // median of the standardised known errors; 0 if there are none
}

// newView returns the observations from one index to before another as a model sees them.
func newView(s *Series, from, to int, log bool) (view, error) {
	x, y := s.X[from:to], s.Y[from:to]
	g := y
	v := view{log: log}
	if log {
		g = make([]float64, len(y))
		for i, value := range y {
			if !(value > 0) {
				return v, fmt.Errorf("analysis: observation %d is %v: the logarithm is of positive values; choose the log scale never", i, value)
			}
			g[i] = math.Log(value)
		}
		v.offset = -gppl.LogJacobian(gppl.LogWarp{}, y)
	}
	z, scaling := dataset.Series{X: x, Y: g}.Standardize()
	v.scaling = scaling
	v.offset += float64(len(y)) * math.Log(scaling.Scale)
	in, err := s.inputs(x)
	if err != nil {
		return v, err
	}
	if v.data, err = gppl.NewData(in, z.Y); err != nil {
		return v, fmt.Errorf("analysis: %w", err)
	}
	switch {
	case s.Relative:
		v.data, err = v.data.WithRelativeErrors(s.relativeErrors(s.Errors[from:to], y, log))
	case s.Errors != nil:
		errs := v.standardErrors(s.Errors[from:to], y)
		v.typical = median(errs)
		v.data, err = v.data.WithErrors(errs)
	}
	if err != nil {
		return v, fmt.Errorf("analysis: %w", err)
	}
	return v, nil
}

// relativeErrors are errors of observations over the typical one of the whole series, that of log y being to first order e/y.
func (s *Series) relativeErrors(errors, y []float64, log bool) []float64 {
	typical := s.typicalError(log)
	out := make([]float64, len(errors))
	for i, e := range errors {
		if log {
			e /= y[i]
		}
		out[i] = e / typical
	}
	return out
}

// typicalError is the median of the known errors, of y or of log y. Of a part of a series it is that of the whole: models of relative
// errors go from one part to another.
func (s *Series) typicalError(log bool) float64 {
	if s.whole != nil {
		return s.whole.typicalError(log)
	}
	if !log {
		return median(s.Errors)
	}
	var errs []float64
	for i, e := range s.Errors {
		if s.Y[i] > 0 {
			errs = append(errs, e/s.Y[i])
		}
	}
	return median(errs)
}

// ErrorScale is how many times the errors of the column ErrorName the noise was learnt to be; 1 if they are known and not relative.
func (a *Analysis) ErrorScale() float64 {
	if !a.Series.Relative {
		return 1
	}
	m := a.Result.Model
	return math.Sqrt(a.Scaling.Variance(m.Noise+gppl.Nugget(m.Kernel))) / a.Series.typicalError(a.Log)
}

// standardErrors are known errors of observations as the model sees them: that of log y is, to first order, the relative one.
func (v view) standardErrors(errors, y []float64) []float64 {
	out := make([]float64, len(errors))
	for i, e := range errors {
		if v.log {
			e /= y[i]
		}
		out[i] = e / v.scaling.Scale
	}
	return out
}

// positive reports whether all y have a logarithm.
func positive(y []float64) bool {
	for _, v := range y {
		if !(v > 0) {
			return false
		}
	}
	return true
}
