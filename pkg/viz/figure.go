package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Frame has the texts and the size of a figure. XLabel and YLabel are required and carry the unit: "time (s)".
type Frame struct {
	Title   string // drawn above the data; it should give the message, not the names of the axes, and may be empty
	Caption string // shown below the figure in a notebook, not drawn in a file; pages require it
	Alt     string // describes the figure to readers who cannot see it; default: title, caption, and a summary of the numbers

	XLabel, YLabel string

	Dates Calendar // maps the horizontal axis to dates; nil if it has numbers

	Width, Height float64 // CSS pixels; zero means 800 × 420
}

// Figure is one or more panels with a title and a common legend. Make it with a constructor of this package, then [Show] it
// or [Figure.Save] it. A Figure may be drawn any number of times, from one goroutine at a time.
type Figure struct {
	Frame
	rows, cols int
	panels     []*panel // panels row by row; nil is an empty place
	shared     bool     // Frame's axis labels belong to all panels and are drawn once

	shareX, shareY bool // all panels have one range
}

type panel struct {
	plot           *plot.Plot
	title          string // title of a panel of a grid
	xLabel, yLabel string // empty if the figure has labels for all panels
	legend         []entry
	ends           []ending // entries that are named at the right of the axes, not in the legend
	above          entry    // entry of dots that is named above the axes; none if its name is empty
	layers         []layer
	logX, logY     bool
	custom         bool // a caller may have added to the plot

	// xTicks and yTicks are the ticks in the figure's own arrangement; xUnnamed and yUnnamed say that a neighbour shows their
	// labels. The plot's ticks are set when it is drawn; see arrange.
	xTicks, yTicks     ticks
	xUnnamed, yUnnamed bool
}

// entry is a line of the legend: one sample of a look and its name.
type entry struct {
	name  string
	look  draw.LineStyle
	kind  swatch
	glyph glyph // the sample of a swatchGlyph
}

type swatch int

const (
	swatchLine swatch = iota
	swatchDots
	swatchBand
	swatchGlyph
	swatchBox
)

// Plot returns the gonum/plot plot of a panel, counted row by row from zero, so that a caller can add what the constructors do
// not offer; nil for an empty place of a grid. Titles, axis labels and legends belong to the Figure, and are empty in the plot.
// It panics if there is no such place. After Plot, readers of a page cannot zoom the panel, because the script does not know what
// was added.
func (f *Figure) Plot(i int) *plot.Plot {
	p := f.panels[i]
	if p == nil {
		return nil
	}
	p.custom = true
	return p.plot
}

// errNoData is the error, wrapped, of a constructor whose data contain nothing that can be drawn.
var errNoData = errors.New("viz: no data to draw")

// check completes a frame and removes from its texts what XML cannot hold.
func (fr *Frame) check() error { return fr.complete(true) }

// complete does as check. Unless labelled is set, axis labels may be missing.
func (fr *Frame) complete(labelled bool) error {
	for _, s := range []*string{&fr.Title, &fr.Caption, &fr.Alt, &fr.XLabel, &fr.YLabel} {
		*s = clean(*s)
	}
	switch {
	case labelled && fr.XLabel == "":
		return errors.New("viz: the horizontal axis has no label")
	case labelled && fr.YLabel == "":
		return errors.New("viz: the vertical axis has no label")
	case !(fr.Width >= 0 && fr.Width <= 10000) || !(fr.Height >= 0 && fr.Height <= 10000):
		return fmt.Errorf("viz: figure size %g × %g pixels", fr.Width, fr.Height)
	}
	if fr.Width == 0 {
		fr.Width = style.width
	}
	if fr.Height == 0 {
		fr.Height = style.height
	}
	return nil
}

// clean turns s into one line of valid, printable text.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\uFFFE' || r == '\uFFFF' {
			return ' '
		}
		return r
	}, s))
}

// alt describes the figure in words.
func (f *Figure) alt() string {
	if f.Alt != "" {
		return f.Alt
	}
	parts := []string{f.Title, f.Caption}
	parts = append(parts, f.words())
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], ". ")
	}
	return strings.Join(parts, ". ") + "."
}

