package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestHolidayEffectIsWhole fits two years in which 25 and 26 December lose 1.39 in logarithms: the effect of each is right to
// within three standard errors. Before, two columns shared each effect, as −0.84 ± 0.30 and −0.44 ± 0.30.
func TestHolidayEffectIsWhole(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 9))
	week := []float64{-0.3, 0, 0.05, 0.1, 0.12, 0.2, 0.35}
	const effect = -1.39
	var b strings.Builder
	b.WriteString("date,sold,xmas\n")
	for i := range 730 {
		d := time.Date(2023, 1, 2+i, 0, 0, 0, 0, time.UTC)
		log, christmas := 5+week[d.Weekday()]+0.05*rnd.NormFloat64(), 0
		if d.Month() == time.December && (d.Day() == 25 || d.Day() == 26) {
			log += effect
			if d.Day() == 25 {
				christmas = 1
			}
		}
		fmt.Fprintf(&b, "%s,%.2f,%d\n", d.Format(time.DateOnly), math.Exp(log), christmas)
	}
	path := testdraws.File(t, b.String())
	s, err := series.Read(t.Context(), path, series.ReadOptions{Holidays: "DE"})
	if err != nil {
		t.Fatal(err)
	}
	a := automatic(t, s, Options{Log: "always", Shifts: "never"}.WithEffort(search.Efforts[0]))
	effects, err := a.Effects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range effects {
		if strings.HasPrefix(e.Name, "Weihnachtstag") || strings.HasPrefix(e.Name, "Zweiter Weihnachtsfeiertag") {
			if math.Abs(e.Value) > 0.5 {
				found++
				if math.Abs(e.Value-effect) > 3*e.StdErr+0.05 || e.StdErr > 0.1 {
					t.Errorf("%s: %.2f ± %.2f, want %.2f", e.Name, e.Value, e.StdErr, effect)
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 days have an effect: %+v", found, effects)
	}
	// A column of the file that is 1 on Christmas Day takes the place of that holiday.
	s, err = series.Read(t.Context(), path, series.ReadOptions{Holidays: "DE", Regressors: []string{"xmas"}})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(s.Holidays.Names, "Weihnachtstag") || !slices.Contains(s.Holidays.Names, "Zweiter Weihnachtsfeiertag") {
		t.Errorf("beside a column for Christmas Day: %q", s.Holidays.Names)
	}
}

// TestDependentRegressors: equal regressors have one coefficient in common, and a regressor that follows from others has none,
// for named kernels and in the search; the other coefficients are as if it did not exist.
func TestDependentRegressors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	var b strings.Builder
	b.WriteString("x,y,price,same,twice,a,b,sum,rest\n")
	for i := range 120 {
		price, one, two := 10+2*rnd.NormFloat64(), rnd.IntN(2), rnd.IntN(2)
		y := 50 + 3*price + 4*float64(one) - 2*float64(two) + 0.3*rnd.NormFloat64()
		fmt.Fprintf(&b, "%d,%.4f,%.4f,%.4f,%.4f,%d,%d,%d,%d\n", i, y, price, price, 2*price, one, two, one+two, 1-one)
	}
	path := testdraws.File(t, b.String())
	for _, c := range []struct {
		regressors, names []string
		values            []float64
		note              string
	}{
		{[]string{"price", "same", "a", "b"}, []string{"price = same", "a", "b"}, []float64{3, 4, -2}, "one coefficient together"},
		{[]string{"price", "twice", "a", "b"}, []string{"price", "a", "b"}, []float64{3, 4, -2}, "twice follows"},
		{[]string{"a", "price", "b", "sum"}, []string{"a", "price", "b"}, []float64{4, 3, -2}, "sum follows"},
		{[]string{"price", "a", "b", "rest"}, []string{"price", "a", "b"}, []float64{3, 4, -2}, "rest follows"},
		{[]string{"price", "a", "b"}, []string{"price", "a", "b"}, []float64{3, 4, -2}, ""},
	} {
		s, err := series.Read(t.Context(), path, series.ReadOptions{Regressors: c.regressors})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(), " "); !strings.Contains(notes, c.note) || c.note == "" && s.Known.Groups != nil {
			t.Errorf("%q: %s", c.regressors, notes)
		}
		a := automatic(t, s, Options{Kernels: []string{"Matern32"}, Trend: "none"})
		effects, err := a.Effects(t.Context())
		if err != nil || len(effects) != len(c.names) {
			t.Fatalf("%q: %+v, %v", c.regressors, effects, err)
		}
		for i, e := range effects {
			if e.Name != c.names[i] || math.Abs(e.Value-c.values[i]) > 4*e.StdErr || e.StdErr > 0.1 {
				t.Errorf("%q: %+v, want %v of %s", c.regressors, e, c.values[i], c.names[i])
			}
		}
	}
}

// TestPeriodogramLessMean: the data stay near the line of the model if a regressor or holidays explain most of the variance. They
// once stood ten times above it.
func TestPeriodogramLessMean(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	var b strings.Builder
	b.WriteString("x,y,promo\n")
	for i := range 400 {
		promo := 0
		if i%20 < 3 {
			promo = 1
		}
		fmt.Fprintf(&b, "%d,%.4f,%d\n", i, 8*float64(promo)+math.Sin(float64(i)/30)+0.5*rnd.NormFloat64(), promo)
	}
	s, err := series.Read(t.Context(), testdraws.File(t, b.String()), series.ReadOptions{Regressors: []string{"promo"}})
	if err != nil {
		t.Fatal(err)
	}
	a := automatic(t, s, Options{Kernels: []string{"Matern32"}, Trend: "linear"})
	p, err := a.Periodogram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ratio, most float64
	for j, v := range p.Data {
		r := v / p.Expected[j]
		ratio += r / float64(len(p.Data))
		most = max(most, r)
	}
	if n := float64(len(p.Data)); ratio < 0.7 || ratio > 1.4 || most > 3*math.Log(n) {
		t.Errorf("the data are %.2f times the line on average, and %.1f times at most", ratio, most)
	}
}
