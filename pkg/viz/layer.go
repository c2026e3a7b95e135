package viz

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// layerKind is the shape of a layer; the script of a page needs it when a reader zooms.
type layerKind string

const (
	layerLine   layerKind = "line"
	layerDots   layerKind = "dots"
	layerBand   layerKind = "band"
	layerRule   layerKind = "rule"   // only y
	layerSpan   layerKind = "span"   // goes from lo to hi along x
	layerPoints layerKind = "points" // markers with bars and labels
	layerBars   layerKind = "bars"
	layerStems  layerKind = "stems"
	layerStrip  layerKind = "strip"  // only y: the runs of one method
	layerErrors layerKind = "errors" // vertical bars from lo to hi
)

// layer holds what a figure draws, in the units of its axes, for the script that zooms, for the csv download, and for the
// description in words. Its slices belong to the caller.
type layer struct {
	kind   layerKind
	name   string
	colour color.Color
	x, y   []float64
	lo     []float64 // lower ends of a band or of bars; the beginning of a span
	hi     []float64
	xBars  [][2]float64 // ends of the bars through points
	yBars  [][2]float64
	label  []string
	width  float64 // width of a bar, in the unit of x
	of     int     // number of rows before thinning, if only some are kept

	logX, logY bool     // an axis is logarithmic
	dates      Calendar // maps x to dates; nil for numbers
}

// maxRows bounds the rows of a layer in a page: observations, a posterior and its bands with so many rows take 640 kB, less than
// half of what a page may weigh (see TestFigureDataStaySmall).
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

// decimals returns how many decimals of values are written for an axis from lo to hi, so that a millionth of it is visible; −1
// for a log axis, where each value has seven digits.
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

