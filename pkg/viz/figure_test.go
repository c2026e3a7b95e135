package viz

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var nan, inf = math.NaN(), math.Inf(1)

func frame(title string) Frame {
	return Frame{Title: title, XLabel: "time (s)", YLabel: "level (µV)", Width: 400, Height: 210}
}

// data returns a noisy sine and its posterior, with some holes.
func data(n int) (Points, Prediction) {
	rng := rand.New(rand.NewPCG(7, 7))
	var obs Points
	p := Prediction{Name: "PL"}
	for i := range n {
		x := 10 * float64(i) / float64(n)
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, math.Sin(x)+0.3*rng.NormFloat64())
		p.X, p.Mean = append(p.X, x), append(p.Mean, math.Sin(x))
		p.LatentVar, p.NoisyVar = append(p.LatentVar, 0.01), append(p.NoisyVar, 0.1)
	}
	if n > 20 {
		obs.Y[3], obs.X[5], p.Mean[n/2], p.LatentVar[n/3], p.NoisyVar[n/4] = nan, inf, nan, nan, -inf
		p.LatentVar[n/3+2] = -1e-12
	}
	return obs, p
}

// gallery returns one figure of each kind.
func gallery(t *testing.T) map[string]*Figure {
	t.Helper()
	obs, p := data(400)
	q := p
	q.Name = "VFE"
	holes := []float64{5, 3, nan, 2, inf, 1, 0, -1, 0.5}
	one := func(f *Figure, err error) *Figure {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	curves := func(title string) CurvesOptions {
		return CurvesOptions{Frame: frame(title), Curves: []Curve{{Name: "ML", Y: holes},
			{Name: "PL", X: holes, Y: holes, Dots: true}, {Y: holes, Dots: true, NoLine: true}},
			Rules: []Rule{{Y: 1, Name: "truth"}, {Y: nan}}, Spans: []Span{{From: 2, To: inf, Label: "later"}, {From: -inf, To: 1}}}
	}
	log := curves("log")
	log.LogX, log.LogY, log.Spans = true, true, nil
	points := ScatterOptions{Frame: frame("scatter"), LogX: true, LogY: true, Rules: []Rule{{Y: 2, Slot: Orange}, {Y: nan}},
		Groups: []PointGroup{
			{Name: "VFE", Marker: Square, Points: []Point{{X: 1, Y: 2, Label: "50", XHi: 2, YLo: 1, YHi: inf}, {X: nan, Y: 1},
				{X: 0, Y: 1}}},
			{Name: "PL, published", Marker: Triangle, Hollow: true, Points: []Point{{X: 3, Y: 4, XLo: 2, XHi: 5, Label: "100"}}},
			{Name: "ML", Marker: Star, Slot: Orange, Points: []Point{{X: 10, Y: 2, XLo: nan, XHi: 12}}}, {Marker: Diamond}, {Name: "none"},
		}}
	edge := points
	edge.Title, edge.YRange = "edge", [2]float64{0.5, 1.5}
	stripes := StripsOptions{Frame: frame("strips"), Rules: []Rule{{Y: 2, Name: "ML"}}, Strips: []Strip{
		{Name: "PL, k = 100, stopped as in the paper", Values: holes, Marks: []float64{2, nan}}, {Name: "none"},
		{Name: "marks", Marks: []float64{1}}, {Name: "lost", Values: []float64{nan}}}}
	logStripes := stripes
	logStripes.LogY, logStripes.Title, logStripes.YRange = true, "strips log", [2]float64{0.8, 3}
	cut := curves("cut")
	cut.XRange, cut.YRange = [2]float64{1, 4}, [2]float64{1, 2}
	return map[string]*Figure{
		"series": one(Series(SeriesOptions{Frame: frame("series"), Observed: obs, Predictions: []Prediction{p},
			Spans: []Span{{From: 8, To: inf, Label: "forecast"}}})),
		"overlay": one(Series(SeriesOptions{Frame: frame("overlay"), Observed: obs,
			HeldOut: Points{X: []float64{1}, Y: []float64{2}}, Predictions: []Prediction{p, q}})),
		"panels": one(Series(SeriesOptions{Frame: frame("panels"), Observed: obs,
			Predictions: []Prediction{p, q, p}, Panels: true, Cols: 2})),
		"one dot":    one(Series(SeriesOptions{Frame: frame("one dot"), Observed: Points{X: []float64{1}, Y: []float64{2}}})),
		"curves":     one(Curves(curves("curves"))),
		"cut":        one(Curves(cut)),
		"log":        one(Curves(log)),
		"scatter":    one(Scatter(points)),
		"edge":       one(Scatter(edge)),
		"strips":     one(Strips(stripes)),
		"log strips": one(Strips(logStripes)),
		"scatters":   one(Grid(1, 2, GridOptions{Frame: frame("scatters"), ShareY: true}, one(Scatter(points)), one(Scatter(edge)))),
		"grid": one(Grid(2, 2, GridOptions{Frame: frame("grid"), ShareX: true, ShareY: true},
			one(Curves(curves("a"))), nil, one(Curves(curves("b"))), one(Curves(curves("c"))))),
		"own labels": one(Grid(1, 2, GridOptions{}, one(Curves(curves("d"))), one(Curves(log)))),
	}
}

// texts parses an SVG and returns its texts.
func texts(t *testing.T, svg string) []string {
	t.Helper()
	var out []string
	d := xml.NewDecoder(strings.NewReader(svg))
	in := false
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local == "text"
			for _, a := range tok.Attr {
				if a.Name.Local == "id" {
					t.Errorf("id %q would clash in a page", a.Value)
				}
				if a.Name.Local == "d" && (strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf")) {
					t.Errorf("path with a value that is not finite: %.80s", a.Value)
				}
			}
		case xml.CharData:
			if in {
				out = append(out, string(tok))
			}
		case xml.EndElement:
			in = false
		}
	}
}

