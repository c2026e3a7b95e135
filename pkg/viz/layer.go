package viz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/internal/finite"
)

// layerKind says what shape a layer has, which the script of a page needs when a reader zooms.
type layerKind string

const (
	layerLine   layerKind = "line"
	layerDots   layerKind = "dots"
	layerBand   layerKind = "band"
	layerRule   layerKind = "rule"   // y alone
	layerSpan   layerKind = "span"   // lo to hi along x
	layerPoints layerKind = "points" // markers with bars and labels
	layerBars   layerKind = "bars"
	layerStems  layerKind = "stems"
	layerStrip  layerKind = "strip" // y alone: the runs of one method
	layerLevels layerKind = "levels"
)

// layer is what a figure draws, in the units of its axes: for the script that zooms, for the download as csv, and for the
// sentences that say what is shown. Its slices are the caller's.
type layer struct {
	kind   layerKind
	name   string
	colour color.Color
	x, y   []float64
	lo     []float64 // of a band or a span
	hi     []float64
	xBars  [][2]float64 // of points
	yBars  [][2]float64
	label  []string
	width  float64 // of a bar, in the units of x
	of     int     // how many there are, where only some are kept

	logX, logY bool // the axes
}

// maxRows bounds the rows of a layer that a page carries: observations, a posterior and its
// bands of so many rows take 640 kB, less than half of what a page may weigh; see TestFigureDataStaySmall.
const maxRows = 20000

// thin keeps at most maxRows rows, evenly spread (see [builder.observations]).
func (l layer) thin() layer {
	n := max(len(l.x), len(l.y))
	if n <= maxRows || l.kind == layerPoints {
		return l
	}
	pick := func(v []float64) []float64 {
		if len(v) != n {
			return v
		}
		var kept []float64
		for i, x := range v {
			if _, u := math.Modf(float64(i) * math.Phi); u < maxRows/float64(n) {
				kept = append(kept, x)
			}
		}
		return kept
	}
	l.of = n
	l.x, l.y, l.lo, l.hi = pick(l.x), pick(l.y), pick(l.lo), pick(l.hi)
	return l
}

// decimals is how many are written of values on an axis from lo to hi, so that a millionth of it shows; -1 on a log axis, where
// seven digits of each value are written.
func decimals(lo, hi float64, log bool) int {
	if log || !(hi > lo) {
		return -1
	}
	d := 6 - math.Floor(math.Log10(hi-lo))
	if d < 0 || d > 12 {
		return -1
	}
	return int(d)
}

// appendNumbers writes a JSON array; null is a gap.
func appendNumbers(b []byte, values []float64, decimals int) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case !finite.Is(v):
			b = append(b, "null"...)
		case decimals < 0:
			b = strconv.AppendFloat(b, v, 'g', 7, 64)
		default:
			b = strconv.AppendFloat(b, v, 'f', decimals, 64)
			if decimals > 0 {
				b = bytes.TrimRight(b, "0")
				b = bytes.TrimSuffix(b, []byte{'.'})
			}
		}
	}
	return append(b, ']')
}

// sameSlice reports whether two slices are one, which a page then holds once.
func sameSlice(a, b []float64) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// data encodes what the figure draws: JSON, compressed, in base 64, for [Script].
func (f *Figure) data() (string, error) {
	var b []byte
	b = append(b, '[')
	for i, p := range f.panels {
		if i > 0 {
			b = append(b, ',')
		}
		if p.plot == nil {
			b = append(b, "null"...)
			continue
		}
		b = p.appendJSON(b, f)
	}
	b = append(b, ']')
	if !json.Valid(b) {
		return "", fmt.Errorf("viz: the data of the figure %q are not JSON", f.Title)
	}
	return packed(b)
}

func appendField(b []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil { // a float that is not finite
		text = []byte("null")
	}
	if n := len(b); b[n-1] != '{' {
		b = append(b, ',')
	}
	b = strconv.AppendQuote(b, name)
	b = append(b, ':')
	return append(b, text...)
}

