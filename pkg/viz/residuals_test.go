package viz

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestResidualFigures(t *testing.T) {
	frame := Frame{XLabel: "x", YLabel: "y", Title: "<script>"}
	values := []float64{-1.2, -0.3, 0, 0.1, 0.4, 0.9, 2.2, math.NaN()}
	histogram, err := Histogram(HistogramOptions{Frame: frame, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	correlogram, err := Correlogram(CorrelogramOptions{Frame: frame, Values: []float64{0.5, -0.1, 0.02}, Band: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	term := Prediction{Name: "SE", X: []float64{0, 1}, Mean: []float64{0, 1}, LatentVar: []float64{1, 1}}
	components, err := Components(ComponentsOptions{Frame: frame, Terms: []Prediction{term, term}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		fig  *Figure
		want []string
	}{
		"histogram":   {histogram, []string{"7 values", "standard normal"}}, // NaN is not counted
		"correlogram": {correlogram, []string{"within the band", "beyond it", "95 % of white noise within"}},
		"components":  {components, []string{">SE<", ">expected<", ">95 % band<"}},
	} {
		svg, err := test.fig.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range test.want {
			if !strings.Contains(string(svg), w) {
				t.Errorf("%s: no %q", name, w)
			}
		}
		if strings.Contains(string(svg), "<script") {
			t.Errorf("%s: the title is not escaped", name)
		}
	}
	nothing := []error{}
	_, err = Histogram(HistogramOptions{Frame: frame, Values: []float64{math.NaN()}})
	nothing = append(nothing, err)
	_, err = Correlogram(CorrelogramOptions{Frame: frame, Values: []float64{math.Inf(1)}})
	nothing = append(nothing, err)
	_, err = Components(ComponentsOptions{Frame: frame})
	nothing = append(nothing, err)
	for i, err := range nothing {
		if !errors.Is(err, errNoData) {
			t.Errorf("figure %d of nothing: %v", i, err)
		}
	}
}