func TestFigures(t *testing.T) {
	for name, f := range gallery(t) {
		t.Run(name, func(t *testing.T) {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			written := texts(t, string(svg))
			for _, want := range []string{"time (s)", "level (µV)"} {
				if !slices.Contains(written, want) {
					t.Errorf("%q is not in the picture: %q", want, written)
				}
			}
			if f.Title != "" && !slices.Contains(written, f.Title) {
				t.Errorf("no title in %q", written)
			}
			if again, _ := f.SVG(); again != svg {
				t.Error("drawing twice gives two pictures")
			}
			dir := t.TempDir()
			for _, ext := range []string{"svg", "png", "PDF"} {
				if err := f.Save(filepath.Join(dir, "figure."+ext)); err != nil {
					t.Fatal(err)
				}
			}
			raw, _ := os.ReadFile(filepath.Join(dir, "figure.png"))
			img, err := png.Decode(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if w := img.Bounds().Dx(); w != int(2*f.Width) {
				t.Errorf("PNG is %d pixels wide, want twice the figure's %g", w, f.Width)
			}
			if raw, _ := os.ReadFile(filepath.Join(dir, "figure.PDF")); !bytes.HasPrefix(raw, []byte("%PDF")) {
				t.Error("not a PDF")
			}
			raw, _ = os.ReadFile(filepath.Join(dir, "figure.svg"))
			texts(t, string(raw))
			if left, _ := os.ReadDir(dir); len(left) != 3 {
				t.Errorf("%d files where 3 were saved", len(left))
			}
		})
	}
}

func TestFigureHTML(t *testing.T) {
	obs, _ := data(30)
	fr := frame(`<script>alert("t")</script>`)
	fr.Caption, fr.YLabel = `<script>"c"</script>`, "a & b\x00\xff"
	f, err := Series(SeriesOptions{Frame: fr, Observed: obs})
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.HTML()
	if err != nil {
		t.Fatal(err)
	}
	s := string(h)
	if strings.Contains(s, "<script") {
		t.Error("markup in a text is not escaped")
	}
	texts(t, s)
	for _, want := range []string{`role="img"`, `aria-label="`, "<figcaption", "max-width:100%", "viewBox", "Arial", "textLength"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(s, "http") && strings.Count(s, "http") != strings.Count(s, "http://www.w3.org/") {
		t.Error("it refers to the network")
	}
}

func TestErrors(t *testing.T) {
	obs, p := data(5)
	short := p
	short.Mean = p.Mean[1:]
	back := Prediction{X: []float64{1, 0}, Mean: []float64{0, 0}}
	ok := []Curve{{Y: []float64{1, 2}}}
	series := func(o SeriesOptions) error { _, err := Series(o); return err }
	curves := func(o CurvesOptions) error { _, err := Curves(o); return err }
	scatter := func(o ScatterOptions) error { _, err := Scatter(o); return err }
	strips := func(o StripsOptions) error { _, err := Strips(o); return err }
	dot := []PointGroup{{Points: []Point{{X: 1, Y: 1}}}}
	grid := func(rows, cols int, o GridOptions, figs ...*Figure) error {
		_, err := Grid(rows, cols, o, figs...)
		return err
	}
	fig := func(o CurvesOptions) *Figure { return Must(Curves(o)) }
	for name, c := range map[string]struct {
		err  error
		data bool // errNoData is expected
	}{
		"no X label":         {series(SeriesOptions{Frame: Frame{YLabel: "y"}, Observed: obs}), false},
		"blank Y label":      {curves(CurvesOptions{Frame: Frame{XLabel: "x", YLabel: " \n"}, Curves: ok}), false},
		"size":               {curves(CurvesOptions{Frame: Frame{XLabel: "x", YLabel: "y", Width: -1}, Curves: ok}), false},
		"empty series":       {series(SeriesOptions{Frame: frame("")}), true},
		"empty curves":       {curves(CurvesOptions{Frame: frame("")}), true},
		"nothing finite":     {curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: []float64{nan, inf}}}}), true},
		"nothing positive":   {curves(CurvesOptions{Frame: frame(""), LogY: true, Curves: []Curve{{Y: []float64{0, -1}}}}), true},
		"observed lengths":   {series(SeriesOptions{Frame: frame(""), Observed: Points{X: obs.X}}), false},
		"prediction lengths": {series(SeriesOptions{Frame: frame(""), Predictions: []Prediction{short}}), false},
		"in a panel":         {series(SeriesOptions{Frame: frame(""), Panels: true, Predictions: []Prediction{p, short}}), false},
		"X descends":         {series(SeriesOptions{Frame: frame(""), Predictions: []Prediction{back}}), false},
		"curve lengths":      {curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{X: []float64{1}, Y: []float64{1, 2}}}}), false},
		"no point": {scatter(ScatterOptions{Frame: frame(""), LogX: true,
			Groups: []PointGroup{{Points: []Point{{X: 0, Y: 1}}}}}), true},
		"points, no label": {scatter(ScatterOptions{Groups: dot}), false},
		"point range":      {scatter(ScatterOptions{Frame: frame(""), Groups: dot, YRange: [2]float64{1, 1}}), false},
		"no value":         {strips(StripsOptions{Frame: frame(""), Strips: []Strip{{Values: []float64{nan}}}}), true},
		"strips, no label": {strips(StripsOptions{Strips: []Strip{{Values: []float64{1}}}}), false},
		"strips range": {strips(StripsOptions{Frame: frame(""), LogY: true, Strips: []Strip{{Values: []float64{1}}},
			YRange: [2]float64{-1, 1}}), false},
		"range reversed":    {curves(CurvesOptions{Frame: frame(""), Curves: ok, XRange: [2]float64{2, 1}}), false},
		"range on log axis": {curves(CurvesOptions{Frame: frame(""), Curves: ok, LogY: true, YRange: [2]float64{0, 1}}), false},
		"grid is empty":     {grid(1, 1, GridOptions{}), true},
		"grid too small":    {grid(1, 1, GridOptions{}, fig(CurvesOptions{Frame: frame(""), Curves: ok}), nil), false},
		"one grid label": {grid(1, 1, GridOptions{Frame: Frame{XLabel: "x"}},
			fig(CurvesOptions{Frame: frame(""), Curves: ok})), false},
		"scales differ": {grid(1, 2, GridOptions{ShareY: true}, fig(CurvesOptions{Frame: frame(""), Curves: ok}),
			fig(CurvesOptions{Frame: frame(""), Curves: ok, LogY: true})), false},
		"grid of grids": {grid(1, 1, GridOptions{}, Must(Grid(1, 2, GridOptions{}, fig(CurvesOptions{Frame: frame(""), Curves: ok})))),
			false},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", name)
		} else if errors.Is(c.err, errNoData) != c.data {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func TestExtremeValues(t *testing.T) {
	for _, y := range [][]float64{
		{1e308, -1e308, 1}, {5e-324, 1}, {1e299, 1}, {-1e300, 1e300}, {1e-290, 1e290}, {0}, {7, 7, 7}, {-3, -3},
		{1e9, math.Nextafter(1e9, 2e9)},
		{1e15, 1e15 + 1}, {-1e-200, 1e-200}, {1e-300}, {1e300},
	} {
		for _, log := range []bool{false, true} {
			f, err := Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: y}, {Y: y, Dots: true, NoLine: true}}, LogY: log})
			if err != nil {
				if !log {
					t.Errorf("%v: %v", y, err)
				}
				continue
			}
			svg, err := f.SVG()
			if err != nil {
				t.Errorf("%v, log %v: %v", y, log, err)
			}
			texts(t, string(svg))
		}
	}
}