func (p *panel) appendJSON(b []byte, f *Figure) []byte {
	xLabel, yLabel := p.xLabel, p.yLabel
	if f.shared {
		xLabel, yLabel = f.XLabel, f.YLabel
	}
	b = append(b, '{')
	b = appendField(b, "title", p.title)
	b = appendField(b, "xLabel", xLabel)
	b = appendField(b, "yLabel", yLabel)
	b = appendField(b, "xLog", p.logX)
	b = appendField(b, "yLog", p.logY)
	if t, ok := p.xTicks.(dateTicks); ok {
		b = appendField(b, "dates", t.Calendar)
	}
	b = appendField(b, "range", []float64{p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min, p.plot.Y.Max})
	b = appendField(b, "zoom", p.zoomable())
	b = appendField(b, "shareX", f.shareX)
	b = appendField(b, "shareY", f.shareY)
	b = append(b, `,"layers":[`...)
	dx := decimals(p.plot.X.Min, p.plot.X.Max, p.logX)
	dy := decimals(p.plot.Y.Min, p.plot.Y.Max, p.logY)
	layers := make([]layer, len(p.layers))
	for i, l := range p.layers {
		// Thinned slices are new ones; a slice that was seen is thinned once, so that it is still recognised.
		layers[i] = l.thin()
		for j := range i {
			if sameSlice(p.layers[j].x, l.x) {
				layers[i].x = layers[j].x
			}
			if sameSlice(p.layers[j].y, l.y) {
				layers[i].y = layers[j].y
			}
		}
	}
	for i, l := range layers {
		if i > 0 {
			b = append(b, ',')
		}
		b = l.appendJSON(b, layers[:i], dx, dy)
	}
	return append(b, "]}"...)
}

func (l *layer) appendJSON(b []byte, before []layer, dx, dy int) []byte {
	b = append(b, '{')
	b = appendField(b, "kind", l.kind)
	b = appendField(b, "name", l.name)
	b = appendField(b, "colour", hex(color.NRGBAModel.Convert(l.colour).(color.NRGBA)))
	if l.width > 0 {
		b = appendField(b, "width", l.width)
	}
	if l.of > 0 {
		b = appendField(b, "of", l.of)
	}
	put := func(name string, v []float64, decimals int, of func(*layer) []float64) {
		if v == nil {
			return
		}
		b = append(b, `,"`+name+`":`...)
		for i := range before {
			if sameSlice(of(&before[i]), v) {
				b = strconv.AppendInt(b, int64(i), 10) // as in the layer i
				return
			}
		}
		b = appendNumbers(b, v, decimals)
	}
	put("x", l.x, dx, func(l *layer) []float64 { return l.x })
	put("y", l.y, dy, func(l *layer) []float64 { return l.y })
	lo := dy
	if l.kind == layerSpan {
		lo = dx
	}
	put("lo", l.lo, lo, func(*layer) []float64 { return nil })
	put("hi", l.hi, lo, func(*layer) []float64 { return nil })
	if l.kind == layerPoints {
		b = appendField(b, "labels", l.label)
		bars := func(name string, v [][2]float64, decimals int) {
			flat := make([]float64, 0, 2*len(v))
			for _, e := range v {
				if !(e[0] < e[1]) {
					e = [2]float64{math.NaN(), math.NaN()}
				}
				flat = append(flat, e[0], e[1])
			}
			b = append(b, `,"`+name+`":`...)
			b = appendNumbers(b, flat, decimals)
		}
		bars("xBars", l.xBars, dx)
		bars("yBars", l.yBars, dy)
	}
	return append(b, '}')
}

// zoomable reports whether the script knows the shapes of all that the panel shows: not of what a caller added by [Figure.Plot], nor
// of strips, whose horizontal axis has names, nor of level lines.
func (p *panel) zoomable() bool {
	return !p.custom && len(p.layers) > 0 && !slices.ContainsFunc(p.layers, func(l layer) bool { return l.kind == layerStrip || l.kind == layerLevels })
}
