package experiment

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// TestYear checks that three orders give the same bits, that the truth is within four standard errors, and that the costs are
// the results of the same likelihood.
func TestYear(t *testing.T) {
	y := NewYear(60000, 1)
	p, err := y.Plan()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := y.Months(p.Header)
	if err != nil {
		t.Fatal(err)
	}
	var all *sums.Sums
	var first []byte
	for name, order := range ordersOf(1) {
		if all, err = merged(parts, order); err != nil {
			t.Fatal(err)
		}
		b, err := all.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("%s: other bytes", name)
		}
	}
	loss, err := gppl.NewExact(t.Context(), y.Truth, gppl.SumsData(all, 0))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range y.Truth.Params() {
		if off := math.Abs(math.Log(r.Params[i].Value / q.Value)); off > 4*r.Params[i].StdErrLog {
			t.Errorf("%s is %v, want %v within 4 × %v", q.Name, r.Params[i].Value, q.Value, r.Params[i].StdErrLog)
		}
	}
	if table, err := y.Unresolved(all, gppl.Matern32{Variance: 1, Lengthscale: 1},
		gppl.SE{Variance: 1, Lengthscale: 0.01}); err != nil || len(table.Rows) != 2 {
		t.Errorf("%v, %v", table, err)
	}
	if _, err := y.Unresolved(all, y.Truth.Kernel); err == nil {
		t.Error("the kernel of the year is among those that its sums cannot represent")
	}
	table, err := YearCosts([]int{10000, 20000}, 1)
	if err != nil || len(table.Rows) != 2 {
		t.Errorf("%v, %v", table, err)
	}
	rest := all.Clone()
	if err := rest.Subtract(parts[6]); err != nil {
		t.Fatal(err)
	}
	for name, draw := range map[string]func() (*viz.Figure, error){
		"cost":       func() (*viz.Figure, error) { return CostFigure(table, 1) },
		"gap":        func() (*viz.Figure, error) { return y.GapFigure(y.Truth, all, rest, 6) },
		"spectrum":   func() (*viz.Figure, error) { return SumsSpectrum(y.Truth, all) },
		"resolution": func() (*viz.Figure, error) { return ResolutionFigure(p.Header) },
	} {
		figure, err := draw()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if dir := os.Getenv("GPPL_FIGURES"); dir != "" { // for inspection
			err = figure.Save(filepath.Join(dir, name+".png"))
		} else {
			_, err = figure.SVG()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	forecast, err := y.Forecast(y.Truth, all, []float64{10, 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range forecast.Rows {
		if off := math.Abs(row[1].(float64) - row[3].(float64)); off > 5*row[2].(float64) {
			t.Errorf("at day %v: off by %v, standard deviation %v", row[0], off, row[2])
		}
	}
}
