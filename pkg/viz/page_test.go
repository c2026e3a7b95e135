package viz

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	fontSize  = regexp.MustCompile(`font-size:([0-9.]+)px`)
	dataGppl  = regexp.MustCompile(`data-gppl="([^"]*)"`)
	narrowSVG = regexp.MustCompile(`(?s)<svg [^>]*class="gppl-narrow".*?</svg>`)
	rotated   = regexp.MustCompile(`(?s)<g transform="rotate.*?</g>`)
	placed    = regexp.MustCompile(`<text [^>]*textLength="([0-9.e+-]+)"[^>]* x="([0-9.e+-]+)" y="([0-9.e+-]+)" ` +
		`transform="scale\(1, -1\)"`)
)

// TestNarrow checks that on a phone every figure is as wide as a phone, with texts of at least 11 CSS pixels that stay inside it.
func TestNarrow(t *testing.T) {
	for name, f := range gallery(t) {
		f.Width = 800 // the usual width
		h := string(Must(f.HTML()))
		svg := narrowSVG.FindString(h)
		if svg == "" {
			t.Errorf("%s: no narrow drawing", name)
			continue
		}
		if !strings.Contains(svg, `width="360"`) || !strings.Contains(h, "gppl-below-700") ||
			!strings.Contains(pageCSS, ".gppl-below-700 .gppl-narrow") {
			t.Errorf("%s: the narrow drawing is not 360 pixels wide, or never shown", name)
		}
		texts(t, svg)
		wide, alone := images(t, f)
		if !strings.Contains(alone, `width="360"`) || strings.Contains(alone, "display:none") ||
			strings.Count(alone, "<text") != strings.Count(svg, "<text") {
			t.Errorf("%s: the narrow drawing by itself is another one, or hidden", name)
		}
		for _, image := range []string{wide, alone} {
			texts(t, image)
			for _, variable := range regexp.MustCompile(`var\((--gppl-[0-9a-f]{6}),`).FindAllStringSubmatch(image, -1) {
				if !strings.Contains(image, variable[1]+":#") {
					t.Errorf("%s: an image has no dark colour for %s", name, variable[1])
				}
			}
			if !strings.Contains(image, "var(--gppl-ffffff,") || strings.Count(image, "prefers-color-scheme:dark") != 1 {
				t.Errorf("%s: an image is not dark on a dark page", name)
			}
		}
		for _, m := range fontSize.FindAllStringSubmatch(svg, -1) {
			if size, _ := strconv.ParseFloat(m[1], 64); size/pxToPt < 11 {
				t.Errorf("%s: a text of %.1f pixels", name, size/pxToPt)
				break
			}
		}
		for _, m := range placed.FindAllStringSubmatch(rotated.ReplaceAllString(svg, ""), -1) {
			width, _ := strconv.ParseFloat(m[1], 64)
			x, _ := strconv.ParseFloat(m[2], 64)
			if x < -0.5 || x+width > narrowWidth*pxToPt+0.5 {
				t.Errorf("%s: a text from %.0f to %.0f points leaves the figure: %s", name, x, x+width, m[0])
			}
		}
		if again := string(Must(f.SVG())); strings.Contains(again, "gppl-narrow") || again != string(Must(f.SVG())) {
			t.Errorf("%s: the wide drawing does not survive the narrow one", name)
		}
	}
}

// TestNoNarrow checks that a figure which can shrink to a phone, legibly, is drawn once.
func TestNoNarrow(t *testing.T) {
	f := Must(Curves(CurvesOptions{Frame: frame("small"), Curves: []Curve{{Y: []float64{1, 2}}}}))
	if h := string(Must(f.HTML())); strings.Count(h, "<svg") != 1 || strings.Contains(h, "gppl-below") {
		t.Error("a figure of 400 pixels is drawn twice")
	}
	if wide, narrow := images(t, f); wide == "" || narrow != "" {
		t.Error("a figure of 400 pixels has a narrow drawing")
	}
	if err := f.SaveImages(filepath.Join(t.TempDir(), "a.png")); err == nil {
		t.Error("an image for a page has an extension other than .svg")
	}
}

// images returns the files of SaveImages, "" for one that is not written.
func images(t *testing.T, f *Figure) (wide, narrow string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.svg")
	if err := f.SaveImages(path); err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b)
	}
	return read(path), read(strings.TrimSuffix(path, ".svg") + "-narrow.svg")
}

// decoded is the data that the script of a page reads.
type decoded []*struct {
	Title, XLabel, YLabel string
	Range                 [4]float64
	Zoom, XLog            bool
	Dates                 json.RawMessage
	Layers                []struct {
		Kind, Name, Colour string
		X, Y, Lo           json.RawMessage
		Of                 int
	}
}

