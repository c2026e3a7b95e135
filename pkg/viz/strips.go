package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Strip is one method's values, such as one for each seed.
type Strip struct {
	Name   string // written below the strip, or in the legend if there is a Group
	Group  string // consecutive strips of one group stand together, above this name
	Values []float64
	Marks  []float64 // values for comparison, such as a published one
	Slot   int       // colour to use: 1, 2, …; zero means the position, or the place of the name if there is a Group
}

// groupGap is the gap between groups, in widths of a strip.
const groupGap = 0.6

// StripsOptions describe a figure of strips. Only the axis labels and one drawable value are required.
type StripsOptions struct {
	Frame
	LogY   bool
	Strips []Strip
	Rules  []Rule

	// Each names a dot in the legend; default "one run".
	Each string

	// YRange fixes the vertical axis from the first to the second value; a value beyond is drawn as an arrow head at the edge.
	// The zero value fits the axis to the data without values that would flatten the rest; the farthest of these are written
	// beside their arrow heads.
	YRange [2]float64
}

// Strips draws distributions side by side: every value as a dot, a box from the lower to the upper quartile ([SpreadOf]), and a
// line at the median. Dots that would overlap are moved sideways. Values that cannot be drawn, such as those from failed runs,
// are counted above their strip.
//
// It returns an error if an axis label is missing, the range is empty or not positive on a log axis, or nothing is drawable.
func Strips(o StripsOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, false, o.LogY)
	if err != nil {
		return nil, err
	}
	b.rules(o.Rules)
	var s stripsPlot
	var below nameTicks
	var methods []string // names of strips in groups, each once
	at, marks := 0.0, false
	for i, st := range o.Strips {
		st.Name, st.Group = clean(st.Name), clean(st.Group)
		at++
		name, method := st.Name, i
		switch {
		case st.Group == "":
			below.add(st.Name, at)
		case i > 0 && st.Group == clean(o.Strips[i-1].Group):
			below.widen(at)
		default:
			if i > 0 {
				at += groupGap
			}
			below.add(st.Group, at)
		}
		if st.Group != "" {
			name = st.Group + ", " + st.Name
			if method = slices.Index(methods, st.Name); method < 0 {
				method, methods = len(methods), append(methods, st.Name)
				look := glyph{Disc, style.colour(slotOf(st.Slot, method)), style.glyphR, false}
				b.legend = append(b.legend, entry{name: st.Name, glyph: look, kind: swatchGlyph})
			}
		}
		one := strip{x: at, slot: slotOf(st.Slot, method), sum: SpreadOf(st.Values)}
		for _, v := range st.Values {
			if drawable(v, o.LogY) {
				one.values = append(one.values, v)
				b.drawn = true
				b.reach(at, v)
			}
		}
		one.missing = len(st.Values) - len(one.values)
		for _, m := range st.Marks {
			if drawable(m, o.LogY) {
				one.marks = append(one.marks, m)
				b.drawn, marks = true, true
				b.reach(at, m)
			}
		}
		slices.Sort(one.values)
		b.layer(layer{kind: layerStrip, name: name, colour: style.colour(one.slot), y: one.values})
		s.strips = append(s.strips, one)
	}
	each := draw.LineStyle{Color: withAlpha(style.muted, style.heldAlpha), Width: style.markerR}
	b.legend = append(b.legend,
		entry{name: clean(cmp.Or(o.Each, "one run")), look: each, kind: swatchDots},
		entry{name: "median and quartiles", look: draw.LineStyle{Color: style.muted}, kind: swatchBox})
	if marks {
		b.legend = append(b.legend, entry{name: "published", glyph: markGlyph, kind: swatchGlyph})
	}
	if b.yRange = o.YRange; b.yRange == [2]float64{} {
		b.yRange = s.inside(o.LogY)
		s.farOut = b.yRange != [2]float64{}
	}
	b.plot.Add(s)
	f, err := b.figure(0)
	if err != nil {
		return nil, err
	}
	b.plot.X.Min, b.plot.X.Max = 0.5, at+0.5
	below.width = vg.Length(b.frame.Width * pxToPt)
	f.panels[0].xTicks = below
	b.plot.X.Tick.Length = 0
	b.plot.X.Tick.Label.Handler = plot.DefaultTextHandler // it supports several lines
	b.plot.X.Tick.Label.Color = style.ink
	return f, nil
}

// Values farther than fence quartile ranges from the box are far out (Tukey's outer fences). They leave the axis if it is more
// than flattened times as long with them.
const fence, flattened = 3, 1.5

// inside returns the range of an axis that values far out do not flatten, zero if there are none.
func (s stripsPlot) inside(logY bool) [2]float64 {
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if logY {
		to, from = math.Log, math.Exp
	}
	lo, hi, least, most := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, st := range s.strips {
		for _, v := range st.marks {
			lo, hi = min(lo, to(v)), max(hi, to(v))
		}
		if len(st.values) == 0 {
			continue
		}
		q1, q3 := to(numeric.SortedQuantile(st.values, 0.25)), to(numeric.SortedQuantile(st.values, 0.75))
		for _, v := range st.values {
			least, most = min(least, to(v)), max(most, to(v))
			if u := to(v); u >= q1-fence*(q3-q1) && u <= q3+fence*(q3-q1) {
				lo, hi = min(lo, u), max(hi, u)
			}
		}
	}
	if !(hi > lo) || max(hi, most)-min(lo, least) <= flattened*(hi-lo) {
		return [2]float64{}
	}
	pad := 0.05 * (hi - lo)
	return [2]float64{from(lo - pad), from(hi + pad)}
}

