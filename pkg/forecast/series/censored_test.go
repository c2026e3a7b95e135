package series

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGuessAmounts: rain and power of the sun are amounts that are often exactly 0, and so are visitors who come by day only and
// sales of a shop that is closed on Sundays. Readings that fail now and then, and values below 0, are not.
func TestGuessAmounts(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(65, 3))
	for name, c := range map[string]struct {
		draw func(i int) float64
		want bool
	}{
		"rain":     {func(int) float64 { return 5 * math.Pow(max(0, r.NormFloat64()), 3) }, true},
		"sun":      {func(i int) float64 { return max(0, 100*math.Sin(2*math.Pi*float64(i)/24)+3*r.NormFloat64()) }, true},
		"failures": {func(int) float64 { return map[bool]float64{true: 0, false: 60 + 3*r.NormFloat64()}[r.IntN(15) == 0] }, false},
		"closed":   {func(i int) float64 { return map[bool]float64{true: 0, false: 500 + 90*r.NormFloat64()}[i%7 == 0] }, true},
		"by day":   {func(i int) float64 { return map[bool]float64{true: 0, false: 60 + 8*r.NormFloat64()}[i%24 < 6] }, true},
		"signed":   {func(i int) float64 { return map[bool]float64{true: 0, false: r.NormFloat64()}[i%3 == 0] }, false},
		"positive": {func(int) float64 { return math.Exp(r.NormFloat64()) }, false},
	} {
		y := make([]float64, n)
		for i := range y {
			y[i] = c.draw(i)
		}
		if got := guessAmounts(y); (got != nil) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestCensoredNote names the bounds that values are at.
func TestCensoredNote(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		b    Bounds
		y    []float64
		want string
	}{
		{Bounds{Lo: 0, Hi: 100}, []float64{5, 100, 100}, "2 values at a bound are only known to be at 100 or above"},
		{Bounds{Lo: 0, Hi: 100}, []float64{5, 0, 0}, "2 values at a bound are only known to be at 0 or below"},
		{Bounds{Lo: 0, Hi: 100}, []float64{0, 5, 100}, "2 values at a bound are only known to be at 0 and 100 or beyond"},
		{Bounds{Lo: 0, Hi: inf}, []float64{0, 5, 0}, "2 values at a bound are only known to be at 0 or below"},
		{Bounds{Lo: -inf, Hi: 7}, []float64{7, 5, 7}, "2 values at a bound are only known to be at 7 or above"},
	} {
		c.b.Censored = true
		if got := c.b.note("load", c.y); !strings.Contains(got, c.want+",") {
			t.Errorf("%+v: %q, want %q", c.b, got, c.want)
		}
	}
}

// TestCensoredBounds: values that pile up at 100 are censored. Values whose log odds are normal are not, even if some are rounded
// to a bound. With one bound alone, values at it are always censored, and the missing other bound survives writing and reading.
func TestCensoredBounds(t *testing.T) {
	const n = 150
	r := rand.New(rand.NewPCG(65, 4))
	x, full, odds := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
		full[i] = min(max(90+10*r.NormFloat64(), 0), 100)
		odds[i] = math.Round(1000/(1+math.Exp(5+1.5*r.NormFloat64()))) / 10
	}
	for k, y := range [][]float64{full, odds} {
		s, err := NewSeries(Axis{Name: "t"}, x, y)
		if err == nil {
			err = s.Bound(0, 100)
		}
		if err != nil || s.Censored() != (k == 0) {
			t.Errorf("%d: %+v, %v", k, s.Bounds, err)
		}
	}
	s, err := NewSeries(Axis{Name: "t"}, x, full)
	if err == nil {
		err = s.Bound(0, math.Inf(1))
	}
	if err != nil || !s.Censored() || s.Bounds.Root < 2 {
		t.Fatalf("%+v, %v", s.Bounds, err)
	}
	text, err := json.Marshal(s.Bounds)
	if err != nil {
		t.Fatal(err)
	}
	var again Bounds
	if err := json.Unmarshal(text, &again); err != nil || again != *s.Bounds || again.check() != nil {
		t.Errorf("%s: %+v, %v", text, again, err)
	}
	for _, text := range []string{"0,", ",5", " 0 , "} {
		if b, err := ParseBounds(text); err != nil || !b.Censored {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
	}
	if b, err := ParseBounds(","); err == nil {
		t.Errorf("%+v", b)
	}
}
