package report

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestEffectsTable: if there are more effects than a page shows at first, the table has the most significant ones, in their own
// order, and says how many there are.
func TestEffectsTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	var csv strings.Builder
	csv.WriteString("x,y,weak,strong,none,middling\n")
	for i := range 60 {
		r := [4]float64{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()}
		fmt.Fprintf(&csv, "%d,%.4f,%.4f,%.4f,%.4f,%.4f\n", i, 0.2*r[0]+9*r[1]+2*r[3]+0.5*rnd.NormFloat64(), r[0], r[1], r[2], r[3])
	}
	path := filepath.Join(t.TempDir(), "y.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := series.Read(t.Context(), path, series.ReadOptions{X: "x", Y: "y", Regressors: []string{"weak", "strong", "none", "middling"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(t.Context(), s, forecast.Options{Kernels: []string{"SE"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int
		want string
	}{{4, "weak strong none middling"}, {2, "strong middling"}, {1, "strong"}} {
		table, count, err := effectsTable(t.Context(), a, c.most)
		if err != nil || count != 4 {
			t.Fatalf("%d effects, %v", count, err)
		}
		var names []string
		for _, row := range table.Rows {
			names = append(names, row[0].(string))
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("of at most %d: %q, want %q", c.most, got, c.want)
		}
		if says := strings.Contains(strings.Join(table.Notes, " "), "of 4 that stand out most"); says != (c.most < 4) {
			t.Errorf("of at most %d the table says that it leaves some out: %v", c.most, says)
		}
	}
}

// TestEffectsCaption: the caption of the table names what has effects, and says whether they add or multiply.
func TestEffectsCaption(t *testing.T) {
	known, days, events := &series.Known{}, &series.MonthDays{}, []series.Event{{Name: "strike"}}
	for _, c := range []struct {
		of             series.Series
		log            bool
		want, wantName string
	}{
		{series.Series{Known: known}, false, "What one unit of a regressor adds to y", "regressor"},
		{series.Series{Known: known}, true, "What one unit of a regressor changes in y", "regressor"},
		{series.Series{MonthDays: days}, false, "What single days add to y", "effect"},
		{series.Series{Events: events, MonthDays: days}, true, "What events and single days change in y", "effect"},
		{series.Series{Events: events, Known: known}, false, "What events and one unit of a regressor add to y", "effect"},
		{series.Series{Events: events, MonthDays: days, Known: known}, false,
			"What events, single days and one unit of a regressor add to y", "effect"},
	} {
		c.of.YName = "y"
		got, column := effectsCaption(&forecast.Analysis{Series: &c.of, Log: c.log}, c.log)
		if got != c.want || column != c.wantName {
			t.Errorf("%q of %q, want %q of %q", got, column, c.want, c.wantName)
		}
	}
}
