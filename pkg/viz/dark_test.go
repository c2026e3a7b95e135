package viz

import (
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDarkCovers checks that every colour that is drawn has a counterpart for dark pages.
func TestDarkCovers(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}
	variance := []float64{0.1, 0.2, 0.1, 0.3}
	var curves []Curve
	for range light.palette {
		curves = append(curves, Curve{Name: "c", X: x, Y: y})
	}
	var groups []PointGroup
	for i := range light.palette {
		for _, hollow := range []bool{false, true} {
			groups = append(groups, PointGroup{Name: "s", Points: []Point{{X: 1, Y: float64(i), Label: "l"}}, Slot: i + 1, Hollow: hollow})
		}
	}
	figures := []*Figure{
		Must(Curves(CurvesOptions{Frame: frame("t"), Curves: curves, Rules: []Rule{{Y: 2, Name: "rule"}}})),
		Must(Scatter(ScatterOptions{Frame: frame("s"), Groups: groups})),
		Must(Series(SeriesOptions{
			Frame: frame("p"), Observed: Points{X: x, Y: y}, HeldOut: Points{X: x, Y: y},
			Predictions: []Prediction{{Name: "m", X: x, Mean: y, LatentVar: variance, NoisyVar: variance}},
			Spans:       []Span{{From: 2, To: 3, Label: "span"}},
		})),
		Must(Histogram(HistogramOptions{Frame: frame("h"), Values: y})),
	}
	var page strings.Builder
	for _, f := range figures {
		page.WriteString(string(Must(f.HTML())))
	}
	table := &Table{Caption: "c", Columns: []Column{{Name: "a", Unit: "u", Best: true}, {Name: "s"}}, Notes: []string{"n"}}
	for status := range badges {
		table.Rows = append(table.Rows, []any{1.0, status})
	}
	page.WriteString(string(Must(table.HTML())))
	for _, p := range []*Progress{{total: 3, now: time.Now}, {total: 3, done: true, now: time.Now},
		{total: 3, failed: "f", now: time.Now}} {
		page.WriteString(p.html())
	}
	variables := regexp.MustCompile(`var\(--gppl-([0-9a-f]{6}),#([0-9A-Fa-f]{6})\)`)
	found := variables.FindAllStringSubmatch(page.String(), -1)
	if len(found) < 100 {
		t.Errorf("only %d colours can change", len(found))
	}
	for _, m := range found {
		if distance(parseHex(m[1]), parseHex(m[2])) > 2 || !strings.Contains(string(CSS()), "--gppl-"+m[1]+":#") {
			t.Errorf("%s has no dark colour", m[0])
		}
	}
	rest := variables.ReplaceAllString(page.String(), "")
	for _, attribute := range styleAttribute.FindAllString(rest, -1) {
		if c := hexColour.FindString(attribute); c != "" {
			t.Errorf("%s stays as it is on a dark page: %s", c, attribute)
		}
	}
}

// TestDarkLeavesText: dark mode replaces colours in attributes, not in texts that look like one. Files keep plain colours, which
// every program reads.
func TestDarkLeavesText(t *testing.T) {
	f := Must(Curves(CurvesOptions{Frame: frame(`style="fill:#0072b2"`), Curves: []Curve{{Y: []float64{1, 2}}}}))
	if h := string(Must(f.HTML())); !strings.Contains(h, "fill:#0072b2&#34;</text>") &&
		!strings.Contains(h, "fill:#0072b2&quot;</text>") {
		t.Errorf("the title is no longer what it was:\n%s", h)
	}
	if s := string(Must(f.SVG())); strings.Contains(s, "var(") {
		t.Error("an SVG for files has CSS variables")
	}
}

// TestDarkContrast requires WCAG's 4.5 between texts and their background, and 3 for lines.
func TestDarkContrast(t *testing.T) {
	for name, theme := range map[string]theme{"light": light, "dark": dark} {
		for _, ink := range []color.NRGBA{theme.ink, theme.muted, theme.observed} {
			if c := contrast(ink, theme.background); c < 4.5 {
				t.Errorf("%s: %s on the background: contrast %.2f", name, hex(ink), c)
			}
		}
		least := 3.0
		if name == "light" {
			least = 2 // Okabe and Ito's orange and sky on white need dashes and labels as well
		}
		for _, line := range append(theme.palette, theme.heldOut) {
			if c := contrast(line, theme.background); c < least {
				t.Errorf("%s: a line of %s: contrast %.2f", name, hex(line), c)
			}
			text := darker(line)
			if name == "dark" {
				text = line
			}
			if c := contrast(text, theme.background); c < 4.5 {
				t.Errorf("%s: a text in the colour of a line of %s: contrast %.2f", name, hex(line), c)
			}
		}
	}
	for status, b := range badges {
		if c := contrast(darkOf[parseHex(b.ink)], darkOf[parseHex(b.fill)]); c < 4.5 {
			t.Errorf("badge %s on a dark page: contrast %.2f", status, c)
		}
	}
}

// contrast returns WCAG's contrast, from 1 to 21.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		part := func(v uint8) float64 {
			s := float64(v) / 255
			if s <= 0.04045 {
				return s / 12.92
			}
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}
