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
	offset float64
}

func newView(x, y []float64, log bool) (view, error) {
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
	data, err := gppl.NewData(gppl.Scalars(x), z.Y)
	if err != nil {
		return v, fmt.Errorf("analysis: %w", err)
	}
	v.data = data
	return v, nil
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
