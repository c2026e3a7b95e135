package viz

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestEnds: names stand at the right of the axes, wide and narrow, in the order of the ends and with no two on one line, and no
// legend names them again. Observations are named above the axes, and the rest in a legend.
func TestEnds(t *testing.T) {
	x, flat := []float64{0, 1, 2, 3}, []float64{5, 5, 5, 5}
	low, high := []float64{4.99, 4.99, 4.99, 4.99}, []float64{5.01, 5.01, 5.01, 5.01} // all ends are nearly one
	fig, err := Series(SeriesOptions{
		Frame:       Frame{XLabel: "day", YLabel: "level", Width: 960},
		Observed:    Points{X: []float64{0, 1}, Y: []float64{0, 9}, Errors: []float64{1, 1}},
		Predictions: []Prediction{{Name: "expected", X: x, Mean: flat, Lower: low, Upper: high, LatentLower: low, LatentUpper: high}},
		Spans:       []Span{{From: 1, To: 3, Label: "forecast"}}, Ends: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := fig.legend(); len(left) != 1 || left[0].name != errorsName {
		t.Errorf("the legend has %+v, want the errors alone", left)
	}
	p := fig.panels[0]
	if len(p.ends) != 3 || p.above.name != "observations" {
		t.Fatalf("ends %+v, above %+v", p.ends, p.above)
	}
	svg, err := fig.SVG()
	if err != nil {
		t.Fatal(err)
	}
	at := func(word string) (x, y float64) {
		m := regexp.MustCompile(`x="([^"]+)" y="([^"]+)"[^>]*>` + word).FindStringSubmatch(string(svg))
		if m == nil {
			t.Fatalf("no text %q in %s", word, svg)
		}
		x, _ = strconv.ParseFloat(m[1], 64)
		y, _ = strconv.ParseFloat(m[2], 64)
		return x, y
	}
	upper, upperY := at("95 % of values")
	middle, middleY := at("expected")
	lower, lowerY := at("the curve itself, 95 %")
	if upper != middle || middle != lower || upper < 500 {
		t.Errorf("the names begin at %v, %v and %v", upper, middle, lower)
	}
	if down := middleY - upperY; math.Abs(down) < 10 || math.Abs(lowerY-middleY) < 10 || (lowerY-middleY)*down < 0 {
		t.Errorf("the names are at the heights %v, %v and %v", upperY, middleY, lowerY)
	}
	if n := strings.Count(string(svg), ">expected<"); n != 1 {
		t.Errorf("%d times expected", n)
	}
}

// TestApart: boxes that would cover one another are moved by as little as they have to, inside the bounds.
func TestApart(t *testing.T) {
	for _, c := range []struct{ tops, heights, want []vg.Length }{
		{[]vg.Length{90, 50}, []vg.Length{10, 10}, []vg.Length{90, 50}},
		{[]vg.Length{52, 50}, []vg.Length{10, 10}, []vg.Length{56, 46}},
		{[]vg.Length{100, 99, 98}, []vg.Length{10, 20, 10}, []vg.Length{100, 90, 70}},
		{[]vg.Length{12, 11, 10}, []vg.Length{10, 10, 10}, []vg.Length{30, 20, 10}},
	} {
		apart(c.tops, c.heights, 0, 100)
		for i, v := range c.want {
			if d := c.tops[i] - v; d > 0.1 || d < -0.1 {
				t.Errorf("tops are %v, want %v", c.tops, c.want)
				break
			}
		}
	}
}
