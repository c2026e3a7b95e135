package gppl

import (
	"context"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Engines returns the names of all engines, of any loss, the dense one first.
func Engines() []string { return slices.Clone(engineNames) }

// SumsWaves returns the waves of a projected likelihood from sums, for tests that project
// the observations themselves.
func SumsWaves(s *sums.Sums, l *Projected) (origin, period float64, frequency []int, sine []bool) {
	for _, f := range l.data.Waves.Basis.Features() {
		frequency, sine = append(frequency, f.Frequency()), append(sine, f.IsSin())
	}
	return s.Header().Origin, s.Header().Period, frequency, sine
}

// Helpers of the internal tests, for the tests of package fisher.
var (
	Near, NearVector            = near, nearVector
	EngineInputs, EngineKernels = engineInputs, engineKernels
	ReadOracle, BenchData       = readOracle, benchData
	DrawFrom, LogGrad           = drawFrom, logGrad
	VFEPosterior                = vfePosterior
	IsDifferentiable            = isDifferentiable
)

// Sampler returns what Model.Sample does with a seed, prepared once for all seeds.
func (m Model) Sampler(ctx context.Context, x Inputs, opts ...Option) (draw func(seed uint64) (Draw, error), err error) {
	s, err := m.newSampler(ctx, x, opts)
	if err != nil {
		return nil, err
	}
	return s.draw, nil
}

func (c oracleCase) Data(t *testing.T) Data   { return c.data(t) }
func (c oracleCase) Model(t *testing.T) Model { return c.model(t) }
func (c oracleCase) Projection() *Projection  { return c.projection() }