// numbers writes a JSON array; null is a gap.
func numbers(values []float64, decimals int) json.RawMessage {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case !numeric.IsFinite(v):
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

// sameSlice reports whether two slices are identical; a page then holds them once.
func sameSlice(a, b []float64) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// panelData and layerData are the parts of a figure that [Script] reads.
type panelData struct {
	Title  string      `json:"title"`
	XLabel string      `json:"xLabel"`
	YLabel string      `json:"yLabel"`
	XLog   bool        `json:"xLog"`
	YLog   bool        `json:"yLog"`
	Dates  Calendar    `json:"dates,omitempty"`
	Range  [4]float64  `json:"range"`
	Zoom   bool        `json:"zoom"`
	ShareX bool        `json:"shareX"`
	ShareY bool        `json:"shareY"`
	Layers []layerData `json:"layers"`
}

type layerData struct {
	Kind   layerKind `json:"kind"`
	Name   string    `json:"name"`
	Colour string    `json:"colour"`
	Width  float64   `json:"width,omitempty"`
	Of     int       `json:"of,omitempty"`

	// These are arrays of numbers. X and Y may instead be the index of a layer below with the same numbers.
	X      json.RawMessage `json:"x,omitempty"`
	Y      json.RawMessage `json:"y,omitempty"`
	Lo     json.RawMessage `json:"lo,omitempty"`
	Hi     json.RawMessage `json:"hi,omitempty"`
	Labels []string        `json:"labels,omitempty"`
	XBars  json.RawMessage `json:"xBars,omitempty"`
	YBars  json.RawMessage `json:"yBars,omitempty"`
}

// data encodes what the figure draws: JSON, compressed, in base 64, for [Script].
func (f *Figure) data() (string, error) {
	panels := make([]*panelData, len(f.panels)) // nil is an empty place
	for i, p := range f.panels {
		if p != nil {
			panels[i] = p.data(f)
		}
	}
	text, err := json.Marshal(panels)
	if err != nil {
		return "", fmt.Errorf("viz: the data of the figure %q: %w", f.Title, err)
	}
	return packed(text)
}

func (p *panel) data(f *Figure) *panelData {
	x, y := p.plot.X, p.plot.Y
	d := &panelData{
		Title: p.title, XLabel: p.xLabel, YLabel: p.yLabel, XLog: p.logX, YLog: p.logY,
		Range: [4]float64{x.Min, x.Max, y.Min, y.Max}, Zoom: p.zoomable(), ShareX: f.shareX, ShareY: f.shareY, Layers: []layerData{},
	}
	if f.shared {
		d.XLabel, d.YLabel = f.XLabel, f.YLabel
	}
	if t, ok := p.xTicks.(dateTicks); ok {
		d.Dates = t.Calendar
	}
	dx, dy := decimals(x.Min, x.Max, p.logX), decimals(y.Min, y.Max, p.logY)
	layers := make([]layer, len(p.layers))
	for i, l := range p.layers {
		// Thinning makes new slices. The same slice is thinned only once, so that sameSlice still recognises it.
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
	if dx >= 0 {
		dx = p.exactly(layers, dx)
	}
	for i, l := range layers {
		d.Layers = append(d.Layers, l.data(layers[:i], dx, dy))
	}
	return d
}

// exactly returns the decimals of x, at least least, that keep its instants: a date to a tenth of a millisecond, and a number to
// a ten thousandth of the least distance between neighbours. A reader who looks up a point of the csv then finds the same.
func (p *panel) exactly(layers []layer, least int) int {
	const most, share, moment = 12, 1e-4, 1e-4
	apart := math.Inf(1)
	if t, ok := p.xTicks.(dateTicks); ok {
		lo, hi := p.plot.X.Min, p.plot.X.Max
		if seconds := t.Time(hi).Sub(t.Time(lo)).Seconds(); seconds > 0 && t.Time(hi).Year()-t.Time(lo).Year() < 250 {
			apart = moment / share * (hi - lo) / seconds
		}
	}
	for _, l := range layers {
		if l.kind != layerLine && l.kind != layerBand && l.kind != layerDots {
			continue
		}
		for i := 1; i < len(l.x); i++ {
			if d := l.x[i] - l.x[i-1]; d > 0 {
				apart = min(apart, d)
			}
		}
	}
	if math.IsInf(apart, 1) {
		return least
	}
	return max(least, min(most, int(math.Ceil(-math.Log10(share*apart)))))
}

func (l *layer) data(before []layer, dx, dy int) layerData {
	d := layerData{Kind: l.kind, Name: l.name, Colour: hex(color.NRGBAModel.Convert(l.colour).(color.NRGBA)), Width: l.width,
		Of: l.of}
	put := func(v []float64, decimals int, of func(layer) []float64) json.RawMessage {
		if v == nil {
			return nil
		}
		if i := slices.IndexFunc(before, func(o layer) bool { return sameSlice(of(o), v) }); i >= 0 {
			return strconv.AppendInt(nil, int64(i), 10)
		}
		return numbers(v, decimals)
	}
	d.X = put(l.x, dx, func(o layer) []float64 { return o.x })
	d.Y = put(l.y, dy, func(o layer) []float64 { return o.y })
	along, none := dy, func(layer) []float64 { return nil }
	if l.kind == layerSpan {
		along = dx
	}
	d.Lo, d.Hi = put(l.lo, along, none), put(l.hi, along, none)
	if l.kind == layerPoints {
		bars := func(v [][2]float64, decimals int) json.RawMessage {
			flat := make([]float64, 0, 2*len(v))
			for _, e := range v {
				if !(e[0] < e[1]) {
					e = [2]float64{math.NaN(), math.NaN()}
				}
				flat = append(flat, e[0], e[1])
			}
			return numbers(flat, decimals)
		}
		d.Labels, d.XBars, d.YBars = l.label, bars(l.xBars, dx), bars(l.yBars, dy)
	}
	return d
}

// zoomable reports whether the script knows the shapes of all that the panel shows. It does not know what a caller added by
// [Figure.Plot], and strips, whose horizontal axis has names.
func (p *panel) zoomable() bool {
	return !p.custom && len(p.layers) > 0 && !slices.ContainsFunc(p.layers, func(l layer) bool { return l.kind == layerStrip })
}

// packed compresses a text and encodes it in base 64, as the scripts of a page read it.
func packed(text []byte) (string, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