func TestManyPointsStaySmall(t *testing.T) {
	for _, n := range []int{5000, 60000} {
		obs, p := data(n)
		x := slices.Clone(obs.X)
		f, err := Series(SeriesOptions{Frame: frame("many"), Observed: obs, Predictions: []Prediction{p}})
		if err != nil {
			t.Fatal(err)
		}
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if len(svg) > 600_000 {
			t.Errorf("%d points make %d bytes", n, len(svg))
		}
		if drawn := strings.Contains(string(svg), fmt.Sprintf("of %d drawn", n)); drawn != (n > 12000) {
			t.Errorf("n = %d: legend says that dots are left out: %v", n, drawn)
		}
		if !slices.Equal(x, obs.X) {
			t.Error("input modified")
		}
	}
}

// runsOf returns the unbroken stretches of p on axes from 0 to 10.
func runsOf(p path) (runs [][]vg.Point) {
	plt := plot.New()
	plt.X.Min, plt.X.Max, plt.Y.Min, plt.Y.Max = 0, 10, 0, 10
	if p.logY {
		plt.Y.Scale, plt.Y.Min = plot.LogScale{}, 0.1
	}
	c := draw.New(vgimg.New(100, 100))
	p.runs(&c, plt, func(r []vg.Point) { runs = append(runs, r) })
	return runs
}

