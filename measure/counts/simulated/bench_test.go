package simulated_test

import (
	"context"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/measure/counts/simulated"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// BenchmarkFitLaplace trains Matérn 3/2 on the series of counts that docs/guide.md compares libraries on.
func BenchmarkFitLaplace(b *testing.B) {
	for _, s := range testkit.Must(simulated.Set(simulated.All))(b) {
		train, _, err := s.Split()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("series="+s.Name, func(b *testing.B) {
			var evaluations int
			for b.Loop() {
				fit := testkit.Must(observe.FitLaplace(context.Background(), s.Start, train, s.Likelihood, nil,
					gppl.Settings{NoStandardErrors: true}))(b)
				evaluations = fit.Evaluations
			}
			b.ReportMetric(float64(evaluations), "evaluations")
		})
	}
}
