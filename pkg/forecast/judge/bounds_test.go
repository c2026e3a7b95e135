package judge

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestBounds forecasts per cent with and without bounds: bands do not leave 0 to 100, nor do a saved model's, and without bounds they do.
func TestBounds(t *testing.T) {
	for _, full := range []bool{false, true} {
		s := testseries.Share(t, full)
		free, err := forecast.Fit(t.Context(), s, forecast.Options{Budget: 1, Log: "never"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Bound(0, 100); err != nil {
			t.Fatal(err)
		}
		if (s.Bounds.Beyond > 0) != full {
			t.Errorf("the log odds are infinite %v beyond the bounds", s.Bounds.Beyond)
		}
		a, err := forecast.Fit(t.Context(), s, forecast.Options{Budget: 1})
		if err != nil {
			t.Fatal(err)
		}
		if name := a.Name(); !strings.HasSuffix(name, ", of the log odds") {
			t.Error(name)
		}
		trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 10})
		if err != nil {
			t.Fatal(err)
		}
		if trust.Coverage < 0.7 {
			t.Errorf("full %v: %+v", full, trust)
		}
		var b bytes.Buffer
		if err := a.Encode(&b); err != nil {
			t.Fatal(err)
		}
		loaded, err := decoded(t, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		leaves := 0
		for k, a := range []*forecast.Analysis{free, a, loaded} {
			f, err := a.Forecast(t.Context(), 20)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []float64{1e-6, 0.025, 0.5, 0.975, 1 - 1e-6} {
				for _, q := range testkit.Must(f.Quantile(t.Context(), p))(t) {
					if k == 0 && q > 100 {
						leaves++
					}
					if k > 0 && !(q >= 0 && q <= 100) {
						t.Errorf("full %v: the quantile %v is %v", full, p, q)
					}
				}
			}
			for i, d := range PredictiveOf(f).LogDensity(f.Median) {
				if math.IsNaN(d) || d < -20 {
					t.Errorf("the log density of the median of step %d is %v", i, d)
				}
			}
		}
		if leaves == 0 {
			t.Error("a series that needs no bounds tests none")
		}
	}
}