// TestStraighten checks that a curve keeps its shape, by the distance of every vertex from what is drawn, and loses most of its
// vertices.
func TestStraighten(t *testing.T) {
	var pts []vg.Point
	for i := range 1000 {
		x := 0.6 * float64(i)
		pts = append(pts, vg.Point{X: vg.Length(x), Y: vg.Length(100 * math.Sin(x/40))})
	}
	pts = append(pts, vg.Point{X: 50, Y: 0}, vg.Point{X: 60, Y: 0}, vg.Point{X: 55, Y: 0}) // it turns back, on one line
	kept := straighten(slices.Clone(pts))
	if len(kept) > 250 || kept[0] != pts[0] || kept[len(kept)-1] != pts[len(pts)-1] {
		t.Errorf("%d vertices are kept of %d, from %v to %v", len(kept), len(pts), kept[0], kept[len(kept)-1])
	}
	for _, p := range pts {
		nearest := math.Inf(1)
		for i := 1; i < len(kept); i++ {
			a, b := kept[i-1], kept[i]
			ab, ap := b.Sub(a), p.Sub(a)
			u := math.Max(0, math.Min(1, float64(ap.X*ab.X+ap.Y*ab.Y)/float64(ab.X*ab.X+ab.Y*ab.Y)))
			nearest = math.Min(nearest, math.Hypot(float64(ap.X)-u*float64(ab.X), float64(ap.Y)-u*float64(ab.Y)))
		}
		if nearest > sagitta+1e-9 {
			t.Fatalf("%v is %.3f points from the curve that is drawn", p, nearest)
		}
	}
	if flat := straighten([]vg.Point{{X: 1}, {X: 1}, {X: 1}}); len(flat) != 2 {
		t.Errorf("one place thrice: %v", flat)
	}
}

