package series_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestLead wants values that stand for missing ones to be told, several of them together, and nothing else to be.
func TestLead(t *testing.T) {
	axis := series.Axis{Name: "t"}
	for _, test := range []struct {
		name  string
		lo    float64
		hi    float64
		codes map[int]float64 // code for each last digit of i
		once  float64
		want  string
	}{
		{"none", -10, 30, nil, 0, ""},
		{"-127 of a thermometer", -10, 30, map[int]float64{3: -127}, 0, "10 values of y are -127, far from all others, which lie between -10 and 30. If it stands for a missing value, add ReadOptions.Missing: \"-127\"."},
		{"a usual code, half a range apart", 0, 600, map[int]float64{3: 999}, 0, "10 values of y are 999, far from all others, which lie between 0 and 600. If it stands for a missing value, add ReadOptions.Missing: \"999\"."},
		{"another value there", 0, 600, map[int]float64{3: 1000}, 0, ""},
		{"two", 0, 600, map[int]float64{3: -999, 5: 9999}, 0, "10 values of y are -999, 10 are 9999, far from all others, which lie between 0 and 600. If they stand for missing values, add ReadOptions.Missing: \"-999\" ReadOptions.Missing: \"9999\"."},
		{"two low ones", 0, 600, map[int]float64{3: -999, 5: -9999}, 0, "10 values of y are -9999, 10 are -999, far from all others, which lie between 0 and 600. If they stand for missing values, add ReadOptions.Missing: \"-9999\" ReadOptions.Missing: \"-999\"."},
		{"four in ten, usual", 0, 600, map[int]float64{1: -99.99, 2: -99.99, 3: -99.99, 5: -99.99}, 0, ""},
		{"four in ten, far", 0, 60, map[int]float64{1: -99.9, 2: -99.9, 3: -99.9, 5: -99.9}, 0, "40 values of y are -99.9, far from all others, which lie between 0 and 60. If it stands for a missing value, add ReadOptions.Missing: \"-99.9\"."},
		{"four in ten, no usual one", 0, 60, map[int]float64{1: -100, 2: -100, 3: -100, 5: -100}, 0, ""},
		{"once", 0, 60, nil, -999, "1 value of y is -999, far from all others, which lie between 0 and 60. If it stands for a missing value, add ReadOptions.Missing: \"-999\"."},
		{"once, two ranges away", -200, 200, nil, -999, "1 value of y is -999, far from all others, which lie between -200 and 200. If it stands for a missing value, add ReadOptions.Missing: \"-999\"."},
		{"once, alone negative", 1100, 1900, nil, -99.99, "1 value of y is -99.99, far from all others, which lie between 1100 and 1900. If it stands for a missing value, add ReadOptions.Missing: \"-99.99\"."},
		{"once, alone negative, no nines", 1100, 1900, nil, -100, ""},
		{"once, beside negative ones", -900, 1900, nil, -999.9, ""},
		{"the end of 16 bits, once", 1100, 1900, nil, -32767, "1 value of y is -32767, far from all others, which lie between 1100 and 1900. If it stands for a missing value, add ReadOptions.Missing: \"-32767\"."},
		{"a fill of NetCDF, once", 270, 290, nil, 1e20, "1 value of y is 1e+20, far from all others, which lie between 270 and 290. If it stands for a missing value, add ReadOptions.Missing: \"1e+20\"."},
		{"sevens, once", 100, 300, nil, -777, "1 value of y is -777, far from all others, which lie between 100 and 300. If it stands for a missing value, add ReadOptions.Missing: \"-777\"."},
		{"two eights, once", 100, 300, nil, -88, ""},
		{"sevens above 0, once", 100, 300, nil, 7777, ""},
		{"degrees that fall to -1", -1, 20, nil, 0, ""},
		{"-1 among counts that vary as much", 0, 90, map[int]float64{1: 0, 2: 60, 4: 0}, -1, ""},
		{"once, no nines", 0, 60, nil, -990, ""},
		{"once, two nines", 0, 10, nil, -99, "1 value of y is -99, far from all others, which lie between 0 and 10. If it stands for a missing value, add ReadOptions.Missing: \"-99\"."},
		{"once, two nines and decimals", 0, 2, nil, -9.9, ""},
		{"a sensor that saturates", 0, 200, map[int]float64{3: 255}, 0, ""},
		{"zeros", 100, 110, map[int]float64{3: 0}, 0, ""},
		{"in the range", 0, 200, map[int]float64{3: 99}, 0, ""},
	} {
		var x, y []float64
		for i := range 100 {
			v, coded := test.codes[i%10]
			if !coded {
				v = math.Round(test.lo + (test.hi-test.lo)*(0.5-0.5*math.Cos(float64(i)*math.Pi/10))) // at both ends where i%10 is 0
			}
			x, y = append(x, float64(i)), append(y, v)
		}
		if test.once != 0 {
			y[17] = test.once
		}
		before := slices.Clone(y)
		s, err := series.NewSeries(axis, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Lead(); got != test.want || !slices.Equal(y, before) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestLonelyDate leads with a date that is far from all others.
func TestLonelyDate(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want string
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100}, "The t of one observation is 100, far from all others, which lie between 1 and 10"},
		{[]float64{-100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "The t of one observation is -100"},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20}, ""},
	} {
		s := &series.Series{Axis: series.Axis{Name: "t"}, X: c.x, Y: c.x}
		if lead := s.Lead(); (lead == "") != (c.want == "") || !strings.Contains(lead, c.want) {
			t.Errorf("%v: %q", c.x, lead)
		}
	}
}

