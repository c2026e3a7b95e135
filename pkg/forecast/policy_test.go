package forecast

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func automatic(t *testing.T, s *series.Series, o Options) *Analysis {
	t.Helper()
	a, err := Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decoded returns the analysis in the text of a file.
func decoded(t *testing.T, text []byte) (*Analysis, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "analysis.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

// reloaded returns the analysis as it is read after it was saved.
func reloaded(t *testing.T, a *Analysis) *Analysis {
	t.Helper()
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := decoded(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// TestPolicyExact: a series without noise is forecast to many digits. Its likelihood has no maximum, but the noise has a least
// value.
func TestPolicyExact(t *testing.T) {
	for name, f := range map[string]func(i int) float64{
		"line":   func(i int) float64 { return 2*float64(i) + 5 },
		"season": func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / 12) },
	} {
		s := testseries.Steps(t, 60, 0, f)
		future, err := automatic(t, s, Options{}).Forecast(t.Context(), 12)
		if err != nil {
			t.Fatal(err)
		}
		spread := slices.Max(s.Y) - slices.Min(s.Y)
		for i, m := range future.Median {
			if want := f(60 + i); math.Abs(m-want) > 1e-4*spread || !(future.Lower[i] < want && want < future.Upper[i]) {
				t.Errorf("%s, %d ahead: %.10g, between %.10g and %.10g, want %.10g", name, i+1, m, future.Lower[i], future.Upper[i], want)
			}
		}
	}
}

// TestPolicyNoise: the forecast of white noise is its mean, and the bands hold the stated share.
func TestPolicyNoise(t *testing.T) {
	s := testseries.Steps(t, 80, 1, func(int) float64 { return -5 })
	a := automatic(t, s, Options{})
	if a.Log {
		t.Error("the logarithm of values below zero")
	}
	f, err := a.Forecast(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range f.Median {
		if w := f.Upper[i] - f.Lower[i]; math.Abs(m+5) > 0.5 || w < 3 || w > 6 {
			t.Errorf("step %d: %v with a band of %v, want about −5 and 4", i, m, w)
		}
	}
	white := false
	for _, c := range a.Candidates[:3] {
		white = white || strings.HasPrefix(c.Kernel, "White")
	}
	if !white {
		t.Errorf("noise alone is not among the best three: %+v", a.Candidates[:3])
	}
}

// TestPolicyShort: five observations are enough, and their bands are wide.
func TestPolicyShort(t *testing.T) {
	s := testseries.Steps(t, 5, 0.1, func(i int) float64 { return float64(i % 3) })
	f, err := automatic(t, s, Options{}).Forecast(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.X {
		if f.Upper[i]-f.Lower[i] < 1 {
			t.Errorf("step %d: [%v, %v] after five observations between 0 and 2", i, f.Lower[i], f.Upper[i])
		}
	}
}

func TestQuantile(t *testing.T) {
	parts := []Part{{Weight: 1, warp: (&series.Series{}).Warp(), Mean: []float64{2}, LatentVar: []float64{0.01}, NoisyVar: []float64{0.25}}}
	if q := testkit.Must(mixtureOf(parts, false).Quantile(t.Context(), 0.975))(t)[0]; math.Abs(math.Log(q)-2-Quantile95*0.5) > 1e-9 {
		t.Errorf("the quantile of a log-normal is exp %v", math.Log(q))
	}
	// Half at −1 and half at 1, narrow: the median of a mixture that is shifted a little lies where its larger part ends.
	two := []Part{
		{Weight: 0.5, Mean: []float64{-1}, LatentVar: []float64{1}, NoisyVar: []float64{1}},
		{Weight: 0.5, Mean: []float64{1}, LatentVar: []float64{1}, NoisyVar: []float64{1}},
	}
	if q := testkit.Must(mixtureOf(two, false).Quantile(t.Context(), 0.5))(t)[0]; math.Abs(q) > 1e-9 {
		t.Errorf("the median of a symmetric mixture is %v", q)
	}
}

// TestPeriodGiven: a given period is not trained, with and without a named kernel.
func TestPeriodGiven(t *testing.T) {
	s := testseries.Steps(t, 60, 0.3, func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / 11.8) })
	for _, o := range []Options{{Kernels: []string{"SE + LocPer"}, Periods: []float64{12}}, {Periods: []float64{12}}} {
		a := automatic(t, s, o)
		for _, p := range a.Result.Params {
			if p.Role == gppl.RolePeriod && (p.Value != 12 || !math.IsNaN(p.StdErrLog)) {
				t.Errorf("%v: period %v ± %v", o.Kernels, p.Value, p.StdErrLog)
			}
		}
	}
}

// If working days have another shape than weekends, a term says so, and the forecast is better than by a season and noise: the
// latest four weeks show it.
func TestFitFindsTheWeekInTheDay(t *testing.T) {
	if testkit.Quick() {
		t.Skip("some seconds")
	}
	rng := rand.New(rand.NewPCG(3, 0))
	of := func(i int) float64 {
		if i/24%7 < 5 {
			return 3 * math.Sin(2*math.Pi*float64(i)/24)
		}
		return math.Cos(2 * math.Pi * float64(i) / 12)
	}
	const n, ahead = 700, 48
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), of(i)+0.3*rng.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "hour"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Periods: []float64{24, 168}, Log: "never", Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Kernel(), "LocPer * Periodic") {
		t.Errorf("%s was chosen", a.Name())
	}
	f, err := a.Forecast(t.Context(), ahead)
	if err != nil {
		t.Fatal(err)
	}
	var square float64
	for i, m := range f.Median {
		square += (m - of(n+i)) * (m - of(n+i)) / ahead
	}
	if rms := math.Sqrt(square); rms > 0.35 {
		t.Errorf("the forecast errs by %.2f, want 0.35 at most", rms)
	}
}
