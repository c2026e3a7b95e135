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
	if s.Errors != nil {
		errs := v.standardErrors(s.Errors[from:to], y)
		v.typical = median(errs)
		if v.data, err = v.data.WithErrors(errs); err != nil {
			return v, fmt.Errorf("analysis: %w", err)
		}
	}
	return v, nil
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