// TestStuck: a note tells a run of equal values that chance does not explain, except of 0, and not where values often repeat.
func TestStuck(t *testing.T) {
	held := func(y func(i int) float64, value float64) func(i int) float64 {
		return func(i int) float64 {
			if i >= 100 && i < 130 {
				return value
			}
			return y(i)
		}
	}
	rnd := rand.New(rand.NewPCG(4, 4))
	noise := func(int) float64 { return 20 + rnd.NormFloat64() }
	for name, c := range map[string]struct {
		y    func(i int) float64
		want string
	}{
		"stuck":   {held(noise, 21.5), "30 observations from 100 to 129 are all 21.5, where others seldom repeat"},
		"noise":   {noise, ""},
		"closed":  {held(noise, 0), ""},
		"nights":  {func(i int) float64 { return 3 + max(0, 40*math.Sin(float64(i)/4)) }, ""},
		"steps":   {func(i int) float64 { return float64(i / 30) }, ""},
		"rounded": {func(i int) float64 { return math.Round(20 + 0.4*rnd.NormFloat64()) }, ""},
	} {
		x, y := make([]float64, 300), make([]float64, 300)
		for i := range x {
			x[i], y[i] = float64(i), c.y(i)
		}
		s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(), " "); c.want == "" && strings.Contains(notes, "are all") || !strings.Contains(notes, c.want) {
			t.Errorf("%s: %s", name, notes)
		}
	}
}

// TestNeverFalls: a note says what to do with a running total, and is not said of a series that falls once, is negative, or has
// few levels.
func TestNeverFalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for name, c := range map[string]struct {
		change func(y []float64)
		want   bool
	}{
		"total":    {func([]float64) {}, true},
		"falls":    {func(y []float64) { y[30] = y[29] - 1 }, false},
		"negative": {func(y []float64) { y[0] = -1 }, false},
		"levels": {func(y []float64) {
			for i := range y {
				y[i] = float64(i / 10)
			}
		}, false},
	} {
		x, y := make([]float64, 60), make([]float64, 60)
		for i := range x {
			if x[i] = float64(i); i > 0 {
				y[i] = y[i-1] + float64(rnd.IntN(9))
			}
		}
		c.change(y)
		s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(), " "); strings.Contains(notes, "running total") != c.want {
			t.Errorf("%s: %s", name, notes)
		}
	}
}
