package forecast

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Constant returns the forecast of a series whose observations are all equal (series.ConstantError): their value, some steps
// beyond the last observation. Such a series shows no noise, so the variances are 0 and the bands have no width.
func Constant(s *series.Series, steps int) (*Forecast, error) {
	x, err := s.Next(steps)
	if err != nil {
		return nil, err
	}
	same, none := slices.Repeat(s.Y[:1], len(x)), make([]float64, len(x))
	part := Part{Weight: 1, Mean: same, LatentVar: none, NoisyVar: none}
	return &Forecast{X: x, When: s.Axis.Texts(x), Median: same, LatentVar: none, NoisyVar: none, Lower: same, Upper: same,
		Parts: []Part{part}}, nil
}