var markGlyph = glyph{Diamond, style.ink, style.glyphR, true}

// strip is a Strip with its drawable values, sorted.
type strip struct {
	x             float64
	slot          int
	sum           Spread // summary of all finite values
	values, marks []float64
	missing       int
}

type stripsPlot struct {
	strips []strip
	farOut bool // some values are beyond the axis, which does not fit them
}

func (s stripsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	width := trX(1.5) - trX(0.5)
	half := min(0.32*width, 34) // half width of the box and of the cloud of dots
	cut := func(v float64) vg.Length { return trY(math.Max(plt.Y.Min, math.Min(plt.Y.Max, v))) }
	for _, st := range s.strips {
		x, col := trX(st.x), style.colour(st.slot)
		dot := glyph{Disc, col, style.markerR, false}
		if st.sum.N > 0 {
			box := rectangle(x-half, cut(st.sum.Q1), x+half, cut(st.sum.Q3))
			c.FillPolygon(withAlpha(col, style.overlaid), box)
			c.StrokeLines(draw.LineStyle{Color: withAlpha(col, 150), Width: style.axisWidth}, append(box, box[0]))
		}
		var at []vg.Point
		for _, v := range st.values {
			if dy := beyond(v, &plt.Y); dy != 0 {
				dot.drawEdge(&c, vg.Point{X: x, Y: cut(v)}, dy)
				continue
			}
			at = append(at, vg.Point{X: x, Y: trY(v)})
		}
		if st.sum.N > 0 && beyond(st.sum.Median, &plt.Y) == 0 {
			m := trY(st.sum.Median)
			c.StrokeLine2(draw.LineStyle{Color: darker(col), Width: 2.2}, x-half, m, x+half, m)
		}
		swarm(at, 2*dot.radius, half-dot.radius)
		if len(at) > 0 {
			fillDots(&c, at, dot.radius, draw.LineStyle{Color: withAlpha(col, style.heldAlpha)})
		}
		if s.farOut {
			st.farthest(c, &plt.Y, x+dot.radius+2, 0.7*width, cut)
		}
		for _, v := range st.marks {
			p := vg.Point{X: x + half + markGlyph.size() + 1, Y: cut(v)}
			if dy := beyond(v, &plt.Y); dy != 0 {
				markGlyph.drawEdge(&c, p, dy)
			} else {
				markGlyph.draw(&c, p)
			}
		}
		if st.missing > 0 {
			sty := style.text(style.noteSize, darker(col), false)
			sty.XAlign = draw.XCenter
			c.FillText(sty, vg.Point{X: x, Y: c.Max.Y + 2 + sty.FontExtents().Descent}, st.note())
		}
	}
}

// farthest writes the farthest value on each side of the axis beside its arrow head, if it fits before the next strip.
func (s strip) farthest(c draw.Canvas, axis *plot.Axis, x, limit vg.Length, y func(float64) vg.Length) {
	if len(s.values) == 0 {
		return
	}
	for _, v := range []float64{s.values[0], s.values[len(s.values)-1]} {
		if beyond(v, axis) == 0 {
			continue
		}
		sty := style.text(style.noteSize, style.muted, false)
		sty.YAlign = draw.YCenter
		if said := auto(v); sty.Width(said) < limit {
			c.FillText(sty, vg.Point{X: x, Y: y(v)}, said)
		}
	}
}

func (s strip) note() string { return fmt.Sprintf("+ %d not drawn", s.missing) }

// GlyphBoxes reserves the height of the counts above the axes.
func (s stripsPlot) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	for _, st := range s.strips {
		if st.missing > 0 {
			return spaceAbove(style.text(style.noteSize, style.muted, false).Height(st.note()) + 3)
		}
	}
	return nil
}

// swarm moves dots, sorted by height, sideways by at most half, until none is nearer than gap to another; a dot without such a
// place stays. Sides alternate, so that the cloud is as wide as the values are dense.
func swarm(at []vg.Point, gap, half vg.Length) {
	for i := range at {
		x := at[i].X
		for step := range int(2*half/gap) + 1 {
			shift := vg.Length((step+1)/2) * gap
			if step%2 == 1 {
				shift = -shift
			}
			free := true
			for j := i - 1; j >= 0 && at[i].Y-at[j].Y < gap; j-- {
				d := vg.Point{X: x + shift - at[j].X, Y: at[i].Y - at[j].Y}
				if d.X*d.X+d.Y*d.Y < 0.99*gap*gap {
					free = false
					break
				}
			}
			if free {
				at[i].X = x + shift
				break
			}
		}
	}
}