func decode(t *testing.T, f *Figure) decoded {
	t.Helper()
	m := dataGppl.FindStringSubmatch(string(Must(f.HTML())))
	if m == nil {
		t.Fatal("a figure without its data")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	var d decoded
	if err := json.NewDecoder(z).Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFigureData(t *testing.T) {
	f := Must(Curves(CurvesOptions{
		Frame: frame("data"), Curves: []Curve{{Name: "PL", X: []float64{1749.0416667, 1800, 2000},
			Y: []float64{1.25, nan, -3}, Dots: true}},
		Rules: []Rule{{Y: 2, Name: "truth"}}, Spans: []Span{{From: 1900, To: inf}},
	}))
	p := decode(t, f)[0]
	if p.XLabel != "time (s)" || p.YLabel != "level (µV)" || !p.Zoom || p.XLog {
		t.Errorf("%+v", p)
	}
	got := map[string]string{}
	for _, l := range p.Layers {
		got[l.Kind] = string(l.X) + " " + string(l.Y)
	}
	for kind, want := range map[string]string{
		"line": "[1749.0417,1800,2000] [1.25,null,-3]",
		"dots": "2 2", // numbers of the layer that has these x and y: the line
		"rule": " [2]",
	} {
		if got[kind] != want {
			t.Errorf("%s: %q, want %q", kind, got[kind], want)
		}
	}
	for name, f := range gallery(t) {
		for _, p := range decode(t, f) {
			if p != nil && (p.Range[0] >= p.Range[1] || len(p.Layers) == 0) {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	if d := decode(t, gallery(t)["strips"]); d[0].Zoom {
		t.Error("strips cannot be zoomed")
	}
}

var dataPart = regexp.MustCompile(`class="gppl-t(\d+)" data-part="([^"]*)"`)

// TestParts checks that in a page the elements of a panel that zooms are marked by part, so that the script can copy their looks:
// the grid, ticks and their labels, every layer, and every point. Files have no such marks.
func TestParts(t *testing.T) {
	for name, f := range gallery(t) {
		wide, _, _ := strings.Cut(string(Must(f.HTML())), "</svg>")
		has := map[string]bool{}
		for _, m := range dataPart.FindAllStringSubmatch(wide, -1) {
			has[m[1]+" "+m[2]] = true
			has[m[2]] = true
		}
		for i, p := range decode(t, f) {
			if p == nil || !p.Zoom {
				continue
			}
			want := []string{fmt.Sprint(i, " grid"), fmt.Sprint(i, " tick"), "x", "y"}
			for j, l := range p.Layers {
				switch {
				case name == "cut" || name == "edge" || name == "scatters": // a part is out of sight
				case l.Kind == "points":
					for k := range strings.Count(string(l.X), ",") + 1 {
						want = append(want, fmt.Sprintf("%d %d.%d", i, j, k))
					}
				default:
					want = append(want, fmt.Sprint(i, " ", j))
				}
			}
			for _, w := range want {
				if !has[w] {
					t.Errorf("%s: no part %q", name, w)
				}
			}
		}
		if svg := string(Must(f.SVG())); strings.Contains(svg, "data-part") || strings.Contains(svg, "class=") {
			t.Errorf("%s: a file says what only a page needs", name)
		}
	}
}

// TestFigureDataStaySmall checks that a long record does not make a page heavy, and that the page says what it leaves out.
func TestFigureDataStaySmall(t *testing.T) {
	obs, p := data(100_000)
	h := string(Must(Must(Series(SeriesOptions{Frame: frame("long"), Observed: obs, Predictions: []Prediction{p}})).HTML()))
	if n := len(dataGppl.FindString(h)); n > 700_000 {
		t.Errorf("its data take %d bytes", n)
	}
	f := Must(Series(SeriesOptions{Frame: frame("long"), Observed: obs}))
	if l := decode(t, f)[0].Layers[0]; l.Of != 100_000 || strings.Count(string(l.X), ",") > maxRows*11/10 {
		t.Errorf("%d rows of %d", strings.Count(string(l.X), ","), l.Of)
	}
}

// TestCustomPanelDoesNotZoom: a panel to which a caller adds a plotter does not zoom, since the script would redraw it without
// the plotter.
func TestCustomPanelDoesNotZoom(t *testing.T) {
	f := Must(Curves(CurvesOptions{Frame: frame("custom"), Curves: []Curve{{Y: []float64{1, 2}}}}))
	f.Plot(0)
	if decode(t, f)[0].Zoom || strings.Contains(string(Must(f.HTML())), "gppl-live") {
		t.Error("it can be zoomed")
	}
}

func TestWords(t *testing.T) {
	obs := Points{X: []float64{1, 2, nan, 4}, Y: []float64{5, 7, 1, 6}}
	for name, c := range map[string]struct {
		f    *Figure
		want string
	}{
		"line": {Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Name: "ML", Y: []float64{9, 1, nan, 4}}}})),
			"ML falls from 9.00 at 1 to 4.00 at 4, lowest 1.00 at 2."},
		"flat": {Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Name: "ML", Y: []float64{2, 2}}}})),
			"ML stays at 2.00 from 1 to 2."},
		"huge": {Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Name: "ML", Y: []float64{-1e300, 1e300}}}})),
			"ML rises from −1.00e300 at 1 to 1.00e300 at 2."},
		"events": {Must(Series(SeriesOptions{Frame: frame(""), Observed: obs, Events: []Event{{2, "shift"}, {3, "shift"}}})),
			"observations: 3 from 1 to 4, between 5.00 and 7.00. shift at 2, 3."},
		"dots": {Must(Series(SeriesOptions{Frame: frame(""), Observed: obs})), "observations: 3 from 1 to 4, between 5.00 and 7.00."},
		"strip": {Must(Strips(StripsOptions{Frame: frame(""), Strips: []Strip{{Name: "PL", Values: []float64{3, 1, 2}}}})),
			"PL: median 2.00 of 3, between 1.00 and 3.00."},
		"log": {Must(Curves(CurvesOptions{Frame: frame(""), LogY: true, Curves: []Curve{{Name: "ML", Y: []float64{-5, 10, 100}}}})),
			"ML rises from 10.0 at 2 to 100 at 3."},
		"band": {Must(Series(SeriesOptions{Frame: frame(""), Predictions: []Prediction{
			{X: []float64{0, 1}, Mean: []float64{0, 0}, NoisyVar: []float64{1, 4}}}})),
			`The band "95 % of values" is 3.92 wide at 0 and 7.84 at 1. mean stays at 0 from 0 to 1.`},
	} {
		if got := c.f.words(); got != "level (µV) against time (s). "+c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if !strings.Contains(c.f.alt(), c.want) {
			t.Errorf("%s: the description for who cannot see it does not have it: %q", name, c.f.alt())
		}
	}
	var many []Curve
	for range 11 {
		many = append(many, Curve{Name: "c", Y: []float64{1, math.E}})
	}
	if got := Must(Curves(CurvesOptions{Frame: frame(""), Curves: many})).words(); !strings.HasSuffix(got,
		" 3 more are not described.") {
		t.Error(got)
	}
}

