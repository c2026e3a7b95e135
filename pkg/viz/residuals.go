package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// HistogramOptions describe a histogram of values that should be standard normal.
type HistogramOptions struct {
	Frame
	Values []float64
}

// Histogram draws the density of values as bars, and the standard normal density over it. The number of bars follows Freedman and
// Diaconis (1981), between 8 and 60.
//
// It returns an error if an axis label is missing or no value is finite.
func Histogram(o HistogramOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, false, false)
	if err != nil {
		return nil, err
	}
	var sorted []float64
	for _, v := range o.Values {
		if drawable(v, false) {
			sorted = append(sorted, v)
		}
	}
	if len(sorted) == 0 {
		return nil, fmt.Errorf("%w: no value is finite", errNoData)
	}
	slices.Sort(sorted)
	lo, hi := sorted[0], sorted[len(sorted)-1]
	bins := 8
	quartiles := numeric.SortedQuantile(sorted, 0.75) - numeric.SortedQuantile(sorted, 0.25)
	if width := 2 * quartiles / math.Cbrt(float64(len(sorted))); width > 0 {
		bins = int(math.Min(math.Max(math.Ceil((hi-lo)/width), 8), 60))
	}
	if hi == lo {
		lo, hi = lo-0.5, hi+0.5
	}
	h := barsPlot{width: (hi - lo) / float64(bins), look: draw.LineStyle{Color: withAlpha(style.colour(0), 130)}}
	counts := make([]float64, bins)
	for _, v := range sorted {
		counts[min(bins-1, int((v-lo)/h.width))]++
	}
	for i, c := range counts {
		h.x = append(h.x, lo+(float64(i)+0.5)*h.width)
		h.y = append(h.y, c/(float64(len(sorted))*h.width))
	}
	b.reachAll(path{x: h.x, y: h.y})
	b.reach(lo, 0)
	b.reach(hi, 0)
	b.add(h, layer{kind: layerBars, name: "density", colour: h.look.Color, x: h.x, y: h.y, width: h.width})
	b.legend = append(b.legend, entry{name: fmt.Sprintf("%d values", len(sorted)), look: h.look, kind: swatchBand})
	var normal path
	from, to := math.Min(lo, -3.5), math.Max(hi, 3.5)
	for i := range 201 {
		u := from + (to-from)*float64(i)/200
		normal.x = append(normal.x, u)
		normal.y = append(normal.y, math.Exp(-u*u/2)/math.Sqrt(2*math.Pi))
	}
	look := style.line(1)
	look.Dashes = nil
	b.line("standard normal", normal, look)
	return b.figure(0.015)
}

// barsPlot draws bars from zero to y around each x.
type barsPlot struct {
	x, y  []float64
	width float64
	look  draw.LineStyle
}

func (p barsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	for i, x := range p.x {
		if p.y[i] > 0 {
			c.FillPolygon(p.look.Color, rectangle(trX(x-p.width/2)+0.4, trY(0), trX(x+p.width/2)-0.4, trY(p.y[i])))
		}
	}
}

// CorrelogramOptions describe autocorrelations. Lag i+1 belongs to Values[i].
type CorrelogramOptions struct {
	Frame
	Values []float64
	Band   float64 // half width of the band of white noise, drawn as two lines; 0: none
}

// Correlogram draws autocorrelations as stems from zero and highlights those beyond the band.
//
// It returns an error if an axis label is missing or no value is finite.
func Correlogram(o CorrelogramOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, false, false)
	if err != nil {
		return nil, err
	}
	rules := []Rule{{Y: 0}}
	if o.Band > 0 {
		rules = append(rules, Rule{Y: o.Band, Name: "95 % of white noise within", Slot: Grey}, Rule{Y: -o.Band, Slot: Grey})
	}
	b.rules(rules)
	var within, beyond path
	for i, v := range o.Values {
		lag := float64(i + 1)
		if p := &within; drawable(v, false) {
			if o.Band > 0 && math.Abs(v) > o.Band {
				p = &beyond
			}
			p.x, p.y = append(p.x, lag), append(p.y, v)
		}
	}
	for _, s := range []struct {
		path
		name string
		slot int
	}{{within, "within the band", 0}, {beyond, "beyond it", 1}} {
		if len(s.x) == 0 {
			continue
		}
		stem := draw.LineStyle{Color: style.colour(s.slot), Width: 1.4}
		b.add(stemsPlot{s.path, stem}, layer{kind: layerStems, name: s.name, colour: stem.Color, x: s.x, y: s.y})
		b.dots(s.name, s.path, style.colour(s.slot), style.markerR)
	}
	b.reach(0, 0)
	return b.figure(0.015)
}

// stemsPlot draws lines from zero to each point.
type stemsPlot struct {
	path
	look draw.LineStyle
}

func (p stemsPlot) Plot(c draw.Canvas, plt *plot.Plot) {
	trX, trY := plt.Transforms(&c)
	for i, x := range p.x {
		c.StrokeLines(p.look, []vg.Point{{X: trX(x), Y: trY(0)}, {X: trX(x), Y: trY(p.y[i])}})
	}
}
