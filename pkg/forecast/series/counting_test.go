package series

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestGuessCounting tells counts from other whole numbers.
func TestGuessCounting(t *testing.T) {
	source := rand.NewPCG(8, 8)
	rnd := rand.New(source)
	kind := func(f func(i int) float64) string {
		source.Seed(8, 8) // cases come in any order
		y := make([]float64, 100)
		for i := range y {
			y[i] = f(i)
		}
		if c := guessCounting(y); c != nil {
			return c.Likelihood
		}
		return ""
	}
	week := []float64{0, 2, 5, 1, 8, 3, 0}
	poisson := func(mean float64) float64 { return distuv.Poisson{Lambda: mean, Src: rnd}.Rand() }
	for what, c := range map[string]struct {
		want string
		y    func(i int) float64
	}{
		"counts":        {"poisson", func(i int) float64 { return poisson(3 + 2*math.Sin(float64(i)/9)) }},
		"overdispersed": {"negbinomial", func(int) float64 { return poisson(distuv.Gamma{Alpha: 0.5, Beta: 0.2, Src: rnd}.Rand()) }},
		"intermittent":  {"negbinomial", func(int) float64 { return float64(rnd.IntN(2)*rnd.IntN(2)) * (1 + poisson(4)) }},
		"events":        {"bernoulli", func(int) float64 { return float64(rnd.IntN(2)) }},
		"of a week":     {"negbinomial", func(i int) float64 { return poisson(week[i%7]) }},
		"a schedule":    {"", func(i int) float64 { return week[i%7] }},
		"nearly one":    {"", func(i int) float64 { return week[i%7] + float64(rnd.IntN(5)/4) }},
		"large":         {"", func(int) float64 { return poisson(200) }},
		"numbers":       {"", func(i int) float64 { return float64(i / 6) }},
		"a level":       {"", func(i int) float64 { return float64(10 + i%2) }},
		"below 0":       {"", func(i int) float64 { return poisson(3) - 1 }},
		"not whole":     {"", func(i int) float64 { return poisson(3) / 2 }},
	} {
		if got := kind(c.y); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if c := guessCounting([]float64{0, 1, 0, 1, 1, 0}); c != nil {
		t.Errorf("six values: %+v", c)
	}
}

// TestCountErrors names what is wrong with values and sizes.
func TestCountErrors(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{0, 2, 1, 0, 3}
	s, err := NewSeries(Axis{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		likelihood string
		sizes      []float64
		want       string
	}{
		{"bernoulli", nil, "observation 1: 2 is neither 0 nor 1"},
		{"binomial", nil, "number of trials"},
		{"binomial", []float64{1, 2, 3, 4, 2}, "observation 4: 3 successes in 2 trials"},
		{"poisson", []float64{1, 2}, "2 sizes of 5"},
		{"poisson", []float64{1, 2, 0, 1, 1}, "observation 2: a size of 0"},
		{"cauchy", nil, `"cauchy"`},
	} {
		if err := s.Count(c.likelihood, c.sizes); err == nil || !strings.Contains(err.Error(), c.want) || s.Counting != nil {
			t.Errorf("%s: %v, want %q", c.likelihood, err, c.want)
		}
	}
}
