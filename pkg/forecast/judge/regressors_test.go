package judge

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// driven is a csv file in which y follows a regressor with coefficient 3 and is otherwise constant; the regressor continues for 6
// months.
func driven(n int) string {
	rnd := rand.New(rand.NewPCG(5, 9))
	var b strings.Builder
	b.WriteString("month,y,price,se\n")
	for i := range n + 6 {
		price := 10 + 2*math.Sin(0.7*float64(i*i)) // the price has no structure in time
		y := fmt.Sprintf("%.4f", 50+3*price+0.3*rnd.NormFloat64())
		if i >= n {
			y = ""
		}
		fmt.Fprintf(&b, "%d-%02d,%s,%.5f,0.3\n", 2010+i/12, 1+i%12, y, price)
	}
	return b.String()
}

func TestRegressor(t *testing.T) {
	path := testdraws.File(t, driven(60))
	s, err := series.Read(t.Context(), path, series.ReadOptions{Regressors: []string{"price"}})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.Notes(), " "); !strings.Contains(notes, "Regressors: price, known up to 2015-06, 6 steps ahead.") ||
		strings.Contains(notes, "left out") {
		t.Error(notes)
	}
	for name, o := range map[string]forecast.Options{"automatic": {}, "named": {Kernels: []string{"SE"}, Trend: "none"}} {
		t.Run(name, func(t *testing.T) {
			a := automatic(t, s, o)
			effects, err := a.Effects(t.Context())
			if err != nil || len(effects) != 1 {
				t.Fatal(effects, err)
			}
			want := 3.0
			if effects[0].Log {
				want /= 80
			}
			if e := effects[0]; math.Abs(e.Value-want) > 4*e.StdErr || e.StdErr > 0.02*want || e.StdErr <= 0 {
				t.Errorf("%+v, want %v", e, want)
			}
			f, err := a.Forecast(t.Context(), 6)
			if err != nil {
				t.Fatal(err)
			}
			for i, mean := range f.Median {
				at, _ := slices.BinarySearch(s.Known.X, f.X[i])
				price := s.Known.Values[0][at]
				if want := 50 + 3*price; math.Abs(mean-want) > 0.5 || f.Upper[i]-f.Lower[i] > 2.5 {
					t.Errorf("%s: %.2f in [%.2f, %.2f], want %.2f", f.When[i], mean, f.Lower[i], f.Upper[i], want)
				}
			}
			if _, err := a.Forecast(t.Context(), 7); err == nil || !strings.Contains(err.Error(),
				"price is known from 2010-01 to 2015-06, not at 2015-07") || !strings.Contains(err.Error(), "ReadOptions.Future") {
				t.Errorf("beyond what is known: %v", err)
			}
			trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 6})
			if err != nil || trust.Relative > 0.4 {
				t.Errorf("the past was not forecast by the regressor: %+v, %v", trust, err)
			}
			var stored bytes.Buffer
			if err := a.Encode(&stored); err != nil {
				t.Fatal(err)
			}
			loaded, err := decoded(t, stored.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			again, err := loaded.Forecast(t.Context(), 6)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f.Median, again.Median); diff != "" {
				t.Errorf("the model that was saved forecasts otherwise:\n%s", diff)
			}
			if _, err := CheckResiduals(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKnownErrors forecasts with error bars. Half of the observations have errors ten times the others', which count for more.
func TestKnownErrors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 11))
	var b strings.Builder
	b.WriteString("t,y,se\n")
	for i := range 80 {
		se := 0.1
		if i%2 == 0 {
			se = 1
		}
		fmt.Fprintf(&b, "%d,%.4f,%g\n", i, 20+math.Sin(0.2*float64(i))+se*rnd.NormFloat64(), se)
	}
	path := testdraws.File(t, b.String())
	var s *series.Series
	var err error
	if s, err = series.Read(t.Context(), path, series.ReadOptions{YError: "se"}); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.Notes(), " "); !strings.Contains(notes,
		"se has the standard deviations of the observations, from 0.1 to 1") {
		t.Error(notes)
	}
	plain, err := series.Read(t.Context(), path, series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []forecast.Options{{Log: "never"}, {Log: "always"}, {Kernels: []string{"SE"}}} {
		off := func(s *series.Series) (worst, width float64) {
			f, err := automatic(t, s, o).Predict(t.Context(), []float64{20.5, 40.5, 60.5})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range f.X {
				worst = max(worst, math.Abs(f.Median[i]-20-math.Sin(0.2*x)))
				width = max(width, math.Sqrt(f.LatentVar[i]))
			}
			return worst, width
		}
		errs, width := off(s)
		if _, without := off(plain); errs > 4*width || width > 0.1 || without < 1.5*width {
			t.Errorf("%+v: off by %.3f with a standard deviation of %.3f, without errors %.3f", o, errs, width, without)
		}
	}
	a := automatic(t, s, forecast.Options{Log: "never"})
	f, err := a.Predict(t.Context(), []float64{40.5})
	if err != nil {
		t.Fatal(err)
	}
	if extra := f.NoisyVar[0] - f.LatentVar[0]; extra < 0.9 || extra > 1.3 { // the median of the errors is 1
		t.Errorf("a new observation has a variance of %v beside that of f", extra)
	}
	trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 8, Origins: 5})
	if err != nil || trust.Coverage < 0.85 || trust.Coverage == 1 {
		t.Errorf("bands of the past, with the errors of what came: %+v, %v", trust, err)
	}
}

