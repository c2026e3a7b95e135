package forecast

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestLevels: a csv file has two columns for each further level, which are the ends of its band, besides the usual columns.
func TestLevels(t *testing.T) {
	f := forecasted(t, []float64{1}, []string{"1"}, []Part{{Weight: 1, Mean: []float64{10}, LatentVar: []float64{1},
		NoisyVar: []float64{4}}})
	var plain, more strings.Builder
	if err := errors.Join(f.WriteCSV(&plain, series.Axis{}), f.WriteCSV(&more, series.Axis{}, 0.5, 0.95, 0.683)); err != nil {
		t.Fatal(err)
	}
	head, row, _ := strings.Cut(strings.TrimSpace(more.String()), "\n")
	first, values, _ := strings.Cut(strings.TrimSpace(plain.String()), "\n")
	if head != first+",lower_50,upper_50,lower_68.3,upper_68.3" || !strings.HasPrefix(row, values+",8.651020") ||
		!strings.Contains(row, ",11.34897") {
		t.Errorf("%s\n%s\nwithout levels\n%s\n%s", head, row, first, values)
	}
}

// TestLatentBand: the band of f for an average with models of log y consists of quantiles: above 0, and within the band of a new
// observation.
func TestLatentBand(t *testing.T) {
	parts := []Part{
		{Weight: 0.6, warp: (&series.Series{}).Warp(), Mean: []float64{0}, LatentVar: []float64{0.8}, NoisyVar: []float64{1}},
		{Weight: 0.4, warp: (&series.Series{}).Warp(), Mean: []float64{0.5}, LatentVar: []float64{0.5}, NoisyVar: []float64{1}},
	}
	f := forecasted(t, []float64{1}, []string{"1"}, parts)
	lo, hi, err := f.LatentBand(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !(f.Lower[0] < lo[0] && 0 < lo[0] && lo[0] < f.Median[0] && f.Median[0] < hi[0] && hi[0] < f.Upper[0]) {
		t.Errorf("f is in [%v, %v], y in [%v, %v]", lo[0], hi[0], f.Lower[0], f.Upper[0])
	}
	if symmetric := f.Median[0] - Quantile95*math.Sqrt(f.LatentVar[0]); symmetric > 0 {
		t.Errorf("a symmetric band would begin at %v: this tests nothing", symmetric)
	}
	plain := forecasted(t, []float64{1}, []string{"1"}, []Part{{Weight: 1, Mean: []float64{3}, LatentVar: []float64{4},
		NoisyVar: []float64{5}}})
	if lo, hi, err = plain.LatentBand(t.Context()); err != nil || math.Abs(lo[0]-(3-2*Quantile95)) > 1e-9 || math.Abs(hi[0]-(3+2*Quantile95)) > 1e-9 {
		t.Errorf("of a Gaussian: [%v, %v]", lo[0], hi[0])
	}
}

func forecasted(t *testing.T, x []float64, when []string, parts []Part) *Forecast {
	t.Helper()
	return testkit.Must(forecastOf(t.Context(), x, when, parts))(t)
}
