package series

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// TestTakeEven: numbers that are even but for rounding or the lengths of months become even, near their old places, with a note.
// Others stay.
func TestTakeEven(t *testing.T) {
	const n = 415
	rounded := func(decimals int, f func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			p := math.Pow(10, float64(decimals))
			x[i] = math.Round(f(i)*p) / p
		}
		return x
	}
	dayOf := func(day int) func(i int) float64 {
		return func(i int) float64 {
			return dataset.DecimalYear(time.Date(1956, time.Month(1+i), day, 0, 0, 0, 0, time.UTC))
		}
	}
	weekOf := func(i int) float64 {
		return dataset.DecimalYear(time.Date(1958, 3, 29+7*i, 12, 0, 0, 0, time.UTC))
	}
	gap := func(f func(i int) float64) func(i int) float64 {
		return func(i int) float64 { return f(i + i/100) }
	}
	for name, c := range map[string]struct {
		x    []float64
		note string
		near float64
	}{
		"months":          {rounded(4, dayOf(2)), "month", 2.5 / 365},
		"months, first":   {rounded(3, dayOf(1)), "month", 2.5 / 365},
		"months, missing": {rounded(4, gap(dayOf(15))), "month", 2.5 / 365},
		"of 365 days": {rounded(4, func(i int) float64 { // 1956.0027, 1956.0877 …
			begins := []float64{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
			return 1956 + float64(i/12) + (1+begins[i%12])/365
		}), "month", 2.5 / 365},
		"weeks in years": {rounded(6, weekOf), "days", 1. / 365},
		"weeks, missing": {rounded(4, gap(weekOf)), "days", 1. / 365},
		"weeks, coarse":  {rounded(3, weekOf), "days", 1.5 / 365},
		"years":          {rounded(0, func(i int) float64 { return float64(1700 + i + i/100) }), "", 0},
		"half-years":     {rounded(1, func(i int) float64 { return 1700 + 0.5*float64(i+i/100) }), "", 0},
		"months, last":   {rounded(4, func(i int) float64 { return dayOf(0)(i + 1) }), "month", 3. / 365},
		"quarters":       {rounded(4, func(i int) float64 { return dayOf(1)(3 * i) }), "month", 2.5 / 365},
		"twelfths":       {rounded(4, func(i int) float64 { return 1956 + float64(i)/12 }), "months", 1.3 * 0.5e-4},
		"thirds":         {rounded(6, func(i int) float64 { return float64(i) / 3 }), "rounding", 1.3 * 0.5e-6},
		"gaps":           {rounded(4, gap(func(i int) float64 { return 7 * float64(i) / 11 })), "rounding", 1.3 * 0.5e-4},
		"even already":   {rounded(1, func(i int) float64 { return 0.1 * float64(i) }), "", 0},
		"integers":       {rounded(0, func(i int) float64 { return 1.5 * float64(i) }), "", 0},
		"jitter":         {rounded(4, func(i int) float64 { return float64(i) + 0.01*math.Sin(float64(i*i)) }), "", 0},
		"drifts":         {rounded(4, func(i int) float64 { return float64(i) * (1 + 1e-6*float64(i)) }), "", 0},
		"days of weeks":  {rounded(4, func(i int) float64 { return 1956 + 4*7*float64(i)/365.25 + 0.003*math.Sin(float64(i)) }), "", 0},
	} {
		s := &Series{X: slices.Clone(c.x)}
		s.takeEven()
		notes := strings.Trim(fmt.Sprint(s.remarks), "[]")
		if (notes == "") != (c.note == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", name, notes, c.note)
			continue
		}
		step := math.Inf(1)
		for i, x := range s.X {
			if i > 0 {
				step = min(step, x-s.X[i-1])
			}
			if math.Abs(x-c.x[i]) > c.near*(1+1e-9) {
				t.Errorf("%s: x = %v became %v", name, c.x[i], x)
				break
			}
		}
		for i := 1; c.note != "" && i < n; i++ {
			if steps := (s.X[i] - s.X[i-1]) / step; math.Abs(steps-math.Round(steps)) > 1e-8 {
				t.Errorf("%s: %v steps from %v to %v", name, steps, s.X[i-1], s.X[i])
				break
			}
		}
	}
	few := &Series{X: rounded(4, dayOf(2))[:fewestEven-1]}
	if few.takeEven(); few.remarks != nil {
		t.Errorf("of few observations: %q", few.remarks)
	}
}

// TestStepOfRounded: x written to eleven decimals, with a gap, continues at times that are written like it, without accumulating
// error.
func TestStepOfRounded(t *testing.T) {
	var x, y []float64
	for i := range 1080 {
		if i != 100 && i != 101 {
			x, y = append(x, roundTo(1903+float64(i)/12, 11)), append(y, math.Sin(float64(i)))
		}
	}
	s, err := NewSeries(Axis{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.Next(24)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Axis.Text(next[23]); got != "1994.91666666667" {
		t.Errorf("the last of 24 months is %s", got)
	}
}
