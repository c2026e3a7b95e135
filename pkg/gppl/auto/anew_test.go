package auto_test

import (
	"context"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// TestFitAgain: a fit does not depend on which of the trainings side by side comes first, not even in its last digits. These
// decide for a trend without noise: the variance is large and hardly determined.
func TestFitAgain(t *testing.T) {
	const n = 150
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 100 * float64(i) / (n - 1)
		y[i] = x[i]/50 - 1
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	var first []float64
	for again := range 8 {
		r := testkit.Must(auto.Fit(context.Background(), gppl.PaperModel(gppl.SE{}), d, auto.Settings{}))(t)
		got := append(r.Model.Values(), r.Value, float64(r.Evaluations))
		if again == 0 {
			first = got
		} else if !slices.Equal(got, first) {
			t.Fatalf("parameters, value and evaluations are %v, and %v when asked again", first, got)
		}
	}
}
