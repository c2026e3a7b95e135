package docs_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/measure/competition"
)

// TestForecastTables: the scores in forecasts.md are those that are stored in measure/forecasting.
func TestForecastTables(t *testing.T) {
	stored, err := competition.Read(filepath.Join(root, "measure", "forecasting"))
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]string{"best of them": "best", "ETS": "AutoETS", "ARIMA": "AutoARIMA", "Theta": "AutoTheta", "CES": "AutoCES"}
	scores := func(of func(competition.Scores) float64) map[string]map[string]any {
		all := map[string]map[string]any{}
		for _, g := range stored.Groups {
			row := map[string]any{"series": g.Series, "gppl": of(g.Own), "naive": of(g.Naive)}
			for _, model := range stored.Models() {
				if r, ok := stored.Rival(g.Group, model); ok {
					row[model] = of(r.Scores)
				}
			}
			all[g.Group] = row
		}
		return all
	}
	standings := map[string]map[string]any{}
	for _, score := range []string{"MASE", "WQL"} {
		found, err := stored.Standings(score)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if score == "MASE" {
				standings[s.Group] = map[string]any{"series": s.Series, "gppl": s.Own, "naive": s.Naive, "models": s.Models, "better than gppl": s.Better, "best": s.Best}
			} else {
				standings[s.Group]["WQL"], standings[s.Group]["better in WQL"] = s.Own, s.Better
			}
		}
	}
	_, text, _ := strings.Cut(documents(t)["docs/forecasts.md"], "\n## How well it does\n")
	for _, c := range []struct {
		label  string
		stored map[string]map[string]any
		unit   float64
	}{
		{"MASE:", scores(func(s competition.Scores) float64 { return s.MASE }), 1},
		{"CRPS, divided by the scale of MASE:", scores(func(s competition.Scores) float64 { return s.CRPS }), 1},
		{"How many per cent of the values the 95 % bands hold:", scores(func(s competition.Scores) float64 { return s.Cover95 }), 100},
		{"MASE, and WQL behind it:", standings, 1},
	} {
		var found bool
		if _, text, found = strings.Cut(text, "\n"+c.label+"\n\n"); !found {
			t.Fatalf("forecasts.md has no table %q", c.label)
		}
		table, _, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(table, "\n")
		head := cellsOf(lines[0])
		for _, line := range lines[2:] {
			cells := cellsOf(line)
			for j := 1; j < len(cells); j++ {
				name := head[j]
				if other := models[name]; other != "" {
					name = other
				}
				want, ok := c.stored[cells[0]][name]
				if !ok {
					t.Fatalf("%s nothing is stored of %s, %s", c.label, cells[0], name)
				}
				have, _, _ := strings.Cut(cells[j], ",")
				if wrong := differs(have, want, c.unit); wrong != "" {
					t.Errorf("%s %s, %s: %s", c.label, cells[0], head[j], wrong)
				}
			}
		}
	}
}

func cellsOf(line string) (cells []string) {
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// differs says how a printed number is another one than a stored value in a unit, rounded to as many decimals; "" if it is not.
func differs(printed string, stored any, unit float64) string {
	value, err := strconv.ParseFloat(fmt.Sprint(stored), 64)
	have, err2 := strconv.ParseFloat(printed, 64)
	_, decimals, _ := strings.Cut(printed, ".")
	if err != nil || err2 != nil || math.Abs(have-unit*value) > 0.5001*math.Pow(10, -float64(len(decimals))) {
		return fmt.Sprintf("%s is printed, %v stored", printed, stored)
	}
	return ""
}

func TestDiffers(t *testing.T) {
	for _, printed := range []string{"2.11", "2.112", "2", ""} {
		if got := differs(printed, 2.1131, 1) != ""; got != (printed == "2.112" || printed == "") {
			t.Errorf("%q differs: %v", printed, got)
		}
	}
}
