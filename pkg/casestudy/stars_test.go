package casestudy_test

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func number(t *testing.T, table *viz.Table, row, column int) float64 {
	t.Helper()
	return table.Rows[row][column].(float64)
}

// TestStars runs what notebook 14 shows: an index that sees the spots makes the planet's amplitude more certain, averages that
// are treated as moments lose variance, and a process makes the error of a transit's depth realistic.
func TestStars(t *testing.T) {
	ctx := t.Context()
	planet := testkit.Must(casestudy.NewPlanet(ctx, scales.Smoke, 1))(t)
	testkit.Must(planet.Figure())(t)
	table := testkit.Must(planet.Table(ctx))(t)
	if white, both := number(t, table, 0, 2), number(t, table, 2, 2); !(both < white) {
		t.Errorf("standard errors %v and %v", white, both)
	}
	if got, se := number(t, table, 2, 1), number(t, table, 2, 2); !(math.Abs(got-2) < 4*se) {
		t.Errorf("amplitude %v ± %v", got, se)
	}
	star := testkit.Must(casestudy.NewSpotted(ctx, scales.Smoke, 1))(t)
	testkit.Must(star.Figure())(t)
	table = testkit.Must(star.Table(ctx))(t)
	if averages, moments := number(t, table, 0, 4), number(t, table, 1, 4); !(moments < 0.95*averages) {
		t.Errorf("variance %v of averages, %v of moments", averages, moments)
	}
	transit := testkit.Must(casestudy.Transit(ctx, scales.Smoke, 1))(t)
	if constant, process := number(t, transit, 0, 1), number(t, transit, 1, 1); !(process < constant) {
		t.Errorf("errors %v and %v", constant, process)
	}
}