func TestGaps(t *testing.T) {
	runs := runsOf(path{x: []float64{0, 1, 2, 3, 4, inf, 6, 7}, y: []float64{1, 2, nan, 4, 5, 5, 1, 2}})
	if len(runs) != 3 {
		t.Errorf("two gaps make %d runs", len(runs))
	}
	if runs := runsOf(path{x: []float64{1, 2, 3}, y: []float64{1, 0, 2}, logY: true}); len(runs) != 2 {
		t.Errorf("a zero on a log axis: %d runs", len(runs))
	}
	near := runsOf(path{x: []float64{0, 0.001, 0.002, 9, 9.001}, y: []float64{0, 0, 0, 9, 9}})
	if len(near) != 1 || len(near[0]) != 2 {
		t.Errorf("vertices on one spot are kept: %v", near)
	}
}

func TestSaveErrors(t *testing.T) {
	dir := t.TempDir()
	f := Must(Curves(CurvesOptions{Frame: frame(""), Curves: []Curve{{Y: []float64{1, 2}}}}))
	for _, p := range []string{"a.jpeg", "noextension", filepath.Join("missing", "a.svg")} {
		if err := f.Save(filepath.Join(dir, p)); err == nil {
			t.Errorf("%s: no error", p)
		}
	}
	old := filepath.Join(dir, "old.svg")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Plot(0).Add(broken{})
	if err := f.Save(old); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a plotter that panics: %v", err)
	}
	if got, _ := os.ReadFile(old); string(got) != "old" {
		t.Errorf("a failed save left %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

var errBroken = errors.New("broken")

// broken is a writer that fails halfway, and a plotter that cannot be drawn.
type broken struct{}

func (broken) WriteTo(w io.Writer) (int64, error) {
	n, _ := w.Write([]byte("half"))
	return int64(n), errBroken
}
func (broken) Plot(draw.Canvas, *plot.Plot) { panic("broken") }

func TestTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		lo := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
		hi := lo + math.Abs(lo)*math.Pow(10, float64(rng.IntN(10)-5))
		check := func(name string, ticks []plot.Tick, lo, hi float64, most int) {
			labels := map[string]bool{}
			for _, tk := range ticks {
				if slack := 1e-6 * (hi - lo); tk.Value < lo-slack || tk.Value > hi+slack {
					t.Errorf("%s: %g is outside of [%g, %g]", name, tk.Value, lo, hi)
				}
				if tk.Label != "" && labels[tk.Label] {
					t.Errorf("%s: label %q twice in [%g, %g]", name, tk.Label, lo, hi)
				}
				labels[tk.Label] = true
			}
			delete(labels, "")
			if len(labels) < 2 || len(labels) > most {
				t.Errorf("%s: %d labels in [%g, %g]", name, len(labels), lo, hi)
			}
		}
		check("linear", linearTicks{n: 6}.Ticks(lo, hi), lo, hi, 12)
		if lo > 0 {
			check("log", logTicks{6}.Ticks(lo, hi), lo, hi, 12)
			if hi/lo > 10 {
				check("narrow log", logTicks{6}.narrow().Ticks(lo, hi), lo, hi, 12)
			}
		}
	}
}