// drawn returns the panels, without empty places.
func (f *Figure) drawn() []*panel {
	return slices.DeleteFunc(slices.Clone(f.panels), func(p *panel) bool { return p == nil })
}

// legend returns the legend of all panels together; an entry that several share appears once.
func (f *Figure) legend() []entry {
	var all []entry
	for _, p := range f.drawn() {
		for _, e := range p.legend {
			same := func(o entry) bool {
				return o.name == e.name && o.kind == e.kind && o.look.Color == e.look.Color && o.glyph == e.glyph
			}
			if e.name != "" && !slices.ContainsFunc(all, same) {
				all = append(all, e)
			}
		}
	}
	return all
}

// GridOptions describe a grid of figures. Without axis labels of its own, the grid leaves each panel its labels; with both, it
// drops the panels' labels and writes one pair for all.
type GridOptions struct {
	Frame
	// ShareX and ShareY give all panels one range, and tick labels only at the bottom row or the left column.
	ShareX, ShareY bool
}

// Grid puts single-panel figures in rows × cols places, row by row; a nil figure leaves its place empty, and so do places
// without a figure. The figures' titles become the panels', the legends are merged into one, captions are dropped. The
// default height gives each row 230 pixels. The figures given are not usable afterwards: their plots belong to the grid.
//
// It returns an error if there is no figure, if they do not fit, if one has several panels, if only one axis label is
// given, and if panels that are to share an axis differ in its scale.
func Grid(rows, cols int, o GridOptions, figs ...*Figure) (*Figure, error) {
	if rows < 1 || cols < 1 || len(figs) > rows*cols {
		return nil, fmt.Errorf("viz: %d figures in a grid of %d × %d", len(figs), rows, cols)
	}
	g := &Figure{Frame: o.Frame, rows: rows, cols: cols, panels: make([]*panel, rows*cols)}
	g.shared = o.XLabel != "" || o.YLabel != ""
	if g.Height == 0 {
		g.Height = 90 + 230*float64(rows)
	}
	if err := g.complete(g.shared); err != nil {
		return nil, err
	}
	var xs, ys []*plot.Axis
	for i, f := range figs {
		if f == nil {
			continue
		}
		if len(f.panels) != 1 {
			return nil, fmt.Errorf("viz: figure %d of a grid has %d panels itself", i, len(f.panels))
		}
		p := *f.panels[0]
		if f.Title != "" {
			p.title = f.Title
			p.plot.Add(headPlot(f.Title))
		}
		xs, ys = append(xs, &p.plot.X), append(ys, &p.plot.Y)
		p.xTicks = fewer(p.xTicks, cols, g.Width/float64(cols))
		p.yTicks = fewer(p.yTicks, 2, g.Height/float64(rows))
		if g.shared {
			p.xLabel, p.yLabel = "", ""
		}
		g.panels[i] = &p
	}
	if len(xs) == 0 {
		return nil, fmt.Errorf("%w: a grid without figures", errNoData)
	}
	for _, s := range []struct {
		share bool
		axes  []*plot.Axis
		name  string
	}{{o.ShareX, xs, "horizontal"}, {o.ShareY, ys, "vertical"}} {
		if s.share {
			if err := shareRange(s.axes, s.name); err != nil {
				return nil, err
			}
		}
	}
	g.shareX, g.shareY = o.ShareX, o.ShareY
	for i, p := range g.panels {
		if p != nil {
			below := i + cols
			p.xUnnamed = o.ShareX && below < len(g.panels) && g.panels[below] != nil
			p.yUnnamed = o.ShareY && i%cols > 0 && g.panels[i-1] != nil
		}
	}
	return g, nil
}

func shareRange(axes []*plot.Axis, name string) error {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, a := range axes {
		if a.Scale != axes[0].Scale {
			return fmt.Errorf("viz: panels share a %s axis that is linear in one and logarithmic in another", name)
		}
		lo, hi = math.Min(lo, a.Min), math.Max(hi, a.Max)
	}
	for _, a := range axes {
		a.Min, a.Max = lo, hi
	}
	return nil
}

