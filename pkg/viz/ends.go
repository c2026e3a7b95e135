package viz

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ending is the name of a line or band, written at the right of the axes beside the place where it ends.
type ending struct {
	entry
	at float64 // place along the vertical axis
}

const (
	endingSample = 11  // length of a sample of the look, in points
	endingSpace  = 4   // space before and after the sample, in points
	endingWidth  = 112 // largest width of a line of a name, in points
	endingNarrow = 52  // largest width of a line of a name on a phone, in points
)

// nameEnds removes the names of lines and bands that end at the last x from the legend, since they are written there, and the
// name of dots, which is written above the axes.
func (b *builder) nameEnds(ends []ending) {
	for _, e := range ends {
		b.legend = slices.DeleteFunc(b.legend, func(o entry) bool { return o.name == e.name && o.kind == e.kind })
	}
	b.ends = ends
	if i := slices.IndexFunc(b.legend, func(e entry) bool { return e.kind == swatchDots }); i >= 0 {
		b.above = b.legend[i]
		b.legend = slices.Delete(b.legend, i, i+1)
		b.plot.Add(spacePlot{})
	}
}

// spacePlot draws nothing, and reserves the height of a name above the axes.
type spacePlot struct{}

func (spacePlot) Plot(draw.Canvas, *plot.Plot) {}
func (spacePlot) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return spanPlot{Span{Label: "x"}}.GlyphBoxes(nil)
}

// lastValue returns the last of the values along x that can be drawn, and whether the last x has one.
func lastValue(x, values []float64) (v float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	v = values[len(values)-1]
	return v, drawable(v, false) && drawable(x[len(x)-1], false)
}

// endingLines returns the lines of the names at the right, and the width that they take with their samples.
func (p *panel) endingLines(narrow bool) (lines [][]string, width vg.Length) {
	sty, limit := style.text(style.tickSize, style.ink, false), vg.Length(endingWidth)
	if narrow {
		limit = endingNarrow
	}
	for _, e := range p.ends {
		of := wrap(sty, e.name, limit)
		lines = append(lines, of)
		for _, l := range of {
			width = max(width, endingSample+2*endingSpace+sty.Width(l))
		}
	}
	return lines, width
}

// drawEnds writes the names of a panel at the right of its axes, each as near as the others let it to where its line or band
// ends, and the name of its dots above the axes.
func (p *panel) drawEnds(c draw.Canvas, data vg.Rectangle, narrow bool) {
	sty := style.text(style.tickSize, style.ink, false)
	row := sty.Height("x") + 1
	lines, _ := p.endingLines(narrow)
	if p.above.name != "" {
		sty := style.text(style.noteSize, style.muted, false)
		p.above.sample(&c, data.Min.X, data.Max.Y+4+sty.FontExtents().Ascent*0.36)
		c.FillText(sty, vg.Point{X: data.Min.X + endingSample + endingSpace, Y: data.Max.Y + 4}, p.above.name)
	}
	order := make([]int, len(p.ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.ends[j].at, p.ends[i].at) })
	var tops, heights []vg.Length // tops descend
	for _, i := range order {
		h := vg.Length(len(lines[i])) * row
		share := (p.ends[i].at - p.plot.Y.Min) / (p.plot.Y.Max - p.plot.Y.Min)
		middle := data.Min.Y + vg.Length(math.Max(0, math.Min(1, share)))*(data.Max.Y-data.Min.Y)
		tops, heights = append(tops, middle+row/2), append(heights, h) // the first line is beside the end
	}
	apart(tops, heights, data.Min.Y-row/2, data.Max.Y+row/2)
	x, ext := data.Max.X+endingSpace, sty.FontExtents()
	sty.YAlign = draw.YBottom
	for k, i := range order {
		for l, line := range lines[i] {
			y := tops[k] - vg.Length(l+1)*row
			if l == 0 {
				p.ends[i].sample(&c, x, y+ext.Descent+ext.Ascent*0.36)
			}
			c.FillText(sty, vg.Point{X: x + endingSample + endingSpace, Y: y + ext.Descent}, line)
		}
	}
}

// apart moves boxes, given from the top down by their tops, as little as possible so that none covers another and, if there is
// space, none is below the bottom or above the top.
func apart(tops, heights []vg.Length, bottom, top vg.Length) {
	for range 100 {
		moved := false
		for k := 1; k < len(tops); k++ {
			if over := tops[k] - (tops[k-1] - heights[k-1]); over > 0.01 {
				tops[k-1], tops[k], moved = tops[k-1]+over/2, tops[k]-over/2, true
			}
		}
		if !moved {
			break
		}
	}
	for k := range tops {
		limit := top
		if k > 0 {
			limit = tops[k-1] - heights[k-1]
		}
		tops[k] = min(tops[k], limit)
	}
	floor := bottom
	for k := len(tops) - 1; k >= 0; k-- {
		tops[k] = max(tops[k], floor+heights[k])
		floor = tops[k]
	}
}

// sample draws the look of an entry from x on, at the height mid.
func (e entry) sample(c *draw.Canvas, x, mid vg.Length) {
	to := x + endingSample
	switch e.kind {
	case swatchDots:
		fillDots(c, []vg.Point{{X: x + 2, Y: mid - 1.5}, {X: x + 9, Y: mid + 1}}, max(e.look.Width, 1.4), e.look)
	case swatchBand:
		c.FillPolygon(e.look.Color, rectangle(x, mid-4, to, mid+4))
	default:
		c.StrokeLine2(e.look, x, mid, to, mid)
	}
}
