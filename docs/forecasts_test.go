package docs_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// TestForecastTables: the scores in forecasts.md are those that are stored in measure/forecasting.
func TestForecastTables(t *testing.T) {
	stored, err := casestudy.ReadForecasts(filepath.Join(root, "measure", "forecasting"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{"naive": "seasonal naive", "best of them": "best", "ETS": "AutoETS", "ARIMA": "AutoARIMA", "Theta": "AutoTheta", "CES": "AutoCES"}
	_, text, _ := strings.Cut(documents(t)["docs/forecasts.md"], "\n## How well it does\n")
	for _, c := range []struct {
		label string
		table func(string) (*viz.Table, error)
		which string
		unit  float64
	}{
		{"MASE:", stored.Scores, "MASE", 1}, {"CRPS, divided by the scale of MASE:", stored.Scores, "CRPS", 1},
		{"How many per cent of the values the 95 % bands hold:", stored.Scores, "coverage", 100},
		{"MASE:", stored.Published, "MASE", 1}, {"WQL:", stored.Published, "WQL", 1},
	} {
		var found bool
		if _, text, found = strings.Cut(text, "\n"+c.label+"\n\n"); !found {
			t.Fatalf("forecasts.md has no table %q", c.label)
		}
		want, err := c.table(c.which)
		if err != nil {
			t.Fatal(err)
		}
		table, _, _ := strings.Cut(text, "\n\n")
		lines := strings.Split(table, "\n")
		head := cellsOf(lines[0])
		for _, line := range lines[2:] {
			cells := cellsOf(line)
			i := slices.IndexFunc(want.Rows, func(row []any) bool { return row[0] == cells[0] })
			for j := 1; j < len(cells); j++ {
				name := head[j]
				if other := of[name]; other != "" {
					name = other
				}
				at := slices.IndexFunc(want.Columns, func(column viz.Column) bool { return column.Name == name })
				if i < 0 || at < 0 {
					t.Fatalf("%s nothing is stored of %s, %s", c.label, cells[0], name)
				}
				have, _, _ := strings.Cut(cells[j], ",")
				if wrong := differs(have, want.Rows[i][at], c.unit); wrong != "" {
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
