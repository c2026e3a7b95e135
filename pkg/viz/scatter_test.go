package viz

import (
	"image/color"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// svg draws a figure.
func svg(t *testing.T, f *Figure, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

func TestScatterLabels(t *testing.T) {
	f, err := Scatter(ScatterOptions{Frame: frame("labels"), Groups: []PointGroup{
		{Name: "ours", Points: []Point{{X: 1, Y: 1, Label: "50"}, {X: 2, Y: 2, Label: "100"}, {X: nan, Y: 2, Label: "lost"}}},
		{Name: "published", Hollow: true, Points: []Point{{X: 1, Y: 2, Label: "a < b"}}},
		{Points: []Point{{X: 2, Y: 1}}},
	}})
	written := texts(t, svg(t, f, err))
	for _, want := range []string{"50", "100", "a < b", "ours", "published"} {
		if !slices.Contains(written, want) {
			t.Errorf("%q is not in the picture: %q", want, written)
		}
	}
	if slices.Contains(written, "lost") {
		t.Error("a point that has no place has a label")
	}
}

// TestScatterEdge checks that a point beyond a fixed range is an arrow head at the edge: the figure has one more shape, and none
// is outside.
func TestScatterEdge(t *testing.T) {
	shapes := func(y float64) int {
		f, err := Scatter(ScatterOptions{Frame: frame(""), YRange: [2]float64{0, 2},
			Groups: []PointGroup{{Marker: Square, Points: []Point{{X: 1, Y: 1}, {X: 2, Y: y}, {X: 3, Y: 1}}}}})
		return strings.Count(svg(t, f, err), "<path")
	}
	inside, beyond, gone := shapes(1.5), shapes(1e5), shapes(nan)
	if beyond != gone+1 { // an arrow head has no outline; a marker has
		t.Errorf("%d shapes with a point beyond the edge, %d without it", beyond, gone)
	}
	if inside != gone+2 {
		t.Errorf("%d shapes with a point inside, %d without it", inside, gone)
	}
}

// TestMarkers checks that every marker has its stated size, and that no two markers are the same polygon.
func TestMarkers(t *testing.T) {
	var seen [][]vg.Point
	for m := range shapes {
		g := glyph{m, color.NRGBA{}, 5, false}
		pts := g.outline(vg.Point{})
		var far vg.Length
		for _, p := range pts {
			far = max(far, p.Dot(p))
		}
		if want := g.size() * g.size(); far < 0.99*want || far > 1.01*want {
			t.Errorf("marker %d reaches %g, want %g", m, far, want)
		}
		if slices.ContainsFunc(seen, func(o []vg.Point) bool { return slices.Equal(o, pts) }) {
			t.Errorf("marker %d looks like another", m)
		}
		seen = append(seen, pts)
	}
}

func TestGlyphsInLegend(t *testing.T) {
	group := func(m Marker, hollow bool) *Figure {
		return Must(Scatter(ScatterOptions{Frame: frame("a"),
			Groups: []PointGroup{{Name: "PL", Marker: m, Hollow: hollow, Points: []Point{{X: 1, Y: 1}}}}}))
	}
	for _, c := range []struct {
		other *Figure
		want  int
	}{{group(Square, false), 1}, {group(Square, true), 2}, {group(Star, false), 2}} {
		g, err := Grid(1, 2, GridOptions{}, group(Square, false), c.other)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(g.legend()); n != c.want {
			t.Errorf("%d entries in the common legend, want %d", n, c.want)
		}
	}
}

// TestJoined checks that a line through the points of a group is drawn, described once and downloaded once.
func TestJoined(t *testing.T) {
	group := PointGroup{Name: "ours", Points: []Point{{X: 1, Y: 2}, {X: 2, Y: 4}, {X: 3, Y: 3}}}
	o := ScatterOptions{Frame: Frame{XLabel: "k", YLabel: "excess"}, Groups: []PointGroup{group}}
	plain := Must(Scatter(o))
	o.Groups[0].Joined = true
	joined := Must(Scatter(o))
	if a, b := len(plain.panels[0].layers), len(joined.panels[0].layers); b != a+1 {
		t.Errorf("%d layers without the line, %d with it", a, b)
	}
	if plain.words() != joined.words() {
		t.Errorf("the line is told beside its points: %s", joined.words())
	}
	if Must(plain.SVG()) == Must(joined.SVG()) {
		t.Error("no line is drawn")
	}
}