// fewer returns ticks for an axis of the given length in pixels that shares its space with n − 1 others.
func fewer(t ticks, n int, pixels float64) ticks {
	if pixels < 180 {
		return t.fewer(n, 2)
	}
	return t.fewer(n, 3)
}

// place tells where a panel was drawn: the rectangle of its data, in points from the bottom left of the figure.
type place struct {
	panel int
	data  vg.Rectangle
}

// draw draws the whole figure on c, from the top: title, legend, panels.
func (f *Figure) draw(c draw.Canvas, a arrangement) []place {
	a.setTicks()
	c.SetColor(style.background)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, style.margin, -style.margin-4, style.margin, -style.margin)
	c.Max.Y -= f.drawHead(c)
	if len(f.panels) == 1 {
		_, width := f.panels[0].endingLines(a.narrow)
		c.Max.X -= width
	}

	// Axis labels are drawn here rather than by gonum/plot, which would reserve space above a log axis for a label that it
	// centres as if the axis were linear.
	label := style.text(style.labelSize, style.ink, false)
	width, height := c.Max.X-c.Min.X, c.Max.Y-c.Min.Y
	if !f.shared {
		// The rest is for the other axes. A label may extend beyond its axis.
		width, height = width/vg.Length(a.cols)-30, height/vg.Length(a.rows)-12
	}
	lines := func(s string, limit vg.Length) []string { return wrap(label, s, limit) }
	xLines, yLines := len(lines(f.XLabel, width)), len(lines(f.YLabel, height))
	if !f.shared {
		for _, p := range f.drawn() {
			xLines, yLines = max(xLines, len(lines(p.xLabel, width))), max(yLines, len(lines(p.yLabel, height)))
		}
	}
	below, left := vg.Length(xLines)*label.Height("x")+4, vg.Length(yLines)*label.Height("x")+4
	tiles := draw.Tiles{Rows: a.rows, Cols: a.cols, PadX: 12, PadY: 8}
	if f.shared {
		c = draw.Crop(c, left, 0, below, 0)
	} else {
		tiles.PadLeft, tiles.PadBottom = left, below
		tiles.PadX, tiles.PadY = tiles.PadX+left, tiles.PadY+below
	}
	rows := make([][]*plot.Plot, a.rows)
	for i := range rows {
		for _, p := range a.places[i*a.cols : (i+1)*a.cols] {
			if p == nil {
				rows[i] = append(rows[i], nil)
				continue
			}
			rows[i] = append(rows[i], p.plot)
		}
	}
	canvases := plot.Align(rows, tiles, c)
	var places []place
	var outer, inner vg.Rectangle // all panels, with ticks and without
	for i, p := range a.places {
		if p == nil {
			continue
		}
		pc := canvases[i/a.cols][i%a.cols]
		at := place{slices.Index(f.panels, p), p.plot.DataCanvas(pc).Rectangle}
		if s, ok := under(c).(*svgCanvas); ok {
			s.panel = at.panel
		}
		p.plot.Draw(pc)
		if len(p.ends) > 0 {
			if s, ok := under(c).(*svgCanvas); ok {
				s.panel = -1 // these names stay while a reader zooms
			}
			p.drawEnds(c, at.data, a.narrow)
		}
		places = append(places, at)
		drawLabels(c, label, lines(p.xLabel, width), lines(p.yLabel, height), pc.Rectangle, at.data)
		if outer == (vg.Rectangle{}) {
			outer, inner = pc.Rectangle, at.data
		}
		outer, inner = union(outer, pc.Rectangle), union(inner, at.data)
	}
	if f.shared {
		drawLabels(c, label, lines(f.XLabel, width), lines(f.YLabel, height), outer, inner)
	}
	return places
}

