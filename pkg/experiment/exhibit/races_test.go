package exhibit

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestRaces: the table follows the standings; of orders the better one counts, of draws the median.
func TestRaces(t *testing.T) {
	run := func(seed uint64, order int, name string, excess ...float64) (experiment.Race, experiment.Standing) {
		race := experiment.Race{Kernel: "SE", N: 100, Ratio: 10, Estimator: name, Order: order, Seed: seed}
		return race, experiment.Standing{Excess: excess}
	}
	var r Races
	add := func(race experiment.Race, s experiment.Standing) {
		r.Of, r.Standings = append(r.Of, race), append(r.Standings, s)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		add(run(seed, 0, experiment.ML, -1, -1, 40, 0, 0, 0, 0))
		add(run(seed, 50, experiment.VFE, -1, 9, 9, 9, 9, 9, 9))
		add(run(seed, 150, experiment.VFE, -1, -1, -1, 80, 7, 5, float64(seed)))
		add(run(seed, 0, experiment.Whittle, -1, 30, 12, 12, 12, 12, 12))
	}
	table := r.Table()
	if len(table.Rows) != 1 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	for i, want := range []any{"SE", "regular", 10., 100, "VFE 9", "VFE 9", "exact", "exact", "VFE 2", 0.03} {
		if table.Rows[0][i] != want {
			t.Errorf("column %d is %v, want %v", i, table.Rows[0][i], want)
		}
	}
	f, err := r.Figure()
	checkFigure(t, f, err, "signal/noise 10", "100 regular")
}

// TestRacesStored: every race that is listed is stored.
func TestRacesStored(t *testing.T) {
	races, standings, err := experiment.RaceSurvey("../../../notebooks/results").Stored()
	if err != nil {
		t.Fatal(err)
	}
	stored := map[experiment.Race]bool{}
	for _, r := range races {
		stored[r] = true
	}
	for _, r := range experiment.Races(scales.Full) {
		if !stored[r] {
			t.Errorf("%v is not stored", r)
		}
	}
	table := Races{races, standings}.Table()
	checkTable(t, table, 36, "Whittle &lt; 0.001")
	f, err := Races{races, standings}.Figure()
	checkFigure(t, f, err, "4000 regular", "LocPer")
}

func TestKeeps(t *testing.T) {
	m, n := experiment.KeepsModel(scales.Smoke)
	all, params, err := experiment.Information(t.Context(), scales.Smoke)
	if err != nil || len(params) != len(m.Params()) {
		t.Fatal(err)
	}
	f, err := Information(all, params, n)
	checkFigure(t, f, err, "VFE, at its optimum", "PL + residual, Spectral", gppl.NoiseName)
}
