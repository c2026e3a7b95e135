package search

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestCarryNeedsTime: log y is searched anew where the budget has no time for a training that begins at y's end.
func TestCarryNeedsTime(t *testing.T) {
	s, rnd := &series.Series{Step: 1}, rand.New(rand.NewPCG(1, 1))
	for i := range searchedWhole + 50 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 9+rnd.NormFloat64())
	}
	for _, c := range []struct {
		evaluations float64
		carries     bool
	}{{carried - 1, false}, {carried + 1, true}} {
		of := testkit.Must(newComparison(t.Context(), s, Options{Kernels: []string{"Laplace"}, Trend: "none"}))(t)
		if err := of.try(t.Context(), of.kernels[0], nil); err != nil {
			t.Fatal(err)
		}
		best, _ := of.best()
		searched := of.found["Laplace"]
		if err := of.look(t.Context(), s, true); err != nil {
			t.Fatal(err)
		}
		seconds := testkit.Must(of.cost(best.Model))(t)
		share := of.searched + c.evaluations*seconds
		of.options.Budget = time.Duration((of.beside + float64(of.count+1)*share) * float64(time.Second))
		of.carry(t.Context(), best, searched)
		if got := len(searched) == 1 && len(of.found["Laplace"]) == 1; got != c.carries {
			t.Errorf("%v evaluations: carried is %v", c.evaluations, got)
		}
	}
}
