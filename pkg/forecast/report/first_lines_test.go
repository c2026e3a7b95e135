package report

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestSentences: the first sentences say in plain words how the series was drawn.
func TestSentences(t *testing.T) {
	days := func(i int) string { return time.Date(2022, 3, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	months := func(i int) string { return time.Date(2014, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Format("2006-01") }
	week := []float64{0.8, 0.85, 0.9, 1, 1.2, 1.6, 0.6}
	for name, c := range map[string]struct {
		n     int
		at    func(i int) string
		y     func(i int, r *rand.Rand) float64
		first []string // texts in the sentence about the series
		comes string   // beginning of the sentence about the forecast
	}{
		"sales": {400, days, func(i int, r *rand.Rand) float64 {
			return math.Round(1000 * math.Exp(0.001*float64(i)) * week[i%7] * math.Exp(0.05*r.NormFloat64()))
		}, []string{"a weekly pattern", ", as percentages,"}, "Wednesday, 5 April 2023: "},
		"a line": {120, months, func(i int, r *rand.Rand) float64 { return 50 + float64(i) + 3*r.NormFloat64() },
			[]string{"Growth of 12 a year"}, "January 2024: "},
		"noise": {200, days, func(i int, r *rand.Rand) float64 { return 20 + r.NormFloat64() },
			[]string{"catter about a level"}, "Saturday, 17 September 2022: "},
		"years that are months": {240, func(i int) string { return fmt.Sprintf("%.4f", 1956+float64(i)/12) },
			func(i int, r *rand.Rand) float64 { return 5*math.Sin(float64(i)*math.Pi/6) + r.NormFloat64() },
			[]string{"early pattern"}, "January 1976: "},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 1))
			var file strings.Builder
			file.WriteString("when,amount\n")
			for i := range c.n {
				fmt.Fprintf(&file, "%s,%.3f\n", c.at(i), c.y(i, r))
			}
			s := readText(t, file.String())
			a, err := forecast.Fit(t.Context(), s, forecast.Options{})
			if err != nil {
				t.Fatal(err)
			}
			trust, err := judge.TestPast(t.Context(), a, judge.BacktestOptions{Horizon: 12})
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Forecast(t.Context(), 12)
			if err != nil {
				t.Fatal(err)
			}
			said := Sentences(a, f, trust)
			t.Logf("%q", said)
			for _, want := range c.first {
				if !strings.Contains(said[0], want) {
					t.Errorf("%q is not in %q", want, said[0])
				}
			}
			if !strings.HasPrefix(said[1], "Tested ") || !strings.HasPrefix(said[2], c.comes) || !strings.Contains(said[2], "(95 %: ") {
				t.Errorf("%q", said[1:])
			}
			for _, foreign := range []string{"nats", "evidence", "SE", "LocPer", "Laplace", "NaN", "Inf"} {
				if all := strings.Join(said, " "); strings.Contains(all, foreign) {
					t.Errorf("%q is in %q", foreign, all)
				}
			}
		})
	}
}

// readText returns the series that is read from a file with this text.
func readText(t *testing.T, text string) *series.Series {
	t.Helper()
	path := filepath.Join(t.TempDir(), "series.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := series.Read(context.Background(), path, series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
