package forecast

import (
	"fmt"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func TestParseMean(t *testing.T) {
	x := gppl.Scalars([]float64{0, 10}).WithColumn("wind (m/s)", []float64{1, 2}).WithColumn("step", []float64{3, 4})
	for text, want := range map[string]string{
		"intercept":                   "intercept",
		"Intercept + trend":           "intercept + trend(1 on 0 to 10)",
		"trend(2)+fourier(365.25, 3)": "trend(2 on 0 to 10) + Fourier(period 365.25, 3 harmonics)",
		"fourier( 7 )":                "Fourier(period 7, 1 harmonics)",
		"step(2.5) + KINK(1e3)":       "step(at 2.5) + kink(at 1000)",
		"intercept + wind (m/s)":      "",
		"intercept + column(step)":    "intercept + regressor(step)",
	} {
		m, err := ParseMean(text, x, nil)
		if want == "" { // a name with parentheses is no call
			want = "intercept + regressor(wind (m/s))"
		}
		if err != nil || m.String() != want {
			t.Errorf("%q: got %v (%v), want %s", text, m, err, want)
		}
	}
	if m, err := ParseMean("step(2001-05)", x, func(s string) (float64, error) { return 5, nil }); err != nil || m.(gppl.Step).At != 5 {
		t.Errorf("a date: %v, %v", m, err)
	}
	for _, none := range []string{"", " none "} {
		if m, err := ParseMean(none, x, nil); m != nil || err != nil {
			t.Errorf("%q: got %v, %v", none, m, err)
		}
	}
	for text, want := range map[string]string{
		"intercept +":       `the term ""`,
		"rain":              "the columns wind (m/s), step",
		"trend(0)":          "degree 0",
		"trend(x)":          "invalid syntax",
		"trend(1, 2)":       "2 arguments",
		"fourier":           "0 arguments",
		"fourier(0)":        "period 0",
		"fourier(1, 2":      "closing parenthesis",
		"step(then)":        "invalid syntax",
		"step(1) + step(1)": "two columns",
		"intercept(3)":      "1 arguments",
		"column(wind)":      "no such term nor column",
	} {
		if m, err := ParseMean(text, x, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v (%v), want an error that says %s", text, m, err, want)
		}
	}
	if _, err := ParseMean("rain", gppl.Scalars([]float64{1}), func(string) (float64, error) { return 0, fmt.Errorf("no") }); err == nil || !strings.Contains(err.Error(), "and no columns") {
		t.Error(err)
	}
}