// TestWordsOfDates checks that the description of a figure has dates, as its calendar writes them, or days.
func TestWordsOfDates(t *testing.T) {
	x := []float64{1e9, 1e9 + 86400}
	for calendar, want := range map[Calendar][2]string{
		seconds{}: {"2001-09-09", "2001-09-10"}, written{}: {"2001-09-09 01:46:40", "2001-09-10 01:46:40"},
	} {
		f := Must(Series(SeriesOptions{Frame: Frame{XLabel: "date", YLabel: "y", Dates: calendar},
			Observed: Points{X: x, Y: []float64{1, 2}}}))
		if got, want := f.words(), "observations: 2 from "+want[0]+" to "+want[1]+
			", between 1.00 and 2.00."; !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// written is a calendar that writes times.
type written struct{ seconds }

func (w written) Text(x float64) string { return w.Time(x).Format(time.RFC3339) }

// yearCalendar counts years of 365.25 days from 2000.
type yearCalendar struct{}

func (yearCalendar) Time(x float64) time.Time {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration((x - 2000) * 365.25 * 86400 * 1e9))
}
func (yearCalendar) X(t time.Time) float64 {
	return 2000 + t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Hours()/8766
}

// TestInstants checks that a page, and the csv that it offers, have the instants of a line: dates to a millisecond, where they were
// rounded to half a minute, and steps of a long series to a thousandth.
func TestInstants(t *testing.T) {
	for name, c := range map[string]struct {
		step, off float64
		n         int
		dates     Calendar
	}{
		"days of years": {1 / 365.25, 1e-3 / (365.25 * 86400), 480, yearCalendar{}},
		"many steps":    {1. / 3, 1e-3 / 3, 15000, nil},
	} {
		x, y := make([]float64, c.n), make([]float64, c.n)
		for i := range x {
			x[i], y[i] = 2005+c.step*float64(i), math.Sin(float64(i))
		}
		o := SeriesOptions{Frame: frame(name), Predictions: []Prediction{{Name: "mean", X: x, Mean: y}}}
		o.Dates = c.dates
		var got []float64
		if err := json.Unmarshal(decode(t, Must(Series(o)))[0].Layers[0].X, &got); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if math.Abs(got[i]-x[i]) > c.off {
				t.Fatalf("%s: x[%d] is %v in the page, and %v in the figure", name, i, got[i], x[i])
			}
		}
	}
}
