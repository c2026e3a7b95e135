package experiment

import (
	"bytes"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestYear wants the same bits in three orders, the truth within four standard errors, and costs of the same likelihood.
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
	var all *gppl.Sums
	var first []byte
	for name, order := range Orders(1) {
		if all, err = Merged(parts, order); err != nil {
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
	loss, err := gppl.NewSumsExact(y.Truth, all, 0)
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
	table, err := YearCosts([]int{20000}, 1)
	if err != nil || len(table.Rows) != 1 {
		t.Errorf("%v, %v", table, err)
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