// drawHead writes title and legend at the top of c and returns their height.
func (f *Figure) drawHead(c draw.Canvas) vg.Length {
	title := style.text(style.titleSize, style.ink, true)
	var h vg.Length
	marked(c, "title", func() { h = writeLines(c, title, wrap(title, f.Title, c.Max.X-c.Min.X)) })
	c.Max.Y -= h
	if n := f.drawLegend(c); n > 0 {
		return h + n + style.gap
	}
	return h + 2
}

func union(a, b vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.Min.X, b.Min.X), Y: min(a.Min.Y, b.Min.Y)},
		Max: vg.Point{X: max(a.Max.X, b.Max.X), Y: max(a.Max.Y, b.Max.Y)},
	}
}

// middle returns the position of the middle of a y label: the middle of the axis. A label longer than the axis ends at the top of
// the axis and extends below it, beside the tick labels of x, rather than into the legend above.
func middle(axis vg.Rectangle, length vg.Length) vg.Length {
	return min((axis.Min.Y+axis.Max.Y)/2, axis.Max.Y-length/2)
}

// drawLabels writes axis labels, which may have several lines, outside the outer rectangle and along the inner one.
func drawLabels(c draw.Canvas, sty plottext.Style, x, y []string, outer, inner vg.Rectangle) {
	descent, line := sty.FontExtents().Descent, sty.Height("x")
	sty.XAlign = draw.XCenter
	sty.YAlign = draw.YTop
	for i, s := range x {
		c.FillText(sty, vg.Point{X: (inner.Min.X + inner.Max.X) / 2, Y: outer.Min.Y - 4 + descent - vg.Length(i)*line}, s)
	}
	sty.YAlign = draw.YBottom
	sty.Rotation = math.Pi / 2
	for i, s := range y {
		c.FillText(sty, vg.Point{X: outer.Min.X - 4 - descent - vg.Length(len(y)-1-i)*line, Y: middle(inner, sty.Width(s))}, s)
	}
}

// writeLines writes lines downwards from the top left of c and returns their height.
func writeLines(c draw.Canvas, sty plottext.Style, lines []string) vg.Length {
	sty.YAlign = draw.YTop
	var h vg.Length
	for _, l := range lines {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y - h + sty.FontExtents().Descent}, l)
		h += sty.Height(l) + 2
	}
	return h
}

// drawLegend writes the legend in rows at the top of c, above the data, and returns its height.
func (f *Figure) drawLegend(c draw.Canvas) vg.Length {
	const space, between = 5, 16
	sty := style.text(style.tickSize, style.ink, false)
	ext := sty.FontExtents()
	row := sty.Height("x") + 3
	x, y := c.Min.X, c.Max.Y-row // y is the bottom of the row
	entries := f.legend()
	for _, e := range entries {
		sample := vg.Length(22)
		if e.kind == swatchGlyph {
			sample = 9
		}
		w := sample + space + sty.Width(e.name)
		if x > c.Min.X && x+w > c.Max.X {
			x, y = c.Min.X, y-row
		}
		mid := y + ext.Descent + ext.Ascent*0.36
		switch e.kind {
		case swatchLine:
			c.StrokeLine2(e.look, x, mid, x+sample, mid)
		case swatchDots:
			fillDots(&c, []vg.Point{{X: x + 4, Y: mid - 1.5}, {X: x + 11, Y: mid + 2}, {X: x + 18, Y: mid - 0.5}}, max(e.look.Width, 1.4),
				e.look)
		case swatchBand:
			c.FillPolygon(e.look.Color, rectangle(x, mid-4, x+sample, mid+4))
		case swatchGlyph:
			e.glyph.draw(&c, vg.Point{X: x + sample/2, Y: mid})
		case swatchBox:
			c.FillPolygon(withAlpha(style.muted, style.overlaid), rectangle(x, mid-4, x+sample, mid+4))
			c.StrokeLine2(draw.LineStyle{Color: e.look.Color, Width: 2.2}, x, mid, x+sample, mid)
		}
		sty.YAlign = draw.YBottom
		c.FillText(sty, vg.Point{X: x + sample + space, Y: y + ext.Descent}, e.name)
		x += w + between
	}
	if len(entries) == 0 {
		return 0
	}
	return c.Max.Y - y
}