// TestLogTicksApart checks that a short logarithmic axis has fewer labels if they would touch.
func TestLogTicksApart(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0.0039, 0.0103, 5, "0.004 0.006 0.008 0.010"},
		{1.9, 10, 9, "2 3 4 5 6 7 8 9 10"},
		{11.25, 11.34, 2, "11.25 11.30"},
		{8e-5, 7e-3, 5, "10^{−4} 10^{−3}"},
	} {
		var labels []string
		for _, tick := range (logTicks{c.n}).Ticks(c.lo, c.hi) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%d ticks from %g to %g: %s, want %s", c.n, c.lo, c.hi, got, c.want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		f    Format
		v    any
		want string
	}{
		{auto, 1468.565, "1469"}, {auto, 0.03125, "0.03125"}, {auto, -0.5, "−0.5000"}, {auto, 123456789.0, "123456789"},
		{auto, 2.1e-7, "2.100e-7"}, {auto, 0.0, "0"}, {auto, nan, "–"}, {auto, nil, "–"}, {auto, "", "–"}, {auto, inf, "∞"},
		{auto, float32(0.5), "0.5000"}, {auto, -3, "−3"}, {auto, uint8(3), "3"}, {auto, true, "true"}, {auto, "a", "a"},
		{auto, 1500 * time.Millisecond, "1.5 s"}, {auto, errBroken, "broken"},
		{Digits(4), 9.9996, "10.00"}, {Digits(3), 0.00012345, "0.000123"}, {Digits(3), 12, "12.0"}, {Digits(0), 7.7, "8"},
		{Fixed(1), 1468.565, "1468.6"}, {Fixed(1), -0.01, "0.0"}, {Fixed(2), "n/a", "n/a"},
		{Fixed(-3), 1234567.0, "1235000"}, {Fixed(-3), -400.0, "0"},
		{Scientific(2), 1.10699e15, "1.11e15"}, {Scientific(1), -5.788e-6, "−5.8e-6"},
		{UpTo(5), 54.1, "54.1"}, {UpTo(5), 2300, "2300"},
		{UpTo(3), 6.5e-9, "6.5e-9"}, {Percent(1), 0.1234, "12.3 %"},
		{lasting, 0.0121, "12 ms"}, {lasting, 3.42, "3.4 s"}, {lasting, 0.9999, "1.0 s"}, {lasting, 59.6, "1 min 00 s"},
		{lasting, 125, "2 min 05 s"}, {lasting, 3599.6, "1 h 00 min"}, {lasting, 7260.0, "2 h 01 min"}, {lasting, 3e-9, "3.0 ns"},
		{lasting, 5e-6, "5.0 µs"}, {lasting, 0, "0 s"}, {lasting, nan, "–"},
	} {
		if got := c.f(c.v); got != c.want {
			t.Errorf("%v is shown as %q, want %q", c.v, got, c.want)
		}
	}
}

// TestLongLabel checks that a y label longer than its axis does not reach above it into the legend.
func TestLongLabel(t *testing.T) {
	axis := vg.Rectangle{Min: vg.Point{Y: 40}, Max: vg.Point{Y: 140}}
	if got := middle(axis, 60); got != 90 {
		t.Errorf("a short label has its middle at %v", got)
	}
	if got := middle(axis, 130); got+130./2 != 140 {
		t.Errorf("a long label ends at %v", got+65)
	}
}

// TestErrorBars checks that observations with errors have bars, in the figure, its range, its numbers and its words.
func TestErrorBars(t *testing.T) {
	o := SeriesOptions{Frame: frame("errors"), Observed: Points{X: []float64{1, 2, 3}, Y: []float64{5, 6, 7}, Errors: []float64{0.5, 0, 4}}}
	f := Must(Series(o))
	if lo, hi := f.panels[0].plot.Y.Min, f.panels[0].plot.Y.Max; lo > 3 || hi < 11 {
		t.Errorf("the axis from %v to %v cuts a bar from 3 to 11", lo, hi)
	}
	found := false
	for _, l := range decode(t, f)[0].Layers {
		if l.Kind == "errors" {
			found = string(l.X) == "[1,3]" && string(l.Lo) == "[4.5,3]"
		}
	}
	if words := f.words(); !found || !strings.Contains(words, "Bars of one standard deviation at 2 of them are between 0.500 and 4.00") {
		t.Errorf("found %v: %s", found, words)
	}
	if !f.panels[0].zoomable() {
		t.Error("a figure with bars cannot be zoomed")
	}
	o.Observed.Errors = o.Observed.Errors[1:]
	if _, err := Series(o); err == nil {
		t.Error("two errors of three observations are no error")
	}
}