// TestRelativeErrors learns the scale of errors that are known up to a factor: in any unit, the forecast is the same, also after
// saving.
func TestRelativeErrors(t *testing.T) {
	const scale = 0.3
	var first *forecast.Forecast
	for _, unit := range []float64{1, 250} {
		rnd := rand.New(rand.NewPCG(8, 3))
		var b strings.Builder
		b.WriteString("t,y,e\n")
		for i := range 120 {
			e := []float64{1, 1, 8}[i%3]
			fmt.Fprintf(&b, "%d,%.5f,%g\n", i, 20+2*math.Sin(0.15*float64(i))+scale*e*rnd.NormFloat64(), unit*e)
		}
		s, err := series.Read(t.Context(), testdraws.File(t, b.String()), series.ReadOptions{YError: "e", RelativeErrors: true})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(), " "); !strings.Contains(notes,
			"e has the errors of the observations relative to one another, from ") {
			t.Error(notes)
		}
		for _, o := range []forecast.Options{{Log: "never"}, {Log: "always"}, {Kernels: []string{"SE"}}} {
			a := automatic(t, s, o)
			if got := unit * a.ErrorScale(); math.Abs(got-scale) > 0.25*scale {
				t.Errorf("%+v: the noise was learnt to be %.3g times the errors, it is %v times", o, got, scale)
			}
			f, err := a.Predict(t.Context(), []float64{30.5, 60.5, 122})
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range f.X[:2] {
				if off := math.Abs(f.Median[i] - 20 - 2*math.Sin(0.15*x)); off > 4*math.Sqrt(f.LatentVar[i]) {
					t.Errorf("%+v: off by %.3f at %v with a standard deviation of %.3f", o, off, x, math.Sqrt(f.LatentVar[i]))
				}
				if sd := math.Sqrt(f.NoisyVar[i] - f.LatentVar[i]); sd < 0.7*scale || sd > 1.3*scale { // the median error is 1
					t.Errorf("%+v: a typical observation has an error of %.3f, want %v", o, sd, scale)
				}
			}
			if o.Log != "never" {
				continue
			}
			if first == nil {
				first = f
			}
			for i := range f.Median {
				if math.Abs(f.Median[i]-first.Median[i]) > 1e-6 || math.Abs(f.NoisyVar[i]-first.NoisyVar[i]) > 1e-6 {
					t.Errorf("in another unit the forecast is %v, not %v", f.Median[i], first.Median[i])
				}
			}
			trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 8, Origins: 5})
			if err != nil || trust.Coverage < 0.85 || trust.Coverage == 1 {
				t.Errorf("bands of the past, with the errors of what came: %+v, %v", trust, err)
			}
			if r, err := CheckResiduals(t.Context(), a); err != nil || math.Abs(r.SD-1) > 0.15 {
				t.Errorf("innovations: %+v, %v", r, err)
			}
			path := filepath.Join(t.TempDir(), "model.json")
			if err := a.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := forecast.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			again, err := back.Predict(t.Context(), f.X)
			if err != nil || back.ErrorScale() != a.ErrorScale() {
				t.Fatalf("saved and loaded: %v", err)
			}
			for i := range f.Median {
				if again.Median[i] != f.Median[i] || again.NoisyVar[i] != f.NoisyVar[i] {
					t.Errorf("saved and loaded, the forecast is %v, not %v", again.Median[i], f.Median[i])
				}
			}
		}
	}
}
